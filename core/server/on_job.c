/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for a client's own job: job information, abort, finalize. */
#include "core/model/jobinfo.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/server/data/memory.h"
#include "core/server/iof/server_iof.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/share.h"
#include "core/server/server.h"
#include "core/server/peer/timeline.h"
#include "core/server/upcall/server_forward.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"

/* Packs a debugger's directives for one rank. Client libraries expect them among the
 * job data. PMIX_DEBUG_STOP_IN_INIT is sent only once. */
static void pack_stops(struct px_nspace *ns, pmix_rank_t rank, px_writer *w)
{
    static const char *const keys[] = {PMIX_DEBUG_STOP_IN_INIT, PMIX_DEBUG_STOP_IN_APP};
    const pmix_value_t yes = {.type = PMIX_BOOL, .data.flag = true}, none = {0};

    for (size_t i = 0; i < PX_COUNT(keys); i++)
        if (px_store_has(&ns->store, PX_GDS_JOB, rank, keys[i]))
            px_pack_kval(w, keys[i], &yes);
    if (px_store_has(&ns->store, PX_GDS_JOB, rank, keys[0]))
        (void)px_store_put(&ns->store, PX_GDS_JOB, rank, keys[0], &none);
}

static void pack_parent(struct px_peer *peer, const struct px_nspace *ns, px_writer *w)
{
    const struct px_nspace *parent = px_jobinfo_parent(peer->server->model, ns,
                                                       peer->proc.rank);
    PX_AUTO(px_writer) body = {0};
    pmix_value_t v;

    if (!parent)
        return;
    px_writer_init(&body, w->codec);
    px_pack_str(&body, parent->name);
    px_peer_pack_job(peer, parent, &body, true);
    const pmix_byte_object_t bytes = {.bytes = (char *)body.buf.data,
                                      .size = body.buf.len};
    px_value_borrow(&v, &bytes, PMIX_BYTE_OBJECT);
    px_pack_kval(w, PX_PARENT_JOB, &v);
    if (body.status && !w->status)
        w->status = body.status;
}

static pmix_status_t reply_job(struct px_server *srv, struct px_req *req)
{
    struct px_nspace *ns = px_nspace_find(srv->model, req->peer->proc.nspace);
    px_writer w;

    if (!ns && !req->peer->tool)
        return PMIX_ERR_NOT_FOUND;
    px_writer_init(&w, req->peer->codec);
    px_pack_str(&w, req->peer->proc.nspace);
    if (ns) { /* a tool may have a name and no job */
        /* Make the futex now, so that it can end the job's first collective. */
        if (req->peer->local && req->peer->reads_in_place)
            (void)px_store_make_fence_futex(&ns->store);
        px_peer_pack_job(req->peer, ns, &w, false);
        pack_stops(ns, req->peer->proc.rank, &w);
        pack_parent(req->peer, ns, &w);
    }
    px_timeline_stamp(req->peer->local, PX_STEP_JOB);
    px_req_reply(req, &w);
    return PX_DEFERRED;
}

/* Changes to the datastore that a client names, because it cannot use the first one.
 * Replies with the job's information for that datastore. */
static pmix_status_t on_fallback(struct px_server *srv, struct px_req *req)
{
    PX_AUTO(px_args) a = {0};
    pmix_status_t rc = px_req_unpack(req, &a, px_request_fallback.args);
    const struct px_module *gds = rc ? NULL : px_store_of_peer(a.text);

    if (rc || !gds)
        return rc ? rc : PMIX_ERR_NOT_SUPPORTED;
    req->peer->gds = gds;
    req->peer->reads_in_place = false;
    return reply_job(srv, req);
}

static pmix_status_t call_abort(const pmix_server_module_t *m, struct px_upcall *u)
{
    const struct px_req *req = u->arg;
    const struct px_args *a = &u->args;

    return m->abort(&u->proc, req->peer->local ? req->peer->local->object : NULL,
                    a->code, a->text, a->procs, a->n_procs, px_upcall_op_cb, u);
}

static const struct px_forward aborting = {
    .request = &px_request_abort,
    .function = "PMIx_Abort",
    .slot = PX_SLOT(abort),
    .call = call_abort,
    .reply = px_upcall_reply_status,
};

struct finalizing {
    struct px_req *req; /* NULL once replied */
    struct px_timer *timer;
    bool host_pending;
};

/* Replies, unless the timeout has done so. */
static void finalizing_answer(void *arg)
{
    struct finalizing *f = arg;
    struct px_req *req = f->req;

    f->req = NULL;
    px_timer_free(f->timer);
    f->timer = NULL;
    if (req)
        px_req_done(req, PMIX_SUCCESS);
    if (!f->host_pending)
        free(f);
}

static void on_host_finalized(void *arg, const struct px_upcall *answer PX_UNUSED)
{
    struct finalizing *f = arg;

    f->host_pending = false;
    finalizing_answer(f);
}

static pmix_status_t ask_host(struct px_server *srv, struct px_req *req, void *object)
{
    struct finalizing *f = calloc(1, sizeof(*f));
    struct px_upcall *u = px_upcall_new(srv, on_host_finalized, f);

    if (f)
        f->timer = px_timer_create(srv->loop, finalizing_answer, f);
    if (!f || !u || !f->timer) {
        px_upcall_drop(u);
        if (f)
            px_timer_free(f->timer);
        free(f);
        return PMIX_SUCCESS; /* the client leaves in any case */
    }
    f->req = req;
    f->host_pending = true;
    px_timer_set(f->timer, srv->conf.finalize_timeout);
    u->proc = req->peer->proc;
    px_upcall_returned(
        u, srv->module.client_finalized(&u->proc, object, px_upcall_op_cb, u));
    return PX_DEFERRED;
}

/* Asks the host once the last connection of a rank has finalized. */
static pmix_status_t finalize_at_host(struct px_server *srv, struct px_req *req)
{
    const struct px_local *local = req->peer->local;

    if (!local || local->of_tool || !local->finalized || !srv->module.client_finalized)
        return PMIX_SUCCESS;
    return ask_host(srv, req, local->object);
}

/* Goes on with the finalize after all forwarded output was sent. */
static void on_drained(void *arg)
{
    struct px_req *req = arg;
    struct px_server *srv = req->peer->server;
    pmix_status_t rc = srv->stopping ? PMIX_SUCCESS : finalize_at_host(srv, req);

    if (rc != PX_DEFERRED)
        px_req_done(req, rc);
}

static pmix_status_t on_finalize(struct px_server *srv, struct px_req *req)
{
    struct px_peer *peer = req->peer;

    if (peer->finalized)
        return PMIX_SUCCESS;
    px_timeline_stamp(peer->local, PX_STEP_FINALIZE);
    px_timeline_read(peer->local, &req->in);
    px_peer_finalized(srv, peer);
    if (px_pulls_owed(srv, peer) > 0) {
        px_relay_drain(srv, peer, on_drained, req);
        return PX_DEFERRED;
    }
    return finalize_at_host(srv, req);
}

static const struct px_rpc rpcs[] = {
    {PX_OP_REQ, PX_BY_ANY, PX_OWN, .handler = reply_job},
    {PX_OP_GDS_FALLBACK, PX_BY_CLIENT | PX_BY_TOOL, PX_OWN, .handler = on_fallback},
    {PX_OP_ABORT, PX_BY_ANY, PX_OF_USER, .forward = &aborting},
    {PX_OP_FINALIZE, PX_BY_ANY | PX_BY_LEAVING, PX_OWN, .passing = true,
     .handler = on_finalize},
    {0},
};

const struct px_server_part px_job_part = {.name = "job", .rpcs = rpcs};
