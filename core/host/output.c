/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of a job's processes: how it is marked, where it goes; and what is shown
 * of the job before. */
#include "core/host/job.h"

#include <fcntl.h>
#include <stdio.h>

#include "core/base/fd.h"
#include "core/model/nspace.h"
#include "core/base/str.h"
#include "core/model/nspace.h"
#include "core/topo/topo.h"

/* Output that cannot be written is a failure of the processes that wrote it. */
static const struct px_failure not_written = {.status = PMIX_ERR_IOF_FAILURE,
                                              .verdict = PMIX_ERR_IOF_FAILURE,
                                              .rank = PMIX_RANK_UNDEF,
                                              .exit_code = 1,
                                              .text = "its output cannot be written"};

static void on_output_broken(void *arg)
{
    struct px_launcher *l = arg;

    PX_LIST_EACH (&l->jobs, struct px_launch_job, job, link)
        px_job_fail(job, &not_written);
}

static void on_broken_file(void *arg)
{
    px_job_fail(((struct px_task_output *)arg)->task->job, &not_written);
}

/* False if its lines are not marked. The pid is known once there is a process. */
static bool make_marks(const struct px_task *task, int which, struct px_marks *marks)
{
    const struct px_launch_job *job = task->job;
    const struct px_output_plan *plan = &job->plan.apps[task->app].output;
    char id[PMIX_MAX_NSLEN + 32] = "", details[300] = "";

    if (plan->tag_full)
        snprintf(id, sizeof(id), "[%s,%u]", job->proc.nspace, task->rank);
    else if (plan->tag || plan->tag_detailed)
        snprintf(id, sizeof(id), "[%u,%u]", job->number, task->rank);
    else if (plan->tag_rank)
        snprintf(id, sizeof(id), "[%u]", task->rank);
    if (plan->tag_detailed)
        snprintf(details, sizeof(details), "[%s:%ld]", px_process.model->hostname,
                 (long)task->pid);
    *marks = (struct px_marks){.timed = plan->timed};
    snprintf(marks->source, sizeof(marks->source), "%s%s<%s>:", id, details,
             px_channel_names[which]);
    return plan->timed || *id;
}

static pmix_status_t open_stream(struct px_task *task, int which, int *write_end,
                                 struct px_err *err)
{
    struct px_task_output *output = &task->outputs[which];
    const struct px_file *file = output->file;
    struct px_marks marks;
    const struct px_stream_way way = {
        .which = file && task->job->plan.apps[task->app].output.files_only ? -1 : which,
        .marks = make_marks(task, which, &marks) ? &marks : NULL,
        .file = file ? file->fd : -1,
        .file_name = file ? file->to : NULL,
        .done = px_job_stream_ended,
        .on_broken_file = on_broken_file,
        .arg = output};
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return px_err_errno(err, "cannot make a pipe");
    PX_AUTOCLOSE int read_end = ends[0];
    *write_end = ends[1];
    pmix_status_t rc = px_fd_nonblock(read_end); /* which is ours alone */
    if (!rc)
        rc = px_stream_open(&task->job->launcher->output, &way, read_end,
                            &output->stream);
    if (rc)
        return px_err_set(err, rc, "cannot read from a pipe: %s",
                          PMIx_Error_string(rc));
    (void)px_take_fd(&read_end);
    task->job->n_streams += output->stream != NULL;
    return PMIX_SUCCESS;
}

/* A host that starts nothing leaves its stdout and stderr alone. */
static struct px_output *begin(struct px_launcher *l)
{
    if (!l->output.loop)
        px_output_init(&l->output, px_process.loop, on_output_broken, l);
    return &l->output;
}

pmix_status_t px_task_open_output(struct px_task *task, int fds[2], struct px_err *err)
{
    (void)begin(task->job->launcher);
    pmix_status_t rc = open_stream(task, 0, &fds[0], err);
    /* One pipe for both keeps the order in which they are written. */
    if (!rc && task->job->plan.apps[task->app].output.merged)
        fds[1] = fds[0];
    else if (!rc)
        rc = open_stream(task, 1, &fds[1], err);
    return rc;
}

pmix_status_t px_job_show_seats(struct px_launch_job *job, struct px_err *err)
{
    const px_plan *plan = &job->plan;
    pmix_topology_t node = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    if (plan->seats)
        (void)px_topo_here(&node);
    for (int i = 0; !rc && i < 2; i++) {
        if (i == 0 ? !plan->shows_map : !plan->shows_bindings)
            continue;
        PX_AUTOFREE char *map = px_place_map(
            node.topology, i == 0 || plan->binds ? plan->seats : NULL, job->n_tasks);
        char *text = map ? px_strf("%s of job %s on %s:\n%s", i ? "bindings" : "map",
                                   job->proc.nspace, px_process.model->hostname, map)
                         : NULL;
        struct px_task_output *to = &job->notices[i];

        to->task = job->tasks;
        job->n_streams++;
        rc = text ? px_stream_say(begin(job->launcher), i, text, px_job_stream_ended,
                                  to, &to->stream)
                  : PMIX_ERR_NOMEM;
        if (rc) {
            job->n_streams--;
            free(text);
            px_err_nomem(err, "show where processes go");
        }
    }
    return rc;
}

void px_task_mark_output(struct px_task *task)
{
    struct px_marks marks;

    for (int i = 0; i < 2; i++)
        if (make_marks(task, i, &marks))
            px_stream_set_marks(task->outputs[i].stream, &marks);
}
