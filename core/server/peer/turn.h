/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares of a turn of the loop, so that the work of one peer cannot delay the others.
 * Loop thread only. */
#ifndef PX_SERVER_PEER_TURN_H
#define PX_SERVER_PEER_TURN_H

#include "core/base/list.h"
#include "core/rt/loop.h"

#include <stddef.h>

struct px_peer;
struct px_server;

/* Work for one peer in a turn. An item takes at most about 100 ns, so this work takes
 * about 2 ms. */
#define PX_TURN_ITEMS 16384u
#define PX_ITEM_B     256u /* bytes that are read, decoded, copied or sent: an item */

/* State of the part, with the statistics that the server logs at its end. */
struct px_turns {
    struct px_server *server;
    struct px_timer *timer; /* begins the next turn of resting peers */
    struct px_msg begin;    /* continues after the replies to other peers */
    bool is_posted;
    bool any_rests;        /* a peer */
    struct px_list late;   /* peers with output that waits */
    struct px_msg sending; /* sends that output */
    bool is_sending;
    unsigned n_waits; /* turns that the output has waited */
    size_t largest; /* items of one peer in one turn */
    size_t n_items; /* of all peers */
    size_t n_rests; /* turns that ended early */
};

/* Counts items of work for a peer: elements that a handler compares, copies or sends.
 * Beyond PX_TURN_ITEMS the peer rests: the server reads no further request of the peer
 * before the next turn. Returns true if the peer rests. Long work should then stop, and
 * continue in the hook peer_turn. The server's own peer never rests. */
bool px_work(struct px_peer *peer, size_t n_items);
/* Sends frames that wait in a connection, at the end of this turn. While any peer
 * rests, the frames wait up to PX_MOST_WAITS turns, as that peer probably causes more
 * frames. So a burst of events wakes each receiver only once. */
void px_send_late(struct px_peer *peer);
#define PX_MOST_WAITS 4u
/* Has a peer rest until the next turn: work for the peer is unfinished. */
void px_rest(struct px_peer *peer);

#endif
