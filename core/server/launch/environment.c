/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment of a child: how it finds this server, and the variables that
 * components give the processes of a job. */
#include "core/server/launch/environment.h"

#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/plugin/select.h"
#include "core/server/host.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ---- variables of jobs ----------------------------------------------------------- */

/* Components give them to the processes of a job, in a list that can be read while it
 * changes: the loop writes it, PMIx_server_setup_fork reads in any thread, and in
 * forked children. A published one is never changed, only taken out of the list, and
 * freed once there is no reader. */
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

struct px_launch_envs { /* all zero is empty */
    struct px_launch_env *_Atomic first;
    struct px_launch_env *retired; /* taken out, but perhaps still being read */
    atomic_uint readers;
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

void px_launch_env_publish(struct px_server *srv, struct px_launch_env *e)
{
    struct px_launch_envs *envs = srv->part.launch_envs;

    atomic_store(&e->next, atomic_load(&envs->first));
    atomic_store(&envs->first, e);
    take_out(envs, e->nspace, &e->next);
}

void px_launch_env_drop(struct px_server *srv, const char *nspace)
{
    take_out(srv->part.launch_envs, nspace, &srv->part.launch_envs->first);
}

static void destroy(struct px_server *srv)
{
    struct px_launch_envs *envs = srv->part.launch_envs;

    for (struct px_launch_env *e; (e = atomic_load(&envs->first));)
        take_out(envs, e->nspace, &envs->first);
}

/* Those of this rank first, which those of all ranks then do not replace; and neither
 * what is not this process's own: it has been set for the application. */
static pmix_status_t apply(const struct px_launch_env *e, pmix_rank_t rank, char ***env)
{
    const pmix_rank_t order[] = {rank, PMIX_RANK_WILDCARD};
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t k = 0; k < PX_COUNT(order); k++)
        for (size_t i = 0; !rc && i < e->n; i++) {
            const struct var *v = &e->v[i];
            const char *there = px_env_get(*env, v->name), *own = getenv(v->name);

            if (v->rank == order[k] && (!there || (own && strcmp(there, own) == 0)))
                rc = px_env_set(env, v->name, v->value, true);
        }
    return rc;
}

static pmix_status_t read_published(struct px_launch_envs *envs,
                                    const pmix_proc_t *proc, char ***env)
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

const struct px_server_part px_environment_part = {
    .name = "environment",
    PX_PART_STATE(launch_envs, struct px_launch_envs),
    .destroy = destroy,
};

/* ---- of one process -------------------------------------------------------------- */

/* Parameters that say where to report an address were for this server; the descriptor
 * of that number is something else to a child that is a server, too. */
static void drop_foreign(char **env)
{
    static const char *const prefixes[] = {"PMIX_SERVER_URI",
                                           "PMIX_DSTORE_",
                                           "TENON_SERVER_URI",
                                           "PMIX_MCA_server_report_uri=",
                                           "PMIX_MCA_ptl_base_report_uri=",
                                           "PMIX_MCA_ptl_tcp_report_uri="};
    size_t kept = 0;

    for (size_t i = 0; env && env[i]; i++) {
        bool foreign = false;

        for (size_t p = 0; p < PX_COUNT(prefixes); p++)
            foreign |= px_str_starts(env[i], prefixes[p]);
        if (foreign)
            free(env[i]);
        else
            env[kept++] = env[i];
    }
    if (env)
        env[kept] = NULL;
}

pmix_status_t px_server_child_env(struct px_server *srv, const pmix_proc_t *proc,
                                  char ***env)
{
    PX_AUTOFREE char *modes = px_module_names("psec");
    PX_AUTOFREE char *stores = px_module_names("gds");
    char rank[16];
    pmix_status_t rc = PMIX_SUCCESS;

    if (!modes || !stores)
        return PMIX_ERR_NOMEM;
    snprintf(rank, sizeof rank, "%u", proc->rank);
    const struct {
        const char *name, *value;
    } vars[] = {
        {"PMIX_NAMESPACE", proc->nspace},
        {"PMIX_RANK", rank},
        {"PMIX_SERVER_URI41", srv->uri},
        {"PMIX_SERVER_URI4", srv->uri},
        {"PMIX_SERVER_URI3", srv->uri},
        {"PMIX_SERVER_URI21", srv->uri},
        {"TENON_SERVER_URI", srv->own_uri},
        {"PMIX_SECURITY_MODE", modes},
        {"PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_NON_DESC"},
        {"PMIX_GDS_MODULE", stores},
        {"PMIX_SERVER_TMPDIR", srv->tmpdir},
        {"PMIX_SYSTEM_TMPDIR", srv->system_tmpdir},
        {"PMIX_HOSTNAME", px_process.model->hostname},
        {"PMIX_VERSION", PX_IMITATED_VERSION},
    };
    drop_foreign(*env);
    for (size_t i = 0; !rc && i < PX_COUNT(vars); i++)
        if (vars[i].value && vars[i].value[0])
            rc = px_env_set(env, vars[i].name, vars[i].value, true);
    return rc ? rc : read_published(srv->part.launch_envs, proc, env);
}

/* In the caller's thread: some hosts call it in the forked child, where no loop runs.
 * All it reads is fixed once the server has started. */
PX_EXPORT pmix_status_t PMIx_server_setup_fork(const pmix_proc_t *proc, char ***env)
{
    if (!px_process.server)
        return PMIX_ERR_INIT;
    if (!proc || !env)
        return PMIX_ERR_BAD_PARAM;
    return px_server_child_env(px_process.server, proc, env);
}
