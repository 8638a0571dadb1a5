/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding of standard streams: requests for output, output that the host brings for
 * them, and input on its way to the host. */
#include "core/link/iof.h"
#include "core/rt/log.h"
#include "core/server/door/door.h"
#include "core/server/host.h"
#include "core/server/upcall.h"

#include <string.h>

#define MAX_PULLS 1024 /* of one peer */
/* A reader so far behind gets no more until it has caught up. */
#define MAX_UNREAD_B (16u * 1024u * 1024u)

/* One request of a peer to be sent output; in part.pulls. */
struct pull {
    struct px_list link;
    struct px_peer *peer; /* borrowed: the pull goes when the peer does */
    size_t id;            /* ours */
    size_t peer_id;       /* what the peer calls it */
    pmix_proc_t *procs;
    size_t n_procs;
    pmix_iof_channel_t channels;
    bool redirects; /* nothing goes where it went without */
    bool forwards;  /* the output of a job to the process that spawned it */
};

static void pull_free(struct pull *p)
{
    if (!p)
        return;
    px_list_remove(&p->link);
    free(p->procs);
    free(p);
}

static struct pull *find_pull(struct px_server *srv, const struct px_peer *peer,
                              size_t id)
{
    PX_LIST_EACH (&srv->part.pulls, struct pull, p, link)
        if (p->peer == peer && p->id == id)
            return p;
    return NULL;
}

/* ---- pull ------------------------------------------------------------------------ */

/* Earlier than 4.1 a peer does not say what it calls its request; ours will do then. */
static pmix_status_t read_pull(struct px_req *req, struct px_args *a, size_t id)
{
    pmix_status_t rc;

    a->id = id;
    rc = px_unpack_args(&req->in, a, px_request_iof_pull.args);
    if (rc)
        return rc;
    if (a->channels == PMIX_FWD_NO_CHANNELS)
        return PMIX_ERR_BAD_PARAM;
    if (a->channels & PMIX_FWD_STDIN_CHANNEL)
        return PMIX_ERR_NOT_SUPPORTED; /* input is pushed */
    rc = px_req_may(req, a->procs, a->n_procs);
    return rc ? rc : px_infos_set_user(&a->info, req->peer);
}

static void on_host_pulled(void *arg, const struct px_upcall *answer)
{
    struct px_req *req = arg;
    struct px_server *srv = req->peer->server;
    size_t id = (size_t)(uintptr_t)req->state;
    px_writer w;

    if (answer->status)
        pull_free(find_pull(srv, req->peer, id));
    px_reply_begin(req, &w, answer->status);
    if (!answer->status)
        px_pack_size(&w, id);
    px_req_reply(req, &w);
}

static struct pull *make_pull(struct px_req *req, const struct px_args *a, size_t id)
{
    struct pull *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    if (px_type_copy_array(PMIX_PROC, (void **)&p->procs, a->procs, a->n_procs)) {
        free(p);
        return NULL;
    }
    p->peer = req->peer;
    p->id = id;
    p->peer_id = a->id;
    p->n_procs = a->n_procs;
    p->channels = a->channels;
    p->redirects = px_info_flag(a->info.v, a->info.n, PMIX_IOF_REDIRECT);
    return p;
}

/* It is what the process that spawns it asks for: OpenPMIx gives that number 0. */
pmix_status_t px_server_iof_forward(struct px_server *srv, const pmix_proc_t *to,
                                    const char *nspace, pmix_iof_channel_t channels)
{
    struct px_req req = {.peer = px_peer_find(srv, to)};
    struct px_args args = {.n_procs = 1, .channels = channels};
    pmix_proc_t all;
    struct pull *p;

    if (!req.peer)
        return PMIX_ERR_NOT_FOUND;
    px_proc_set(&all, nspace, PMIX_RANK_WILDCARD);
    args.procs = &all;
    p = make_pull(&req, &args, ++srv->part.last_pull);
    if (!p)
        return PMIX_ERR_NOMEM;
    p->redirects = true;
    p->forwards = true;
    px_list_append(&srv->part.pulls, &p->link);
    return PMIX_SUCCESS;
}

static void nspace_gone(struct px_server *srv, const char *nspace,
                        struct px_nspace *ns PX_UNUSED)
{
    PX_LIST_EACH (&srv->part.pulls, struct pull, p, link)
        if (p->forwards && strcmp(p->procs->nspace, nspace) == 0)
            pull_free(p);
}

/* Listed before the host is asked: bytes may come before its answer. */
static pmix_status_t on_pull(struct px_server *srv, struct px_req *req)
{
    size_t id = srv->part.last_pull + 1, n = 0;
    struct px_upcall *u;
    struct pull *p = NULL;
    pmix_status_t rc;

    if (!srv->module.iof_pull)
        return PMIX_ERR_NOT_SUPPORTED;
    u = px_upcall_for(req, on_host_pulled);
    if (!u)
        return PMIX_ERR_NOMEM;
    rc = read_pull(req, &u->args, id);
    PX_LIST_EACH (&srv->part.pulls, struct pull, other, link)
        n += other->peer == req->peer;
    if (!rc && n >= MAX_PULLS)
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    if (!rc) {
        p = make_pull(req, &u->args, id);
        rc = p ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    }
    if (rc) {
        px_upcall_drop(u);
        return rc;
    }
    srv->part.last_pull = id;
    px_list_append(&srv->part.pulls, &p->link);
    req->state = (void *)(uintptr_t)id;
    px_upcall_returned(u, srv->module.iof_pull(u->args.procs, u->args.n_procs,
                                               u->args.info.v, u->args.info.n,
                                               u->args.channels, px_upcall_op_cb, u));
    return PX_DEFERRED;
}

/* ---- the end of it --------------------------------------------------------------- */

/* Nothing is sent any more, whatever the host answers. */
static void on_host_stopped(void *arg, const struct px_upcall *answer PX_UNUSED)
{
    if (arg)
        px_req_done(arg, PMIX_SUCCESS);
}

static pmix_status_t call_stop(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->iof_pull(u->args.procs, u->args.n_procs, u->args.info.v, u->args.info.n,
                       PMIX_FWD_NO_CHANNELS, px_upcall_op_cb, u);
}

/* Takes p, also on failure. The call that ends it at the host, on behalf of a request
 * or of none (NULL). */
static struct px_upcall *make_stop(struct pull *p, struct px_req *req,
                                   const px_infos *infos)
{
    struct px_upcall *u = px_upcall_new(on_host_stopped, req);

    if (u && (px_infos_add_copy(&u->args.info, infos->v, infos->n) ||
              px_infos_add(&u->args.info, PMIX_IOF_STOP, NULL, PMIX_BOOL))) {
        px_upcall_drop(u);
        u = NULL;
    }
    if (u) {
        u->args.procs = px_take(&p->procs);
        u->args.n_procs = p->n_procs;
    }
    pull_free(p);
    return u;
}

static pmix_status_t on_dereg(struct px_server *srv, struct px_req *req)
{
    PX_AUTO(px_args) args = {0};
    struct px_upcall *u;
    struct pull *p;
    pmix_status_t rc;

    if (!srv->module.iof_pull)
        return PMIX_ERR_NOT_SUPPORTED;
    rc = px_unpack_args(&req->in, &args, px_request_iof_dereg.args);
    if (!rc)
        rc = px_infos_set_user(&args.info, req->peer);
    if (rc)
        return rc;
    p = find_pull(srv, req->peer, args.id);
    if (!p)
        return PMIX_ERR_BAD_PARAM;
    u = make_stop(p, req, &args.info);
    if (!u)
        return PMIX_ERR_NOMEM;
    px_upcall_returned(u, call_stop(&srv->module, u));
    return PX_DEFERRED;
}

static void on_stop_later(struct px_msg *msg)
{
    struct px_upcall *u = PX_CONTAINER_OF(msg, struct px_upcall, msg);

    if (u->orphan || !px_process.server)
        px_upcall_drop(u);
    else
        px_upcall_returned(u, call_stop(&px_process.server->module, u));
}

/* The host is called later: the caller is in the middle of lists that the host may
 * change. A host that ends its server need not be called. */
static void peer_left(struct px_server *srv, struct px_peer *peer)
{
    const px_infos none = {0};

    PX_LIST_EACH (&srv->part.pulls, struct pull, p, link) {
        struct px_upcall *u = NULL;

        if (p->peer != peer)
            continue;
        if (srv->stopping || p->forwards)
            pull_free(p);
        else
            u = make_stop(p, NULL, &none);
        if (u) {
            u->msg.run = on_stop_later;
            px_post(px_process.loop, &u->msg);
        }
    }
}

/* ---- push ------------------------------------------------------------------------ */

static pmix_status_t call_push(const pmix_server_module_t *m, struct px_upcall *u)
{
    return m->push_stdin(&u->proc, u->args.procs, u->args.n_procs, u->args.info.v,
                         u->args.info.n, &u->args.bytes, px_upcall_op_cb, u);
}

static const struct px_forward push = {
    .request = &px_request_iof_push,
    .slot = PX_SLOT(push_stdin),
    .call = call_push,
    .reply = px_upcall_reply_status,
};

static const struct px_rpc rpcs[] = {
    {PX_OP_IOF_PULL, PX_BY_ANY, PX_OF_USER, .handler = on_pull},
    {PX_OP_IOF_PUSH, PX_BY_ANY, PX_OF_USER, .forward = &push},
    {PX_OP_IOF_DEREG, PX_BY_ANY, PX_OWN, .handler = on_dereg},
    {0},
};

const struct px_server_part px_iof_part = {
    .name = "iof",
    .rpcs = rpcs,
    .peer_left = peer_left,
    .nspace_gone = nspace_gone,
};

/* ---- deliver --------------------------------------------------------------------- */

/* A namespace that was asked for before it was registered is checked now. */
static bool is_wanted(const struct pull *p, const pmix_proc_t *source,
                      pmix_iof_channel_t channel)
{
    if (!(p->channels & channel) || p->peer->finalized ||
        px_proc_same(&p->peer->proc, source) || !px_peer_may(p->peer, source->nspace))
        return false;
    for (size_t i = 0; i < p->n_procs; i++)
        if (px_proc_match(&p->procs[i], source))
            return true;
    return false;
}

struct own_piece {
    struct px_msg msg;
    px_buf payload;
};

static void on_own_piece(struct px_msg *msg)
{
    struct own_piece *own = PX_CONTAINER_OF(msg, struct own_piece, msg);
    px_reader r;

    px_reader_init(&r, px_codec_default, own->payload.data, own->payload.len);
    if (px_process.model)
        (void)px_iof_receive(&px_process.model->iofs, &r);
    px_buf_cleanup(&own->payload);
    free(own);
}

/* For this process itself; its function must not run in the middle of our lists. */
static pmix_status_t send_to_self(px_writer *w)
{
    struct own_piece *own = calloc(1, sizeof *own);

    if (!own)
        return PMIX_ERR_NOMEM;
    own->payload = px_buf_take(&w->buf);
    own->msg.run = on_own_piece;
    px_post(px_process.loop, &own->msg);
    return PMIX_SUCCESS;
}

static pmix_status_t send_piece(const struct pull *p, const struct px_args *piece)
{
    struct px_peer *peer = p->peer;
    struct px_args args = *piece;
    pmix_status_t rc;
    px_writer w;

    if (peer->conn && px_conn_unsent(peer->conn) > MAX_UNREAD_B)
        return PMIX_ERR_OUT_OF_RESOURCE;
    px_writer_init(&w, peer->codec);
    args.id = p->peer_id;
    px_pack_args(&w, &args, px_request_piece.args);
    rc = w.status;
    if (!rc && peer == peer->server->self)
        rc = send_to_self(&w);
    else if (!rc && peer->conn)
        rc = px_conn_send(peer->conn, 0, PX_TAG_IOF, &w.buf);
    px_writer_cleanup(&w);
    return rc;
}

/* A pull that cannot be served keeps no other from being served. */
static pmix_status_t hand_out(struct px_server *srv, const struct px_args *piece)
{
    pmix_status_t first = PMIX_SUCCESS;

    PX_LIST_EACH (&srv->part.pulls, struct pull, p, link) {
        pmix_status_t rc = is_wanted(p, piece->procs, piece->channels)
                               ? send_piece(p, piece)
                               : PMIX_SUCCESS;

        if (rc && !first)
            first = rc;
    }
    return first;
}

static pmix_status_t deliver(struct px_server *srv, const struct px_server_op *op)
{
    return hand_out(srv, &op->api.args);
}

pmix_status_t px_server_iof_deliver(struct px_server *srv, const pmix_proc_t *source,
                                    pmix_iof_channel_t channel,
                                    const pmix_byte_object_t *bytes,
                                    const pmix_info_t *info, size_t n,
                                    pmix_op_cbfunc_t cb PX_UNUSED,
                                    void *cbdata PX_UNUSED)
{
    const struct px_args piece = {.procs = (pmix_proc_t *)source,
                                  .n_procs = 1,
                                  .channels = channel,
                                  .bytes = *bytes,
                                  .info = px_infos_borrow(info, n)};
    pmix_status_t rc = hand_out(srv, &piece);

    return rc ? rc : PMIX_OPERATION_SUCCEEDED;
}

enum px_iof_interest px_server_iof_interest(const struct px_server *srv,
                                            const pmix_proc_t *source,
                                            pmix_iof_channel_t channel)
{
    enum px_iof_interest interest = srv->part.door->tools ? PX_IOF_LATER
                                                          : PX_IOF_NOBODY;

    PX_LIST_EACH (&srv->part.pulls, struct pull, p, link) {
        if (!is_wanted(p, source, channel))
            continue;
        if (p->redirects)
            return PX_IOF_REDIRECTED;
        interest = PX_IOF_COPIED;
    }
    return interest;
}

PX_EXPORT pmix_status_t PMIx_server_IOF_deliver(const pmix_proc_t *source,
                                                pmix_iof_channel_t channel,
                                                const pmix_byte_object_t *bo,
                                                const pmix_info_t info[], size_t ninfo,
                                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct px_server_op op = {
        .run = deliver,
        .api = {.request = &px_request_piece,
                .args = {.procs = (pmix_proc_t *)source,
                         .n_procs = 1,
                         .channels = channel,
                         .bytes = bo ? *bo : (pmix_byte_object_t){0},
                         .info = px_infos_borrow(info, ninfo)},
                .cb = cbfunc,
                .cbdata = cbdata}};

    return px_server_submit(&op, sizeof op, channel != PMIX_FWD_NO_CHANNELS && bo);
}

/* No producer of input can be stopped yet, neither one of this process nor one that is
 * connected. */
PX_EXPORT pmix_status_t PMIx_server_IOF_flow_control(
    const pmix_proc_t *source PX_UNUSED, pmix_iof_channel_t channel PX_UNUSED,
    bool xoff PX_UNUSED, const pmix_info_t directives[], size_t ndirs,
    pmix_op_cbfunc_t cbfunc PX_UNUSED, void *cbdata PX_UNUSED)
{
    if (!px_server_here())
        return PMIX_ERR_INIT;
    return ndirs && !directives ? PMIX_ERR_BAD_PARAM : PMIX_ERR_NOT_SUPPORTED;
}
