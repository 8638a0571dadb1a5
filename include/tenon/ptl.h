/* SPDX-License-Identifier: BSD-3-Clause */
/* ptl: transports. A transport makes connected stream sockets, and identifies the peer
 * process. The core does handshake and frames. Contract in frameworks/ptl/README.md. */
#ifndef TENON_PTL_H
#define TENON_PTL_H

#include "tenon/component.h"

#include <stdbool.h>

#define PX_PTL_ABI 1u

/* Identity of the peer process, attested by the kernel. */
struct px_ptl_peer {
    bool has_uid, has_gid, has_pid;
    uid_t uid;
    gid_t gid;
    pid_t pid;
    uint64_t inode; /* of the peer's socket, which identifies its process; 0: unknown */
};

struct px_ptl_ops {
    /* Listens. dir is a private directory (0700) of this server for files. address
     * receives the address in the form of a URI ("tcp4://127.0.0.1:4711"). *fd is
     * non-blocking and close-on-exec. The core owns *fd, and passes it to unlisten. */
    pmix_status_t (*listen)(void *self, const char *dir, int *fd, char *address,
                            size_t size);
    /* Removes the files that listen made, and closes fd. */
    void (*unlisten)(void *self, int fd, const char *address);
    /* Accepts a waiting connection: non-blocking, close-on-exec. PMIX_ERR_WOULD_BLOCK
     * if none waits. has_uid is false if the kernel does not attest the uid; the core
     * refuses such a peer. */
    pmix_status_t (*accept)(void *self, int listen_fd, int *fd,
                            struct px_ptl_peer *peer);
    bool (*handles)(void *self, const char *address);
    /* Connects within timeout_ms. May block, and may run on any thread, so it must not
     * touch mutable state of self. */
    pmix_status_t (*connect)(void *self, const char *address, uint64_t timeout_ms,
                             int *fd);
    /* Identifies the process that listens at the other end of a new connection, or has
     * accepted the connection. Called before the first message. PMIX_SUCCESS: *peer has
     * the attested ids, perhaps none. PMIX_ERR_NOT_SUPPORTED: the other end is on
     * another machine. PMIX_ERR_UNREACH: the connection is closed. May wait for some
     * milliseconds, on any thread, like connect. NULL in components that were built
     * before this operation existed. */
    pmix_status_t (*peer)(void *self, int fd, struct px_ptl_peer *peer);
    /* Listens for other machines, at an address that the component's parameters choose;
     * otherwise like listen. accept attests nothing there. PMIX_ERR_NOT_SUPPORTED: no
     * such address; the log has the reason. NULL: the transport serves this machine
     * only. */
    pmix_status_t (*listen_remote)(void *self, int *fd, char *address, size_t size);
};

#endif
