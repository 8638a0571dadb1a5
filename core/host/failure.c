/* SPDX-License-Identifier: BSD-3-Clause */
/* Failures of processes and jobs: the first one, time limits, and the jobs that end. */
#include "core/host/job.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/rt/loop.h"
#include "core/server/host.h"

enum {
    UNCONFIRMED_MS = 1000, /* from a broken connection to the end of its process */
    TIMED_OUT = 124,       /* exit code, as of timeout(1) */
};

/* ---- the first failure ----------------------------------------------------------- */

struct px_failure px_task_judge(const struct px_task *task)
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
        if (task->job->plan.n_slots) { /* the program has reported the failed process */
            f.status = f.verdict;
            f.rank = PMIX_RANK_UNDEF;
        }
    } else if (task->connected && !task->finalized) {
        f.status = PMIX_ERR_PROC_TERM_WO_SYNC;
        f.verdict = PMIX_ERR_JOB_TERM_WO_SYNC;
        px_str_copy(f.text, sizeof(f.text), "exited without finalizing");
    }
    return f;
}

/* True if the job goes on without the process. */
static bool is_survived(const struct px_launch_job *job, const struct px_failure *f)
{
    return px_plan_goes_on(&job->plan) && !f->whole && f->rank != PMIX_RANK_UNDEF;
}

size_t px_job_report(const struct px_launch_job *job, const struct px_failure *f,
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
    return px_job_report(job, f, &kin, NULL);
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

/* True if a process was lost before the failed process, and its end is not known yet.
 * Processes that were lost later may have failed by this failure. */
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
    px_job_check_finished(job);
}

/* ---- time limits ----------------------------------------------------------------- */

void px_job_end_by_limit(struct px_launch_job *job, const char *why)
{
    struct px_failure f = {.status = PMIX_ERR_TIMEOUT,
                           .verdict = PMIX_ERR_TIMEOUT,
                           .rank = PMIX_RANK_UNDEF,
                           .exit_code = TIMED_OUT};

    px_str_copy(f.text, sizeof(f.text), why);
    if (!job->end)
        px_log(PX_LOG_WARN, "spawn", "job %s ends: %s", job->proc.nspace, why);
    px_job_fail(job, &f);
    px_job_check_finished(job); /* its last process may have ended meanwhile */
}

static void run_too_long(struct px_launch_job *job)
{
    char why[64];

    snprintf(why, sizeof(why), "%u seconds, its time limit, are over",
             job->plan.limit_s);
    px_job_end_by_limit(job, why);
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
        px_job_end_by_limit(arg, why);
}

pmix_status_t px_job_set_limits(struct px_launch_job *job)
{
    const px_plan *plan = &job->plan;
    uint64_t of_launch = plan->launch_limit_s;

    job->unconfirmed_timer = px_timer_create(job->launcher->loop, on_unconfirmed, job);
    if (!job->unconfirmed_timer)
        return PMIX_ERR_NOMEM;
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
