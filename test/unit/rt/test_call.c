/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/rt/call.h"
#include "rt_test.h"

#include <pthread.h>

/* Touched on the loop only, so not atomic: the thread sanitizer watches. */
static int n_calls;

struct args {
    struct px_loop *loop;
    int number;
    bool was_on_loop;
    pmix_status_t nested;
    struct px_call *parked;
    struct px_msg msg;
};

static void on_count(struct px_call *call, void *args)
{
    struct args *a = args;

    n_calls++;
    a->was_on_loop = px_loop_is_current(a->loop);
    px_call_done(call, -a->number);
}

PX_TEST(a_call_runs_on_the_loop_and_returns_its_status)
{
    for (int external = 0; external < 2; external++) {
        struct args a = {.loop = rt_loop(external), .number = 42};

        ck_assert_int_eq(px_call(a.loop, on_count, &a), -42);
        ck_assert(a.was_on_loop);
        px_loop_destroy(a.loop);
    }
}

static void on_answer(struct px_msg *msg)
{
    px_call_done(PX_CONTAINER_OF(msg, struct args, msg)->parked, PMIX_ERR_TIMEOUT);
}

static void on_park(struct px_call *call, void *args)
{
    struct args *a = args;

    a->parked = call;
    a->msg.run = on_answer;
    px_post(a->loop, &a->msg);
}

PX_TEST(a_call_may_be_done_later)
{
    for (int external = 0; external < 2; external++) {
        struct args a = {.loop = rt_loop(external)};

        ck_assert_int_eq(px_call(a.loop, on_park, &a), PMIX_ERR_TIMEOUT);
        px_loop_destroy(a.loop);
    }
}

static void on_nest(struct px_call *call, void *args)
{
    struct args *a = args;

    a->nested = px_call(a->loop, on_count, a);
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST(a_call_from_the_loop_is_refused_at_once)
{
    for (int external = 0; external < 2; external++) {
        struct args a = {.loop = rt_loop(external)};

        ok(px_call(a.loop, on_nest, &a));
        ck_assert_int_eq(a.nested, PMIX_ERR_WOULD_BLOCK);
        ck_assert_int_eq(n_calls, 0);
        px_loop_destroy(a.loop);
    }
}

PX_TEST(a_call_without_a_loop_says_not_initialised)
{
    ck_assert_int_eq(px_call(NULL, on_count, NULL), PMIX_ERR_INIT);
}

enum { CALLERS = 6, EACH = 300 };

static void *call_often(void *arg)
{
    struct args a = {.loop = arg, .number = 1};

    for (int i = 0; i < EACH; i++) {
        if (px_call(a.loop, on_count, &a) != -1 || !a.was_on_loop)
            return arg;
    }
    return NULL;
}

static void call_from_many_threads(bool external)
{
    struct px_loop *loop = rt_loop(external);
    pthread_t threads[CALLERS];
    void *failed;

    for (int t = 0; t < CALLERS; t++)
        ck_assert_int_eq(pthread_create(&threads[t], NULL, call_often, loop), 0);
    for (int t = 0; t < CALLERS; t++) {
        pthread_join(threads[t], &failed);
        ck_assert_ptr_null(failed);
    }
    ck_assert_int_eq(n_calls, CALLERS * EACH);
    px_loop_destroy(loop);
}

PX_TEST(many_threads_may_call)
{
    call_from_many_threads(false);
}

PX_TEST(with_external_progress_callers_take_turns)
{
    call_from_many_threads(true);
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

PX_TEST(one_call_may_be_answered_by_another)
{
    for (int external = 0; external < 2; external++) {
        struct px_loop *loop = rt_loop(external);
        pthread_t thread;
        void *status;

        atomic_store(&first_is_waiting, false);
        ck_assert_int_eq(pthread_create(&thread, NULL, call_first, loop), 0);
        while (!atomic_load(&first_is_waiting))
            sched_yield();
        ck_assert_int_eq(px_call(loop, on_second, NULL), 2);
        pthread_join(thread, &status);

        ck_assert_int_eq((int)(intptr_t)status, 1);
        px_loop_destroy(loop);
    }
}

PX_TEST_MAIN("rt/call", NULL, NULL)
