/* SPDX-License-Identifier: BSD-3-Clause */
/* Monitoring: what is to be watched, and signs of life. */
#include "core/client/ask.h"

struct monitor_op {
    struct px_ask ask;
    const pmix_info_t *monitor;
    pmix_status_t error;
    const pmix_info_t *directives;
    size_t n_directives;
};

static const struct px_arg args[] = {
    PX_ARG(struct monitor_op, monitor, PMIX_INFO),
    PX_ARGS(struct monitor_op, directives, n_directives, PMIX_INFO),
    PX_ARGS_END,
};

static void on_monitor(struct px_api *api)
{
    struct monitor_op *op = PX_CONTAINER_OF(api, struct monitor_op, ask.api);
    px_writer w;

    px_channel_begin(px_process.channel, &w, PX_OP_MONITOR);
    px_pack(&w, op->monitor, 1, PMIX_INFO);
    px_pack_status(&w, op->error);
    px_pack_infos(&w, op->directives, op->n_directives);
    px_ask_send(&op->ask, &w);
}

static void on_heartbeat(struct px_api *api)
{
    px_api_done(api, px_channel_signal(px_process.channel, PX_TAG_HEARTBEAT));
}

static pmix_status_t beat(void)
{
    const struct px_api op = {.start = on_heartbeat};

    return px_api_post(&op, sizeof op);
}

static struct monitor_op make(const pmix_info_t *monitor, pmix_status_t error,
                              const pmix_info_t *directives, size_t n)
{
    return (struct monitor_op){.ask.api = {.start = on_monitor, .args = args},
                               .monitor = monitor,
                               .error = error,
                               .directives = directives,
                               .n_directives = n};
}

static pmix_status_t check(const struct monitor_op *op)
{
    pmix_status_t rc = px_api_check(NULL, 0, op->directives, op->n_directives);

    return !rc && !op->monitor ? PMIX_ERR_BAD_PARAM : rc;
}

static bool is_heartbeat(const pmix_info_t *monitor)
{
    return PMIx_Check_key(monitor->key, PMIX_SEND_HEARTBEAT);
}

PX_EXPORT pmix_status_t PMIx_Process_monitor(const pmix_info_t *monitor,
                                             pmix_status_t error,
                                             const pmix_info_t directives[],
                                             size_t ndirs, pmix_info_t **results,
                                             size_t *nresults)
{
    struct monitor_op op = make(monitor, error, directives, ndirs);
    pmix_status_t rc = check(&op);

    if (!rc && is_heartbeat(monitor))
        op.ask.api.start = on_heartbeat;
    return rc ? rc : px_ask_wait(&op.ask, results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Process_monitor_nb(const pmix_info_t *monitor,
                                                pmix_status_t error,
                                                const pmix_info_t directives[],
                                                size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                                void *cbdata)
{
    struct monitor_op op = make(monitor, error, directives, ndirs);
    pmix_status_t rc = check(&op);

    if (!rc && is_heartbeat(monitor)) {
        rc = beat();
        return rc ? rc : PMIX_OPERATION_SUCCEEDED;
    }
    return rc ? rc : px_ask_post(&op.ask, sizeof op, cbfunc, cbdata);
}

PX_EXPORT void PMIx_Heartbeat(void)
{
    (void)beat(); /* one that is lost is like one that comes late */
}
