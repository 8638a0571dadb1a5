/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner of a TCP socket of this machine: asked of the kernel through sock_diag, or
 * read in /proc/net/tcp where there is none. */
#ifndef PX_PTL_TCP_OWNER_H
#define PX_PTL_TCP_OWNER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum px_owner_source { PX_OWNER_AUTO, PX_OWNER_SOCK_DIAG, PX_OWNER_PROC };

struct px_owner {
    int netlink; /* kept open, so that it is there when descriptors have run out */
    uint32_t seq;
    enum px_owner_source source;
};

/* An address of either family. */
union px_owner_end {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* The ends of a connection as the socket that is sought sees them, both of one family.
 * A listening socket has no remote one: only its family counts. */
struct px_owner_pair {
    union px_owner_end local, remote;
};

enum px_owner_state {
    PX_OWNER_GONE,  /* there is no such connection, or no process has its socket now */
    PX_OWNER_WAITS, /* to be accepted */
    PX_OWNER_HELD,  /* by a process of *uid */
};

/* Settles what PX_OWNER_AUTO means here by asking for a socket of this process that
 * does exist: listening if own has no remote port, else connected. False if the source
 * that was asked for does not work. */
bool px_owner_open(struct px_owner *o, enum px_owner_source source,
                   const struct px_owner_pair *own);
void px_owner_close(struct px_owner *o);
enum px_owner_state px_owner_look(struct px_owner *o, const struct px_owner_pair *pair,
                                  uid_t *uid);
/* False unless the kernel says who holds the socket of this established connection. */
bool px_owner_find(struct px_owner *o, const struct px_owner_pair *pair, uid_t *uid,
                   uint64_t *inode);
/* Finds the owner of the socket that listens there, or everywhere on this port. */
bool px_owner_of_listener(struct px_owner *o, const union px_owner_end *at, uid_t *uid);

#endif
