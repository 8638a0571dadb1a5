/* SPDX-License-Identifier: BSD-3-Clause */
/* Events about jobs. The program whose library this is hears of everything; of the
 * rest, only the parent that asked to be told when its job ends. */
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/host/builtin.h"

static pmix_status_t add_culprit(px_infos *l, const struct px_job *job)
{
    pmix_proc_t proc = job->proc;

    if (job->failure.rank >= job->n_tasks)
        return PMIX_SUCCESS;
    proc.rank = job->failure.rank;
    return px_infos_add(l, PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
}

void px_job_report_failure(const struct px_job *job)
{
    const struct px_failure *f = &job->failure;
    PX_AUTO(px_infos) infos = {0};
    pmix_proc_t source = job->proc;
    pmix_status_t rc = add_culprit(&infos, job);

    source.rank = f->rank;
    if (!rc)
        rc = px_infos_add(&infos, PMIX_HOSTNAME, px_process.model->hostname,
                          PMIX_STRING);
    if (!rc && f->rank < job->n_tasks)
        rc = px_infos_add(&infos, PMIX_PROC_PID, &job->tasks[f->rank].pid, PMIX_PID);
    if (!rc)
        rc = px_infos_add(&infos, PMIX_EXIT_CODE, &f->exit_code, PMIX_INT);
    if (!rc)
        rc = px_infos_add(&infos, PMIX_EVENT_TEXT_MESSAGE, f->text, PMIX_STRING);
    if (rc)
        px_log(PX_LOG_ERROR, "spawn",
               "cannot tell that rank %u of %s was %s: out of memory", f->rank,
               job->proc.nspace, f->text);
    else
        px_server_event(job->host->server, f->status, &source, PMIX_RANGE_PROC_LOCAL,
                        infos.v, infos.n);
}

static bool parent_is_client(const struct px_job *job)
{
    return job->plan.notify && !px_proc_same(&job->parent, &job->host->server->proc);
}

void px_job_report_end(const struct px_job *job)
{
    struct px_server *srv = job->host->server;
    pmix_data_range_t range = parent_is_client(job) ? PMIX_RANGE_CUSTOM
                                                    : PMIX_RANGE_PROC_LOCAL;
    PX_AUTO(px_infos) infos = {0};
    pmix_status_t rc = px_infos_add(&infos, PMIX_NSPACE, job->proc.nspace, PMIX_STRING);

    if (!rc)
        rc = px_infos_add(&infos, PMIX_JOB_TERM_STATUS, &job->verdict, PMIX_STATUS);
    if (!rc)
        rc = px_infos_add(&infos, PMIX_EXIT_CODE, &job->failure.exit_code, PMIX_INT);
    if (!rc)
        rc = add_culprit(&infos, job);
    if (!rc && range == PMIX_RANGE_CUSTOM)
        rc = px_infos_add(&infos, PMIX_EVENT_CUSTOM_RANGE, &job->parent, PMIX_PROC);
    if (rc)
        px_log(PX_LOG_ERROR, "spawn",
               "cannot tell that job %s has ended: out of memory", job->proc.nspace);
    else
        px_server_event(srv, PMIX_EVENT_JOB_END, NULL, range, infos.v, infos.n);
}
