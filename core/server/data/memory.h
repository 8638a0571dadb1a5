/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of the memory that committed values, frames in transit and pending requests
 * occupy. */
#ifndef PX_SERVER_DATA_MEMORY_H
#define PX_SERVER_DATA_MEMORY_H

#include "core/types/type.h"

struct px_nspace;
struct px_peer;
struct px_server;
struct px_user;

/* Memory that a message of a peer, or an event of another node, makes the server keep.
 * The user is charged until the memory is freed. Zeroed if nothing is charged. */
struct px_charge {
    struct px_peer *peer; /* referenced; NULL for a charge of a user alone */
    struct px_user *user;
    size_t size_b;
};

/* Returns the bytes that one value occupies in the store. */
size_t px_memory_of(const char *key, const pmix_value_t *value);
/* Counts size_b bytes of values that the server will keep until ns is deregistered.
 * PMIX_ERR_OUT_OF_RESOURCE if they exceed the limit of the user or of all users;
 * PMIX_ERR_NOMEM. */
pmix_status_t px_memory_keep(struct px_server *srv, const struct px_nspace *ns,
                             uid_t uid, size_t size_b);

/* Adds more_b to a charge, before the memory is allocated. The whole charge belongs to
 * the peer of the first call. PMIX_ERR_OUT_OF_RESOURCE, with a log line, if a limit and
 * the connection's own share are both used up. Nothing is charged then. The server's
 * own requests are never charged. */
pmix_status_t px_charge(struct px_charge *c, struct px_peer *peer, size_t more_b);
/* Charges a user without a connection. PMIX_ERR_OUT_OF_RESOURCE, with a log line, if a
 * limit is used up; PMIX_ERR_NOMEM. */
pmix_status_t px_charge_user(struct px_charge *c, struct px_server *srv, uid_t uid,
                             size_t size_b);
/* Ends a charge after its memory was freed. A zeroed charge is fine. */
void px_charge_end(struct px_charge *c);

/* Implement charge and has_room of struct px_conn_ops. user NULL: not known yet. */
void px_memory_charge(struct px_server *srv, struct px_user *user, int64_t change,
                      int64_t unread);
bool px_memory_has_room(struct px_server *srv, struct px_user *user, int64_t more);

#endif
