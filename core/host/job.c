/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a job: how its processes end, what follows from that, and when all is
 * over. */
#include "core/host/builtin.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "core/base/str.h"
#include "core/rt/log.h"
#include "frameworks/pfexec/pfexec.h"

enum {
    SUSPICION_MS = 200, /* for learning how a process died whose connection broke */
    LINGER_MS = 500,    /* for output of processes that those we started left behind */
    DROP_MS = 1000,     /* until an ended job is forgotten */
};

static void on_timer(void *arg);
static void on_suspicion(void *arg);

/* ---- making and finding ---------------------------------------------------------- */

static pmix_status_t add_tasks(struct px_job *job)
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
        }
    }
    return PMIX_SUCCESS;
}

static void name_job(struct px_job *job)
{
    struct px_embedded *host = job->host;
    char name[PMIX_MAX_NSLEN + 1];

    host->n_jobs++;
    /* A server whose host has given it a very long name. */
    if (snprintf(name, sizeof(name), "%s-%u", host->server->proc.nspace,
                 host->n_jobs) >= (int)sizeof(name))
        snprintf(name, sizeof(name), "tenon-%ld-%u", (long)getpid(), host->n_jobs);
    px_proc_set(&job->proc, name, PMIX_RANK_WILDCARD);
}

pmix_status_t px_job_create(struct px_embedded *host, const pmix_proc_t *parent,
                            px_plan *plan, struct px_job **out)
{
    struct px_job *job = calloc(1, sizeof(*job));

    if (!job)
        return PMIX_ERR_NOMEM;
    job->host = host;
    job->parent = *parent;
    job->plan = *plan;
    *plan = (px_plan){0};
    job->first = host->n_ranks;
    job->failure.rank = PMIX_RANK_UNDEF;
    name_job(job);
    px_list_append(&host->jobs, &job->link);
    job->timer = px_timer_create(px_process.loop, on_timer, job);
    job->suspicion_timer = px_timer_create(px_process.loop, on_suspicion, job);
    if (!job->timer || !job->suspicion_timer || add_tasks(job)) {
        px_job_free(job);
        return PMIX_ERR_NOMEM;
    }
    host->n_ranks += job->n_tasks;
    px_job_dirs_make(job);
    *out = job;
    return PMIX_SUCCESS;
}

static const struct px_pfexec_ops *pfexec(const struct px_job *job)
{
    return px_pfexec_ops(job->host->pfexec);
}

/* What it still has to say is not written. */
static void silence(struct px_job *job)
{
    for (uint32_t r = 0; r < job->n_tasks; r++) {
        for (int i = 0; i < 2; i++) {
            px_stream_close(job->tasks[r].streams[i]);
            job->tasks[r].streams[i] = NULL;
        }
    }
    job->n_streams = 0;
}

void px_job_free(struct px_job *job)
{
    silence(job);
    px_job_dirs_drop(job);
    for (uint32_t r = 0; r < job->n_tasks; r++)
        if (job->tasks[r].running)
            pfexec(job)->forget(job->host->pfexec->self, job->tasks[r].pid);
    px_list_remove(&job->link);
    px_input_close(job->input);
    px_timer_free(job->timer);
    px_timer_free(job->suspicion_timer);
    px_plan_cleanup(&job->plan);
    free(job->tasks);
    free(job);
}

struct px_job *px_job_find(const struct px_embedded *host, const char *nspace)
{
    PX_LIST_EACH (&host->jobs, struct px_job, job, link)
        if (strcmp(job->proc.nspace, nspace) == 0)
            return job;
    return NULL;
}

struct px_task *px_task_find(const struct px_embedded *host, const pmix_proc_t *proc)
{
    struct px_job *job = px_job_find(host, proc->nspace);

    return job && proc->rank < job->n_tasks ? &job->tasks[proc->rank] : NULL;
}

/* ---- ending it ------------------------------------------------------------------- */

void px_task_signal(struct px_task *task, int signum)
{
    if (task->running)
        (void)pfexec(task->job)->signal(task->job->host->pfexec->self, task->pid,
                                        signum);
}

void px_job_signal(struct px_job *job, int signum)
{
    for (uint32_t r = 0; r < job->n_tasks; r++)
        px_task_signal(&job->tasks[r], signum);
}

static bool is_child_of(const struct px_job *job, const struct px_job *parent)
{
    return job != parent && !job->plan.detached && job->stage != PX_JOB_ENDED &&
           strcmp(job->parent.nspace, parent->proc.nspace) == 0;
}

void px_job_kill(struct px_job *job, pmix_status_t verdict)
{
    if (job->stage >= PX_JOB_KILL)
        return;
    if (!job->verdict)
        job->verdict = verdict;
    job->stage = PX_JOB_KILL;
    px_job_signal(job, SIGKILL);
    PX_LIST_EACH (&job->host->jobs, struct px_job, child, link)
        if (is_child_of(child, job))
            px_job_kill(child, PMIX_ERR_JOB_KILLED_BY_CMD);
}

void px_job_end(struct px_job *job, pmix_status_t verdict)
{
    if (job->stage >= PX_JOB_TERM)
        return;
    if (!job->verdict)
        job->verdict = verdict;
    job->stage = PX_JOB_TERM;
    px_job_signal(job, SIGTERM);
    px_job_signal(job, SIGCONT); /* one that is stopped would not notice */
    if (job->n_running > 0)
        px_timer_set(job->timer, job->host->grace_ms);
    PX_LIST_EACH (&job->host->jobs, struct px_job, child, link)
        if (is_child_of(child, job))
            px_job_end(child, PMIX_ERR_JOB_KILLED_BY_CMD);
}

void px_job_abandon(struct px_job *job, pmix_status_t status, pmix_spawn_cbfunc_t cb,
                    void *cbdata)
{
    job->launch_status = status;
    job->launch_cb = cb;
    job->launch_cbdata = cbdata;
    silence(job);
    px_job_kill(job, status);
    if (job->n_running > 0)
        return;
    px_server_drop_nspace(job->host->server, job->proc.nspace);
    struct px_embedded *host = job->host;
    px_job_free(job);
    cb(status, NULL, cbdata);
    px_embedded_check_idle(host);
}

static void over(struct px_job *job)
{
    job->stage = PX_JOB_ENDED;
    px_pubs_job_gone(&job->host->pubs, job->proc.nspace);
    px_job_dirs_drop(job);
    px_job_report_end(job);
    px_timer_set(job->timer, DROP_MS);
    px_embedded_check_idle(job->host);
}

/* All processes have ended and all they had to say is said? */
static void check_over(struct px_job *job)
{
    if (job->n_running > 0 || job->stage == PX_JOB_ENDED ||
        job->stage == PX_JOB_LAUNCHING)
        return;
    if (job->n_streams == 0)
        over(job);
}

/* Who else still holds the pipes is no process of ours. */
static void stop_listening(struct px_job *job)
{
    for (uint32_t r = 0; r < job->n_tasks; r++)
        for (int i = 0; i < 2; i++)
            if (job->tasks[r].streams[i])
                px_stream_finish(job->tasks[r].streams[i]);
}

static void on_timer(void *arg)
{
    struct px_job *job = arg;

    if (job->stage == PX_JOB_ENDED) {
        px_server_drop_nspace(job->host->server, job->proc.nspace);
        px_job_free(job);
    } else if (job->n_running == 0) {
        stop_listening(job);
    } else if (job->stage == PX_JOB_TERM) {
        px_job_kill(job, PMIX_SUCCESS);
    }
}

/* ---- failures -------------------------------------------------------------------- */

static pmix_status_t verdict_of(pmix_status_t failure)
{
    switch (failure) {
    case PMIX_ERR_PROC_ABORTED_BY_SIG:
        return PMIX_ERR_JOB_ABORTED_BY_SIG;
    case PMIX_ERR_EXIT_NONZERO_TERM:
        return PMIX_ERR_JOB_NON_ZERO_TERM;
    case PMIX_ERR_PROC_TERM_WO_SYNC:
        return PMIX_ERR_JOB_TERM_WO_SYNC;
    case PMIX_ERR_PROC_REQUESTED_ABORT:
        return PMIX_ERR_JOB_ABORTED;
    default:
        return failure;
    }
}

static void settle(struct px_job *job, const struct px_failure *failure)
{
    bool first = !job->verdict;

    job->failure = *failure;
    px_timer_clear(job->suspicion_timer);
    if (first) /* else it ends because it was told to: no news */
        px_job_report_failure(job);
    px_job_end(job, verdict_of(failure->status));
}

/* A process other than this one has broken its connection and has not ended yet, as far
 * as we have been told. */
static bool another_is_dying(const struct px_job *job, pmix_rank_t rank)
{
    const struct px_nspace *ns = px_nspace_find(px_process.model, job->proc.nspace);

    if (!ns)
        return false;
    PX_LIST_EACH (&ns->locals, struct px_local, l, link)
        if (l->lost && l->rank != rank && l->rank < job->n_tasks &&
            job->tasks[l->rank].running)
            return true;
    return false;
}

/* When a process dies, its connections break a little before we learn of its end.
 * Others may fail over that and be gone first; but it is the dying one that has to be
 * named. */
void px_job_fail(struct px_job *job, const struct px_failure *failure)
{
    if (job->failure.status || job->stage == PX_JOB_ENDED)
        return;
    if (failure->rank != PMIX_RANK_UNDEF && another_is_dying(job, failure->rank)) {
        if (!job->suspicion.status) {
            job->suspicion = *failure;
            px_timer_set(job->suspicion_timer, SUSPICION_MS);
        }
        return;
    }
    settle(job, failure);
}

static void on_suspicion(void *arg)
{
    struct px_job *job = arg;

    settle(job, &job->suspicion);
}

/* Status PMIX_SUCCESS if it ended as it should. */
static struct px_failure judge(const struct px_task *task)
{
    struct px_failure f = {.rank = task->rank, .exit_code = 1};
    int status = task->wait_status;

    if (WIFSIGNALED(status)) {
        f.status = PMIX_ERR_PROC_ABORTED_BY_SIG;
        f.exit_code = 128 + WTERMSIG(status);
        snprintf(f.text, sizeof(f.text), "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
        f.status = PMIX_ERR_EXIT_NONZERO_TERM;
        f.exit_code = WEXITSTATUS(status);
        snprintf(f.text, sizeof(f.text), "exited with status %d", WEXITSTATUS(status));
    } else if (task->connected && !task->finalized) {
        f.status = PMIX_ERR_PROC_TERM_WO_SYNC;
        px_str_copy(f.text, sizeof(f.text), "exited without finalizing");
    }
    return f;
}

/* ---- reports of processes -------------------------------------------------------- */

static void last_task_ended(struct px_job *job)
{
    px_input_close(job->input);
    job->input = NULL;
    if (job->launch_status) {
        px_job_abandon(job, job->launch_status, job->launch_cb, job->launch_cbdata);
        return;
    }
    if (job->suspicion.status && !job->failure.status)
        settle(job, &job->suspicion);
    px_timer_set(job->timer, LINGER_MS);
    check_over(job);
}

void px_job_task_ended(void *arg, pid_t pid, int wait_status)
{
    struct px_task *task = arg;
    struct px_job *job = task->job;
    pmix_proc_t proc = job->proc;

    proc.rank = task->rank;
    task->running = false;
    task->wait_status = wait_status;
    job->n_running--;
    const struct px_failure failure = judge(task);
    px_log(PX_LOG_INFO, "spawn", "rank %u of %s, pid %ld, %s", task->rank, proc.nspace,
           (long)pid, failure.status ? failure.text : "has ended");
    px_server_client_ended(job->host->server, &proc);
    px_pubs_proc_gone(&job->host->pubs, &proc);
    if (failure.status && !job->launch_status)
        px_job_fail(job, &failure);
    if (job->n_running == 0)
        last_task_ended(job);
}

static void stream_ended(struct px_task *task, int which)
{
    task->streams[which] = NULL;
    task->job->n_streams--;
    check_over(task->job);
}

void px_job_stdout_ended(void *arg)
{
    stream_ended(arg, 0);
}

void px_job_stderr_ended(void *arg)
{
    stream_ended(arg, 1);
}
