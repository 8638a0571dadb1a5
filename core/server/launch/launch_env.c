/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables of jobs in a list that can be read while it changes: what was published is
 * never changed, only taken out of the list, and freed once there is no reader. */
#include "core/server/launch/launch_env.h"

#include "core/base/env.h"
#include "core/base/str.h"

#include <string.h>

struct var {
    pmix_rank_t rank;
    char *name, *value;
};

struct px_launch_env {
    struct px_launch_env *_Atomic next;
    struct px_launch_env *next_retired;
    pmix_nspace_t nspace;
    struct var *v;
    size_t n;
};

struct px_launch_env *px_launch_env_create(const char *nspace)
{
    struct px_launch_env *e = calloc(1, sizeof *e);

    if (e)
        px_str_copy(e->nspace, sizeof e->nspace, nspace);
    return e;
}

void px_launch_env_free(struct px_launch_env *e)
{
    for (size_t i = 0; e && i < e->n; i++) {
        free(e->v[i].name);
        free(e->v[i].value);
    }
    if (e)
        free(e->v);
    free(e);
}

static struct var *find(struct px_launch_env *e, pmix_rank_t rank, const char *name)
{
    for (size_t i = 0; i < e->n; i++) {
        if (e->v[i].rank == rank && strcmp(e->v[i].name, name) == 0)
            return &e->v[i];
    }
    return NULL;
}

/* A component that set those of the core would lead the process elsewhere. */
static bool may_be_set(const char *name)
{
    return name && *name && !strchr(name, '=') && !px_str_starts(name, "PMIX_") &&
           !px_str_starts(name, "TENON_");
}

pmix_status_t px_launch_env_set(struct px_launch_env *e, pmix_rank_t rank,
                                const char *name, const char *value)
{
    if (!may_be_set(name) || !value ||
        (rank >= PMIX_RANK_VALID && rank != PMIX_RANK_WILDCARD))
        return PMIX_ERR_BAD_PARAM;
    PX_AUTOFREE char *copy = strdup(value);
    PX_AUTOFREE char *name_copy = strdup(name);
    struct var *old = find(e, rank, name);

    if (!copy || !name_copy)
        return PMIX_ERR_NOMEM;
    if (old) {
        free(old->value);
        old->value = px_take(&copy);
        return PMIX_SUCCESS;
    }
    struct var *v = reallocarray(e->v, e->n + 1, sizeof *v);
    if (!v)
        return PMIX_ERR_NOMEM;
    e->v = v;
    e->v[e->n++] = (struct var){rank, px_take(&name_copy), px_take(&copy)};
    return PMIX_SUCCESS;
}

/* A reader that began before it was taken out may still be there; one that begins later
 * does not find it. */
static void free_retired(struct px_launch_envs *envs)
{
    if (atomic_load(&envs->readers) > 0)
        return;
    while (envs->retired) {
        struct px_launch_env *e = envs->retired;

        envs->retired = e->next_retired;
        px_launch_env_free(e);
    }
}

static void take_out(struct px_launch_envs *envs, const char *nspace,
                     struct px_launch_env *_Atomic *at)
{
    for (struct px_launch_env *e; (e = atomic_load(at)); at = &e->next) {
        if (strcmp(e->nspace, nspace) != 0)
            continue;
        atomic_store(at, atomic_load(&e->next));
        e->next_retired = envs->retired;
        envs->retired = e;
        break;
    }
    free_retired(envs);
}

void px_launch_envs_publish(struct px_launch_envs *envs, struct px_launch_env *e)
{
    atomic_store(&e->next, atomic_load(&envs->first));
    atomic_store(&envs->first, e);
    take_out(envs, e->nspace, &e->next);
}

void px_launch_envs_forget(struct px_launch_envs *envs, const char *nspace)
{
    take_out(envs, nspace, &envs->first);
}

void px_launch_envs_destroy(struct px_launch_envs *envs)
{
    for (struct px_launch_env *e; (e = atomic_load(&envs->first));)
        take_out(envs, e->nspace, &envs->first);
}

/* Those of all ranks first, which those of this one then replace. */
static pmix_status_t apply(const struct px_launch_env *e, pmix_rank_t rank, char ***env)
{
    const pmix_rank_t order[] = {PMIX_RANK_WILDCARD, rank};
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t k = 0; k < PX_COUNT(order); k++) {
        for (size_t i = 0; !rc && i < e->n; i++) {
            if (e->v[i].rank == order[k])
                rc = px_env_set(env, e->v[i].name, e->v[i].value, true);
        }
    }
    return rc;
}

pmix_status_t px_launch_envs_read(struct px_launch_envs *envs, const pmix_proc_t *proc,
                                  char ***env)
{
    pmix_status_t rc = PMIX_SUCCESS;
    const struct px_launch_env *e;

    atomic_fetch_add(&envs->readers, 1);
    e = atomic_load(&envs->first);
    while (e && strncmp(e->nspace, proc->nspace, PMIX_MAX_NSLEN) != 0)
        e = atomic_load(&e->next);
    if (e)
        rc = apply(e, proc->rank, env);
    atomic_fetch_sub(&envs->readers, 1);
    return rc;
}
