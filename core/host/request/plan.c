/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/request/plan.h"

#include <string.h>

#include "core/base/path.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/model/nspace.h"
#include "core/rt/process.h"

extern char **environ;

/* ---- one application ------------------------------------------------------------ */

/* Begins the environment: what is inherited, and the application's own variables. */
static pmix_status_t begin_env(struct px_app_plan *plan, const pmix_app_t *app,
                               const struct px_spawn_request *req, struct px_err *err)
{
    if (px_env_edit_begin(&plan->changes, req->parent ? req->parent->env : environ))
        return px_err_nomem(err, "spawn");
    for (char **e = app->env; e && *e; e++) {
        const size_t len = strcspn(*e, "=");
        pmix_status_t rc = (*e)[len] ? px_env_edit_change(&plan->changes, PX_ENV_SET,
                                                          *e, len, *e + len + 1, '\0')
                                     : PMIX_ERR_BAD_PARAM;

        if (rc == PMIX_ERR_BAD_PARAM)
            return px_err_set(
                err, rc, "cannot spawn: \"%s\" is not an environment variable", *e);
        if (rc)
            return px_err_nomem(err, "spawn");
    }
    return PMIX_SUCCESS;
}

static pmix_status_t copy_command(struct px_app_plan *plan, const pmix_app_t *app,
                                  const char *name)
{
    if (app->argv && app->argv[0])
        plan->argv = px_strv_dup(app->argv);
    else if (px_strv_append(&plan->argv, name))
        return PMIX_ERR_NOMEM;
    return plan->argv ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

/* Chooses the working directory. An attribute wins over pmix_app_t.cwd, which libraries
 * set for callers that name no directory. */
static pmix_status_t choose_cwd(struct px_app_plan *plan, const pmix_app_t *app,
                                const struct px_spawn_request *req)
{
    const char *cwd = app->cwd ? app->cwd : req->parent ? req->parent->cwd : NULL;

    if (plan->cwd || plan->in_job_dir || !cwd)
        return PMIX_SUCCESS;
    plan->cwd = strdup(cwd);
    return plan->cwd ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

/* Finds the program, relative to its working directory. The job's folder does not exist
 * yet, so the inherited directory serves instead. */
static pmix_status_t find_program(struct px_app_plan *plan, const char *name,
                                  const struct px_spawn_request *req,
                                  struct px_err *err)
{
    PX_AUTOFREE char *here = plan->in_job_dir ? get_current_dir_name() : NULL;
    const char *from = !plan->in_job_dir                 ? plan->cwd
                       : req->parent && req->parent->cwd ? req->parent->cwd
                                                         : here;
    /* The started process checks a path. A file system may block, and the loop must not
     * wait. */
    if (strchr(name, '/')) {
        plan->program = *name == '/' || !from ? strdup(name) : px_path_join(from, name);
        return plan->program ? PMIX_SUCCESS : px_err_nomem(err, "spawn");
    }
    pmix_status_t rc = px_path_find_program(name, plan->env, from, &plan->program, err);

    return rc == PMIX_ERR_NOT_FOUND        ? PMIX_ERR_JOB_EXE_NOT_FOUND
           : rc == PMIX_ERR_NO_PERMISSIONS ? PMIX_ERR_JOB_APP_NOT_EXECUTABLE
           : rc && rc != PMIX_ERR_NOMEM    ? PMIX_ERR_JOB_FAILED_TO_LAUNCH
                                           : rc;
}

/* Puts the agent before the command line of the application. */
static pmix_status_t use_agent(struct px_app_plan *plan,
                               const struct px_spawn_request *req, struct px_err *err)
{
    PX_AUTOFREE char *program = px_take(&plan->program);
    PX_AUTO(px_strv) argv = px_take(&plan->argv);
    pmix_status_t rc = find_program(plan, plan->agent, req, err);

    if (rc)
        return rc;
    if (plan->preloaded)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot run %s: PMIX_PRELOAD_BIN and PMIX_EXEC_AGENT exclude "
                          "each other",
                          program);
    if (px_strv_append(&plan->argv, plan->agent) ||
        px_strv_append(&plan->argv, program))
        return px_err_nomem(err, "spawn");
    for (char **arg = argv + 1; argv[0] && *arg; arg++)
        if (px_strv_append(&plan->argv, *arg))
            return px_err_nomem(err, "spawn");
    return PMIX_SUCCESS;
}

/* Counts the daemons of a debugger that asks for a number per process or node. */
static pmix_status_t count_daemons(struct px_app_plan *plan, const char *name,
                                   struct px_err *err)
{
    if ((plan->per_proc && (plan->per_node || !plan->n_targets)) ||
        plan->per_proc > PX_MAX_TASKS || plan->per_node > PX_MAX_TASKS)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot run %s: so many debugger daemons for each process "
                          "need PMIX_DEBUG_TARGET, and no number for each node",
                          name);
    if (plan->per_proc || plan->per_node)
        plan->n = plan->per_node + plan->per_proc * plan->n_targets;
    return PMIX_SUCCESS;
}

static pmix_status_t plan_app(px_plan *job, struct px_app_plan *plan,
                              const pmix_app_t *app, const struct px_spawn_request *req,
                              struct px_err *err)
{
    const char *name = app->cmd ? app->cmd : app->argv ? app->argv[0] : NULL;

    if (!name || !*name)
        return px_err_set(err, PMIX_ERR_JOB_NO_EXE_SPECIFIED,
                          "cannot spawn: no program is named");
    if (app->maxprocs < 0)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot run %s: %d processes asked for", name, app->maxprocs);
    plan->n = (uint32_t)app->maxprocs;
    pmix_status_t rc = begin_env(plan, app, req, err);
    if (!rc)
        rc = px_attributes_of_app(job, plan, app, req, err);
    if (!rc && px_env_edit_end(&plan->changes, &plan->env))
        rc = px_err_nomem(err, "spawn");
    if (!rc && px_iof_way_check(&plan->output.way, err))
        rc = px_err_prefix(err, "cannot run %s", name);
    if (!rc)
        rc = count_daemons(plan, name, err);
    if (!rc && plan->n == 0) {
        rc = px_plan_count(plan, req, err);
        if (rc)
            px_err_prefix(err, "cannot run %s", name);
    }
    if (rc)
        return rc;
    if (choose_cwd(plan, app, req) || copy_command(plan, app, name))
        return px_err_nomem(err, "spawn");
    rc = find_program(plan, name, req, err);
    return rc || !plan->agent ? rc : use_agent(plan, req, err);
}

/* ---- the job -------------------------------------------------------------------- */

/* Chooses the rank that gets stdin. A named rank wins, then the first rank of the
 * application that asks for input. If the job asks, the first application counts. */
static pmix_status_t choose_stdin(px_plan *plan, const struct px_spawn_request *req,
                                  struct px_err *err)
{
    const struct px_app_plan *reader = NULL;
    bool several = false;

    for (size_t i = 0; i < plan->n_apps; i++) {
        const struct px_app_plan *app = &plan->apps[i];

        several |= reader && reader->input == PX_INPUT_OWN &&
                   app->input == PX_INPUT_OWN;
        if (app->input > (reader ? reader->input : PX_INPUT_NONE))
            reader = app;
    }
    if (!plan->has_target)
        plan->stdin_rank = reader ? reader->first : PMIX_RANK_UNDEF;
    plan->stdin_pushed = !req->own;
    if (several)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                          "cannot spawn: standard input cannot go to the first of "
                          "more than one application");
    if (plan->has_target && plan->stdin_rank != PMIX_RANK_WILDCARD &&
        plan->stdin_rank >= plan->n_tasks)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot spawn: rank %u, which is to get standard input, is "
                          "not there",
                          plan->stdin_rank);
    return PMIX_SUCCESS;
}

/* Checks that each rank that is to stop is in its application or in the job. */
static pmix_status_t check_stops(const px_plan *plan, struct px_err *err)
{
    for (size_t i = 0; i < plan->n_apps * PX_N_STOPS; i++) {
        const struct px_app_plan *app = &plan->apps[i / PX_N_STOPS];
        const struct px_stops *s = &app->stops[i % PX_N_STOPS];

        for (size_t k = 0; k < s->n; k++)
            if (s->ranks[k] != PMIX_RANK_WILDCARD &&
                (s->of_app ? s->ranks[k] - app->first >= app->n
                           : s->ranks[k] >= plan->n_tasks))
                return px_err_set(
                    err, PMIX_ERR_BAD_PARAM,
                    "cannot spawn: rank %u, which is to stop, is not there",
                    s->ranks[k]);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t plan_apps(px_plan *plan, const struct px_spawn_request *req,
                               struct px_err *err)
{
    plan->apps = calloc(req->n_apps, sizeof(*plan->apps));
    if (!plan->apps)
        return px_err_nomem(err, "spawn");
    plan->n_apps = req->n_apps;
    for (size_t i = 0; i < req->n_apps; i++) {
        struct px_app_plan *app = &plan->apps[i];
        app->output.way = px_iof_way_default();
        pmix_status_t rc = plan_app(plan, app, &req->apps[i], req, err);

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

static pmix_status_t check_bound(const char *what, size_t n, size_t most,
                                 struct px_err *err)
{
    return n > most ? px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE,
                                 "cannot spawn: too many %s (got %zu, at most %zu)",
                                 what, n, most)
                    : PMIX_SUCCESS;
}

/* Checks the size of a request before the work. The program that runs this host may
 * send larger ones. */
static pmix_status_t check_size(const struct px_spawn_request *req, struct px_err *err)
{
    size_t n_strings = 0, n_infos = 0, size_b = 0;
    pmix_status_t rc;

    if (req->own)
        return PMIX_SUCCESS;
    for (size_t i = 0; i < req->n_apps; i++) {
        char **const lists[] = {req->apps[i].argv, req->apps[i].env};

        n_infos += req->n_info + req->apps[i].ninfo;
        for (size_t k = 0; k < PX_COUNT(lists); k++)
            for (char **s = lists[k]; s && *s; s++, n_strings++)
                size_b += strlen(*s) + 1 + sizeof(*s);
    }
    rc = check_bound("applications", req->n_apps, PX_MAX_SPAWN_APPS, err);
    if (!rc)
        rc = check_bound("infos", n_infos, PX_MAX_SPAWN_INFOS, err);
    if (!rc)
        rc = check_bound("arguments and variables", n_strings, PX_MAX_SPAWN_STRINGS,
                         err);
    return rc ? rc
              : check_bound("bytes of arguments and variables", size_b, PX_MAX_SPAWN_B,
                            err);
}

pmix_status_t px_plan_make(px_plan *out, const struct px_spawn_request *req,
                           struct px_err *err)
{
    PX_AUTO(px_plan) plan = {0};
    pmix_status_t rc = check_size(req, err);

    if (!rc)
        rc = px_attributes_agree(req, err);
    if (!rc)
        rc = px_attributes_of_job(&plan, req, err);
    if (!rc)
        rc = plan_apps(&plan, req, err);
    if (!rc)
        rc = choose_stdin(&plan, req, err);
    if (!rc)
        rc = px_plan_positions(&plan, req, err);
    if (!rc)
        rc = check_stops(&plan, err);
    if (!rc)
        rc = px_plan_preload(&plan, err);
    plan.notify |= plan.job_events;
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
        free(plan->apps[i].agent);
        px_strv_free(plan->apps[i].argv);
        px_strv_free(plan->apps[i].env);
        px_env_edit_cleanup(&plan->apps[i].changes);
        free(plan->apps[i].cwd);
        free(plan->apps[i].output.path);
        free(plan->apps[i].termios);
        free(plan->apps[i].winsize);
        px_strv_free(plan->apps[i].preload);
        for (int k = 0; k < PX_N_STOPS; k++)
            free(plan->apps[i].stops[k].ranks);
    }
    free(plan->apps);
    px_positions_free(plan->positions, plan->n_tasks);
    px_strv_free(plan->preload);
    free(plan->command);
    *plan = (px_plan){0};
}
