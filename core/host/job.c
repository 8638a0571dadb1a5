/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/host/pmi/pmi.h"
#include "core/model/nspace.h"
#include "core/rt/loop.h"
#include "core/rt/log.h"
#include "core/server/host.h"
#include "frameworks/framework.h"
#include "tenon/pfexec.h"

#define TOP "jobs" /* the folder of all jobs */

enum {
    UNCONFIRMED_MS = 1000, /* from a broken connection to the end of its process */
    LATE_OUTPUT_MS = 500,  /* for output of processes that ours left behind */
    DROP_MS = 1000,        /* until an ended job is forgotten */
    RETRY_MS = 20,         /* until an end is reported again, for lack of memory */
    MAX_KEPT = 64,         /* ended jobs */
    END_WAIT_MS = 1000,    /* for processes that do not end, readers that do not read */
    TIMED_OUT = 124,       /* exit code, as of timeout(1) */
};

static void on_timer(void *arg);
static void on_unconfirmed(void *arg);
static void on_limit(void *arg);
static void on_held_limit(void *arg);
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

char *px_task_dir(const struct px_task *task)
{
    return task->job->dir ? px_strf("%s/%u", task->job->dir, task->rank) : NULL;
}

static void drop_dirs(struct px_launch_job *job)
{
    if (job->dir && job->dir_is.st_ino)
        px_server_drop_dir(job->launcher->server, job->dir, &job->dir_is);
    free(px_take(&job->dir));
}

/* Makes the folder of a job. Names are short, as paths of sockets contain them. */
static bool make_dir(struct px_launch_job *job)
{
    PX_AUTOFREE char *top = px_job_top_dir(job);

    if (!top)
        return !px_server_dir(job->launcher->server);
    job->dir = px_strf("%s/%u", top, job->number);
    if (!job->dir || (mkdir(top, 0700) < 0 && errno != EEXIST) ||
        mkdir(job->dir, 0700) < 0 || lstat(job->dir, &job->dir_is) < 0)
        return false;
    return true;
}

void px_task_make_dir(const struct px_task *task)
{
    PX_AUTOFREE char *dir = task->job->dir ? px_task_dir(task) : NULL;

    if (task->job->dir && (!dir || (mkdir(dir, 0700) < 0 && errno != EEXIST)))
        px_log(PX_LOG_WARN, "spawn", "cannot make the directory of rank %u of %s: %m",
               task->rank, task->job->proc.nspace);
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

static void job_free(struct px_launch_job *job)
{
    const struct px_module *m = job->launcher->pfexec;

    px_job_silence(job);
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

static pmix_status_t set_limits(struct px_launch_job *job)
{
    const px_plan *plan = &job->plan;
    uint64_t of_launch = plan->launch_limit_s;

    if (plan->request_limit_s && (!of_launch || plan->request_limit_s < of_launch))
        of_launch = plan->request_limit_s;
    if (of_launch)
        px_timer_set(job->timer, 1000 * of_launch);
    if (job->launcher->debug_timeout_ms && px_plan_stops(plan) &&
        !(job->held_limit = px_timer_create(job->launcher->loop, on_held_limit, job)))
        return PMIX_ERR_NOMEM;
    if (!plan->limit_s)
        return PMIX_SUCCESS;
    if (!(job->limit = px_timer_create(job->launcher->loop, on_limit, job)))
        return PMIX_ERR_NOMEM;
    px_timer_set(job->limit, UINT64_C(1000) * plan->limit_s);
    job->limit_ms = px_clock_ms() + UINT64_C(1000) * plan->limit_s;
    return PMIX_SUCCESS;
}

pmix_status_t px_job_create(struct px_launcher *l, const pmix_proc_t *parent,
                            px_plan *plan, struct px_launch_job **out)
{
    struct px_launch_job *job = malloc(sizeof(*job));
    char name[PMIX_MAX_NSLEN + 1];

    if (!job)
        return PMIX_ERR_NOMEM;
    *job = (struct px_launch_job){
        .launcher = l,
        .parent = *parent,
        .plan = *plan,
        .first = l->n_ranks,
        .failure.rank = PMIX_RANK_UNDEF,
        .files = {.loop = l->loop, .line = -1},
        .timer = px_timer_create(l->loop, on_timer, job),
        .unconfirmed_timer = px_timer_create(l->loop, on_unconfirmed, job)};
    *plan = (px_plan){0};
    job->number = ++l->n_jobs;
    /* The server's own name may be a very long one. */
    if (snprintf(name, sizeof(name), "%s-%u", px_server_name(l->server)->nspace,
                 job->number) >= (int)sizeof(name))
        snprintf(name, sizeof(name), "tenon-%ld-%u", (long)getpid(), job->number);
    px_proc_set(&job->proc, name, PMIX_RANK_WILDCARD);
    px_list_append(&l->jobs, &job->link);
    if (!job->timer || !job->unconfirmed_timer || add_tasks(job)) {
        job_free(job);
        return PMIX_ERR_NOMEM;
    }
    l->n_ranks += px_plan_counts(&job->plan) ? job->n_tasks : 0;
    if (!make_dir(job)) {
        px_log(PX_LOG_WARN, "spawn", "cannot make a directory for job %s: %m",
               job->proc.nspace);
        drop_dirs(job);
    }
    pmix_status_t rc = set_limits(job);
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

bool px_launcher_has(const struct px_launcher *l, const pmix_proc_t *proc)
{
    return proc->rank == PMIX_RANK_WILDCARD ? px_job_find(l, proc->nspace) != NULL
                                            : px_task_find(l, proc) != NULL;
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

/* ---- events --------------------------------------------------------------------- */

/* Reports a failure, or the end of a job, to handlers of this process and of kin, which
 * may be empty. end: receivers that have the report of an end; NULL: a failure. Returns
 * the number of other processes that are notified. */
static size_t report(const struct px_launch_job *job, const struct px_failure *f,
                     const px_kin *kin, unsigned *end)
{
    pmix_proc_t culprit = job->proc;
    pmix_data_array_t range = {PMIX_PROC, kin->n, kin->v};
    pmix_status_t code = end ? PMIX_EVENT_JOB_END : f->status;
    const bool yes = true;

    px_proc_set(&culprit, f->nspace[0] ? f->nspace : job->proc.nspace, f->rank);
    const struct px_task *task = px_task_find(job->launcher, &culprit);
    const time_t now = time(NULL);
    const struct px_fact facts[] = {
        {PMIX_NSPACE, job->proc.nspace, PMIX_STRING},
        {PMIX_JOB_TERM_STATUS, end ? &job->verdict : NULL, PMIX_STATUS},
        {PMIX_EVENT_TIMESTAMP, &now, PMIX_TIME},
        {PMIX_EVENT_AFFECTED_PROC, task ? &culprit : NULL, PMIX_PROC},
        {PMIX_HOSTNAME, end ? NULL : job->launcher->model->hostname, PMIX_STRING},
        {PMIX_PROC_PID, task && !end ? &task->pid : NULL, PMIX_PID},
        {PMIX_EXIT_CODE, &f->exit_code, PMIX_INT},
        {PMIX_EVENT_TEXT_MESSAGE, end ? NULL : f->text, PMIX_STRING},
        {PMIX_SPAWN_CHILD_SEP, job->plan.detached ? &yes : NULL, PMIX_BOOL},
        {PMIX_EVENT_NON_DEFAULT, kin->stay ? &yes : NULL, PMIX_BOOL},
        {PMIX_EVENT_CUSTOM_RANGE, kin->n > 0 ? &range : NULL, PMIX_DATA_ARRAY}};

    return px_job_event(job, code, end ? NULL : &culprit,
                        kin->n > 0 ? PMIX_RANGE_CUSTOM : PMIX_RANGE_PROC_LOCAL, facts,
                        PX_COUNT(facts), end);
}

/* Reports the end, to the parent too if the parent asked for that. The timer reports
 * again to receivers that have missed the report, or forgets the job. */
static void report_end(struct px_launch_job *job)
{
    bool to_parent = job->plan.notify &&
                     !px_proc_same(&job->parent, px_server_name(job->launcher->server));

    report(job, &job->failure, &(px_kin){.v = &job->parent, .n = to_parent},
           &job->reported);
    px_timer_set(job->timer, job->reported == PX_EVENT_DONE ? DROP_MS : RETRY_MS);
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
    if (n > MAX_KEPT)
        px_timer_set(oldest->timer, 0);
}

/* Ends the job after its last process has ended, all output is written, and the reason
 * of a failure is known. */
static void check_finished(struct px_launch_job *job)
{
    if (job->n_running > 0 || job->n_streams > 0 || job->traces ||
        job->end == PX_JOB_ENDED || px_job_is_launching(job) ||
        (job->unconfirmed.status && !job->failure.status))
        return;
    job->end = PX_JOB_ENDED;
    px_pmi_report_alone(job);
    px_pubs_gone(&job->launcher->pubs, &job->proc);
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

/* ---- failures ------------------------------------------------------------------- */

/* True if the job goes on without the process. */
static bool is_survived(const struct px_launch_job *job, const struct px_failure *f)
{
    return px_plan_goes_on(&job->plan) && !f->whole && f->rank != PMIX_RANK_UNDEF;
}

/* Notifies the processes that are connected with the job, and marks the jobs that
 * end. */
static size_t report_failure(struct px_launch_job *job, const struct px_failure *f,
                             bool survived)
{
    pmix_proc_t culprit = job->proc;
    PX_AUTO(px_kin) kin = {0};

    if (!f->nspace[0] && f->rank != PMIX_RANK_UNDEF)
        culprit.rank = f->rank;
    if (px_family_find(job, &culprit, survived, &kin))
        px_log(PX_LOG_ERROR, "spawn",
               "cannot notify all processes of the failure of job %s: out of memory",
               job->proc.nspace);
    return report(job, f, &kin, NULL);
}

/* Ends the marked jobs; notified: when handlers of the failure have had some time. */
static void end_family(struct px_launch_job *job, pmix_status_t verdict, bool notified)
{
    if (!job->verdict)
        job->verdict = verdict;
    PX_LIST_EACH (&job->launcher->jobs, struct px_launch_job, j, link) {
        if (!j->failing)
            continue;
        j->failing = false;
        if (j != job)
            px_log(PX_LOG_INFO, "spawn", "job %s ends with job %s", j->proc.nspace,
                   job->proc.nspace);
        if (notified && px_job_stage(j) == PX_JOB_RUNNING && j->n_running > 0) {
            j->end = PX_JOB_NOTIFIED;
            px_timer_set(j->timer, j->launcher->notice_ms);
        } else {
            px_job_end(j, SIGTERM, PMIX_ERR_JOB_KILLED_BY_CMD);
        }
    }
}

static void settle(struct px_launch_job *job, const struct px_failure *failure)
{
    bool survived = is_survived(job, failure), first = !job->end;
    size_t n_notified = 0;

    if (!job->failure.status)
        job->failure = *failure;
    px_timer_clear(job->unconfirmed_timer);
    if (first) { /* else the failure follows from the end of the job */
        px_log(PX_LOG_INFO, "spawn", "job %s %s: %s", job->proc.nspace,
               survived ? "goes on" : "ends", failure->text);
        n_notified = report_failure(job, failure, survived);
    }
    if (first && !survived)
        /* A process that aborts another job waits for the answer to its call. */
        end_family(job, failure->verdict, n_notified > 0 || failure->nspace[0]);
    else if (!job->verdict)
        job->verdict = failure->verdict;
}

/* True for a running process, except the failed one, whose failure is not known yet.
 * A process that aborts over the death of another is known, and is not the first. */
static bool is_running(void *arg, pmix_rank_t rank)
{
    const struct px_task *failed = arg;
    const struct px_launch_job *job = failed->job;
    const struct px_failure *known = &job->unconfirmed;

    return rank != failed->rank && rank < job->n_tasks && job->tasks[rank].running &&
           (!known->status || known->nspace[0] || known->rank != rank);
}

/* True if a process was lost before the failed one, and its end is not known yet. */
static bool is_another_dying(struct px_launch_job *failed, pmix_rank_t rank)
{
    pmix_proc_t proc;

    px_proc_set(&proc, failed->proc.nspace, rank);
    const uint64_t loss = px_server_client_lost(failed->launcher->server, &proc);
    PX_LIST_EACH (&failed->launcher->jobs, struct px_launch_job, job, link) {
        struct px_task suspect = {.job = job,
                                  .rank = job == failed ? rank : PMIX_RANK_UNDEF};

        if (px_server_any_lost(job->proc.nspace, loss, is_running, &suspect))
            return true;
    }
    return false;
}

/* The connections of a dying process break before its end is reported. Other processes
 * may fail by that, and end first. The failure of the dying process counts. */
void px_job_fail(struct px_launch_job *job, const struct px_failure *failure)
{
    if ((job->failure.status && job->end >= PX_JOB_TERM) || job->end == PX_JOB_ENDED)
        return;
    if (px_job_is_launching(job) && !is_survived(job, failure)) {
        if (!job->unconfirmed.status)
            job->unconfirmed = *failure;
        return;
    }
    if (failure->rank != PMIX_RANK_UNDEF && !is_survived(job, failure) &&
        is_another_dying(job, failure->nspace[0] ? PMIX_RANK_UNDEF : failure->rank)) {
        if (!job->unconfirmed.status) {
            job->unconfirmed = *failure;
            px_timer_set(job->unconfirmed_timer, UNCONFIRMED_MS);
        }
        return;
    }
    settle(job, failure);
}

static void on_unconfirmed(void *arg)
{
    struct px_launch_job *job = arg;

    settle(job, &job->unconfirmed);
    check_finished(job);
}

static void end_by_limit(struct px_launch_job *job, const char *why)
{
    struct px_failure f = {.status = PMIX_ERR_TIMEOUT,
                           .verdict = PMIX_ERR_TIMEOUT,
                           .rank = PMIX_RANK_UNDEF,
                           .exit_code = TIMED_OUT};

    px_str_copy(f.text, sizeof(f.text), why);
    if (!job->end)
        px_log(PX_LOG_WARN, "spawn", "job %s ends: %s", job->proc.nspace, why);
    px_job_fail(job, &f);
    check_finished(job); /* its last process may have ended meanwhile */
}

static void run_too_long(struct px_launch_job *job)
{
    char why[64];

    snprintf(why, sizeof(why), "%u seconds, its time limit, are over",
             job->plan.limit_s);
    end_by_limit(job, why);
}

static void on_limit(void *arg)
{
    if (!((const struct px_launch_job *)arg)->end)
        px_job_report_timeout(arg, run_too_long);
}

static void on_held_limit(void *arg)
{
    char why[256];

    if (px_job_is_held(arg, why, sizeof(why)))
        end_by_limit(arg, why);
}

/* Returns the failure of an ended process; status PMIX_SUCCESS: no failure. */
static struct px_failure judge(const struct px_task *task)
{
    struct px_failure f = {.rank = task->rank, .exit_code = 1};
    int status = task->wait_status;

    if (WIFSIGNALED(status)) {
        f.status = PMIX_ERR_PROC_ABORTED_BY_SIG;
        f.verdict = PMIX_ERR_JOB_ABORTED_BY_SIG;
        f.exit_code = 128 + WTERMSIG(status);
        snprintf(f.text, sizeof(f.text), "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
        f.status = PMIX_ERR_EXIT_NONZERO_TERM;
        f.verdict = PMIX_ERR_JOB_NON_ZERO_TERM;
        f.exit_code = WEXITSTATUS(status);
        snprintf(f.text, sizeof(f.text), "exited with status %d", WEXITSTATUS(status));
    } else if (task->connected && !task->finalized) {
        f.status = PMIX_ERR_PROC_TERM_WO_SYNC;
        f.verdict = PMIX_ERR_JOB_TERM_WO_SYNC;
        px_str_copy(f.text, sizeof(f.text), "exited without finalizing");
    }
    return f;
}

/* ---- reports of processes ------------------------------------------------------- */

/* Ends the job. During a launch, more processes may follow: px_job_launched calls
 * again. */
static void last_task_ended(struct px_launch_job *job)
{
    if (px_job_is_launching(job) && !job->launch_status)
        return;
    px_job_close_input(job);
    if (job->launch_status) {
        px_job_abandon(job, job->launch_status);
        return;
    }
    px_timer_set(job->timer, LATE_OUTPUT_MS);
    check_finished(job);
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
    const struct px_failure failure = judge(task);
    px_log(PX_LOG_INFO, "spawn", "rank %u of %s, pid %ld, %s", task->rank, proc.nspace,
           (long)pid, failure.status ? failure.text : "has ended");
    bool failed = failure.status && !job->launch_status && !is_by_abort(task) &&
                  !px_restart_plan(task, &failure);
    px_server_client_ended(job->launcher->server, &proc,
                           WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status)
                                                    : WEXITSTATUS(wait_status));
    px_pubs_gone(&job->launcher->pubs, &proc);
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
    check_finished(o->task->job);
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
    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link)
        job_free(job);
    px_timer_free(px_take(&l->starts));
    if (l->std)
        px_iof_std_put();
    l->std = NULL;
    px_pubs_fini(&l->pubs);
}
