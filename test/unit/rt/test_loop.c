/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/rt/loop.h"
#include "alloc_fail.h"
#include "rt_test.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>

/* Writes are counted; n_interrupts of them are interrupted. */
static atomic_int n_interrupts, n_writes;

ssize_t write(int fd, const void *bytes, size_t n)
{
    if (atomic_load(&n_interrupts) > 0) {
        atomic_fetch_sub(&n_interrupts, 1);
        errno = EINTR;
        return -1;
    }
    atomic_fetch_add(&n_writes, 1);
    return syscall(SYS_write, fd, bytes, n);
}

struct note {
    struct px_msg msg;
    struct px_loop *loop;
    int number;
    int thread;
};

/* Written on the loop only; read when the loop is idle. */
static int seen[20000];
static int n_seen;
static bool seen_on_loop;

static void on_note(struct px_msg *msg)
{
    const struct note *note = PX_CONTAINER_OF(msg, struct note, msg);

    seen_on_loop = px_loop_is_current(note->loop);
    seen[n_seen++] = note->number;
}

enum { POSTERS = 8, EACH = 2000 };

static struct note crowd[POSTERS][EACH];

static void *post_one(void *arg)
{
    struct note *note = arg;

    px_post(note->loop, &note->msg);
    return NULL;
}

static void *post_all(void *arg)
{
    for (int i = 0; i < EACH; i++)
        post_one((struct note *)arg + i);
    return NULL;
}

PX_TEST(messages_of_many_threads_keep_their_order_and_none_is_lost)
{
    struct px_loop *loop = rt_loop(false);
    pthread_t threads[POSTERS];
    int next[POSTERS] = {0};

    for (int t = 0; t < POSTERS; t++) {
        for (int i = 0; i < EACH; i++)
            crowd[t][i] = (struct note){
                .msg.run = on_note, .loop = loop, .number = t * EACH + i};
        ok(pthread_create(&threads[t], NULL, post_all, crowd[t]));
    }
    for (int t = 0; t < POSTERS; t++)
        pthread_join(threads[t], NULL);
    rt_on_loop(loop, rt_do_nothing, NULL);

    ck_assert_int_eq(n_seen, POSTERS * EACH);
    ck_assert(seen_on_loop);
    ck_assert(!px_loop_is_current(loop));
    ck_assert(!px_loop_is_current(NULL));
    for (int i = 0; i < n_seen; i++)
        ck_assert_int_eq(seen[i] % EACH, next[seen[i] / EACH]++);
    px_loop_destroy(loop);
}

static struct note second;
static int n_seen_inside_first;

static void on_first(struct px_msg *msg)
{
    struct note *first = PX_CONTAINER_OF(msg, struct note, msg);

    second = (struct note){.msg.run = on_note, .loop = first->loop, .number = 2};
    px_post(first->loop, &second.msg);
    px_loop_pump(first->loop); /* within the loop: does nothing */
    n_seen_inside_first = n_seen;
}

PX_TEST(a_message_posted_on_the_loop_runs_on_a_later_pass)
{
    struct px_loop *loop = rt_loop(true);
    struct note first = {.msg.run = on_first, .loop = loop};

    px_post(loop, &first.msg);
    px_loop_pump(loop);
    ck_assert_int_eq(n_seen_inside_first, 0);
    rt_pump_until(loop, &n_seen, 1);

    ck_assert_int_eq(seen[0], 2);
    px_loop_destroy(loop);
}

PX_TEST_LOOP(destroy_runs_what_is_in_the_mailbox_and_what_that_posts, 2)
{
    struct px_loop *loop = rt_loop(_i);
    struct note first = {.msg.run = on_first, .loop = loop};
    struct note last = {.msg.run = on_note, .loop = loop, .number = 1};

    px_post(loop, &first.msg);
    px_post(loop, &last.msg);
    px_loop_destroy(loop);

    ck_assert_int_eq(n_seen, 2);
    /* The loop's own thread may run the first message before the last is posted. */
    ck_assert(!_i || (seen[0] == 1 && seen[1] == 2));
}

PX_TEST(a_burst_wakes_the_loop_once_though_that_is_interrupted)
{
    struct px_loop *loop = rt_loop(false);
    struct note notes[10];

    for (int i = 0; i < 10; i++)
        notes[i] = (struct note){.msg.run = on_note, .loop = loop, .number = i};
    atomic_store(&n_interrupts, 2);
    px_post(loop, &notes[0].msg);
    ck_assert_int_eq(atomic_load(&n_interrupts), 0);
    rt_on_loop(loop, rt_do_nothing, NULL);
    ck_assert_int_eq(n_seen, 1);
    px_loop_destroy(loop);

    loop = rt_loop(true);
    atomic_store(&n_writes, 0);
    for (int i = 0; i < 10; i++) {
        notes[i].loop = loop;
        px_post(loop, &notes[i].msg);
    }
    ck_assert_int_eq(atomic_load(&n_writes), 1);
    px_loop_destroy(loop);
    ck_assert_int_eq(n_seen, 11);
}

static sigset_t mask_on_loop;
static char name_on_loop[16];

static void look_around(void *arg PX_UNUSED)
{
    pthread_sigmask(SIG_SETMASK, NULL, &mask_on_loop);
    pthread_getname_np(pthread_self(), name_on_loop, sizeof(name_on_loop));
}

PX_TEST(the_thread_is_named_and_takes_no_signal_but_its_own_faults)
{
    PX_TEST_NEEDS_PROC;
    static const int host_signals[] = {SIGTERM, SIGINT,  SIGCHLD,
                                       SIGALRM, SIGUSR1, SIGPIPE};
    struct px_loop *loop = rt_loop(false);
    sigset_t own;

    px_loop_let_guests(loop, false);
    px_loop_pump(loop); /* another thread must not run this loop */
    rt_on_loop(loop, look_around, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &own);

    ck_assert_str_eq(name_on_loop, "tenon-loop");
    for (size_t i = 0; i < PX_COUNT(host_signals); i++) {
        ck_assert_int_eq(sigismember(&mask_on_loop, host_signals[i]), 1);
        ck_assert_int_eq(sigismember(&own, host_signals[i]), 0);
    }
    ck_assert_int_eq(sigismember(&mask_on_loop, SIGSEGV), 0);
    px_loop_destroy(loop);
}

static void *pump_once(void *arg)
{
    px_loop_pump(arg);
    return NULL;
}

PX_TEST(external_progress_starts_no_thread_and_any_may_pump)
{
    PX_TEST_NEEDS_PROC;
    struct px_loop *loop = rt_loop(true);
    struct note note = {.msg.run = on_note, .loop = loop};
    pthread_t thread;

    ck_assert_int_eq(rt_count_threads(), 0);
    for (int n = 0; n < 2; n++) {
        seen_on_loop = false;
        px_post(loop, &note.msg);
        ck_assert_int_eq(n_seen, n);
        if (n == 0) {
            px_loop_pump(loop);
        } else {
            ok(pthread_create(&thread, NULL, pump_once, loop));
            pthread_join(thread, NULL);
        }
        ck_assert_int_eq(n_seen, n + 1);
        ck_assert(seen_on_loop);
        ck_assert(!px_loop_is_current(loop));
    }
    px_loop_destroy(loop);
}

static sem_t ran;

static void on_last(struct px_msg *msg PX_UNUSED)
{
    sem_post(&ran);
}

PX_TEST(a_post_may_end_in_the_destruction_of_the_loop)
{
    sem_init(&ran, 0, 0);
    for (int i = 0; i < 300; i++) {
        struct px_loop *loop = rt_loop(false);
        struct note note = {.msg.run = on_last, .loop = loop};
        pthread_t thread;

        ok(pthread_create(&thread, NULL, post_one, &note));
        while (sem_wait(&ran) < 0)
            ;
        px_loop_destroy(loop); /* post_one may still be running */
        pthread_join(thread, NULL);
    }
}

PX_TEST_LOOP(a_loop_that_is_held_is_destroyed_later, 2)
{
    struct rt_destroyer d = {.loop = rt_loop(_i)};
    struct note last = {.msg.run = on_note, .loop = d.loop};
    pthread_t thread;

    px_loop_hold(d.loop);
    ok(pthread_create(&thread, NULL, rt_destroy_it, &d));
    px_post(d.loop, &last.msg);
    usleep(50000);
    ck_assert(!atomic_load(&d.done));
    px_loop_let_go(d.loop);
    pthread_join(thread, NULL);
    ck_assert(atomic_load(&d.done));
    ck_assert_int_eq(n_seen, 1);
}

PX_TEST(a_hundred_loops_leave_no_descriptor_and_no_thread)
{
    PX_TEST_NEEDS_PROC;
    int fds = (int)px_test_count_fds();

    for (int i = 0; i < 100; i++)
        px_loop_destroy(rt_loop(i % 2));

    ck_assert_int_eq((int)px_test_count_fds(), fds);
    rt_await_threads(0);
    px_loop_destroy(NULL);
}

PX_TEST(running_out_of_memory_is_an_error)
{
    PX_TEST_NEEDS_PROC;
    int fds = (int)px_test_count_fds();

    PX_TEST_NEEDS_ALLOC;
    for (unsigned nth = 1, failed = 1; failed; nth++) {
        struct px_loop *loop = NULL;
        struct rt_capture c = rt_capture_begin(); /* libevent reports the error, too */

        px_alloc_fail_at(nth);
        pmix_status_t rc = px_loop_create(PX_PROGRESS_THREAD, NULL, &loop);
        failed = px_alloc_fail_end();
        free(rt_capture_end(&c));
        ck_assert_int_eq(rc == PMIX_SUCCESS, loop != NULL);
        px_loop_destroy(loop);
    }
    rt_await_threads(0);
    ck_assert_int_eq((int)px_test_count_fds(), fds);
}

/* ---- a program's base --------------------------------------------------------------- */

static struct event_base *programs;
static struct px_timer *timer;

static void on_timer(void *arg)
{
    ck_assert(px_loop_is_current(arg));
    n_seen++;
    event_base_loopbreak(programs);
}

static void set_timer(void *arg)
{
    if (!timer)
        timer = px_timer_create(arg, on_timer, arg);
    px_timer_set(timer, n_seen ? 1 : 3600 * 1000);
}

static void free_timer(void *arg PX_UNUSED)
{
    px_timer_free(px_take(&timer));
}

static void *set_near_timer(void *loop)
{
    n_seen = 1;
    rt_on_loop(loop, set_timer, loop);
    return NULL;
}

static struct px_loop *loop_of_program(void)
{
    struct px_loop *loop = NULL;

    programs = event_base_new();
    ck_assert_ptr_nonnull(programs);
    ok(px_loop_create(PX_PROGRESS_EXTERNAL, programs, &loop));
    return loop;
}

static void end_program(struct px_loop *loop)
{
    rt_on_loop(loop, free_timer, NULL);
    px_loop_destroy(loop);
    event_base_free(programs);
}

/* A pending timer does not wake the program's base again and again. */
PX_TEST(a_programs_base_sleeps_while_a_timer_is_pending)
{
    struct px_loop *loop = loop_of_program();
    uint64_t turn;
    int writes;

    rt_on_loop(loop, set_timer, loop);
    for (int i = 0; i < 10; i++)
        event_base_loop(programs, EVLOOP_NONBLOCK);
    turn = px_loop_turn(loop);
    writes = n_writes;
    for (int i = 0; i < 10; i++)
        event_base_loop(programs, EVLOOP_NONBLOCK);
    ck_assert_uint_eq(px_loop_turn(loop), turn);
    ck_assert_int_eq(n_writes, writes);
    rt_on_loop(loop, rt_do_nothing, NULL); /* by this thread, beside its base */
    ck_assert_int_eq(n_seen, 0);
    end_program(loop);
}

/* A timer of another thread shortens the sleep of the thread that runs the base. */
PX_TEST_LOOP(a_programs_base_runs_timers_and_messages_of_other_threads, 20)
{
    struct px_loop *loop = loop_of_program();
    struct note note = {.msg.run = on_note, .loop = loop, .number = 7};
    pthread_t thread;

    rt_on_loop(loop, set_timer, loop);
    event_base_loop(programs, EVLOOP_NONBLOCK);
    ok(pthread_create(&thread, NULL, _i % 2 ? set_near_timer : post_one,
                      _i % 2 ? (void *)loop : &note));
    if (_i % 2)
        event_base_dispatch(programs);
    else
        while (n_seen == 0)
            event_base_loop(programs, EVLOOP_ONCE);
    pthread_join(thread, NULL);
    ck_assert_int_eq(n_seen, _i % 2 ? 2 : 1);
    ck_assert(_i % 2 || seen_on_loop);
    end_program(loop);
}

/* ---- calls ------------------------------------------------------------------------ */

/* Not atomic: only the loop uses the counter, and the thread sanitizer checks that. */
static int n_calls;

struct args {
    struct px_loop *loop;
    int number;
    bool was_on_loop;
    pmix_status_t nested;
};

static void on_count(struct px_call *call, void *args)
{
    struct args *a = args;

    n_calls++;
    a->was_on_loop = px_loop_is_current(a->loop);
    px_call_done(call, -a->number);
}

static void on_nest(struct px_call *call, void *args)
{
    struct args *a = args;

    a->nested = px_call(a->loop, on_count, a);
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST_LOOP(a_call_from_the_loop_is_refused_at_once, 2)
{
    struct args a = {.loop = rt_loop(_i)};

    ok(px_call(a.loop, on_nest, &a));
    ck_assert_int_eq(a.nested, PMIX_ERR_WOULD_BLOCK);
    ck_assert_int_eq(n_calls, 0);
    ck_assert_int_eq(px_call(NULL, on_count, NULL), PMIX_ERR_INIT);
    px_loop_destroy(a.loop);
}

enum { CALLERS = 6, CALLS = 300 };

static void *call_often(void *arg)
{
    struct args a = {.loop = arg, .number = 1};

    for (int i = 0; i < CALLS; i++) {
        if (px_call(a.loop, on_count, &a) != -1 || !a.was_on_loop)
            return arg;
    }
    return NULL;
}

/* With external progress the threads take turns. */
PX_TEST_LOOP(many_threads_may_call, 2)
{
    struct px_loop *loop = rt_loop(_i);
    pthread_t threads[CALLERS];
    void *failed;

    for (int t = 0; t < CALLERS; t++)
        ok(pthread_create(&threads[t], NULL, call_often, loop));
    for (int t = 0; t < CALLERS; t++) {
        pthread_join(threads[t], &failed);
        ck_assert_ptr_null(failed);
    }
    ck_assert_int_eq(n_calls, CALLERS * CALLS);
    px_loop_destroy(loop);
}

static struct px_call *first_call;
static atomic_bool first_is_waiting;

static void on_wait_for_second(struct px_call *call, void *args PX_UNUSED)
{
    first_call = call;
    atomic_store(&first_is_waiting, true);
}

static void on_second(struct px_call *call, void *args PX_UNUSED)
{
    px_call_done(first_call, 1);
    px_call_done(call, 2);
}

static void *call_first(void *arg)
{
    return (void *)(intptr_t)px_call(arg, on_wait_for_second, NULL);
}

PX_TEST_LOOP(a_call_may_be_done_later_by_another, 2)
{
    struct px_loop *loop = rt_loop(_i);
    pthread_t thread;
    void *status;

    ok(pthread_create(&thread, NULL, call_first, loop));
    while (!atomic_load(&first_is_waiting))
        sched_yield();
    ck_assert_int_eq(px_call(loop, on_second, NULL), 2);
    pthread_join(thread, &status);

    ck_assert_int_eq((int)(intptr_t)status, 1);
    px_loop_destroy(loop);
}

PX_TEST_MAIN("rt/loop", NULL, NULL)
