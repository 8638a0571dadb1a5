/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "alloc_fail.h"
#include "rt_test.h"

#include <sys/socket.h>

struct scene {
    struct px_loop *loop;
    int fds[2];
    struct px_watch *watch;
    unsigned events;
    int n_readable, n_writable;
};

static void on_ready(void *arg, int fd, unsigned events)
{
    struct scene *s = arg;

    ck_assert_int_eq(fd, s->fds[0]);
    s->n_readable += (events & PX_READABLE) != 0;
    s->n_writable += (events & PX_WRITABLE) != 0;
}

static void start_watch(void *arg)
{
    struct scene *s = arg;

    s->watch = px_watch_create(s->loop, s->fds[0], s->events, on_ready, s);
    ck_assert_ptr_nonnull(s->watch);
}

static void set_watch(void *arg)
{
    struct scene *s = arg;

    px_watch_set(s->watch, s->events);
}

static void stop_watch(void *arg)
{
    struct scene *s = arg;

    px_watch_free(s->watch);
    s->watch = NULL;
}

static struct scene begin(unsigned events)
{
    struct scene s = {.loop = rt_loop(true), .events = events};

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, s.fds), 0);
    return s;
}

static void end(struct scene *s)
{
    rt_on_loop(s->loop, stop_watch, s);
    px_loop_destroy(s->loop);
    close(s->fds[0]);
    close(s->fds[1]);
}

/* Two passes: whatever is ready has been reported after these. */
static void settle(struct px_loop *loop)
{
    px_loop_pump(loop);
    px_loop_pump(loop);
}

PX_TEST(readable_is_reported_as_long_as_it_is)
{
    struct scene s = begin(PX_READABLE);

    rt_on_loop(s.loop, start_watch, &s);
    settle(s.loop);
    ck_assert_int_eq(s.n_readable, 0);
    ck_assert_int_eq(write(s.fds[1], "x", 1), 1);
    rt_pump_until(s.loop, &s.n_readable, 3); /* nobody reads the byte */

    ck_assert_int_eq(s.n_writable, 0);
    end(&s);
}

PX_TEST(the_end_of_the_peer_is_readable)
{
    struct scene s = begin(PX_READABLE);

    rt_on_loop(s.loop, start_watch, &s);
    ck_assert_int_eq(shutdown(s.fds[1], SHUT_RDWR), 0);
    rt_pump_until(s.loop, &s.n_readable, 1);
    end(&s);
}

PX_TEST(writable_and_readable_are_told_apart)
{
    struct scene s = begin(PX_WRITABLE);

    rt_on_loop(s.loop, start_watch, &s);
    ck_assert_int_eq(write(s.fds[1], "x", 1), 1);
    rt_pump_until(s.loop, &s.n_writable, 1);
    ck_assert_int_eq(s.n_readable, 0);
    s.events = PX_READABLE | PX_WRITABLE;
    rt_on_loop(s.loop, set_watch, &s);
    rt_pump_until(s.loop, &s.n_readable, 1);
    end(&s);
}

PX_TEST(a_paused_watch_is_silent_until_it_is_set_again)
{
    struct scene s = begin(PX_READABLE | PX_WRITABLE);

    rt_on_loop(s.loop, start_watch, &s);
    ck_assert_int_eq(write(s.fds[1], "x", 1), 1);
    s.events = 0;
    rt_on_loop(s.loop, set_watch, &s);
    int before = s.n_readable + s.n_writable;
    settle(s.loop);
    ck_assert_int_eq(s.n_readable + s.n_writable, before);
    s.events = PX_READABLE;
    rt_on_loop(s.loop, set_watch, &s);
    rt_pump_until(s.loop, &s.n_readable, 1);
    end(&s);
}

static void on_ready_free(void *arg, int fd, unsigned events)
{
    struct scene *s = arg;

    on_ready(arg, fd, events);
    px_watch_free(s->watch);
    s->watch = NULL;
}

static void start_suicidal_watch(void *arg)
{
    struct scene *s = arg;

    s->watch = px_watch_create(s->loop, s->fds[0], s->events, on_ready_free, s);
}

PX_TEST(a_watch_freed_in_its_own_callback_calls_no_more)
{
    struct scene s = begin(PX_READABLE | PX_WRITABLE);

    ck_assert_int_eq(write(s.fds[1], "x", 1), 1);
    rt_on_loop(s.loop, start_suicidal_watch, &s);
    while (s.watch)
        px_loop_pump(s.loop);
    settle(s.loop);

    ck_assert_int_eq(s.n_readable + s.n_writable,
                     1); /* the other of the two was pending */
    end(&s);
}

/* ---- timers ---------------------------------------------------------------------- */

struct alarm {
    struct px_loop *loop;
    struct px_timer *timer;
    uint64_t in_ms, due_ms;
    int n_fired, limit;
    bool early;
};

static int order[8];
static int n_order;

static void on_alarm(void *arg)
{
    struct alarm *a = arg;

    a->early = px_clock_ms() < a->due_ms;
    order[n_order++] = (int)a->in_ms;
    a->n_fired++;
    if (a->n_fired < a->limit)
        px_timer_set(a->timer, 0);
}

static void on_alarm_free(void *arg)
{
    struct alarm *a = arg;

    a->n_fired++;
    px_timer_free(a->timer);
    a->timer = NULL;
}

static void start_alarm(void *arg)
{
    struct alarm *a = arg;

    if (!a->timer)
        a->timer = px_timer_create(a->loop, on_alarm, a);
    ck_assert_ptr_nonnull(a->timer);
    a->due_ms = px_clock_ms() + a->in_ms;
    px_timer_set(a->timer, a->in_ms);
}

static void start_suicidal_alarm(void *arg)
{
    struct alarm *a = arg;

    a->timer = px_timer_create(a->loop, on_alarm_free, a);
    px_timer_set(a->timer, 0);
}

static void clear_alarm(void *arg)
{
    px_timer_clear(((struct alarm *)arg)->timer);
}

static void free_alarm(void *arg)
{
    px_timer_free(((struct alarm *)arg)->timer);
}

PX_TEST(a_timer_fires_once_and_never_early)
{
    struct px_loop *loop = rt_loop(true);

    for (uint64_t ms = 0; ms < 8; ms++) {
        struct alarm a = {.loop = loop, .in_ms = ms};

        rt_on_loop(loop, start_alarm, &a);
        rt_pump_until(loop, &a.n_fired, 1);
        settle(loop);
        ck_assert_int_eq(a.n_fired, 1);
        ck_assert(!a.early);
        rt_on_loop(loop, free_alarm, &a);
        n_order = 0;
    }
    px_loop_destroy(loop);
}

PX_TEST(timers_fire_in_the_order_they_are_due)
{
    struct px_loop *loop = rt_loop(true);
    struct alarm late = {.loop = loop, .in_ms = 40};
    struct alarm soon = {.loop = loop, .in_ms = 5};

    rt_on_loop(loop, start_alarm, &late);
    rt_on_loop(loop, start_alarm, &soon);
    rt_pump_until(loop, &n_order, 2);

    ck_assert_int_eq(order[0], 5);
    ck_assert_int_eq(order[1], 40);
    rt_on_loop(loop, free_alarm, &late);
    rt_on_loop(loop, free_alarm, &soon);
    px_loop_destroy(loop);
}

PX_TEST(setting_a_timer_again_replaces_its_time)
{
    struct px_loop *loop = rt_loop(true);
    struct alarm a = {.loop = loop, .in_ms = UINT64_MAX};

    rt_on_loop(loop, start_alarm, &a);
    settle(loop);
    ck_assert_int_eq(a.n_fired, 0);
    a.in_ms = 1;
    rt_on_loop(loop, start_alarm, &a);
    rt_pump_until(loop, &a.n_fired, 1);

    rt_on_loop(loop, free_alarm, &a);
    px_loop_destroy(loop);
}

PX_TEST(a_cleared_timer_does_not_fire_and_can_be_set_again)
{
    struct px_loop *loop = rt_loop(true);
    struct alarm cleared = {.loop = loop, .in_ms = 1};
    struct alarm later = {.loop = loop, .in_ms = 10};

    rt_on_loop(loop, start_alarm, &cleared);
    rt_on_loop(loop, clear_alarm, &cleared);
    rt_on_loop(loop, start_alarm, &later);
    rt_pump_until(loop, &later.n_fired, 1);
    ck_assert_int_eq(cleared.n_fired, 0);
    rt_on_loop(loop, start_alarm, &cleared);
    rt_pump_until(loop, &cleared.n_fired, 1);

    rt_on_loop(loop, free_alarm, &cleared);
    rt_on_loop(loop, free_alarm, &later);
    px_loop_destroy(loop);
}

PX_TEST(a_timer_may_be_set_in_its_own_callback)
{
    struct px_loop *loop = rt_loop(true);
    struct alarm a = {.loop = loop, .limit = 5};

    rt_on_loop(loop, start_alarm, &a);
    rt_pump_until(loop, &a.n_fired, 5);
    settle(loop);

    ck_assert_int_eq(a.n_fired, 5);
    rt_on_loop(loop, free_alarm, &a);
    px_loop_destroy(loop);
}

PX_TEST(a_timer_may_be_freed_in_its_own_callback)
{
    struct px_loop *loop = rt_loop(true);
    struct alarm a = {.loop = loop};

    rt_on_loop(loop, start_suicidal_alarm, &a);
    rt_pump_until(loop, &a.n_fired, 1);
    settle(loop);

    ck_assert_int_eq(a.n_fired, 1);
    px_loop_destroy(loop);
}

/* What happened when the nth allocation failed. */
struct shortage {
    struct scene *scene;
    struct alarm *alarm;
    unsigned nth;
    bool failed;
};

static void create_in_shortage(void *arg)
{
    struct shortage *s = arg;

    px_alloc_fail_at(s->nth);
    s->scene->watch = px_watch_create(s->scene->loop, s->scene->fds[0],
                                      PX_READABLE | PX_WRITABLE, on_ready, s->scene);
    s->alarm->timer = px_timer_create(s->alarm->loop, on_alarm, s->alarm);
    if (s->alarm->timer)
        px_timer_set(s->alarm->timer, 0);
    s->failed = px_alloc_fail_end();
}

PX_TEST(out_of_memory_there_is_no_watch_but_a_timer_that_is_there_fires)
{
    PX_TEST_NEEDS_ALLOC;
    for (unsigned nth = 1, failed = 1; failed; nth++) {
        struct scene s = begin(0);
        struct alarm a = {.loop = s.loop};
        struct shortage shortage = {.scene = &s, .alarm = &a, .nth = nth};

        rt_on_loop(s.loop, create_in_shortage, &shortage);
        failed = shortage.failed;
        ck_assert(failed || (s.watch && a.timer));
        if (s.watch)
            rt_pump_until(s.loop, &s.n_writable, 1);
        if (a.timer)
            rt_pump_until(s.loop, &a.n_fired, 1);
        n_order = 0;
        rt_on_loop(s.loop, free_alarm, &a);
        end(&s);
    }
}

PX_TEST(freeing_nothing_is_fine)
{
    px_watch_free(NULL);
    px_timer_free(NULL);
}

PX_TEST_MAIN("rt/watch", NULL, NULL)
