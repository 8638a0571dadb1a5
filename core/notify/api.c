/* SPDX-License-Identifier: BSD-3-Clause */
/* Event functions of the API, for every role. */
#include "core/link/api.h"
#include "core/model/nspace.h"
#include "core/notify/notify_impl.h"
#include "pmix.h"

/* ---- register -------------------------------------------------------------------- */

struct register_op {
    struct px_api api;
    pmix_notification_fn_t fn;
    pmix_hdlr_reg_cbfunc_t cb;
};

/* Completes the registration. The own thread, which calls the handler, has started
 * while the server worked, unless the server was not asked. */
static void registered(struct register_op *op)
{
    struct px_notify *n = op->api.client->notify;
    struct px_handler *h = px_handlers_find(&n->handlers, op->api.args.id);
    pmix_status_t rc = px_loop_need_thread(op->api.loop);

    if (h && rc)
        px_notify_retire(n, h);
    else if (h && h->n_codes > 0) /* only handlers with codes get old events */
        n->route->replay(n->route_ctx, h);
    px_api_done(&op->api, rc);
}

/* Completes the registration, also after an error. The handler then receives only local
 * events. */
static void on_server_registered(void *arg, pmix_status_t status PX_UNUSED,
                                 px_reader *r PX_UNUSED)
{
    registered(arg);
}

static pmix_status_t register_at_server(struct register_op *op, pmix_status_t *codes,
                                        size_t n)
{
    struct px_args args = op->api.args;

    args.codes = codes;
    args.n_codes = n;
    return px_channel_ask(&op->api.client->channel, &px_request_regevents, &args,
                          on_server_registered, op);
}

static void on_register(struct px_api *api)
{
    struct register_op *op = PX_CONTAINER_OF(api, struct register_op, api);
    struct px_notify *n = api->client->notify;
    struct px_handler *h = NULL;
    size_t n_fresh;
    const struct px_args *args = &api->args;
    pmix_status_t rc = px_handlers_add(&n->handlers, args->codes, args->n_codes,
                                       args->info.v, args->info.n, op->fn, &h);

    if (rc) {
        px_api_done(api, rc);
        return;
    }
    PX_AUTOFREE pmix_status_t *fresh = px_handlers_only_of(&n->handlers, h, &n_fresh);
    if (!fresh) {
        px_handlers_remove(h);
        px_api_done(api, PMIX_ERR_NOMEM);
        return;
    }
    api->args.id = h->id;
    if (n_fresh == 0 || !px_notify_is_client(n) ||
        register_at_server(op, fresh, h->n_codes ? n_fresh : 0))
        registered(op);
    else
        px_loop_want_thread(api->loop);
}

static void finish_register(struct px_api *api)
{
    struct register_op *op = PX_CONTAINER_OF(api, struct register_op, api);

    if (op->cb)
        op->cb(api->status, api->args.id, api->cbdata);
}

PX_EXPORT pmix_status_t PMIx_Register_event_handler(
    pmix_status_t codes[], size_t ncodes, pmix_info_t info[], size_t ninfo,
    pmix_notification_fn_t evhdlr, pmix_hdlr_reg_cbfunc_t cbfunc, void *cbdata)
{
    struct register_op op = {.api = {.function = "PMIx_Register_event_handler",
                                     .start = on_register,
                                     .finish = finish_register,
                                     .request = &px_request_regevents,
                                     .args = {.codes = codes,
                                              .n_codes = codes ? ncodes : 0,
                                              .info = px_infos_borrow(info, ninfo)},
                                     .invalid = !evhdlr || (ncodes && !codes),
                                     .cbdata = cbdata},
                             .fn = evhdlr,
                             .cb = cbfunc};
    pmix_status_t rc;

    if (cbfunc)
        return px_api_post(&op.api, sizeof(op));
    rc = px_api_wait(&op.api);
    return rc ? rc : (pmix_status_t)op.api.args.id;
}

/* ---- deregister ------------------------------------------------------------------ */

static void on_deregister(struct px_api *api)
{
    struct px_notify *n = api->client->notify;
    struct px_handler *h = px_handlers_find(&n->handlers, api->args.id);

    if (h)
        px_notify_retire(n, h);
    px_api_done(api, h ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
}

PX_EXPORT pmix_status_t PMIx_Deregister_event_handler(size_t evhdlr_ref,
                                                      pmix_op_cbfunc_t cbfunc,
                                                      void *cbdata)
{
    struct px_api op = {
        .start = on_deregister, .args.id = evhdlr_ref, .cb = cbfunc, .cbdata = cbdata};

    return px_api_run(&op, sizeof(op), "PMIx_Deregister_event_handler");
}

/* ---- notify ---------------------------------------------------------------------- */

struct notify_op {
    struct px_api api;
    pmix_proc_t source;
};

static void on_notify(struct px_api *api)
{
    const pmix_proc_t *source = &PX_CONTAINER_OF(api, struct notify_op, api)->source;
    const struct px_notify *n = api->client->notify;
    pmix_data_range_t range = api->args.directive;
    pmix_status_t rc = n->route->deliver(n->route_ctx, api->args.code, source, range,
                                         &api->args.info);

    if (rc || px_notify_serves(n) || range == PMIX_RANGE_PROC_LOCAL ||
        api->client->standalone)
        px_api_done(api, rc);
    else
        px_api_send(api);
}

/* True if a blocking call must wait for the server's answer. The call waits if a
 * refusal matters: the event is for the host only, or an info is required. Every 64th
 * call waits as well, which limits the number of unanswered requests. */
static bool must_wait(struct px_notify *n, pmix_data_range_t range,
                      const px_infos *info)
{
    enum { MOST_UNANSWERED = 64 };

    if (range == PMIX_RANGE_RM)
        return true;
    for (size_t i = 0; i < info->n; i++)
        if (PMIX_INFO_IS_REQUIRED(&info->v[i]))
            return true;
    return (atomic_fetch_add(&n->n_sent, 1) + 1) % MOST_UNANSWERED == 0;
}

PX_EXPORT pmix_status_t PMIx_Notify_event(pmix_status_t status,
                                          const pmix_proc_t *source,
                                          pmix_data_range_t range,
                                          const pmix_info_t info[], size_t ninfo,
                                          pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct notify_op op = {
        .api = {.start = on_notify,
                .request = &px_request_notify,
                .args = {.code = status,
                         .directive = range,
                         .info = px_infos_borrow(info, ninfo)},
                .invalid = range > PMIX_RANGE_PROC_LOCAL && range != PMIX_RANGE_INVALID,
                .cb = cbfunc,
                .cbdata = cbdata}};
    pmix_status_t rc = px_api_check(&op.api);
    const struct px_client *client = px_process.client;

    if (rc)
        return rc;
    op.source = source ? *source : client->model->self;
    if (cbfunc || px_process_on_loop() || client->standalone ||
        px_notify_serves(client->notify) ||
        must_wait(client->notify, range, &op.api.args.info))
        return px_api_run(&op.api, sizeof(op), "PMIx_Notify_event");
    return px_api_leave(&op.api, sizeof(op), "PMIx_Notify_event");
}
