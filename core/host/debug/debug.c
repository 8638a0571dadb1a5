/* SPDX-License-Identifier: BSD-3-Clause */
/* Breakpoints of debuggers. The debugger is notified once for each breakpoint, when all
 * processes have reached it. Processes in PMIx_Init wait for PMIX_DEBUGGER_RELEASE;
 * processes at exec wait for SIGCONT. A job that no debugger releases ends. */
#include "core/host/job.h"

#include <stdio.h>
#include <string.h>

#include "core/os/proc.h"
#include "core/notify/notify.h"
#include "core/rt/loop.h"
#include "core/server/host.h"

#define IN_INIT "pmix-init" /* name that client libraries use */

static const char *const names[] = {[PX_STOP_ON_EXEC] = "exec",
                                    [PX_STOP_IN_INIT] = IN_INIT,
                                    [PX_STOP_IN_APP] = "application"};

bool px_task_stops(const struct px_task *task, enum px_stop where)
{
    const struct px_stops *stops = &task->job->plan.apps[task->app].stops[where];

    for (size_t i = 0; i < stops->n; i++)
        if (stops->ranks[i] == task->rank || stops->ranks[i] == PMIX_RANK_WILDCARD)
            return true;
    return stops->all;
}

bool px_plan_stops(const px_plan *plan)
{
    for (size_t i = 0; i < plan->n_apps; i++)
        for (int where = 0; where <= PX_STOP_IN_APP; where++)
            if (plan->apps[i].stops[where].n > 0 || plan->apps[i].stops[where].all)
                return true;
    return false;
}

/* ---- the time limit -------------------------------------------------------------- */

/* Returns the breakpoint at which the process waits for a release, or NULL. A process
 * that waits for the event is registered for the event. */
static const char *held_at(const struct px_task *task)
{
    struct px_osproc_stat st;
    pmix_proc_t name;

    if (!task->running || !task->held)
        return NULL;
    if (task->held & 1u << PX_STOP_ON_EXEC && px_osproc_stat(task->pid, &st) &&
        (st.state == 'T' || st.state == 't'))
        return names[PX_STOP_ON_EXEC];
    px_proc_set(&name, task->job->proc.nspace, task->rank);
    for (int where = PX_STOP_IN_INIT; where <= PX_STOP_IN_APP; where++)
        if (task->held & 1u << where &&
            px_server_awaits_event(task->job->launcher->server, &name,
                                   PMIX_DEBUGGER_RELEASE))
            return names[where];
    return NULL;
}

/* A debugger that is attached to any process works on the whole job. */
bool px_job_is_held(struct px_launch_job *job, char *why, size_t size)
{
    const uint64_t limit_ms = job->launcher->debug_timeout_ms;
    bool held = false, traced = false;

    for (uint32_t r = 0; r < job->n_tasks && !job->end; r++) {
        const char *where = held_at(&job->tasks[r]);

        traced |= where && px_osproc_is_traced(job->tasks[r].pid);
        if (where && !held)
            snprintf(why, size,
                     "rank %u has waited at %s for a debugger for %llu.%03u s, the "
                     "limit (embedded_debug_timeout)",
                     r, where, (unsigned long long)(limit_ms / 1000),
                     (unsigned)(limit_ms % 1000));
        held |= where != NULL;
    }
    if (traced)
        px_timer_set(job->held_limit, limit_ms);
    return held && !traced;
}

void px_debug_released(struct px_launcher *l, const pmix_info_t *info, size_t n)
{
    const pmix_info_t *range = px_info_find(info, n, PMIX_EVENT_CUSTOM_RANGE);
    const pmix_proc_t *procs = NULL;
    size_t n_procs = 0;
    pmix_proc_t name;

    if (range && px_value_borrow_procs(&range->value, &procs, &n_procs))
        return;
    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link)
        for (uint32_t r = 0; r < job->n_tasks; r++) {
            bool meant = !range;

            if (!job->tasks[r].held)
                continue;
            px_proc_set(&name, job->proc.nspace, r);
            for (size_t i = 0; i < n_procs && !meant; i++)
                meant = px_proc_match(&name, &procs[i]);
            if (meant)
                job->tasks[r].held &= 1u << PX_STOP_ON_EXEC;
        }
}

/* ---- breakpoints ----------------------------------------------------------------- */

void px_task_stopped(struct px_task *task, enum px_stop where)
{
    struct px_launch_job *job = task->job;
    const unsigned bit = 1u << where;

    if (!px_task_stops(task, where) || (task->stopped & bit))
        return;
    task->stopped |= bit;
    task->held |= bit;
    if (job->held_limit) /* begins again at each stop */
        px_timer_set(job->held_limit, job->launcher->debug_timeout_ms);
    for (uint32_t r = 0; r < job->n_tasks; r++)
        if (px_task_stops(&job->tasks[r], where) && !(job->tasks[r].stopped & bit))
            return;
    px_job_announce(job, PMIX_READY_FOR_DEBUG, names[where]);
}

void px_task_is_ready(struct px_task *task, const pmix_info_t *info, size_t n)
{
    const char *where = px_info_str(info, n, PMIX_BREAKPOINT);

    px_task_stopped(task, where && strcmp(where, IN_INIT) == 0 ? PX_STOP_IN_INIT
                                                               : PX_STOP_IN_APP);
}
