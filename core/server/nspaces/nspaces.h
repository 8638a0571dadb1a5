/* SPDX-License-Identifier: BSD-3-Clause */
/* Namespaces of connected processes (RFC 0003): how they get their names, which are the
 * same at every server, and who is still in them. They are in the model, as assemblies;
 * here is what a server keeps besides. */
#ifndef PX_SERVER_NSPACES_NSPACES_H
#define PX_SERVER_NSPACES_NSPACES_H

#include "core/model/assembly.h"
#include "core/server/host.h"
#include "core/server/nspaces/identity.h"
#include "core/types/type.h"

struct px_nspace;
struct px_server;

/* The name that the namespace will have, if the connect ends well. PMIX_ERR_NOT_FOUND:
 * there is a job of which this server does not know how large it is. */
pmix_status_t px_joint_name(const struct px_server *srv, const struct px_joint *j,
                            pmix_nspace_t name);
/* It has ended well: makes the namespace. ours: no host sees to what follows from it.
 * made NULL: none waits for it here, and it is only counted. As px_joint_name;
 * PMIX_ERR_OUT_OF_RESOURCE: too many with one of the jobs. */
pmix_status_t px_joint_make(struct px_server *srv, const struct px_joint *j, bool ours,
                            const struct px_nspace **made);
/* An event for all participants but proc, whom it is about. beyond: some are on other
 * nodes, and the host is asked to carry it there. */
void px_joint_event(struct px_server *srv, const struct px_joint *j, pmix_status_t code,
                    const pmix_proc_t *proc, bool beyond);

/* Of a namespace that was made here. */
bool px_joint_is_nspace(const struct px_server *srv, const char *name);
/* Id of its connect; "" if it has none, or there is no such namespace. */
const char *px_joint_id(const struct px_server *srv, const char *name);
/* Members may end without leaving it. */
bool px_joint_may_end(const struct px_server *srv, const char *name);
/* Is the process a member, and has not left? */
bool px_joint_has(const struct px_server *srv, const char *name,
                  const pmix_proc_t *proc);
/* Calls fn with the members of each that have not left; apart: they may end without. */
void px_joint_each(const struct px_server *srv, px_connected_fn fn, void *arg);
/* The process leaves. each: the others are to hear of it, even if they did not ask. */
void px_joint_leave(struct px_server *srv, const char *name, const pmix_proc_t *proc,
                    bool each);

#endif
