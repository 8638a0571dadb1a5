/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment of a child: how it finds this server, and the variables that
 * components give the processes of a job. */
#include "core/server/launch/environment.h"

#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"
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
    const char *how; /* a key; PMIX_SET_ENVAR is for those of components */
    char *name, *value, separator;
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
        if (e->v[i].rank == rank && strcmp(e->v[i].how, PMIX_SET_ENVAR) == 0 &&
            strcmp(e->v[i].name, name) == 0)
            return &e->v[i];
    }
    return NULL;
}

static bool is_name(const char *name)
{
    return name && *name && !strchr(name, '=');
}

/* Those of the core, which would lead the process elsewhere. */
static bool is_ours(const char *name)
{
    return px_str_starts(name, "PMIX_") || px_str_starts(name, "TENON_");
}

static pmix_status_t append(struct px_launch_env *e, pmix_rank_t rank, const char *how,
                            const pmix_envar_t *envar)
{
    struct var *v = reallocarray(e->v, e->n + 1, sizeof *v);
    struct var made = {rank, how, strdup(envar->envar), strdup(envar->value),
                       envar->separator};

    if (v)
        e->v = v;
    if (!v || !made.name || !made.value) {
        free(made.name);
        free(made.value);
        return PMIX_ERR_NOMEM;
    }
    v[e->n++] = made;
    return PMIX_SUCCESS;
}

pmix_status_t px_launch_env_set(struct px_launch_env *e, pmix_rank_t rank,
                                const char *name, const char *value)
{
    if (!is_name(name) || is_ours(name) || !value ||
        (rank >= PMIX_RANK_VALID && rank != PMIX_RANK_WILDCARD))
        return PMIX_ERR_BAD_PARAM;
    struct var *old = find(e, rank, name);
    if (!old) {
        const pmix_envar_t envar = {(char *)name, (char *)value, '\0'};

        return append(e, rank, PMIX_SET_ENVAR, &envar);
    }
    char *copy = strdup(value);
    if (!copy)
        return PMIX_ERR_NOMEM;
    free(old->value);
    old->value = copy;
    return PMIX_SUCCESS;
}

static const char *directive_of(const pmix_info_t *info)
{
    static const char *const keys[] = {PMIX_SET_ENVAR, PMIX_ADD_ENVAR, PMIX_UNSET_ENVAR,
                                       PMIX_PREPEND_ENVAR, PMIX_APPEND_ENVAR};

    for (size_t i = 0; i < PX_COUNT(keys); i++)
        if (PMIx_Check_key(info->key, keys[i]))
            return keys[i];
    return NULL;
}

bool px_launch_env_is_change(const pmix_info_t *info)
{
    return directive_of(info);
}

pmix_status_t px_launch_env_change(struct px_launch_env *e, const pmix_info_t *info)
{
    const char *how = directive_of(info);
    const bool unset = how && strcmp(how, PMIX_UNSET_ENVAR) == 0;
    const pmix_value_t *v = &info->value;
    char empty[] = "";

    if (!how)
        return PMIX_SUCCESS;
    if (v->type != (unset ? PMIX_STRING : PMIX_ENVAR))
        return PMIX_ERR_BAD_PARAM;
    const pmix_envar_t named = {v->data.string, empty, '\0'};
    const pmix_envar_t *envar = unset ? &named : &v->data.envar;
    if (!is_name(envar->envar) || !envar->value)
        return PMIX_ERR_BAD_PARAM;
    if (is_ours(envar->envar)) {
        px_log(PX_LOG_WARN, "server", "job %s: %s is not the host's to set: left out",
               e->nspace, envar->envar);
        return PMIX_SUCCESS;
    }
    if (strcmp(how, PMIX_SET_ENVAR) == 0)
        return px_launch_env_set(e, PMIX_RANK_WILDCARD, envar->envar, envar->value);
    return append(e, PMIX_RANK_WILDCARD, how, envar);
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

/* There is none, or it is this process's own: not what has been set for the
 * application. */
static bool may_replace(char **env, const char *name)
{
    const char *there = px_env_get(env, name), *own = getenv(name);

    return !there || (own && strcmp(there, own) == 0);
}

/* Those of this rank first, which those of all ranks then do not replace; then, in
 * their order, the changes that the host asks for. */
static pmix_status_t apply(const struct px_launch_env *e, pmix_rank_t rank, char ***env)
{
    const pmix_rank_t order[] = {rank, PMIX_RANK_WILDCARD};
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t k = 0; k < PX_COUNT(order); k++)
        for (size_t i = 0; !rc && i < e->n; i++) {
            const struct var *v = &e->v[i];

            if (v->rank == order[k] && strcmp(v->how, PMIX_SET_ENVAR) == 0 &&
                may_replace(*env, v->name))
                rc = px_env_set(env, v->name, v->value, true);
        }
    for (size_t i = 0; !rc && i < e->n; i++) {
        const struct var *v = &e->v[i];
        const pmix_envar_t envar = {v->name, v->value, v->separator};

        if (strcmp(v->how, PMIX_SET_ENVAR) == 0)
            continue;
        if (strcmp(v->how, PMIX_UNSET_ENVAR) != 0)
            rc = px_env_change(env, v->how, &envar);
        else if (may_replace(*env, v->name))
            px_env_unset(*env, v->name);
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
