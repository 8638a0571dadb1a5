/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares of a turn. A peer that has used up its share is paused. A timer ends the pause
 * in the next turn, in which the loop first reports the descriptors of other peers. */
#include "core/server/peer/turn.h"

#include "core/link/conn.h"
#include "core/rt/log.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"

static void begin_turn(void *arg)
{
    struct px_server *srv = arg;

    PX_LIST_EACH (&srv->peers, struct px_peer, p, link) {
        if (!p->rests)
            continue;
        p->rests = false;
        px_peer_ref(p);
        PX_PARTS_NOTIFY(srv, peer_turn, p);
        if (!p->rests && p->conn)
            px_conn_pause(p->conn, false);
        px_peer_unref(p);
    }
}

bool px_work(struct px_peer *peer, size_t n_items)
{
    struct px_turns *t = peer->server->part.turns;
    uint64_t turn = px_loop_turn(peer->server->loop);

    if (!t) /* the server starts or ends */
        return false;
    if (peer->turn != turn) {
        peer->turn = turn;
        peer->n_items = 0;
    }
    peer->n_items += n_items;
    if (peer->n_items > t->largest)
        t->largest = peer->n_items;
    if (peer->n_items <= PX_TURN_ITEMS || !peer->conn || peer->rests)
        return peer->rests;
    peer->rests = true;
    t->n_rests++;
    px_conn_pause(peer->conn, true);
    px_timer_set(t->timer, 0);
    return true;
}

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    struct px_turns *t = srv->part.turns;

    t->timer = px_timer_create(srv->loop, begin_turn, srv);
    return t->timer ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static void destroy(struct px_server *srv)
{
    const struct px_turns *t = srv->part.turns;

    px_log(PX_LOG_DEBUG, "server",
           "most work for one peer in a turn: %zu items; %zu turns ended early",
           t->largest, t->n_rests);
    px_timer_free(t->timer);
}

const struct px_server_part px_turns_part = {
    .name = "turns",
    PX_PART_STATE(turns, struct px_turns),
    .create = create,
    .destroy = destroy,
};
