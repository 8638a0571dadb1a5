/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/plugin/errand.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/reclaim/process.h"
#include "core/rt/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

bool px_errand_read(struct px_errand *e)
{
    char bytes[65536];
    ssize_t n;

    if (!e->watch) /* nothing left to read */
        return true;
    while ((n = PX_RETRY(read(e->fd, bytes, sizeof(bytes)))) > 0)
        if (e->answer.len > e->max_b || px_buf_add(&e->answer, bytes, (size_t)n))
            return false;
    if (n == 0)
        px_watch_free(px_take(&e->watch));
    return true;
}

/* Ends the child and the watches. The answer stays. */
static void end_child(struct px_errand *e)
{
    px_watch_free(px_take(&e->watch)); /* before its descriptor is closed */
    px_timer_free(px_take(&e->timer));
    if (e->is_open)
        px_drop_fd(&e->fd);
    e->is_open = false;
    if (e->pid > 0) {
        kill(-e->pid, SIGKILL); /* and its child processes */
        kill(e->pid, SIGKILL);
        px_child_forget(e->loop, e->pid);
    }
    e->pid = 0;
}

static void finish(struct px_errand *e, enum px_errand_end how, int wait_status)
{
    end_child(e);
    e->done(e, how, wait_status);
}

static void on_bytes(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    struct px_errand *e = arg;

    if (!px_errand_read(e))
        finish(e, PX_ERRAND_EXCESS, -1);
}

static void on_end(void *arg, pid_t pid PX_UNUSED, int wait_status)
{
    struct px_errand *e = arg;
    bool complete = px_errand_read(e);

    e->pid = 0;
    finish(e, complete ? PX_ERRAND_ENDED : PX_ERRAND_EXCESS, wait_status);
}

static void on_deadline(void *arg)
{
    struct px_errand *e = arg;

    finish(e, px_errand_read(e) ? PX_ERRAND_LATE : PX_ERRAND_EXCESS, -1);
}

/* Makes the watches, without which the child would be waited for in vain. */
static pmix_status_t watch(struct px_errand *e, uint64_t limit_ms)
{
    e->watch = px_watch_create(e->loop, e->fd, PX_READABLE, on_bytes, e);
    e->timer = limit_ms ? px_timer_create(e->loop, on_deadline, e) : NULL;
    if (!e->watch || (limit_ms && !e->timer))
        return PMIX_ERR_NOMEM;
    if (limit_ms)
        px_timer_set(e->timer, limit_ms);
    return PMIX_SUCCESS;
}

pid_t px_errand_start(struct px_errand *e, const char *name, uint64_t limit_ms,
                      int *out, struct px_err *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0) {
        px_err_errno(err, "cannot make a pipe");
        return -1;
    }
    PX_AUTOCLOSE int near_end = ends[0], far_end = ends[1];
    if (px_fd_nonblock(near_end)) {
        px_err_errno(err, "cannot change a pipe");
        return -1;
    }
    e->pid = px_reclaim_fork_component(name, far_end);
    if (e->pid == 0) {
        *out = px_take_fd(&far_end);
        return 0;
    }
    if (e->pid < 0) {
        e->pid = 0;
        px_err_errno(err, "cannot fork");
        return -1;
    }
    e->fd = px_take_fd(&near_end);
    e->is_open = true;
    if (watch(e, limit_ms) || px_child_watch(e->loop, e->pid, on_end, e)) {
        px_err_nomem(err, "watch a process");
        px_errand_stop(e);
        return -1;
    }
    return e->pid;
}

bool px_errand_wait(struct px_errand *e, uint64_t deadline_ms)
{
    struct pollfd readable = {.fd = e->fd, .events = POLLIN};

    while (px_errand_read(e) && e->watch) {
        const uint64_t now = px_clock_ms();

        if (now >= deadline_ms)
            return false;
        (void)poll(&readable, 1, (int)(deadline_ms - now));
    }
    return true;
}

void px_errand_stop(struct px_errand *e)
{
    end_child(e);
    px_buf_cleanup(&e->answer);
}

/* Reads a whole answer. */
static pmix_status_t read_all(int fd, uint64_t deadline_ms, size_t max_b,
                              px_buf *answer)
{
    char bytes[4096];

    for (;;) {
        pmix_status_t rc = px_fd_await(fd, POLLIN, deadline_ms);
        const ssize_t n = rc ? 0 : PX_RETRY(read(fd, bytes, sizeof(bytes)));

        if (n <= 0)
            return n < 0 ? px_status_of_errno(errno) : rc;
        if (answer->len + (size_t)n > max_b)
            return PMIX_ERR_OUT_OF_RESOURCE;
        rc = px_buf_add(answer, bytes, (size_t)n);
        if (rc)
            return rc;
    }
}

pmix_status_t px_errand_run(const char *name, void (*run)(void *arg, int out),
                            void *arg, uint64_t timeout_ms, size_t max_b,
                            px_buf *answer)
{
    const uint64_t deadline_ms = px_clock_ms() + timeout_ms;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return PMIX_ERR_OUT_OF_RESOURCE;
    PX_AUTOCLOSE int near_end = ends[0], far_end = ends[1];
    const pid_t pid = px_reclaim_fork_component(name, far_end);

    if (pid == 0) {
        run(arg, far_end);
        _exit(EXIT_SUCCESS);
    }
    px_drop_fd(&far_end); /* the end of the child ends the answer */
    if (pid < 0)
        return PMIX_ERR_OUT_OF_RESOURCE;
    pmix_status_t rc = read_all(near_end, deadline_ms, max_b, answer);
    kill(-pid, SIGKILL); /* its child processes */
    px_reclaim_end(pid);
    return rc;
}
