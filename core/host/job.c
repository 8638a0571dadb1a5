/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/host/alloc.h"
#include "core/host/pmi/pmi.h"
#include "core/model/nspace.h"
#include "core/rt/loop.h"
#include "core/rt/log.h"
#include "core/server/host.h"
#include "frameworks/framework.h"
#include "tenon/pfexec.h"

#define TOP "jobs" /* the folder of all jobs */

enum {
    LATE_OUTPUT_MS = 500, /* for output of processes that ours left behind */
    DROP_MS = 1000,       /* until an ended job is forgotten */
    RETRY_MS = 20,        /* until an end is reported again, for lack of memory */
    MAX_KEPT = 64,        /* ended jobs */
    MAX_KEPT_QUEUED = 8,  /* of a host with slots: each slows down starts */
    MAX_EMPTY = 64,       /* folders of processes that are removed in one turn */
    END_WAIT_MS = 1000,   /* for processes that do not end, readers that do not read */
};

static void on_timer(void *arg);
static void check_idle(struct px_launcher *l);
static void last_task_ended(struct px_launch_job *job);

/* ---- folders -------------------------------------------------------------------- */

/* The folder of a job is in the private folder of the server, and has a folder for each
 * process. All are removed with the job, or with the private folder. */
char *px_job_top_dir(const struct px_launch_job *job)
{
    const char *dir = px_server_dir(job->launcher->server);

    return dir ? px_strf("%s/" TOP, dir) : NULL;
}

/* Removes the folders of a job that has left them empty, as most jobs do. True if all
 * are gone. A clean-up in the background costs two processes. */
static bool drop_empty_dirs(const struct px_launch_job *job)
{
    PX_AUTOCLOSE int fd = job->n_tasks > MAX_EMPTY
                              ? -1
                              : open(job->dir,
                                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    char name[16];

    if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != job->dir_is.st_dev ||
        st.st_ino != job->dir_is.st_ino)
        return false;
    for (uint32_t r = 0; r < job->n_tasks; r++) {
        snprintf(name, sizeof(name), "%u", r);
        if (unlinkat(fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
            return false;
    }
    return rmdir(job->dir) == 0;
}

static void drop_dirs(struct px_launch_job *job)
{
    if (job->dir && job->dir_is.st_ino && !drop_empty_dirs(job))
        px_server_drop_dir(job->launcher->server, job->dir, &job->dir_is);
    free(px_take(&job->dir));
}

/* Makes the folder of a job, once. */
static bool need_dir(struct px_launch_job *job)
{
    PX_AUTOFREE char *top = px_job_top_dir(job);

    return job->dir_is.st_ino ||
           (top && (mkdir(top, 0700) == 0 || errno == EEXIST) &&
            mkdir(job->dir, 0700) == 0 && lstat(job->dir, &job->dir_is) == 0);
}

/* True if the folder is made before a process connects. A host with slots has many
 * short jobs, most of which need none. */
static bool needs_dir_now(const struct px_launch_job *job)
{
    bool needs = !job->launcher->queue.n_slots || job->plan.preload ||
                 job->n_tasks > PX_FEW_FOLDERS;

    for (size_t i = 0; i < job->plan.n_apps; i++)
        needs |= job->plan.apps[i].in_job_dir;
    return needs;
}

/* Chooses the folder of a job. Names are short, as paths of sockets contain them. */
static bool choose_dir(struct px_launch_job *job)
{
    PX_AUTOFREE char *top = px_job_top_dir(job);

    if (!top)
        return !px_server_dir(job->launcher->server);
    job->dir = px_strf("%s/%u", top, job->number);
    return job->dir && (!needs_dir_now(job) || need_dir(job));
}

void px_task_make_dir(const struct px_task *task)
{
    struct px_launch_job *job = task->job;
    PX_AUTOFREE char *dir = job->dir ? px_task_dir(task) : NULL;

    if (job->dir &&
        (!dir || !need_dir(job) || (mkdir(dir, 0700) < 0 && errno != EEXIST)))
        px_log(PX_LOG_WARN, "spawn", "cannot make the directory of rank %u of %s: %m",
               task->rank, job->proc.nspace);
}

/* ---- making and finding --------------------------------------------------------- */

static pmix_status_t add_tasks(struct px_launch_job *job)
{
    struct px_task *task;

    job->tasks = task = calloc(job->plan.n_tasks, sizeof(*task));
    if (!task)
        return PMIX_ERR_NOMEM;
    job->n_tasks = job->plan.n_tasks;
    for (uint32_t a = 0; a < job->plan.n_apps; a++) {
        for (uint32_t i = 0; i < job->plan.apps[a].n; i++, task++) {
            task->job = job;
            task->rank = (pmix_rank_t)(task - job->tasks);
            task->app = a;
            task->outputs[0].task = task->outputs[1].task = task;
        }
    }
    return PMIX_SUCCESS;
}

static struct px_task_output *output_of(struct px_launch_job *job, uint32_t i)
{
    return &job->tasks[i / 2].outputs[i % 2];
}

void px_job_silence(struct px_launch_job *job)
{
    for (uint32_t i = 0; i < 2 * job->n_tasks; i++)
        px_task_output_drop(output_of(job, i));
    for (int i = 0; i < 2; i++)
        px_task_output_drop(&job->notices[i]);
    job->n_streams = 0;
}

static void give_back_slots(struct px_launch_job *job)
{
    const uint32_t n = job->n_slots;

    job->n_slots = 0;
    px_queue_give_back(&job->launcher->queue, n);
}

static void job_free(struct px_launch_job *job)
{
    const struct px_module *m = job->launcher->pfexec;

    px_job_silence(job);
    px_alloc_job_gone(job);
    give_back_slots(job);
    drop_dirs(job);
    for (uint32_t r = 0; r < job->n_tasks; r++) {
        px_timer_free(job->tasks[r].timer);
        px_pmi_close(&job->tasks[r]);
        px_restart_forget(&job->tasks[r]);
        if (job->tasks[r].running)
            PX_OPS(pfexec, m)->forget(m->self, job->tasks[r].pid);
    }
    px_list_remove(&job->link);
    px_pmi_forget(job);
    px_job_close_input(job);
    free(job->feeds);
    px_timer_free(job->timer);
    px_timer_free(job->limit);
    px_timer_free(job->held_limit);
    px_job_drop_traces(job);
    px_server_setup_cancel(job->setup);
    px_timer_free(job->unconfirmed_timer);
    px_files_free(&job->files);
    px_infos_cleanup(&job->description);
    px_plan_cleanup(&job->plan);
    free(job->tasks);
    free(job);
}

/* Sets the working directory of applications that run in the job's folder. */
static pmix_status_t use_job_dir(struct px_launch_job *job)
{
    for (size_t i = 0; i < job->plan.n_apps; i++) {
        struct px_app_plan *app = &job->plan.apps[i];

        if (app->in_job_dir && !job->dir)
            return PMIX_ERR_JOB_WDIR_NOT_FOUND;
        if (app->in_job_dir && !(app->cwd = strdup(job->dir)))
            return PMIX_ERR_NOMEM;
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_job_create(struct px_launcher *l, const pmix_proc_t *parent,
                            px_plan *plan, struct px_launch_job **out)
{
    struct px_launch_job *job = malloc(sizeof(*job));
    char name[PMIX_MAX_NSLEN + 1];

    if (!job)
        return PMIX_ERR_NOMEM;
    *job = (struct px_launch_job){.launcher = l,
                                  .parent = *parent,
                                  .plan = *plan,
                                  .first = l->n_ranks,
                                  .failure.rank = PMIX_RANK_UNDEF,
                                  .files = {.loop = l->loop, .line = -1},
                                  .timer = px_timer_create(l->loop, on_timer, job)};
    *plan = (px_plan){0};
    job->number = ++l->n_jobs;
    /* The server's own name may be a very long one. */
    if (snprintf(name, sizeof(name), "%s-%u", px_server_name(l->server)->nspace,
                 job->number) >= (int)sizeof(name))
        snprintf(name, sizeof(name), "tenon-%ld-%u", (long)getpid(), job->number);
    px_proc_set(&job->proc, name, PMIX_RANK_WILDCARD);
    px_list_append(&l->jobs, &job->link);
    if (!job->timer || add_tasks(job)) {
        job_free(job);
        return PMIX_ERR_NOMEM;
    }
    l->n_ranks += px_plan_counts(&job->plan) ? job->n_tasks : 0;
    if (!choose_dir(job)) {
        px_log(PX_LOG_WARN, "spawn", "cannot make a directory for job %s: %m",
               job->proc.nspace);
        drop_dirs(job);
    }
    pmix_status_t rc = px_job_set_limits(job);
    if (!rc)
        rc = use_job_dir(job);
    if (rc)
        job_free(job);
    else
        *out = job;
    return rc;
}

struct px_launch_job *px_job_find(const struct px_launcher *l, const char *nspace)
{
    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link)
        if (strcmp(job->proc.nspace, nspace) == 0)
            return job;
    return NULL;
}

struct px_task *px_task_find(const struct px_launcher *l, const pmix_proc_t *proc)
{
    struct px_launch_job *job = px_job_find(l, proc->nspace);

    return job && proc->rank < job->n_tasks ? &job->tasks[proc->rank] : NULL;
}

char **px_task_argv(const struct px_task *task)
{
    const struct px_app_plan *app = &task->job->plan.apps[task->app];
    char **argv = px_strv_dup(app->argv);
    char *name = argv && app->indexed ? px_strf("%s-%u", argv[0], task->rank) : NULL;

    if (name) {
        free(argv[0]);
        argv[0] = name;
    } else if (argv && app->indexed) {
        px_strv_free(px_take(&argv));
    }
    return argv;
}

/* ---- ending it ------------------------------------------------------------------ */

void px_task_signal(struct px_task *task, int signum)
{
    const struct px_module *m = task->job->launcher->pfexec;

    if (task->running)
        (void)PX_OPS(pfexec, m)->signal(m->self, task->pid, signum);
}

static void on_task_timer(void *arg)
{
    px_task_signal(arg, SIGKILL);
}

void px_task_end(struct px_task *task)
{
    task->timer = px_timer_create(task->job->launcher->loop, on_task_timer, task);
    px_task_signal(task, task->timer ? SIGTERM : SIGKILL);
    px_task_signal(task, SIGCONT); /* a stopped process would not handle SIGTERM */
    if (task->timer)
        px_timer_set(task->timer, task->job->launcher->grace_ms);
}

void px_job_signal(struct px_launch_job *job, int signum)
{
    for (uint32_t r = 0; r < job->n_tasks; r++)
        px_task_signal(&job->tasks[r], signum);
}

void px_job_end(struct px_launch_job *job, int signum, pmix_status_t verdict)
{
    enum px_job_stage stage = signum == SIGKILL ? PX_JOB_KILL : PX_JOB_TERM;

    if (px_job_stage(job) >= stage)
        return;
    if (!job->verdict)
        job->verdict = verdict;
    if (px_job_is_launching(job) && !job->launch_status)
        job->launch_status = verdict; /* no more processes are started */
    job->end = stage;
    px_job_signal(job, signum);
    for (uint32_t r = 0; r < job->n_tasks; r++)
        px_restart_drop(&job->tasks[r]);
    if (stage == PX_JOB_TERM) {
        px_job_signal(job, SIGCONT);
        if (job->n_running > 0)
            px_timer_set(job->timer, job->launcher->grace_ms);
    }
    if (job->launch_status && job->n_running == 0) /* no process will end */
        px_timer_set(job->timer, 0);
    PX_LIST_EACH (&job->launcher->jobs, struct px_launch_job, child, link)
        if (!child->failing &&
            (child->end != PX_JOB_NOTIFIED || stage == PX_JOB_KILL) &&
            px_family_has(job, child))
            px_job_end(child, signum, PMIX_ERR_JOB_KILLED_BY_CMD);
}

void px_job_launched(struct px_launch_job *job)
{
    const struct px_failure first = job->unconfirmed;

    job->unconfirmed.status = PMIX_SUCCESS;
    px_timer_clear(job->timer);
    job->launch_cb(PMIX_SUCCESS, job->proc.nspace, job->launch_cbdata);
    if (job->plan.job_events)
        px_job_announce(job, PMIX_LAUNCH_COMPLETE, NULL);
    if (first.status)
        px_job_fail(job, &first);
    if (job->n_running == 0) /* all have ended during the launch */
        last_task_ended(job);
}

void px_job_undone(struct px_launch_job *job)
{
    struct px_launcher *l = job->launcher;
    const pmix_spawn_cbfunc_t cb = job->launch_cb;
    void *cbdata = job->launch_cbdata;
    const pmix_status_t status = job->launch_status;

    job_free(job);
    cb(status, NULL, cbdata);
    check_idle(l);
}

static void limit_kept(struct px_launcher *l)
{
    struct px_launch_job *oldest = NULL;
    uint32_t n = 0;

    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link) {
        if (job->end != PX_JOB_ENDED)
            continue;
        n++;
        oldest = oldest ? oldest : job;
    }
    if (n > (l->queue.n_slots ? MAX_KEPT_QUEUED : MAX_KEPT))
        px_timer_set(oldest->timer, 0);
}

/* Reports the end, to the parent too if the parent asked for that. The timer reports
 * again to receivers that have missed the report, or forgets the job. */
static void report_end(struct px_launch_job *job)
{
    bool to_parent = job->plan.notify && !(job->plan.silent && !job->verdict) &&
                     !px_proc_same(&job->parent, px_server_name(job->launcher->server));

    px_job_report(job, &job->failure, &(px_kin){.v = &job->parent, .n = to_parent},
                  &job->reported);
    px_timer_set(job->timer, job->reported == PX_EVENT_DONE ? DROP_MS : RETRY_MS);
}

void px_job_check_finished(struct px_launch_job *job)
{
    if (job->n_running > 0 || job->n_streams > 0 || job->traces ||
        job->end == PX_JOB_ENDED || px_job_is_launching(job) ||
        (job->unconfirmed.status && !job->failure.status))
        return;
    job->end = PX_JOB_ENDED;
    px_pmi_report_alone(job);
    px_pubs_gone(&job->launcher->pubs, &job->proc);
    px_alloc_job_gone(job);
    drop_dirs(job);
    report_end(job);
    limit_kept(job->launcher);
    check_idle(job->launcher);
}

static void launch_too_long(struct px_launch_job *job)
{
    if (px_job_is_launching(job))
        px_job_abandon(job, PMIX_ERR_TIMEOUT);
}

static void on_timer(void *arg)
{
    struct px_launch_job *job = arg;

    if (px_job_is_launching(job)) {
        px_log(PX_LOG_ERROR, "spawn",
               "cannot spawn: the time limit for the launch is over");
        job->launch_status = PMIX_ERR_TIMEOUT;
        px_job_report_timeout(job, launch_too_long);
    } else if (job->end == PX_JOB_ENDED && job->reported != PX_EVENT_DONE) {
        report_end(job);
    } else if (job->end == PX_JOB_ENDED) {
        struct px_launcher *l = job->launcher;

        px_server_drop_nspace(l->server, job->proc.nspace);
        job_free(job);
        limit_kept(l);
    } else if (job->launch_status && job->n_running == 0) {
        px_job_abandon(job, job->launch_status);
    } else if (job->n_running == 0) {
        /* The processes that hold the pipes now do not belong to the job. */
        for (uint32_t i = 0; i < 2 * job->n_tasks; i++)
            if (output_of(job, i)->stream)
                px_stream_finish(output_of(job, i)->stream);
    } else if (job->end == PX_JOB_NOTIFIED) {
        px_job_end(job, SIGTERM, PMIX_ERR_JOB_KILLED_BY_CMD);
    } else if (job->end == PX_JOB_TERM) {
        px_job_end(job, SIGKILL, PMIX_SUCCESS);
    }
}

/* ---- reports of processes ------------------------------------------------------- */

/* Ends the job. During a launch, more processes may follow: px_job_launched calls
 * again. */
static void last_task_ended(struct px_launch_job *job)
{
    if (px_job_is_launching(job) && !job->launch_status)
        return;
    px_job_close_input(job);
    give_back_slots(job);
    if (job->launch_status) {
        px_job_abandon(job, job->launch_status);
        return;
    }
    px_timer_set(job->timer, LATE_OUTPUT_MS);
    px_job_check_finished(job);
}

void px_job_task_failed(struct px_task *task, pmix_status_t status)
{
    struct px_launch_job *job = task->job;

    task->running = false;
    job->n_running--;
    px_pmi_close(task);
    if (px_job_is_launching(job))
        px_job_abandon(job, status);
    else if (job->n_running == 0)
        last_task_ended(job);
}

/* True if an abort has ended the process. A process that was dying before the abort has
 * a reason of its own, unless SIGTERM was the reason. */
static bool is_by_abort(const struct px_task *task)
{
    return task->aborted && (!task->was_lost || WTERMSIG(task->wait_status) == SIGTERM);
}

void px_job_task_ended(void *arg, pid_t pid, int wait_status,
                       const struct rusage *usage PX_UNUSED)
{
    struct px_task *task = arg;
    struct px_launch_job *job = task->job;
    const pmix_proc_t proc = px_task_name(task);

    task->running = false;
    task->wait_status = wait_status;
    job->n_running--;
    px_timer_free(px_take(&task->timer));
    px_pmi_close(task);
    if (px_task_feed(task))
        px_feed_shut(px_task_feed(task));
    const struct px_failure failure = px_task_judge(task);
    px_log(PX_LOG_INFO, "spawn", "rank %u of %s, pid %ld, %s", task->rank, proc.nspace,
           (long)pid, failure.status ? failure.text : "has ended");
    bool failed = failure.status && !job->launch_status && !is_by_abort(task) &&
                  !px_restart_plan(task, &failure);
    px_server_client_ended(job->launcher->server, &proc,
                           WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status)
                                                    : WEXITSTATUS(wait_status));
    px_pubs_gone(&job->launcher->pubs, &proc);
    if (job->plan.proc_ends || (job->plan.proc_failures && failure.status))
        px_task_announce_end(task, &failure);
    if (failed)
        px_job_fail(job, &failure);
    if (job->n_running == 0)
        last_task_ended(job);
}

void px_job_stream_ended(void *arg)
{
    struct px_task_output *o = arg;

    px_task_output_ended(o);
    o->task->job->n_streams--;
    px_restart_go_on(o->task);
    px_job_check_finished(o->task->job);
}

/* ---- the end of all ------------------------------------------------------------- */

static bool is_idle(const struct px_launcher *l)
{
    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link)
        if (job->end != PX_JOB_ENDED)
            return false;
    return true;
}

static void stop_waiting(struct px_launcher *l)
{
    px_timer_free(px_take(&l->deadline));
    px_call_done(px_take(&l->waiter), PMIX_SUCCESS);
}

/* Completes px_launcher_end_jobs after the last job has ended. */
static void check_idle(struct px_launcher *l)
{
    if (l->waiter && is_idle(l))
        stop_waiting(l);
}

static void on_deadline(void *arg)
{
    struct px_launcher *l = arg;

    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link) {
        if (job->n_running > 0)
            px_log(PX_LOG_WARN, "spawn", "%u processes of job %s do not end",
                   job->n_running, job->proc.nspace);
        else if (job->end != PX_JOB_ENDED)
            px_log(PX_LOG_WARN, "spawn", "the last output of job %s is lost",
                   job->proc.nspace);
    }
    stop_waiting(l);
}

void px_launcher_end_jobs(struct px_call *call, void *launcher)
{
    struct px_launcher *l = launcher;
    uint64_t wait_ms = END_WAIT_MS;

    l->stopping = true;
    px_queue_drop(&l->queue, NULL, PMIX_ERR_NOT_AVAILABLE);
    if (is_idle(l)) {
        px_call_done(call, PMIX_SUCCESS);
        return;
    }
    l->waiter = call;
    l->deadline = px_timer_create(l->loop, on_deadline, l);
    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link) {
        if (job->n_running > 0) /* until KILL, and a little more */
            wait_ms = l->grace_ms + END_WAIT_MS;
        px_job_end(job, SIGTERM, PMIX_ERR_JOB_KILLED_BY_CMD);
    }
    if (l->deadline)
        px_timer_set(l->deadline, wait_ms);
}

void px_launcher_fini(struct px_launcher *l)
{
    px_pauses_fini(l);
    px_queue_fini(&l->queue);
    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link)
        job_free(job);
    px_timer_free(px_take(&l->starts));
    if (l->std)
        px_iof_std_put();
    l->std = NULL;
    px_pubs_fini(&l->pubs);
}
