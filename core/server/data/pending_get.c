/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that wait for a rank's data: what answers them, and what ends the wait. */
#include "core/server/data/pending_get.h"

#include "core/model/jobinfo.h"
#include "core/model/lookup.h"

#include <string.h>

void px_pending_get_free(struct px_pending_get *w)
{
    px_list_remove(&w->link);
    px_timer_free(w->timer);
    px_buf_cleanup(&w->bytes);
    free(w->key);
    free(w);
}

/* ---- answers --------------------------------------------------------------------- */

static pmix_status_t pack_one(void *arg, pmix_rank_t rank PX_UNUSED, const char *key,
                              const pmix_value_t *value)
{
    px_writer *w = arg;
    size_t before = w->buf.len;

    px_pack_kval(w, key, value);
    if (w->status == PMIX_ERR_UNKNOWN_DATA_TYPE) { /* in this dialect: the rest goes */
        w->buf.len = before;
        w->status = PMIX_SUCCESS;
    }
    return w->status;
}

/* KVALs: job information for rank WILDCARD, else what the rank has in the table. */
static void pack_values(px_writer *w, const struct px_nspace *ns, pmix_rank_t rank,
                        enum px_gds_table table)
{
    if (rank == PMIX_RANK_WILDCARD)
        px_jobinfo_pack(px_process.model, ns, w, true);
    else
        (void)px_store_walk(&ns->store, table, rank, pack_one, w);
}

/* One BYTE_OBJECT: PROC, then KVALs. */
static void pack_proc(px_writer *out, const struct px_nspace *ns, pmix_rank_t rank,
                      enum px_gds_table table)
{
    PX_AUTO(px_writer) body;
    pmix_proc_t proc;

    px_writer_init(&body, out->codec);
    px_proc_set(&proc, ns->name, rank);
    px_pack(&body, &proc, 1, PMIX_PROC);
    pack_values(&body, ns, rank, table);
    if (body.status && !out->status)
        out->status = body.status;
    px_pack_bytes(out, body.buf.data, body.buf.len);
}

/* The values of a rank that the reader, a process of this node, may see: those it
 * committed for its node if it lives here too, else what came from its node. */
static enum px_gds_table table_for(struct px_server *srv, const pmix_proc_t *proc)
{
    return px_local_find(srv, proc) ? PX_GDS_LOCAL : PX_GDS_REMOTE;
}

void px_get_reply(struct px_req *req, const struct px_nspace *ns,
                  const pmix_proc_t *proc)
{
    px_writer w;

    px_reply_begin(req, &w, PMIX_SUCCESS);
    if (proc->rank == PMIX_RANK_WILDCARD ||
        strcmp(ns->name, req->peer->proc.nspace) != 0)
        pack_proc(&w, ns, PMIX_RANK_WILDCARD, PX_GDS_JOB);
    if (proc->rank != PMIX_RANK_WILDCARD)
        pack_proc(&w, ns, proc->rank, table_for(req->peer->server, proc));
    px_req_reply(req, &w);
}

bool px_get_is_here(struct px_server *srv, const struct px_nspace *ns,
                    const pmix_proc_t *proc, const char *key)
{
    struct px_lookup l;
    pmix_value_t v;
    bool found = false;

    if (!key)
        return false;
    px_lookup_init(&l, key, proc->rank, NULL, 0);
    l.want_local = table_for(srv, proc) == PX_GDS_LOCAL;
    l.want_remote = !l.want_local;
    l.skip_internal = true;
    if (px_lookup_find(px_process.model, ns, &l, &v) == PMIX_SUCCESS) {
        px_type_destruct(PMIX_VALUE, &v);
        found = true;
    }
    return found;
}

/* ---- waiting --------------------------------------------------------------------- */

static void reply_to_host(struct px_msg *msg)
{
    struct px_pending_get *w = PX_CONTAINER_OF(msg, struct px_pending_get, msg);

    w->host_cb(w->status, (char *)w->bytes.data, w->bytes.len, w->host_cbdata);
    px_pending_get_free(w);
}

/* Posted: the host may do in its callback what changes the list we may be walking. */
static void answer_host(struct px_pending_get *w, const struct px_nspace *ns,
                        pmix_status_t status)
{
    PX_AUTO(px_writer) body;

    px_writer_init(&body, px_codec_default);
    if (!status) {
        pack_values(&body, ns, w->proc.rank, PX_GDS_REMOTE);
        status = body.status;
    }
    if (!status)
        w->bytes = px_buf_take(&body.buf);
    w->status = status;
    w->msg.run = reply_to_host;
    px_post(px_process.loop, &w->msg);
}

void px_pending_get_end(struct px_pending_get *w, pmix_status_t status)
{
    struct px_nspace *ns = px_nspace_find(px_process.model, w->proc.nspace);

    px_list_remove(&w->link);
    if (!status &&
        (!ns || (w->key && !px_get_is_here(w->server, ns, &w->proc, w->key))))
        status = PMIX_ERR_NOT_FOUND;
    if (!w->req) {
        answer_host(w, ns, status);
        return;
    }
    if (status)
        px_req_done(w->req, status);
    else
        px_get_reply(w->req, ns, &w->proc);
    px_pending_get_free(w);
}

static void on_deadline(void *arg)
{
    px_pending_get_end(arg, PMIX_ERR_TIMEOUT);
}

struct px_pending_get *px_pending_get_new(struct px_req *req, const pmix_proc_t *proc,
                                          const char *key, const pmix_info_t *info,
                                          size_t n)
{
    uint32_t seconds = px_info_u32(info, n, PMIX_TIMEOUT, 0);
    struct px_pending_get *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->server = req->peer->server;
    w->req = req;
    w->proc = *proc;
    w->key = key ? strdup(key) : NULL;
    if (seconds)
        w->timer = px_timer_create(px_process.loop, on_deadline, w);
    if ((key && !w->key) || (seconds && !w->timer)) {
        px_pending_get_free(w);
        return NULL;
    }
    if (seconds)
        px_timer_set(w->timer, seconds * 1000ull);
    px_list_append(&w->server->dmodex, &w->link);
    return w;
}

/* ---- what ends a wait ------------------------------------------------------------ */

void px_get_data_arrived(struct px_server *srv, struct px_nspace *ns, pmix_rank_t rank)
{
    pmix_proc_t proc;

    px_proc_set(&proc, ns->name, rank);
    PX_LIST_EACH (&srv->dmodex, struct px_pending_get, w, link) {
        if (!w->asked_host && px_proc_same(&w->proc, &proc))
            px_pending_get_end(w, PMIX_SUCCESS);
    }
}

void px_pending_get_rank_gone(struct px_server *srv, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&srv->dmodex, struct px_pending_get, w, link) {
        if (!w->asked_host && px_proc_same(&w->proc, proc))
            px_pending_get_end(w, PMIX_ERR_NOT_FOUND);
    }
}

void px_pending_get_nspace_gone(struct px_server *srv, const char *nspace,
                                struct px_nspace *ns PX_UNUSED)
{
    PX_LIST_EACH (&srv->dmodex, struct px_pending_get, w, link)
        if (strcmp(w->proc.nspace, nspace) == 0)
            px_pending_get_end(w, PMIX_ERR_NOT_FOUND);
}

void px_pending_get_peer_gone(struct px_server *srv, struct px_peer *peer)
{
    PX_LIST_EACH (&srv->dmodex, struct px_pending_get, w, link) {
        if (w->req && w->req->peer == peer)
            px_pending_get_end(w, PMIX_ERR_LOST_CONNECTION);
    }
}

void px_pending_get_stop(struct px_server *srv)
{
    PX_LIST_EACH (&srv->dmodex, struct px_pending_get, w, link)
        px_pending_get_end(w, PMIX_ERR_LOST_CONNECTION);
}

/* ---- the host asks for a rank of ours -------------------------------------------- */

static void serve_host(struct px_server *srv, struct px_pending_get *w)
{
    struct px_nspace *ns = px_nspace_find(px_process.model, w->proc.nspace);
    struct px_local *local = px_local_find(srv, &w->proc);
    bool is_job = w->proc.rank == PMIX_RANK_WILDCARD;

    w->server = srv;
    px_list_append(&srv->dmodex, &w->link);
    if (ns && (is_job || (local && local->committed)))
        px_pending_get_end(w, PMIX_SUCCESS);
    else if (local ? local->finalized || local->lost : ns && ns->complete)
        px_pending_get_end(w, PMIX_ERR_NOT_FOUND);
}

static void on_dmodex_request(struct px_msg *msg)
{
    struct px_pending_get *w = PX_CONTAINER_OF(msg, struct px_pending_get, msg);

    if (px_process.server && !px_process.server->stopping) {
        serve_host(px_process.server, w);
        return;
    }
    w->host_cb(PMIX_ERR_INIT, NULL, 0, w->host_cbdata); /* too late */
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
    w = calloc(1, sizeof *w);
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
