/* SPDX-License-Identifier: BSD-3-Clause */
/* Environment of a child process: how to reach this server, and the variables that
 * components give the processes of a job. */
#include "core/server/node/environment.h"

#include "core/base/map.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/base/vec.h"
#include "core/model/nspace.h"
#include "core/plugin/select.h"
#include "core/role/security.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "core/server/host.h"
#include "core/server/server.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

/* ---- variables of jobs ----------------------------------------------------------- */

/* Variables of a job, in a list that can be read while it changes. The loop writes the
 * list; PMIx_server_setup_fork reads it in any thread and in forked children. A
 * published element never changes. The loop removes an element, and frees it when no
 * thread reads the list. */
struct var {
    pmix_rank_t rank;
    const char *how; /* key of the host's directive; NULL: set by a component */
    char *name, *value, separator;
};

struct px_launch_env {
    struct px_launch_env *_Atomic next;
    struct px_launch_env *next_retired;
    pmix_nspace_t nspace;
    struct var *v;
    size_t n, cap;
    struct px_map at; /* rank and name -> index + 1, of components' variables */
};

struct px_launch_envs { /* zeroed: empty */
    struct px_launch_env *_Atomic first;
    struct px_launch_env *retired; /* removed, but perhaps still being read */
    atomic_uint readers;
};

struct px_launch_env *px_launch_env_create(const char *nspace)
{
    struct px_launch_env *e = calloc(1, sizeof(*e));

    if (e)
        px_str_copy(e->nspace, sizeof(e->nspace), nspace);
    return e;
}

void px_launch_env_free(struct px_launch_env *e)
{
    for (size_t i = 0; e && i < e->n; i++) {
        free(e->v[i].name);
        free(e->v[i].value);
    }
    if (!e)
        return;
    px_map_fini(&e->at);
    free(e->v);
    free(e);
}

static bool is_name(const char *name)
{
    return name && *name && !strchr(name, '=');
}

/* True for variables of this library, which would misdirect the process. */
static bool is_ours(const char *name)
{
    return px_str_starts(name, "PMIX_") || px_str_starts(name, "TENON_");
}

static pmix_status_t append(struct px_launch_env *e, pmix_rank_t rank, const char *how,
                            const pmix_envar_t *envar)
{
    struct var made = {rank, how, strdup(envar->envar), strdup(envar->value),
                       envar->separator};
    struct var *v = made.name && made.value ? px_vec_add(&e->v, &e->n, &e->cap) : NULL;

    if (!v) {
        free(made.name);
        free(made.value);
        return PMIX_ERR_NOMEM;
    }
    *v = made;
    return PMIX_SUCCESS;
}

pmix_status_t px_launch_env_set(void *env, pmix_rank_t rank, const char *name,
                                const char *value)
{
    const pmix_envar_t envar = {(char *)name, (char *)value, '\0'};
    struct px_launch_env *e = env;

    if (!is_name(name) || is_ours(name) || !value ||
        (rank >= PMIX_RANK_VALID && rank != PMIX_RANK_WILDCARD))
        return PMIX_ERR_BAD_PARAM;
    PX_AUTOFREE char *key = px_strf("%u %s", rank, name);
    const uintptr_t at = key ? (uintptr_t)px_map_sget(&e->at, key) : 0;
    if (!at) {
        pmix_status_t rc = key ? append(e, rank, NULL, &envar) : PMIX_ERR_NOMEM;

        return rc ? rc : px_map_sput(&e->at, key, (void *)e->n, NULL);
    }
    char *copy = strdup(value);
    if (!copy)
        return PMIX_ERR_NOMEM;
    free(e->v[at - 1].value);
    e->v[at - 1].value = copy;
    return PMIX_SUCCESS;
}

const char *px_launch_env_directive(const pmix_info_t *info)
{
    static const char *const keys[] = {PMIX_SET_ENVAR, PMIX_ADD_ENVAR, PMIX_UNSET_ENVAR,
                                       PMIX_PREPEND_ENVAR, PMIX_APPEND_ENVAR};

    for (size_t i = 0; i < PX_COUNT(keys); i++)
        if (PMIx_Check_key(info->key, keys[i]))
            return keys[i];
    return NULL;
}

pmix_status_t px_launch_env_change(struct px_launch_env *e, const pmix_info_t *info)
{
    const char *how = px_launch_env_directive(info);
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
        px_log(PX_LOG_WARN, "server", "job %s: cannot set %s: the name is reserved",
               e->nspace, envar->envar);
        return PMIX_SUCCESS;
    }
    return append(e, PMIX_RANK_WILDCARD, how, envar);
}

/* Frees the removed elements when no thread reads. Readers that begin later cannot
 * find them. */
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

/* Runs on the loop, which alone removes elements. */
pmix_status_t px_launch_env_dup(struct px_server *srv, const char *nspace,
                                struct px_launch_env **out)
{
    const struct px_launch_env *e = atomic_load(&srv->part.launch_envs->first);
    pmix_status_t rc = PMIX_SUCCESS;

    while (e && strcmp(e->nspace, nspace) != 0)
        e = atomic_load(&e->next);
    struct px_launch_env *copy = e ? px_launch_env_create(nspace) : NULL;
    if (e && !copy)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; e && !rc && i < e->n; i++) {
        const struct var *v = &e->v[i];
        const pmix_envar_t envar = {v->name, v->value, v->separator};

        rc = v->how ? append(copy, v->rank, v->how, &envar)
                    : px_launch_env_set(copy, v->rank, v->name, v->value);
    }
    if (rc)
        px_launch_env_free(copy);
    else
        *out = copy;
    return rc;
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

/* ---- changes of the environment of a process ------------------------------------- */

struct entry {
    char *text;         /* NULL: removed, or not set yet */
    char *front, *back; /* added to text in the end, with separators; or NULL */
    bool fixed;         /* set for the application: differs from this process's own */
};

typedef struct edit {
    struct entry *v;
    size_t n, cap;
    struct px_map at; /* name -> index + 1 */
} edit;

static void edit_cleanup(struct edit *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->v[i].text);
        free(d->v[i].front);
        free(d->v[i].back);
    }
    free(d->v);
    px_map_fini(&d->at);
}

static pmix_status_t edit_begin(struct edit *d, char **env)
{
    struct px_map own = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    for (char **v = environ; !rc && v && *v; v++)
        if (!px_map_get(&own, *v, strcspn(*v, "=")))
            rc = px_map_put(&own, *v, strcspn(*v, "="), *v, NULL);
    for (; !rc && env && *env; env++) {
        const size_t len = strcspn(*env, "=");
        const char *theirs = px_map_get(&own, *env, len);
        struct entry *e = px_vec_add(&d->v, &d->n, &d->cap);

        if (e)
            *e = (struct entry){.text = strdup(*env),
                                .fixed = !theirs || strcmp(theirs, *env) != 0};
        if (!e || !e->text)
            rc = PMIX_ERR_NOMEM;
        else if (!px_map_get(&d->at, *env, len))
            rc = px_map_put(&d->at, *env, len, (void *)d->n, NULL);
    }
    px_map_fini(&own);
    return rc;
}

/* Replaces the text and owns the new one; NULL: out of memory. */
static pmix_status_t put_text(struct entry *e, char *text)
{
    if (!text)
        return PMIX_ERR_NOMEM;
    free(e->text);
    e->text = text;
    return PMIX_SUCCESS;
}

/* True if the value begins with front, without the separator at front's end. */
static bool has_front(const char *value, const char *front)
{
    const size_t n = strlen(front) - 1;

    return strncmp(value, front, n) == 0 && (!value[n] || value[n] == front[n]);
}

/* True if the value ends with back, without the separator at back's beginning. */
static bool has_back(const char *value, const char *back)
{
    const size_t n = strlen(back) - 1, len = strlen(value);

    return len >= n && strcmp(value + len - n, back + 1) == 0 &&
           (len == n || value[len - n - 1] == back[0]);
}

/* Adds front and back to the value. Skips text that is already at its end, since a host
 * may call twice for one environment. */
static pmix_status_t join(struct entry *e)
{
    const size_t n = strcspn(e->text, "=");
    const char *value = e->text + n + (e->text[n] == '=');
    const char *front = e->front && !has_front(value, e->front) ? e->front : "";
    const char *back = e->back && !has_back(value, e->back) ? e->back : "";

    return *front || *back ? put_text(e, px_strf("%.*s=%s%s%s", (int)n, e->text, front,
                                                 value, back))
                           : PMIX_SUCCESS;
}

/* Builds the new environment. *env is unchanged after a failure. */
static pmix_status_t edit_end(struct edit *d, char ***env)
{
    char **out = calloc(d->n + 1, sizeof(*out));
    pmix_status_t rc = out ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    size_t n = 0;

    for (size_t i = 0; !rc && i < d->n; i++)
        if (d->v[i].text)
            rc = join(&d->v[i]);
    if (rc) {
        free(out);
        return rc;
    }
    for (size_t i = 0; i < d->n; i++)
        if (d->v[i].text)
            out[n++] = px_take(&d->v[i].text);
    px_strv_free(*env);
    *env = out;
    return PMIX_SUCCESS;
}

/* Finds or adds an entry. NULL if out of memory. */
static struct entry *entry_of(struct edit *d, const char *name)
{
    const uintptr_t at = (uintptr_t)px_map_sget(&d->at, name);
    struct entry *e = at ? &d->v[at - 1] : px_vec_add(&d->v, &d->n, &d->cap);

    if (at || !e)
        return e;
    if (!px_map_sput(&d->at, name, (void *)d->n, NULL))
        return e;
    d->n--;
    return NULL;
}

static pmix_status_t extend(struct entry *e, const struct var *v)
{
    const bool first = strcmp(v->how, PMIX_PREPEND_ENVAR) == 0;
    char **to = first ? &e->front : &e->back;
    const char *was = *to ? *to : "";
    char *text = first ? px_strf("%s%c%s", v->value, v->separator, was)
                       : px_strf("%s%c%s", was, v->separator, v->value);

    if (!text)
        return PMIX_ERR_NOMEM;
    free(*to);
    *to = text;
    return PMIX_SUCCESS;
}

static pmix_status_t edit_change(struct edit *d, const struct var *v)
{
    const char *how = v->how ? v->how : PMIX_SET_ENVAR;
    struct entry *e = entry_of(d, v->name);
    const bool sets = strcmp(how, PMIX_SET_ENVAR) == 0;
    const bool unsets = strcmp(how, PMIX_UNSET_ENVAR) == 0;

    if (!e)
        return PMIX_ERR_NOMEM;
    if (e->text && !sets && !unsets)
        return strcmp(how, PMIX_ADD_ENVAR) == 0 ? PMIX_SUCCESS : extend(e, v);
    if (e->text && e->fixed)
        return PMIX_SUCCESS;
    free(px_take(&e->front));
    free(px_take(&e->back));
    if (!unsets)
        return put_text(e, px_strf("%s=%s", v->name, v->value));
    free(px_take(&e->text));
    return PMIX_SUCCESS;
}

/* Applies the variables of all ranks, then those of this rank, then the host's changes
 * in their order. */
static pmix_status_t apply(const struct px_launch_env *e, pmix_rank_t rank, char ***env)
{
    PX_AUTO(edit) d = {0};
    pmix_status_t rc = edit_begin(&d, *env);

    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0; !rc && i < e->n; i++) {
            const struct var *v = &e->v[i];

            if (pass == 2 ? v->how != NULL
                          : !v->how && v->rank == (pass ? rank : PMIX_RANK_WILDCARD))
                rc = edit_change(&d, v);
        }
    return rc ? rc : edit_end(&d, env);
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

/* ---- one process ----------------------------------------------------------------- */

/* Removes variables that are not for the child. Parameters with a place to report an
 * address were for this server: in a child server that descriptor is another file. */
static void drop_foreign(char **env)
{
    static const char *const prefixes[] = {"PMIX_SERVER_URI",
                                           "PMIX_DSTORE_",
                                           "TENON_SERVER_URI",
                                           "TENON_TIMELINE",
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
    PX_AUTOFREE char *modes = px_security_names();
    PX_AUTOFREE char *stores = px_module_names("gds");
    PX_AUTOFREE char *id = px_strf("%.*s.%u", PMIX_MAX_NSLEN, proc->nspace, proc->rank);
    char rank[16];
    pmix_status_t rc = PMIX_SUCCESS;

    if (!modes || !stores || !id)
        return PMIX_ERR_NOMEM;
    snprintf(rank, sizeof(rank), "%u", proc->rank);
    const struct {
        const char *name, *value;
    } vars[] = {
        {"PMIX_NAMESPACE", proc->nspace},
        {"PMIX_RANK", rank},
        {"PMIX_ID", id}, /* monitors and older programs read this alone */
        {"PMIX_SERVER_URI41", srv->uri},
        {"PMIX_SERVER_URI4", srv->uri},
        {"PMIX_SERVER_URI3", srv->uri},
        {"PMIX_SERVER_URI21", srv->uri},
        {"PMIX_SERVER_URI2", srv->uri}, /* Flux reads no newer name */
        {"TENON_SERVER_URI", srv->own_uri},
        {"TENON_TIMELINE", srv->conf.timeline ? "1" : NULL},
        {"PMIX_SECURITY_MODE", modes},
        {"PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_NON_DESC"},
        {"PMIX_GDS_MODULE", stores},
        {"PMIX_SERVER_TMPDIR", srv->tmpdir},
        {"PMIX_SYSTEM_TMPDIR", srv->system_tmpdir},
        {"PMIX_HOSTNAME", srv->model->hostname},
        {"PMIX_VERSION", TENON_CLAIMED_VERSION},
    };
    drop_foreign(*env);
    for (size_t i = 0; !rc && i < PX_COUNT(vars); i++)
        if (vars[i].value && vars[i].value[0])
            rc = px_env_set(env, vars[i].name, vars[i].value, true);
    return rc ? rc : read_published(srv->part.launch_envs, proc, env);
}

/* Runs in the caller's thread: some hosts call it in the forked child, where no loop
 * runs. All data it reads are constant after the server's start. */
PX_EXPORT pmix_status_t PMIx_server_setup_fork(const pmix_proc_t *proc, char ***env)
{
    struct px_server *srv = px_process.server;

    if (!srv)
        return PMIX_ERR_INIT;
    if (!proc || !env)
        return PMIX_ERR_BAD_PARAM;
    return px_server_child_env(srv, proc, env);
}
