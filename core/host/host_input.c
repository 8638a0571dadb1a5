/* SPDX-License-Identifier: BSD-3-Clause */
/* The input of a job's processes. Our own stdin goes to one process as it is, or is
 * read here for all. Otherwise other processes push the input. */
#include "core/host/job.h"

#include <fcntl.h>
#include <stdlib.h>

#include "core/server/host.h"

struct px_feed *px_task_feed(const struct px_task *task)
{
    const struct px_launch_job *job = task->job;
    bool has = job->plan.stdin_rank == PMIX_RANK_WILDCARD ||
               job->plan.stdin_rank == task->rank;

    return has && job->n_feeds > 0 ? &job->feeds[job->n_feeds > 1 ? task->rank : 0]
                                   : NULL;
}

/* Ends pushed input when the parent of the job ends, or at once if the parent is
 * gone. */
static pmix_status_t await_pushes(struct px_launch_job *job, struct px_err *err)
{
    pmix_status_t rc = px_server_iof_feed(job->launcher->server, &job->parent,
                                          job->proc.nspace);
    bool gone = rc == PMIX_ERR_NOT_FOUND && job->parent_is_here;

    rc = gone ? PMIX_OPERATION_SUCCEEDED : rc;
    for (size_t i = 0; gone && rc == PMIX_OPERATION_SUCCEEDED && i < job->n_feeds;
         i++) {
        struct px_feed *feed = &job->feeds[i];

        rc = px_feed_push(&feed, 1, NULL, 0, true, NULL, NULL);
    }
    return rc == PMIX_ERR_NOMEM ? px_err_nomem(err, "pass on stdin") : PMIX_SUCCESS;
}

pmix_status_t px_job_open_input(struct px_launch_job *job, struct px_err *err)
{
    const px_plan *plan = &job->plan;
    bool to_all = plan->stdin_rank == PMIX_RANK_WILDCARD;
    size_t n = to_all ? job->n_tasks : 1;
    int fd;

    if (plan->stdin_rank == PMIX_RANK_UNDEF ||
        (!plan->stdin_pushed && !to_all &&
         !plan->apps[job->tasks[plan->stdin_rank].app].pty && px_input_is_shared(&fd)))
        return PMIX_SUCCESS;
    job->feeds = calloc(n, sizeof(*job->feeds));
    if (!job->feeds)
        return px_err_nomem(err, "pass on stdin");
    job->n_feeds = n;
    for (size_t i = 0; i < n; i++)
        px_feed_init(&job->feeds[i], job->launcher->loop);
    return plan->stdin_pushed
               ? await_pushes(job, err)
               : px_input_open(job->launcher->loop, job->feeds, n, &job->input, err);
}

void px_job_close_input(struct px_launch_job *job)
{
    px_input_close(px_take(&job->input));
    for (size_t i = 0; i < job->n_feeds; i++)
        px_feed_shut(&job->feeds[i]);
}

pmix_status_t px_task_open_input(struct px_task *task, int *fd, int terminal,
                                 struct px_err *err)
{
    struct px_feed *feed = px_task_feed(task);
    struct px_launch_job *job = task->job;
    pmix_status_t rc = PMIX_SUCCESS;

    if (feed && terminal >= 0) {
        terminal = fcntl(terminal, F_DUPFD_CLOEXEC, 3);
        rc = terminal < 0 ? px_err_errno(err, "cannot write to a terminal")
                          : px_feed_open_terminal(feed, terminal, err);
    } else if (feed) {
        rc = px_feed_open(feed, fd, err);
    } else {
        *fd = -1;
    }
    if (!feed && task->rank == job->plan.stdin_rank)
        (void)px_input_is_shared(fd);
    if (feed && job->input) /* input may have stopped for want of a reader */
        px_input_go_on(job->input);
    return rc;
}
