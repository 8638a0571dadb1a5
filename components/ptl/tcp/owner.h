/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner of a TCP socket of this machine, from sock_diag or from /proc/net/tcp. */
#ifndef PX_PTL_TCP_OWNER_H
#define PX_PTL_TCP_OWNER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum px_owner_source { PX_OWNER_AUTO, PX_OWNER_SOCK_DIAG, PX_OWNER_PROC };

struct px_owner {
    int netlink; /* stays open, so that it works without free descriptors */
    uint32_t seq;
    enum px_owner_source source;
};

/* Address of either family. */
union px_owner_end {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* Ends of a connection, seen from the wanted socket; both of one family. For a
 * listening socket only the family of remote counts. */
struct px_owner_pair {
    union px_owner_end local, remote;
};

enum px_owner_state {
    PX_OWNER_GONE,  /* no such connection, or no process holds its socket */
    PX_OWNER_WAITS, /* waits to be accepted */
    PX_OWNER_HELD,  /* held by a process of *uid, established */
};

/* Opens the source. Chooses a source for PX_OWNER_AUTO by a look-up of own, an existing
 * socket of this process. own is a listener if it has no remote port. False if the
 * source does not work. */
bool px_owner_open(struct px_owner *o, enum px_owner_source source,
                   const struct px_owner_pair *own);
void px_owner_close(struct px_owner *o);
/* Finds the process that holds the socket of this connection, and the socket's
 * inode. */
enum px_owner_state px_owner_probe(struct px_owner *o, const struct px_owner_pair *pair,
                                   uid_t *uid, uint64_t *inode);
/* Finds the owner of the socket that listens on this address, or on this port of all
 * addresses. */
bool px_owner_of_listener(struct px_owner *o, const union px_owner_end *at, uid_t *uid);

#endif
