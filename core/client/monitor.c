/* SPDX-License-Identifier: BSD-3-Clause */
/* Monitoring: requests to watch something, and signs of life. */
#include "core/client/info_call.h"

static void on_heartbeat(struct px_api *api)
{
    px_api_done(api, px_channel_signal(px_process.channel, PX_TAG_HEARTBEAT));
}

static pmix_status_t beat(void)
{
    const struct px_api op = {.start = on_heartbeat};

    return px_api_post(&op, sizeof op);
}

static bool is_heartbeat(const pmix_info_t *monitor)
{
    return monitor && PMIx_Check_key(monitor->key, PMIX_SEND_HEARTBEAT);
}

static struct px_info_call make(const pmix_info_t *monitor, pmix_status_t error,
                                const pmix_info_t *directives, size_t n)
{
    return (struct px_info_call){
        .api = {.start = is_heartbeat(monitor) ? on_heartbeat : NULL,
                .request = &px_request_monitor,
                .args = {.info = px_infos_borrow(monitor, 1),
                         .code = error,
                         .more = px_infos_borrow(directives, n)}}};
}

PX_EXPORT pmix_status_t PMIx_Process_monitor(const pmix_info_t *monitor,
                                             pmix_status_t error,
                                             const pmix_info_t directives[],
                                             size_t ndirs, pmix_info_t **results,
                                             size_t *nresults)
{
    return px_info_call_wait(make(monitor, error, directives, ndirs), results,
                             nresults);
}

PX_EXPORT pmix_status_t PMIx_Process_monitor_nb(const pmix_info_t *monitor,
                                                pmix_status_t error,
                                                const pmix_info_t directives[],
                                                size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                                void *cbdata)
{
    struct px_info_call c = make(monitor, error, directives, ndirs);
    pmix_status_t rc = px_api_check(&c.api);

    if (rc || !is_heartbeat(monitor))
        return rc ? rc : px_info_call_post(c, cbfunc, cbdata);
    rc = beat();
    return rc ? rc : PMIX_OPERATION_SUCCEEDED;
}

PX_EXPORT void PMIx_Heartbeat(void)
{
    (void)beat(); /* one that is lost is like one that comes late */
}
