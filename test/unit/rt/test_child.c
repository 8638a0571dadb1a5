/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/rt/child.h"
#include "core/rt/loop_impl.h"
#include "rt_test.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

struct scene {
    struct px_loop *loop;
    bool no_pidfd;
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
    struct scene *s = arg;

    s->n_ended++;
    s->ended = pid;
    s->status = status;
}

static void watch_child(void *arg)
{
    struct scene *s = arg;

    s->loop->no_pidfd = s->no_pidfd;
    s->rc = px_child_watch(s->loop, s->pid, on_end, s);
    s->n_ended_inside_watch = s->n_ended;
}

static void forget_child(void *arg)
{
    struct scene *s = arg;

    px_child_forget(s->loop, s->pid);
}

static struct scene begin(bool no_pidfd)
{
    return (struct scene){.loop = rt_loop(true), .no_pidfd = no_pidfd};
}

static bool is_reaped(pid_t pid)
{
    return waitpid(pid, NULL, WNOHANG) < 0 && errno == ECHILD;
}

/* Each of the following holds with a pidfd and without. */
#define WITH_AND_WITHOUT_PIDFD(name) \
    PX_TEST(name)                    \
    {                                \
        test_##name(false);          \
    }                                \
    PX_TEST(name##_without_pidfd)    \
    {                                \
        test_##name(true);           \
    }

static void test_an_exit_is_reported_once(bool no_pidfd)
{
    struct scene s = begin(no_pidfd);
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
    px_loop_destroy(s.loop);
}
WITH_AND_WITHOUT_PIDFD(an_exit_is_reported_once)

static void test_a_killed_child_is_reported_with_its_signal(bool no_pidfd)
{
    struct scene s = begin(no_pidfd);
    int gate;

    s.pid = start_child(0, &gate);
    rt_on_loop(s.loop, watch_child, &s);
    kill(s.pid, SIGKILL);
    rt_pump_until(s.loop, &s.n_ended, 1);

    ck_assert(WIFSIGNALED(s.status));
    ck_assert_int_eq(WTERMSIG(s.status), SIGKILL);
    close(gate);
    px_loop_destroy(s.loop);
}
WITH_AND_WITHOUT_PIDFD(a_killed_child_is_reported_with_its_signal)

static void test_a_child_already_dead_is_reported_from_the_loop(bool no_pidfd)
{
    struct scene s = begin(no_pidfd);

    s.pid = start_dead_child(3);
    rt_on_loop(s.loop, watch_child, &s);
    ok(s.rc);
    ck_assert_int_eq(s.n_ended_inside_watch, 0);
    rt_pump_until(s.loop, &s.n_ended, 1);

    ck_assert_int_eq(WEXITSTATUS(s.status), 3);
    px_loop_destroy(s.loop);
}
WITH_AND_WITHOUT_PIDFD(a_child_already_dead_is_reported_from_the_loop)

static void test_children_of_the_host_are_left_alone(bool no_pidfd)
{
    struct scene s = begin(no_pidfd);
    pid_t of_host = start_dead_child(5);
    int status;

    s.pid = start_dead_child(6);
    rt_on_loop(s.loop, watch_child, &s);
    rt_pump_until(s.loop, &s.n_ended, 1);

    ck_assert_int_eq(waitpid(of_host, &status, WNOHANG), of_host);
    ck_assert_int_eq(WEXITSTATUS(status), 5);
    px_loop_destroy(s.loop);
}
WITH_AND_WITHOUT_PIDFD(children_of_the_host_are_left_alone)

static void test_sigchld_is_neither_needed_nor_touched(bool no_pidfd)
{
    struct scene s = begin(no_pidfd);
    struct sigaction action;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    s.pid = start_dead_child(1);
    rt_on_loop(s.loop, watch_child, &s);
    rt_pump_until(s.loop, &s.n_ended, 1);

    sigaction(SIGCHLD, NULL, &action);
    ck_assert(action.sa_handler == SIG_DFL);
    px_loop_destroy(s.loop);
}
WITH_AND_WITHOUT_PIDFD(sigchld_is_neither_needed_nor_touched)

static void test_a_forgotten_child_is_reaped_without_a_call(bool no_pidfd)
{
    struct scene s = begin(no_pidfd);
    int gate;

    s.pid = start_child(0, &gate);
    rt_on_loop(s.loop, watch_child, &s);
    rt_on_loop(s.loop, forget_child, &s);
    close(gate);
    while (!px_list_empty(&s.loop->children))
        px_loop_pump(s.loop);

    ck_assert_int_eq(s.n_ended, 0);
    ck_assert(is_reaped(s.pid));
    px_loop_destroy(s.loop);
}
WITH_AND_WITHOUT_PIDFD(a_forgotten_child_is_reaped_without_a_call)

static void test_a_stolen_exit_status_is_not_taken_for_success(bool no_pidfd)
{
    struct scene s = begin(no_pidfd);
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
WITH_AND_WITHOUT_PIDFD(a_stolen_exit_status_is_not_taken_for_success)

static void on_end_start_next(void *arg, pid_t pid, int status)
{
    struct scene *s = arg;

    on_end(arg, pid, status);
    if (s->n_ended < 3) {
        s->pid = start_dead_child(s->n_ended);
        ok(px_child_watch(s->loop, s->pid, on_end_start_next, s));
    }
}

static void watch_series(void *arg)
{
    struct scene *s = arg;

    s->loop->no_pidfd = s->no_pidfd;
    s->pid = start_dead_child(0);
    ok(px_child_watch(s->loop, s->pid, on_end_start_next, s));
}

static void test_the_next_child_may_be_watched_in_the_callback(bool no_pidfd)
{
    struct scene s = begin(no_pidfd);

    rt_on_loop(s.loop, watch_series, &s);
    rt_pump_until(s.loop, &s.n_ended, 3);

    ck_assert_int_eq(WEXITSTATUS(s.status), 2);
    px_loop_destroy(s.loop);
}
WITH_AND_WITHOUT_PIDFD(the_next_child_may_be_watched_in_the_callback)

static void test_a_loop_may_end_before_its_children(bool no_pidfd)
{
    struct scene alive = begin(no_pidfd);
    struct scene dead = {.loop = alive.loop, .no_pidfd = no_pidfd};
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
WITH_AND_WITHOUT_PIDFD(a_loop_may_end_before_its_children)

PX_TEST(only_a_child_of_this_process_can_be_watched)
{
    struct scene s = begin(false);
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
    struct scene s = begin(false);
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

PX_TEST_MAIN("rt/child", NULL, NULL)
