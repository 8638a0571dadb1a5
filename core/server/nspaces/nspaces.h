/* SPDX-License-Identifier: BSD-3-Clause */
/* Namespaces of connected processes (RFC 0003) and of groups: their names, equal at
 * every server, and their present members. The model has the namespaces as assemblies;
 * this part has the server's state of each. */
#ifndef PX_SERVER_NSPACES_NSPACES_H
#define PX_SERVER_NSPACES_NSPACES_H

#include "core/model/assembly.h"
#include "core/server/host.h"
#include "core/server/nspaces/identity.h"
#include "core/types/type.h"

struct px_nspace;
struct px_server;

/* A namespace that a connect or the construction of a group has made. */
struct px_joined {
    struct px_list link;
    struct px_server *server;
    pmix_nspace_t name; /* name of the namespace in the model */
    char *id;           /* id of the connect, or "" */
    bool ours;          /* no host handles what follows */
    bool of_host;       /* the host registered this name, and ends it */
    bool may_end;       /* members may end without a disconnect */
    bool each;          /* members are notified of each member that leaves */
    bool at_host;       /* a group that the host has constructed, too */
    bool is_group; /* name is the group's; members are notified by its own events */
};

/* Computes the name that the namespace will have after a successful connect.
 * PMIX_ERR_NOT_FOUND: the size of a job is unknown to this server. */
pmix_status_t px_joint_name(const struct px_server *srv, const struct px_joint *j,
                            pmix_nspace_t name);
/* Creates the namespace after a successful connect. ours: no host handles the
 * follow-up. made NULL: no local process waits for the namespace, so the connect is
 * only counted. Errors as px_joint_name; PMIX_ERR_OUT_OF_RESOURCE: a job has too many
 * namespaces. PMIX_ERR_EXISTS: the name of a group is a namespace's already. */
pmix_status_t px_joint_make(struct px_server *srv, const struct px_joint *j, bool ours,
                            const struct px_nspace **made);
/* Delivers an event about proc to all other participants. beyond: some are on other
 * nodes, and the host is asked to notify them. */
void px_joint_event(struct px_server *srv, const struct px_joint *j, pmix_status_t code,
                    const pmix_proc_t *proc, bool beyond);

/* Returns the namespace if a connect made it here, or NULL. */
struct px_joined *px_joined_find(const struct px_server *srv, const char *name);
/* True if the process is a member that has not left. */
bool px_joined_has(const struct px_joined *j, const pmix_proc_t *proc);
/* Calls fn with the present members of each namespace. apart: they may end without
 * leaving it. */
void px_joint_each(const struct px_server *srv, px_connected_fn fn, void *arg);
/* Removes a namespace. j may be NULL. */
void px_joint_end(struct px_joined *j);
/* Returns the members that have not left, malloc'd; NULL if all have, or out of
 * memory. */
pmix_proc_t *px_joined_members(const struct px_joined *j, size_t *n);
/* Removes a member that leaves. each: notifies the others, even if they did not ask for
 * it. */
void px_joint_leave(struct px_server *srv, const char *name, const pmix_proc_t *proc,
                    bool each);

#endif
