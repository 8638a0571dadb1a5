/* SPDX-License-Identifier: BSD-3-Clause */
/* PX_OP_GET of a client, and requests for local data that the host makes for another
 * node. A missing value is worth waiting for, worth asking the host for, or will never
 * come. A request waits until the rank commits the key, the host answers, the timeout
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

struct pending_get {
    struct px_msg msg;   /* carries the host's request in and the reply out */
    struct px_list link; /* in part.pending_gets */
    struct px_server *server;
    pmix_proc_t proc;
    char *key;          /* NULL: all values */
    struct px_req *req; /* request of a client; NULL: the host requests */
    pmix_dmodex_response_fn_t host_cb;
    void *host_cbdata;
    pmix_status_t status; /* reply to the host */
    px_buf bytes;
    struct px_timer *timer; /* NULL: neither end_ms nor report_ms is set */
    uint64_t begin_ms;
    uint64_t end_ms;    /* deadline; 0: none */
    uint64_t report_ms; /* when to log the delay; 0: not at all, or already logged */
    enum px_reply_extent extent;
    bool asked_host;
    bool is_ready; /* the reply waits until the client has read what was sent to it */
};

/* Frees the request without a reply. */
static void pending_get_free(struct pending_get *w)
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
    struct pending_get *w = PX_CONTAINER_OF(msg, struct pending_get, msg);

    w->host_cb(w->status, (char *)w->bytes.data, w->bytes.len, w->host_cbdata);
    pending_get_free(w);
}

/* Posts the reply: in its callback the host may change the list that the caller
 * walks. */
static void answer_host(struct pending_get *w, const struct px_nspace *ns,
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

/* Ends the request. status PMIX_SUCCESS: replies with the values present now, or
 * PMIX_ERR_NOT_FOUND if the key is not among them. */
static void pending_get_end(struct pending_get *w, pmix_status_t status)
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
    w->is_ready = !status && peer->conn && px_conn_is_full(peer->conn);
    if (w->is_ready) { /* more replies to a peer that does not read would pile up */
        w->asked_host = false;
        px_list_append(&w->server->part.pending_gets, &w->link);
        px_timer_free(px_take(&w->timer));
        return;
    }
    if (status)
        px_req_done(w->req, status);
    else
        px_reply_found(w->req, ns, &w->proc, w->key, w->extent);
    pending_get_free(w);
}

/* Ends one of several requests. Of consecutive requests of one client, only the first
 * gets all values. *last is the client of the request before. */
static void pending_get_end_next(struct pending_get *w, const struct px_peer **last)
{
    const struct px_peer *peer = w->req ? w->req->peer : NULL;

    if (peer && peer == *last)
        w->extent = PX_REPLY_KEY;
    *last = peer;
    pending_get_end(w, PMIX_SUCCESS);
}

/* Logs which process waits for which key of which process. A program that waits for a
 * key that is never put looks as if the library hung. */
static void report(const struct pending_get *w, uint64_t now_ms)
{
    const pmix_proc_t *asker = w->req ? &w->req->peer->proc : &w->server->proc;

    px_log(PX_LOG_WARN, "get",
           "%s%s:%u has waited %" PRIu64 " s for %s%s%s of %s:%u, which %s",
           w->req ? "" : "the host of ", asker->nspace, asker->rank,
           (now_ms - w->begin_ms) / 1000, w->key ? "key \"" : "all keys",
           w->key ? w->key : "", w->key ? "\"" : "", w->proc.nspace, w->proc.rank,
           w->asked_host ? "the host has not brought" : "has not committed such a key");
}

static void set_timer(struct pending_get *w, uint64_t now_ms)
{
    uint64_t at = w->end_ms;

    if (w->report_ms && (!at || w->report_ms < at))
        at = w->report_ms;
    if (at)
        px_timer_set(w->timer, at > now_ms ? at - now_ms : 0);
}

static void on_time(void *arg)
{
    struct pending_get *w = arg;
    uint64_t now_ms = px_clock_ms();

    if (w->report_ms && now_ms >= w->report_ms) {
        report(w, now_ms);
        w->report_ms = 0;
    }
    if (w->end_ms && now_ms >= w->end_ms)
        pending_get_end(w, PMIX_ERR_TIMEOUT);
    else
        set_timer(w, now_ms);
}

/* Lists the request and sets its timer. timeout_ms is the caller's; 0: none. */
static pmix_status_t pending_get_begin(struct pending_get *w, struct px_server *srv,
                                       uint64_t timeout_ms)
{
    const struct px_server_conf *conf = &srv->conf;

    w->server = srv;
    w->begin_ms = px_clock_ms();
    if (conf->get_timeout && (!timeout_ms || conf->get_timeout < timeout_ms))
        timeout_ms = conf->get_timeout;
    w->end_ms = timeout_ms ? w->begin_ms + timeout_ms : 0;
    w->report_ms = conf->get_report ? w->begin_ms + conf->get_report : 0;
    px_list_append(&srv->part.pending_gets, &w->link);
    if (!w->end_ms && !w->report_ms)
        return PMIX_SUCCESS;
    w->timer = px_timer_create(srv->loop, on_time, w);
    if (!w->timer)
        return PMIX_ERR_NOMEM;
    set_timer(w, w->begin_ms);
    return PMIX_SUCCESS;
}

/* Creates a pending request of a client. info may hold PMIX_TIMEOUT. */
static struct pending_get *pending_get_new(struct px_req *req, const pmix_proc_t *proc,
                                           const char *key, const pmix_info_t *info,
                                           size_t n)
{
    uint32_t seconds = px_info_u32(info, n, PMIX_TIMEOUT, 0);
    struct pending_get *w = calloc(1, sizeof(*w));

    if (!w)
        return NULL;
    w->req = req;
    w->proc = *proc;
    w->key = key ? strdup(key) : NULL;
    w->extent = px_info_flag(info, n, PX_GET_PARTS) ? PX_REPLY_PARTS : PX_REPLY_ALL;
    if (pending_get_begin(w, req->peer->server, seconds * 1000ull) ||
        (key && !w->key)) {
        pending_get_free(w);
        return NULL;
    }
    return w;
}

/* ---- what ends a wait ------------------------------------------------------------ */

/* Ends the requests that wait for a commit of the rank. A key that was not in this
 * commit may be in the next. */
void px_get_data_arrived(struct px_server *srv, const pmix_proc_t *proc)
{
    struct px_nspace *ns = px_nspace_find(srv->model, proc->nspace);
    const struct px_peer *last = NULL;

    PX_LIST_EACH (&srv->part.pending_gets, struct pending_get, w, link) {
        if (w->asked_host || w->is_ready || !px_proc_same(&w->proc, proc))
            continue;
        if (!w->key || is_here(srv, ns, proc, w->key))
            pending_get_end_next(w, &last);
        else if (is_out_of_scope(srv, ns, proc, w->key))
            pending_get_end(w, PMIX_ERR_NOT_FOUND);
    }
}

static void rank_gone(struct px_server *srv, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&srv->part.pending_gets, struct pending_get, w, link)
        if (!w->asked_host && !w->is_ready && px_proc_same(&w->proc, proc))
            pending_get_end(w, PMIX_ERR_NOT_FOUND);
}

static void nspace_gone(struct px_server *srv, const char *nspace,
                        struct px_nspace *ns PX_UNUSED)
{
    PX_LIST_EACH (&srv->part.pending_gets, struct pending_get, w, link)
        if (strcmp(w->proc.nspace, nspace) == 0)
            pending_get_end(w, PMIX_ERR_NOT_FOUND);
}

static void peer_room(struct px_server *srv, struct px_peer *peer)
{
    PX_LIST_EACH (&srv->part.pending_gets, struct pending_get, w, link) {
        if (!peer->conn || px_conn_is_full(peer->conn))
            break;
        if (w->is_ready && w->req->peer == peer)
            pending_get_end(w, PMIX_SUCCESS);
    }
}

static void peer_gone(struct px_server *srv, struct px_peer *peer)
{
    PX_LIST_EACH (&srv->part.pending_gets, struct pending_get, w, link) {
        if (w->req && w->req->peer == peer)
            pending_get_end(w, PMIX_ERR_LOST_CONNECTION);
    }
}

static void stop(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.pending_gets, struct pending_get, w, link)
        pending_get_end(w, PMIX_ERR_LOST_CONNECTION);
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

/* Returns the first rank that has a value of the key, or PMIX_RANK_UNDEF. */
static pmix_rank_t find_owner(const struct px_nspace *ns, const char *key)
{
    static const enum px_gds_table tables[] = {PX_GDS_LOCAL, PX_GDS_REMOTE, PX_GDS_JOB};
    struct any_rank any = {.key = key, .rank = PMIX_RANK_UNDEF};

    for (size_t i = 0; key && i < PX_COUNT(tables) && any.rank == PMIX_RANK_UNDEF; i++)
        (void)px_store_walk(&ns->store, tables[i], PMIX_RANK_UNDEF, match_key, &any);
    return any.rank;
}

/* ---- asking the host ------------------------------------------------------------- */

/* Request to the host. The pending requests are found by the process, since each may
 * end before the host answers. */
struct fetch {
    struct px_server *server;
    pmix_proc_t proc;
    struct px_charge charge; /* ends with the host's answer, not with the request */
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

/* Returns a request that waits for the host's data of proc, or NULL. */
static struct pending_get *find_asked(struct px_server *srv, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&srv->part.pending_gets, struct pending_get, w, link)
        if (w->asked_host && px_proc_same(&w->proc, proc))
            return w;
    return NULL;
}

static void on_fetched(void *arg, const struct px_upcall *answer)
{
    struct fetch *f = arg;
    struct pending_get *w = find_asked(f->server, &f->proc);
    pmix_status_t status = answer->status;
    const struct px_peer *last = NULL;

    /* Without a pending request the job may be deregistered: nothing is stored. */
    if (!status && w)
        status = store_fetched(f->server, &f->proc, &answer->bytes);
    for (; w; w = find_asked(f->server, &f->proc)) {
        if (status)
            pending_get_end(w, status);
        else
            pending_get_end_next(w, &last);
    }
    px_charge_end(&f->charge);
    free(f);
}

/* Asks the host, once for each rank, whatever number of requests wait. After
 * PMIX_SUCCESS pending may be freed. */
static pmix_status_t ask_host(struct px_server *srv, struct pending_get *pending)
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

/* True if a rank may have data: a valid one, WILDCARD or UNDEF. */
static bool has_owner(pmix_rank_t rank)
{
    return rank < PMIX_RANK_VALID || rank == PMIX_RANK_WILDCARD ||
           rank == PMIX_RANK_UNDEF;
}

/* Decides a request. PMIX_SUCCESS: the data are here. PX_DEFERRED: wait for them. Any
 * error: they will never come. */
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
    /* A rank beyond the job's size does not exist. */
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
    struct pending_get *w = pending_get_new(req, &proc, g->text, g->info.v, g->info.n);
    if (!w)
        return PMIX_ERR_NOMEM;
    if (px_local_find(srv, &proc))
        return PX_DEFERRED;
    rc = ask_host(srv, w);
    if (!rc)
        return PX_DEFERRED;
    pending_get_free(w);
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

static void serve_host(struct px_server *srv, struct pending_get *w)
{
    struct px_nspace *ns = px_nspace_find(srv->model, w->proc.nspace);
    struct px_local *local = px_local_find(srv, &w->proc);
    bool is_job = w->proc.rank == PMIX_RANK_WILDCARD;

    w->server = srv;
    if (ns && (is_job || (local && local->committed)))
        pending_get_end(w, PMIX_SUCCESS);
    else if (local ? local->finalized || local->lost : ns && ns->complete)
        pending_get_end(w, PMIX_ERR_NOT_FOUND);
    else if (pending_get_begin(w, srv, 0))
        pending_get_end(w, PMIX_ERR_NOMEM);
}

static void on_dmodex_request(struct px_msg *msg)
{
    struct pending_get *w = PX_CONTAINER_OF(msg, struct pending_get, msg);
    struct px_server *srv = px_process.server; /* NULL after the server's end */

    if (srv && !srv->stopping) {
        serve_host(srv, w);
        return;
    }
    w->host_cb(PMIX_ERR_INIT, NULL, 0, w->host_cbdata); /* the server has ended */
    pending_get_free(w);
}

PX_EXPORT pmix_status_t PMIx_server_dmodex_request(const pmix_proc_t *proc,
                                                   pmix_dmodex_response_fn_t cbfunc,
                                                   void *cbdata)
{
    struct pending_get *w;

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
    pending_get_free(w);
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
