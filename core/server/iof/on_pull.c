/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for output, and the output of spawned jobs. */
#include "core/model/nspace.h"
#include "core/server/host.h"
#include "core/server/iof/subscriptions.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/share.h"
#include "core/server/server.h"
#include "core/server/upcall/module.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"

#include <string.h>

/* ---- pull ------------------------------------------------------------------------ */

/* Reads a request. A peer older than 4.1 sends no number: id stands in. */
static pmix_status_t read_pull(struct px_req *req, struct px_args *a,
                               struct px_cache *cache, size_t id)
{
    pmix_status_t rc;

    a->id = id;
    rc = px_req_unpack(req, a, px_request_iof_pull.args);
    if (rc)
        return rc;
    if (a->channels == PMIX_FWD_NO_CHANNELS)
        return PMIX_ERR_BAD_PARAM;
    if (a->channels & PMIX_FWD_STDIN_CHANNEL)
        return PMIX_ERR_NOT_SUPPORTED; /* input is pushed */
    rc = px_builtin_required(req->peer->server, "PMIx_IOF_pull", &a->info);
    if (!rc)
        rc = px_cache_read(cache, a->info.v, a->info.n,
                           req->peer->server->conf.output_per_stream);
    if (!rc)
        rc = px_req_may(req, a->procs, a->n_procs);
    return rc ? rc : px_infos_set_user(&a->info, req->peer);
}

/* Answers a pull. Retained output follows, if the host has accepted. */
static void on_host_pulled(void *arg, const struct px_upcall *answer)
{
    struct px_req *req = arg;
    struct px_server *srv = req->peer->server;
    struct px_iof_reader *r = px_iof_reader_find(srv, req->peer);
    size_t id = (size_t)(uintptr_t)req->state;
    struct px_subscription *p = px_subscription_find(r, id);
    px_writer w;

    if (answer->status)
        px_subscription_free(srv->part.relay, p, true);
    px_reply_begin(req, &w, answer->status);
    if (!answer->status)
        px_pack_size(&w, id);
    px_req_reply(req, &w);
    if (p && !answer->status)
        px_subscription_begin(srv, p);
}

/* Lists the subscription before the host is asked: output may precede the answer. */
pmix_status_t px_pull_request(struct px_server *srv, struct px_req *req)
{
    size_t id = srv->part.relay->last_pull + 1;
    struct px_cache cache;
    struct px_upcall *u;
    pmix_status_t rc;

    if (!srv->module.iof_pull)
        return PMIX_ERR_NOT_SUPPORTED;
    u = px_upcall_for(req, on_host_pulled);
    if (!u)
        return PMIX_ERR_NOMEM;
    rc = read_pull(req, &u->args, &cache, id);
    if (!rc)
        rc = px_subscription_make(srv, req, &u->args, &cache, id);
    if (rc) {
        px_upcall_drop(u);
        return rc;
    }
    srv->part.relay->last_pull = id;
    req->state = (void *)(uintptr_t)id;
    px_upcall_returned(u, srv->module.iof_pull(u->args.procs, u->args.n_procs,
                                               u->args.info.v, u->args.info.n,
                                               u->args.channels, px_upcall_op_cb, u));
    return PX_DEFERRED;
}

/* ---- deregister ------------------------------------------------------------------ */

/* Ends a subscription. The answer follows the pieces of its cursors. */
pmix_status_t px_dereg_request(struct px_server *srv, struct px_req *req)
{
    struct px_iof_reader *r = px_iof_reader_find(srv, req->peer);
    PX_AUTO(px_args) args = {0};
    struct px_subscription *p;
    pmix_status_t rc;

    if (!srv->module.iof_pull)
        return PMIX_ERR_NOT_SUPPORTED;
    rc = px_req_unpack(req, &args, px_request_iof_dereg.args);
    if (!rc)
        rc = px_infos_set_user(&args.info, req->peer);
    if (rc)
        return rc;
    p = px_subscription_find(r, args.id);
    if (!p)
        return PMIX_ERR_BAD_PARAM;
    p->req = req;
    p->info = args.info;
    args.info = (px_infos){0};
    px_subscription_finish(srv, p);
    return PX_DEFERRED;
}

void px_pulls_peer_left(struct px_server *srv, struct px_peer *peer)
{
    struct px_iof_reader *r = px_iof_reader_find(srv, peer);

    if (!r)
        return;
    if (peer->conn && peer->finalized && !srv->stopping) {
        /* The peer still reads. */
        PX_LIST_EACH (&r->pulls, struct px_subscription, p, link)
            px_subscription_finish(srv, p);
        return;
    }
    struct px_list *const lists[] = {&r->pulls, &r->ending};
    for (size_t i = 0; i < PX_COUNT(lists); i++)
        PX_LIST_EACH (lists[i], struct px_subscription, p, link)
            px_subscription_end(srv, p);
    px_list_remove(&r->link);
    free(r);
}

/* ---- the output of a spawned job ------------------------------------------------- */

/* Makes the subscription of a spawn. Its number at the peer is 0, as in OpenPMIx. */
pmix_status_t px_server_iof_forward(struct px_server *srv, const pmix_proc_t *to,
                                    const char *nspace, pmix_iof_channel_t channels)
{
    struct px_req req = {.peer = px_peer_find(srv, to)};
    struct px_args args = {.n_procs = 1, .channels = channels};
    struct px_relay *relay = srv->part.relay;
    const struct px_cache cache = {.size_b = relay->backlogs.stream_b};
    pmix_status_t rc;
    struct px_subscription *p;
    pmix_proc_t all;

    if (!req.peer)
        return PMIX_ERR_NOT_FOUND;
    px_proc_set(&all, nspace, PMIX_RANK_WILDCARD);
    args.procs = &all;
    rc = px_subscription_make(srv, &req, &args, &cache, ++relay->last_pull);
    if (rc)
        return rc;
    p = px_subscription_find(px_iof_reader_find(srv, req.peer), relay->last_pull);
    p->forwards = true;
    px_subscription_begin(srv, p);
    return PMIX_SUCCESS;
}

bool px_server_iof_tags(struct px_server *srv, const pmix_proc_t *to)
{
    const struct px_peer *peer = px_peer_find(srv, to);

    return peer && peer->tool && !px_peer_is_ours(peer);
}

void px_pulls_nspace_gone(struct px_server *srv, const char *nspace)
{
    PX_LIST_EACH (&srv->part.relay->readers, struct px_iof_reader, r, link) {
        struct px_subscription *found = NULL;

        PX_LIST_EACH (&r->pulls, struct px_subscription, p, link)
            if (p->forwards && strcmp(p->procs->nspace, nspace) == 0)
                found = p;
        if (found)
            px_subscription_finish(srv, found);
    }
}
