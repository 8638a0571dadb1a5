/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers and their requests: from a frame to the row of a table, which says who may send
 * it and what is done; exactly one reply back; and the end of a connection, of which
 * each part is notified. */
#include "core/model/proc_names.h"
#include "core/rt/log.h"
#include "core/server/data/memory.h"
#include "core/server/upcall.h"
#include "core/wire/hello.h"
#include "tenon/ptl.h"

#include <string.h>

#define REQUEST_B 1024u /* of a request, beside what its client sends */

struct px_local *px_local_before(const struct px_nspace *ns, pmix_rank_t rank)
{
    const struct px_list *l = ns->locals.prev;

    while (l != &ns->locals && PX_CONTAINER_OF(l, struct px_local, link)->rank > rank)
        l = l->prev;
    return l == &ns->locals ? NULL : PX_CONTAINER_OF(l, struct px_local, link);
}

struct px_local *px_local_find(struct px_server *srv PX_UNUSED, const pmix_proc_t *proc)
{
    struct px_nspace *ns = px_nspace_find(px_process.model, proc->nspace);
    struct px_local *local = ns ? px_local_before(ns, proc->rank) : NULL;

    return local && local->rank == proc->rank ? local : NULL;
}

struct px_peer *px_peer_find(struct px_server *srv, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&srv->peers, struct px_peer, p, link)
        if (!p->gone && px_proc_same(&p->proc, proc))
            return p;
    return NULL;
}

/* ---- replies --------------------------------------------------------------------- */

void px_req_drop(struct px_req *req)
{
    px_buf_cleanup(&req->reply);
    px_charge_end(&req->charge);
    px_peer_unref(req->peer);
    free(req);
}

/* Since the request was made the process may have become the client of another server,
 * which counts its own requests: an answer must not be taken for one of those. */
static void answer_self(const struct px_server *srv, uint32_t tag, const px_buf *reply)
{
    struct px_model *m = px_process.model;

    if (m && m->channel.ctx == srv)
        (void)px_channel_reply(&m->channel, tag, reply->data, reply->len);
}

static void on_own_reply(struct px_msg *msg)
{
    struct px_req *req = PX_CONTAINER_OF(msg, struct px_req, msg);

    answer_self(req->peer->server, req->tag, &req->reply);
    px_req_drop(req);
}

void px_reply_begin(const struct px_req *req, px_writer *w, pmix_status_t status)
{
    px_writer_init(w, req->peer->codec);
    px_pack_status(w, status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status);
}

/* Replaces what was packed so far by a status. */
static void pack_instead(const struct px_req *req, px_writer *w, pmix_status_t why)
{
    px_log(PX_LOG_WARN, "server", "cannot reply to command %u of %s.%u: %s", req->op,
           req->peer->proc.nspace, req->peer->proc.rank, PMIx_Error_string(why));
    px_writer_cleanup(w);
    px_reply_begin(req, w, why);
}

/* The client waits for this reply, perhaps for ever: if not even a status can be sent,
 * the connection is closed. */
static void reply_to_client(const struct px_req *req, px_writer *w)
{
    struct px_conn *conn = req->peer->conn;
    pmix_status_t rc = px_conn_send(conn, 0, req->tag, &w->buf);

    if (!rc || rc == PMIX_ERR_LOST_CONNECTION)
        return;
    pack_instead(req, w, rc);
    rc = px_conn_send(conn, 0, req->tag, &w->buf);
    if (rc)
        px_conn_fail(conn, rc);
}

void px_req_reply(struct px_req *req, px_writer *w)
{
    struct px_peer *peer = req->peer;

    if (w->status)
        pack_instead(req, w, w->status);
    /* The user's callback must not run inside whatever loop the reply is made in: it
     * goes through the mailbox like the answers of a host's threads. */
    if (peer == peer->server->self) {
        req->reply = px_buf_take(&w->buf);
        req->msg.run = on_own_reply;
        px_post(px_process.loop, &req->msg);
        return;
    }
    if (peer->conn)
        reply_to_client(req, w);
    px_writer_cleanup(w);
    px_req_drop(req);
}

void px_req_done(struct px_req *req, pmix_status_t status)
{
    px_writer w;

    px_reply_begin(req, &w, status);
    px_req_reply(req, &w);
}

void px_req_done_meanwhile(struct px_req *req)
{
    px_writer w;

    px_reply_begin(req, &w, PMIX_SUCCESS);
    if (w.status || px_conn_append(req->peer->conn, req->tag, &w.buf)) {
        px_writer_cleanup(&w);
        px_req_done(req, PMIX_SUCCESS);
        return;
    }
    px_writer_cleanup(&w);
    px_req_drop(req);
}

void px_peer_refuse(struct px_peer *peer, uint32_t tag, pmix_status_t why)
{
    struct px_req req = {.peer = peer, .tag = tag};
    px_writer w;

    px_reply_begin(&req, &w, why);
    if (peer == peer->server->self)
        answer_self(peer->server, tag, &w.buf);
    else if (peer->conn)
        reply_to_client(&req, &w);
    px_writer_cleanup(&w);
}

/* ---- the end --------------------------------------------------------------------- */

/* True if no other connection of its rank is left that takes part. */
static bool retire(struct px_peer *p)
{
    if (p->finalized || (!p->local && !p->tool))
        return false;
    p->finalized = true;
    return p->local && --p->local->n_peers == 0;
}

void px_peer_finalized(struct px_server *srv, struct px_peer *peer)
{
    if (retire(peer)) {
        peer->local->finalized = true;
        peer->local->connected = false;
        PX_PARTS_NOTIFY(srv, rank_gone, &peer->proc);
    }
    PX_PARTS_NOTIFY(srv, peer_left, peer);
}

void px_server_peer_lost(struct px_server *srv, struct px_peer *peer, pmix_status_t why)
{
    bool last, lost;

    if (peer->gone)
        return;
    peer->gone = true;
    px_conn_destroy(peer->conn);
    peer->conn = NULL;
    px_list_remove(&peer->link);
    last = retire(peer);
    lost = last && why;
    if (lost)
        peer->local->lost = true;
    PX_PARTS_NOTIFY(srv, peer_left, peer);
    if (last)
        PX_PARTS_NOTIFY(srv, rank_gone, &peer->proc);
    PX_PARTS_NOTIFY(srv, peer_gone, peer);
    if (lost && !srv->stopping) {
        px_log(PX_LOG_INFO, "server", "%s.%u lost its connection (%s)",
               peer->proc.nspace, peer->proc.rank, PMIx_Error_string(why));
        PX_PARTS_NOTIFY(srv, rank_lost, &peer->proc);
    }
    peer->local = NULL; /* may be gone before the peer is */
    px_peer_unref(peer);
}

/* ---- requests that go to the host ------------------------------------------------ */

pmix_status_t px_req_unpack(struct px_req *req, struct px_args *args,
                            const struct px_arg *table)
{
    pmix_status_t rc = px_unpack_args(&req->in, args, table);

    return rc ? rc
              : px_charge(&req->charge, req->peer, PX_MAX_DECODED_B - req->in.budget);
}

pmix_status_t px_req_expand(struct px_req *req, struct px_args *args)
{
    size_t named = args->n_procs;
    pmix_status_t rc = px_procs_expand(px_process.model, &args->procs, &args->n_procs);

    if (rc || args->n_procs <= named)
        return rc;
    return px_charge(&req->charge, req->peer,
                     (args->n_procs - named) * sizeof(*args->procs));
}

pmix_status_t px_forward_user(struct px_req *req, struct px_upcall *u)
{
    return px_infos_set_user(&u->args.info, req->peer);
}

pmix_status_t px_forward(struct px_server *srv, struct px_req *req)
{
    const struct px_forward *f = req->rpc->forward;
    void (*function)(void) = NULL;
    struct px_upcall *u;
    pmix_status_t rc;

    if (f->slot > 0)
        memcpy(&function, (const char *)&srv->module + (f->slot - 1) * sizeof function,
               sizeof function);
    if (f->slot > 0 && !function) {
        px_log(PX_LOG_INFO, "server",
               "%s of %s.%u is not supported: the host has no "
               "function for it",
               f->function, req->peer->proc.nspace, req->peer->proc.rank);
        return PMIX_ERR_NOT_SUPPORTED;
    }
    u = px_upcall_for(req, f->reply);
    if (!u)
        return PMIX_ERR_NOMEM;
    if (f->newest)
        req->in.codec = px_codec_newest(req->in.codec);
    rc = px_req_unpack(req, &u->args, f->request->args);
    if (!rc)
        rc = px_req_expand(req, &u->args);
    if (!rc)
        rc = px_req_may(req, u->args.procs, u->args.n_procs);
    if (!rc)
        rc = f->prepare ? f->prepare(req, u) : px_forward_user(req, u);
    if (!rc && f->checked)
        rc = px_builtin_required(srv, f->function, &u->args.info);
    if (rc) {
        px_upcall_drop(u);
        return rc;
    }
    u->function = f->function;
    px_upcall_returned(u, f->call(&srv->module, u));
    return PX_DEFERRED;
}

void px_upcall_reply_status(void *arg, const struct px_upcall *answer)
{
    px_req_done(arg, answer->status);
}

void px_upcall_reply_infos(void *arg, const struct px_upcall *answer)
{
    struct px_req *req = arg;
    px_writer w;

    px_reply_begin(req, &w, answer->status);
    px_pack_infos(&w, answer->infos.v, answer->infos.n);
    px_req_reply(req, &w);
}

/* ---- requests -------------------------------------------------------------------- */

static const struct px_rpc *find_rpc(const struct px_server *srv, uint8_t op)
{
    for (const struct px_server_part *const *p = srv->parts; *p; p++)
        for (const struct px_rpc *rpc = (*p)->rpcs; rpc && rpc->senders; rpc++)
            if (rpc->op == op)
                return rpc;
    return NULL;
}

static pmix_status_t handle(struct px_server *srv, struct px_req *req)
{
    const struct px_peer *peer = req->peer;
    pmix_status_t rc = px_unpack_u8(&req->in, &req->op, PMIX_COMMAND);

    if (rc) {
        px_log(PX_LOG_WARN, "server", "message of %s.%u without a command",
               peer->proc.nspace, peer->proc.rank);
        return PMIX_ERR_BAD_PARAM;
    }
    req->rpc = find_rpc(srv, req->op);
    rc = px_req_admit(req);
    if (!rc && !req->rpc->passing)
        rc = px_charge(&req->charge, req->peer,
                       REQUEST_B + (size_t)(req->in.end - req->in.pos));
    if (rc)
        return rc;
    if (req->rpc->forward)
        return px_forward(srv, req);
    rc = req->rpc->handler(srv, req);
    if (rc == PMIX_ERR_NOT_SUPPORTED)
        px_log(PX_LOG_INFO, "server",
               "command %u of %s.%u is not supported by this "
               "library",
               req->op, peer->proc.nspace, peer->proc.rank);
    return rc;
}

void px_server_dispatch(struct px_server *srv, struct px_peer *peer, uint32_t tag,
                        const uint8_t *payload, size_t n)
{
    struct px_req *req;

    if (tag < PX_TAG_DYNAMIC) /* heartbeats and the like ask for nothing */
        return;
    req = malloc(sizeof *req);
    if (!req) {
        px_peer_refuse(peer, tag, PMIX_ERR_NOMEM);
        return;
    }
    *req = (struct px_req){.peer = peer, .tag = tag};
    px_peer_ref(peer);
    px_reader_init(&req->in, peer->codec, payload, n);
    pmix_status_t rc = handle(srv, req);
    if (rc != PX_DEFERRED)
        px_req_done(req, rc);
}

/* ---- connections ----------------------------------------------------------------- */

static void on_conn_frame(void *arg, const struct px_frame *frame,
                          const uint8_t *payload)
{
    struct px_peer *peer = arg;

    px_peer_ref(peer);
    px_server_dispatch(peer->server, peer, frame->tag, payload, frame->nbytes);
    px_peer_unref(peer);
}

static void on_conn_lost(void *arg, pmix_status_t why)
{
    struct px_peer *peer = arg;

    px_server_peer_lost(peer->server, peer, why);
}

static void on_conn_room(void *arg)
{
    struct px_peer *peer = arg;

    px_peer_ref(peer);
    PX_PARTS_NOTIFY(peer->server, peer_room, peer);
    px_peer_unref(peer);
}

static void on_conn_charge(void *arg, int64_t change, int64_t unread)
{
    struct px_peer *peer = arg;

    px_memory_charge(peer->server, peer->user, change, unread);
}

static bool conn_has_room(void *arg, int64_t more)
{
    struct px_peer *peer = arg;

    return px_memory_has_room(peer->server, peer->user, more);
}

static const struct px_conn_ops conn_ops = {.on_frame = on_conn_frame,
                                            .on_lost = on_conn_lost,
                                            .on_room = on_conn_room,
                                            .charge = on_conn_charge,
                                            .has_room = conn_has_room};

struct px_peer *px_peer_create(struct px_server *srv, int fd,
                               const struct px_ptl_peer *who,
                               const struct px_hello *hello)
{
    struct px_peer *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    *p = (struct px_peer){.refs = 1,
                          .server = srv,
                          .proc = hello->proc,
                          .pid = who->has_pid ? who->pid : 0,
                          .inode = who->inode,
                          .codec = {.dialect = px_dialect_find(hello->dialect),
                                    .described = hello->described},
                          .version = hello->version,
                          .gds = px_store_of_peer(hello->gds),
                          .reads_in_place = true, /* if that is what it named */
                          .pindex = ++srv->next_pindex};
    px_list_init(&p->interests);
    if (px_conn_create(px_process.loop, fd, &conn_ops, p, &p->conn)) {
        free(p);
        return NULL;
    }
    return p;
}
