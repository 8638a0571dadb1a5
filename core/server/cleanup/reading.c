/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for the clean-up of many paths, whose paths are read in several turns of the
 * loop: each takes some system calls, and a request may have thousands. */
#include "core/server/cleanup/cleanup.h"

#include "core/server/cleanup/request.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/peer/rpc.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"
#include "core/server/upcall/upcall.h"

#include <stdlib.h>

enum {
    PATH_ITEMS = 1024, /* of work, for a path */
    PATHS = PX_TURN_ITEMS / PATH_ITEMS,
};

struct reading {
    struct px_list link; /* in part.readings */
    struct px_req *req;
    struct px_upcall *upcall;
    bool only_check;
    px_cleanup_read_fn fn;
};

/* Reads some paths. After the last, registers or checks the request. */
static pmix_status_t read_some(struct reading *r, size_t most)
{
    struct px_cleanup_request *q = r->upcall->cleanup;
    const struct px_args *a = &r->upcall->args;
    struct px_peer *peer = r->req->peer;
    const size_t before_b = q->wants_b;
    pmix_status_t rc = px_cleanup_request_read(q, &a->more, most);

    (void)px_work(peer, PX_TURN_ITEMS);
    if (!rc)
        rc = px_charge(&r->req->charge, peer, q->wants_b - before_b);
    return rc || !q->is_read ? rc
                             : px_cleanup_apply(peer->server, peer, a->procs,
                                                a->n_procs, q, r->only_check);
}

pmix_status_t px_cleanup_begin(struct px_req *req, struct px_upcall *u, bool only_check,
                               px_cleanup_read_fn fn)
{
    struct px_peer *peer = req->peer;
    struct reading r = {.req = req, .upcall = u, .only_check = only_check, .fn = fn};
    struct reading *later;
    pmix_status_t rc;

    u->cleanup = calloc(1, sizeof(*u->cleanup));
    if (!u->cleanup)
        return PMIX_ERR_NOMEM;
    rc = px_cleanup_request_begin(u->cleanup, &u->args.more, peer->uid, peer->gid);
    if (!rc)
        rc = read_some(&r, peer->conn ? PATHS : SIZE_MAX);
    if (rc || u->cleanup->is_read)
        return rc;
    later = malloc(sizeof(*later));
    if (!later)
        return PMIX_ERR_NOMEM;
    *later = r;
    px_list_append(&peer->server->part.readings, &later->link);
    px_rest(peer);
    return PX_DEFERRED;
}

static void peer_turn(struct px_server *srv, struct px_peer *peer)
{
    PX_LIST_EACH (&srv->part.readings, struct reading, r, link) {
        struct reading now = *r;

        if (r->req->peer != peer)
            continue;
        pmix_status_t rc = read_some(r, PATHS);
        if (!rc && !r->upcall->cleanup->is_read) {
            px_rest(peer);
            continue;
        }
        px_list_remove(&r->link);
        free(r);
        now.fn(now.upcall, rc);
    }
}

static void drop(struct reading *r)
{
    px_list_remove(&r->link);
    px_upcall_drop(r->upcall);
    free(r);
}

static void peer_gone(struct px_server *srv, struct px_peer *peer)
{
    PX_LIST_EACH (&srv->part.readings, struct reading, r, link) {
        struct px_req *req = r->req;

        if (req->peer != peer)
            continue;
        drop(r);
        px_req_drop(req);
    }
}

/* The requests have their replies: see px_upcalls_stop. */
static void stop(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.readings, struct reading, r, link)
        drop(r);
}

const struct px_server_part px_readings_part = {
    .name = "readings",
    .stop = stop,
    .peer_turn = peer_turn,
    .peer_gone = peer_gone,
};
