/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches and timers over libevent's events. Either may be freed inside its own
 * callback: after the callback nothing here touches it. */
#include "core/base/clock.h"
#include "core/rt/loop_impl.h"

/* Two events, so that turning "writable" on and off is one epoll_ctl, not two. */
struct px_watch {
    struct px_loop *loop;
    struct event readable;
    struct event writable;
    unsigned events; /* enum px_watch_events, or-ed: what is watched now */
    px_watch_fn fn;
    void *arg;
};

struct px_timer {
    struct px_loop *loop;
    struct event event;
    uint64_t due_ms; /* of px_clock_ms() */
    px_timer_fn fn;
    void *arg;
};

static void on_readable(evutil_socket_t fd, short what PX_UNUSED, void *arg)
{
    struct px_watch *w = arg;

    w->fn(w->arg, fd, PX_READABLE);
}

static void on_writable(evutil_socket_t fd, short what PX_UNUSED, void *arg)
{
    struct px_watch *w = arg;

    w->fn(w->arg, fd, PX_WRITABLE);
}

static pmix_status_t set_event(struct event *event, bool is_on, bool should_be_on)
{
    if (is_on == should_be_on)
        return PMIX_SUCCESS;
    int failed = should_be_on ? event_add(event, NULL) : event_del(event);
    return failed ? PMIX_ERROR : PMIX_SUCCESS;
}

static pmix_status_t set_events(struct px_watch *w, unsigned events)
{
    unsigned was = w->events;

    pmix_status_t rc = set_event(&w->readable, was & PX_READABLE, events & PX_READABLE);
    if (!rc) {
        w->events = (was & ~PX_READABLE) | (events & PX_READABLE);
        rc = set_event(&w->writable, was & PX_WRITABLE, events & PX_WRITABLE);
    }
    if (!rc)
        w->events = events;
    return rc;
}

struct px_watch *px_watch_create(struct px_loop *loop, int fd, unsigned events,
                                 px_watch_fn fn, void *arg)
{
    px_loop_assert(loop);
    struct px_watch *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->loop = loop;
    w->fn = fn;
    w->arg = arg;
    event_assign(&w->readable, loop->base, fd, EV_READ | EV_PERSIST, on_readable, w);
    event_assign(&w->writable, loop->base, fd, EV_WRITE | EV_PERSIST, on_writable, w);
    if (set_events(w, events)) {
        px_watch_free(w);
        return NULL;
    }
    return w;
}

void px_watch_set(struct px_watch *w, unsigned events)
{
    px_loop_assert(w->loop);
    /* libevent keeps its record of an fd, so this asks for no memory of ours. */
    (void)set_events(w, events);
}

void px_watch_free(struct px_watch *w)
{
    if (!w)
        return;
    px_loop_assert(w->loop);
    event_del(&w->readable);
    event_del(&w->writable);
    free(w);
}

/* ---- timers ---------------------------------------------------------------------- */

/* libevent's own limit is lower than uint64_t; a longer timer is armed in several
 * turns. */
#define LONGEST_MS (7 * 24 * 3600 * UINT64_C(1000))

static void arm(struct px_timer *t, uint64_t in_ms)
{
    if (in_ms > LONGEST_MS)
        in_ms = LONGEST_MS;
    const struct timeval tv = {
        .tv_sec = (time_t)(in_ms / 1000),
        .tv_usec = (suseconds_t)(in_ms % 1000 * 1000),
    };
    /* The heap of timers may want memory. A timer that is lost is a hang; this one
     * comes at once instead, finds that it is early and is armed again. */
    if (event_add(&t->event, &tv))
        event_active(&t->event, EV_TIMEOUT, 0);
}

/* libevent counts by a coarse clock and from the start of a pass, so it may come a
 * little early; a deadline kept in px_clock_ms() must have passed when its timer
 * fires. */
static void on_time(evutil_socket_t fd PX_UNUSED, short what PX_UNUSED, void *arg)
{
    struct px_timer *t = arg;
    uint64_t now = px_clock_ms();

    if (now < t->due_ms)
        arm(t, t->due_ms - now);
    else
        t->fn(t->arg);
}

struct px_timer *px_timer_create(struct px_loop *loop, px_timer_fn fn, void *arg)
{
    px_loop_assert(loop);
    struct px_timer *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->loop = loop;
    t->fn = fn;
    t->arg = arg;
    evtimer_assign(&t->event, loop->base, on_time, t);
    return t;
}

void px_timer_set(struct px_timer *t, uint64_t in_ms)
{
    px_loop_assert(t->loop);
    uint64_t now = px_clock_ms();
    t->due_ms = in_ms > UINT64_MAX - now ? UINT64_MAX : now + in_ms;
    arm(t, in_ms);
}

void px_timer_clear(struct px_timer *t)
{
    px_loop_assert(t->loop);
    event_del(&t->event);
}

void px_timer_free(struct px_timer *t)
{
    if (!t)
        return;
    px_timer_clear(t);
    free(t);
}
