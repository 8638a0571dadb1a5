/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables that components give the processes of a job, besides the server's own. */
#ifndef PX_SERVER_NODE_ENVIRONMENT_H
#define PX_SERVER_NODE_ENVIRONMENT_H

#include "core/types/type.h"

struct px_launch_env;
struct px_server;

/* NULL: no memory. */
struct px_launch_env *px_launch_env_create(const char *nspace);
void px_launch_env_free(struct px_launch_env *e);
/* For that rank, or PMIX_RANK_WILDCARD. A later variable of the same rank and name
 * replaces the earlier. PMIX_ERR_BAD_PARAM: not for a component to set. */
pmix_status_t px_launch_env_set(struct px_launch_env *e, pmix_rank_t rank,
                                const char *name, const char *value);
/* A directive of the host: PMIX_SET_ENVAR, PMIX_ADD_ENVAR and the like. */
bool px_launch_env_is_change(const pmix_info_t *info);
/* For all ranks. In order; those that set come first, and replace a component's. Any
 * other info is passed over, and variables of the core are, with a line in the log.
 * PMIX_ERR_BAD_PARAM: a value of another type, no name, no value. */
pmix_status_t px_launch_env_change(struct px_launch_env *e, const pmix_info_t *info);
/* Takes e over, in place of what the job had. From now on px_server_child_env() adds
 * it. */
void px_launch_env_publish(struct px_server *srv, struct px_launch_env *e);
/* A copy of what the job has; NULL if that is nothing. PMIX_ERR_NOMEM. */
pmix_status_t px_launch_env_dup(struct px_server *srv, const char *nspace,
                                struct px_launch_env **out);
void px_launch_env_drop(struct px_server *srv, const char *nspace);

#endif
