/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/launch.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/base/strv.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/server/host.h"
#include "frameworks/pfexec/pfexec.h"

/* ---- the description of a job --------------------------------------------------- */

/* All that launchers in the field say of theirs, in a list that remembers that
 * something did not fit. */
struct list {
    px_infos infos;
    pmix_status_t status;
};

static void add(struct list *l, const char *key, const void *data,
                pmix_data_type_t type)
{
    if (!l->status)
        l->status = px_infos_add(&l->infos, key, data, type);
}

static void add_u32(struct list *l, const char *key, uint32_t value)
{
    add(l, key, &value, PMIX_UINT32);
}

static void add_u16(struct list *l, const char *key, uint32_t value)
{
    uint16_t small = value < UINT16_MAX ? (uint16_t)value : UINT16_MAX;

    add(l, key, &small, PMIX_UINT16);
}

static void add_rank(struct list *l, const char *key, pmix_rank_t value)
{
    add(l, key, &value, PMIX_PROC_RANK);
}

/* Takes s, which may be NULL for want of memory. */
static void add_made(struct list *l, const char *key, char *s)
{
    if (s)
        add(l, key, s, PMIX_STRING);
    else if (!l->status)
        l->status = PMIX_ERR_NOMEM;
    free(s);
}

static void add_list(struct list *l, const char *key, struct list *members)
{
    if (!l->status)
        l->status = members->status;
    if (!l->status)
        l->status = px_infos_add_array(&l->infos, key, &members->infos);
    px_infos_cleanup(&members->infos);
}

static bool is_spawned(const struct px_launch_job *job)
{
    return !px_proc_same(&job->parent, px_server_name(job->launcher->server));
}

/* The processes of all jobs here, this one's among them. */
static uint32_t node_size(const struct px_launch_job *job)
{
    uint32_t n = job->n_tasks;

    PX_LIST_EACH (&job->launcher->jobs, struct px_launch_job, j, link)
        n += j == job ? 0 : j->n_running;
    return n;
}

/* As many as there are CPUs, and not less than there are processes. */
static uint32_t universe_size(const struct px_launch_job *job)
{
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t n = node_size(job);

    return n_cpus > (long)n ? (uint32_t)n_cpus : n;
}

/* "0,1,2": some readers of peers take no ranges. */
static char *all_ranks(const struct px_launch_job *job)
{
    size_t room = (size_t)job->n_tasks * sizeof("4294967295,"), at = 0;
    char *text = malloc(room);

    for (uint32_t r = 0; text && r < job->n_tasks; r++)
        at += (size_t)snprintf(text + at, room - at, "%s%u", r > 0 ? "," : "", r);
    return text;
}

static void add_maps(struct list *l, const struct px_launch_job *job)
{
    PX_AUTOFREE char *ranks = all_ranks(job);
    char *nodes = NULL, *procs = NULL;

    if (!ranks || px_map_pack_nodes(px_process.model->hostname, &nodes) ||
        px_map_pack_ranks(ranks, &procs))
        l->status = PMIX_ERR_NOMEM;
    add_made(l, PMIX_NODE_MAP, nodes);
    add_made(l, PMIX_PROC_MAP, procs);
    if (ranks)
        add(l, PMIX_LOCAL_PEERS, ranks, PMIX_STRING);
}

/* Open MPI, for one, puts all its files there, and leaves them to us. */
static void add_dirs(struct list *l, const struct px_launch_job *job)
{
    bool yes = true;

    if (!job->dir)
        return;
    add_made(l, PMIX_TMPDIR, px_job_top_dir(job));
    add(l, PMIX_NSDIR, job->dir, PMIX_STRING);
    add(l, PMIX_TDIR_RMCLEAN, &yes, PMIX_BOOL);
}

static void add_job(struct list *l, const struct px_launch_job *job)
{
    const pmix_proc_t *server = px_server_name(job->launcher->server);
    bool yes = true;

    add(l, PMIX_SERVER_NSPACE, server->nspace, PMIX_STRING);
    add_rank(l, PMIX_SERVER_RANK, server->rank);
    add(l, PMIX_JOBID, job->proc.nspace, PMIX_STRING);
    add_maps(l, job);
    add_dirs(l, job);
    add_u32(l, PMIX_NODEID, 0);
    add_u32(l, PMIX_NODE_SIZE, node_size(job));
    add_u32(l, PMIX_NUM_NODES, 1);
    add_u32(l, PMIX_UNIV_SIZE, universe_size(job));
    add_u32(l, PMIX_MAX_PROCS, universe_size(job));
    add_u32(l, PMIX_JOB_SIZE, job->n_tasks);
    add_u32(l, PMIX_JOB_NUM_APPS, (uint32_t)job->plan.n_apps);
    add_u32(l, PMIX_LOCAL_SIZE, job->n_tasks);
    add_rank(l, PMIX_LOCALLDR, 0);
    add_rank(l, PMIX_NPROC_OFFSET, job->first);
    if (is_spawned(job)) {
        add(l, PMIX_SPAWNED, &yes, PMIX_BOOL);
        add(l, PMIX_PARENT_ID, &job->parent, PMIX_PROC);
    }
}

static void add_app(struct list *l, const struct px_launch_job *job, uint32_t number)
{
    const struct px_app_plan *app = &job->plan.apps[number];
    struct list members = {0};

    add_u32(&members, PMIX_APPNUM, number);
    add_u32(&members, PMIX_APP_SIZE, app->n);
    add_rank(&members, PMIX_APPLDR, app->first);
    add_made(&members, PMIX_APP_ARGV, px_strv_join(app->argv, ' '));
    add_made(&members, PMIX_WDIR, app->cwd ? strdup(app->cwd) : get_current_dir_name());
    add_list(l, PMIX_APP_INFO_ARRAY, &members);
}

static void add_task(struct list *l, const struct px_launch_job *job,
                     const struct px_task *task)
{
    const struct px_app_plan *app = &job->plan.apps[task->app];
    struct list members = {0};
    bool yes = true;

    add_rank(&members, PMIX_RANK, task->rank);
    add_rank(&members, PMIX_GLOBAL_RANK, job->first + task->rank);
    add_u32(&members, PMIX_APPNUM, task->app);
    add_rank(&members, PMIX_APP_RANK, task->rank - app->first);
    add_rank(&members, PMIX_APPLDR, app->first);
    add_u16(&members, PMIX_LOCAL_RANK, task->rank);
    add_u16(&members, PMIX_NODE_RANK, job->first + task->rank);
    add_u32(&members, PMIX_NODEID, 0);
    add(&members, PMIX_HOSTNAME, px_process.model->hostname, PMIX_STRING);
    add_u32(&members, PMIX_REINCARNATION, 0);
    if (job->dir)
        add_made(&members, PMIX_PROCDIR, px_task_dir(task));
    if (is_spawned(job)) {
        add(&members, PMIX_SPAWNED, &yes, PMIX_BOOL);
        add(&members, PMIX_PARENT_ID, &job->parent, PMIX_PROC);
    }
    add_list(l, PMIX_PROC_DATA, &members);
}

static pmix_status_t describe(const struct px_launch_job *job, px_infos *out)
{
    struct list l = {0};

    add_job(&l, job);
    for (uint32_t a = 0; a < job->plan.n_apps; a++)
        add_app(&l, job, a);
    for (uint32_t r = 0; r < job->n_tasks; r++)
        add_task(&l, job, &job->tasks[r]);
    if (l.status)
        px_infos_cleanup(&l.infos);
    *out = l.infos;
    return l.status;
}

/* ---- registration --------------------------------------------------------------- */

static pmix_status_t register_job(struct px_launch_job *job, struct px_err *err)
{
    struct px_server *srv = job->launcher->server;
    PX_AUTO(px_infos) infos = {0};
    pmix_status_t rc = describe(job, &infos);

    if (rc)
        return px_err_set(err, rc, "cannot describe the job: %s",
                          PMIx_Error_string(rc));
    rc = px_server_add_nspace(srv, job->proc.nspace, job->n_tasks, infos.v, infos.n,
                              err);
    if (!rc)
        rc = px_server_setup_fabric(srv, job->proc.nspace, infos.v, infos.n, err);
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

/* ---- one process ---------------------------------------------------------------- */

/* A pipe whose read end, which is ours alone, does not block. */
static pmix_status_t open_pipe(int *read_end, int *write_end, struct px_err *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return px_err_errno(err, "cannot make a pipe");
    *read_end = ends[0];
    *write_end = ends[1];
    return px_fd_nonblock(ends[0]);
}

/* Output that cannot be written is a failure of the processes that wrote it. */
static void on_output_broken(void *arg, pmix_status_t status PX_UNUSED)
{
    struct px_launcher *l = arg;
    const struct px_failure failure = {.status = PMIX_ERR_IOF_FAILURE,
                                       .rank = PMIX_RANK_UNDEF,
                                       .exit_code = 1,
                                       .text = "its output cannot be written"};

    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link)
        px_job_fail(job, &failure);
}

/* Opened when first needed: a host that starts nothing leaves its stdout and stderr
 * alone. */
static struct px_output *output_of(struct px_launcher *l)
{
    if (!l->output.loop)
        px_output_init(&l->output, px_process.loop, on_output_broken, l);
    return &l->output;
}

static pmix_status_t open_output(struct px_task *task, int which, int *write_end,
                                 struct px_err *err)
{
    struct px_task_output *output = &task->outputs[which];
    PX_AUTOCLOSE int read_end = -1;
    pmix_status_t rc = open_pipe(&read_end, write_end, err);

    if (rc)
        return rc;
    rc = px_stream_open(output_of(task->job->launcher), which + STDOUT_FILENO, read_end,
                        px_job_stream_ended, output, &output->stream);
    if (rc)
        return px_err_set(err, rc, "cannot read from a pipe: %s",
                          PMIx_Error_string(rc));
    (void)px_take_fd(&read_end);
    task->job->n_streams += output->stream != NULL;
    return PMIX_SUCCESS;
}

static pmix_status_t make_env(const struct px_task *task, char ***env,
                              struct px_err *err)
{
    pmix_proc_t proc = task->job->proc;
    pmix_status_t rc;

    proc.rank = task->rank;
    *env = px_strv_dup(task->job->plan.apps[task->app].env);
    rc = px_server_child_env(task->job->launcher->server, &proc, env);
    return rc ? px_err_set(err, rc, "cannot make an environment: %s",
                           PMIx_Error_string(rc))
              : PMIX_SUCCESS;
}

/* Before it can start anything itself: if we are killed, all of that has to be
 * known. */
static void on_forked(void *arg, pid_t pid)
{
    struct px_task *task = arg;
    pmix_proc_t proc = task->job->proc;

    task->pid = pid;
    proc.rank = task->rank;
    px_server_client_started(task->job->launcher->server, &proc, pid);
}

static pmix_status_t exec_task(struct px_task *task, const struct px_pfexec_spec *spec,
                               struct px_err *err)
{
    const struct px_module *m = task->job->launcher->pfexec;
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

/* A process is started with these; close them afterwards. */
struct ends {
    char **env;
    int in, out, errors;
};

static pmix_status_t prepare(struct px_task *task, struct ends *ends,
                             struct px_err *err)
{
    struct px_launch_job *job = task->job;
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

/* ---- the job -------------------------------------------------------------------- */

static pmix_status_t start_job(struct px_launch_job *job, struct px_err *err)
{
    pmix_status_t rc = register_job(job, err);

    for (uint32_t r = 0; !rc && r < job->n_tasks; r++)
        rc = start_task(&job->tasks[r], err);
    if (!rc)
        job->stage = PX_JOB_RUNNING;
    return rc;
}

/* Logs the reason. */
static pmix_status_t refuse(const struct px_err *err, pmix_status_t status)
{
    px_log(PX_LOG_ERROR, "spawn", "%s", err->text);
    return status;
}

pmix_status_t px_launch(struct px_launcher *l, const pmix_proc_t *proc,
                        const pmix_info_t *info, size_t n_info, const pmix_app_t *apps,
                        size_t n_apps, pmix_spawn_cbfunc_t cb, void *cbdata)
{
    const pmix_info_t *given = px_info_find(info, n_info, PMIX_PARENT_ID);
    const pmix_proc_t *parent = given && given->value.type == PMIX_PROC &&
                                        given->value.data.proc
                                    ? given->value.data.proc
                                    : proc;
    const struct px_task *task = px_task_find(l, parent);
    struct px_spawn_request request = {.info = info,
                                       .n_info = n_info,
                                       .apps = apps,
                                       .n_apps = n_apps,
                                       .parent = task ? &task->job->plan.apps[task->app]
                                                      : NULL};
    struct px_err err = {0};
    PX_AUTO(px_plan) plan = {0};
    struct px_launch_job *job;

    if (l->stopping)
        return PMIX_ERR_NOT_AVAILABLE;
    if (!l->pfexec)
        return refuse(&err, px_err_set(&err, PMIX_ERR_NOT_SUPPORTED,
                                       "cannot start processes: no component for "
                                       "framework pfexec can be used"));
    if (!apps || n_apps == 0)
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = px_plan_make(&plan, &request, &err);
    if (rc)
        return refuse(&err, rc);
    /* Our stdin is for the jobs of the program that has it. */
    if (!px_proc_same(proc, px_server_name(l->server)))
        plan.stdin_rank = PMIX_RANK_UNDEF;
    rc = px_job_create(l, parent, &plan, &job);
    if (rc)
        return rc;
    rc = start_job(job, &err);
    if (rc)
        px_job_abandon(job, refuse(&err, rc), cb, cbdata);
    else
        cb(PMIX_SUCCESS, job->proc.nspace, cbdata);
    return PMIX_SUCCESS;
}
