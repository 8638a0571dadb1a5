/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches and timers. Either may be freed inside its own callback; nothing touches it
 * after. */
#include "core/base/clock.h"
#include "core/rt/loop_impl.h"

#include <limits.h>

struct px_watch {
    struct px_loop *loop;
    int fd;
    unsigned events; /* enum px_watch_events, or-ed: what is watched now */
    px_watch_fn fn;
    void *arg;
};

struct px_timer {
    struct px_loop *loop;
    struct px_list link; /* among those that are due now; else not linked */
    size_t at;           /* its place in the heap, from 1; 0: it is not set */
    uint64_t due_ms;     /* of px_clock_ms() */
    px_timer_fn fn;
    void *arg;
};

pmix_status_t px_poll_init(struct px_poll *p)
{
    p->fd = epoll_create1(EPOLL_CLOEXEC);
    return p->fd < 0 ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

void px_poll_fini(struct px_poll *p)
{
    px_drop_fd(&p->fd);
    free(p->timers);
}

/* ---- watches --------------------------------------------------------------------- */

/* By edges: each write is reported, once. */
pmix_status_t px_poll_wake_by(struct px_poll *p, int fd)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLET};

    return epoll_ctl(p->fd, EPOLL_CTL_ADD, fd, &e) ? PMIX_ERR_OUT_OF_RESOURCE
                                                   : PMIX_SUCCESS;
}

/* A descriptor that is watched for nothing is not in the epoll, which would report its
 * end all the time. */
static int set_events(struct px_watch *w, unsigned events)
{
    struct epoll_event e = {.events = (events & PX_READABLE ? EPOLLIN : 0u) |
                                      (events & PX_WRITABLE ? EPOLLOUT : 0u),
                            .data.ptr = w};
    int op = !w->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;

    if (w->events == events)
        return 0;
    if (epoll_ctl(w->loop->poll.fd, op, w->fd, &e))
        return -1;
    w->loop->poll.n_writers += !!(events & PX_WRITABLE) - !!(w->events & PX_WRITABLE);
    w->events = events;
    return 0;
}

struct px_watch *px_watch_create(struct px_loop *loop, int fd, unsigned events,
                                 px_watch_fn fn, void *arg)
{
    px_loop_assert(loop);
    struct px_watch *w = malloc(sizeof(*w));
    if (!w)
        return NULL;
    *w = (struct px_watch){.loop = loop, .fd = fd, .fn = fn, .arg = arg};
    if (set_events(w, events)) {
        free(w);
        return NULL;
    }
    return w;
}

pmix_status_t px_watch_set(struct px_watch *w, unsigned events)
{
    px_loop_assert(w->loop);
    return set_events(w, events) ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

/* Its descriptor is still open: else a copy of that in another process would keep it in
 * the epoll. */
void px_watch_free(struct px_watch *w)
{
    if (!w)
        return;
    px_loop_assert(w->loop);
    struct px_poll *p = &w->loop->poll;
    for (int i = p->at; i < p->n_ready; i++)
        if (p->ready[i].data.ptr == w)
            p->ready[i].data.ptr = NULL;
    w->fn = NULL;
    if (!set_events(w, 0)) /* else the epoll has it until its descriptor is closed */
        free(w);
}

/* An error or an end of the line is both: the one who reads or writes finds out. */
static PX_LOOP_ONLY void report(const struct epoll_event *e)
{
    static const struct {
        unsigned event;
        uint32_t bits;
    } kinds[] = {{PX_READABLE, EPOLLIN | EPOLLERR | EPOLLHUP},
                 {PX_WRITABLE, EPOLLOUT | EPOLLERR | EPOLLHUP}};

    for (size_t i = 0; i < PX_COUNT(kinds); i++) {
        const struct px_watch *w = e->data.ptr; /* NULL: it is gone by now */

        if (w && w->fn && e->events & kinds[i].bits && w->events & kinds[i].event)
            w->fn(w->arg, w->fd, kinds[i].event);
    }
}

/* ---- timers ---------------------------------------------------------------------- */

static void put(struct px_poll *p, size_t i, struct px_timer *t)
{
    p->timers[i] = t;
    t->at = i + 1;
}

/* Moves t, for which place i is free, to where it belongs. */
static void settle(struct px_poll *p, size_t i, struct px_timer *t)
{
    for (; i > 0 && p->timers[(i - 1) / 2]->due_ms > t->due_ms; i = (i - 1) / 2)
        put(p, i, p->timers[(i - 1) / 2]);
    for (;;) {
        size_t child = 2 * i + 1;

        if (child + 1 < p->n_timers &&
            p->timers[child + 1]->due_ms < p->timers[child]->due_ms)
            child++;
        if (child >= p->n_timers || p->timers[child]->due_ms >= t->due_ms)
            break;
        put(p, i, p->timers[child]);
        i = child;
    }
    put(p, i, t);
}

struct px_timer *px_timer_create(struct px_loop *loop, px_timer_fn fn, void *arg)
{
    px_loop_assert(loop);
    struct px_poll *p = &loop->poll;
    struct px_timer *t = malloc(sizeof(*t));
    if (!t)
        return NULL;
    if (p->n_made == p->room) { /* so that to set one asks for no memory */
        size_t room = 2 * p->room + 8;
        struct px_timer **timers = realloc(p->timers, room * sizeof(struct px_timer *));

        if (!timers) {
            free(t);
            return NULL;
        }
        p->timers = timers;
        p->room = room;
    }
    p->n_made++;
    *t = (struct px_timer){.loop = loop, .fn = fn, .arg = arg};
    return t;
}

void px_timer_clear(struct px_timer *t)
{
    px_loop_assert(t->loop);
    struct px_poll *p = &t->loop->poll;
    size_t i = t->at;

    px_list_remove(&t->link);
    if (!i)
        return;
    t->at = 0;
    struct px_timer *last = p->timers[--p->n_timers];
    if (last != t)
        settle(p, i - 1, last);
}

void px_timer_set(struct px_timer *t, uint64_t in_ms)
{
    struct px_poll *p = &t->loop->poll;
    uint64_t now = px_clock_ms();

    px_timer_clear(t);
    t->due_ms = in_ms >= PX_NEVER - now ? PX_NEVER - 1 : now + in_ms;
    settle(p, p->n_timers++, t);
}

void px_timer_free(struct px_timer *t)
{
    if (!t)
        return;
    px_timer_clear(t);
    t->loop->poll.n_made--;
    free(t);
}

uint64_t px_poll_due(const struct px_poll *p)
{
    return p->n_timers > 0 ? p->timers[0]->due_ms : PX_NEVER;
}

/* All that are due are taken out first: one that is set anew in the meantime has its
 * turn on the next pass. */
static PX_LOOP_ONLY void fire(struct px_poll *p)
{
    struct px_list due;

    if (p->n_timers == 0)
        return;
    px_list_init(&due);
    for (uint64_t now = px_clock_ms(); px_poll_due(p) <= now;) {
        struct px_timer *t = p->timers[0];

        px_timer_clear(t);
        px_list_append(&due, &t->link);
    }
    while (!px_list_empty(&due)) {
        struct px_timer *t = PX_CONTAINER_OF(due.next, struct px_timer, link);

        px_list_remove(&t->link);
        t->fn(t->arg);
    }
}

/* ---- waiting --------------------------------------------------------------------- */

int px_poll_timeout(uint64_t due_ms)
{
    uint64_t now;

    if (due_ms == PX_NEVER)
        return -1;
    now = px_clock_ms();
    return due_ms <= now ? 0 : due_ms - now < INT_MAX ? (int)(due_ms - now) : INT_MAX;
}

int px_poll_wait(struct px_poll *p, int timeout_ms)
{
    int n = epoll_wait(p->fd, p->ready, PX_COUNT(p->ready), timeout_ms);

    return n > 0 ? n : 0; /* a signal has interrupted it: another pass follows */
}

void px_poll_report(struct px_poll *p, int n)
{
    p->n_ready = n;
    for (p->at = 0; p->at < p->n_ready; p->at++)
        report(&p->ready[p->at]);
    p->n_ready = 0;
    fire(p);
}
