/* SPDX-License-Identifier: BSD-3-Clause */
/* pfexec/posix: processes by fork and exec. The child reports through a pipe that exec
 * closes: end of file means that the program runs, anything else says what went
 * wrong. */
#include "tenon/pfexec.h"

#include "core/base/attr.h"
#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/base/list.h"
#include "core/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum {
    PRIORITY = 10,     /* anything that uses more than POSIX goes first */
    KILL_MS = 1000,    /* how long a killed child may take to go */
    KILL_NAP_US = 500, /* between looking whether it has */
};

struct conf {
    uint64_t start_timeout;
};

struct posix {
    const struct px_services *services;
    struct conf conf;
    struct px_list children;
};

/* Runs, or has ended and waits for the loop to reap it. */
struct child {
    struct px_list link;
    pid_t pid;
    px_child_fn on_exit; /* NULL: its end is not reported */
    void *arg;
};

static const struct px_param params[] = {
    PX_PARAM_DURATION(struct conf, start_timeout, "10s", 10, 3600000,
                      "How long a program may take to start, for instance from a file "
                      "system that does not answer"),
    PX_PARAM_END,
};

/* ---- life ----------------------------------------------------------------------- */

static pmix_status_t pfexec_open(const struct px_services *services, const void *conf,
                                 void **self)
{
    struct posix *p = malloc(sizeof(*p));
    if (!p)
        return PMIX_ERR_NOMEM;

    *p = (struct posix){.services = services, .conf = *(const struct conf *)conf};
    px_list_init(&p->children);
    *self = p;
    return PMIX_SUCCESS;
}

static pmix_status_t pfexec_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

/* The child and the rest of its group. No other process or group has its pid until it
 * is reaped. Both calls, as it may have left its group, or not made it yet. */
static void kill_now(pid_t pid)
{
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
}

static void pfexec_close(void *self)
{
    struct posix *p = self;

    if (!p)
        return;
    PX_LIST_EACH (&p->children, struct child, c, link) {
        kill_now(c->pid);
        p->services->child_forget(p->services, c->pid); /* it is reaped all the same */
        free(c);
    }
    free(p);
}

/* ---- children ------------------------------------------------------------------- */

static struct child *find(struct posix *p, pid_t pid)
{
    PX_LIST_EACH (&p->children, struct child, c, link) {
        if (c->pid == pid)
            return c;
    }
    return NULL;
}

static void on_end(void *arg, pid_t pid, int wait_status)
{
    struct child *c = arg;
    const struct child was = *c;

    px_list_remove(&c->link);
    free(c);
    if (was.on_exit)
        was.on_exit(was.arg, pid, wait_status);
}

static void on_end_of_discarded(void *arg PX_UNUSED, pid_t pid PX_UNUSED,
                                int wait_status PX_UNUSED)
{
}

/* True once there is nothing left to wait for. */
static bool reap_within(pid_t pid, uint64_t ms)
{
    const uint64_t deadline_ms = px_clock_ms() + ms;
    const struct timespec nap = {.tv_nsec = KILL_NAP_US * 1000L};

    for (;;) {
        pid_t r = waitpid(pid, NULL, WNOHANG);

        if (r == pid || (r < 0 && errno != EINTR))
            return true;
        if (px_clock_ms() >= deadline_ms)
            return false;
        nanosleep(&nap, NULL);
    }
}

/* Ends a child that is of no use. One that hangs in a dead file system cannot be killed
 * now; the loop must not hang with it. */
static void discard(const struct posix *p, pid_t pid)
{
    const struct px_services *services = p->services;

    kill_now(pid);
    if (!reap_within(pid, KILL_MS) &&
        services->child(services, pid, on_end_of_discarded, NULL))
        services->log(services, PX_LOG_WARN,
                      "cannot watch process %ld, which does not die", (long)pid);
}

/* ---- the child between fork and exec: allocates, locks and formats nothing ------- */

enum {
    N_STREAMS = 3, /* 0, 1 and 2 */
    REPORT = N_STREAMS,
    EXIT_NOT_RUN =
        127, /* as in the shell; the parent reads the reason from the report */
};

enum step { STEP_GROUP, STEP_BOND, STEP_DIRECTORY, STEP_STREAMS, STEP_EXEC };

/* Sent through the report pipe if a step fails; nothing is if all succeed. Less than
 * PIPE_BUF, so whole or not at all. */
struct failure {
    enum step step;
    int errnum;
};

struct plan {
    const struct px_pfexec_spec *spec;
    pid_t parent;
    int null_fd; /* stands in for fds of -1 */
    int report;  /* write end, close-on-exec */
    int gate[2]; /* the program runs once a byte has come through; -1: at once */
};

static PX_NORETURN void fail(int report, enum step step)
{
    const struct failure failure = {.step = step, .errnum = errno};

    (void)!PX_RETRY(write(report, &failure, sizeof(failure)));
    _exit(EXIT_NOT_RUN);
}

/* Out of the way of the three that are going to be replaced. */
static int lift(int fd)
{
    return fd >= N_STREAMS ? fd : fcntl(fd, F_DUPFD_CLOEXEC, N_STREAMS);
}

/* All are lifted before the first is placed: one may stand where another has to go, and
 * dup2 onto itself would leave close-on-exec set. */
static bool set_streams(const struct plan *plan)
{
    int from[N_STREAMS];

    for (int i = 0; i < N_STREAMS; i++) {
        int fd = plan->spec->fds[i];

        from[i] = lift(fd < 0 ? plan->null_fd : fd);
        if (from[i] < 0)
            return false;
    }
    for (int i = 0; i < N_STREAMS; i++)
        if (dup2(from[i], i) < 0)
            return false;
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

/* In the new process, all signals blocked: becomes the program or reports and exits.
 * Calls nothing that is not async-signal-safe, as other threads of the parent may have
 * held any lock when it forked. */
static PX_NORETURN void run_child(const struct plan *plan)
{
    static char *const no_env[] = {NULL};
    const struct px_pfexec_spec *spec = plan->spec;
    int report = plan->report;
    char go;

    if (setpgid(0, 0) < 0)
        fail(report, STEP_GROUP);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        fail(report, STEP_BOND);
    /* If the parent died before that, another process is the parent by now. */
    if (getppid() != plan->parent)
        _exit(EXIT_NOT_RUN);
    if (plan->gate[0] >= 0) {
        close(plan->gate[1]);
        /* End of file instead: the parent, which should know of us, is gone. */
        if (PX_RETRY(read(plan->gate[0], &go, 1)) != 1)
            _exit(EXIT_NOT_RUN);
    }
    if (spec->cwd && chdir(spec->cwd) < 0)
        fail(report, STEP_DIRECTORY);
    int lifted = lift(report);
    if (lifted < 0)
        fail(report, STEP_STREAMS);
    report = lifted;
    if (!set_streams(plan))
        fail(report, STEP_STREAMS);
    if (report != REPORT && dup3(report, REPORT, O_CLOEXEC) < 0)
        fail(report, STEP_STREAMS);
    px_fd_close_from(REPORT + 1);
    reset_signals();
    execve(spec->program, spec->argv, spec->env ? spec->env : no_env);
    fail(REPORT, STEP_EXEC);
}

/* ---- starting ------------------------------------------------------------------- */

/* Cut, so that a long name does not push the reason out of the text. */
#define NAME "%.300s"

static pmix_status_t describe(const struct px_pfexec_spec *spec,
                              const struct failure *failure, struct px_err *err)
{
    static const char *const texts[] = {
        [STEP_GROUP] = "cannot give " NAME " a process group",
        [STEP_BOND] = "cannot make " NAME " end with its parent",
        [STEP_DIRECTORY] = "cannot enter directory " NAME,
        [STEP_STREAMS] = "cannot give " NAME " its standard streams",
        [STEP_EXEC] = "cannot run " NAME,
    };
    struct stat st;

    if (failure->step == STEP_EXEC && failure->errnum == ENOENT &&
        spec->program[0] == '/' && stat(spec->program, &st) == 0)
        return px_err_set(err, PMIX_ERR_NOT_FOUND,
                          "cannot run " NAME ": its interpreter does not exist",
                          spec->program);
    errno = failure->errnum;
    return px_err_errno(err, texts[failure->step],
                        failure->step == STEP_DIRECTORY ? spec->cwd : spec->program);
}

/* Forks with all signals blocked, so that no handler of the parent runs in the
 * child. */
static pid_t fork_child(const struct plan *plan)
{
    sigset_t all;
    sigset_t was;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    pid_t pid = fork();
    if (pid == 0)
        run_child(plan);
    int errnum = errno;
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    errno = errnum;
    return pid;
}

/* Forks; the child reports a failure through *report. */
static pmix_status_t launch(const struct px_pfexec_spec *spec, pid_t *pid, int *report,
                            struct px_err *err)
{
    bool needs_null = spec->fds[0] < 0 || spec->fds[1] < 0 || spec->fds[2] < 0;
    PX_AUTOCLOSE int null_fd = needs_null ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
    int ends[2], gate[2] = {-1, -1};

    if (needs_null && null_fd < 0)
        return px_err_errno(err, "cannot open /dev/null");
    if (pipe2(ends, O_CLOEXEC) < 0)
        return px_err_errno(err, "cannot make a pipe");
    PX_AUTOCLOSE int read_end = ends[0];
    PX_AUTOCLOSE int write_end = ends[1];
    if (spec->forked && pipe2(gate, O_CLOEXEC) < 0)
        return px_err_errno(err, "cannot make a pipe");
    PX_AUTOCLOSE int gate_out = gate[0];
    PX_AUTOCLOSE int gate_in = gate[1];
    const struct plan plan = {.spec = spec,
                              .parent = getpid(),
                              .null_fd = null_fd,
                              .report = write_end,
                              .gate = {gate_out, gate_in}};
    *pid = fork_child(&plan);
    if (*pid < 0)
        return px_err_errno(err, "cannot fork");
    if (spec->forked) {
        spec->forked(spec->arg, *pid);
        /* If the child is gone already, its report says so. */
        (void)px_fd_write(gate_in, "", 1);
    }
    *report = px_take_fd(&read_end);
    return PMIX_SUCCESS; /* closes our write end: the child's is the last */
}

/* PMIX_SUCCESS once the program runs. A child that was killed before it ran looks the
 * same from here, and is reported as ended soon after. */
static pmix_status_t await_exec(const struct posix *p,
                                const struct px_pfexec_spec *spec, int report,
                                struct px_err *err)
{
    const uint64_t timeout_ms = p->conf.start_timeout;
    struct failure failure;
    pmix_status_t rc = px_fd_read_all(report, &failure, sizeof(failure),
                                      px_clock_ms() + timeout_ms);

    if (rc == PMIX_SUCCESS)
        return describe(spec, &failure, err);
    if (rc == PMIX_ERR_UNREACH)
        return PMIX_SUCCESS;
    if (rc == PMIX_ERR_TIMEOUT)
        return px_err_set(err, rc, "cannot run " NAME ": not started within %llu ms",
                          spec->program, (unsigned long long)timeout_ms);
    return px_err_set(err, rc, "cannot run " NAME ": no report from the child",
                      spec->program);
}

static pmix_status_t start(struct posix *p, const struct px_pfexec_spec *spec,
                           pid_t *pid, struct px_err *err)
{
    PX_AUTOCLOSE int report = -1;
    /* First, as nothing that can fail should come after a program has begun to run. */
    PX_AUTOFREE struct child *c = calloc(1, sizeof(*c));
    if (!c)
        return px_err_set(err, PMIX_ERR_NOMEM, "cannot run " NAME ": out of memory",
                          spec->program);

    pmix_status_t rc = launch(spec, &c->pid, &report, err);
    if (rc)
        return px_err_prefix(err, "cannot run " NAME, spec->program);
    rc = await_exec(p, spec, report, err);
    if (!rc) {
        rc = p->services->child(p->services, c->pid, on_end, c);
        if (rc)
            px_err_set(err, rc, "cannot watch " NAME ": out of memory", spec->program);
    }
    if (rc) {
        discard(p, c->pid);
        return rc;
    }
    c->on_exit = spec->on_exit;
    c->arg = spec->arg;
    *pid = c->pid;
    px_list_append(&p->children, &px_take(&c)->link);
    return PMIX_SUCCESS;
}

/* ---- operations ----------------------------------------------------------------- */

static pmix_status_t pfexec_spawn(void *self, const struct px_pfexec_spec *spec,
                                  pid_t *pid, char *why, size_t why_size)
{
    struct px_err err = {.text = "a program and its arguments are needed"};
    pmix_status_t rc = PMIX_ERR_BAD_PARAM;

    if (spec->program && spec->argv)
        rc = start(self, spec, pid, &err);
    if (rc == PMIX_ERR_WOULD_BLOCK) /* EAGAIN: this user may not have more processes */
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    if (rc && why)
        px_str_copy(why, why_size, err.text);
    return rc;
}

static pmix_status_t pfexec_signal(void *self, pid_t pid, int signum)
{
    if (!find(self, pid))
        return PMIX_ERR_NOT_FOUND;
    int r = kill(-pid, signum);
    if (getpgid(pid) != pid) /* it left the group; in it, it would get two */
        r = kill(pid, signum);
    return r < 0 ? px_status_of_errno(errno) : PMIX_SUCCESS;
}

/* Stays in the list: it can still be signalled, and is reaped. */
static void pfexec_forget(void *self, pid_t pid)
{
    struct child *c = find(self, pid);

    if (c)
        c->on_exit = NULL;
}

static const struct px_pfexec_ops ops = {
    .spawn = pfexec_spawn,
    .signal = pfexec_signal,
    .forget = pfexec_forget,
};

PX_COMPONENT(pfexec, posix) = {
    PX_COMPONENT_HEAD(pfexec, PFEXEC, posix),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf),
    .open = pfexec_open,
    .query = pfexec_query,
    .close = pfexec_close,
    .ops = &ops,
};
