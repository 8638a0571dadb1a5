/* SPDX-License-Identifier: BSD-3-Clause */
/* Output of a job's processes: marks, destinations, and the map that is shown
 * before. */
#include "core/host/job.h"

#include <errno.h>
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

/* Fails the job for the first stream that cannot be written, if output is required. */
static bool on_broken(void *arg)
{
    struct px_launch_job *job = ((struct px_task_output *)arg)->task->job;
    const bool goes_on = !job->launcher->output_required;

    if (!job->unwritten && !goes_on)
        px_job_fail(job, &not_written);
    job->unwritten = true;
    return goes_on;
}

/* Returns the origin of an output. number: room for the job's number. The pid is 0
 * before the process has started. */
static struct px_iof_origin origin_of(const struct px_task *task, int which,
                                      char number[16])
{
    snprintf(number, 16, "%u", task->job->number);
    return (struct px_iof_origin){.nspace = task->job->proc.nspace,
                                  .job = number,
                                  .rank = task->rank,
                                  .channel = px_channel_names[which],
                                  .host = task->job->launcher->model->hostname,
                                  .pid = task->pid};
}

static const pmix_iof_channel_t channels[2] = {PMIX_FWD_STDOUT_CHANNEL,
                                               PMIX_FWD_STDERR_CHANNEL};

/* ---- output for tools that pull it ---------------------------------------------- */

/* Path of an output into the server: raw bytes for tools, or formatted lines for the
 * parent. Outlives the output while the server holds bytes. */
struct px_output_tap {
    struct px_task_output *output; /* NULL: the output has ended */
    struct px_iof_sink *sink;      /* for the parent's lines; NULL: raw bytes */
    pmix_proc_t source;
    pmix_iof_channel_t channel;
    unsigned n_held; /* deliveries that wait for room */
    bool fails;      /* the server refused bytes, and that was logged */
};

static void on_room(pmix_status_t status PX_UNUSED, void *cbdata)
{
    struct px_output_tap *tap = cbdata;

    if (--tap->n_held > 0)
        return;
    if (!tap->output)
        free(tap);
    else if (tap->sink)
        px_iof_sink_has_room(tap->sink);
    else
        px_stream_resume(tap->output->stream);
}

static void drop_tap(struct px_output_tap *tap)
{
    if (!tap)
        return;
    px_iof_sink_close(px_take(&tap->sink));
    tap->output = NULL;
    if (tap->n_held == 0)
        free(tap);
}

void px_task_output_drop(struct px_task_output *o)
{
    px_stream_close(px_take(&o->stream));
    drop_tap(px_take(&o->tap));
    drop_tap(px_take(&o->forward));
}

/* Delivers bytes to the server. Before the first tool pulls, the server keeps the last
 * bytes of jobs that other processes spawned. */
static unsigned deliver(void *arg, const uint8_t *bytes, size_t n)
{
    struct px_task_output *o = arg;
    const struct px_launch_job *job = o->task->job;
    struct px_server *srv = job->launcher->server;
    struct px_output_tap *tap = o->tap;
    const pmix_byte_object_t piece = {(char *)bytes, n};
    enum px_iof_interest who = px_server_iof_interest(srv, &tap->source, tap->channel);
    bool pulled = who >= PX_IOF_COPIED;
    /* Readers may add these two infos to lines. PMIX_IOF_DROP_OLDEST is for kept
     * output. */
    pmix_info_t info[] = {{.key = PMIX_IOF_DROP_OLDEST, .value.type = PMIX_BOOL},
                          {.key = PMIX_HOSTNAME, .value.type = PMIX_STRING},
                          {.key = PMIX_PROC_PID, .value.type = PMIX_PID}};
    unsigned skipped = pulled ? 1 : 0;
    pmix_status_t rc;

    o->n_b += n;
    if (n == 0 && job->plan.apps[o->task->app].max_restarts > 0)
        return tap->n_held > 0 ? PX_TAP_HOLDS : 0u; /* the process may be restarted and
                                                     * write more */
    if (who == PX_IOF_NONE &&
        (o->forward || px_proc_same(&job->parent, px_server_name(srv))))
        return 0;
    info[0].value.data.flag = true;
    info[1].value.data.string = job->launcher->model->hostname;
    info[2].value.data.pid = o->task->pid;
    rc = px_server_iof_deliver(srv, &tap->source, tap->channel, &piece, info + skipped,
                               PX_COUNT(info) - skipped, false, on_room, tap);
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

static pmix_status_t make_tap(struct px_task_output *o, int which,
                              struct px_output_tap **tap)
{
    *tap = calloc(1, sizeof(**tap));
    if (!*tap)
        return PMIX_ERR_NOMEM;
    **tap = (struct px_output_tap){
        .output = o, .source = px_task_name(o->task), .channel = channels[which]};
    return PMIX_SUCCESS;
}

/* ---- output for the process that spawned the job --------------------------------- */

/* Writes all bytes or none. Fails with EPIPE if the parent has gone. */
static ssize_t write_forward(void *arg, const struct iovec *v, int n PX_UNUSED)
{
    struct px_output_tap *tap = arg;
    struct px_server *srv = tap->output->task->job->launcher->server;
    const char *bytes = v->iov_base;
    const pmix_byte_object_t piece = {v->iov_base, v->iov_len};
    /* An unfinished line that was not held here is not held by the receiver either. */
    pmix_info_t raw = {.key = PMIX_IOF_OUTPUT_RAW, .value.type = PMIX_BOOL};
    pmix_status_t rc;

    if (tap->n_held > 0) {
        errno = EAGAIN;
        return -1;
    }
    raw.value.data.flag = true;
    rc = px_server_iof_deliver(srv, &tap->source, tap->channel, &piece, &raw,
                               v->iov_len > 0 && bytes[v->iov_len - 1] != '\n', true,
                               on_room, tap);
    if (rc == PMIX_SUCCESS)
        tap->n_held++;
    if (rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED)
        return (ssize_t)v->iov_len;
    if (rc != PMIX_ERR_NOT_FOUND)
        px_log(PX_LOG_ERROR, "output",
               "cannot forward output of rank %u of %s to %s.%u: %s", tap->source.rank,
               tap->source.nspace, tap->output->task->job->parent.nspace,
               tap->output->task->job->parent.rank, PMIx_Error_string(rc));
    errno = EPIPE;
    return -1;
}

static pmix_status_t make_forward(struct px_task_output *o, int which)
{
    const struct px_launch_job *job = o->task->job;
    pmix_status_t rc;

    if (!(job->plan.apps[o->task->app].forwards & channels[which]))
        return PMIX_SUCCESS;
    rc = make_tap(o, which, &o->forward);
    return rc ? rc
              : px_iof_sink_create(write_forward, o->forward,
                                   "the process that spawned", &o->forward->sink);
}

void px_task_output_ended(struct px_task_output *o)
{
    const struct px_output_tap *f = o->forward;
    const struct px_launch_job *job = o->task->job;
    const bool is_notice = o == &job->notices[0] || o == &job->notices[1];
    const struct iovec none = {0};

    o->stream = NULL;
    if (f && f->n_held == 0 && !is_notice &&
        job->plan.apps[o->task->app].max_restarts == 0)
        (void)write_forward(o->forward, &none, 1);
    px_task_output_drop(o);
}

/* ---- destinations ---------------------------------------------------------------- */

/* Opens one output. Takes fd on success. */
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
    struct px_iof_sink *std = job->launcher->std->of[which];
    pmix_status_t rc = PMIX_SUCCESS;
    char number[16];

    if (file && !file->sink)
        rc = px_iof_sink_open(&target, file->to, &file->sink, err);
    px_task_output_drop(output); /* streamless output of an earlier life */
    if (!rc && (make_tap(output, which, &output->tap) || make_forward(output, which)))
        rc = px_err_nomem(err, "forward output");
    if (rc)
        return rc;
    if (file && plan->files_only)
        std = NULL;
    if (output->forward && px_server_iof_tags(job->launcher->server, &job->parent)) {
        how = px_iof_way_default();
        how.merged = plan->way.merged;
    }
    if (app->pty && how.gather_b == 0 && how.gather_ms == PX_IOF_FOR_EVER)
        how.gather_ms = PX_IOF_TERMINAL_MS;
    rc = px_stream_open(
        &(struct px_stream_way){
            .how = how,
            .origin = origin_of(task, which, number),
            .sink = std && output->forward ? output->forward->sink : std,
            .spare = output->forward ? std : NULL,
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

/* Opens our stdout and stderr at the first job. A host without jobs leaves both
 * alone. */
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

/* Writes a text of the server: a tool that asked for the job gets it among the output
 * of rank 0, others on our own streams. Takes the text. */
static pmix_status_t show(struct px_launch_job *job, int which, char *text)
{
    struct px_launcher *l = job->launcher;
    struct px_task_output *to = &job->notices[which];
    const bool is_tool = px_job_parent(job) && !px_task_find(l, &job->parent);
    pmix_status_t rc = text ? begin(l, NULL) : PMIX_ERR_NOMEM;

    to->task = job->tasks;
    if (!rc && is_tool)
        rc = make_forward(to, which);
    job->n_streams++;
    if (!rc)
        rc = px_stream_report(to->forward ? to->forward->sink : l->std->of[which], text,
                              px_job_stream_ended, to, &to->stream);
    if (rc) {
        job->n_streams--;
        free(text);
        px_task_output_drop(to);
    }
    return rc;
}

pmix_status_t px_job_show_positions(struct px_launch_job *job, struct px_err *err)
{
    const px_plan *plan = &job->plan;
    pmix_topology_t node = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    if (plan->positions)
        (void)px_topo_here(&node);
    for (int i = 0; !rc && i < 2; i++) {
        if (i == 0 ? !plan->shows_map : !plan->shows_bindings)
            continue;
        PX_AUTOFREE char *map = px_place_map(
            node.topology, i == 0 || plan->binds ? plan->positions : NULL,
            job->n_tasks);

        rc = show(job, i,
                  map ? px_strf("%s of job %s on %s:\n%s", i ? "bindings" : "map",
                                job->proc.nspace, job->launcher->model->hostname, map)
                      : NULL);
        if (rc)
            px_err_nomem(err, "show where processes go");
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
