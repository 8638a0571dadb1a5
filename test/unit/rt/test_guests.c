/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of threads that run the loop while they wait, and of the hand-over of the
 * lead. */
#include "core/rt/loop.h"
#include "rt_test.h"

#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

/* Counters of wrapped C library functions. */
static atomic_int n_writes, n_changes;
static _Thread_local int n_waits;
static atomic_int waits_seen;    /* n_waits when count_waits ran */
static atomic_int waits_on = -1; /* the epoll set on which a thread sleeps; -1: none */

PX_EXPORT int epoll_ctl(int ep, int op, int fd, struct epoll_event *event)
{
    atomic_fetch_add(&n_changes, 1);
    return (int)syscall(SYS_epoll_ctl, ep, op, fd, event);
}

PX_EXPORT int epoll_wait(int ep, struct epoll_event *events, int n, int ms)
{
    n_waits++;
    atomic_store(&waits_on, ms ? ep : -1);
    n = (int)syscall(SYS_epoll_pwait, ep, events, n, ms, NULL, 0);
    atomic_store(&waits_on, -1);
    return n;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    atomic_fetch_add(&n_writes, 1);
    return syscall(SYS_write, fd, bytes, n);
}

/* ---- guests ------------------------------------------------------------------------ */

/* A call that waits until the other end of a pipe is written to. One thread at a time
 * uses the state. */
static struct guest {
    struct px_loop *loop;
    struct px_call *call;
    struct px_watch *watch;
    struct px_msg for_user;
    int ends[2];
    pthread_t caller, watcher, user;
    bool defers; /* the end posts a message for the user */
    bool deferred, ran_before;
    int n_runs;
} guest;

static atomic_bool guest_waits;

static void on_user(struct px_msg *msg PX_UNUSED)
{
    guest.user = pthread_self();
    guest.n_runs++;
}

static void on_end_of_wait(void *arg PX_UNUSED, int fd, unsigned events PX_UNUSED)
{
    char c;

    ck_assert_int_eq(read(fd, &c, 1), 1);
    px_watch_free(guest.watch);
    guest.watcher = pthread_self();
    if (guest.defers)
        guest.deferred = px_loop_defer(guest.loop, &guest.for_user);
    px_call_done(guest.call, 7);
}

static void on_begin_of_wait(struct px_call *call, void *args PX_UNUSED)
{
    guest.call = call;
    guest.watch = px_watch_create(guest.loop, guest.ends[0], PX_READABLE,
                                  on_end_of_wait, NULL);
    atomic_store(&guest_waits, true);
}

static void *wait_as_guest(void *arg PX_UNUSED)
{
    pmix_status_t rc = px_call(guest.loop, on_begin_of_wait, NULL);

    guest.ran_before = guest.n_runs == 1;
    pthread_testcancel();
    return (void *)(intptr_t)rc;
}

/* True if the loop's own thread sleeps without a pending event. */
static bool own_thread_is_asleep(void)
{
    struct pollfd p = {.fd = atomic_load(&waits_on), .events = POLLIN};

    return p.fd >= 0 && poll(&p, 1, 0) == 0 && atomic_load(&waits_on) == p.fd;
}

/* Starts a loop and waits until its own thread, which has the first turn, sleeps. */
static void begin_wait(bool guests)
{
    guest = (struct guest){.loop = rt_loop(false), .for_user.run = on_user};
    ok(pipe(guest.ends));
    rt_on_loop(guest.loop, rt_do_nothing, NULL);
    while (!own_thread_is_asleep())
        sched_yield();
    px_loop_let_guests(guest.loop, guests);
    atomic_store(&guest_waits, false);
}

static void start_wait(void)
{
    ok(pthread_create(&guest.caller, NULL, wait_as_guest, NULL));
    while (!atomic_load(&guest_waits))
        sched_yield();
}

static void *end_wait(void)
{
    void *result;

    ck_assert_int_eq(write(guest.ends[1], "", 1), 1);
    pthread_join(guest.caller, &result);
    return result;
}

static void leave_wait(void)
{
    px_loop_destroy(guest.loop);
    close(guest.ends[0]);
    close(guest.ends[1]);
}

/* Waits as a guest for a byte. Returns true if this thread waited once and woke no other
 * thread. Two changes of the epoll set keep the loop's own thread asleep; the guest adds
 * its watch to both sets and removes the watch from both. */
static bool waits_alone(void)
{
    atomic_store(&n_writes, 0);
    atomic_store(&n_changes, 0);
    n_waits = 0;
    ck_assert_int_eq(write(guest.ends[1], "", 1), 1);
    ck_assert_int_eq(px_call(guest.loop, on_begin_of_wait, NULL), 7);
    return pthread_equal(guest.watcher, pthread_self()) && n_waits == 1 &&
           atomic_load(&n_writes) == 1 /* the test's own */ &&
           atomic_load(&n_changes) <= 6;
}

/* The loop's own thread may still be awake after the previous call. So the test counts
 * several waits. */
PX_TEST(a_thread_that_waits_runs_the_loop_with_one_wait_and_wakes_no_other)
{
    int n_alone = 0;

    begin_wait(true);
    ck_assert_int_eq(write(guest.ends[1], "", 1), 1);
    ck_assert_int_eq(px_call(guest.loop, on_begin_of_wait, NULL),
                     7); /* makes the base */
    for (int i = 0; i < 10 && n_alone < 3; i++)
        n_alone += waits_alone();
    ck_assert_int_eq(n_alone, 3);
    /* A call that ends at once does not wait. But the own thread may wake up for the last
     * byte during the first such call, which then looks at the descriptors. */
    for (int i = 0; i < 100 && (n_waits || i == 0); i++) {
        n_waits = 0;
        rt_on_loop(guest.loop, rt_do_nothing, NULL);
    }
    ck_assert_int_eq(n_waits, 0);
    leave_wait();
}

static void on_begin_with_thread(struct px_call *call, void *args)
{
    px_loop_want_thread(guest.loop);
    on_begin_of_wait(call, args);
}

static void *wait_with_thread(void *arg PX_UNUSED)
{
    return (void *)(intptr_t)px_call(guest.loop, on_begin_with_thread, NULL);
}

static atomic_int n_rung, n_rung_here;

static void on_ring(void *arg PX_UNUSED, int fd, unsigned events PX_UNUSED)
{
    char c;

    ck_assert_int_eq(read(fd, &c, 1), 1);
    atomic_fetch_add(&n_rung_here, pthread_equal(guest.caller, pthread_self()) != 0);
    atomic_fetch_add(&n_rung, 1);
}

static void watch_bell(void *arg PX_UNUSED)
{
    guest.watch = px_watch_create(guest.loop, guest.ends[0], PX_READABLE, on_ring,
                                  NULL);
    ck_assert_ptr_nonnull(guest.watch);
}

/* Wakes the loop's own thread, which cannot lead, and waits until that thread sleeps
 * again. If the own thread still leads, that thread runs this function. */
static void ring(void *arg PX_UNUSED)
{
    ck_assert_int_eq(write(guest.ends[1], "", 1), 1);
    while (pthread_equal(guest.caller, pthread_self()) && !own_thread_is_asleep())
        sched_yield();
}

static void free_bell(void *arg PX_UNUSED)
{
    px_watch_free(guest.watch);
}

/* The own thread may seem asleep before its first step after a sleep, so a single ring
 * proves nothing. */
PX_TEST(a_short_call_handles_what_the_loops_thread_could_not)
{
    enum { TRIES = 1000 };

    begin_wait(true);
    guest.caller = pthread_self();
    rt_on_loop(guest.loop, watch_bell, NULL);
    for (int i = 1; i <= TRIES && !atomic_load(&n_rung_here); i++) {
        rt_on_loop(guest.loop, ring, NULL);
        while (atomic_load(&n_rung) < i)
            sched_yield();
    }
    ck_assert_int_gt(atomic_load(&n_rung_here), 0);
    rt_on_loop(guest.loop, free_bell, NULL);
    leave_wait();
}

/* A call starts the loop's thread, which sleeps until the call ends. */
PX_TEST(a_thread_that_a_call_wants_sleeps_until_it_has_work)
{
    PX_TEST_NEEDS_PROC;
    guest = (struct guest){.for_user = {.run = on_user, .for_user = true}};
    ok(px_loop_create(PX_PROGRESS_LAZY, NULL, &guest.loop));
    ok(pipe(guest.ends));
    ok(pthread_create(&guest.caller, NULL, wait_with_thread, NULL));
    rt_await_threads(1);
    atomic_store(&n_changes, 0);
    atomic_store(&n_writes, 0);
    ck_assert_int_eq((int)(intptr_t)end_wait(), 7);
    ck_assert(pthread_equal(guest.watcher, guest.caller));
    ck_assert_int_le(atomic_load(&n_changes), 3); /* both sets lose the watch */
    ck_assert_int_eq(atomic_load(&n_writes), 1);  /* only the test's own write */

    px_post(guest.loop, &guest.for_user);
    rt_on_loop(guest.loop, rt_do_nothing, NULL);
    ck_assert_int_eq(guest.n_runs, 1);
    ck_assert(!pthread_equal(guest.user, pthread_self()));
    leave_wait();
}

static void watch_end(void *arg PX_UNUSED)
{
    guest.watch = px_watch_create(guest.loop, guest.ends[0], PX_READABLE,
                                  on_end_of_wait, NULL);
}

static void leave_end(void *arg PX_UNUSED)
{
    px_watch_free(guest.watch);
}

/* A watch joins two sets: libevent's, and the one on which the own thread sleeps. The
 * wake-up descriptor stays out of libevent's set, where it would slow each post. */
PX_TEST(the_first_watch_of_a_server_changes_two_sets)
{
    begin_wait(false);
    rt_on_loop(guest.loop, rt_do_nothing, NULL); /* arms the set of the own thread */
    while (!own_thread_is_asleep())
        sched_yield();
    atomic_store(&n_changes, 0);
    rt_on_loop(guest.loop, watch_end, NULL); /* makes libevent's set */
    ck_assert_int_eq(atomic_load(&n_changes), 2);
    rt_on_loop(guest.loop, leave_end, NULL);
    leave_wait();
}

/* Without guests nothing can be deferred. */
PX_TEST_LOOP(what_is_for_the_user_runs_on_the_loops_thread_before_the_call_returns, 2)
{
    begin_wait(_i);
    guest.defers = true;
    start_wait();
    ck_assert_int_eq((int)(intptr_t)end_wait(), 7);
    ck_assert_int_eq(guest.deferred, _i);
    ck_assert_int_eq(pthread_equal(guest.watcher, guest.caller) != 0, _i);
    ck_assert_int_eq(guest.n_runs, _i);
    ck_assert_int_eq(guest.ran_before, _i);
    ck_assert(!pthread_equal(guest.user, guest.caller));

    guest.for_user.for_user = true; /* posted while a call waits */
    guest.defers = false;
    guest.n_runs = 0;
    atomic_store(&guest_waits, false);
    start_wait();
    px_post(guest.loop, &guest.for_user);
    ck_assert_int_eq((int)(intptr_t)end_wait(), 7);
    rt_on_loop(guest.loop, rt_do_nothing, NULL);
    ck_assert_int_eq(guest.n_runs, 1);
    ck_assert(!pthread_equal(guest.user, guest.caller));
    leave_wait();
}

static void on_late_user(struct px_msg *msg)
{
    usleep(20000);
    on_user(msg);
}

static void on_last(struct px_call *call, void *args PX_UNUSED)
{
    px_post(guest.loop, &guest.for_user);
    px_call_done_last(call, 7);
}

PX_TEST_LOOP(a_call_that_ends_last_returns_after_what_is_for_the_user, 2)
{
    begin_wait(_i);
    guest.for_user = (struct px_msg){.run = on_late_user, .for_user = true};
    ck_assert_int_eq(px_call(guest.loop, on_last, NULL), 7);
    ck_assert_int_eq(guest.n_runs, 1);
    ck_assert(!pthread_equal(guest.user, pthread_self()));
    leave_wait();
}

static void on_report(void *n_reports, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    ++*(int *)n_reports;
}

/* Wakes the loop's own thread by a ready descriptor, and frees the watch before that
 * thread gets the turn. */
static void wake_and_forget(void *n_reports)
{
    struct px_watch *w = px_watch_create(guest.loop, guest.ends[0], PX_READABLE,
                                         on_report, n_reports);

    guest.watcher = pthread_self();
    ck_assert_int_eq(write(guest.ends[1], "", 1), 1);
    while (atomic_load(&waits_on) >= 0)
        sched_yield();
    px_watch_free(w);
}

static void count_waits(struct px_msg *msg PX_UNUSED)
{
    atomic_store(&waits_seen, n_waits);
}

PX_TEST(without_guests_a_call_runs_where_it_is_made_while_the_loops_thread_waits)
{
    struct px_msg messages[2] = {{.run = count_waits}, {.run = count_waits}};
    int n_reports = 0, before = 0;

    begin_wait(false);
    rt_on_loop(guest.loop, rt_do_nothing,
               NULL); /* now the own thread waits in the loop */
    for (int i = 0; i < 2; i++) {
        while (!own_thread_is_asleep())
            sched_yield();
        before = atomic_load(&waits_seen);
        px_post(guest.loop, &messages[i]);
        while (atomic_load(&waits_seen) == before)
            sched_yield();
    }
    ck_assert_int_eq(atomic_load(&waits_seen), before + 1);
    for (int i = 0; i < 3; i++) {
        while (!own_thread_is_asleep())
            sched_yield();
        atomic_store(&n_writes, 0);
        n_waits = 0;
        rt_on_loop(guest.loop, wake_and_forget, &n_reports);
        ck_assert(pthread_equal(guest.watcher, pthread_self()));
        ck_assert_int_eq(atomic_load(&n_writes), 1); /* only the test's own write */
        ck_assert_int_eq(n_waits, 0);
    }
    ck_assert_int_eq(n_reports, 0);
    leave_wait();
}

static void on_signal(int number PX_UNUSED)
{
}

PX_TEST(a_guest_is_neither_interrupted_nor_cancelled_before_its_call_is_done)
{
    const struct sigaction catch = {.sa_handler = on_signal};

    begin_wait(true);
    ok(sigaction(SIGUSR1, &catch, NULL));
    start_wait();
    for (int i = 0; i < 10; i++)
        ok(pthread_kill(guest.caller, SIGUSR1));
    ok(pthread_cancel(guest.caller));
    rt_on_loop(guest.loop, rt_do_nothing, NULL);
    ck_assert_ptr_eq(end_wait(), PTHREAD_CANCELED);
    ck_assert(pthread_equal(guest.watcher, guest.caller));
    leave_wait();
}

static void on_late(struct px_msg *msg PX_UNUSED)
{
    px_watch_free(guest.watch);
    px_call_done(guest.call, 8);
}

PX_TEST(a_loop_is_destroyed_under_a_guest)
{
    struct px_msg late = {.run = on_late};
    struct rt_destroyer d;
    pthread_t thread;
    void *result;

    begin_wait(true);
    start_wait();
    d = (struct rt_destroyer){.loop = guest.loop};
    px_loop_hold(guest.loop);
    ok(pthread_create(&thread, NULL, rt_destroy_it, &d));
    px_post(guest.loop, &late);
    pthread_join(guest.caller, &result);
    px_loop_let_go(guest.loop);
    pthread_join(thread, NULL);
    ck_assert_int_eq((int)(intptr_t)result, 8);
    close(guest.ends[0]);
    close(guest.ends[1]);
}

/* ---- hand-over --------------------------------------------------------------------- */

/* A call that ends at once, by a timer, or by a message of another thread. Some calls
 * leave a timer behind. */
struct turn {
    struct px_loop *loop;
    struct px_msg msg;
    struct px_call *call;
    struct px_timer *timer;
    unsigned kind;
    pthread_t caller;
};

enum { CALLERS = 6, CALLS = 300 };

static sem_t ran;
static int n_left, n_user, n_user_astray; /* used on the loop only */
static pthread_t left_to;

static void on_left(void *arg)
{
    px_timer_free(*(struct px_timer **)arg);
    free(arg);
    left_to = pthread_self();
    if (--n_left == 0)
        sem_post(&ran);
}

static void on_turn_time(void *arg)
{
    struct turn *t = arg;

    px_timer_free(t->timer);
    px_call_done(t->call, 3);
}

static void on_turn_msg(struct px_msg *msg)
{
    const struct turn *t = PX_CONTAINER_OF(msg, struct turn, msg);

    n_user++;
    n_user_astray += t->kind == 2 && pthread_equal(t->caller, pthread_self());
    px_call_done(t->call, 3);
}

static void on_turn(struct px_call *call, void *args)
{
    struct turn *t = args;

    t->call = call;
    if (t->kind == 0) {
        struct px_timer **timer = malloc(sizeof(struct px_timer *));

        *timer = px_timer_create(t->loop, on_left, timer);
        px_timer_set(*timer, 2);
        n_left++;
        px_call_done(call, 3);
    } else if (t->kind == 1) {
        t->timer = px_timer_create(t->loop, on_turn_time, t);
        px_timer_set(t->timer, 1);
    } else {
        t->msg = (struct px_msg){.run = on_turn_msg, .for_user = t->kind == 2};
        px_post(t->loop, &t->msg);
    }
}

static void *take_turns(void *arg)
{
    struct turn t = {.loop = arg, .caller = pthread_self()};

    for (int i = 0; i < CALLS; i++) {
        t.kind = (unsigned)i % 4;
        if (px_call(t.loop, on_turn, &t) != 3)
            return arg;
    }
    return NULL;
}

static void read_left(void *left)
{
    *(int *)left = n_left;
}

/* Waits until the loop has run all timers left by calls. */
static void await_left(struct px_loop *loop)
{
    struct turn last = {.loop = loop};

    while (sem_trywait(&ran) == 0)
        ;
    ck_assert_int_eq(px_call(loop, on_turn, &last), 3);
    for (int left = 1; left;) {
        while (sem_wait(&ran) < 0)
            ;
        rt_on_loop(loop, read_left, &left);
    }
}

PX_TEST_LOOP(the_turn_goes_from_thread_to_thread_and_no_call_is_forgotten, 2)
{
    struct px_loop *loop = rt_loop(false);
    pthread_t threads[CALLERS];
    void *failed;

    px_loop_let_guests(loop, _i);
    sem_init(&ran, 0, 0);
    for (int t = 0; t < CALLERS; t++)
        ok(pthread_create(&threads[t], NULL, take_turns, loop));
    for (int t = 0; t < CALLERS; t++) {
        pthread_join(threads[t], &failed);
        ck_assert_ptr_null(failed);
    }
    rt_on_loop(loop, rt_do_nothing, NULL);
    ck_assert_int_eq(n_user, CALLERS * CALLS / 2);
    ck_assert_int_eq(n_user_astray, 0);

    await_left(loop); /* a timer left by a guest wakes the loop's own thread */
    ck_assert(!pthread_equal(left_to, pthread_self()));

    n_waits = 0;
    /* Each waiting call takes one pass. A quarter of the calls wait for a timer, with up
     * to four more passes due to libevent's coarse clock. */
    ck_assert_ptr_null(take_turns(loop));
    ck_assert_int_le(n_waits, 2 * CALLS);
    await_left(loop);
    px_loop_destroy(loop);
}

PX_TEST_MAIN("rt/guests", NULL, NULL)
