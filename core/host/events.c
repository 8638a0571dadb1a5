/* SPDX-License-Identifier: BSD-3-Clause */
/* Events about jobs. */
#include "core/host/job.h"

#include <time.h>

#include "core/rt/log.h"
#include "core/server/host.h"

size_t px_job_event(const struct px_launch_job *job, pmix_status_t code,
                    const pmix_proc_t *source, pmix_data_range_t range,
                    const struct px_fact *facts, size_t n, unsigned *done)
{
    PX_AUTO(px_infos) infos = {0};
    unsigned once = 0;

    if (!px_facts_add(&infos, facts, n))
        return px_server_event_on(job->launcher->server, code, source, range, infos.v,
                                  infos.n, done ? done : &once);
    px_log(PX_LOG_ERROR, "spawn", "cannot report %s of job %s: out of memory",
           PMIx_Error_string(code), job->proc.nspace);
    return 0;
}

void px_job_announce(const struct px_launch_job *job, pmix_status_t code,
                     const char *breakpoint)
{
    const pmix_proc_t *parent = &job->parent;
    bool to_self = px_proc_same(parent, px_server_name(job->launcher->server));
    const time_t now = time(NULL);
    const struct px_fact facts[] = {
        {PMIX_NSPACE, job->proc.nspace, PMIX_STRING},
        {PMIX_EVENT_AFFECTED_PROC, &job->proc, PMIX_PROC},
        {PMIX_EVENT_TIMESTAMP, &now, PMIX_TIME},
        {PMIX_BREAKPOINT, breakpoint, PMIX_STRING},
        {PMIX_EVENT_CUSTOM_RANGE, to_self ? NULL : parent, PMIX_PROC}};

    (void)px_job_event(job, code, NULL,
                       to_self ? PMIX_RANGE_PROC_LOCAL : PMIX_RANGE_CUSTOM, facts,
                       PX_COUNT(facts), NULL);
}

void px_task_announce_end(const struct px_task *task, const struct px_failure *failure)
{
    const struct px_launch_job *job = task->job;
    const pmix_proc_t *parent = &job->parent, proc = px_task_name(task);
    bool to_self = px_proc_same(parent, px_server_name(job->launcher->server));
    const int exit_code = failure->status ? failure->exit_code : 0;
    const time_t now = time(NULL);
    const bool yes = true;
    const struct px_fact facts[] = {
        {PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC},
        {PMIX_PROC_TERM_STATUS, &failure->status, PMIX_STATUS},
        {PMIX_EXIT_CODE, &exit_code, PMIX_INT},
        {PMIX_EVENT_TIMESTAMP, &now, PMIX_TIME},
        {PMIX_EVENT_TEXT_MESSAGE, failure->status ? failure->text : NULL, PMIX_STRING},
        {PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL},
        {PMIX_EVENT_CUSTOM_RANGE, to_self ? NULL : parent, PMIX_PROC}};

    (void)px_job_event(job, PMIX_EVENT_PROC_TERMINATED, &proc,
                       to_self ? PMIX_RANGE_PROC_LOCAL : PMIX_RANGE_CUSTOM, facts,
                       PX_COUNT(facts), NULL);
}
