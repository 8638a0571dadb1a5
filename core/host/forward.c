/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding of the streams of processes: functions of the host module. */
#include "core/host/job.h"

#include <stdlib.h>

#include "core/server/host.h"

/* Checks the processes only. Each stream asks the server for its receivers. */
pmix_status_t px_iof_pull(const pmix_proc_t procs[], size_t n_procs,
                          const pmix_info_t directives[] PX_UNUSED, size_t n PX_UNUSED,
                          pmix_iof_channel_t channels, pmix_op_cbfunc_t cb PX_UNUSED,
                          void *cbdata PX_UNUSED)
{
    const struct px_launcher *l = px_server_builtin_self();

    for (size_t i = 0; channels && i < n_procs; i++)
        if (!px_launcher_has(l, &procs[i]))
            return PMIX_ERR_NOT_FOUND;
    return PMIX_OPERATION_SUCCEEDED;
}

/* Lists the feeds of a target, except feeds that an earlier target of this push
 * listed. */
static size_t list_feeds(const struct px_launch_job *job, pmix_rank_t rank,
                         struct px_feed **feeds)
{
    size_t n = 0;

    bool all = rank == PMIX_RANK_WILDCARD;

    for (uint32_t r = all ? 0 : rank; r <= (all ? job->n_tasks - 1 : rank); r++) {
        struct px_feed *f = px_task_feed(&job->tasks[r]);

        if (!f || f->marked)
            continue;
        f->marked = true;
        feeds[n++] = f;
    }
    return n;
}

pmix_status_t px_iof_push(const pmix_proc_t *source PX_UNUSED,
                          const pmix_proc_t targets[], size_t n_targets,
                          const pmix_info_t directives[], size_t n_directives,
                          const pmix_byte_object_t *bytes, pmix_op_cbfunc_t cb,
                          void *cbdata)
{
    const struct px_launcher *l = px_server_builtin_self();
    bool ends = !bytes || bytes->size == 0 ||
                px_info_flag(directives, n_directives, PMIX_IOF_COMPLETE);
    PX_AUTOFREE struct px_feed **feeds = NULL;
    size_t room = 0, n = 0;

    for (size_t i = 0; i < n_targets; i++) {
        const struct px_launch_job *job = px_job_find(l, targets[i].nspace);
        pmix_rank_t rank = targets[i].rank;

        if (!px_launcher_has(l, &targets[i]))
            return PMIX_ERR_NOT_FOUND;
        /* A process without a feed has another stdin. */
        if (rank == PMIX_RANK_WILDCARD ? !job->n_feeds
                                       : !px_task_feed(&job->tasks[rank]))
            return PMIX_ERR_NOT_SUPPORTED;
        room += rank == PMIX_RANK_WILDCARD ? job->n_feeds : 1;
    }
    feeds = calloc(room + 1, sizeof(struct px_feed *));
    if (!feeds)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; i < n_targets; i++)
        n += list_feeds(px_job_find(l, targets[i].nspace), targets[i].rank, feeds + n);
    for (size_t i = 0; i < n; i++)
        feeds[i]->marked = false;
    return px_feed_push(feeds, n, bytes ? bytes->bytes : NULL, bytes ? bytes->size : 0,
                        ends, cb, cbdata);
}
