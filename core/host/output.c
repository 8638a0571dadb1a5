/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of a job's processes: how it is marked, where it goes; and what is shown
 * of the job before. */
#include "core/host/job.h"

#include <stdio.h>
#include <string.h>

#include "core/base/str.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/server/host.h"
#include "core/topo/topo.h"

/* Output that cannot be written is a failure of the processes that wrote it. */
static const struct px_failure not_written = {.status = PMIX_ERR_IOF_FAILURE,
                                              .verdict = PMIX_ERR_IOF_FAILURE,
                                              .rank = PMIX_RANK_UNDEF,
                                              .exit_code = 1,
                                              .text = "its output cannot be written"};

/* Once, of all the streams of the job that this befalls. */
static bool on_broken(void *arg)
{
    struct px_launch_job *job = ((struct px_task_output *)arg)->task->job;
    const bool goes_on = !job->launcher->output_required;

    if (!job->unwritten && !goes_on)
        px_job_fail(job, &not_written);
    job->unwritten = true;
    return goes_on;
}

/* number: room for the job's number. The pid is known once there is a process. */
static struct px_iof_origin origin_of(const struct px_task *task, int which,
                                      char number[16])
{
    snprintf(number, 16, "%u", task->job->number);
    return (struct px_iof_origin){.nspace = task->job->proc.nspace,
                                  .job = number,
                                  .rank = task->rank,
                                  .channel = px_channel_names[which],
                                  .host = px_process.model->hostname,
                                  .pid = task->pid};
}

static const pmix_iof_channel_t channels[2] = {PMIX_FWD_STDOUT_CHANNEL,
                                               PMIX_FWD_STDERR_CHANNEL};

/* ---- for those that pull it ------------------------------------------------------ */

/* Outlives the output while the server has something of it. */
struct px_output_tap {
    struct px_task_output *output; /* NULL: that has ended */
    pmix_proc_t source;
    pmix_iof_channel_t channel;
    unsigned n_held; /* deliveries that wait for room */
    bool fails;      /* the server has not taken all, which was said */
};

static void on_room(pmix_status_t status PX_UNUSED, void *cbdata)
{
    struct px_output_tap *tap = cbdata;

    if (--tap->n_held > 0)
        return;
    if (tap->output)
        px_stream_resume(tap->output->stream);
    else
        free(tap);
}

void px_task_output_drop(struct px_task_output *o)
{
    struct px_output_tap *tap = px_take(&o->tap);

    px_stream_close(px_take(&o->stream));
    if (!tap)
        return;
    tap->output = NULL;
    if (tap->n_held == 0)
        free(tap);
}

/* Before the first tool has come the last of it is kept, and so it is of a job that
 * some process has spawned, which may pull it then. */
static unsigned deliver(void *arg, const uint8_t *bytes, size_t n)
{
    const struct px_task_output *o = arg;
    const struct px_launch_job *job = o->task->job;
    struct px_server *srv = job->launcher->server;
    struct px_output_tap *tap = o->tap;
    const pmix_byte_object_t piece = {(char *)bytes, n};
    enum px_iof_interest who = px_server_iof_interest(srv, &tap->source, tap->channel);
    bool pulled = who >= PX_IOF_COPIED;
    pmix_info_t drop = {.key = PMIX_IOF_DROP_OLDEST, .value.type = PMIX_BOOL};
    pmix_status_t rc;

    if (n == 0 && job->plan.apps[o->task->app].max_restarts > 0)
        return tap->n_held > 0 ? PX_TAP_HOLDS : 0u; /* there may be more */
    if (who == PX_IOF_NOBODY && px_proc_same(&job->parent, px_server_name(srv)))
        return 0;
    drop.value.data.flag = true;
    rc = px_server_iof_deliver(srv, &tap->source, tap->channel, &piece, &drop,
                               pulled ? 0 : 1, on_room, tap);
    tap->n_held += rc == PMIX_SUCCESS;
    if (rc && rc != PMIX_OPERATION_SUCCEEDED && pulled && !tap->fails)
        px_log(PX_LOG_ERROR, "output",
               "%zu bytes of rank %u of %s are not forwarded: %s", n, tap->source.rank,
               tap->source.nspace, PMIx_Error_string(rc));
    tap->fails |= pulled && rc && rc != PMIX_OPERATION_SUCCEEDED;
    return (pulled ? PX_TAP_TAKES : 0u) |
           (who == PX_IOF_REDIRECTED ? PX_TAP_ALONE : 0u) |
           (tap->n_held > 0 ? PX_TAP_HOLDS : 0u);
}

static pmix_status_t make_tap(struct px_task_output *o, int which)
{
    px_task_output_drop(o); /* of an earlier life that had no stream */
    o->tap = calloc(1, sizeof(*o->tap));
    if (!o->tap)
        return PMIX_ERR_NOMEM;
    o->tap->output = o;
    o->tap->source = px_task_name(o->task);
    o->tap->channel = channels[which];
    return PMIX_SUCCESS;
}

/* ---- where it goes --------------------------------------------------------------- */

/* Takes fd on success. */
static pmix_status_t open_stream(struct px_task *task, int which, int *fd,
                                 struct px_err *err)
{
    struct px_task_output *output = &task->outputs[which];
    struct px_launch_job *job = task->job;
    const struct px_app_plan *app = &job->plan.apps[task->app];
    const struct px_output_plan *plan = &app->output;
    struct px_iof_way how = plan->way;
    struct px_file *file = output->file;
    struct px_piof_target target = {.size = sizeof(target), .fd = file ? file->fd : -1};
    pmix_status_t rc = PMIX_SUCCESS;
    char number[16];

    if (file && !file->sink)
        rc = px_iof_sink_open(&target, file->to, &file->sink, err);
    if (!rc && make_tap(output, which))
        rc = px_err_nomem(err, "forward output");
    if (rc)
        return rc;
    if (app->pty && how.gather_b == 0 && how.gather_ms == PX_IOF_FOR_EVER)
        how.gather_ms = PX_IOF_TERMINAL_MS;
    rc = px_stream_open(
        &(struct px_stream_way){
            .how = how,
            .origin = origin_of(task, which, number),
            .sink = file && plan->files_only ? NULL : job->launcher->std->of[which],
            .copy = file ? file->sink : NULL,
            .tap = deliver,
            .is_tapped = px_server_iof_interest(job->launcher->server,
                                                &output->tap->source,
                                                channels[which]) >= PX_IOF_COPIED,
            .done = px_job_stream_ended,
            .on_broken = on_broken,
            .arg = output},
        *fd, &output->stream);
    if (rc)
        return px_err_set(err, rc, "cannot read from a process: %s",
                          PMIx_Error_string(rc));
    (void)px_take_fd(fd);
    job->n_streams += output->stream != NULL;
    return PMIX_SUCCESS;
}

/* A host that starts nothing leaves its stdout and stderr alone. */
static pmix_status_t begin(struct px_launcher *l, struct px_err *err)
{
    return !l->std && px_iof_std_get(&l->std) ? px_err_nomem(err, "write output")
                                              : PMIX_SUCCESS;
}

pmix_status_t px_task_open_streams(struct px_task *task, int fds[3], struct px_err *err)
{
    const struct px_app_plan *app = &task->job->plan.apps[task->app];
    const struct px_piof_source wanted = {.size = sizeof(wanted),
                                          .kind = app->pty ? PX_PIOF_TERMINAL
                                                           : PX_PIOF_PIPES,
                                          .merged = app->output.way.merged,
                                          .termios = app->termios,
                                          .winsize = app->winsize};
    struct px_piof_ends ends;
    pmix_status_t rc = begin(task->job->launcher, err);

    if (!rc)
        rc = px_iof_source_open(&wanted, &ends, err);
    if (rc)
        return rc;
    memcpy(fds, ends.child, 3 * sizeof(int));
    rc = px_task_open_input(task, &fds[0], app->pty ? ends.ours[0] : -1, err);
    for (int i = 0; i < 2; i++) {
        PX_AUTOCLOSE int fd = ends.ours[i + 1];

        if (!rc && fd >= 0)
            rc = open_stream(task, i, &fd, err);
    }
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
        rc = text ? begin(job->launcher, NULL) : PMIX_ERR_NOMEM;
        if (!rc)
            rc = px_stream_say(job->launcher->std->of[i], text, px_job_stream_ended, to,
                               &to->stream);
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
    for (int i = 0; i < 2; i++) {
        char number[16];
        const struct px_iof_origin origin = origin_of(task, i, number);

        px_stream_set_origin(task->outputs[i].stream, &origin);
    }
}
