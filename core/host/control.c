/* SPDX-License-Identifier: BSD-3-Clause */
/* Abort, job control and queries. All processes here are of one user, who may do with
 * them what the system would let them do anyway. */
#include "core/host/builtin.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/base/strv.h"
#include "core/model/nspace.h"

/* ---- abort ----------------------------------------------------------------------- */

static void abort_job(struct px_job *job, const struct px_failure *own,
                      const pmix_proc_t *proc)
{
    struct px_failure f = *own;

    if (strcmp(job->proc.nspace, proc->nspace) != 0) {
        f.rank = PMIX_RANK_UNDEF;
        snprintf(f.text, sizeof(f.text), "aborted by rank %u of %s", proc->rank,
                 proc->nspace);
    }
    px_job_fail(job, &f);
}

/* A process without its peers is no use in a job: to abort some is to abort their
 * job. */
pmix_status_t px_embedded_abort(const pmix_proc_t *proc, void *object PX_UNUSED,
                                int status, const char msg[], pmix_proc_t procs[],
                                size_t n, pmix_op_cbfunc_t cb PX_UNUSED,
                                void *cbdata PX_UNUSED)
{
    struct px_embedded *host = px_embedded_host();
    struct px_failure f = {.status = PMIX_ERR_PROC_REQUESTED_ABORT, .rank = proc->rank};
    bool has_text = msg && *msg;
    size_t n_known = 0;

    /* What a process can exit with has eight bits; an abort is never a success. */
    f.exit_code = status & 0xff ? status & 0xff : 1;
    snprintf(f.text, sizeof(f.text), "called abort with status %d%s%s", status,
             has_text ? ": " : "", has_text ? msg : "");
    for (size_t i = 0; i < (n ? n : 1); i++) {
        struct px_job *job = px_job_find(host, n ? procs[i].nspace : proc->nspace);

        if (!job)
            continue;
        abort_job(job, &f, proc);
        n_known++;
    }
    /* Else they were started by somebody else, whose business it is. */
    return n_known > 0 ? PMIX_OPERATION_SUCCEEDED : PMIX_ERR_NOT_SUPPORTED;
}

/* ---- job control ----------------------------------------------------------------- */

enum action { SIGNAL, TERMINATE, KILL };

struct order {
    enum action action;
    int signum;
};

static pmix_status_t read_order(const pmix_info_t *info, size_t n, struct order *order)
{
    const pmix_info_t *sig = px_info_find(info, n, PMIX_JOB_CTRL_SIGNAL);
    int64_t number;

    if (px_info_flag(info, n, PMIX_JOB_CTRL_KILL)) {
        *order = (struct order){KILL, SIGKILL};
    } else if (px_info_flag(info, n, PMIX_JOB_CTRL_TERMINATE)) {
        *order = (struct order){TERMINATE, SIGTERM};
    } else if (sig) {
        if (!px_value_to_i64(&sig->value, &number) || number < 1 || number >= NSIG)
            return PMIX_ERR_BAD_PARAM;
        *order = (struct order){SIGNAL, (int)number};
    } else {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    return PMIX_SUCCESS;
}

static void carry_out(struct px_job *job, const struct order *order)
{
    if (order->action == SIGNAL)
        px_job_signal(job, order->signum);
    else if (order->action == TERMINATE)
        px_job_end(job, PMIX_ERR_JOB_KILLED_BY_CMD);
    else
        px_job_kill(job, PMIX_ERR_JOB_KILLED_BY_CMD);
}

/* To end one process is to send it a signal: what that means for its job is as ever. */
static void carry_out_for(struct px_embedded *host, const pmix_proc_t *target,
                          const struct order *order)
{
    struct px_task *task = px_task_find(host, target);

    if (!task)
        carry_out(px_job_find(host, target->nspace), order);
    else
        px_task_signal(task, order->signum);
}

static bool is_known(const struct px_embedded *host, const pmix_proc_t *target)
{
    if (target->rank == PMIX_RANK_WILDCARD)
        return px_job_find(host, target->nspace) != NULL;
    return px_task_find(host, target) != NULL;
}

pmix_status_t px_embedded_control(const pmix_proc_t *requestor,
                                  const pmix_proc_t targets[], size_t n_targets,
                                  const pmix_info_t directives[], size_t n,
                                  pmix_info_cbfunc_t cb PX_UNUSED,
                                  void *cbdata PX_UNUSED)
{
    struct px_embedded *host = px_embedded_host();
    bool from_server = px_proc_same(requestor, &host->server->proc);
    struct order order;
    pmix_status_t rc = read_order(directives, n, &order);

    for (size_t i = 0; !rc && i < n_targets; i++)
        if (!is_known(host, &targets[i]))
            rc = PMIX_ERR_NOT_FOUND;
    if (rc)
        return rc;
    for (size_t i = 0; i < n_targets; i++)
        carry_out_for(host, &targets[i], &order);
    /* Without targets: what is the requestor's. */
    PX_LIST_EACH (&host->jobs, struct px_job, job, link)
        if (n_targets == 0 &&
            (from_server || strcmp(job->proc.nspace, requestor->nspace) == 0))
            carry_out(job, &order);
    return PMIX_OPERATION_SUCCEEDED;
}

/* ---- queries --------------------------------------------------------------------- */

static pmix_status_t list_jobs(const struct px_embedded *host, px_infos *out)
{
    PX_AUTO(px_strv) names = NULL;
    PX_AUTOFREE char *text = NULL;

    PX_LIST_EACH (&host->jobs, struct px_job, job, link)
        if (job->stage != PX_JOB_ENDED && px_strv_append(&names, job->proc.nspace))
            return PMIX_ERR_NOMEM;
    text = px_strv_join(names, ',');
    return text ? px_infos_add(out, PMIX_QUERY_NAMESPACES, text, PMIX_STRING)
                : PMIX_ERR_NOMEM;
}

static pmix_proc_state_t state_of(const struct px_task *task)
{
    if (task->running)
        return task->connected ? PMIX_PROC_STATE_CONNECTED : PMIX_PROC_STATE_RUNNING;
    return task->wait_status == 0 ? PMIX_PROC_STATE_TERMINATED
                                  : PMIX_PROC_STATE_ABORTED;
}

static pmix_status_t list_tasks(const struct px_embedded *host, const char *key,
                                const pmix_query_t *query, px_infos *out)
{
    const char *nspace = px_info_str(query->qualifiers, query->nqual, PMIX_NSPACE);
    const struct px_job *job = nspace ? px_job_find(host, nspace) : NULL;
    PX_AUTOFREE pmix_proc_info_t *table = NULL;
    pmix_data_array_t array = {.type = PMIX_PROC_INFO};

    if (!job)
        return nspace ? PMIX_ERR_NOT_FOUND : PMIX_ERR_BAD_PARAM;
    table = calloc(job->n_tasks, sizeof(*table));
    if (!table)
        return PMIX_ERR_NOMEM;
    for (uint32_t r = 0; r < job->n_tasks; r++) {
        const struct px_task *task = &job->tasks[r];
        pmix_proc_info_t *row = &table[r];

        px_proc_set(&row->proc, job->proc.nspace, r);
        row->hostname = px_process.model->hostname; /* borrowed, as all: copied below */
        row->executable_name = job->plan.apps[task->app].program;
        row->pid = task->pid;
        row->exit_code = task->running ? 0 : task->wait_status;
        row->state = state_of(task);
    }
    array.size = job->n_tasks;
    array.array = table;
    return px_infos_add(out, key, &array, PMIX_DATA_ARRAY);
}

static pmix_status_t answer_key(const struct px_embedded *host, const char *key,
                                const pmix_query_t *query, px_infos *out)
{
    if (strcmp(key, PMIX_QUERY_NAMESPACES) == 0)
        return list_jobs(host, out);
    if (strcmp(key, PMIX_QUERY_PROC_TABLE) == 0 ||
        strcmp(key, PMIX_QUERY_LOCAL_PROC_TABLE) == 0)
        return list_tasks(host, key, query, out);
    return PMIX_ERR_NOT_SUPPORTED;
}

pmix_status_t px_embedded_query(pmix_proc_t *requestor PX_UNUSED, pmix_query_t *queries,
                                size_t n, pmix_info_cbfunc_t cb, void *cbdata)
{
    PX_AUTO(px_infos) found = {0};
    pmix_status_t first = PMIX_SUCCESS;

    for (size_t q = 0; q < n; q++) {
        for (char **key = queries[q].keys; key && *key; key++) {
            pmix_status_t rc = answer_key(px_embedded_host(), *key, &queries[q],
                                          &found);

            if (rc == PMIX_ERR_NOMEM)
                return rc;
            if (!first)
                first = rc;
        }
    }
    if (first && found.n == 0)
        return first;
    cb(first ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS, found.v, found.n, cbdata, NULL,
       NULL);
    return PMIX_SUCCESS;
}
