/* SPDX-License-Identifier: BSD-3-Clause */
/* Who owns a TCP socket of this machine: asked of the kernel through sock_diag, or read
 * in /proc/net/tcp where there is none. */
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

/* The ends of a connection as the socket that is sought sees them. */
struct px_owner_pair {
    struct sockaddr_in local, remote;
};

/* Settles what PX_OWNER_AUTO means here by asking for a socket that does exist:
 * listener, a listening one. False if the source that was asked for does not work. */
bool px_owner_open(struct px_owner *o, enum px_owner_source source,
                   const struct sockaddr_in *listener);
void px_owner_close(struct px_owner *o);
/* False unless the kernel says who holds the socket of this established connection. */
bool px_owner_find(struct px_owner *o, const struct px_owner_pair *pair, uid_t *uid);

#endif
