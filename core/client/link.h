/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections to servers: a client has one, a tool may have several. One of them is
 * primary: its channel is the model's, so that every call of the API goes there. */
#ifndef PX_CLIENT_LINK_H
#define PX_CLIENT_LINK_H

#include "core/base/list.h"
#include "core/link/conn.h"
#include "core/link/channel.h"

/* How to reach a server, as whom, and what came of it. */
struct px_server_addr {
    struct px_uri uri;
    const char
        *faster; /* address to try first, or NULL; borrowed from the environment */
    struct px_codec codec;
    struct px_version version; /* the server's */
    bool from_environment;     /* its variables tell what the server can do */
    bool has_owner;            /* the kernel must say that the server is owner's */
    uid_t owner;
    uint8_t flag;     /* enum px_role_flag: what we are to it */
    pmix_proc_t self; /* our name; the server's gift for PX_FLAG_..._NEEDS_ID */
    int fd;           /* connected and non-blocking, or -1 */
    uint32_t pindex;  /* what the server calls us */
};

struct px_link {
    struct px_list link; /* in px_client.links, in the order they were made */
    struct px_conn *conn;
    pmix_proc_t server;
    uint32_t pindex;
    struct px_channel up; /* unless it is primary: then the model's is its own */
};

/* connect.c. In the caller's thread: */

/* The server that the environment names. PMIX_ERR_UNREACH without a text: none. */
pmix_status_t px_server_addr_from_env(struct px_server_addr *c, struct px_err *err);
/* Connects and shakes hands, within timeout_ms for each of the two. */
pmix_status_t px_server_addr_connect(struct px_server_addr *c, uint64_t timeout_ms,
                                     struct px_err *err);

/* link.c. On the loop: */

/* Takes c->fd. The first one becomes no primary by itself. */
pmix_status_t px_link_open(struct px_server_addr *c, struct px_link **link);
/* Fails what is pending there, closes, frees. */
void px_link_close(struct px_link *link, pmix_status_t why);
/* NULL: no server is primary. PMIX_ERR_NOT_SUPPORTED if values were put and not
 * committed that this server could not read. */
pmix_status_t px_link_make_primary(struct px_link *link);
/* rank WILDCARD: any of the namespace. NULL. */
struct px_link *px_link_find(const pmix_proc_t *server);
struct px_channel *px_link_channel(struct px_link *link);

/* Any thread that holds the process lock: tells the server that we leave, waits for
 * its answer as long as conf.finalize_timeout, closes. PMIX_ERR_NOT_FOUND: there is
 * no such link. */
pmix_status_t px_link_leave(const pmix_proc_t *server);

#endif
