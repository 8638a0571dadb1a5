/* SPDX-License-Identifier: BSD-3-Clause */
/* Breakpoints of debuggers. The debugger is notified once for each breakpoint, when all
 * processes have reached it. Processes in PMIx_Init wait for PMIX_DEBUGGER_RELEASE;
 * processes at exec wait for SIGCONT. */
#include "core/host/job.h"

#include <string.h>

#define IN_INIT "pmix-init" /* name that client libraries use */

bool px_task_stops(const struct px_task *task, enum px_stop where)
{
    const struct px_stops *stops = &task->job->plan.apps[task->app].stops[where];

    for (size_t i = 0; i < stops->n; i++)
        if (stops->ranks[i] == task->rank || stops->ranks[i] == PMIX_RANK_WILDCARD)
            return true;
    return stops->all;
}

void px_task_stopped(struct px_task *task, enum px_stop where)
{
    static const char *const names[] = {[PX_STOP_ON_EXEC] = "exec",
                                        [PX_STOP_IN_INIT] = IN_INIT,
                                        [PX_STOP_IN_APP] = "application"};
    struct px_launch_job *job = task->job;
    const unsigned bit = 1u << where;

    if (!px_task_stops(task, where) || (task->stopped & bit))
        return;
    task->stopped |= bit;
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
