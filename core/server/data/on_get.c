/* SPDX-License-Identifier: BSD-3-Clause */
/* Get. A value that is not here is worth waiting for, worth asking the host for, or
 * will never come. */
#include "core/model/jobinfo.h"
#include "core/server/upcall.h"
#include "core/server/data/pending_get.h"
#include "core/wire/requests.h"

#include <string.h>

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
};

static pmix_status_t store_fetched(const pmix_proc_t *proc, const px_buf *bytes)
{
    struct px_nspace *ns = NULL;
    px_reader r;
    pmix_status_t rc = px_nspace_get(px_process.model, proc->nspace, &ns);

    if (rc)
        return rc;
    px_reader_init(&r, px_codec_default, bytes->data, bytes->len);
    return px_jobinfo_unpack_rank(px_process.model, ns, proc->rank, &r);
}

static bool waits_for(const struct px_pending_get *w, const pmix_proc_t *proc)
{
    return w->asked_host && px_proc_same(&w->proc, proc);
}

static bool is_awaited(struct px_server *srv, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&srv->dmodex, struct px_pending_get, w, link) {
        if (waits_for(w, proc))
            return true;
    }
    return false;
}

static void on_fetched(void *arg, const struct px_upcall *answer)
{
    struct fetch *f = arg;
    pmix_status_t status = answer->status;

    /* With no request left, the job may have been forgotten: nothing is stored. */
    if (!status && is_awaited(f->server, &f->proc))
        status = store_fetched(&f->proc, &answer->bytes);
    PX_LIST_EACH (&f->server->dmodex, struct px_pending_get, w, link) {
        if (waits_for(w, &f->proc))
            px_pending_get_end(w, status);
    }
    free(f);
}

/* Asks once for each rank, however many wait. After PMIX_SUCCESS pending may be
 * gone. */
static pmix_status_t ask_host(struct px_server *srv, struct px_pending_get *pending)
{
    struct fetch *f;
    struct px_upcall *u;

    PX_LIST_EACH (&srv->dmodex, struct px_pending_get, w, link) {
        if (w != pending && w->asked_host && px_proc_same(&w->proc, &pending->proc)) {
            pending->asked_host = true;
            return PMIX_SUCCESS;
        }
    }
    if (!srv->module.direct_modex)
        return PMIX_ERR_NOT_FOUND;
    f = calloc(1, sizeof *f);
    u = f ? px_upcall_new(on_fetched, f) : NULL;
    if (!u) {
        free(f);
        return PMIX_ERR_NOMEM;
    }
    f->server = srv;
    f->proc = u->proc = pending->proc;
    pending->asked_host = true;
    if (pending->key &&
        px_infos_add(&u->args.info, PMIX_REQUIRED_KEY, pending->key, PMIX_STRING)) {
        px_upcall_drop(u);
        free(f);
        return PMIX_ERR_NOMEM;
    }
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

    if (ns && (g->text ? px_get_is_here(srv, ns, proc, g->text)
                       : (local ? local->committed : proc->rank == PMIX_RANK_WILDCARD)))
        return PMIX_SUCCESS;
    if (local && (local->committed || local->finalized || local->lost))
        return PMIX_ERR_NOT_FOUND;
    if (now)
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
    struct px_nspace *ns = px_nspace_find(px_process.model, g->nspace);
    pmix_proc_t proc;

    px_proc_set(&proc, g->nspace, g->rank);
    pmix_status_t rc = px_req_may(req, &proc, 1);
    if (rc)
        return rc;
    if (ns && g->rank == PMIX_RANK_UNDEF) {
        proc.rank = find_owner(ns, g->text);
        if (proc.rank == PMIX_RANK_UNDEF)
            return PMIX_ERR_NOT_FOUND;
    }
    rc = judge(srv, ns, &proc, g);
    if (rc == PMIX_SUCCESS) {
        px_get_reply(req, ns, &proc);
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
    struct px_args g = {0};
    pmix_status_t rc = px_unpack_args(&req->in, &g, px_request_get.args);

    if (!rc && (!g.nspace || strlen(g.nspace) > PMIX_MAX_NSLEN || !has_owner(g.rank)))
        rc = PMIX_ERR_BAD_PARAM;
    if (!rc)
        rc = serve_get(srv, req, &g);
    px_args_cleanup(&g);
    return rc;
}

static const struct px_rpc rpcs[] = {
    {PX_OP_GET, PX_BY_ANY, PX_OF_USER, .handler = on_get},
    {0},
};

const struct px_server_part px_get_part = {
    .name = "get",
    .rpcs = rpcs,
    .stop = px_pending_get_stop,
    .peer_gone = px_pending_get_peer_gone,
    .rank_gone = px_pending_get_rank_gone,
    .nspace_gone = px_pending_get_nspace_gone,
};
