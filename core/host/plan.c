/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/job.h"

#include <string.h>
#include <sys/stat.h>

#include "core/base/path.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/model/nspace.h"
#include "core/rt/process.h"

extern char **environ;

static pmix_status_t out_of_memory(struct px_err *err)
{
    return px_err_nomem(err, "spawn");
}

/* ---- attributes ------------------------------------------------------------------ */

/* name: as far as len; "host:slots" and the name without its domain will do. */
static bool is_here(const char *name, size_t len)
{
    const char *here = px_process.model->hostname;
    const char *colon = memchr(name, ':', len);
    size_t n = colon ? (size_t)(colon - name) : len;

    return (n == strlen(here) && strncmp(name, here, n) == 0) ||
           (n == strcspn(here, ".") && strncmp(name, here, n) == 0) ||
           (n == strlen("localhost") && strncmp(name, "localhost", n) == 0);
}

static pmix_status_t check_hosts(char ***env PX_UNUSED, const pmix_info_t *info,
                                 struct px_err *err)
{
    const char *hosts = px_value_string(&info->value);

    while (hosts && *hosts) {
        size_t len = strcspn(hosts, ",");

        if (len > 0 && !is_here(hosts, len))
            return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                              "cannot spawn: host %.*s is not this node", (int)len,
                              hosts);
        hosts += len + (hosts[len] == ',');
    }
    return PMIX_SUCCESS;
}

static pmix_status_t refuse_hosts(char ***env PX_UNUSED, const pmix_info_t *info,
                                  struct px_err *err)
{
    return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                      "cannot spawn: attribute %s is not supported on a single node",
                      info->key);
}

static pmix_status_t change_env(char ***env, const pmix_envar_t *e, const char *key)
{
    const char *was = e->envar ? px_env_get(*env, e->envar) : NULL;
    const char separator[] = {e->separator, '\0'};
    PX_AUTOFREE char *joined = NULL;

    if (!e->envar || !e->value)
        return PMIX_ERR_BAD_PARAM;
    if (!was || strcmp(key, PMIX_SET_ENVAR) == 0)
        return px_env_set(env, e->envar, e->value, true);
    if (strcmp(key, PMIX_ADD_ENVAR) == 0)
        return PMIX_SUCCESS;
    joined = strcmp(key, PMIX_PREPEND_ENVAR) == 0
                 ? px_strf("%s%s%s", e->value, separator, was)
                 : px_strf("%s%s%s", was, separator, e->value);
    return joined ? px_env_set(env, e->envar, joined, true) : PMIX_ERR_NOMEM;
}

static pmix_status_t set_env(char ***env, const pmix_info_t *info, struct px_err *err)
{
    const pmix_value_t *v = &info->value;
    const char *name = px_value_string(v);
    pmix_status_t rc = PMIX_ERR_BAD_PARAM;

    if (strcmp(info->key, PMIX_UNSET_ENVAR) != 0) {
        if (v->type == PMIX_ENVAR)
            rc = change_env(env, &v->data.envar, info->key);
    } else if (name && *name && !strchr(name, '=')) {
        px_env_unset(*env, name);
        rc = PMIX_SUCCESS;
    }
    return rc ? px_err_set(err, rc, "cannot change the environment: bad value of %s",
                           info->key)
              : rc;
}

/* All that a request may ask for. It may demand it (PMIX_INFO_REQD); other attributes
 * are then refused. */
static const struct attribute {
    const char *key;
    /* Of one application, whose environment is env; NULL: read where it counts. */
    pmix_status_t (*apply)(char ***env, const pmix_info_t *info, struct px_err *err);
} attributes[] = {
    {PMIX_HOST, check_hosts},       {PMIX_HOSTFILE, refuse_hosts},
    {PMIX_ADD_HOST, refuse_hosts},  {PMIX_ADD_HOSTFILE, refuse_hosts},
    {PMIX_SET_ENVAR, set_env},      {PMIX_ADD_ENVAR, set_env},
    {PMIX_UNSET_ENVAR, set_env},    {PMIX_PREPEND_ENVAR, set_env},
    {PMIX_APPEND_ENVAR, set_env},   {PMIX_WDIR, NULL},
    {PMIX_PARENT_ID, NULL},         {PMIX_FWD_STDIN, NULL},
    {PMIX_FWD_STDOUT, NULL},        {PMIX_FWD_STDERR, NULL},
    {PMIX_STDIN_TGT, NULL},         {PMIX_SPAWN_CHILD_SEP, NULL},
    {PMIX_NOTIFY_COMPLETION, NULL}, {PMIX_FWD_ENVIRONMENT, NULL},
    {PMIX_JOB_RECOVERABLE, NULL},   {PMIX_JOB_CONTINUOUS, NULL},
};

static pmix_status_t apply(char ***env, const pmix_info_t *info, size_t n,
                           struct px_err *err)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++) {
        size_t k = 0;

        while (k < PX_COUNT(attributes) && strcmp(info[i].key, attributes[k].key) != 0)
            k++;
        if (k == PX_COUNT(attributes) && (info[i].flags & PMIX_INFO_REQD))
            rc = px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                            "cannot spawn: attribute %s is not supported", info[i].key);
        else if (k < PX_COUNT(attributes) && attributes[k].apply)
            rc = attributes[k].apply(env, &info[i], err);
    }
    return rc;
}

/* ---- one application ------------------------------------------------------------ */

static pmix_status_t check_cwd(const char *cwd, const char *program, struct px_err *err)
{
    struct stat st;

    if (!cwd)
        return PMIX_SUCCESS;
    if (stat(cwd, &st) < 0) {
        px_err_errno(err, "cannot run %s in %s", program, cwd);
        return PMIX_ERR_JOB_WDIR_NOT_FOUND;
    }
    if (!S_ISDIR(st.st_mode))
        return px_err_set(err, PMIX_ERR_JOB_WDIR_NOT_FOUND,
                          "cannot run %s in %s: not a directory", program, cwd);
    return PMIX_SUCCESS;
}

static pmix_status_t make_env(struct px_app_plan *plan, const pmix_app_t *app,
                              const struct px_spawn_request *req, struct px_err *err)
{
    char **inherited = req->parent ? req->parent->env : environ;

    plan->env = px_strv_dup(inherited);
    if (inherited && *inherited && !plan->env)
        return out_of_memory(err);
    for (char **e = app->env; e && *e; e++) {
        const char *equals = strchr(*e, '=');
        PX_AUTOFREE char *name = equals ? strndup(*e, (size_t)(equals - *e)) : NULL;

        if (!equals || equals == *e)
            return px_err_set(err, PMIX_ERR_BAD_PARAM,
                              "cannot spawn: \"%s\" is not an environment variable",
                              *e);
        if (!name || px_env_set(&plan->env, name, equals + 1, true))
            return out_of_memory(err);
    }
    pmix_status_t rc = apply(&plan->env, req->info, req->n_info, err);
    return rc ? rc : apply(&plan->env, app->info, app->ninfo, err);
}

static pmix_status_t copy_command(struct px_app_plan *plan, const pmix_app_t *app,
                                  const char *name, const char *cwd)
{
    if (app->argv && app->argv[0])
        plan->argv = px_strv_dup(app->argv);
    else if (px_strv_append(&plan->argv, name))
        return PMIX_ERR_NOMEM;
    plan->cwd = cwd ? strdup(cwd) : NULL;
    return plan->argv && (!cwd || plan->cwd) ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static const char *choose_cwd(const pmix_app_t *app, const struct px_spawn_request *req)
{
    const char *cwd = px_info_str(app->info, app->ninfo, PMIX_WDIR);

    if (!cwd)
        cwd = app->cwd;
    if (!cwd)
        cwd = px_info_str(req->info, req->n_info, PMIX_WDIR);
    return cwd || !req->parent ? cwd : req->parent->cwd;
}

static pmix_status_t plan_app(struct px_app_plan *plan, const pmix_app_t *app,
                              const struct px_spawn_request *req, struct px_err *err)
{
    const char *name = app->cmd ? app->cmd : app->argv ? app->argv[0] : NULL;
    const char *cwd = choose_cwd(app, req);

    if (!name || !*name)
        return px_err_set(err, PMIX_ERR_JOB_NO_EXE_SPECIFIED,
                          "cannot spawn: no program is named");
    if (app->maxprocs <= 0)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot run %s: %d processes asked for", name, app->maxprocs);
    plan->n = (uint32_t)app->maxprocs;
    pmix_status_t rc = check_cwd(cwd, name, err);
    if (rc)
        return rc;
    if (copy_command(plan, app, name, cwd))
        return out_of_memory(err);
    rc = make_env(plan, app, req, err);
    if (!rc)
        rc = px_path_find_program(name, plan->env, plan->cwd, &plan->program, err);
    return rc == PMIX_ERR_NOT_FOUND        ? PMIX_ERR_JOB_EXE_NOT_FOUND
           : rc == PMIX_ERR_NO_PERMISSIONS ? PMIX_ERR_JOB_APP_NOT_EXECUTABLE
                                           : rc;
}

/* ---- the job -------------------------------------------------------------------- */

static pmix_status_t choose_stdin(px_plan *plan, const pmix_info_t *info, size_t n,
                                  struct px_err *err)
{
    const pmix_info_t *target = px_info_find(info, n, PMIX_STDIN_TGT);

    plan->stdin_rank = px_info_flag(info, n, PMIX_FWD_STDIN) ? 0 : PMIX_RANK_UNDEF;
    if (!target)
        return PMIX_SUCCESS;
    if (target->value.type == PMIX_PROC && target->value.data.proc)
        plan->stdin_rank = target->value.data.proc->rank;
    else if (!px_value_to_u32(&target->value, &plan->stdin_rank))
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "cannot spawn: bad value of %s",
                          PMIX_STDIN_TGT);
    if (plan->stdin_rank >= plan->n_tasks)
        return px_err_set(
            err, PMIX_ERR_NOT_SUPPORTED,
            "cannot spawn: standard input cannot go to more than one process");
    return PMIX_SUCCESS;
}

static pmix_status_t plan_apps(px_plan *plan, const struct px_spawn_request *req,
                               struct px_err *err)
{
    plan->apps = calloc(req->n_apps, sizeof(*plan->apps));
    if (!plan->apps)
        return out_of_memory(err);
    plan->n_apps = req->n_apps;
    for (size_t i = 0; i < req->n_apps; i++) {
        struct px_app_plan *app = &plan->apps[i];
        pmix_status_t rc = plan_app(app, &req->apps[i], req, err);

        if (rc)
            return rc;
        if (app->n > PX_MAX_TASKS - plan->n_tasks)
            return px_err_set(err, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES,
                              "cannot run %s: more than %u processes", app->program,
                              PX_MAX_TASKS);
        app->first = plan->n_tasks;
        plan->n_tasks += app->n;
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_plan_make(px_plan *out, const struct px_spawn_request *req,
                           struct px_err *err)
{
    PX_AUTO(px_plan) plan = {
        .detached = px_info_flag(req->info, req->n_info, PMIX_SPAWN_CHILD_SEP),
        .notify = px_info_flag(req->info, req->n_info, PMIX_NOTIFY_COMPLETION),
        .recoverable = px_info_flag(req->info, req->n_info, PMIX_JOB_RECOVERABLE),
        .continuous = px_info_flag(req->info, req->n_info, PMIX_JOB_CONTINUOUS)};
    pmix_status_t rc = plan_apps(&plan, req, err);

    if (!rc)
        rc = choose_stdin(&plan, req->info, req->n_info, err);
    if (rc)
        return rc;
    *out = plan;
    plan = (px_plan){0};
    return PMIX_SUCCESS;
}

void px_plan_cleanup(px_plan *plan)
{
    for (size_t i = 0; i < plan->n_apps; i++) {
        free(plan->apps[i].program);
        px_strv_free(plan->apps[i].argv);
        px_strv_free(plan->apps[i].env);
        free(plan->apps[i].cwd);
    }
    free(plan->apps);
    *plan = (px_plan){0};
}
