/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials. The child writes a byte before each step and after the last one. The last
 * byte names the function that did not return. The bytes decide, because a host may
 * reap the child first. A known wait status adds the signal. */
#include "core/plugin/trial.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/os/os.h"
#include "core/reclaim/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { OVER = PX_TRIAL_CLOSE + 1, REAP_MS = 2000 };

static const char *const steps[OVER] = {
    [PX_TRIAL_LOAD] = "its constructors",
    [PX_TRIAL_OPEN] = "open",
    [PX_TRIAL_QUERY] = "query",
    [PX_TRIAL_CLOSE] = "close",
};

struct trial {
    pid_t pid;
    int fd;
    uint8_t step; /* last step that began; OVER: all steps are complete */
};

/* ---- the child ------------------------------------------------------------------- */

static void write_step(int fd, uint8_t step)
{
    if (px_fd_write_all(fd, &step, 1, 0))
        _exit(EXIT_FAILURE);
}

void px_trial_step(int fd, enum px_trial_step step)
{
    if (fd >= 0)
        write_step(fd, (uint8_t)step);
}

_Noreturn static void run_child(void (*fn)(void *arg, int fd), void *arg, int fd)
{
    fn(arg, fd);
    write_step(fd, OVER);
    _exit(EXIT_SUCCESS);
}

/* ---- the parent ------------------------------------------------------------------ */

/* Reads the available steps. Returns false if there will be no more. */
static bool read_steps(struct trial *t)
{
    uint8_t bytes[8];
    ssize_t n;

    while ((n = PX_RETRY(read(t->fd, bytes, sizeof(bytes)))) > 0)
        t->step = bytes[n - 1] < OVER ? bytes[n - 1] : OVER;
    return n < 0 && errno == EAGAIN && t->step != OVER;
}

/* Follows the child; returns false after the deadline. Also watches the child's pidfd,
 * where the kernel has one, because the component's own processes may keep the pipe
 * open. */
static bool follow(struct trial *t, uint64_t deadline_ms)
{
    PX_AUTOCLOSE int pidfd = px_os_pidfd_open(t->pid);
    struct pollfd fds[] = {{.fd = t->fd, .events = POLLIN},
                           {.fd = pidfd, .events = POLLIN}};

    while (read_steps(t) && !fds[1].revents) {
        const uint64_t now = px_clock_ms();

        if (now >= deadline_ms)
            return false;
        (void)poll(fds, 2, (int)(deadline_ms - now));
    }
    return true;
}

/* Kills the child's process group and returns the child's wait status, -1 if unknown.
 * The group's number stays the child's until this process or its host has reaped the
 * child. */
static int end(pid_t pid)
{
    siginfo_t info;
    int status = -1;

    if (PX_RETRY(waitid(P_PID, (id_t)pid, &info,
                        WEXITED | WNOHANG | WNOWAIT | PX_OS_WAIT_ALL)) == 0) {
        kill(-pid, SIGKILL); /* an ended child keeps its status */
        kill(pid, SIGKILL);
        (void)px_reclaim_reap_until(pid, px_clock_ms() + REAP_MS, &status);
    }
    return status;
}

bool px_trial_run(void (*fn)(void *arg, int fd), void *arg, uint64_t limit_ms,
                  char *how, size_t size)
{
    const uint64_t deadline_ms = px_clock_ms() + limit_ms;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return true;
    PX_AUTOCLOSE int near_end = ends[0], far_end = ends[1];
    if (px_fd_nonblock(near_end))
        return true;
    struct trial t = {.fd = near_end,
                      .pid = px_reclaim_fork_component("tenon-trial", far_end)};
    if (t.pid == 0)
        run_child(fn, arg, far_end);
    if (t.pid < 0)
        return true;
    px_drop_fd(&far_end);
    const bool in_time = follow(&t, deadline_ms);
    const int status = end(t.pid);
    if (t.step == OVER)
        return true;
    if (!in_time)
        snprintf(how, size,
                 "has not returned from %s within %g s (mca_base_component_probe)",
                 steps[t.step], (double)limit_ms / 1000);
    else if (status != -1 && WIFSIGNALED(status))
        snprintf(how, size, "crashed in %s (%s)", steps[t.step],
                 strsignal(WTERMSIG(status)));
    else if (status != -1 && WIFEXITED(status))
        snprintf(how, size, "ended its process in %s (status %d)", steps[t.step],
                 WEXITSTATUS(status));
    else
        snprintf(how, size, "ended its process in %s", steps[t.step]);
    return false;
}
