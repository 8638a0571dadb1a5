/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: from a frame to the handler in a table, and exactly one reply back. */
#include "core/rt/log.h"
#include "core/server/server.h"

/* Requests that wait for others, or for a host that is slow, cost memory that their client chooses:
 * what it sends, and about REQUEST_B for each. */
#define MAX_PENDING_B (256u * 1024u * 1024u)
#define REQUEST_B     1024u

static const struct px_rpc *find_rpc(const struct px_server *srv, uint8_t op)
{
    for (const struct px_server_part *const *p = srv->parts; *p; p++)
        for (const struct px_rpc *rpc = (*p)->rpcs; rpc && rpc->handler; rpc++)
            if (rpc->op == op)
                return rpc;
    return NULL;
}

void px_req_drop(struct px_req *req)
{
    px_buf_cleanup(&req->reply);
    req->peer->pending_b -= req->weight_b;
    px_peer_unref(req->peer);
    free(req);
}

/* Since the request was made the process may have become the client of another server, which
 * counts its own requests: an answer must not be taken for one of those. */
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

/* The user's callback must not run inside whatever loop the reply is made in: it goes through
 * the mailbox like the answers of a host's threads. */
static void reply_to_self(struct px_req *req, px_writer *w)
{
    req->reply = px_buf_take(&w->buf);
    req->msg.run = on_own_reply;
    px_post(px_process.loop, &req->msg);
}

void px_reply_begin(const struct px_req *req, px_writer *w, pmix_status_t status)
{
    px_writer_init(w, req->peer->codec);
    px_pack_status(w, status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status);
}

/* What was packed so far is useless: a status says why. */
static void pack_instead(const struct px_req *req, px_writer *w, pmix_status_t why)
{
    px_log(PX_LOG_WARN, "server", "cannot reply to command %u of %s.%u: %s", req->op,
           req->peer->proc.nspace, req->peer->proc.rank, PMIx_Error_string(why));
    px_writer_cleanup(w);
    px_reply_begin(req, w, why);
}

/* Somebody waits for this reply, perhaps for ever: if not even a status can be sent, the end
 * of the connection tells. */
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
    if (peer == peer->server->self) {
        reply_to_self(req, w);
        px_writer_cleanup(w);
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

void px_peer_send(struct px_peer *p, uint32_t tag, px_writer *w)
{
    if (!w->status && p->conn)
        (void)px_conn_send(p->conn, 0, tag, &w->buf);
    px_writer_cleanup(w);
}

/* Not even the request could be made. */
static void refuse(struct px_peer *peer, uint32_t tag, pmix_status_t why)
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

static pmix_status_t handle(struct px_server *srv, struct px_req *req)
{
    const struct px_peer *peer = req->peer;
    pmix_status_t rc = px_unpack_u8(&req->in, &req->op, PMIX_COMMAND);

    if (rc) {
        px_log(PX_LOG_WARN, "server", "message of %s.%u without a command",
               peer->proc.nspace, peer->proc.rank);
        return PMIX_ERR_BAD_PARAM;
    }
    /* After its goodbye a client has nothing to ask; what needs no answer gets none. */
    if (peer->finalized && req->op != PX_OP_FINALIZE && req->op != PX_OP_DEREGEVENTS)
        return PMIX_ERR_INIT;
    const struct px_rpc *rpc = find_rpc(srv, req->op);
    return rpc ? rpc->handler(srv, req) : PMIX_ERR_NOT_SUPPORTED;
}

void px_server_dispatch(struct px_server *srv, struct px_peer *peer, uint32_t tag,
                        const uint8_t *payload, size_t n)
{
    size_t weight_b = n + REQUEST_B;
    struct px_req *req;

    if (tag < PX_TAG_DYNAMIC) /* heartbeats and the like ask for nothing */
        return;
    if (peer->pending_b + weight_b > MAX_PENDING_B && peer != srv->self) {
        refuse(peer, tag, PMIX_ERR_OUT_OF_RESOURCE);
        return;
    }
    req = calloc(1, sizeof *req);
    if (!req) {
        refuse(peer, tag, PMIX_ERR_NOMEM);
        return;
    }
    px_peer_ref(peer);
    req->peer = peer;
    req->tag = tag;
    req->weight_b = weight_b;
    peer->pending_b += weight_b;
    px_reader_init(&req->in, peer->codec, payload, n);
    pmix_status_t rc = handle(srv, req);
    if (rc != PX_DEFERRED)
        px_req_done(req, rc);
}
