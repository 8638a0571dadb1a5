/* SPDX-License-Identifier: BSD-3-Clause */
/* Committed values, frames on their way, requests that wait, and the memory that they
 * take. */
#ifndef PX_SERVER_DATA_MEMORY_H
#define PX_SERVER_DATA_MEMORY_H

#include "core/types/type.h"

struct px_nspace;
struct px_peer;
struct px_server;
struct px_user;

/* Memory that a message of a peer makes the server keep. The peer's user is charged
 * until the memory is given back. Zeroed: none. */
struct px_charge {
    struct px_peer *peer; /* referenced */
    size_t size_b;
};

/* Of one value. */
size_t px_memory_of(const char *key, const pmix_value_t *value);
/* Counts what is about to be kept until ns is gone. PMIX_ERR_OUT_OF_RESOURCE: more than
 * the user, or all of them, may have; PMIX_ERR_NOMEM. */
pmix_status_t px_memory_keep(struct px_server *srv, const struct px_nspace *ns,
                             uid_t uid, size_t size_b);

/* More of a charge, before the memory is kept; all of it is of the peer that was first
 * named. PMIX_ERR_OUT_OF_RESOURCE, with a line in the log: the user, or all of them,
 * have as much as they may, and the connection has had its share; nothing is charged
 * then. The server's own requests cost nothing. */
pmix_status_t px_charge(struct px_charge *c, struct px_peer *peer, size_t more_b);
/* The memory was given back. Nothing charged is fine. */
void px_charge_end(struct px_charge *c);

/* For connections of a user (NULL: not known yet): conn.h. */
void px_memory_charge(struct px_server *srv, struct px_user *user, int64_t change,
                      int64_t unread);
bool px_memory_has_room(struct px_server *srv, struct px_user *user, int64_t more);

#endif
