/* SPDX-License-Identifier: BSD-3-Clause */
/* Get, of a client, or of the host on behalf of another node. A value that is not here
 * is worth waiting for, worth asking the host for, or will never come. Requests wait
 * until the rank commits their key, the host brings what it was asked for, the deadline
 * passes, or the data can no longer come. adr/0028 has the rule. */
#include "core/server/data/on_get.h"

#include "core/base/clock.h"
#include "core/link/conn.h"
#include "core/model/jobinfo.h"
#include "core/model/lookup.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "core/server/data/memory.h"
#include "core/server/data/reply.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/share.h"
#include "core/server/server.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"

#include <inttypes.h>
#include <string.h>

struct waiting {
    struct px_msg msg;   /* brings the host's question in and the answer out */
    struct px_list link; /* in part.waiting_gets */
    struct px_server *server;
    pmix_proc_t proc;
    char *key;          /* NULL: everything */
    struct px_req *req; /* a client asks; NULL: the host does */
    pmix_dmodex_response_fn_t host_cb;
    void *host_cbdata;
    pmix_status_t status; /* the answer to the host */
    px_buf bytes;
    struct px_timer *timer; /* NULL: neither of the following */
    uint64_t begin_ms;
    uint64_t end_ms;    /* deadline; 0: never */
    uint64_t report_ms; /* time of the log line; 0: none, or already written */
    enum px_reply_extent extent;
    bool asked_host;
    bool is_ready; /* to be answered when the client has read what it was sent */
};

/* Without an answer. */
static void waiting_free(struct waiting *w)
{
    px_list_remove(&w->link);
    px_timer_free(w->timer);
    px_buf_cleanup(&w->bytes);
    free(w->key);
    free(w);
}

/* ---- answers --------------------------------------------------------------------- */

static bool is_here(struct px_server *srv, const struct px_nspace *ns,
                    const pmix_proc_t *proc, const char *key)
{
    struct px_lookup l;
    pmix_value_t v;

    if (px_store_has(&ns->store, px_reply_table(srv, proc), proc->rank, key))
        return true;
    px_lookup_init(&l, key, proc->rank, NULL, 0);
    l.want_local = px_reply_table(srv, proc) == PX_GDS_LOCAL;
    l.want_remote = !l.want_local;
    l.skip_internal = true;
    if (px_lookup_find(srv->model, ns, &l, &v))
        return false;
    px_type_destruct(PMIX_VALUE, &v);
    return true;
}

/* True if a local rank has committed the key for other nodes only. No process of this
 * node will see the key. */
static bool is_out_of_scope(struct px_server *srv, const struct px_nspace *ns,
                            const pmix_proc_t *proc, const char *key)
{
    return key && px_local_find(srv, proc) &&
           px_store_has(&ns->store, PX_GDS_REMOTE, proc->rank, key);
}

/* ---- waiting --------------------------------------------------------------------- */

static void reply_to_host(struct px_msg *msg)
{
    struct waiting *w = PX_CONTAINER_OF(msg, struct waiting, msg);

    w->host_cb(w->status, (char *)w->bytes.data, w->bytes.len, w->host_cbdata);
    waiting_free(w);
}

/* Posted: the host may do in its callback what changes the list we may be walking. */
static void answer_host(struct waiting *w, const struct px_nspace *ns,
                        pmix_status_t status)
{
    PX_AUTO(px_writer) body;

    px_writer_init(&body, px_codec_default);
    if (!status) {
        px_reply_pack_remote(&body, w->server, ns, w->proc.rank);
        status = body.status;
    }
    if (!status)
        w->bytes = px_buf_take(&body.buf);
    w->status = status;
    px_timer_free(px_take(&w->timer));
    w->msg.run = reply_to_host;
    px_post(w->server->loop, &w->msg);
}

/* Answers; with PMIX_SUCCESS by what there is now, if the key is among it. */
static void waiting_end(struct waiting *w, pmix_status_t status)
{
    struct px_nspace *ns = px_nspace_find(w->server->model, w->proc.nspace);

    px_list_remove(&w->link);
    if (!status && (!ns || (w->key && !is_here(w->server, ns, &w->proc, w->key))))
        status = PMIX_ERR_NOT_FOUND;
    if (!w->req) {
        answer_host(w, ns, status);
        return;
    }
    const struct px_peer *peer = w->req->peer;
    w->is_ready = !status && peer->conn && px_conn_is_held(peer->conn);
    if (w->is_ready) { /* answers to a peer that does not read would only pile up */
        w->asked_host = false;
        px_list_append(&w->server->part.waiting_gets, &w->link);
        px_timer_free(px_take(&w->timer));
        return;
    }
    if (status)
        px_req_done(w->req, status);
    else
        px_reply_found(w->req, ns, &w->proc, w->key, w->extent);
    waiting_free(w);
}

/* With the others of its client that end now: the first answer brings it all. */
static void waiting_end_too(struct waiting *w, const struct px_peer **told)
{
    const struct px_peer *peer = w->req ? w->req->peer : NULL;

    if (peer && peer == *told)
        w->extent = PX_REPLY_KEY;
    *told = peer;
    waiting_end(w, PMIX_SUCCESS);
}

/* Names the process that waits, the key and its owner: a program that waits for a key
 * that no process puts looks as if the library hung. */
static void report(const struct waiting *w, uint64_t now_ms)
{
    const pmix_proc_t *asker = w->req ? &w->req->peer->proc : &w->server->proc;

    px_log(PX_LOG_WARN, "get",
           "%s%s:%u has waited %" PRIu64 " s for %s%s%s of %s:%u, which %s",
           w->req ? "" : "the host of ", asker->nspace, asker->rank,
           (now_ms - w->begin_ms) / 1000, w->key ? "key \"" : "all keys",
           w->key ? w->key : "", w->key ? "\"" : "", w->proc.nspace, w->proc.rank,
           w->asked_host ? "the host has not brought" : "has not committed such a key");
}

static void set_timer(struct waiting *w, uint64_t now_ms)
{
    uint64_t at = w->end_ms;

    if (w->report_ms && (!at || w->report_ms < at))
        at = w->report_ms;
    if (at)
        px_timer_set(w->timer, at > now_ms ? at - now_ms : 0);
}

static void on_time(void *arg)
{
    struct waiting *w = arg;
    uint64_t now_ms = px_clock_ms();

    if (w->report_ms && now_ms >= w->report_ms) {
        report(w, now_ms);
        w->report_ms = 0;
    }
    if (w->end_ms && now_ms >= w->end_ms)
        waiting_end(w, PMIX_ERR_TIMEOUT);
    else
        set_timer(w, now_ms);
}

/* Lists the request and limits its wait. timeout_ms: its own; 0: none. */
static pmix_status_t waiting_begin(struct waiting *w, struct px_server *srv,
                                   uint64_t timeout_ms)
{
    const struct px_server_conf *conf = &srv->conf;

    w->server = srv;
    w->begin_ms = px_clock_ms();
    if (conf->get_timeout && (!timeout_ms || conf->get_timeout < timeout_ms))
        timeout_ms = conf->get_timeout;
    w->end_ms = timeout_ms ? w->begin_ms + timeout_ms : 0;
    w->report_ms = conf->get_report ? w->begin_ms + conf->get_report : 0;
    px_list_append(&srv->part.waiting_gets, &w->link);
    if (!w->end_ms && !w->report_ms)
        return PMIX_SUCCESS;
    w->timer = px_timer_create(srv->loop, on_time, w);
    if (!w->timer)
        return PMIX_ERR_NOMEM;
    set_timer(w, w->begin_ms);
    return PMIX_SUCCESS;
}

/* Parks the request of a client, with the PMIX_TIMEOUT that info may hold. */
static struct waiting *waiting_new(struct px_req *req, const pmix_proc_t *proc,
                                   const char *key, const pmix_info_t *info, size_t n)
{
    uint32_t seconds = px_info_u32(info, n, PMIX_TIMEOUT, 0);
    struct waiting *w = calloc(1, sizeof(*w));

    if (!w)
        return NULL;
    w->req = req;
    w->proc = *proc;
    w->key = key ? strdup(key) : NULL;
    w->extent = px_info_flag(info, n, PX_GET_PARTS) ? PX_REPLY_PARTS : PX_REPLY_ALL;
    if (waiting_begin(w, req->peer->server, seconds * 1000ull) || (key && !w->key)) {
        waiting_free(w);
        return NULL;
    }
    return w;
}

/* ---- what ends a wait ------------------------------------------------------------ */

/* Answers the requests that wait for the rank itself, not for the host. A key that the
 * rank has not committed yet may be among the values of its next commit. */
void px_get_data_arrived(struct px_server *srv, const pmix_proc_t *proc)
{
    struct px_nspace *ns = px_nspace_find(srv->model, proc->nspace);
    const struct px_peer *told = NULL;

    PX_LIST_EACH (&srv->part.waiting_gets, struct waiting, w, link) {
        if (w->asked_host || w->is_ready || !px_proc_same(&w->proc, proc))
            continue;
        if (!w->key || is_here(srv, ns, proc, w->key))
            waiting_end_too(w, &told);
        else if (is_out_of_scope(srv, ns, proc, w->key))
            waiting_end(w, PMIX_ERR_NOT_FOUND);
    }
}

static void rank_gone(struct px_server *srv, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&srv->part.waiting_gets, struct waiting, w, link)
        if (!w->asked_host && !w->is_ready && px_proc_same(&w->proc, proc))
            waiting_end(w, PMIX_ERR_NOT_FOUND);
}

static void nspace_gone(struct px_server *srv, const char *nspace,
                        struct px_nspace *ns PX_UNUSED)
{
    PX_LIST_EACH (&srv->part.waiting_gets, struct waiting, w, link)
        if (strcmp(w->proc.nspace, nspace) == 0)
            waiting_end(w, PMIX_ERR_NOT_FOUND);
}

static void peer_room(struct px_server *srv, struct px_peer *peer)
{
    PX_LIST_EACH (&srv->part.waiting_gets, struct waiting, w, link) {
        if (!peer->conn || px_conn_is_held(peer->conn))
            break;
        if (w->is_ready && w->req->peer == peer)
            waiting_end(w, PMIX_SUCCESS);
    }
}

static void peer_gone(struct px_server *srv, struct px_peer *peer)
{
    PX_LIST_EACH (&srv->part.waiting_gets, struct waiting, w, link) {
        if (w->req && w->req->peer == peer)
            waiting_end(w, PMIX_ERR_LOST_CONNECTION);
    }
}

static void stop(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.waiting_gets, struct waiting, w, link)
        waiting_end(w, PMIX_ERR_LOST_CONNECTION);
}

/* ---- whose it is ---------------------------------------------------------------- */

struct any_rank {
    const char *key;
    pmix_rank_t rank;
};

static pmix_status_t match_key(void *arg, pmix_rank_t rank, const char *key,
                               const pmix_value_t *value PX_UNUSED)
{
    struct any_rank *any = arg;

    if (strcmp(key, any->key) != 0)
        return PMIX_SUCCESS;
    any->rank = rank;
    return PMIX_EXISTS;
}

/* PMIX_RANK_UNDEF: the owner is the first rank that has a value of that key. */
static pmix_rank_t find_owner(const struct px_nspace *ns, const char *key)
{
    static const enum px_gds_table tables[] = {PX_GDS_LOCAL, PX_GDS_REMOTE, PX_GDS_JOB};
    struct any_rank any = {.key = key, .rank = PMIX_RANK_UNDEF};

    for (size_t i = 0; key && i < PX_COUNT(tables) && any.rank == PMIX_RANK_UNDEF; i++)
        (void)px_store_walk(&ns->store, tables[i], PMIX_RANK_UNDEF, match_key, &any);
    return any.rank;
}

/* ---- asking the host ------------------------------------------------------------- */

/* A request is identified by its link in the list: it may have ended while the host was
 * asked. */
struct fetch {
    struct px_server *server;
    pmix_proc_t proc;
    struct px_charge charge; /* the host may keep it when its request has ended */
};

static pmix_status_t store_fetched(struct px_server *srv, const pmix_proc_t *proc,
                                   const px_buf *bytes)
{
    struct px_nspace *ns = NULL;
    px_reader r;
    pmix_status_t rc = px_nspace_get(srv->model, proc->nspace, &ns);

    if (rc)
        return rc;
    px_reader_init(&r, px_codec_default, bytes->data, bytes->len);
    return px_jobinfo_unpack_rank(srv->model, ns, proc->rank, &r);
}

/* Another request that asked the host for the same rank; NULL. */
static struct waiting *find_asked(struct px_server *srv, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&srv->part.waiting_gets, struct waiting, w, link)
        if (w->asked_host && px_proc_same(&w->proc, proc))
            return w;
    return NULL;
}

static void on_fetched(void *arg, const struct px_upcall *answer)
{
    struct fetch *f = arg;
    struct waiting *w = find_asked(f->server, &f->proc);
    pmix_status_t status = answer->status;
    const struct px_peer *told = NULL;

    /* With no request left, the job may have been forgotten: nothing is stored. */
    if (!status && w)
        status = store_fetched(f->server, &f->proc, &answer->bytes);
    for (; w; w = find_asked(f->server, &f->proc)) {
        if (status)
            waiting_end(w, status);
        else
            waiting_end_too(w, &told);
    }
    px_charge_end(&f->charge);
    free(f);
}

/* Asks once for each rank, however many wait. After PMIX_SUCCESS pending may be
 * gone. */
static pmix_status_t ask_host(struct px_server *srv, struct waiting *pending)
{
    bool is_asked = find_asked(srv, &pending->proc);
    struct fetch *f;
    struct px_upcall *u;

    if (!is_asked && !srv->module.direct_modex)
        return PMIX_ERR_NOT_FOUND;
    pending->asked_host = true;
    if (is_asked)
        return PMIX_SUCCESS;
    f = calloc(1, sizeof(*f));
    u = f ? px_upcall_new(srv, on_fetched, f) : NULL;
    pmix_status_t rc = u ? px_charge(&f->charge, pending->req->peer,
                                     sizeof(*f) + sizeof(*u))
                         : PMIX_ERR_NOMEM;
    if (!rc && pending->key)
        rc = px_infos_add(&u->args.info, PMIX_REQUIRED_KEY, pending->key, PMIX_STRING);
    if (rc) {
        px_upcall_drop(u);
        if (f)
            px_charge_end(&f->charge);
        free(f);
        return rc;
    }
    f->server = srv;
    f->proc = u->proc = pending->proc;
    px_upcall_returned(u,
                       srv->module.direct_modex(&u->proc, u->args.info.v,
                                                u->args.info.n, px_upcall_modex_cb, u));
    return PMIX_SUCCESS;
}

/* ---- the request ----------------------------------------------------------------- */

/* Of the special ranks only these can have data. */
static bool has_owner(pmix_rank_t rank)
{
    return rank < PMIX_RANK_VALID || rank == PMIX_RANK_WILDCARD ||
           rank == PMIX_RANK_UNDEF;
}

/* PMIX_SUCCESS: there, reply now. PX_DEFERRED: worth waiting for. Else: never. */
static pmix_status_t judge(struct px_server *srv, struct px_nspace *ns,
                           const pmix_proc_t *proc, const struct px_args *g)
{
    struct px_local *local = px_local_find(srv, proc);
    bool now = px_info_flag(g->info.v, g->info.n, PMIX_IMMEDIATE);

    if (ns && (g->text ? is_here(srv, ns, proc, g->text)
                       : (local ? local->committed : proc->rank == PMIX_RANK_WILDCARD)))
        return PMIX_SUCCESS;
    if (local && (local->finalized || local->lost ||
                  (ns && is_out_of_scope(srv, ns, proc, g->text))))
        return PMIX_ERR_NOT_FOUND;
    if (now || (g->text && ns && ns->complete && px_key_is_reserved(g->text)))
        return PMIX_ERR_NOT_FOUND;
    if (local)
        return PX_DEFERRED;
    if (ns && ns->complete && proc->rank == PMIX_RANK_WILDCARD)
        return PMIX_ERR_NOT_FOUND;
    /* No host can bring a rank that does not exist. */
    if (ns && ns->job_size && proc->rank < PMIX_RANK_VALID &&
        proc->rank >= ns->job_size)
        return PMIX_ERR_NOT_FOUND;
    return PX_DEFERRED;
}

static pmix_status_t serve_get(struct px_server *srv, struct px_req *req,
                               const struct px_args *g)
{
    struct px_nspace *ns = px_nspace_find(srv->model, g->nspace);
    pmix_proc_t proc;

    px_proc_set(&proc, g->nspace, g->rank);
    pmix_status_t rc = px_req_may(req, &proc, 1);
    if (rc)
        return rc;
    if (ns && px_info_flag(g->info.v, g->info.n, PX_STORE_MESSAGES))
        px_peer_cannot_read(req->peer, ns);
    if (ns && g->rank == PMIX_RANK_UNDEF) {
        proc.rank = find_owner(ns, g->text);
        if (proc.rank == PMIX_RANK_UNDEF)
            return PMIX_ERR_NOT_FOUND;
    }
    rc = judge(srv, ns, &proc, g);
    if (rc == PMIX_SUCCESS) {
        px_reply_found(req, ns, &proc, g->text,
                       px_info_flag(g->info.v, g->info.n, PX_GET_PARTS) ? PX_REPLY_PARTS
                                                                        : PX_REPLY_ALL);
        return PX_DEFERRED;
    }
    if (rc != PX_DEFERRED)
        return rc;
    struct waiting *w = waiting_new(req, &proc, g->text, g->info.v, g->info.n);
    if (!w)
        return PMIX_ERR_NOMEM;
    if (px_local_find(srv, &proc))
        return PX_DEFERRED;
    rc = ask_host(srv, w);
    if (!rc)
        return PX_DEFERRED;
    waiting_free(w);
    return rc;
}

static pmix_status_t on_get(struct px_server *srv, struct px_req *req)
{
    struct px_args g = {0};
    pmix_status_t rc = px_req_unpack(req, &g, px_request_get.args);

    if (!rc && (!g.nspace || strlen(g.nspace) > PMIX_MAX_NSLEN || !has_owner(g.rank)))
        rc = PMIX_ERR_BAD_PARAM;
    if (!rc)
        rc = serve_get(srv, req, &g);
    px_args_cleanup(&g);
    return rc;
}

/* ---- the host asks for a rank of ours -------------------------------------------- */

static void serve_host(struct px_server *srv, struct waiting *w)
{
    struct px_nspace *ns = px_nspace_find(srv->model, w->proc.nspace);
    struct px_local *local = px_local_find(srv, &w->proc);
    bool is_job = w->proc.rank == PMIX_RANK_WILDCARD;

    w->server = srv;
    if (ns && (is_job || (local && local->committed)))
        waiting_end(w, PMIX_SUCCESS);
    else if (local ? local->finalized || local->lost : ns && ns->complete)
        waiting_end(w, PMIX_ERR_NOT_FOUND);
    else if (waiting_begin(w, srv, 0))
        waiting_end(w, PMIX_ERR_NOMEM);
}

static void on_dmodex_request(struct px_msg *msg)
{
    struct waiting *w = PX_CONTAINER_OF(msg, struct waiting, msg);
    struct px_server *srv = px_process.server; /* NULL after the end */

    if (srv && !srv->stopping) {
        serve_host(srv, w);
        return;
    }
    w->host_cb(PMIX_ERR_INIT, NULL, 0, w->host_cbdata); /* too late */
    waiting_free(w);
}

PX_EXPORT pmix_status_t PMIx_server_dmodex_request(const pmix_proc_t *proc,
                                                   pmix_dmodex_response_fn_t cbfunc,
                                                   void *cbdata)
{
    struct waiting *w;

    if (!px_server_here())
        return PMIX_ERR_INIT;
    if (!proc || !cbfunc)
        return PMIX_ERR_BAD_PARAM;
    w = calloc(1, sizeof(*w));
    if (!w)
        return PMIX_ERR_NOMEM;
    w->msg.run = on_dmodex_request;
    px_proc_set(&w->proc, proc->nspace, proc->rank);
    w->host_cb = cbfunc;
    w->host_cbdata = cbdata;
    if (px_process_post(&w->msg))
        return PMIX_SUCCESS;
    waiting_free(w);
    return PMIX_ERR_INIT;
}

static const struct px_rpc rpcs[] = {
    {PX_OP_GET, PX_BY_ANY, PX_OF_USER, .handler = on_get},
    {0},
};

const struct px_server_part px_get_part = {
    .name = "get",
    .rpcs = rpcs,
    .stop = stop,
    .peer_room = peer_room,
    .peer_gone = peer_gone,
    .rank_gone = rank_gone,
    .nspace_gone = nspace_gone,
};
