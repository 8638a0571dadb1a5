/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/events.h"

#include <time.h>

#include "core/host/job.h"
#include "core/rt/log.h"
#include "core/server/host.h"

pmix_status_t px_facts_add(px_infos *l, const struct px_fact *facts, size_t n)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++)
        if (facts[i].data)
            rc = px_infos_add(l, facts[i].key, facts[i].data, facts[i].type);
    return rc;
}

void px_job_announce(const struct px_launch_job *job, pmix_status_t code,
                     const char *breakpoint)
{
    struct px_server *srv = job->launcher->server;
    const pmix_proc_t *parent = &job->parent;
    bool to_self = px_proc_same(parent, px_server_name(srv));
    const time_t now = time(NULL);
    const struct px_fact facts[] = {
        {PMIX_NSPACE, job->proc.nspace, PMIX_STRING},
        {PMIX_EVENT_AFFECTED_PROC, &job->proc, PMIX_PROC},
        {PMIX_EVENT_TIMESTAMP, &now, PMIX_TIME},
        {PMIX_BREAKPOINT, breakpoint, PMIX_STRING},
        {PMIX_EVENT_CUSTOM_RANGE, to_self ? NULL : parent, PMIX_PROC}};
    PX_AUTO(px_infos) infos = {0};

    if (px_facts_add(&infos, facts, PX_COUNT(facts)))
        px_log(PX_LOG_ERROR, "spawn", "cannot report %s of job %s: out of memory",
               PMIx_Error_string(code), job->proc.nspace);
    else
        (void)px_server_event(srv, code, NULL,
                              to_self ? PMIX_RANGE_PROC_LOCAL : PMIX_RANGE_CUSTOM,
                              infos.v, infos.n);
}
