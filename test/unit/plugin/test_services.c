/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/plugin/services.h"
#include "core/rt/process.h"
#include "test/unit/rt/rt_test.h"

#include <sys/wait.h>

static struct px_services_impl impl;
static const struct px_services *const services = &impl.services;
static int n_ready, n_fired, n_ended;
static int pipe_fds[2];
static struct px_watch *watch;
static struct px_timer *timer;
static pid_t pid;

static void set_up(void)
{
    px_services_init(&impl, rt_loop(true), "ptl", "tcp");
    ck_assert_int_eq(pipe(pipe_fds), 0);
}

static void tear_down(void)
{
    px_loop_destroy(impl.loop);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

static void on_ready(void *arg PX_UNUSED, int fd PX_UNUSED, unsigned events)
{
    n_ready += events == PX_READABLE;
}

static void on_time(void *arg PX_UNUSED)
{
    n_fired++;
}

static void on_end(void *arg PX_UNUSED, pid_t ended, int status)
{
    n_ended += ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 4;
}

static void start_all(void *arg PX_UNUSED)
{
    watch = services->watch(services, pipe_fds[0], PX_READABLE, on_ready, NULL);
    timer = services->timer(services, on_time, NULL);
    services->timer_set(timer, 1);
    pid = fork();
    if (pid == 0)
        _exit(4);
    ok(services->child(services, pid, on_end, NULL));
}

static void stop_all(void *arg PX_UNUSED)
{
    services->watch_set(watch, 0);
    services->unwatch(watch);
    services->timer_clear(timer);
    services->timer_free(timer);
    services->child_forget(services, pid);
}

PX_TEST(the_services_are_those_of_the_loop)
{
    ck_assert_uint_eq(services->size, sizeof(struct px_services));
    ck_assert(!services->may_start_threads(services)); /* the test runs the loop */
    rt_on_loop(impl.loop, start_all, NULL);
    ck_assert_int_eq(write(pipe_fds[1], "x", 1), 1);
    rt_pump_until(impl.loop, &n_ready, 1);
    rt_pump_until(impl.loop, &n_fired, 1);
    rt_pump_until(impl.loop, &n_ended, 1);
    rt_on_loop(impl.loop, stop_all, NULL);
}

PX_TEST_MAIN("plugin/services", set_up, tear_down)
