/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatch: finds the table row of a command, checks the sender and runs the
 * request. */
#include "core/server/peer/rpc.h"

#include "core/base/clock.h"
#include "core/link/conn.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/server/data/memory.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"
#include "core/server/upcall/server_forward.h"
#include "core/wire/hello.h"
#include "tenon/ptl.h"

#include <stdlib.h>

#define REQUEST_B     1024u /* size of a request without the bytes its client sends */
#define REQUEST_ITEMS 32u   /* work of a request without its bytes; see px_work */

/* ---- requests -------------------------------------------------------------------- */

static pmix_status_t handle(struct px_server *srv, struct px_req *req)
{
    const struct px_peer *peer = req->peer;
    pmix_status_t rc = px_unpack_u8(&req->in, &req->op, PMIX_COMMAND);

    if (rc) {
        px_log(PX_LOG_WARN, "server",
               "cannot read a message of %s.%u: it has no command", peer->proc.nspace,
               peer->proc.rank);
        return PMIX_ERR_BAD_PARAM;
    }
    if (peer->local) {
        peer->local->last_op = req->op;
        peer->local->last_ms = px_clock_ms();
    }
    req->rpc = px_part_rpc(srv, req->op);
    rc = px_req_admit(req);
    if (!rc && !req->rpc->passing)
        rc = px_charge(&req->charge, req->peer,
                       REQUEST_B + (size_t)(req->in.end - req->in.pos));
    if (!rc && req->rpc->forward)
        return px_forward(srv, req);
    if (!rc)
        rc = req->rpc->handler(srv, req);
    if (rc == PMIX_ERR_NOT_SUPPORTED)
        px_req_refused(req, NULL, "this library does not support the request");
    return rc;
}

/* Refuses a request without memory. */
static void refuse(struct px_server *srv, struct px_peer *peer, uint32_t tag,
                   const uint8_t *payload, size_t n)
{
    const struct px_rpc *rpc = NULL;
    px_reader in;
    uint8_t op;

    px_reader_init(&in, peer->codec, payload, n);
    if (!px_unpack_u8(&in, &op, PMIX_COMMAND))
        rpc = px_part_rpc(srv, op);
    if (rpc && rpc->failed)
        rpc->failed(srv, peer, PMIX_ERR_NOMEM);
    px_peer_refuse(peer, tag, PMIX_ERR_NOMEM);
}

void px_server_dispatch(struct px_server *srv, struct px_peer *peer, uint32_t tag,
                        const uint8_t *payload, size_t n)
{
    const size_t read_b = n < PX_READ_TURN_B ? n : PX_READ_TURN_B; /* in this turn */
    struct px_req *req;

    if (tag < PX_TAG_DYNAMIC) { /* such messages want no reply */
        peer->n_beats += tag == PX_TAG_HEARTBEAT;
        (void)px_work(peer, 1 + read_b / PX_ITEM_B);
        return;
    }
    req = malloc(sizeof(*req));
    if (!req) {
        refuse(srv, peer, tag, payload, n);
        return;
    }
    *req = (struct px_req){.peer = peer, .tag = tag};
    px_peer_ref(peer);
    px_reader_init(&req->in, peer->codec, payload, n);
    if (peer != srv->self)
        px_reader_limit(&req->in);
    (void)px_work(peer, REQUEST_ITEMS + read_b / PX_ITEM_B);
    px_nspace_expect(srv->model, peer->proc.nspace);
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
    struct px_peer *p = calloc(1, sizeof(*p));

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
                          .reads_in_place = true, /* if the component shares tables */
                          .pindex = ++srv->next_pindex};
    if (px_conn_create(srv->loop, fd, &conn_ops, p, &p->conn)) {
        free(p);
        return NULL;
    }
    return p;
}
