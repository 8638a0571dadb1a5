/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables that components give the processes of a job. The loop writes them;
 * PMIx_server_setup_fork reads them in any thread, and in forked children. */
#ifndef PX_SERVER_LAUNCH_LAUNCH_ENV_H
#define PX_SERVER_LAUNCH_LAUNCH_ENV_H

#include "core/base/attr.h"
#include "pmix_common.h"

#include <stdatomic.h>

struct px_launch_env; /* of one job */

struct px_launch_envs { /* all zero is empty */
    struct px_launch_env *_Atomic first;
    struct px_launch_env *retired; /* taken out, but perhaps still being read */
    atomic_uint readers;
};

/* Not seen by any reader before it is published. NULL: out of memory. */
struct px_launch_env *px_launch_env_create(const char *nspace);
void px_launch_env_free(struct px_launch_env *env);
/* A later variable of the same rank and name replaces the earlier. PMIX_ERR_BAD_PARAM
 * for a name that cannot be or is not a component's to set; PMIX_ERR_NOMEM. */
pmix_status_t px_launch_env_set(struct px_launch_env *env, pmix_rank_t rank,
                                const char *name, const char *value);

/* Takes env over, in place of what the job had. Loop only, and so are the next two. */
void px_launch_envs_publish(struct px_launch_envs *envs, struct px_launch_env *env);
void px_launch_envs_forget(struct px_launch_envs *envs, const char *nspace);
/* When there is no reader any more. */
void px_launch_envs_destroy(struct px_launch_envs *envs);

/* Adds the variables of proc to *env. Any thread. PMIX_ERR_NOMEM. */
pmix_status_t px_launch_envs_read(struct px_launch_envs *envs, const pmix_proc_t *proc,
                                  char ***env);

#endif
