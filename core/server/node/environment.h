/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables that components give the processes of a job, besides the server's own. */
#ifndef PX_SERVER_NODE_ENVIRONMENT_H
#define PX_SERVER_NODE_ENVIRONMENT_H

#include "core/types/type.h"

struct px_launch_env;
struct px_server;

/* Creates an empty set of variables. NULL if out of memory. */
struct px_launch_env *px_launch_env_create(const char *nspace);
void px_launch_env_free(struct px_launch_env *e);
/* Sets a variable of env, a struct px_launch_env, for a rank or PMIX_RANK_WILDCARD; a
 * px_pnet_set_fn. Replaces an earlier variable of the same rank and name.
 * PMIX_ERR_BAD_PARAM: a component must not set the name. */
pmix_status_t px_launch_env_set(void *env, pmix_rank_t rank, const char *name,
                                const char *value);
/* Returns the key of a directive of the host (PMIX_SET_ENVAR, PMIX_ADD_ENVAR and the
 * like), or NULL for another info. */
const char *px_launch_env_directive(const pmix_info_t *info);
/* Adds a directive of the host, for all ranks. Directives apply in order, after the
 * components' variables. Skips other infos, and variables of this library with a log
 * line. PMIX_ERR_BAD_PARAM: wrong type, no name, or no value. */
pmix_status_t px_launch_env_change(struct px_launch_env *e, const pmix_info_t *info);
/* Publishes e, and takes ownership of it, in place of the job's earlier variables.
 * px_server_child_env() adds them from now on. */
void px_launch_env_publish(struct px_server *srv, struct px_launch_env *e);
/* Copies the job's variables into *out; NULL if there are none. Returns PMIX_ERR_NOMEM
 * if out of memory. */
pmix_status_t px_launch_env_dup(struct px_server *srv, const char *nspace,
                                struct px_launch_env **out);
void px_launch_env_drop(struct px_server *srv, const char *nspace);

#endif
