/* SPDX-License-Identifier: BSD-3-Clause */
/* ptl: transports. A transport makes connected stream sockets and says who is at the
 * other end; handshake and frames are the core's. Contract in
 * frameworks/ptl/README.md. */
#ifndef TENON_PTL_H
#define TENON_PTL_H

#include "tenon/component.h"

#include <stdbool.h>

#define PX_PTL_ABI 1u

/* The facts that the kernel attests about the process at the other end. */
struct px_ptl_peer {
    bool has_uid, has_gid, has_pid;
    uid_t uid;
    gid_t gid;
    pid_t pid;
    uint64_t
        inode; /* of its end of the connection, which tells its process; 0: not known */
};

struct px_ptl_ops {
    /* Listens. dir is a private directory (0700) of this server for what needs a file;
     * the address is written as it stands in a URI ("tcp4://127.0.0.1:4711"). The fd is
     * non-blocking and close-on-exec and belongs to the core, which calls unlisten with
     * it. */
    pmix_status_t (*listen)(void *self, const char *dir, int *fd, char *address,
                            size_t size);
    /* Removes what listen made in the file system and closes fd. */
    void (*unlisten)(void *self, int fd, const char *address);
    /* One waiting connection: non-blocking, close-on-exec. PMIX_ERR_WOULD_BLOCK if
     * none. A peer whose uid the kernel does not tell has has_uid false: the core
     * refuses it. */
    pmix_status_t (*accept)(void *self, int listen_fd, int *fd,
                            struct px_ptl_peer *peer);
    bool (*handles)(void *self, const char *address);
    /* Connects, waiting at most timeout_ms. The one op that may block, and may run on
     * any thread: it must not touch self's mutable state. */
    pmix_status_t (*connect)(void *self, const char *address, uint64_t timeout_ms,
                             int *fd);
    /* The process that listens at the other end of what connect gave, or has accepted
     * it since; before anything is sent there. PMIX_SUCCESS: *peer says what the kernel
     * attests, maybe nothing. PMIX_ERR_NOT_SUPPORTED: the other end is on another
     * machine; PMIX_ERR_UNREACH: there is none any more. May wait for some
     * milliseconds, and run on any thread, as connect. NULL in components built before
     * there was this operation. */
    pmix_status_t (*peer)(void *self, int fd, struct px_ptl_peer *peer);
};

#endif
