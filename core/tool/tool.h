/* SPDX-License-Identifier: BSD-3-Clause */
/* Tool role: a client that searches for its servers, and may have several. The client's
 * code sends all requests. */
#ifndef PX_TOOL_TOOL_H
#define PX_TOOL_TOOL_H

#include "core/client/client.h"
#include "pmix_tool.h"

/* Tool state beyond the client's state, in px_client_role. The process lock guards
 * serves. The other members belong to the loop. */
struct px_tool {
    struct px_list waiters;     /* calls that wait for a connection (servers.c) */
    struct px_watch *keepalive; /* watch of a pipe that closes when the initiator
                                 * ends */
    bool serves;                /* the tool has become a server */
    bool has_module;            /* PMIx_tool_set_server_module has set a module */
    px_infos as_server;         /* the tool's infos for PMIx_server_init */
};

/* Returns the tool's state, or NULL. client may be NULL. */
static inline struct px_tool *px_tool_of(const struct px_client *client)
{
    return client && client->role ? client->role->tool : NULL;
}

/* ---- discover.c: in the caller's thread ------------------------------------------ */

/* Finds the server that info describes, connects and shakes hands. addr->self is our
 * name, if has_name, and afterwards the name from the server. Returns PMIX_ERR_EXISTS
 * if addr->uri.server is in have, PMIX_ERR_BAD_PARAM if infos contradict each other,
 * PMIX_ERR_TIMEOUT, PMIX_ERR_NOMEM. Returns PMIX_ERR_UNREACH for other failures, which
 * err describes. */
struct px_discovery {
    const struct px_client *client;
    const pmix_info_t *info;
    size_t n_info;
    bool has_name;
    bool inherited; /* the name comes from the environment */
    const pmix_proc_t *have;
    size_t n_have;
    struct px_server_addr *addr;
};
pmix_status_t px_tool_discover(const struct px_discovery *what, struct px_err *err);

/* ---- servers.c ------------------------------------------------------------------- */

/* Returns the status of a call that needs a tool. sound: the arguments are valid. */
pmix_status_t px_tool_ready(bool sound);
/* Connects to the server that info describes. The first server becomes primary. The
 * caller holds the process lock. */
pmix_status_t px_tool_attach(const pmix_info_t *info, size_t n_info, bool has_name,
                             struct px_start *start);
/* Wakes calls that wait for a connection: after a new connection, or with the status of
 * the end. On the loop. */
void px_tool_wake(struct px_client *client, pmix_status_t status);

#endif
