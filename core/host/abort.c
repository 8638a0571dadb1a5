/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Abort. Ends the named processes only. The other processes of their job end or go
 * on as after any failure of a process. */
#include "core/host/job.h"

#include <stdio.h>
#include <string.h>

#include "core/base/ranges.h"
#include "core/server/host.h"

struct request {
    const pmix_proc_t *caller;
    int status;
    const char *text;   /* NULL: no message, or already reported */
    pmix_rank_t *ranks; /* result list with room for the ranks of any job; NULL: ranks
                         * are not reported */
};

static bool is_wildcard(pmix_rank_t rank)
{
    return rank == PMIX_RANK_WILDCARD || rank == PMIX_RANK_LOCAL_NODE ||
           rank == PMIX_RANK_LOCAL_PEERS;
}

static bool is_known(const struct px_launcher *l, const pmix_proc_t *target)
{
    return is_wildcard(target->rank) ? px_job_find(l, target->nspace) != NULL
                                     : px_task_find(l, target) != NULL;
}

static void name_tasks(const struct px_launcher *l, const pmix_proc_t *target)
{
    struct px_launch_job *job = px_job_find(l, target->nspace);

    if (!is_wildcard(target->rank))
        job->tasks[target->rank].named = true;
    else
        for (uint32_t r = 0; r < job->n_tasks; r++)
            job->tasks[r].named = true;
}

/* Appends the caller's message to the failure's text, cut between characters. */
static void add_message(struct px_failure *f, const char *message)
{
    size_t at = strlen(f->text), len = strlen(message), kept = len;

    if (len > PX_ABORT_TEXT_B) {
        kept = PX_ABORT_TEXT_B;
        while (kept > 0 && (message[kept] & 0xc0) == 0x80)
            kept--;
    }
    at += (size_t)snprintf(f->text + at, sizeof(f->text) - at, ": %.*s", (int)kept,
                           message);
    if (kept < len)
        snprintf(f->text + at, sizeof(f->text) - at, "... (cut, %zu bytes in all)",
                 len);
}

/* Describes the abort of n processes. all: no other process of the job still runs. */
static struct px_failure describe(const struct px_launch_job *job,
                                  const struct request *q, uint32_t n, bool all)
{
    const char *job_name = job->proc.nspace;
    bool own = strcmp(job_name, q->caller->nspace) == 0;
    PX_AUTOFREE char *list = q->ranks ? px_ranges_format(q->ranks, n) : NULL;
    /* An exit status has eight bits; an abort is never a success. */
    struct px_failure f = {.status = PMIX_ERR_PROC_REQUESTED_ABORT,
                           .verdict = PMIX_ERR_JOB_ABORTED,
                           .rank = q->caller->rank,
                           .whole = all,
                           .exit_code = q->status & 0xff ? q->status & 0xff : 1};
    char what[PMIX_MAX_NSLEN + 64];

    if (!own)
        PMIx_Load_nspace(f.nspace, q->caller->nspace);
    if (all && own)
        snprintf(what, sizeof(what), "called abort");
    else if (all)
        snprintf(what, sizeof(what), "aborted job %s", job_name);
    else
        snprintf(what, sizeof(what), "aborted rank%s %.32s%s%s", n > 1 ? "s" : "",
                 list ? list : "?", own ? "" : " of ", own ? "" : job_name);
    snprintf(f.text, sizeof(f.text), "%s with status %d%s", what, q->status,
             all                           ? ""
             : px_plan_goes_on(&job->plan) ? "; the others go on"
                                           : "; the job ends");
    if (q->text)
        add_message(&f, q->text);
    return f;
}

/* Notes a process that was dying before the abort, which may be the reason for it. */
static bool note_lost(void *arg, pmix_rank_t rank)
{
    struct px_launch_job *job = arg;

    if (rank < job->n_tasks)
        job->tasks[rank].was_lost |= !job->tasks[rank].aborted;
    return false;
}

/* Aborts the named processes that run and were not aborted before. */
static void abort_named(struct px_launch_job *job, struct request *q)
{
    uint32_t n = 0, n_others = 0;

    (void)px_server_any_lost(job->proc.nspace, 0, note_lost, job);
    for (uint32_t r = 0; r < job->n_tasks; r++) {
        struct px_task *task = &job->tasks[r];
        bool counts = task->running && !task->aborted;

        n_others += counts && !task->named;
        task->aborted |= counts && task->named;
        if (counts && task->named && q->ranks)
            q->ranks[n] = r;
        n += counts && task->named;
    }
    if (n > 0) {
        const struct px_failure f = describe(job, q, n, n_others == 0);

        px_job_fail(job, &f);
        q->text = NULL;
    }
    for (uint32_t r = 0; r < job->n_tasks; r++) {
        struct px_task *task = &job->tasks[r];

        if (task->named && task->running && !task->timer && !job->end)
            px_task_end(task);
        task->named = false;
    }
}

pmix_status_t px_abort(const pmix_proc_t *proc, void *object PX_UNUSED, int status,
                       const char msg[], pmix_proc_t procs[], size_t n,
                       pmix_op_cbfunc_t cb PX_UNUSED, void *cbdata PX_UNUSED)
{
    struct px_launcher *l = px_server_builtin_self();
    PX_AUTOFREE pmix_rank_t *ranks = calloc(PX_MAX_TASKS, sizeof(*ranks));
    struct request q = {proc, status, msg && *msg ? msg : NULL, ranks};
    pmix_proc_t all;

    px_proc_set(&all, proc->nspace, PMIX_RANK_WILDCARD);
    if (n == 0) {
        procs = &all;
        n = 1;
    }
    for (size_t i = 0; i < n; i++)
        if (!is_known(l, &procs[i]))
            return PMIX_ERR_NOT_FOUND;
    for (size_t i = 0; i < n; i++)
        name_tasks(l, &procs[i]);
    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link)
        abort_named(job, &q);
    return PMIX_OPERATION_SUCCEEDED;
}
