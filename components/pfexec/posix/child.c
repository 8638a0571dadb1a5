/* SPDX-License-Identifier: BSD-3-Clause */
/* The child between fork and exec: nothing here allocates, locks or formats. */
#include "child.h"

#include "core/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>

enum {
    N_STREAMS = 3, /* 0, 1 and 2 */
    REPORT = N_STREAMS,
    EXIT_NOT_RUN =
        127, /* as in the shell; the parent reads the reason from the report */
};

static PX_NORETURN void fail(int report, enum px_child_step step)
{
    const struct px_child_failure failure = {.step = step, .errnum = errno};
    ssize_t n;

    do {
        n = write(report, &failure, sizeof(failure));
    } while (n < 0 && errno == EINTR);
    _exit(EXIT_NOT_RUN);
}

/* If the parent died before prctl took effect, another process is the parent by now. */
static bool bind_to_parent(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return false;
    if (getppid() != parent)
        _exit(EXIT_NOT_RUN);
    return true;
}

/* End of file instead of a byte: the parent, which should know of us, is gone. */
static void pass_gate(const int gate[2])
{
    ssize_t n;
    char go;

    if (gate[0] < 0)
        return;
    close(gate[1]);
    do {
        n = read(gate[0], &go, 1);
    } while (n < 0 && errno == EINTR);
    if (n != 1)
        _exit(EXIT_NOT_RUN);
}

/* Out of the way of the three that are going to be replaced. */
static int lift(int fd)
{
    return fd >= N_STREAMS ? fd : fcntl(fd, F_DUPFD_CLOEXEC, N_STREAMS);
}

/* All are lifted before the first is placed: one may stand where another has to go, and
 * dup2 onto itself would leave close-on-exec set. */
static bool set_streams(const struct px_child_plan *plan)
{
    int from[N_STREAMS];

    for (int i = 0; i < N_STREAMS; i++) {
        int fd = plan->spec->fds[i];

        from[i] = lift(fd < 0 ? plan->null_fd : fd);
        if (from[i] < 0)
            return false;
    }
    for (int i = 0; i < N_STREAMS; i++) {
        if (dup2(from[i], i) < 0)
            return false;
    }
    return true;
}

/* Handlers would be reset by exec, but what the parent ignores stays ignored. The
 * kernel refuses some signals, which have no other disposition anyway. Unblocking comes
 * last: a signal sent meanwhile now acts as the program would have it. */
static void reset_signals(void)
{
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int signum = 1; signum < NSIG; signum++)
        sigaction(signum, &by_default, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

PX_NORETURN void px_child_run(const struct px_child_plan *plan)
{
    static char *const no_env[] = {NULL};
    const struct px_pfexec_spec *spec = plan->spec;
    int report = plan->report;

    if (setpgid(0, 0) < 0)
        fail(report, PX_CHILD_GROUP);
    if (!bind_to_parent(plan->parent))
        fail(report, PX_CHILD_BOND);
    pass_gate(plan->gate);
    if (spec->cwd && chdir(spec->cwd) < 0)
        fail(report, PX_CHILD_DIRECTORY);

    int lifted = lift(report);
    if (lifted < 0)
        fail(report, PX_CHILD_STREAMS);
    report = lifted;
    if (!set_streams(plan))
        fail(report, PX_CHILD_STREAMS);
    if (report != REPORT) {
        if (dup3(report, REPORT, O_CLOEXEC) < 0)
            fail(report, PX_CHILD_STREAMS);
        report = REPORT;
    }
    px_fd_close_from(REPORT + 1);

    reset_signals();
    execve(spec->program, spec->argv, spec->env ? spec->env : no_env);
    fail(report, PX_CHILD_EXEC);
}
