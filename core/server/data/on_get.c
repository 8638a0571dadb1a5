/* SPDX-License-Identifier: BSD-3-Clause */
/* PX_OP_GET of a client, and requests for local data that the host makes for another
 * node. A missing value is worth waiting for, worth asking the host for, or will never
 * come. A request waits until the rank commits the key, the host answers, the timeout
 * passes, or the data can no longer come. adr/0028 has the rule. */
#include "core/server/data/on_get.h"

#include "core/base/clock.h"
#include "core/link/conn.h"
#include "core/model/group_values.h"
#include "core/model/jobinfo.h"
#include "core/model/lookup.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "core/server/data/gets.h"
#include "core/server/data/live.h"
#include "core/server/data/memory.h"
#include "core/server/data/reply.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/share.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"

#include <inttypes.h>
#include <string.h>

#define VALUES_PER_ITEM 2u /* compared by find_owner; see px_work */

/* ---- whose it is ---------------------------------------------------------------- */

struct any_rank {
    const char *key;
    pmix_rank_t rank;
    size_t n; /* values compared */
};

static pmix_status_t match_key(void *arg, pmix_rank_t rank, const char *key,
                               const pmix_value_t *value PX_UNUSED)
{
    struct any_rank *any = arg;

    any->n++;
    if (strcmp(key, any->key) != 0)
        return PMIX_SUCCESS;
    any->rank = rank;
    return PMIX_EXISTS;
}

/* Returns the first rank that has a value of the key, or PMIX_RANK_UNDEF. The peer's
 * work are the values that the function compares. */
static pmix_rank_t find_owner(struct px_peer *peer, const struct px_nspace *ns,
                              const char *key)
{
    static const enum px_gds_table tables[] = {PX_GDS_LOCAL, PX_GDS_REMOTE, PX_GDS_JOB};
    struct any_rank any = {.key = key, .rank = PMIX_RANK_UNDEF};

    for (size_t i = 0; key && i < PX_COUNT(tables) && any.rank == PMIX_RANK_UNDEF; i++)
        (void)px_store_walk(&ns->store, tables[i], PMIX_RANK_UNDEF, match_key, &any);
    (void)px_work(peer, any.n / VALUES_PER_ITEM);
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

static void on_fetched(void *arg, const struct px_upcall *answer)
{
    struct fetch *f = arg;
    pmix_status_t status = answer->status;

    /* Without a pending request the job may be deregistered: nothing is stored. */
    if (!status && px_gets_ask(f->server, &f->proc))
        status = store_fetched(f->server, &f->proc, &answer->bytes);
    px_gets_answered(f->server, &f->proc, status);
    px_charge_end(&f->charge);
    free(f);
}

/* Asks the host, once for each rank, whatever number of requests wait. After
 * PMIX_SUCCESS pending may be freed. */
static pmix_status_t ask_host(struct px_server *srv, struct px_pending_get *pending)
{
    bool is_asked = px_gets_ask(srv, &pending->proc);
    struct fetch *f;
    struct px_upcall *u;

    if (!is_asked && !srv->module.direct_modex)
        return PMIX_ERR_NOT_FOUND;
    px_pending_get_ask(pending);
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

    if (ns && (g->text ? px_get_is_here(srv, ns, proc, g->text)
                       : (local ? local->committed : proc->rank == PMIX_RANK_WILDCARD)))
        return PMIX_SUCCESS;
    if (local && (local->finalized || local->lost ||
                  (ns && px_get_is_out_of_scope(srv, ns, proc, g->text))))
        return PMIX_ERR_NOT_FOUND;
    if (now || (g->text && ns && ns->complete && px_key_is_reserved(g->text)))
        return PMIX_ERR_NOT_FOUND;
    if (local) /* values of a failed commit do not come */
        return local->commit_status ? local->commit_status : PX_DEFERRED;
    if (ns && ns->complete && proc->rank == PMIX_RANK_WILDCARD)
        return PMIX_ERR_NOT_FOUND;
    /* A rank beyond the job's size does not exist. */
    if (ns && ns->job_size && proc->rank < PMIX_RANK_VALID &&
        proc->rank >= ns->job_size)
        return PMIX_ERR_NOT_FOUND;
    return PX_DEFERRED;
}

/* Computes the present value of a live key, unless the host has given a value. Computes
 * the facts that another library's client does not find in its job's information. */
static pmix_status_t find_computed(struct px_server *srv, struct px_req *req,
                                   const struct px_nspace *ns, const pmix_proc_t *proc,
                                   const struct px_args *g, pmix_value_t *v)
{
    struct px_lookup l;

    if (px_key_is_live(px_job_key_find(g->text)) &&
        !px_get_is_here(srv, ns, proc, g->text))
        return px_live_find(req, proc, g->text, v);
    if (px_peer_is_ours(req->peer) || strcmp(ns->name, req->peer->proc.nspace) != 0)
        return PMIX_ERR_NOT_FOUND;
    px_lookup_init(&l, g->text, proc->rank, g->info.v, g->info.n);
    return px_lookup_find(srv->model, ns, &l, v);
}

static pmix_status_t serve_computed(struct px_server *srv, struct px_req *req,
                                    const struct px_nspace *ns, const pmix_proc_t *proc,
                                    const struct px_args *g)
{
    pmix_value_t v;
    pmix_status_t rc = ns && g->text && px_key_is_reserved(g->text)
                           ? find_computed(srv, req, ns, proc, g, &v)
                           : PMIX_ERR_NOT_FOUND;

    if (rc)
        return rc;
    px_reply_value(req, proc, g->text, &v);
    px_type_destruct(PMIX_VALUE, &v);
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
        proc.rank = find_owner(req->peer, ns, g->text);
        if (proc.rank == PMIX_RANK_UNDEF)
            return PMIX_ERR_NOT_FOUND;
    }
    rc = serve_computed(srv, req, ns, &proc, g);
    if (rc != PMIX_ERR_NOT_FOUND)
        return rc;
    rc = judge(srv, ns, &proc, g);
    if (rc == PMIX_SUCCESS) {
        px_reply_found(req, ns, &proc, g->text,
                       px_info_flag(g->info.v, g->info.n, PX_GET_PARTS) ? PX_REPLY_PARTS
                                                                        : PX_REPLY_ALL);
        return PX_DEFERRED;
    }
    if (rc != PX_DEFERRED)
        return rc;
    struct px_pending_get *w = px_pending_get_new(req, &proc, g->text, g->info.v,
                                                  g->info.n);
    if (!w)
        return PMIX_ERR_NOMEM;
    if (px_local_find(srv, &proc))
        return PX_DEFERRED;
    rc = ask_host(srv, w);
    if (!rc)
        return PX_DEFERRED;
    px_pending_get_free(w);
    return rc;
}

static pmix_status_t on_get(struct px_server *srv, struct px_req *req)
{
    PX_AUTO(px_args) g = {0};
    pmix_status_t rc = px_req_unpack(req, &g, px_request_get.args);
    struct px_args named = g;
    const char *key = g.text;
    px_group_name name;

    if (!rc && (!g.nspace || strlen(g.nspace) > PMIX_MAX_NSLEN || !has_owner(g.rank)))
        rc = PMIX_ERR_BAD_PARAM;
    if (!rc)
        rc = px_group_name_read(&key, g.info.v, g.info.n, name);
    named.text = (char *)key;
    return rc ? rc : serve_get(srv, req, &named);
}

/* ---- the host asks for a rank of ours -------------------------------------------- */

static void serve_host(struct px_server *srv, struct px_pending_get *w)
{
    struct px_nspace *ns = px_nspace_find(srv->model, w->proc.nspace);
    struct px_local *local = px_local_find(srv, &w->proc);
    bool is_job = w->proc.rank == PMIX_RANK_WILDCARD;

    w->server = srv;
    if (ns && (is_job || (local && local->committed)))
        px_pending_get_end(w, PMIX_SUCCESS);
    else if (local ? local->finalized || local->lost : ns && ns->complete)
        px_pending_get_end(w, PMIX_ERR_NOT_FOUND);
    else if (local && local->commit_status)
        px_pending_get_end(w, local->commit_status);
    else if (px_pending_get_begin(w, srv, 0))
        px_pending_get_end(w, PMIX_ERR_NOMEM);
}

static void on_dmodex_request(struct px_msg *msg)
{
    struct px_pending_get *w = PX_CONTAINER_OF(msg, struct px_pending_get, msg);
    struct px_server *srv = px_process.server; /* NULL after the server's end */

    if (srv && !srv->stopping) {
        serve_host(srv, w);
        return;
    }
    w->host_cb(PMIX_ERR_INIT, NULL, 0, w->host_cbdata); /* the server has ended */
    px_pending_get_free(w);
}

PX_EXPORT pmix_status_t PMIx_server_dmodex_request(const pmix_proc_t *proc,
                                                   pmix_dmodex_response_fn_t cbfunc,
                                                   void *cbdata)
{
    struct px_pending_get *w;

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
    px_pending_get_free(w);
    return PMIX_ERR_INIT;
}

static const struct px_rpc rpcs[] = {
    {PX_OP_GET, PX_BY_ANY, PX_OF_USER, .handler = on_get},
    {0},
};

const struct px_server_part px_get_part = {
    .name = "get",
    .rpcs = rpcs,
    PX_PART_STATE(gets, struct px_gets),
    .create = px_gets_create,
    .stop = px_gets_stop,
    .destroy = px_gets_destroy,
    .peer_room = px_gets_peer_room,
    .peer_gone = px_gets_peer_gone,
    .rank_gone = px_gets_rank_gone,
    .nspace_gone = px_gets_nspace_gone,
};
