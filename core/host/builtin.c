/* SPDX-License-Identifier: BSD-3-Clause */
/* The host of last resort. To the rest of the server it is a host like any other: a
 * module of functions, on one node, with what this folder's embedded_*.c know how to
 * do. */
#include "core/host/builtin.h"

#include <string.h>

#include "core/rt/log.h"
#include "core/config/param.h"

/* For processes that no signal ends, and readers that do not read what is left. */
#define PATIENCE_MS 1000

struct conf {
    uint64_t grace;
};

const struct px_param px_embedded_params[] = {
    PX_PARAM_DURATION(
        struct conf, grace, "2s", 0, 3600000,
        "How long processes of a job that has to end may take over it before "
        "they are killed"),
    PX_PARAM_END,
};

struct px_embedded *px_embedded_host(void)
{
    return px_process.server->embedded;
}

/* ---- the simple functions of the module ------------------------------------------ */

static pmix_status_t host_connected(const pmix_proc_t *proc, void *object PX_UNUSED,
                                    pmix_info_t info[] PX_UNUSED, size_t n PX_UNUSED,
                                    pmix_op_cbfunc_t cb PX_UNUSED,
                                    void *cbdata PX_UNUSED)
{
    struct px_task *task = px_task_find(px_embedded_host(), proc);

    if (task) {
        task->connected = true;
        task->finalized = false;
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t host_finalized(const pmix_proc_t *proc, void *object PX_UNUSED,
                                    pmix_op_cbfunc_t cb PX_UNUSED,
                                    void *cbdata PX_UNUSED)
{
    struct px_embedded *host = px_embedded_host();
    struct px_task *task = px_task_find(host, proc);

    if (task)
        task->finalized = true;
    else /* one that we did not start: its end will not be seen */
        px_pubs_proc_gone(&host->pubs, proc);
    return PMIX_OPERATION_SUCCEEDED;
}

/* All nodes there are have come, so all data there is has been collected. */
static pmix_status_t host_fence(const pmix_proc_t procs[] PX_UNUSED,
                                size_t n_procs PX_UNUSED,
                                const pmix_info_t info[] PX_UNUSED, size_t n PX_UNUSED,
                                char *data, size_t size, pmix_modex_cbfunc_t cb,
                                void *cbdata)
{
    cb(PMIX_SUCCESS, data, size, cbdata, free, data);
    return PMIX_SUCCESS;
}

/* The server asks for what is not on this node. */
static pmix_status_t host_direct_modex(const pmix_proc_t *proc PX_UNUSED,
                                       const pmix_info_t info[] PX_UNUSED,
                                       size_t n PX_UNUSED,
                                       pmix_modex_cbfunc_t cb PX_UNUSED,
                                       void *cbdata PX_UNUSED)
{
    return PMIX_ERR_NOT_FOUND;
}

static pmix_status_t host_publish(const pmix_proc_t *proc, const pmix_info_t info[],
                                  size_t n, pmix_op_cbfunc_t cb PX_UNUSED,
                                  void *cbdata PX_UNUSED)
{
    pmix_status_t rc = px_pubs_publish(&px_embedded_host()->pubs, proc, info, n);

    return rc ? rc : PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t host_lookup(const pmix_proc_t *proc, char **keys,
                                 const pmix_info_t info[], size_t n,
                                 pmix_lookup_cbfunc_t cb, void *cbdata)
{
    return px_pubs_lookup(&px_embedded_host()->pubs, proc, keys, info, n, cb, cbdata);
}

static pmix_status_t host_unpublish(const pmix_proc_t *proc, char **keys,
                                    const pmix_info_t info[], size_t n,
                                    pmix_op_cbfunc_t cb PX_UNUSED,
                                    void *cbdata PX_UNUSED)
{
    pmix_status_t rc = px_pubs_unpublish(&px_embedded_host()->pubs, proc, keys, info,
                                         n);

    return rc ? rc : PMIX_OPERATION_SUCCEEDED;
}

/* Who has come together is on this node, and the server has seen to what follows. */
static pmix_status_t host_connect(const pmix_proc_t procs[] PX_UNUSED,
                                  size_t n_procs PX_UNUSED,
                                  const pmix_info_t info[] PX_UNUSED,
                                  size_t n PX_UNUSED, pmix_op_cbfunc_t cb PX_UNUSED,
                                  void *cbdata PX_UNUSED)
{
    return PMIX_OPERATION_SUCCEEDED;
}

/* Nobody beyond this node is to be told. */
static pmix_status_t host_notify(pmix_status_t code PX_UNUSED,
                                 const pmix_proc_t *source PX_UNUSED,
                                 pmix_data_range_t range PX_UNUSED,
                                 pmix_info_t info[] PX_UNUSED, size_t n PX_UNUSED,
                                 pmix_op_cbfunc_t cb PX_UNUSED, void *cbdata PX_UNUSED)
{
    return PMIX_OPERATION_SUCCEEDED;
}

static const pmix_server_module_t module = {
    .client_connected2 = host_connected,
    .client_finalized = host_finalized,
    .abort = px_embedded_abort,
    .fence_nb = host_fence,
    .direct_modex = host_direct_modex,
    .publish = host_publish,
    .lookup = host_lookup,
    .unpublish = host_unpublish,
    .spawn = px_embedded_spawn,
    .connect = host_connect,
    .disconnect = host_connect,
    .notify_event = host_notify,
    .query = px_embedded_query,
    .job_control = px_embedded_control,
};

/* ---- life ------------------------------------------------------------------------ */

/* Output that can not be written is a failure of whoever's it is. */
static void on_output_broken(void *arg, pmix_status_t status PX_UNUSED)
{
    struct px_embedded *host = arg;
    const struct px_failure failure = {.status = PMIX_ERR_IOF_FAILURE,
                                       .rank = PMIX_RANK_UNDEF,
                                       .exit_code = 1,
                                       .text = "its output cannot be written"};

    PX_LIST_EACH (&host->jobs, struct px_job, job, link)
        px_job_fail(job, &failure);
}

struct px_output *px_embedded_output(struct px_embedded *host)
{
    if (!host->output.loop)
        px_output_init(&host->output, px_process.loop, on_output_broken, host);
    return &host->output;
}

pmix_status_t px_embedded_create(struct px_server *srv, struct px_err *err)
{
    struct px_embedded *host = calloc(1, sizeof(*host));
    struct conf conf = {0};
    size_t n;

    if (!host)
        return px_err_set(err, PMIX_ERR_NOMEM, "out of memory");
    pmix_status_t rc = px_params_parse(px_process.params, "embedded_",
                                       px_embedded_params, &conf, err);
    if (rc) {
        free(host);
        return rc;
    }
    host->server = srv;
    host->grace_ms = conf.grace;
    host->pfexec = px_modules("pfexec", &n);
    if (n == 0)
        host->pfexec = NULL;
    px_list_init(&host->jobs);
    px_pubs_init(&host->pubs, px_process.loop);
    srv->embedded = host;
    srv->module = module;
    return PMIX_SUCCESS;
}

static bool is_idle(const struct px_embedded *host)
{
    PX_LIST_EACH (&host->jobs, struct px_job, job, link)
        if (job->stage != PX_JOB_ENDED)
            return false;
    return true;
}

static void stop_waiting(struct px_embedded *host)
{
    struct px_call *waiter = host->waiter;

    host->waiter = NULL;
    px_timer_free(host->deadline);
    host->deadline = NULL;
    px_call_done(waiter, PMIX_SUCCESS);
}

void px_embedded_check_idle(struct px_embedded *host)
{
    if (host->waiter && is_idle(host))
        stop_waiting(host);
}

static void on_deadline(void *arg)
{
    struct px_embedded *host = arg;

    PX_LIST_EACH (&host->jobs, struct px_job, job, link) {
        if (job->n_running > 0)
            px_log(PX_LOG_WARN, "spawn", "%u processes of job %s do not end",
                   job->n_running, job->proc.nspace);
        else if (job->stage != PX_JOB_ENDED)
            px_log(PX_LOG_WARN, "spawn", "the last output of job %s is lost",
                   job->proc.nspace);
    }
    stop_waiting(host);
}

/* How long the end of all jobs may take: until KILL, and a little more. */
static uint64_t time_to_end(const struct px_embedded *host)
{
    PX_LIST_EACH (&host->jobs, struct px_job, job, link)
        if (job->n_running > 0)
            return host->grace_ms + PATIENCE_MS;
    return PATIENCE_MS;
}

static void on_end_jobs(struct px_call *call, void *args)
{
    struct px_embedded *host = args;

    host->stopping = true;
    if (is_idle(host)) {
        px_call_done(call, PMIX_SUCCESS);
        return;
    }
    host->waiter = call;
    host->deadline = px_timer_create(px_process.loop, on_deadline, host);
    if (host->deadline)
        px_timer_set(host->deadline, time_to_end(host));
    PX_LIST_EACH (&host->jobs, struct px_job, job, link)
        px_job_end(job, PMIX_ERR_JOB_KILLED_BY_CMD);
}

void px_embedded_end_jobs(struct px_server *srv)
{
    if (srv->embedded)
        (void)px_call(px_process.loop, on_end_jobs, srv->embedded);
}

void px_embedded_destroy(struct px_server *srv)
{
    struct px_embedded *host = srv->embedded;

    if (!host)
        return;
    srv->embedded = NULL;
    PX_LIST_EACH (&host->jobs, struct px_job, job, link)
        px_job_free(job);
    px_pubs_fini(&host->pubs);
    px_output_fini(&host->output);
    free(host);
}
