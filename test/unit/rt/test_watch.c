/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches, timers and children, on a loop that the test itself runs. */
#include "core/base/clock.h"
#include "core/rt/child.h"
#include "core/rt/loop_impl.h"
#include "alloc_fail.h"
#include "rt_test.h"
#include "seccomp.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct px_loop *loop;

static int fds[2]; /* fds[0] is watched */
static struct px_watch *watch;
static int n_readable, n_writable;
static bool free_it; /* the callback frees the watch */

static struct alarm {
    struct px_timer *timer;
    uint64_t in_ms, due_ms;
    int n_fired,
        limit; /* the callback sets the timer again limit times, then frees it; 0: neither */
    bool early;
} alarms[2];
static int order[8], n_order;

static void setup(void)
{
    loop = rt_loop(true);
    ok(socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
}

static void free_all(void *arg PX_UNUSED)
{
    px_watch_free(watch); /* NULL is allowed */
    for (size_t i = 0; i < PX_COUNT(alarms); i++)
        px_timer_free(alarms[i].timer);
}

static void teardown(void)
{
    rt_on_loop(loop, free_all, NULL);
    px_loop_destroy(loop);
}

/* Runs two passes, after which every ready descriptor has been reported. */
static void settle(void)
{
    px_loop_pump(loop);
    px_loop_pump(loop);
}

/* ---- watches --------------------------------------------------------------------- */

static void on_ready(void *arg, int fd, unsigned events)
{
    ck_assert_ptr_eq(arg, &watch);
    ck_assert_int_eq(fd, fds[0]);
    n_readable += (events & PX_READABLE) != 0;
    n_writable += (events & PX_WRITABLE) != 0;
    if (free_it)
        px_watch_free(px_take(&watch));
}

static void do_watch(void *arg)
{
    unsigned events = *(const unsigned *)arg;

    if (watch)
        ok(px_watch_set(watch, events));
    else
        watch = px_watch_create(loop, fds[0], events, on_ready, &watch);
    ck_assert_ptr_nonnull(watch);
}

static void watch_for(unsigned events)
{
    rt_on_loop(loop, do_watch, &events);
}

PX_TEST(readable_is_reported_as_long_as_it_is)
{
    watch_for(PX_READABLE);
    settle();
    ck_assert_int_eq(n_readable, 0);
    ck_assert_int_eq(write(fds[1], "x", 1), 1);
    rt_pump_until(loop, &n_readable, 3); /* the byte stays unread */
    ck_assert_int_eq(n_writable, 0);
    close(fds[1]);
    ck_assert_int_eq(read(fds[0], &(char){0}, 1), 1);
    rt_pump_until(loop, &n_readable, 5); /* end of file stays readable */
}

PX_TEST(writable_and_readable_are_distinct_and_can_be_paused)
{
    watch_for(PX_WRITABLE);
    ck_assert_int_eq(write(fds[1], "x", 1), 1);
    rt_pump_until(loop, &n_writable, 1);
    ck_assert_int_eq(n_readable, 0);
    watch_for(PX_READABLE | PX_WRITABLE);
    rt_pump_until(loop, &n_readable, 1);
    watch_for(0);
    int before = n_readable + n_writable;
    settle();
    ck_assert_int_eq(n_readable + n_writable, before);
    watch_for(PX_READABLE);
    rt_pump_until(loop, &n_readable, before + 1);
}

PX_TEST(a_watch_freed_in_its_own_callback_calls_no_more)
{
    free_it = true;
    ck_assert_int_eq(write(fds[1], "x", 1), 1);
    watch_for(PX_READABLE | PX_WRITABLE);
    while (watch)
        px_loop_pump(loop);
    settle();
    ck_assert_int_eq(n_readable + n_writable, 1); /* the other event was pending */
}

/* ---- timers ---------------------------------------------------------------------- */

static void on_alarm(void *arg)
{
    struct alarm *a = arg;

    a->early = px_clock_ms() < a->due_ms;
    order[n_order++ % 8] = (int)a->in_ms;
    a->n_fired++;
    if (a->n_fired < a->limit)
        px_timer_set(a->timer, 0);
    else if (a->limit)
        px_timer_free(px_take(&a->timer));
}

static void do_start(void *arg)
{
    struct alarm *a = arg;

    if (!a->timer)
        a->timer = px_timer_create(loop, on_alarm, a);
    ck_assert_ptr_nonnull(a->timer);
    a->due_ms = px_clock_ms() + a->in_ms;
    px_timer_set(a->timer, a->in_ms);
}

static struct alarm *start(int which, uint64_t in_ms)
{
    alarms[which].in_ms = in_ms;
    rt_on_loop(loop, do_start, &alarms[which]);
    return &alarms[which];
}

/* Makes the timer due and clears the timer in one turn, so that no load fires the timer
 * between. */
static void do_set_and_clear(void *arg)
{
    struct alarm *a = arg;

    px_timer_set(a->timer, 0);
    px_timer_clear(a->timer);
}

/* libevent's clock is some milliseconds late. */
PX_TEST(a_due_timer_fires_in_the_next_pass)
{
    for (int i = 0; i < 20; i++) {
        const struct alarm *a = start(0, 2);

        while (px_clock_ms() <= a->due_ms)
            ;
        px_loop_pump(loop);
        ck_assert_int_eq(a->n_fired, i + 1);
    }
}

PX_TEST(a_timer_fires_once_and_never_early)
{
    for (int ms = 0; ms < 8; ms++) {
        struct alarm *a = start(0, (uint64_t)ms);

        rt_pump_until(loop, &a->n_fired, ms + 1);
        settle();
        ck_assert_int_eq(a->n_fired, ms + 1);
        ck_assert(!a->early);
    }
}

PX_TEST(timers_fire_in_the_order_they_are_due)
{
    start(0, 40);
    start(1, 5);
    rt_pump_until(loop, &n_order, 2);
    ck_assert_int_eq(order[0], 5);
    ck_assert_int_eq(order[1], 40);
}

PX_TEST(a_timer_is_set_anew_or_cleared)
{
    struct alarm *a = start(0, UINT64_MAX);

    settle();
    ck_assert_int_eq(a->n_fired, 0);
    rt_on_loop(loop, do_set_and_clear, a);
    rt_pump_until(loop, &start(1, 10)->n_fired, 1);
    ck_assert_int_eq(a->n_fired, 0);
    rt_pump_until(loop, &start(0, 1)->n_fired, 1);
}

PX_TEST(a_timer_may_be_set_and_freed_in_its_own_callback)
{
    alarms[0].limit = 5;
    rt_pump_until(loop, &start(0, 0)->n_fired, 5);
    settle();
    ck_assert_int_eq(alarms[0].n_fired, 5);
    ck_assert_ptr_null(alarms[0].timer);
}

enum { N_LONG = 2000, N_SHORT = 500 };

/* Sets many timers that are due late, or frees them. */
static void do_long_timers(void *arg)
{
    static struct px_timer *timers[N_LONG];

    for (size_t i = 0; i < N_LONG; i++) {
        if (!arg) {
            px_timer_free(px_take(&timers[i]));
            continue;
        }
        timers[i] = px_timer_create(loop, on_alarm, arg);
        ck_assert_ptr_nonnull(timers[i]);
        px_timer_set(timers[i], 1000000 + 60000 * i);
    }
}

PX_TEST(a_short_timer_costs_the_same_beside_many_long_ones)
{
    size_t before;

    rt_on_loop(loop, do_long_timers, &alarms[1]);
    settle();
    before = loop->poll.timers.n_steps;
    for (int i = 1; i <= N_SHORT; i++)
        rt_pump_until(loop, &start(0, 0)->n_fired, i);
    ck_assert_uint_le(loop->poll.timers.n_steps - before, 5 * N_SHORT + 2 * N_LONG);
    rt_on_loop(loop, do_long_timers, NULL);
    ck_assert_int_eq(alarms[1].n_fired, 0);
}

/* Creates a watch and a timer with a failing allocation. */
static void do_both_in_shortage(void *arg)
{
    bool *failed = arg;

    watch = px_watch_create(loop, fds[0], PX_READABLE | PX_WRITABLE, on_ready, &watch);
    alarms[0].timer = px_timer_create(loop, on_alarm, &alarms[0]);
    if (alarms[0].timer)
        px_timer_set(alarms[0].timer, 0);
    *failed = px_alloc_fail_end();
}

PX_TEST(out_of_memory_there_is_no_watch_but_a_timer_that_is_there_fires)
{
    bool failed = true;

    PX_TEST_NEEDS_ALLOC;
    for (unsigned nth = 1; failed; nth++) {
        px_alloc_fail_at(nth);
        rt_on_loop(loop, do_both_in_shortage, &failed);
        ck_assert(failed || (watch && alarms[0].timer));
        if (watch)
            rt_pump_until(loop, &n_writable, 1);
        if (alarms[0].timer)
            rt_pump_until(loop, &alarms[0].n_fired, 1);
        teardown();
        n_writable = alarms[0].n_fired = 0;
        watch = NULL;
        alarms[0].timer = NULL;
        loop = rt_loop(true);
    }
}

/* ---- children: with a pidfd and without ------------------------------------------ */

static int n_ended, status, gate;
static bool knows_usage;
static pid_t last_ended;

static void deny_pidfd(int without)
{
    ck_assert(!without || px_test_deny(SYS_pidfd_open, ENOSYS));
}

/* Starts a child that exits with code when the gate is closed. */
static pid_t start_child(int code)
{
    int ends[2];
    char c;

    ok(pipe(ends));
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        close(ends[1]);
        while (read(ends[0], &c, 1) > 0)
            ;
        _exit(code);
    }
    close(ends[0]);
    gate = ends[1];
    return pid;
}

/* Starts a child and waits until it has ended, without reaping it. */
static pid_t start_dead_child(int code)
{
    siginfo_t info;
    pid_t pid = start_child(code);

    close(gate);
    ok(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
    return pid;
}

/* arg: the next child, watched in the callback. */
static void on_end(void *arg, pid_t pid, int wait_status)
{
    const struct rusage *usage = px_child_usage(loop);
    struct rusage of_all;

    n_ended++;
    last_ended = pid;
    status = wait_status;
    ok(getrusage(RUSAGE_CHILDREN, &of_all));
    knows_usage = usage && (n_ended > 1 ? usage->ru_maxrss > 0
                                        : usage->ru_maxrss == of_all.ru_maxrss);
    if (arg && n_ended < 3)
        ok(px_child_watch(loop, start_dead_child(n_ended), on_end, arg));
}

struct request {
    pid_t pid;
    bool forget;
    void *arg;
    pmix_status_t rc;
    int n_ended_inside;
};

static void do_request(void *arg)
{
    struct request *r = arg;

    if (r->forget)
        px_child_forget(loop, r->pid);
    else
        r->rc = px_child_watch(loop, r->pid, on_end, r->arg);
    r->n_ended_inside = n_ended;
}

static pmix_status_t watch_child(pid_t pid)
{
    struct request r = {.pid = pid};
    int before = n_ended;

    rt_on_loop(loop, do_request, &r);
    ck_assert_int_eq(r.n_ended_inside, before);
    return r.rc;
}

static void forget_child(pid_t pid)
{
    rt_on_loop(loop, do_request, &(struct request){.pid = pid, .forget = true});
}

static bool is_reaped(pid_t pid)
{
    return waitpid(pid, NULL, WNOHANG) < 0 && errno == ECHILD;
}

PX_TEST_LOOP(an_end_is_reported_once, 2)
{
    deny_pidfd(_i);
    pid_t pid = start_child(7);

    ok(watch_child(pid));
    px_loop_pump(loop);
    ck_assert_int_eq(n_ended, 0);
    close(gate);
    rt_pump_until(loop, &n_ended, 1);
    px_loop_pump(loop);
    ck_assert_int_eq(n_ended, 1);
    ck_assert_int_eq(last_ended, pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    ck_assert(knows_usage);
    ck_assert(is_reaped(pid));
    pid = start_child(0);
    ok(watch_child(pid));
    kill(pid, SIGKILL);
    rt_pump_until(loop, &n_ended, 2);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    ck_assert(knows_usage);
    ck_assert_ptr_null(px_child_usage(loop));
}

static pid_t start_aborting(void)
{
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    const char *dir = px_test_dir();
    pid_t pid = fork();

    if (pid == 0) {
        if (chdir(dir) == 0 && setrlimit(RLIMIT_CORE, &all) == 0)
            abort();
        _exit(1);
    }
    return pid;
}

PX_TEST_LOOP(an_end_is_reported_as_by_waitpid_dumped_core_included, 2)
{
    deny_pidfd(_i);
    int expected;
    pid_t like = start_aborting();

    ck_assert_int_eq(waitpid(like, &expected, 0), like);
    ok(watch_child(start_aborting()));
    rt_pump_until(loop, &n_ended, 1);
    ck_assert_int_eq(status, expected);
}

/* SIGCHLD is not used, and children of the host are left alone. */
PX_TEST_LOOP(a_child_already_dead_is_reported_from_the_loop, 2)
{
    deny_pidfd(_i);
    pid_t of_host = start_dead_child(5);
    struct sigaction action;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    ok(watch_child(start_dead_child(3)));
    rt_pump_until(loop, &n_ended, 1);
    ck_assert_int_eq(WEXITSTATUS(status), 3);
    ck_assert_int_eq(waitpid(of_host, &status, WNOHANG), of_host);
    ck_assert_int_eq(WEXITSTATUS(status), 5);
    sigaction(SIGCHLD, NULL, &action);
    ck_assert(action.sa_handler == SIG_DFL);
}

PX_TEST_LOOP(a_forgotten_child_is_reaped_without_a_call, 2)
{
    deny_pidfd(_i);
    pid_t pid = start_child(0);

    ok(watch_child(pid));
    forget_child(pid);
    close(gate);
    while (kill(pid, 0) == 0)
        px_loop_pump(loop);
    ck_assert_int_eq(n_ended, 0);
    ck_assert(is_reaped(pid));
}

/* The child is reaped by another part of the program, or by the kernel because SIGCHLD
 * is ignored. */
PX_TEST_LOOP(a_stolen_exit_status_is_found_or_not_taken_for_success, 4)
{
    deny_pidfd(_i & 1);
    bool is_kept = !(_i & 1) && px_test_kernel_keeps_status();

    if (_i & 2)
        signal(SIGCHLD, SIG_IGN);
    pid_t pid = start_child(7);
    ok(watch_child(pid));
    close(gate);
    ck_assert_int_eq(waitpid(pid, NULL, 0), _i & 2 ? -1 : pid);
    struct rt_capture c = rt_capture_begin();
    rt_pump_until(loop, &n_ended, 1);
    PX_AUTOFREE char *text = rt_capture_end(&c);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == (is_kept ? 7 : 255));
    ck_assert_int_eq(rt_count(text, "lost"), !is_kept);
    ck_assert_int_eq(rt_count(text, "\n"), !is_kept);
    ck_assert(!knows_usage);
}

PX_TEST_LOOP(the_next_child_may_be_watched_in_the_callback, 2)
{
    deny_pidfd(_i);
    struct request r = {.pid = start_dead_child(0), .arg = &n_ended};

    rt_on_loop(loop, do_request, &r);
    rt_pump_until(loop, &n_ended, 3);
    ck_assert_int_eq(WEXITSTATUS(status), 2);
}

PX_TEST_LOOP(a_loop_may_end_before_its_children, 2)
{
    deny_pidfd(_i);
    pid_t alive = start_child(0);
    int its_gate = gate;
    pid_t dead = start_dead_child(0);

    ok(watch_child(alive));
    rt_on_loop(loop, do_request, &(struct request){.pid = dead});
    px_loop_destroy(loop);
    ck_assert(is_reaped(dead));
    close(its_gate);
    ck_assert_int_eq(waitpid(alive, NULL, 0), alive);
    loop = rt_loop(true); /* teardown needs a loop */
}

PX_TEST(a_child_of_this_process_is_watched_once_and_again_after_it_was_forgotten)
{
    const pid_t strangers[] = {getpid(), getppid(), 0, -1};
    pid_t pid = start_child(9);

    for (size_t i = 0; i < PX_COUNT(strangers); i++)
        ck_assert_int_eq(watch_child(strangers[i]), PMIX_ERR_NOT_FOUND);
    ok(watch_child(pid));
    ck_assert_int_eq(watch_child(pid), PMIX_ERR_EXISTS);
    forget_child(pid);
    ok(watch_child(pid));
    close(gate);
    rt_pump_until(loop, &n_ended, 1);
    forget_child(pid); /* a pid that is not watched */
    ck_assert_int_eq(WEXITSTATUS(status), 9);
}

/* ---- a loop whose thread starts on demand ----------------------------------------- */

static struct {
    struct px_loop *loop;
    struct px_timer *timer;
    struct px_watch *watch;
    int ends[2];
    struct px_msg msg;
    atomic_bool came;
} left;

static void on_come(void *arg PX_UNUSED)
{
    atomic_store(&left.came, true);
}

static void on_writable(void *arg PX_UNUSED, int fd PX_UNUSED,
                        unsigned events PX_UNUSED)
{
    ok(px_watch_set(left.watch, 0));
    on_come(NULL);
}

static void on_rest(struct px_msg *msg PX_UNUSED)
{
    on_come(NULL);
}

static void leave_nothing(void *arg PX_UNUSED)
{
}

static void leave_timer(void *arg PX_UNUSED)
{
    px_timer_set(left.timer, 1);
}

static void leave_bytes(void *arg PX_UNUSED)
{
    ok(px_watch_set(left.watch, PX_WRITABLE));
}

static void leave_message(void *arg PX_UNUSED)
{
    left.msg.for_user = true;
    px_post(left.loop, &left.msg);
}

static void make_left(void *arg PX_UNUSED)
{
    left.timer = px_timer_create(left.loop, on_come, NULL);
    left.watch = px_watch_create(left.loop, left.ends[1], 0, on_writable, NULL);
    left.msg.run = on_rest;
}

static void free_left(void *arg PX_UNUSED)
{
    px_timer_free(left.timer);
    px_watch_free(left.watch);
}

/* A call that is done leaves nothing, or leaves work that the loop's thread does. */
PX_TEST_LOOP(a_lazy_loop_has_a_thread_when_a_call_leaves_something, 4)
{
    static void (*const leaves[])(void *arg) = {leave_nothing, leave_timer, leave_bytes,
                                                leave_message};

    PX_TEST_NEEDS_PROC;
    ok(px_loop_create(PX_PROGRESS_LAZY, NULL, &left.loop));
    ok(pipe(left.ends));
    rt_on_loop(left.loop, make_left, NULL);
    ck_assert_int_eq(rt_count_threads(), 0);

    rt_on_loop(left.loop, leaves[_i], NULL);
    rt_await_threads(_i > 0);
    while (_i > 0 && !atomic_load(&left.came))
        sched_yield();

    rt_on_loop(left.loop, free_left, NULL);
    px_loop_destroy(left.loop);
    rt_await_threads(0);
}

PX_TEST_LOOP(a_lazy_loop_has_a_thread_for_what_other_threads_post, 2)
{
    PX_TEST_NEEDS_PROC;
    ok(px_loop_create(PX_PROGRESS_LAZY, NULL, &left.loop));
    left.msg = (struct px_msg){.run = on_rest, .for_user = _i};
    px_post(left.loop, &left.msg);
    rt_await_threads(1);
    while (!atomic_load(&left.came))
        sched_yield();
    px_loop_destroy(left.loop);
    rt_await_threads(0);

    ok(px_loop_create(PX_PROGRESS_LAZY, NULL, &left.loop));
    px_loop_stop_thread(left.loop); /* a stopped loop starts no thread */
    ok(px_loop_need_thread(left.loop));
    ck_assert_int_eq(rt_count_threads(), 0);
    px_loop_destroy(left.loop);
}

PX_TEST_MAIN("rt/watch", setup, teardown)
