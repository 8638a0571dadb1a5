/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of this library on a Unix socket counts its heartbeats in an eventfd that
 * the server reads when a check is due. The socket of another client becomes readable
 * by a request only, and its heartbeats wait there until a check is due. */
#include "core/server/monitor/beats.h"

#include "core/base/fd.h"
#include "core/link/conn.h"
#include "core/server/data/memory.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/share.h"

#include <sys/eventfd.h>
#include <unistd.h>

/* A heartbeat is a frame without payload, a request is longer. */
#define REQUEST_B (PX_FRAME_HEADER_B + 1)

struct px_beats {
    unsigned n_users;
    int fd;     /* the eventfd; -1: heartbeats are messages */
    bool waits; /* messages wait in the socket */
    struct px_charge charge;
};

/* Gives the client an eventfd, which comes with the next reply. */
static void share(struct px_peer *peer, struct px_beats *b)
{
    PX_AUTO(px_buf) empty = {0};

    b->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (b->fd >= 0 && px_conn_enclose(peer->conn, PX_TAG_STORE, &empty, b->fd))
        px_drop_fd(&b->fd);
}

bool px_beats_begin(struct px_peer *peer)
{
    struct px_beats *b = peer->beats;

    if (!b && peer->conn && !peer->gone) {
        b = calloc(1, sizeof(*b));
        if (!b)
            return false;
        b->fd = -1;
        if (px_charge(&b->charge, peer, sizeof(*b))) {
            free(b);
            return false;
        }
        if (px_peer_is_ours(peer))
            share(peer, b);
        b->waits = b->fd < 0 && !px_conn_set_least(peer->conn, REQUEST_B);
        peer->beats = b;
    }
    if (b)
        b->n_users++;
    return b;
}

void px_beats_end(struct px_peer *peer)
{
    struct px_beats *b = peer->beats;

    if (--b->n_users > 0)
        return;
    (void)px_beats_of(peer); /* counts the rest */
    peer->beats = NULL;
    if (b->waits && peer->conn)
        (void)px_conn_set_least(peer->conn, 1);
    px_drop_fd(&b->fd);
    px_charge_end(&b->charge); /* may free the peer */
    free(b);
}

bool px_beats_wait(const struct px_peer *peer)
{
    return peer->beats && peer->beats->waits && peer->conn;
}

void px_beats_read(struct px_peer *peer)
{
    if (px_beats_wait(peer))
        px_conn_read(peer->conn);
}

uint64_t px_beats_of(struct px_peer *peer)
{
    uint64_t n;

    if (peer->beats && peer->beats->fd >= 0 &&
        PX_RETRY(read(peer->beats->fd, &n, sizeof(n))) == sizeof(n))
        peer->n_beats += n;
    return peer->n_beats;
}
