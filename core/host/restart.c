/* SPDX-License-Identifier: BSD-3-Clause */
/* Restarts of failed processes, in place: the same rank, with nothing left of its
 * earlier life. In the pause before a restart the old output ends and the old files are
 * removed. */
#include "core/host/job.h"

#include <stdio.h>

#include "core/base/str.h"
#include "core/model/nspace.h"
#include "core/rt/loop.h"
#include "core/server/host.h"

/* The pause doubles each time, so that a program that fails at once does not keep the
 * node busy. */
enum { FIRST_PAUSE_MS = 10, LONGEST_PAUSE_MS = 1000 };

static void revive(const struct px_task *task, bool revives)
{
    const pmix_proc_t proc = px_task_name(task);

    px_server_client_revives(task->job->launcher->server, &proc, revives);
}

static void cannot(struct px_task *task, const char *why)
{
    struct px_failure f = task->restart->failure;
    size_t len = strlen(f.text);

    snprintf(f.text + len, sizeof(f.text) - len,
             ", and cannot be started again: %.300s", why);
    revive(task, false);
    px_job_fail(task->job, &f);
}

void px_restart_go_on(struct px_task *task)
{
    struct px_launch_job *job = task->job;
    struct px_server *srv = job->launcher->server;
    struct px_restart *r = task->restart;
    const pmix_proc_t proc = px_task_name(task);
    struct px_err err = {0};

    if (!r || !r->pending || !r->due || job->end || task->outputs[0].stream ||
        task->outputs[1].stream)
        return;
    if (!px_server_client_settled(srv, &proc)) {
        px_timer_set(r->timer, FIRST_PAUSE_MS);
        return;
    }
    r->pending = r->due = false;
    r->n++;
    task->connected = task->finalized = false;
    pmix_status_t rc = px_server_restart_client(srv, &proc, r->n);
    if (rc)
        px_err_set(&err, rc, "%s", PMIx_Error_string(rc));
    else
        rc = px_task_start(task, &err);
    if (rc) {
        cannot(task, err.text);
        px_job_task_failed(task, rc);
    } else {
        job->n_running--; /* counted all the time, and once more by the start */
    }
}

static void on_pause_over(void *arg)
{
    struct px_task *task = arg;
    struct px_restart *r = task->restart;

    if (!r->pending)
        return;
    if (task->job->end) {
        r->pending = false;
        revive(task, false);
        px_job_task_failed(task, task->job->verdict);
        return;
    }
    r->due = false;
    for (int i = 0; i < 2; i++) /* surviving children may hold the pipes */
        if (task->outputs[i].stream)
            px_stream_finish(task->outputs[i].stream);
    r->due = true;
    px_restart_go_on(task);
}

bool px_restart_plan(struct px_task *task, const struct px_failure *failure)
{
    struct px_launch_job *job = task->job;
    uint32_t max = job->plan.apps[task->app].max_restarts;
    struct px_restart *r = task->restart;

    if (job->end || task->ends || (!task->again && max <= (r ? r->n : 0)))
        return false;
    if (!r) {
        r = calloc(1, sizeof(*r));
        if (r)
            r->timer = px_timer_create(job->launcher->loop, on_pause_over, task);
        if (!r || !r->timer) {
            free(r);
            return false;
        }
        task->restart = r;
    }
    r->by_order = task->again;
    task->again = false;
    task->n_pauses = 0;
    r->failure = *failure;
    r->pid = task->pid;
    r->pending = true;
    job->n_running++;
    revive(task, true);
    px_timer_set(r->timer,
                 r->n < 7 ? (uint64_t)FIRST_PAUSE_MS << r->n : LONGEST_PAUSE_MS);
    return true;
}

/* Reports the restart to the peers and to handlers of this process. */
static void report(const struct px_task *task)
{
    const struct px_launch_job *job = task->job;
    const struct px_restart *r = task->restart;
    const pmix_proc_t proc = px_task_name(task);
    const uint32_t max = job->plan.apps[task->app].max_restarts;
    PX_AUTOFREE char *text = r->by_order
                                 ? px_strf("was started again by order")
                                 : px_strf("%s, and was started again (%u of %u)",
                                           r->failure.text, r->n, max);
    const struct px_fact facts[] = {
        {PMIX_NSPACE, job->proc.nspace, PMIX_STRING},
        {PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC},
        {PMIX_HOSTNAME, job->launcher->model->hostname, PMIX_STRING},
        {PMIX_PROC_PID, &r->pid, PMIX_PID},
        {PMIX_REINCARNATION, &r->n, PMIX_UINT32},
        {PMIX_EXIT_CODE, &r->failure.exit_code, PMIX_INT},
        {PMIX_EVENT_TEXT_MESSAGE, text, PMIX_STRING}};

    (void)px_job_event(job, PMIX_ERR_PROC_RESTART, &proc, PMIX_RANGE_NAMESPACE, facts,
                       PX_COUNT(facts), NULL);
}

void px_restart_started(struct px_task *task, pmix_status_t status, const char *why)
{
    if (!task->restart || task->restart->n == 0)
        return;
    if (status)
        cannot(task, why);
    else
        report(task);
}

void px_restart_drop(struct px_task *task)
{
    if (task->restart && task->restart->pending)
        px_timer_set(task->restart->timer, 0);
}

void px_restart_forget(struct px_task *task)
{
    if (task->restart)
        px_timer_free(task->restart->timer);
    free(px_take(&task->restart));
}
