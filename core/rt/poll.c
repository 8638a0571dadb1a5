/* SPDX-License-Identifier: BSD-3-Clause */
/* The adapter to libevent: watches and timers as events of one base.
 *
 * Only the leader of the loop touches the base, so the base has no locks. This file
 * changes no process-wide state of libevent. libevent has no descriptor on which a
 * thread could sleep. The loop's own thread therefore sleeps on a set of the same
 * descriptors, until the next timer may be due. */
#include "core/base/clock.h"
#include "core/os/os.h"
#include "core/rt/loop_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>

enum {
    N_KINDS = 2,
    MOST_AHEAD_S = 365 * 24 * 3600, /* a later timer is set again at this time */
};

#define MOST_MS ((uint64_t)1 << (PX_TIMER_SLOTS - 2)) /* 139 years */

/* Event kinds of enum px_watch_events, and their names in libevent, sets and poll. */
static const struct kind {
    unsigned event;
    short what;
    unsigned set_bit;
    short poll_bit;
} kinds[N_KINDS] = {{PX_READABLE, EV_READ, PX_OS_READ, POLLIN},
                    {PX_WRITABLE, EV_WRITE, PX_OS_WRITE, POLLOUT}};

struct px_watch {
    struct px_list link;
    struct px_loop *loop;
    int fd;
    unsigned events;          /* watched events: enum px_watch_events, or-ed */
    struct event on[N_KINDS]; /* one event for each kind, so that a change is one
                               * call */
    px_watch_fn fn;
    void *arg;
};

struct px_timer {
    struct px_list link; /* in a slot of px_poll.timers while set */
    struct px_loop *loop;
    struct event event;
    uint64_t due_ms; /* of px_clock_ms() */
    px_timer_fn fn;
    void *arg;
};

/* ---- the base -------------------------------------------------------------------- */

/* True if enough descriptors are free. libevent ends the process if its socket pair
 * fails. */
static bool has_descriptors(int fd)
{
    enum { NEEDED = 3 };
    int copies[NEEDED], n = 0;

    while (n < NEEDED && (copies[n] = fcntl(fd, F_DUPFD_CLOEXEC, 0)) >= 0)
        n++;
    for (int i = 0; i < n; i++)
        close(copies[i]);
    return n == NEEDED;
}

/* Makes a base without locks. The base ignores the environment, which another user may
 * control. */
static struct event_base *make_base(int wake_fd)
{
    struct event_config *config = has_descriptors(wake_fd) ? event_config_new() : NULL;
    struct event_base *base = NULL;

    if (!config)
        return NULL;
    if (!event_config_set_flag(config,
                               EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV))
        base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

/* Ends a wait of the leader, which then runs the new messages. */
static void on_wake(int fd, short what PX_UNUSED, void *arg)
{
    struct px_loop *loop = arg;
    uint64_t count;

    if (!loop->poll.wakes_by_edge)
        (void)PX_RETRY(read(fd, &count, sizeof(count)));
    if (!px_loop_is_current(loop) && px_loop_begin_visit(loop, loop))
        px_loop_end_visit(loop);
}

/* Adds wake_fd to the base once, before a thread waits in the base. A server's own
 * thread sleeps on outer_fd instead, and each set that contains wake_fd slows posts. */
static pmix_status_t need_wake(struct px_poll *p)
{
    if (p->has_wake)
        return PMIX_SUCCESS;
    short edge = event_base_get_features(p->base) & EV_FEATURE_ET ? EV_ET : 0;

    p->wakes_by_edge = edge;
    if (event_assign(&p->wake, p->base, p->wake_fd, EV_READ | EV_PERSIST | edge,
                     on_wake, PX_CONTAINER_OF(p, struct px_loop, poll)) ||
        event_add(&p->wake, NULL))
        return PMIX_ERR_OUT_OF_RESOURCE;
    p->has_wake = true;
    return PMIX_SUCCESS;
}

/* Makes the base when first needed: it is the most expensive part of a loop, and some
 * processes need none. */
static pmix_status_t need_base(struct px_poll *p)
{
    if (!p->base)
        p->base = make_base(p->wake_fd);
    return p->base ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

static pmix_status_t make_sleep_fd(struct px_poll *p)
{
    if (p->sleep_fd < 0)
        p->sleep_fd = px_os_set_create();
    return p->sleep_fd < 0 ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

pmix_status_t px_poll_init(struct px_poll *p, struct event_base *base)
{
    px_list_init(&p->watches);
    for (size_t i = 0; i < PX_TIMER_SLOTS; i++)
        px_list_init(&p->timers.slots[i]);
    p->due_ms = PX_NEVER;
    p->sleep_fd = p->outer_fd = -1;
    p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    p->base = base;
    p->is_programs = base;
    if (p->wake_fd < 0 || !base)
        return p->wake_fd < 0 ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
    p->is_mirrored = true; /* a caller that waits beside the base sleeps on the set */
    if (need_wake(p) || make_sleep_fd(p) ||
        px_os_set_change(p->sleep_fd, PX_OS_ADD, p->wake_fd, PX_OS_READ | PX_OS_EDGE,
                         NULL))
        return PMIX_ERR_OUT_OF_RESOURCE;
    return PMIX_SUCCESS;
}

void px_poll_fini(struct px_poll *p)
{
    if (p->has_wake)
        (void)event_del_noblock(&p->wake);
    if (p->base && !p->is_programs)
        event_base_free(p->base);
    px_drop_fd(&p->outer_fd);
    px_drop_fd(&p->sleep_fd);
    px_drop_fd(&p->wake_fd);
}

/* Has libevent call the timers that are due. Its clock may be some milliseconds late:
 * the own thread, which sleeps by ours, would try again and again until then. */
static void activate_due(struct px_poll *p)
{
    const uint64_t now = p->due_ms == PX_NEVER ? 0 : px_clock_ms();

    if (px_poll_due(p, now) > now)
        return;
    PX_LIST_EACH (&p->timers.slots[0], struct px_timer, t, link)
        event_active(&t->event, EV_TIMEOUT, 1);
}

void px_poll_run(struct px_poll *p, bool wait)
{
    if (need_base(p) || (wait && need_wake(p))) {
        /* Memory is exhausted. This pass watches nothing, and the caller retries. */
        sched_yield();
        return;
    }
    activate_due(p);
    (void)event_base_loop(p->base, wait ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

/* ---- set of the sleeping thread -------------------------------------------------- */

static unsigned bits_of(unsigned events)
{
    unsigned bits = 0;

    for (size_t i = 0; i < N_KINDS; i++)
        bits |= events & kinds[i].event ? kinds[i].set_bit : 0;
    return bits;
}

/* Changes a watch in the set. A descriptor without events is not in the set, which
 * would report its hang-up repeatedly. */
static int mirror_watch(struct px_watch *w, unsigned events)
{
    struct px_poll *p = &w->loop->poll;
    enum px_os_change how = !w->events ? PX_OS_ADD
                            : events   ? PX_OS_CHANGE
                                       : PX_OS_REMOVE;

    if (!p->is_mirrored || w->events == events)
        return 0;
    return px_os_set_change(p->sleep_fd, how, w->fd, bits_of(events), w);
}

pmix_status_t px_poll_make_sleep(struct px_poll *p)
{
    if (p->outer_fd >= 0)
        return PMIX_SUCCESS;
    if (make_sleep_fd(p))
        return PMIX_ERR_OUT_OF_RESOURCE;
    p->outer_fd = px_os_set_create();
    if (p->outer_fd < 0 ||
        px_os_set_change(p->outer_fd, PX_OS_ADD, p->sleep_fd, 0, NULL) ||
        px_os_set_change(p->outer_fd, PX_OS_ADD, p->wake_fd, PX_OS_READ | PX_OS_EDGE,
                         &p->wake_fd)) {
        px_drop_fd(&p->outer_fd);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    return PMIX_SUCCESS;
}

void px_poll_arm(struct px_poll *p, enum px_arm how)
{
    static const unsigned bits[] = {[PX_ARM_NOT] = 0,
                                    [PX_ARM_ONCE] = PX_OS_READ | PX_OS_ONCE,
                                    [PX_ARM_ALWAYS] = PX_OS_READ};

    if (p->armed == how || p->outer_fd < 0)
        return;
    (void)px_os_set_change(p->outer_fd, PX_OS_CHANGE, p->sleep_fd, bits[how], NULL);
    p->armed = how;
}

void px_poll_fill(struct px_poll *p)
{
    if (p->is_mirrored)
        return;
    PX_LIST_EACH (&p->watches, struct px_watch, w, link)
        if (w->events &&
            px_os_set_change(p->sleep_fd, PX_OS_ADD, w->fd, bits_of(w->events), w) &&
            errno != EEXIST)
            return;
    p->is_mirrored = true;
}

static int timeout_of(uint64_t due_ms)
{
    return due_ms == PX_NEVER ? -1 : px_clock_left(due_ms);
}

enum px_woken px_poll_sleep(struct px_poll *p, uint64_t due_ms)
{
    void *args[2];
    unsigned ready;
    int n = px_os_set_wait(p->outer_fd, args, 2, &ready, timeout_of(due_ms));

    if (n <= 0)
        return PX_WOKEN_BY_TIME;
    return n == 1 && args[0] == &p->wake_fd ? PX_WOKEN_BY_MAIL : PX_WOKEN_BY_WATCH;
}

/* ---- watches --------------------------------------------------------------------- */

/* True if the descriptor is still ready. A call that waited in a program's loop may
 * have handled it before the program's base does. */
static bool is_ready(const struct px_watch *w, const struct kind *kind)
{
    struct pollfd fd = {.fd = w->fd, .events = kind->poll_bit};

    return !w->loop->poll.is_programs || poll(&fd, 1, 0) > 0;
}

/* Reports an event. Errors and hang-ups count as both kinds; the read or write returns
 * the error. */
static void report(struct px_watch *w, const struct kind *kind)
{
    if (w->events & kind->event && is_ready(w, kind))
        w->fn(w->arg, w->fd, kind->event);
}

static void on_event(int fd PX_UNUSED, short what, void *arg)
{
    struct px_watch *w = arg;
    struct px_loop *loop = w->loop;
    bool is_visit = !px_loop_is_current(loop);

    if (is_visit)
        w = px_loop_begin_visit(loop, w);
    if (!w)
        return;
    report(w, &kinds[what & EV_READ ? 0 : 1]);
    if (is_visit)
        px_loop_end_visit(loop);
}

static pmix_status_t change(struct px_watch *w, unsigned events)
{
    unsigned added = 0;
    bool failed = false;

    for (size_t i = 0; i < N_KINDS && !failed; i++) {
        if (!((w->events ^ events) & kinds[i].event))
            continue;
        if (!(events & kinds[i].event)) {
            (void)event_del_noblock(&w->on[i]);
            continue;
        }
        failed = event_add(&w->on[i], NULL);
        added |= failed ? 0 : kinds[i].event;
    }
    for (size_t i = 0; i < N_KINDS && failed; i++)
        if (added & kinds[i].event)
            (void)event_del_noblock(&w->on[i]);
    return failed ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

/* Changes both sets, or none if the kernel has no room. Watching less never fails. */
static pmix_status_t set_events(struct px_watch *w, unsigned events)
{
    struct px_poll *p = &w->loop->poll;
    const unsigned was = w->events;

    if (events == was)
        return PMIX_SUCCESS;
    if (mirror_watch(w, events))
        return PMIX_ERR_OUT_OF_RESOURCE;
    pmix_status_t rc = change(w, events);
    w->events = events;
    if (rc) {
        (void)mirror_watch(w, was);
        w->events = was;
        return rc;
    }
    p->n_writers += !!(events & PX_WRITABLE) - !!(was & PX_WRITABLE);
    return PMIX_SUCCESS;
}

struct px_watch *px_watch_create(struct px_loop *loop, int fd, unsigned events,
                                 px_watch_fn fn, void *arg)
{
    px_loop_assert(loop);
    struct px_poll *p = &loop->poll;
    struct px_watch *w = need_base(p) ? NULL : malloc(sizeof(*w));
    if (!w)
        return NULL;
    *w = (struct px_watch){.loop = loop, .fd = fd, .fn = fn, .arg = arg};
    for (size_t i = 0; i < N_KINDS; i++)
        (void)event_assign(&w->on[i], p->base, fd, kinds[i].what | EV_PERSIST, on_event,
                           w);
    if (set_events(w, events)) {
        free(w);
        return NULL;
    }
    px_list_append(&p->watches, &w->link);
    return w;
}

pmix_status_t px_watch_set(struct px_watch *w, unsigned events)
{
    px_loop_assert(w->loop);
    return set_events(w, events);
}

/* Frees a watch, whose descriptor must still be open. Otherwise a duplicate in another
 * process would keep it in the sets. */
void px_watch_free(struct px_watch *w)
{
    if (!w)
        return;
    px_loop_assert(w->loop);
    (void)set_events(w, 0);
    px_loop_forget(w->loop, w);
    px_list_remove(&w->link);
    free(w);
}

/* ---- timers ---------------------------------------------------------------------- */

/* Returns the slot of a due time: the number of bits up to the highest one that
 * differs. */
static unsigned slot_of(uint64_t base, uint64_t due)
{
    return due <= base ? 0 : 64 - (unsigned)__builtin_clzll(base ^ due);
}

static void put_in_slot(struct px_timers *all, struct px_timer *t)
{
    const unsigned i = slot_of(all->base_ms, t->due_ms);

    if (px_list_empty(&all->slots[i]) || t->due_ms < all->least_ms[i])
        all->least_ms[i] = t->due_ms;
    px_list_append(&all->slots[i], &t->link);
    all->n_steps++;
}

/* Schedules a libevent call at t->due_ms or earlier. Without memory, the timer is
 * called in the next pass and tries again. */
static void schedule(struct px_timer *t, uint64_t now)
{
    uint64_t ms = t->due_ms > now ? t->due_ms - now : 0;
    struct timeval in = {.tv_sec = MOST_AHEAD_S};

    if (ms / 1000 < MOST_AHEAD_S)
        in = (struct timeval){.tv_sec = (time_t)(ms / 1000),
                              .tv_usec = (suseconds_t)(ms % 1000 * 1000)};
    if (event_add(&t->event, &in))
        event_active(&t->event, EV_TIMEOUT, 1);
}

static void fire(struct px_timer *t)
{
    uint64_t now = px_clock_ms();

    if (!px_list_linked(&t->link))
        return;
    if (t->due_ms > now) { /* libevent's clock is coarse */
        schedule(t, now);
        return;
    }
    px_timer_clear(t);
    t->fn(t->arg); /* may free t */
}

static void on_timeout(int fd PX_UNUSED, short what PX_UNUSED, void *arg)
{
    struct px_timer *t = arg;
    struct px_loop *loop = t->loop;
    bool is_visit = !px_loop_is_current(loop);

    if (is_visit)
        t = px_loop_begin_visit(loop, t);
    if (!t)
        return;
    fire(t);
    if (is_visit)
        px_loop_end_visit(loop);
}

struct px_timer *px_timer_create(struct px_loop *loop, px_timer_fn fn, void *arg)
{
    px_loop_assert(loop);
    struct px_timer *t = need_base(&loop->poll) ? NULL : malloc(sizeof(*t));
    if (!t)
        return NULL;
    *t = (struct px_timer){.loop = loop, .fn = fn, .arg = arg};
    (void)event_assign(&t->event, loop->poll.base, -1, 0, on_timeout, t);
    return t;
}

void px_timer_clear(struct px_timer *t)
{
    px_loop_assert(t->loop);
    if (!px_list_linked(&t->link))
        return;
    px_list_remove(&t->link);
    if (--t->loop->poll.timers.n == 0)
        t->loop->poll.due_ms = PX_NEVER;
    (void)event_del_noblock(&t->event);
}

void px_timer_set(struct px_timer *t, uint64_t in_ms)
{
    struct px_poll *p = &t->loop->poll;
    uint64_t now = px_clock_ms();

    px_timer_clear(t);
    t->due_ms = now + (in_ms < MOST_MS ? in_ms : MOST_MS);
    if (t->due_ms < p->due_ms)
        p->due_ms = t->due_ms;
    p->has_new_timer = true;
    p->timers.n++;
    put_in_slot(&p->timers, t);
    schedule(t, now);
}

void px_timer_free(struct px_timer *t)
{
    if (!t)
        return;
    px_timer_clear(t);
    px_loop_forget(t->loop, t);
    free(t);
}

/* Moves the base, and with it the timers whose slots depend on the change. */
static void move_base(struct px_timers *all, uint64_t now)
{
    const unsigned last = slot_of(all->base_ms, now);

    all->base_ms = now;
    for (unsigned i = 1; i <= last; i++) {
        all->least_ms[i] = PX_NEVER;
        PX_LIST_EACH (&all->slots[i], struct px_timer, t, link) {
            px_list_remove(&t->link);
            put_in_slot(all, t);
        }
    }
}

/* Returns a bound for the next due timer. The bound is recomputed only after it has
 * passed. */
uint64_t px_poll_due(struct px_poll *p, uint64_t now_ms)
{
    struct px_timers *all = &p->timers;

    if (p->due_ms > now_ms)
        return p->due_ms;
    move_base(all, now_ms);
    p->due_ms = PX_NEVER;
    for (unsigned i = 0; i < PX_TIMER_SLOTS && p->due_ms == PX_NEVER; i++)
        if (!px_list_empty(&all->slots[i]))
            p->due_ms = i == 0 ? now_ms : all->least_ms[i];
    return p->due_ms;
}

/* ---- a wait beside the program's base -------------------------------------------- */

static struct px_timer *find_due(struct px_poll *p, uint64_t now)
{
    struct px_list *due = p->timers.slots;

    move_base(&p->timers, now);
    return px_list_empty(due) ? NULL
                              : PX_CONTAINER_OF(due->next, struct px_timer, link);
}

void px_poll_run_beside(struct px_poll *p, bool wait)
{
    const uint64_t due = px_poll_due(p, px_clock_ms());
    unsigned ready;
    void *args[2];
    struct px_timer *t;

    int n = px_os_set_wait(p->sleep_fd, args, 1, &ready, wait ? timeout_of(due) : 0);
    struct px_watch *w = n > 0 ? args[0] : NULL;
    for (size_t i = 0; w && i < N_KINDS; i++)
        if (ready & (kinds[i].set_bit | PX_OS_BROKEN) && w->events & kinds[i].event) {
            w->fn(w->arg, w->fd, kinds[i].event); /* may free w */
            break;
        }
    t = due == PX_NEVER ? NULL : find_due(p, px_clock_ms());
    if (t)
        fire(t);
}
