/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a server, or of a process with subscriptions: output that the server has
 * taken is sent first. */
#include "core/base/clock.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "core/server/iof/server_iof.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"

#define PROBE_MS 5u /* between two probes */

struct drain {
    struct px_list link; /* in px_relay.drains */
    struct px_server *srv;
    const struct px_peer *peer; /* NULL: all peers */
    struct px_timer *timer;
    void (*done)(void *arg);
    void *arg;
    size_t left_b;
    uint64_t since_ms; /* time of the last change of left_b */
    uint64_t limit_ms; /* without a change, after which the wait ends */
};

static size_t count_left(const struct px_server *srv, const struct px_peer *peer)
{
    return peer ? px_pulls_owed(srv, peer) : px_pulls_left(srv->part.relay);
}

static void end(struct drain *d)
{
    px_list_remove(&d->link);
    d->done(d->arg);
    px_timer_free(d->timer);
    free(d);
}

static void report_loss(const struct drain *d)
{
    if (d->peer)
        px_log(
            PX_LOG_ERROR, "server",
            "cannot send %zu bytes of forwarded output to %s.%u, which finalizes: it "
            "has not read for %llu ms (iof_drain_timeout)",
            d->left_b, d->peer->proc.nspace, d->peer->proc.rank,
            (unsigned long long)d->limit_ms);
    else
        px_log(PX_LOG_ERROR, "server",
               "cannot send %zu bytes of output: the readers do not read", d->left_b);
}

static void probe(void *arg)
{
    struct drain *d = arg;
    size_t left_b = count_left(d->srv, d->peer);
    uint64_t now = px_clock_ms();

    if (left_b != d->left_b)
        d->since_ms = now;
    d->left_b = left_b;
    if (left_b > 0 && d->timer && now - d->since_ms < d->limit_ms) {
        px_timer_set(d->timer, PROBE_MS);
        return;
    }
    if (left_b > 0)
        report_loss(d);
    end(d);
}

void px_relay_drain(struct px_server *srv, const struct px_peer *peer,
                    void (*done)(void *arg), void *arg)
{
    struct drain *d = count_left(srv, peer) > 0 ? calloc(1, sizeof(*d)) : NULL;

    if (!d) {
        done(arg);
        return;
    }
    *d = (struct drain){.srv = srv,
                        .peer = peer,
                        .done = done,
                        .arg = arg,
                        .limit_ms = px_process.iof_drain_ms};
    px_list_append(&srv->part.relay->drains, &d->link);
    d->timer = px_timer_create(srv->loop, probe, d);
    probe(d);
}

void px_drains_stop(struct px_relay *relay)
{
    while (!px_list_empty(&relay->drains))
        end(PX_CONTAINER_OF(relay->drains.next, struct drain, link));
}
