/* SPDX-License-Identifier: BSD-3-Clause */
#include "../rt/rt_test.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/plugin/errand.h"
#include "px_test.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_B = 100, LATE_MS = 1000 };

static struct px_loop *loop;

/* An errand, with what its child does, and the call of done. */
static struct scene {
    struct px_errand errand;
    void (*child)(int out);
    uint64_t limit_ms;
    pid_t pid, tester;
    int again; /* how often done starts the errand anew */
    enum px_errand_end how;
    int wait_status;
    size_t answer_b;
    char answer[8];
    atomic_int n_done;
} scene;

static void start(void *arg PX_UNUSED)
{
    struct px_err err = {0};
    int out = -1;

    scene.pid = px_errand_start(&scene.errand, "tenon-errand", scene.limit_ms, &out,
                                &err);
    if (scene.pid == 0) {
        scene.child(out);
        _exit(3);
    }
    ck_assert_msg(scene.pid > 0, "%s", err.text);
    ck_assert(px_errand_runs(&scene.errand));
}

static void on_done(struct px_errand *e, enum px_errand_end how, int wait_status)
{
    ck_assert(!px_errand_runs(e));
    scene.how = how;
    scene.wait_status = wait_status;
    scene.answer_b = e->answer.len;
    memcpy(scene.answer, e->answer.data, e->answer.len < 8 ? e->answer.len : 8);
    px_errand_stop(e);
    if (scene.again-- > 0)
        start(NULL);
    scene.n_done++;
}

static void run(void (*child)(int out), uint64_t limit_ms, int n)
{
    scene.child = child;
    scene.limit_ms = limit_ms;
    scene.tester = getpid();
    scene.again = n - 1;
    scene.errand = (struct px_errand){.loop = loop, .max_b = MAX_B, .done = on_done};
    rt_on_loop(loop, start, NULL);
    while (scene.n_done < n)
        sched_yield();
}

static void setup(void)
{
    loop = rt_loop(false);
}

static void teardown(void)
{
    px_loop_destroy(loop);
}

static void writes_four(int out)
{
    (void)px_fd_write_all(out, "four", 4, 0);
}

static void writes_much(int out)
{
    char bytes[4 * MAX_B] = {0};

    while (!px_fd_write_all(out, bytes, sizeof(bytes), 0))
        ;
}

static void crashes(int out)
{
    writes_four(out);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void waits(int out)
{
    writes_four(out);
    pause();
}

/* Leaves a process that keeps the pipe open until the test has ended. */
static void leaves_a_process(int out)
{
    writes_four(out);
    if (fork() == 0)
        while (kill(scene.tester, 0) == 0)
            sched_yield();
}

PX_TEST(an_answer_comes_with_the_end_of_the_child)
{
    void (*const children[])(int) = {writes_four, leaves_a_process};

    for (int i = 0; i < 2; i++) {
        scene.n_done = 0;
        run(children[i], 0, 3);
        ck_assert_int_eq(scene.how, PX_ERRAND_ENDED);
        ck_assert_int_eq(WEXITSTATUS(scene.wait_status), 3);
        ck_assert_uint_eq(scene.answer_b, 4);
        ck_assert_mem_eq(scene.answer, "four", 4);
    }
}

PX_TEST(a_crash_is_reported_with_what_was_written)
{
    run(crashes, 60000, 1);
    ck_assert_int_eq(scene.how, PX_ERRAND_ENDED);
    ck_assert_int_eq(WTERMSIG(scene.wait_status), SIGSEGV);
    ck_assert_uint_eq(scene.answer_b, 4);
}

PX_TEST(a_deadline_ends_the_child)
{
    run(waits, LATE_MS, 2);
    ck_assert_int_eq(scene.how, PX_ERRAND_LATE);
    ck_assert_uint_eq(scene.answer_b, 4);
    while (kill(scene.pid, 0) == 0) /* until it is reaped */
        sched_yield();
}

PX_TEST(an_endless_answer_ends_the_child)
{
    run(writes_much, 0, 1);
    ck_assert_int_eq(scene.how, PX_ERRAND_EXCESS);
}

static void wait_and_stop(void *arg)
{
    bool *in_time = arg;

    *in_time = px_errand_wait(&scene.errand,
                              px_clock_ms() + (*in_time ? 60000 : LATE_MS));
    ck_assert_uint_eq(scene.errand.answer.len, 4);
    px_errand_stop(&scene.errand);
    ck_assert(!px_errand_runs(&scene.errand));
}

PX_TEST(waiting_blocks_until_the_answer_or_the_deadline)
{
    void (*const children[])(int) = {waits, writes_four};

    for (int i = 0; i < 2; i++) {
        bool in_time = i == 1;

        scene.child = children[i];
        scene.errand = (struct px_errand){
            .loop = loop, .max_b = MAX_B, .done = on_done};
        rt_on_loop(loop, start, NULL);
        rt_on_loop(loop, wait_and_stop, &in_time);
        ck_assert_int_eq(in_time, i == 1);
    }
    ck_assert_int_eq(scene.n_done, 0);
}

static void child_of_call(void *child, int out)
{
    ((void (*)(int))child)(out);
}

PX_TEST(a_call_waits_for_its_answer_without_a_loop)
{
    static const struct {
        void (*child)(int out);
        pmix_status_t status;
        size_t len;
    } rows[] = {{writes_four, PMIX_SUCCESS, 4},
                {crashes, PMIX_SUCCESS, 4},
                {waits, PMIX_ERR_TIMEOUT, 4},
                {writes_much, PMIX_ERR_OUT_OF_RESOURCE, 0}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_buf) answer = {0};
        pmix_status_t rc = px_errand_run("tenon-errand", child_of_call, rows[i].child,
                                         LATE_MS, MAX_B, &answer);

        ck_assert_msg(rc == rows[i].status, "row %zu: %d", i, rc);
        ck_assert_uint_eq(answer.len, rows[i].len);
        ck_assert_int_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1); /* none is left */
    }
}

PX_TEST_MAIN("plugin/errand", setup, teardown)
