/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/job.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/host/alloc.h"
#include "core/host/pmi/pmi.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/server/host.h"
#include "core/topo/topo.h"
#include "frameworks/framework.h"
#include "tenon/pfexec.h"

/* ---- registration --------------------------------------------------------------- */

/* The ranks go with the namespace, so nothing is left to undo. */
static pmix_status_t register_ranks(struct px_launch_job *job, uint32_t from,
                                    uint32_t to, struct px_err *err)
{
    for (uint32_t r = from; r < to; r++) {
        const pmix_proc_t proc = px_task_name(&job->tasks[r]);
        pmix_status_t rc = px_server_add_client(job->launcher->server, &proc, geteuid(),
                                                getegid(), NULL);

        if (rc)
            return px_err_set(err, rc, "cannot register rank %u: %s", r,
                              PMIx_Error_string(rc));
    }
    return PMIX_SUCCESS;
}

static pmix_status_t join_parent(struct px_launch_job *job, struct px_err *err)
{
    struct px_server *srv = job->launcher->server;
    pmix_iof_channel_t forwards = PMIX_FWD_NO_CHANNELS;
    pmix_status_t rc = PMIX_SUCCESS;

    /* The parent may be gone already, and needs no output then. */
    for (size_t i = 0; i < job->plan.n_apps; i++)
        forwards |= job->plan.apps[i].forwards;
    if (forwards) {
        rc = px_server_iof_forward(srv, &job->parent, job->proc.nspace, forwards);
        rc = rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
        if (rc)
            px_err_nomem(err, "forward output");
    }
    if (!rc && px_job_parent(job)) {
        rc = px_server_connect(srv, &job->parent, job->proc.nspace, job->plan.detached);
        if (rc)
            px_err_set(err, rc, "cannot connect the job with its parent: %s",
                       PMIx_Error_string(rc));
    }
    if (!rc)
        px_alloc_join(job);
    return rc;
}

static pmix_status_t register_nspace(struct px_launch_job *job, struct px_err *err)
{
    job->crowded = px_job_node_size(job) > px_binding_count();
    pmix_status_t rc = px_job_describe(&job->description, job);
    if (rc)
        return px_err_set(err, rc, "cannot describe the job: %s",
                          PMIx_Error_string(rc));
    return px_server_add_nspace(job->launcher->server, job->proc.nspace, job->n_tasks,
                                job->description.v, job->description.n, err);
}

/* Adds the description of some ranks to the registered namespace. */
static pmix_status_t describe_ranks(struct px_launch_job *job, uint32_t from,
                                    uint32_t to, struct px_err *err)
{
    px_infos *all = &job->description;
    const size_t before = all->n;
    pmix_status_t rc = PMIX_SUCCESS;

    for (uint32_t r = from; !rc && r < to; r++)
        rc = px_task_describe(all, &job->tasks[r]);
    if (rc)
        return px_err_set(err, rc, "cannot describe the job: %s",
                          PMIx_Error_string(rc));
    return px_server_describe_nspace(job->launcher->server, job->proc.nspace,
                                     all->v + before, all->n - before, err);
}

static void drop_nspace(struct px_launch_job *job)
{
    px_server_drop_nspace(job->launcher->server, job->proc.nspace);
}

/* ---- one process ---------------------------------------------------------------- */

/* Runs before the process can start others: the journal has to know the process if we
 * are killed. */
static void on_forked(void *arg, pid_t pid)
{
    struct px_task *task = arg;
    const pmix_proc_t proc = px_task_name(task);

    task->pid = pid;
    px_task_mark_output(task);
    px_server_client_started(task->job->launcher->server, &proc, pid);
}

static void start_more(struct px_launch_job *job);

static pmix_status_t launch_status_of(pmix_status_t rc)
{
    return rc == PMIX_ERR_NOT_FOUND         ? PMIX_ERR_JOB_EXE_NOT_FOUND
           : rc == PMIX_ERR_NO_PERMISSIONS  ? PMIX_ERR_JOB_APP_NOT_EXECUTABLE
           : rc == PMIX_ERR_OUT_OF_RESOURCE ? PMIX_ERR_JOB_INSUFFICIENT_RESOURCES
           : rc == PMIX_ERR_JOB_WDIR_NOT_FOUND || rc == PMIX_ERR_JOB_SYS_OP_FAILED ||
                   rc == PMIX_ERR_NOMEM
               ? rc
               : PMIX_ERR_JOB_FAILED_TO_LAUNCH;
}

static void on_started(void *arg, pid_t pid, pmix_status_t status, const char *why)
{
    struct px_task *task = arg;
    struct px_launch_job *job = task->job;

    job->n_starting--;
    if (!status) {
        const pmix_proc_t proc = px_task_name(task);

        px_server_client_runs(job->launcher->server, &proc);
        px_log(PX_LOG_INFO, "spawn", "rank %u of %s is %s, pid %ld", task->rank,
               job->proc.nspace, job->plan.apps[task->app].program, (long)pid);
        if (job->plan.job_events && !job->announced)
            px_job_announce(job, PMIX_EVENT_JOB_START, NULL);
        job->announced = true;
        px_task_stopped(task, PX_STOP_ON_EXEC);
        px_restart_started(task, PMIX_SUCCESS, NULL);
        start_more(job);
        return;
    }
    /* The other processes of a failed job are killed, which is expected. */
    px_log(px_job_is_launching(job) ? PX_LOG_ERROR : PX_LOG_INFO, "spawn", "%s", why);
    px_restart_started(task, status, why);
    px_job_task_failed(task, launch_status_of(status));
}

static pmix_status_t exec_task(struct px_task *task, const struct px_pfexec_spec *spec,
                               struct px_err *err)
{
    const struct px_module *m = task->job->launcher->pfexec;
    char why[sizeof(err->text)] = "";
    pid_t pid;
    pmix_status_t rc = PX_OPS(pfexec, m)->spawn(m->self, spec, &pid, why, sizeof(why));

    if (rc)
        return px_err_set(err, rc, "%s", why);
    task->running = true;
    task->job->n_running++;
    task->job->n_starting++;
    return PMIX_SUCCESS;
}

pmix_status_t px_task_start(struct px_task *task, struct px_err *err)
{
    struct px_launch_job *job = task->job;
    const struct px_app_plan *app = &job->plan.apps[task->app];
    const pmix_proc_t proc = px_task_name(task);
    PX_AUTO(px_strv) env = px_strv_dup(app->env);
    PX_AUTO(px_strv) argv = px_task_argv(task);
    const struct px_position *position = job->plan.binds
                                             ? &job->plan.positions[task->rank]
                                             : NULL;
    PX_AUTOFREE cpu_set_t *cpus = NULL;
    PX_AUTOCLOSE int pmi = -1; /* the end for the process */
    struct px_pfexec_spec spec = {
        .program = app->program,
        .argv = argv,
        .cwd = app->cwd,
        .fds = {-1, -1, -1},
        .on_exit = px_job_task_ended,
        .arg = task,
        .forked = on_forked,
        .on_start = on_started,
        .limits = job->launcher->limits,
        .n_limits = job->launcher->n_limits,
        .size = sizeof(spec),
        .flags = px_task_stops(task, PX_STOP_ON_EXEC) ? PX_PFEXEC_STOP_AT_EXEC : 0};
    pmix_status_t rc = argv && (env || !app->env) ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    if (!rc && !app->non_pmi)
        rc = px_server_child_env(job->launcher->server, &proc, &env);
    /* Has ranks yield their CPU while they wait. Open MPI 4 knows no key for an
     * oversubscribed node; its launcher sets this parameter. */
    if (!rc && job->crowded)
        rc = px_env_set(&env, "OMPI_MCA_mpi_oversubscribe", "1", false);
    if (!rc && position && position->cpus)
        rc = px_cpus_mask(position->cpus, &cpus, &spec.cpus_size);
    spec.cpus = cpus;
    if (rc)
        px_err_set(err, rc, "cannot make an environment: %s", PMIx_Error_string(rc));
    if (!rc && !app->non_pmi && job->launcher->offers_pmi)
        rc = px_pmi_open(task, &env, &pmi, err);
    spec.more = pmi < 0 ? NULL : &pmi;
    if (app->pty)
        spec.flags |= PX_PFEXEC_SESSION | PX_PFEXEC_TERMINAL;
    if (!rc && job->dir_is.st_ino)
        px_task_make_dir(task);
    if (!rc)
        rc = px_task_open_streams(task, spec.fds, err);
    spec.env = env;
    if (rc)
        px_err_prefix(err, "cannot run %s", app->program);
    else
        rc = exec_task(task, &spec, err);
    if (rc)
        px_pmi_close(task);
    for (int i = 0; i < 3; i++)
        if ((i > 0 || spec.fds[0] != STDIN_FILENO) && /* our own stdin stays open */
            (i == 2 || spec.fds[i] != spec.fds[i + 1]))
            px_autoclose(&spec.fds[i]);
    return rc;
}

/* ---- the job -------------------------------------------------------------------- */

enum {
    /* Starts of all jobs in one turn of the loop. A start takes 0.5 ms and more. Other
     * requests run in between. */
    STARTS_PER_TURN = 1,
    /* Ranks that are described or registered in one turn instead of a start. */
    RANKS_PER_TURN = 32,
    /* Pause after a start while other jobs have requests, in times of the start. */
    PAUSE_TIMES = 3,
};

/* Finds the processes that run in an allocation, or outside of all. *taken is malloc'd,
 * and has to live as long as *node. */
static pmix_status_t find_taken(const struct px_launcher *l,
                                const struct px_alloc *alloc,
                                struct px_place_node *node,
                                const struct px_position ***taken)
{
    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link)
        node->n_running += job->alloc == alloc ? job->n_running : 0;
    *taken = calloc(node->n_running + 1, sizeof(**taken));
    if (!*taken)
        return PMIX_ERR_NOMEM;
    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link)
        for (uint32_t r = 0; job->plan.binds && r < job->n_tasks; r++)
            if (job->alloc == alloc && job->tasks[r].running &&
                job->plan.positions[r].cpus)
                (*taken)[node->n_taken++] = &job->plan.positions[r];
    node->taken = *taken;
    return PMIX_SUCCESS;
}

/* Finds the allocation of a request, its CPUs, and the processes there. *cpus and
 * *taken are malloc'd, and have to live as long as the request. */
static pmix_status_t find_room(struct px_spawn_request *request, struct px_launcher *l,
                               const struct px_launch_job *parent,
                               struct px_alloc **alloc, char **cpus,
                               const struct px_position ***taken, struct px_err *err)
{
    pmix_status_t rc = px_alloc_for_spawn(l, parent, request->info, request->n_info,
                                          request->apps, request->n_apps, alloc, err);

    if (!rc && (px_alloc_cpus(l, *alloc, cpus) ||
                find_taken(l, *alloc, &request->node, taken)))
        rc = px_err_nomem(err, "spawn");
    request->node.usable = *cpus;
    request->confined = *alloc != NULL;
    return rc;
}

/* ---- steps of a launch ----------------------------------------------------------- */

/* The result of a start that has not finished: finish_step follows, perhaps before
 * start returns. */
#define PENDING ((pmix_status_t)1)

static void finish_step(void *arg, pmix_status_t status, const char *why);

static void on_fabric(void *arg, pmix_status_t status, const char *why)
{
    ((struct px_launch_job *)arg)->setup = NULL;
    finish_step(arg, status, why);
}

/* Has fabric components add to the job. */
static pmix_status_t setup_fabric(struct px_launch_job *job, struct px_err *err)
{
    struct px_server *srv = job->launcher->server;
    PX_AUTO(px_infos) infos = job->description;

    job->description = (px_infos){0};
    /* Variables that this program forwards in its own name are for all its jobs. */
    if (px_infos_add(&infos, PMIX_PARENT_ID, px_server_name(srv), PMIX_PROC))
        return px_err_nomem(err, "describe the job");
    px_server_setup_fabric(srv, job->proc.nspace, infos.v, infos.n, on_fabric, job,
                           &job->setup);
    return PENDING; /* on_fabric may have run, and the job may be gone */
}

static void cancel_fabric(struct px_launch_job *job)
{
    px_server_setup_cancel(px_take(&job->setup));
}

static pmix_status_t make_files(struct px_launch_job *job, struct px_err *err)
{
    job->files.done = finish_step;
    job->files.arg = job;
    pmix_status_t rc = px_files_make(&job->files, err);
    return rc ? rc : PENDING;
}

static void cancel_files(struct px_launch_job *job)
{
    px_files_cancel(&job->files);
}

static pmix_status_t open_input(struct px_launch_job *job, struct px_err *err)
{
    pmix_status_t rc = px_job_open_input(job, err);

    return rc ? launch_status_of(rc) : PMIX_SUCCESS;
}

static bool is_starting(const struct px_launch_job *job)
{
    return px_job_stage(job) == PX_JOB_TASKS;
}

static void go_on(struct px_launch_job *job);

static void on_turn(void *arg)
{
    struct px_launcher *l = arg;

    l->n_starts = 0;
    l->n_turns++;
    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link)
        if (job->yields && px_job_is_launching(job))
            go_on(job);
        else if (is_starting(job) && job->n_begun < job->n_tasks)
            start_more(job);
}

/* Counts a start. False: on_turn continues in the next turn. */
static bool may_start(struct px_launcher *l)
{
    if (!l->starts)
        l->starts = px_timer_create(l->loop, on_turn, l);
    if (l->n_starts == STARTS_PER_TURN)
        return false;
    if (!l->starts) /* without memory nothing yields */
        return true;
    if (l->n_starts++ == 0)
        px_timer_set(l->starts, 0);
    return true;
}

/* Delays the next start while processes of other jobs have requests, so that starts
 * block the loop for a small part of the time. px_clock_work_ns() was begin_ns before
 * the last start. */
static void pace(struct px_launch_job *job, uint64_t begin_ns)
{
    struct px_launcher *l = job->launcher;
    const uint64_t took_ns = px_clock_work_ns() - begin_ns;

    if (job->n_begun > 1 && l->starts &&
        px_server_others_work(l->server, &job->parent, job->proc.nspace,
                              l->last_start)) {
        px_timer_set(l->starts, PAUSE_TIMES * took_ns / 1000000 + 1);
        l->n_pauses++;
    }
    l->last_start = px_loop_turn(l->loop);
}

/* Starts processes until all have been started, a start fails, or the turn's starts are
 * used up. The job may be gone then. A job whose time is over waits for the report on
 * its processes. */
static void start_more(struct px_launch_job *job)
{
    struct px_err err = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    if (!px_job_is_launching(job))
        return;
    while (!rc && job->n_begun < job->n_tasks &&
           job->n_starting < job->launcher->starts_at_once &&
           may_start(job->launcher)) {
        const uint64_t begin_ns = px_clock_work_ns();

        rc = px_task_start(&job->tasks[job->n_begun++], &err);
        pace(job, begin_ns);
    }
    if (rc ||
        (job->n_begun == job->n_tasks && job->n_starting == 0 && !job->launch_status))
        finish_step(job, rc ? launch_status_of(rc) : PMIX_SUCCESS, err.text);
}

static pmix_status_t start_tasks(struct px_launch_job *job,
                                 struct px_err *err PX_UNUSED)
{
    start_more(job);
    return PENDING;
}

static void kill_tasks(struct px_launch_job *job)
{
    px_job_silence(job);
    px_job_end(job, SIGKILL, job->launch_status);
}

static const struct step {
    const char *name; /* for the log */
    /* Does the step, or begins it. An error comes with a text in err. NULL: there is
     * only work for ranks. */
    pmix_status_t (*start)(struct px_launch_job *job, struct px_err *err);
    /* Reverts the step, finished or not, also if start has failed. May run again. NULL:
     * nothing to revert. */
    void (*undo)(struct px_launch_job *job);
    /* Does the step for some ranks, after start. Other ranks follow, perhaps in later
     * turns of the loop. NULL: the step is the same for all ranks. */
    pmix_status_t (*ranks)(struct px_launch_job *job, uint32_t from, uint32_t to,
                           struct px_err *err);
} steps[] = {
    [PX_JOB_NSPACE] = {"namespace", register_nspace, drop_nspace, describe_ranks},
    [PX_JOB_FABRIC] = {"fabric", setup_fabric, cancel_fabric, NULL},
    [PX_JOB_CLIENTS] = {"clients", NULL, NULL, register_ranks},
    [PX_JOB_PARENT] = {"parent", join_parent, NULL, NULL},
    [PX_JOB_NAMES] = {"names of files", px_job_list_files, NULL, NULL},
    [PX_JOB_MAP] = {"map", px_job_show_positions, px_job_silence, NULL},
    [PX_JOB_FILES] = {"files", make_files, cancel_files, NULL},
    [PX_JOB_INPUT] = {"input", open_input, px_job_close_input, NULL},
    [PX_JOB_TASKS] = {"processes", start_tasks, kill_tasks, NULL},
};
_Static_assert(PX_COUNT(steps) == PX_JOB_RUNNING, "a stage for each step");

void px_job_abandon(struct px_launch_job *job, pmix_status_t status)
{
    job->launch_status = status;
    job->yields = false;
    for (;; job->step--) {
        const struct step *step = &steps[job->step];

        px_log(PX_LOG_DEBUG, "spawn", "%s: undo %s", job->proc.nspace, step->name);
        if (step->undo)
            step->undo(job);
        if (job->n_running > 0)
            return;
        if (job->step == 0)
            break;
    }
    px_job_undone(job);
}

static void fail(struct px_launch_job *job, pmix_status_t status, const char *why)
{
    px_log(PX_LOG_ERROR, "spawn", "%s", why);
    px_job_abandon(job, status);
}

/* Does the step for the ranks that are left. Returns PENDING if some of them wait for
 * their turn: see go_on. */
static pmix_status_t do_ranks(struct px_launch_job *job, struct px_err *err)
{
    const struct step *step = &steps[job->step];
    pmix_status_t rc = PMIX_SUCCESS;

    while (!rc && step->ranks && job->n_done < job->n_tasks) {
        const uint32_t from = job->n_done, left = job->n_tasks - from;

        job->yields = from > 0 && !may_start(job->launcher);
        if (job->yields)
            return PENDING;
        job->n_done += left < RANKS_PER_TURN ? left : RANKS_PER_TURN;
        rc = step->ranks(job, from, job->n_done, err);
    }
    return rc;
}

/* Continues a step that has ranks left. The job may be gone then. */
static void go_on(struct px_launch_job *job)
{
    struct px_err err = {0};
    pmix_status_t rc = do_ranks(job, &err);

    if (rc != PENDING)
        finish_step(job, rc, err.text);
}

/* Runs the step in progress, and each later step when the step before has finished. If
 * a step fails, undoes all steps up to that step. The job may be gone then. */
static void run_steps(struct px_launch_job *job)
{
    struct px_err err = {0};

    for (; job->step < PX_JOB_RUNNING; job->step++) {
        const struct step *step = &steps[job->step];

        px_log(PX_LOG_DEBUG, "spawn", "%s: %s", job->proc.nspace, step->name);
        job->n_done = 0;
        pmix_status_t rc = step->start ? step->start(job, &err) : PMIX_SUCCESS;
        if (!rc)
            rc = do_ranks(job, &err);
        if (rc == PENDING)
            return;
        if (rc) {
            fail(job, rc, err.text);
            return;
        }
    }
    px_job_launched(job);
}

/* Ends the pending step. The success of a job that ends by order does not count. */
static void finish_step(void *arg, pmix_status_t status, const char *why)
{
    struct px_launch_job *job = arg;

    if (status) {
        fail(job, status, why);
    } else if (px_job_is_launching(job)) {
        job->step++;
        run_steps(job);
    }
}

pmix_status_t px_host_check_user(const pmix_proc_t *proc, const pmix_info_t *info,
                                 size_t n, const char *verb)
{
    const uint32_t user = px_info_u32(info, n, PMIX_USERID, geteuid());

    if (user == geteuid() || user == 0)
        return PMIX_SUCCESS;
    px_log(PX_LOG_WARN, "spawn",
           "cannot %s for %s:%u: processes of uid %u would run as uid %u", verb,
           proc->nspace, proc->rank, user, (unsigned)geteuid());
    return PMIX_ERR_NO_PERMISSIONS;
}

static void translated_free(struct tenon_spawn *t)
{
    PMIx_Info_free(t->info, t->n_info);
    PMIx_App_free(t->app, t->app ? 1 : 0);
}

/* Has the spawner, if there is one, replace the request by that of a program which runs
 * the job elsewhere. */
static pmix_status_t translate(const struct px_launcher *l,
                               struct px_spawn_request *request, struct tenon_spawn *t,
                               struct px_err *err)
{
    pmix_status_t rc;

    if (!l->spawner)
        return PMIX_SUCCESS;
    rc = l->spawner->translate(request->info, request->n_info, request->apps,
                               request->n_apps, t);
    if (!rc && (!t->app || !t->n_slots))
        rc = PMIX_ERR_BAD_PARAM;
    if (rc)
        return px_err_set(err, rc, "cannot spawn: %s",
                          t->why[0] ? t->why : PMIx_Error_string(rc));
    request->info = t->info;
    request->n_info = t->n_info;
    request->apps = t->app;
    request->n_apps = 1;
    return PMIX_SUCCESS;
}

/* Makes the plan of a request. idle: as if no other process ran here. */
static pmix_status_t make_plan(struct px_launcher *l, const struct px_asked *asked,
                               bool idle, px_plan *plan, struct px_alloc **alloc,
                               struct px_err *err)
{
    const struct px_task *task = px_task_find(l, &asked->proc);
    struct px_spawn_request request = {.model = l->model,
                                       .info = asked->info,
                                       .n_info = asked->n_info,
                                       .apps = asked->apps,
                                       .n_apps = asked->n_apps,
                                       .parent = task ? &task->job->plan.apps[task->app]
                                                      : NULL,
                                       .own = asked->own};
    PX_AUTOFREE const struct px_position **taken = NULL;
    PX_AUTOFREE char *cpus = NULL;
    struct tenon_spawn t = {.size = sizeof(t)};
    pmix_status_t rc = translate(l, &request, &t, err);

    if (!rc)
        rc = find_room(&request, l, task ? task->job : NULL, alloc, &cpus, &taken, err);
    if (idle) {
        request.node.n_taken = 0;
        request.node.n_running = 0;
    }
    if (!rc)
        rc = l->pfexec ? px_plan_make(plan, &request, err)
                       : px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                                    "cannot start processes: no component "
                                    "for framework pfexec can be used");
    plan->n_slots = t.n_slots;
    plan->may_exceed = t.may_exceed;
    translated_free(&t);
    return rc;
}

/* Makes the job of a plan, which has its slots, and starts it. */
static pmix_status_t start_job(struct px_launcher *l, const struct px_asked *asked,
                               px_plan *plan, struct px_alloc *alloc, uint32_t n_slots,
                               struct px_err *err)
{
    struct px_launch_job *job = NULL;
    pmix_status_t rc = px_job_create(l, &asked->proc, plan, &job);

    if (rc) {
        px_queue_give_back(&l->queue, n_slots);
        return px_err_set(err, rc, "cannot spawn: %s", PMIx_Error_string(rc));
    }
    job->n_slots = n_slots;
    job->alloc = alloc;
    job->parent_is_here = px_task_find(l, &asked->proc) ||
                          px_server_has_peer(l->server, &asked->proc);
    px_launcher_make_room(l, job->n_tasks);
    job->launch_cb = asked->cb;
    job->launch_cbdata = asked->cbdata;
    run_steps(job);
    return PMIX_SUCCESS;
}

void px_launch_queued(void *arg, const struct px_asked *asked, uint32_t n_slots,
                      uint64_t left_ms)
{
    struct px_launcher *l = arg;
    struct px_err err = {0};
    PX_AUTO(px_plan) plan = {0};
    struct px_alloc *alloc = NULL;
    pmix_status_t rc = make_plan(l, asked, false, &plan, &alloc, &err);

    if (rc)
        px_queue_give_back(&l->queue, n_slots);
    if (left_ms)
        plan.request_limit_s = (uint32_t)((left_ms + 999) / 1000);
    if (!rc)
        rc = start_job(l, asked, &plan, alloc, n_slots, &err);
    if (!rc)
        return;
    px_log(PX_LOG_ERROR, "spawn", "%s", err.text);
    asked->cb(rc, NULL, asked->cbdata);
}

pmix_status_t px_launch(const pmix_proc_t *proc, const pmix_info_t info[],
                        size_t n_info, const pmix_app_t apps[], size_t n_apps,
                        pmix_spawn_cbfunc_t cb, void *cbdata)
{
    struct px_launcher *l = px_server_builtin_self();
    const pmix_info_t *given = px_info_find(info, n_info, PMIX_PARENT_ID);
    const pmix_proc_t *parent = given && given->value.type == PMIX_PROC &&
                                        given->value.data.proc
                                    ? given->value.data.proc
                                    : proc;
    const bool own = px_proc_same(proc, px_server_name(l->server));
    const struct px_asked asked = {.proc = *parent,
                                   .own = own,
                                   .is_exempt = own || px_task_find(l, parent),
                                   .info = info,
                                   .n_info = n_info,
                                   .apps = apps,
                                   .n_apps = n_apps,
                                   .cb = cb,
                                   .cbdata = cbdata};
    struct px_err err = {0};
    PX_AUTO(px_plan) plan = {0};
    struct px_alloc *alloc = NULL;
    uint32_t n_slots = 0;

    if (l->stopping)
        return PMIX_ERR_NOT_AVAILABLE;
    if (!apps || n_apps == 0)
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = px_host_check_user(proc, info, n_info, "spawn");
    if (rc)
        return rc;
    /* A request that waits must not fail by processes that run now. */
    const bool may_wait = l->queue.n_slots > 0;
    rc = make_plan(l, &asked, may_wait, &plan, &alloc, &err);
    if (!rc)
        rc = px_queue_ask(&l->queue, &asked, &plan, &n_slots, &err);
    if (rc == PMIX_OPERATION_IN_PROGRESS)
        return PMIX_SUCCESS;
    if (!rc && may_wait && plan.positions) {
        px_plan_cleanup(&plan);
        rc = make_plan(l, &asked, false, &plan, &alloc, &err);
        if (rc)
            px_queue_give_back(&l->queue, n_slots);
    }
    if (!rc)
        rc = start_job(l, &asked, &plan, alloc, n_slots, &err);
    if (rc)
        px_log(PX_LOG_ERROR, "spawn", "%s", err.text);
    return rc;
}
