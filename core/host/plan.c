/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/plan.h"

#include <string.h>
#include <sys/stat.h>

#include "core/base/env.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/model/nspace.h"
#include "core/rt/process.h"

extern char **environ;

/* A request may demand what it asks for (PMIX_INFO_REQD); other attributes are then
 * refused. */
static const char *const understood[] = {
    PMIX_WDIR,
    PMIX_HOST,
    PMIX_PARENT_ID,
    PMIX_SET_ENVAR,
    PMIX_ADD_ENVAR,
    PMIX_UNSET_ENVAR,
    PMIX_PREPEND_ENVAR,
    PMIX_APPEND_ENVAR,
    PMIX_FWD_STDIN,
    PMIX_FWD_STDOUT,
    PMIX_FWD_STDERR,
    PMIX_STDIN_TGT,
    PMIX_SPAWN_CHILD_SEP,
    PMIX_NOTIFY_COMPLETION,
    PMIX_FWD_ENVIRONMENT,
};

static pmix_status_t check_demands(const pmix_info_t *info, size_t n,
                                   struct px_err *err)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;

        while (k < PX_COUNT(understood) && strcmp(info[i].key, understood[k]) != 0)
            k++;
        if (k == PX_COUNT(understood) && (info[i].flags & PMIX_INFO_REQD))
            return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                              "cannot spawn: attribute %s is not supported",
                              info[i].key);
    }
    return PMIX_SUCCESS;
}

/* ---- where ---------------------------------------------------------------------- */

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

static pmix_status_t check_hosts(const pmix_info_t *info, size_t n, struct px_err *err)
{
    static const char *const files[] = {PMIX_HOSTFILE, PMIX_ADD_HOST,
                                        PMIX_ADD_HOSTFILE};
    const char *hosts = px_info_str(info, n, PMIX_HOST);

    for (size_t i = 0; i < PX_COUNT(files); i++)
        if (px_info_find(info, n, files[i]))
            return px_err_set(
                err, PMIX_ERR_NOT_SUPPORTED,
                "cannot spawn: attribute %s is not supported on a single node",
                files[i]);
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

/* ---- environment ---------------------------------------------------------------- */

enum how { SET, ADD, PREPEND, APPEND };

static pmix_status_t join(char ***env, const pmix_envar_t *e, enum how how)
{
    const char *was = px_env_get(*env, e->envar);
    const char separator[] = {e->separator, '\0'};
    PX_AUTOFREE char *joined = NULL;

    if (!was)
        return px_env_set(env, e->envar, e->value, true);
    joined = how == PREPEND ? px_strf("%s%s%s", e->value, separator, was)
                            : px_strf("%s%s%s", was, separator, e->value);
    return joined ? px_env_set(env, e->envar, joined, true) : PMIX_ERR_NOMEM;
}

static pmix_status_t change(char ***env, const pmix_envar_t *e, enum how how)
{
    if (!e->envar || !e->value)
        return PMIX_ERR_BAD_PARAM;
    if (how == PREPEND || how == APPEND)
        return join(env, e, how);
    return px_env_set(env, e->envar, e->value, how == SET);
}

static pmix_status_t unset(char **env, const pmix_value_t *v)
{
    const char *name = px_value_string(v);

    if (!name || !*name || strchr(name, '='))
        return PMIX_ERR_BAD_PARAM;
    px_env_unset(env, name);
    return PMIX_SUCCESS;
}

static pmix_status_t change_env(char ***env, const pmix_info_t *info, size_t n,
                                struct px_err *err)
{
    static const struct {
        const char *key;
        enum how how;
    } directives[] = {{PMIX_SET_ENVAR, SET},
                      {PMIX_ADD_ENVAR, ADD},
                      {PMIX_PREPEND_ENVAR, PREPEND},
                      {PMIX_APPEND_ENVAR, APPEND}};
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++) {
        const pmix_value_t *v = &info[i].value;

        if (strcmp(info[i].key, PMIX_UNSET_ENVAR) == 0)
            rc = unset(*env, v);
        for (size_t d = 0; !rc && d < PX_COUNT(directives); d++) {
            if (strcmp(info[i].key, directives[d].key) == 0)
                rc = v->type == PMIX_ENVAR
                         ? change(env, &v->data.envar, directives[d].how)
                         : PMIX_ERR_BAD_PARAM;
        }
        if (rc)
            px_err_set(err, rc, "cannot change the environment: bad value of %s",
                       info[i].key);
    }
    return rc;
}

/* ---- one application ------------------------------------------------------------ */

static pmix_status_t out_of_memory(struct px_err *err)
{
    return px_err_set(err, PMIX_ERR_NOMEM, "cannot spawn: out of memory");
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
    pmix_status_t rc = change_env(&plan->env, req->info, req->n_info, err);
    return rc ? rc : change_env(&plan->env, app->info, app->ninfo, err);
}

static pmix_status_t find_program(struct px_app_plan *plan, const char *name,
                                  struct px_err *err)
{
    pmix_status_t rc = px_path_find_program(name, plan->env, plan->cwd, &plan->program,
                                            err);

    switch (rc) {
    case PMIX_ERR_NOT_FOUND:
        return PMIX_ERR_JOB_EXE_NOT_FOUND;
    case PMIX_ERR_NO_PERMISSIONS:
        return PMIX_ERR_JOB_APP_NOT_EXECUTABLE;
    default:
        return rc;
    }
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
    pmix_status_t rc = check_demands(app->info, app->ninfo, err);

    if (!rc)
        rc = check_hosts(app->info, app->ninfo, err);
    if (rc)
        return rc;
    if (!name || !*name)
        return px_err_set(err, PMIX_ERR_JOB_NO_EXE_SPECIFIED,
                          "cannot spawn: no program is named");
    if (app->maxprocs <= 0)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot run %s: %d processes asked for", name, app->maxprocs);
    plan->n = (uint32_t)app->maxprocs;
    rc = check_cwd(cwd, name, err);
    if (rc)
        return rc;
    if (copy_command(plan, app, name, cwd))
        return out_of_memory(err);
    rc = make_env(plan, app, req, err);
    return rc ? rc : find_program(plan, name, err);
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
        .notify = px_info_flag(req->info, req->n_info, PMIX_NOTIFY_COMPLETION)};
    pmix_status_t rc = check_demands(req->info, req->n_info, err);

    if (!rc)
        rc = check_hosts(req->info, req->n_info, err);
    if (!rc)
        rc = plan_apps(&plan, req, err);
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
