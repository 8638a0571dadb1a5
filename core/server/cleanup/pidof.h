/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process holds a socket? Of one that came by TCP the kernel tells inode and
 * user, not the process: that has to be looked for in /proc. */
#ifndef PX_SERVER_CLEANUP_PIDOF_H
#define PX_SERVER_CLEANUP_PIDOF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct px_pidof {
    void *proc; /* the caller's */
    uint64_t inode;
    uid_t uid;
    /* The answer: 0 if no process of that user was found. Of several processes that
     * share the socket the oldest is meant. */
    pid_t pid;
    uint64_t start; /* core/base/proc.h */
};

/* Looks for all of them in one walk, which takes limit_us of this thread's time at
 * most. Returns what it took. */
uint64_t px_pidof_find(struct px_pidof *searches, size_t n, uint64_t limit_us);

#endif
