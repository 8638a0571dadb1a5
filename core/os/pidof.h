/* SPDX-License-Identifier: BSD-3-Clause */
/* Search in /proc for the process that holds a socket. For a TCP connection the kernel
 * gives inode and user of the socket, but not the process. */
#ifndef PX_OS_PIDOF_H
#define PX_OS_PIDOF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct px_pidof {
    void *proc; /* for the caller */
    uint64_t inode;
    uid_t uid;
    /* The result; 0 if no process of that user has the socket. If several share it, the
     * oldest. */
    pid_t pid;
    uint64_t start; /* core/os/proc.h */
};

/* Searches for all in one walk, which uses limit_us of this thread's CPU time at most.
 * Returns the time used. */
uint64_t px_pidof_find(struct px_pidof *searches, size_t n, uint64_t limit_us);

#endif
