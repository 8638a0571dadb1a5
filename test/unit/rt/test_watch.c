/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/rt/child.h"
#include "alloc_fail.h"
#include "rt_test.h"
#include "seccomp.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

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
    close(s.fds[1]);
    ck_assert_int_eq(read(s.fds[0], &(char){0}, 1), 1);
    rt_pump_until(s.loop, &s.n_readable, 5); /* as is the end */
    s.fds[1] = dup(s.fds[0]);
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
    else if (a->limit)
        px_timer_free(px_take(&a->timer));
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

PX_TEST(a_timer_is_set_anew_or_cleared)
{
    struct px_loop *loop = rt_loop(true);
    struct alarm a = {.loop = loop, .in_ms = UINT64_MAX};
    struct alarm later = {.loop = loop, .in_ms = 10};

    rt_on_loop(loop, start_alarm, &a);
    settle(loop);
    ck_assert_int_eq(a.n_fired, 0);
    a.in_ms = 1;
    rt_on_loop(loop, start_alarm, &a);
    rt_on_loop(loop, clear_alarm, &a);
    rt_on_loop(loop, start_alarm, &later);
    rt_pump_until(loop, &later.n_fired, 1);
    ck_assert_int_eq(a.n_fired, 0);
    rt_on_loop(loop, start_alarm, &a);
    rt_pump_until(loop, &a.n_fired, 1);

    rt_on_loop(loop, free_alarm, &a);
    rt_on_loop(loop, free_alarm, &later);
    px_loop_destroy(loop);
}

PX_TEST(a_timer_may_be_set_and_freed_in_its_own_callback)
{
    struct px_loop *loop = rt_loop(true);
    struct alarm a = {.loop = loop, .limit = 5};

    rt_on_loop(loop, start_alarm, &a);
    rt_pump_until(loop, &a.n_fired, 5);
    settle(loop);

    ck_assert_int_eq(a.n_fired, 5);
    ck_assert_ptr_null(a.timer);
    px_loop_destroy(loop);
}

/* Both, when the nth allocation fails. */
struct shortage {
    struct scene scene;
    struct alarm alarm;
    unsigned nth;
    bool failed;
};

static void create_in_shortage(void *arg)
{
    struct shortage *s = arg;

    px_alloc_fail_at(s->nth);
    s->scene.watch = px_watch_create(s->scene.loop, s->scene.fds[0],
                                     PX_READABLE | PX_WRITABLE, on_ready, &s->scene);
    s->alarm.timer = px_timer_create(s->scene.loop, on_alarm, &s->alarm);
    if (s->alarm.timer)
        px_timer_set(s->alarm.timer, 0);
    s->failed = px_alloc_fail_end();
}

PX_TEST(out_of_memory_there_is_no_watch_but_a_timer_that_is_there_fires)
{
    struct shortage s = {.failed = true};

    PX_TEST_NEEDS_ALLOC;
    while (s.failed) {
        s = (struct shortage){.scene = begin(0), .nth = s.nth + 1};
        rt_on_loop(s.scene.loop, create_in_shortage, &s);
        ck_assert(s.failed || (s.scene.watch && s.alarm.timer));
        if (s.scene.watch)
            rt_pump_until(s.scene.loop, &s.scene.n_writable, 1);
        if (s.alarm.timer)
            rt_pump_until(s.scene.loop, &s.alarm.n_fired, 1);
        n_order = 0;
        rt_on_loop(s.scene.loop, free_alarm, &s.alarm);
        end(&s.scene); /* either may be NULL */
    }
}

/* ---- children --------------------------------------------------------------------- */

struct family {
    struct px_loop *loop;
    pid_t pid;
    pmix_status_t rc;
    int n_ended;
    pid_t ended;
    int status;
    int n_ended_inside_watch;
};

/* A child that exits with code once the writing end of the pipe is closed, or is
 * killed. */
static pid_t start_child(int code, int *gate)
{
    int fds[2];
    char c;

    ck_assert_int_eq(pipe(fds), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        close(fds[1]);
        while (read(fds[0], &c, 1) > 0)
            ;
        _exit(code);
    }
    close(fds[0]);
    *gate = fds[1];
    return pid;
}

/* One that has ended, but is not reaped. */
static pid_t start_dead_child(int code)
{
    siginfo_t info;
    int gate;
    pid_t pid = start_child(code, &gate);

    close(gate);
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    return pid;
}

static void on_end(void *arg, pid_t pid, int status)
{
    struct family *s = arg;

    s->n_ended++;
    s->ended = pid;
    s->status = status;
}

static void watch_child(void *arg)
{
    struct family *s = arg;

    s->rc = px_child_watch(s->loop, s->pid, on_end, s);
    s->n_ended_inside_watch = s->n_ended;
}

static void forget_child(void *arg)
{
    struct family *s = arg;

    px_child_forget(s->loop, s->pid);
}

/* Each of the following holds with a pidfd and without. */
static struct family begin_family(bool no_pidfd)
{
    ck_assert(!no_pidfd || px_test_deny(SYS_pidfd_open, ENOSYS));
    return (struct family){.loop = rt_loop(true)};
}

static bool is_reaped(pid_t pid)
{
    return waitpid(pid, NULL, WNOHANG) < 0 && errno == ECHILD;
}

PX_TEST_LOOP(an_end_is_reported_once, 2)
{
    struct family s = begin_family(_i);
    int gate;

    s.pid = start_child(7, &gate);
    rt_on_loop(s.loop, watch_child, &s);
    ok(s.rc);
    px_loop_pump(s.loop);
    ck_assert_int_eq(s.n_ended, 0);
    close(gate);
    rt_pump_until(s.loop, &s.n_ended, 1);
    px_loop_pump(s.loop);

    ck_assert_int_eq(s.n_ended, 1);
    ck_assert_int_eq(s.ended, s.pid);
    ck_assert(WIFEXITED(s.status));
    ck_assert_int_eq(WEXITSTATUS(s.status), 7);
    ck_assert(is_reaped(s.pid));
    s.pid = start_child(0, &gate);
    rt_on_loop(s.loop, watch_child, &s);
    kill(s.pid, SIGKILL);
    rt_pump_until(s.loop, &s.n_ended, 2);
    ck_assert(WIFSIGNALED(s.status));
    ck_assert_int_eq(WTERMSIG(s.status), SIGKILL);
    close(gate);
    px_loop_destroy(s.loop);
}

/* SIGCHLD is neither needed nor touched, and children of the host are left alone. */
PX_TEST_LOOP(a_child_already_dead_is_reported_from_the_loop, 2)
{
    struct family s = begin_family(_i);
    pid_t of_host = start_dead_child(5);
    struct sigaction action;
    sigset_t set;
    int status;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    s.pid = start_dead_child(3);
    rt_on_loop(s.loop, watch_child, &s);
    ok(s.rc);
    ck_assert_int_eq(s.n_ended_inside_watch, 0);
    rt_pump_until(s.loop, &s.n_ended, 1);

    ck_assert_int_eq(WEXITSTATUS(s.status), 3);
    ck_assert_int_eq(waitpid(of_host, &status, WNOHANG), of_host);
    ck_assert_int_eq(WEXITSTATUS(status), 5);
    sigaction(SIGCHLD, NULL, &action);
    ck_assert(action.sa_handler == SIG_DFL);
    px_loop_destroy(s.loop);
}

PX_TEST_LOOP(a_forgotten_child_is_reaped_without_a_call, 2)
{
    struct family s = begin_family(_i);
    int gate;

    s.pid = start_child(0, &gate);
    rt_on_loop(s.loop, watch_child, &s);
    rt_on_loop(s.loop, forget_child, &s);
    close(gate);
    while (kill(s.pid, 0) == 0)
        px_loop_pump(s.loop);

    ck_assert_int_eq(s.n_ended, 0);
    ck_assert(is_reaped(s.pid));
    px_loop_destroy(s.loop);
}

PX_TEST_LOOP(a_stolen_exit_status_is_not_taken_for_success, 2)
{
    struct family s = begin_family(_i);
    int gate;

    s.pid = start_child(0, &gate);
    rt_on_loop(s.loop, watch_child, &s);
    close(gate);
    ck_assert_int_eq(waitpid(s.pid, NULL, 0), s.pid);
    struct rt_capture c = rt_capture_begin();
    rt_pump_until(s.loop, &s.n_ended, 1);
    char *text = rt_capture_end(&c);

    ck_assert(WIFEXITED(s.status));
    ck_assert_int_eq(WEXITSTATUS(s.status), 255);
    rt_assert_has(text, "lost");
    ck_assert_int_eq(rt_count(text, "\n"), 1);
    free(text);
    px_loop_destroy(s.loop);
}

static void on_end_start_next(void *arg, pid_t pid, int status)
{
    struct family *s = arg;

    on_end(arg, pid, status);
    if (s->n_ended < 3) {
        s->pid = start_dead_child(s->n_ended);
        ok(px_child_watch(s->loop, s->pid, on_end_start_next, s));
    }
}

static void watch_series(void *arg)
{
    struct family *s = arg;

    s->pid = start_dead_child(0);
    ok(px_child_watch(s->loop, s->pid, on_end_start_next, s));
}

PX_TEST_LOOP(the_next_child_may_be_watched_in_the_callback, 2)
{
    struct family s = begin_family(_i);

    rt_on_loop(s.loop, watch_series, &s);
    rt_pump_until(s.loop, &s.n_ended, 3);

    ck_assert_int_eq(WEXITSTATUS(s.status), 2);
    px_loop_destroy(s.loop);
}

PX_TEST_LOOP(a_loop_may_end_before_its_children, 2)
{
    struct family alive = begin_family(_i);
    struct family dead = {.loop = alive.loop};
    int gate;

    alive.pid = start_child(0, &gate);
    dead.pid = start_dead_child(0);
    rt_on_loop(alive.loop, watch_child, &alive);
    dead.n_ended_inside_watch = -1;
    rt_on_loop(dead.loop, watch_child, &dead);
    px_loop_destroy(alive.loop);

    ck_assert_int_eq(alive.n_ended, 0);
    ck_assert(is_reaped(dead.pid));
    close(gate);
    ck_assert_int_eq(waitpid(alive.pid, NULL, 0), alive.pid);
}

PX_TEST(only_a_child_of_this_process_can_be_watched)
{
    struct family s = begin_family(false);
    const pid_t strangers[] = {getpid(), getppid(), 0, -1};

    for (size_t i = 0; i < PX_COUNT(strangers); i++) {
        s.pid = strangers[i];
        rt_on_loop(s.loop, watch_child, &s);
        ck_assert_int_eq(s.rc, PMIX_ERR_NOT_FOUND);
    }
    ck_assert_int_eq(s.n_ended, 0);
    px_loop_destroy(s.loop);
}

PX_TEST(a_child_is_watched_once_and_again_after_it_was_forgotten)
{
    struct family s = begin_family(false);
    int gate;

    s.pid = start_child(9, &gate);
    rt_on_loop(s.loop, watch_child, &s);
    rt_on_loop(s.loop, watch_child, &s);
    ck_assert_int_eq(s.rc, PMIX_ERR_EXISTS);
    rt_on_loop(s.loop, forget_child, &s);
    rt_on_loop(s.loop, watch_child, &s);
    ok(s.rc);
    close(gate);
    rt_pump_until(s.loop, &s.n_ended, 1);
    rt_on_loop(s.loop, forget_child, &s); /* a pid nobody watches: fine */

    ck_assert_int_eq(WEXITSTATUS(s.status), 9);
    px_loop_destroy(s.loop);
}

PX_TEST_MAIN("rt/watch", NULL, NULL)
