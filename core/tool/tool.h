/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool role: a client that looks for its servers itself, and may have several.
 * All it says to them, the client's code says. */
#ifndef PX_TOOL_TOOL_H
#define PX_TOOL_TOOL_H

#include "core/client/client.h"
#include "pmix_tool.h"

/* State of a tool beyond that of a client, in px_client_role. The process lock guards
 * serves. The other members belong to the loop. */
struct px_tool {
    struct px_list waiters;     /* calls that wait for a connection: servers.c */
    struct px_watch *keepalive; /* of a pipe that ends with the initiator */
    bool serves;                /* it has become a server, */
    bool has_module;            /* by PMIx_tool_set_server_module */
    px_infos as_server;         /* what it was told for that */
};

/* Returns the tool's state, or NULL. client: may be NULL. */
static inline struct px_tool *px_tool_of(const struct px_client *client)
{
    return client && client->role ? client->role->tool : NULL;
}

/* ---- discover.c: in the caller's thread ------------------------------------------ */

/* Finds the server that info asks for, connects and shakes hands. addr->self is our
 * name, if it has a name already, and the name the server has given us after.
 * PMIX_ERR_EXISTS: we are connected to addr->uri.server, of the ones in have.
 * PMIX_ERR_BAD_PARAM: info contradicts itself; PMIX_ERR_TIMEOUT; PMIX_ERR_NOMEM;
 * PMIX_ERR_UNREACH: all else, err says what. */
struct px_discovery {
    const struct px_client *client;
    const pmix_info_t *info;
    size_t n_info;
    bool has_name;
    bool inherited; /* the name is the environment's */
    const pmix_proc_t *have;
    size_t n_have;
    struct px_server_addr *addr;
};
pmix_status_t px_tool_discover(const struct px_discovery *what, struct px_err *err);

/* ---- servers.c ------------------------------------------------------------------- */

/* Of a call that needs a tool; sound: whether the arguments are. */
pmix_status_t px_tool_ready(bool sound);
/* The process lock is held. Connects to the server that info asks for; the first one
 * becomes primary. */
pmix_status_t px_tool_attach(const pmix_info_t *info, size_t n_info, bool has_name,
                             struct px_start *start);
/* On the loop: a server has been connected, or none will be any more (status). */
void px_tool_wake(struct px_client *client, pmix_status_t status);

#endif
