/* SPDX-License-Identifier: BSD-3-Clause */
/* pcleanup/inproc: for hosts that forbid additional processes. Each run is a child, and
 * no process outlives the server. If the server is killed, the next server cleans up.
 * Not for root, whose users may expect more. */
#include "core/base/str.h"
#include "core/reclaim/jobs.h"

#include <stdlib.h>

enum { PRIORITY = 10 };

static const struct px_param params[] = {PX_RECLAIM_PARAMS};

static pmix_status_t pcleanup_open(const struct px_services *services, const void *conf,
                                   void **self)
{
    struct px_reclaim_jobs *jobs = malloc(sizeof(*jobs));

    if (!jobs)
        return PMIX_ERR_NOMEM;
    px_reclaim_jobs_init(jobs, services, conf);
    *self = jobs;
    return PMIX_SUCCESS;
}

static pmix_status_t pcleanup_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    if (geteuid() != 0)
        return PMIX_SUCCESS;
    px_str_copy(
        answer->reason, sizeof(answer->reason),
        "a server of root's needs a clean-up that outlives it: pcleanup/janitor");
    return PMIX_ERR_NOT_SUPPORTED;
}

static void pcleanup_close(void *self)
{
    if (self)
        px_reclaim_jobs_finish(self, false);
    free(self);
}

static const struct px_pcleanup_ops ops = {
    .start = px_reclaim_jobs_start,
    .journal = px_reclaim_jobs_journal,
    .run = px_reclaim_jobs_run,
    .reclaim = px_reclaim_jobs_reclaim,
    .finish = px_reclaim_jobs_finish,
};

PX_COMPONENT(pcleanup, inproc) = {
    PX_COMPONENT_HEAD(pcleanup, PCLEANUP, inproc),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct px_reclaim_conf),
    .open = pcleanup_open,
    .query = pcleanup_query,
    .close = pcleanup_close,
    .ops = &ops,
};
