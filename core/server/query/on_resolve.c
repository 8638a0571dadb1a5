/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of other libraries' clients for peers, nodes and refreshed values, and the
 * queries with the same answers. The registered data count first: the host answers for
 * jobs that this server does not know. */
#include "core/model/query.h"
#include "core/server/data/reply.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/turn.h"
#include "core/server/query/query.h"
#include "core/server/server.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"

#include <string.h>

static bool may_see(void *peer, const char *nspace)
{
    return px_peer_may(peer, nspace);
}

/* Resolves for a peer, and counts the work. The names of this node and of no node mean
 * this node. */
static pmix_status_t resolve(struct px_peer *peer, px_resolve_fn fn, const char *node,
                             const char *nspace, struct px_resolved *r)
{
    const struct px_model *m = peer->server->model;
    bool is_here = !node || !node[0] || strcmp(node, m->hostname) == 0;

    *r = (struct px_resolved){.node = is_here ? NULL : node};
    if (nspace && (!nspace[0] || strlen(nspace) > PMIX_MAX_NSLEN))
        nspace = NULL;
    if (nspace && !px_peer_may(peer, nspace))
        return PMIX_ERR_NO_PERMISSIONS;
    pmix_status_t rc = px_resolve(m, r, fn, nspace, may_see, peer);
    (void)px_work(peer, r->n_procs + r->nodes.len / PX_ITEM_B);
    return rc ? rc : px_buf_add(&r->nodes, "", 1);
}

/* ---- queries --------------------------------------------------------------------- */

static pmix_status_t answer(struct px_server *srv PX_UNUSED, const pmix_query_t *q,
                            const char *key, struct px_answers *a)
{
    bool nodes = strcmp(key, PMIX_QUERY_RESOLVE_NODE) == 0;
    struct px_resolved r;
    pmix_status_t rc = resolve(a->req->peer,
                               nodes ? px_resolve_nodes : px_resolve_peers,
                               px_info_str(q->qualifiers, q->nqual, PMIX_HOSTNAME),
                               px_info_str(q->qualifiers, q->nqual, PMIX_NSPACE), &r);

    if (!rc)
        rc = nodes ? px_answer_text(a, key, (char *)r.nodes.data)
                   : px_answer_array(a, key, r.procs, r.n_procs, PMIX_PROC,
                                     r.n_procs * sizeof(*r.procs));
    px_resolved_cleanup(&r);
    return rc;
}

static const struct px_query_key keys[] = {
    {PMIX_QUERY_RESOLVE_PEERS, answer, PMIX_NSPACE "," PMIX_HOSTNAME, true},
    {PMIX_QUERY_RESOLVE_NODE, answer, PMIX_NSPACE, true},
    {0},
};

/* ---- peers and nodes ------------------------------------------------------------- */

/* Replies with an answer of the host to a query. */
static void on_hosts_answer(void *arg, const struct px_upcall *answer)
{
    struct px_req *req = arg;
    bool nodes = req->op == PX_OP_RESOLVE_NODE;
    const pmix_info_t *info = px_info_find(answer->infos.v, answer->infos.n,
                                           nodes ? PMIX_QUERY_RESOLVE_NODE
                                                 : PMIX_QUERY_RESOLVE_PEERS);
    const pmix_data_array_t *array = info && info->value.type == PMIX_DATA_ARRAY
                                         ? info->value.data.darray
                                         : NULL;
    const char *text = info ? px_value_string(&info->value) : NULL;
    px_writer w;

    if (answer->status || (nodes ? !text : !array || array->type != PMIX_PROC)) {
        px_req_done(req, answer->status ? answer->status : PMIX_ERR_NOT_FOUND);
        return;
    }
    px_reply_begin(req, &w, PMIX_SUCCESS);
    if (nodes)
        px_pack_str(&w, text);
    else
        px_pack_procs(&w, array->array, array->size);
    px_req_reply(req, &w);
}

/* Asks the host by its function for queries. */
static pmix_status_t ask_host(struct px_server *srv, struct px_req *req,
                              const struct px_args *a)
{
    struct px_upcall *u = srv->module.query ? px_upcall_for(req, on_hosts_answer)
                                            : NULL;
    PX_AUTO(px_infos) quals = {0};
    const char *key = req->op == PX_OP_RESOLVE_NODE ? PMIX_QUERY_RESOLVE_NODE
                                                    : PMIX_QUERY_RESOLVE_PEERS;
    pmix_query_t *q = u ? PMIx_Query_create(1) : NULL;
    pmix_status_t rc = q ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    if (!srv->module.query)
        return PMIX_ERR_NOT_FOUND;
    if (!rc)
        rc = px_infos_add(&quals, PMIX_NSPACE, a->nspace ? a->nspace : "", PMIX_STRING);
    if (!rc && req->op == PX_OP_RESOLVE_PEERS)
        rc = px_infos_add(&quals, PMIX_HOSTNAME,
                          a->text ? a->text : srv->model->hostname, PMIX_STRING);
    if (!rc)
        rc = px_infos_set_user(&quals, req->peer);
    if (!rc)
        rc = PMIx_Argv_append_nosize(&q->keys, key);
    if (rc) {
        PMIx_Query_free(q, 1);
        px_upcall_drop(u);
        return rc;
    }
    q->qualifiers = px_take(&quals.v);
    q->nqual = quals.n;
    quals.n = 0;
    u->args.queries = q;
    u->args.n_queries = 1;
    px_upcall_returned(u, srv->module.query(&u->proc, q, 1, px_upcall_info_cb, u));
    return PX_DEFERRED;
}

static pmix_status_t on_resolve(struct px_server *srv, struct px_req *req)
{
    bool nodes = req->op == PX_OP_RESOLVE_NODE;
    PX_AUTO(px_args) a = {0};
    struct px_resolved r = {0};
    px_writer w;
    pmix_status_t rc = px_req_unpack(
        req, &a, (nodes ? px_request_resolve_nodes : px_request_resolve_peers).args);

    if (!rc)
        rc = resolve(req->peer, nodes ? px_resolve_nodes : px_resolve_peers, a.text,
                     a.nspace, &r);
    if (rc == PMIX_ERR_NOT_FOUND)
        rc = ask_host(srv, req, &a);
    if (!rc) {
        px_reply_begin(req, &w, PMIX_SUCCESS);
        if (nodes)
            px_pack_str(&w, (char *)r.nodes.data);
        else
            px_pack_procs(&w, r.procs, r.n_procs);
        px_req_reply(req, &w);
        rc = PX_DEFERRED;
    }
    px_resolved_cleanup(&r);
    return rc;
}

/* ---- refreshed values ------------------------------------------------------------ */

/* Replies with the values of a process or job that are here. Without values the client
 * goes on with a get, which may ask the host. */
static pmix_status_t on_refresh(struct px_server *srv, struct px_req *req)
{
    PX_AUTO(px_args) a = {0};
    pmix_status_t rc = px_req_unpack(req, &a, px_request_refresh.args);
    const struct px_nspace *ns;
    pmix_proc_t proc;
    px_writer w;

    if (!rc && (!a.nspace || strlen(a.nspace) > PMIX_MAX_NSLEN))
        rc = PMIX_ERR_BAD_PARAM;
    if (rc)
        return rc;
    px_proc_set(&proc, a.nspace, a.rank);
    rc = px_req_may(req, &proc, 1);
    if (rc)
        return rc;
    ns = px_nspace_find(srv->model, a.nspace);
    px_reply_begin(req, &w, PMIX_SUCCESS);
    if (ns)
        px_reply_pack_values(&w, req->peer, ns, proc.rank);
    (void)px_work(req->peer, w.buf.len / PX_ITEM_B);
    px_req_reply(req, &w);
    return PX_DEFERRED;
}

static const struct px_rpc rpcs[] = {
    {PX_OP_RESOLVE_PEERS, PX_BY_ANY, PX_OF_USER, .handler = on_resolve},
    {PX_OP_RESOLVE_NODE, PX_BY_ANY, PX_OF_USER, .handler = on_resolve},
    {PX_OP_REFRESH_CACHE, PX_BY_ANY, PX_OF_USER, .handler = on_refresh},
    {0},
};

const struct px_server_part px_resolve_part = {
    .name = "resolve",
    .rpcs = rpcs,
    .query_keys = keys,
};
