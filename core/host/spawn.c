/* SPDX-License-Identifier: BSD-3-Clause */
/* From a plan to running processes. Either all of them run, or none is left. */
#include "core/server/cleanup/cleanup.h"
#include "core/server/launch/pnet.h"
#include "core/host/builtin.h"

#include <fcntl.h>

#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/base/strv.h"
#include "core/rt/log.h"
#include "frameworks/pfexec/pfexec.h"

/* The one node of the job is this one. */
static pmix_status_t setup_fabric(struct px_server *srv, const char *nspace,
                                  const px_infos *infos, struct px_err *err)
{
    PX_AUTO(px_infos) blob = {0};
    pmix_status_t rc = px_pnet_contribute(srv, nspace, infos->v, infos->n, &blob, err);

    return rc ? rc : px_pnet_apply(srv, nspace, blob.v, blob.n, err);
}

static pmix_status_t register_job(struct px_job *job, struct px_err *err)
{
    struct px_server *srv = job->host->server;
    PX_AUTO(px_infos) infos = {0};
    pmix_status_t rc = px_job_describe(job, &infos);

    if (rc)
        return px_err_set(err, rc, "cannot describe the job: %s",
                          PMIx_Error_string(rc));
    rc = px_server_add_nspace(srv, job->proc.nspace, job->n_tasks, infos.v, infos.n,
                              err);
    if (!rc)
        rc = setup_fabric(srv, job->proc.nspace, &infos, err);
    for (uint32_t r = 0; !rc && r < job->n_tasks; r++) {
        pmix_proc_t proc = job->proc;

        proc.rank = r;
        rc = px_server_add_client(srv, &proc, geteuid(), getegid(), NULL);
        if (rc)
            px_err_set(err, rc, "cannot register rank %u: %s", r,
                       PMIx_Error_string(rc));
    }
    return rc;
}

/* ---- one process ----------------------------------------------------------------- */

/* A pipe whose read end, the only one of the two that is ours alone, does not block. */
static pmix_status_t open_pipe(int *read_end, int *write_end, struct px_err *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return px_err_errno(err, "cannot make a pipe");
    *read_end = ends[0];
    *write_end = ends[1];
    return px_fd_nonblock(ends[0]);
}

static pmix_status_t open_output(struct px_task *task, int which, int *write_end,
                                 struct px_err *err)
{
    static void (*const ended[])(void *arg) = {px_job_stdout_ended,
                                               px_job_stderr_ended};
    PX_AUTOCLOSE int read_end = -1;
    pmix_status_t rc = open_pipe(&read_end, write_end, err);

    if (rc)
        return rc;
    rc = px_stream_open(px_embedded_output(task->job->host), which + STDOUT_FILENO,
                        read_end, ended[which], task, &task->streams[which]);
    if (rc)
        return px_err_set(err, rc, "cannot read from a pipe: %s",
                          PMIx_Error_string(rc));
    (void)px_take_fd(&read_end);
    task->job->n_streams += task->streams[which] != NULL;
    return PMIX_SUCCESS;
}

static pmix_status_t make_env(const struct px_task *task, char ***env,
                              struct px_err *err)
{
    pmix_proc_t proc = task->job->proc;
    pmix_status_t rc;

    proc.rank = task->rank;
    *env = px_strv_dup(task->job->plan.apps[task->app].env);
    rc = px_server_child_env(task->job->host->server, &proc, env);
    return rc ? px_err_set(err, rc, "cannot make an environment: %s",
                           PMIx_Error_string(rc))
              : PMIX_SUCCESS;
}

/* Before it can start anything itself: if we are killed, all of that has to be known. */
static void on_forked(void *arg, pid_t pid)
{
    struct px_task *task = arg;
    pmix_proc_t proc = task->job->proc;

    task->pid = pid;
    proc.rank = task->rank;
    px_cleanup_proc_started(task->job->host->server, &proc, pid);
}

static pmix_status_t exec_task(struct px_task *task, const struct px_pfexec_spec *spec,
                               struct px_err *err)
{
    const struct px_module *m = task->job->host->pfexec;
    char why[sizeof(err->text)] = "";
    pid_t pid = 0;

    task->pid = 0;
    pmix_status_t rc = px_pfexec_ops(m)->spawn(m->self, spec, &pid, why, sizeof(why));
    if (rc) {
        px_err_set(err, rc, "%s", why);
        return rc == PMIX_ERR_NOT_FOUND         ? PMIX_ERR_JOB_EXE_NOT_FOUND
               : rc == PMIX_ERR_NO_PERMISSIONS  ? PMIX_ERR_JOB_APP_NOT_EXECUTABLE
               : rc == PMIX_ERR_OUT_OF_RESOURCE ? PMIX_ERR_JOB_INSUFFICIENT_RESOURCES
                                                : PMIX_ERR_JOB_FAILED_TO_LAUNCH;
    }
    if (!task->pid) /* the component is older than that call */
        on_forked(task, pid);
    task->running = true;
    task->job->n_running++;
    px_log(PX_LOG_INFO, "spawn", "rank %u of %s is %s, pid %ld", task->rank,
           task->job->proc.nspace, spec->program, (long)task->pid);
    return PMIX_SUCCESS;
}

/* What a process is started with, its own to close. */
struct ends {
    char **env;
    int in, out, errors;
};

static pmix_status_t prepare(struct px_task *task, struct ends *ends,
                             struct px_err *err)
{
    struct px_job *job = task->job;
    pmix_status_t rc = make_env(task, &ends->env, err);

    if (!rc)
        rc = open_output(task, 0, &ends->out, err);
    if (!rc)
        rc = open_output(task, 1, &ends->errors, err);
    if (!rc && task->rank == job->plan.stdin_rank)
        rc = px_input_open(px_process.loop, &job->input, &ends->in, err);
    if (rc)
        px_err_prefix(err, "cannot run %s", job->plan.apps[task->app].program);
    return rc;
}

static void ends_close(struct ends *ends)
{
    px_strv_free(ends->env);
    if (ends->in != STDIN_FILENO) /* else it is not ours to close */
        px_autoclose(&ends->in);
    px_autoclose(&ends->out);
    px_autoclose(&ends->errors);
}

static pmix_status_t start_task(struct px_task *task, struct px_err *err)
{
    const struct px_app_plan *app = &task->job->plan.apps[task->app];
    struct ends ends = {.in = -1, .out = -1, .errors = -1};
    pmix_status_t rc = prepare(task, &ends, err);

    if (!rc) {
        struct px_pfexec_spec spec = {.program = app->program,
                                      .argv = app->argv,
                                      .env = ends.env,
                                      .cwd = app->cwd,
                                      .fds = {ends.in, ends.out, ends.errors},
                                      .on_exit = px_job_task_ended,
                                      .arg = task,
                                      .forked = on_forked};
        rc = exec_task(task, &spec, err);
    }
    ends_close(&ends);
    return rc;
}

/* ---- the job --------------------------------------------------------------------- */

static pmix_status_t start_job(struct px_job *job, struct px_err *err)
{
    pmix_status_t rc = register_job(job, err);

    for (uint32_t r = 0; !rc && r < job->n_tasks; r++)
        rc = start_task(&job->tasks[r], err);
    if (!rc)
        job->stage = PX_JOB_RUNNING;
    return rc;
}

static pmix_status_t refuse(const struct px_err *err, pmix_status_t status)
{
    px_log(PX_LOG_ERROR, "spawn", "%s", err->text);
    return status;
}

static const pmix_proc_t *parent_of(const pmix_proc_t *proc, const pmix_info_t *info,
                                    size_t n)
{
    const pmix_info_t *parent = px_info_find(info, n, PMIX_PARENT_ID);

    return parent && parent->value.type == PMIX_PROC && parent->value.data.proc
               ? parent->value.data.proc
               : proc;
}

pmix_status_t px_embedded_spawn(const pmix_proc_t *proc, const pmix_info_t job_info[],
                                size_t n_info, const pmix_app_t apps[], size_t n_apps,
                                pmix_spawn_cbfunc_t cb, void *cbdata)
{
    struct px_embedded *host = px_embedded_host();
    const pmix_proc_t *parent = parent_of(proc, job_info, n_info);
    const struct px_task *task = px_task_find(host, parent);
    struct px_spawn_request request = {.info = job_info,
                                       .n_info = n_info,
                                       .apps = apps,
                                       .n_apps = n_apps,
                                       .parent = task ? &task->job->plan.apps[task->app]
                                                      : NULL};
    struct px_err err = {0};
    PX_AUTO(px_plan) plan = {0};
    struct px_job *job;

    if (!host->pfexec || host->stopping)
        return host->stopping ? PMIX_ERR_NOT_AVAILABLE : PMIX_ERR_NOT_SUPPORTED;
    if (!apps || n_apps == 0)
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = px_plan_make(&plan, &request, &err);
    if (rc)
        return refuse(&err, rc);
    /* Our stdin is for the jobs of the program that has it. */
    if (!px_proc_same(proc, &host->server->proc))
        plan.stdin_rank = PMIX_RANK_UNDEF;
    rc = px_job_create(host, parent, &plan, &job);
    if (rc)
        return rc;
    rc = start_job(job, &err);
    if (rc)
        px_job_abandon(job, refuse(&err, rc), cb, cbdata);
    else
        cb(PMIX_SUCCESS, job->proc.nspace, cbdata);
    return PMIX_SUCCESS;
}
