/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares of a turn. A peer that has used up its share is paused. A timer ends the pause
 * in the next turn, in which the loop first reports the descriptors of other peers. The
 * pause ends by a message, so that replies to these peers leave before more work. */
#include "core/server/peer/turn.h"

#include "core/link/conn.h"
#include "core/rt/log.h"
#include "core/server/peer/peer.h"
#include "core/server/section.h"
#include "core/server/server.h"

/* ---- output that waits ----------------------------------------------------------- */

static void send_late(struct px_msg *msg)
{
    struct px_turns *t = PX_CONTAINER_OF(msg, struct px_turns, sending);

    t->is_sending = false;
    if (t->any_rests && t->n_waits++ < PX_MOST_WAITS) /* begin_turn continues */
        return;
    t->n_waits = 0;
    PX_LIST_EACH (&t->late, struct px_peer, p, late) {
        px_list_remove(&p->late);
        if (p->conn)
            px_conn_flush(p->conn);
    }
}

void px_send_late(struct px_peer *peer)
{
    struct px_turns *t = peer->server->part.turns;

    if (px_list_linked(&peer->late))
        return;
    px_list_append(&t->late, &peer->late);
    px_server_post(t->server, &t->sending, &t->is_sending);
}

/* ---- rests ----------------------------------------------------------------------- */

static void begin_turn(struct px_msg *msg)
{
    struct px_turns *t = PX_CONTAINER_OF(msg, struct px_turns, begin);
    struct px_server *srv = t->server;

    t->is_posted = t->any_rests = false;
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
    if (!px_list_empty(&t->late))
        px_server_post(srv, &t->sending, &t->is_sending);
}

static void on_timer(void *arg)
{
    struct px_turns *t = arg;

    px_server_post(t->server, &t->begin, &t->is_posted);
}

void px_rest(struct px_peer *peer)
{
    struct px_turns *t = peer->server->part.turns;

    if (!t || !peer->conn || peer->rests)
        return;
    peer->rests = t->any_rests = true;
    t->n_rests++;
    px_conn_pause(peer->conn, true);
    px_timer_set(t->timer, 0);
}

bool px_work(struct px_peer *peer, size_t n_items)
{
    struct px_turns *t = peer->server->part.turns;
    uint64_t turn = px_loop_turn(peer->server->loop);

    if (!t || !peer->conn) /* the server starts or ends, or the peer is its own */
        return false;
    if (peer->turn != turn) {
        peer->turn = turn;
        peer->n_items = 0;
    }
    peer->n_items += n_items;
    t->n_items += n_items;
    if (peer->n_items > t->largest)
        t->largest = peer->n_items;
    if (peer->n_items > PX_TURN_ITEMS)
        px_rest(peer);
    return peer->rests;
}

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    struct px_turns *t = srv->part.turns;

    t->server = srv;
    t->begin.run = begin_turn;
    t->sending.run = send_late;
    px_list_init(&t->late);
    t->timer = px_timer_create(srv->loop, on_timer, t);
    return t->timer ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static void destroy(struct px_server *srv)
{
    const struct px_turns *t = srv->part.turns;

    px_log(PX_LOG_INFO, "server",
           "work for peers: %zu items, at most %zu for one in a turn; %zu turns ended "
           "early",
           t->n_items, t->largest, t->n_rests);
    px_timer_free(t->timer);
}

static pmix_status_t report(struct px_server *srv, px_infos *sections)
{
    const struct px_turns *t = srv->part.turns;
    const struct px_report_number numbers[] = {
        {"turns", px_loop_turn(srv->loop)},
        {"longest_turn_us", px_loop_longest_ns(srv->loop) / 1000},
        {"items", t->n_items},
        {"most_items_of_one_in_a_turn", t->largest},
        {"turns_ended_early", t->n_rests},
        {0}};
    px_infos section = {0};
    pmix_status_t rc = px_report_numbers(&section, numbers);

    return px_report_add(sections, "loop", &section, rc);
}

const struct px_server_part px_turns_part = {
    .name = "turns",
    PX_PART_STATE(turns, struct px_turns),
    .create = create,
    .destroy = destroy,
    .report = report,
};
