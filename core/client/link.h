/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections to servers: a client has one, a tool may have several. One of them is
 * primary: its channel is the model's, so that every call of the API goes there. */
#ifndef PX_CLIENT_LINK_H
#define PX_CLIENT_LINK_H

#include "core/base/list.h"
#include "core/client/server_addr.h"
#include "core/link/conn.h"
#include "core/link/channel.h"

struct px_link {
    struct px_list link; /* in px_client.links, in the order they were made */
    struct px_conn *conn;
    pmix_proc_t server;
    uint32_t pindex;
    struct px_channel up; /* unless it is primary: then the model's is its own */
};

/* On the loop: */

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
