/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: their arguments, and exactly one reply to each. */
#include "core/server/peer/req.h"

#include "core/link/client_state.h"
#include "core/link/conn.h"
#include "core/model/nspace.h"
#include "core/model/proc_names.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "core/server/door/door.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"
#include "core/wire/number.h"

#define PROC_ITEMS 4u /* work of a process that a request names; see px_work */

/* ---- arguments ------------------------------------------------------------------- */

/* Returns the number of processes of the jobs that the server knows. */
static size_t known_procs(const struct px_server *srv)
{
    const struct px_nspace *ns;
    size_t n = 0, pos = 0;

    while ((ns = px_map_next(&srv->model->nspaces, &pos, NULL, NULL)))
        n += ns->hosted ? ns->job_size : 0;
    return n;
}

pmix_status_t px_req_unpack(struct px_req *req, struct px_args *args,
                            const struct px_arg *table)
{
    const struct px_peer *peer = req->peer;
    const uint8_t *begin = req->in.pos;
    size_t before_b = req->in.budget, decoded_b, most_procs;
    pmix_status_t rc;

    if (req->in.procs == PX_MAX_REQUEST_PROCS &&
        px_left(&req->in) > PX_MAX_REQUEST_PROCS)
        req->in.procs += PX_KNOWN_TIMES * known_procs(peer->server);
    most_procs = req->in.procs;
    rc = px_unpack_args(&req->in, args, table);
    decoded_b = before_b - req->in.budget;
    req->n_args_b = decoded_b + (size_t)(req->in.pos - begin); /* texts are copied */
    (void)px_work(req->peer, req->n_args_b / PX_ITEM_B +
                                 PROC_ITEMS * (most_procs - req->in.procs));
    if (rc == PMIX_ERR_OUT_OF_RESOURCE)
        px_log_limited(
            peer->server->part.door->rate, peer->uid, rc, "server",
            "cannot decode command %u of %s.%u: it has more than %u infos, "
            "%u elements, %u keys or %u processes beside those of known jobs, "
            "or its arrays take more than %zu bytes",
            req->op, peer->proc.nspace, peer->proc.rank, PX_MAX_REQUEST_INFOS,
            PX_MAX_REQUEST_ITEMS, PX_MAX_KEYS, PX_MAX_REQUEST_PROCS, before_b);
    return rc ? rc : px_charge(&req->charge, req->peer, decoded_b);
}

pmix_status_t px_req_expand(struct px_req *req, struct px_args *args)
{
    size_t named = args->n_procs;
    pmix_status_t rc = px_procs_expand(req->peer->server->model, &args->procs,
                                       &args->n_procs);

    if (rc || args->n_procs <= named)
        return rc;
    return px_charge(&req->charge, req->peer,
                     (args->n_procs - named) * sizeof(*args->procs));
}

/* ---- replies --------------------------------------------------------------------- */

void px_req_drop(struct px_req *req)
{
    px_buf_cleanup(&req->reply);
    px_charge_end(&req->charge);
    px_peer_unref(req->peer);
    free(req);
}

void px_req_refused(struct px_req *req, const char *function, const char *reason)
{
    const pmix_proc_t *proc = &req->peer->proc;
    const uint64_t bit = 1ull << req->op % 64;

    if (req->peer->refused & bit)
        return;
    req->peer->refused |= bit;
    if (function)
        px_log(PX_LOG_WARN, "server", "cannot serve %s of %s.%u: %s", function,
               proc->nspace, proc->rank, reason);
    else
        px_log(PX_LOG_WARN, "server", "cannot serve command %u of %s.%u: %s", req->op,
               proc->nspace, proc->rank, reason);
}

/* Passes a reply to this process's own client role. The process may have become the
 * client of another server since the request. That server's tags are other requests',
 * so the reply is dropped then. */
static void answer_self(const struct px_server *srv, uint32_t tag, const px_buf *reply)
{
    struct px_client *client = px_process.client;

    if (client && client->channel.ctx == srv)
        (void)px_channel_reply(&client->channel, tag, reply->data, reply->len);
}

static void on_own_reply(struct px_msg *msg)
{
    struct px_req *req = PX_CONTAINER_OF(msg, struct px_req, msg);
    const struct px_peer *peer = req->peer;

    if (peer == peer->server->self)
        answer_self(peer->server, req->tag, &req->reply);
    else if (peer->proxy) /* NULL: closed meanwhile */
        (void)px_channel_reply(peer->proxy, req->tag, req->reply.data, req->reply.len);
    px_req_drop(req);
}

void px_reply_begin(const struct px_req *req, px_writer *w, pmix_status_t status)
{
    px_writer_init(w, req->peer->codec);
    px_pack_status(w, status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status);
}

/* Replaces the packed reply by a status. */
static void pack_instead(const struct px_req *req, px_writer *w, pmix_status_t why)
{
    px_log(PX_LOG_WARN, "server", "cannot reply to command %u of %s.%u: %s", req->op,
           req->peer->proc.nspace, req->peer->proc.rank, PMIx_Error_string(why));
    px_writer_cleanup(w);
    px_reply_begin(req, w, why);
}

/* Sends a reply. Closes the connection if not even a status can be sent, since the
 * client may wait for the reply without a timeout. */
static void reply_to_client(const struct px_req *req, px_writer *w)
{
    struct px_conn *conn = req->peer->conn;

    (void)px_work(req->peer, w->buf.len / PX_ITEM_B);
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
    /* The user's callback must not run inside the caller's loop. The reply goes through
     * the mailbox, as the answers of a host's threads do. */
    if (peer == peer->server->self || peer->proxy) {
        req->reply = px_buf_take(&w->buf);
        req->msg.run = on_own_reply;
        px_post(peer->server->loop, &req->msg);
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
    else if (peer->proxy)
        (void)px_channel_reply(peer->proxy, tag, w.buf.data, w.buf.len);
    else if (peer->conn)
        reply_to_client(&req, &w);
    px_writer_cleanup(&w);
}
