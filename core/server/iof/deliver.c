/* SPDX-License-Identifier: BSD-3-Clause */
/* Output from the host: sent to the subscriptions, or retained for the next one. A
 * delivery completes when its stream has room for another. */
#include "core/base/map.h"
#include "core/link/api.h"
#include "core/model/nspace.h"
#include "core/rt/process.h"
#include "core/server/host.h"
#include "core/server/iof/server_iof.h"
#include "core/server/op.h"
#include "core/server/server.h"
#include "core/wire/requests.h"

#include <string.h>

/* Output that waits for room in a backlog. */
struct pending_delivery {
    struct px_api api;
    struct px_list link; /* in px_backlog.waiting, px_relay.ready */
    unsigned stream;
    pmix_status_t status;
};

/* Limit of a message without the bytes. */
#define MAX_INFO_B (1024u * 1024u)

/* Directives for this library, which readers do not get. */
static const char *const ours[] = {PMIX_IOF_DROP_OLDEST, PMIX_IOF_DROP_NEWEST,
                                   PMIX_IOF_CACHE_SIZE};

static pmix_status_t check(const struct px_args *a, bool *may_drop)
{
    struct px_cache cache;
    pmix_status_t rc = px_cache_read(&cache, a->info.v, a->info.n, 0);
    size_t info_b = 0;

    for (size_t i = 0; !rc && i < a->info.n; i++)
        info_b += px_type_size(PMIX_INFO, &a->info.v[i]);
    if (!rc && (a->bytes.size > PX_MAX_FRAME_B - MAX_INFO_B || info_b > MAX_INFO_B / 2))
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    *may_drop = !rc && cache.drop == PX_DROP_OLDEST;
    return rc;
}

/* Retains output of a known job for a later subscription. */
static pmix_status_t keep(struct px_relay *relay, const struct px_args *a,
                          bool may_drop, struct px_payload *bytes, px_infos *info)
{
    size_t size_b = bytes->bytes.len, dropped = 0;
    struct px_backlog *backlog;
    struct px_piece *piece = NULL;
    pmix_status_t rc;

    if (!px_nspace_find(relay->server->model, a->procs->nspace))
        return PMIX_ERR_NOT_FOUND;
    backlog = px_backlog_get(&relay->backlogs, a->procs);
    if (!backlog)
        return PMIX_ERR_NOMEM;
    rc = px_backlog_make_room(backlog, px_stream_of(a->channels), size_b, may_drop,
                              &dropped);
    if (!rc) {
        piece = px_backlog_add(backlog, a->channels, bytes, info);
        rc = piece ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    }
    px_backlog_settle(backlog);
    return !rc && dropped ? PMIX_ERR_PARTIAL_SUCCESS : rc;
}

/* Returns a payload of the bytes, or of a copy unless owned. */
static struct px_payload *take_bytes(struct px_args *a, bool owned)
{
    PX_AUTO(px_buf) buf = {0};

    if (owned)
        buf = (px_buf){.data = (uint8_t *)px_take(&a->bytes.bytes),
                       .len = a->bytes.size,
                       .cap = a->bytes.size};
    else if (px_buf_add(&buf, a->bytes.bytes, a->bytes.size))
        return NULL;
    return px_payload_take(&buf);
}

enum how {
    OWNED = 1,     /* the server takes the bytes */
    WAITS = 2,     /* the caller waits if *backlog is full */
    FORWARDED = 4, /* only for the process that spawned the source */
};

static pmix_status_t take(struct px_server *srv, struct px_args *a, unsigned how,
                          struct px_backlog **backlog)
{
    struct px_relay *relay = srv->part.relay;
    unsigned stream = px_stream_of(a->channels);
    PX_AUTO(px_infos) info = {0};
    struct px_payload *bytes;
    bool may_drop, wanted;
    pmix_status_t rc = check(a, &may_drop);

    *backlog = NULL;
    if (rc)
        return rc;
    wanted = px_pulls_want(srv, a->procs, a->channels, how & FORWARDED);
    if (!wanted && (how & FORWARDED))
        return PMIX_ERR_NOT_FOUND;
    *backlog = wanted ? px_backlog_find(&relay->backlogs, a->procs) : NULL;
    if (*backlog && ((how & WAITS) ? px_backlog_refuses(*backlog, stream, a->bytes.size)
                                   : px_backlog_is_full(*backlog, stream))) {
        *backlog = NULL;
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    bytes = px_infos_add_copy(&info, a->info.v, a->info.n) ? NULL
                                                           : take_bytes(a, how & OWNED);
    if (!bytes)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; i < PX_COUNT(ours); i++)
        px_infos_drop(&info, ours[i]);
    rc = wanted ? px_pulls_give(srv, a->procs, a->channels, bytes, &info)
                : keep(relay, a, may_drop, bytes, &info);
    px_payload_unref(bytes);
    *backlog = wanted ? px_backlog_find(&relay->backlogs, a->procs) : NULL;
    if (*backlog && !px_backlog_is_full(*backlog, stream))
        *backlog = NULL;
    return rc;
}

static void on_deliver(struct px_api *api)
{
    struct pending_delivery *d = PX_CONTAINER_OF(api, struct pending_delivery, api);
    struct px_server *srv = px_process.server;
    struct px_backlog *backlog;
    pmix_status_t rc;

    if (!srv || srv->stopping) {
        px_api_done(api, PMIX_ERR_INIT);
        return;
    }
    rc = take(srv, &api->args, WAITS | (api->call ? 0 : OWNED), &backlog);
    if (!backlog) {
        px_api_done(api, rc);
        return;
    }
    d->status = rc;
    d->stream = px_stream_of(api->args.channels);
    px_list_append(&backlog->waiting, &d->link);
}

pmix_status_t px_server_iof_deliver(struct px_server *srv, const pmix_proc_t *source,
                                    pmix_iof_channel_t channel,
                                    const pmix_byte_object_t *bytes,
                                    const pmix_info_t *info, size_t n, bool forwarded,
                                    pmix_op_cbfunc_t cb, void *cbdata)
{
    struct px_args args = {.procs = (pmix_proc_t *)source,
                           .n_procs = 1,
                           .channels = channel,
                           .bytes = *bytes,
                           .info = px_infos_borrow(info, n)};
    struct pending_delivery *d = calloc(1, sizeof(*d));
    unsigned how = WAITS | (forwarded ? FORWARDED : 0);
    struct px_backlog *backlog;
    pmix_status_t rc = d ? take(srv, &args, how, &backlog) : PMIX_ERR_NOMEM;

    if (rc == PMIX_ERR_PARTIAL_SUCCESS)
        rc = PMIX_SUCCESS;
    if (rc || !backlog) {
        free(d);
        return rc ? rc : PMIX_OPERATION_SUCCEEDED;
    }
    d->api.cb = cb;
    d->api.cbdata = cbdata;
    d->stream = px_stream_of(channel);
    px_list_append(&backlog->waiting, &d->link);
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_server_IOF_deliver(const pmix_proc_t *source,
                                                pmix_iof_channel_t channel,
                                                const pmix_byte_object_t *bo,
                                                const pmix_info_t info[], size_t ninfo,
                                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct pending_delivery d = {
        .api = {.function = "PMIx_server_IOF_deliver",
                .start = on_deliver,
                .request = &px_request_piece,
                .args = {.procs = (pmix_proc_t *)source,
                         .n_procs = 1,
                         .channels = channel,
                         .bytes = bo ? *bo : (pmix_byte_object_t){0},
                         .info = px_infos_borrow(info, ninfo)},
                .invalid = channel == PMIX_FWD_NO_CHANNELS || !bo,
                .cb = cbfunc,
                .cbdata = cbdata}};
    struct px_backlog *backlog;
    pmix_status_t rc;

    if (!px_server_here())
        return PMIX_ERR_INIT;
    if (cbfunc)
        return px_api_post(&d.api, sizeof(d));
    if (!px_process_on_loop()) {
        rc = px_api_wait(&d.api);
    } else { /* in a callback, which cannot wait */
        rc = px_api_check(&d.api);
        if (!rc)
            rc = take(px_process.server, &d.api.args, 0, &backlog);
    }
    return px_server_answer(rc, cbfunc);
}

/* ---- deliveries that have room --------------------------------------------------- */

/* Calls back the hosts; posted, as a callback may change the lists of this room. */
static void on_ready(struct px_msg *msg)
{
    struct px_relay *relay = PX_CONTAINER_OF(msg, struct px_relay, go_on);
    size_t n = px_list_length(&relay->ready);

    relay->goes_on = false;
    for (; n > 0 && !px_list_empty(&relay->ready); n--) {
        struct pending_delivery *d = PX_CONTAINER_OF(relay->ready.next,
                                                     struct pending_delivery, link);

        px_list_remove(&d->link);
        px_api_done(&d->api, d->status);
    }
}

static void set_ready(struct px_relay *relay, struct pending_delivery *d)
{
    px_list_remove(&d->link);
    px_list_append(&relay->ready, &d->link);
}

void px_deliveries_wake(struct px_relay *relay, struct px_backlog *backlog)
{
    PX_LIST_EACH (&backlog->waiting, struct pending_delivery, d, link)
        if (!px_backlog_is_full(backlog, d->stream))
            set_ready(relay, d);
    if (px_list_empty(&relay->ready))
        return;
    relay->go_on.run = on_ready;
    px_server_post(relay->server, &relay->go_on, &relay->goes_on);
}

void px_deliveries_stop(struct px_relay *relay)
{
    struct px_backlog *backlog;
    size_t pos = 0;

    while ((backlog = px_map_next(&relay->backlogs.map, &pos, NULL, NULL)))
        PX_LIST_EACH (&backlog->waiting, struct pending_delivery, d, link) {
            d->status = PMIX_ERR_LOST_CONNECTION;
            set_ready(relay, d);
        }
    on_ready(&relay->go_on);
}
