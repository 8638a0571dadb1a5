/* SPDX-License-Identifier: BSD-3-Clause */
/* A server that ends: processes that have asked for output get first what there is. */
#include "core/base/clock.h"
#include "core/rt/log.h"
#include "core/server/iof/iof.h"

#define LOOK_MS 5u /* between two looks */

struct drain {
    struct px_server *srv;
    struct px_timer *timer;
    void (*done)(void *arg);
    void *arg;
    size_t left_b;
    uint64_t since_ms; /* it was as much as that */
};

static void look(void *arg)
{
    struct drain *d = arg;
    size_t left_b = px_pulls_left(d->srv->part.relay);
    uint64_t now = px_clock_ms();

    if (left_b != d->left_b)
        d->since_ms = now;
    d->left_b = left_b;
    if (left_b > 0 && d->timer && now - d->since_ms < px_process.iof_drain_ms) {
        px_timer_set(d->timer, LOOK_MS);
        return;
    }
    if (left_b > 0)
        px_log(PX_LOG_ERROR, "server",
               "cannot send %zu bytes of output: those that want them do not read",
               left_b);
    d->done(d->arg);
    px_timer_free(d->timer);
    free(d);
}

void px_relay_drain(struct px_server *srv, void (*done)(void *arg), void *arg)
{
    struct drain *d = px_pulls_left(srv->part.relay) > 0 ? calloc(1, sizeof(*d)) : NULL;

    if (!d) {
        done(arg);
        return;
    }
    *d = (struct drain){.srv = srv, .done = done, .arg = arg};
    d->timer = px_timer_create(px_process.loop, look, d);
    look(d);
}
