/* SPDX-License-Identifier: BSD-3-Clause */
#include "components/pfexec/child.h"

#include "core/base/fd.h"
#include "core/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

enum {
    N_STREAMS = 3, /* 0, 1 and 2 */
    BUSY_MS = 200,
    BUSY_NAP_MS = 2,
    SYSTEM = PMIX_ERR_JOB_SYS_OP_FAILED,
    EXIT_NOT_RUN = 127, /* like the shell's; the parent reads the reason from the
                         * line */
};

/* ---- steps: false with errno after a failure ------------------------------------- */

static bool make_group(struct px_pfexec_plan *plan)
{
    return plan->spec->flags & PX_PFEXEC_SESSION ? setsid() > 0 : setpgid(0, 0) == 0;
}

/* Asks the kernel to kill this process with its parent. Exits if the parent has died
 * before. */
static bool bind_to_parent(struct px_pfexec_plan *plan)
{
    if (!px_os_end_with_parent(SIGKILL))
        return false;
    if (getppid() != plan->parent)
        _exit(EXIT_NOT_RUN);
    return true;
}

/* Waits for the byte by which the parent lets this process go on. End of file means
 * that the parent, which should watch this process, is gone. */
static bool await_go(struct px_pfexec_plan *plan)
{
    char go;

    close(plan->far_end);
    if (PX_RETRY(read(plan->line, &go, 1)) != 1)
        _exit(EXIT_NOT_RUN);
    return true;
}

static bool join_group(struct px_pfexec_plan *plan)
{
    return plan->members < 0 || write(plan->members, "0", 1) == 1 || plan->may_stay_out;
}

/* Duplicates a descriptor whose number the program or the line gets. */
static int lift(int fd, int n)
{
    return fd >= n ? fd : fcntl(fd, F_DUPFD_CLOEXEC, n);
}

/* Places the descriptors of the program, and the line behind them. All descriptors are
 * lifted first: a descriptor may have the number that another one needs, and dup2 onto
 * itself keeps close-on-exec. */
static bool place_streams(struct px_pfexec_plan *plan)
{
    const struct px_pfexec_spec *spec = plan->spec;
    const int n = spec->more ? N_STREAMS + 1 : N_STREAMS;
    int from[N_STREAMS + 1];
    int line = lift(plan->line, n);

    if (line < 0)
        return false;
    plan->line = line;
    for (int i = 0; i < n; i++) {
        int fd = i < N_STREAMS ? spec->fds[i] : *spec->more;

        from[i] = lift(fd < 0 ? plan->null_fd : fd, n);
        if (from[i] < 0)
            return false;
    }
    for (int i = 0; i < n; i++)
        if (dup2(from[i], i) < 0)
            return false;
    if (line != n && dup3(line, n, O_CLOEXEC) < 0)
        return false;
    plan->line = n;
    px_fd_close_from(n + 1);
    return true;
}

/* Makes stdout the controlling terminal; stdin may be another file. */
static bool take_terminal(struct px_pfexec_plan *plan)
{
    return !(plan->spec->flags & PX_PFEXEC_TERMINAL) ||
           ioctl(STDOUT_FILENO, TIOCSCTTY, 0) == 0;
}

static bool bind_to_cpus(struct px_pfexec_plan *plan)
{
    const struct px_pfexec_spec *spec = plan->spec;

    return !spec->cpus || sched_setaffinity(0, spec->cpus_size, spec->cpus) == 0;
}

/* Sets limits. Only the program opens files by number after this step. */
static bool set_limits(struct px_pfexec_plan *plan)
{
    const struct px_pfexec_spec *spec = plan->spec;

    for (size_t i = 0; spec->limits && i < spec->n_limits; i++)
        if (setrlimit(spec->limits[i].resource, &spec->limits[i].limit) < 0 &&
            !spec->limits[i].optional)
            return false;
    return true;
}

static bool set_umask(struct px_pfexec_plan *plan)
{
    if (plan->spec->umask)
        umask(*plan->spec->umask);
    return true;
}

/* Changes the user. The change clears the parent-death signal, so the signal is set
 * again. */
static bool become_user(struct px_pfexec_plan *plan)
{
    const struct px_pfexec_user *u = plan->spec->user;

    return !u || (px_os_set_ids(u->uid, u->gid, u->groups, u->n_groups) &&
                  bind_to_parent(plan));
}

static bool enter_directory(struct px_pfexec_plan *plan)
{
    return !plan->spec->cwd || chdir(plan->spec->cwd) == 0;
}

/* Resets all signals. exec keeps ignored signals ignored, so they need a reset. The
 * kernel refuses some signals, which have no other disposition anyway. Unblocking comes
 * last: a pending signal then acts as the program expects. */
static bool reset_signals(struct px_pfexec_plan *plan PX_UNUSED)
{
    sigset_t none;

    px_os_reset_signals();
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL) == 0;
}

/* Lets the parent trace this process, so that exec stops. The parent detaches and
 * leaves the process stopped. This step comes last because signals stop a traced
 * process too. */
static bool stop_at_exec(struct px_pfexec_plan *plan)
{
    return !(plan->spec->flags & PX_PFEXEC_STOP_AT_EXEC) || px_os_trace_me();
}

/* Runs the program. A file that was just written may still be open for writing in a
 * process that was forked meanwhile. */
static bool exec_program(struct px_pfexec_plan *plan)
{
    static char *const no_env[] = {NULL};
    const struct px_pfexec_spec *spec = plan->spec;
    const struct timespec nap = {.tv_nsec = BUSY_NAP_MS * 1000000L};

    for (int ms = 0; ms <= BUSY_MS; ms += BUSY_NAP_MS) {
        execve(spec->program, spec->argv, spec->env ? spec->env : no_env);
        if (errno != ETXTBSY)
            return false;
        nanosleep(&nap, NULL);
        errno = ETXTBSY;
    }
    return false;
}

/* Steps in order. The directory is entered as the user, and with no descriptor open
 * that a dead file system could block. */
static const struct {
    bool (*run)(struct px_pfexec_plan *plan);
    const char *text; /* text about a failure */
    /* Status of a failure if errno does not concern the program. A missing directory is
     * named in the text. */
    pmix_status_t status;
} steps[] = {
    {make_group, "cannot give " PX_PFEXEC_NAME " a process group", SYSTEM},
    {bind_to_parent, "cannot make " PX_PFEXEC_NAME " end with its parent", SYSTEM},
    {await_go, "cannot wait with " PX_PFEXEC_NAME, SYSTEM},
    {join_group, "cannot put " PX_PFEXEC_NAME " into its control group", SYSTEM},
    {place_streams, "cannot give " PX_PFEXEC_NAME " its standard streams", 0},
    {take_terminal, "cannot give " PX_PFEXEC_NAME " a terminal", SYSTEM},
    {bind_to_cpus, "cannot bind " PX_PFEXEC_NAME " to its CPUs", SYSTEM},
    {set_limits, "cannot set limits of " PX_PFEXEC_NAME, SYSTEM},
    {set_umask, "cannot set the umask of " PX_PFEXEC_NAME, SYSTEM},
    {become_user, "cannot run " PX_PFEXEC_NAME " as another user", SYSTEM},
    {enter_directory, "cannot enter directory " PX_PFEXEC_NAME,
     PMIX_ERR_JOB_WDIR_NOT_FOUND},
    {reset_signals, "cannot give " PX_PFEXEC_NAME " default signals", SYSTEM},
    {stop_at_exec, "cannot stop " PX_PFEXEC_NAME " at exec", SYSTEM},
    {exec_program, "cannot run " PX_PFEXEC_NAME, 0},
};

/* Reasons for a failure of exec that can be found out. */
static const struct {
    const char *text;
    pmix_status_t status;
} reasons[] = {
    {"its interpreter does not exist", PMIX_ERR_NOT_FOUND},
    {"it is a directory", PMIX_ERR_NO_PERMISSIONS},
    {"it is not a regular file", PMIX_ERR_NO_PERMISSIONS},
    {"it is not executable", PMIX_ERR_NO_PERMISSIONS},
};

enum {
    N_STEPS = PX_COUNT(steps),
    EXEC = N_STEPS - 1,
    INTERPRETER = N_STEPS, /* from here on indexes of reasons */
    FOLDER,
    NO_FILE,
    NOT_EXECUTABLE,
};

/* Reads the interpreter's name from the "#!" line of a script; "" if there is none. */
static void read_interpreter(const char *program, char *name, size_t size)
{
    static const char mark[] = "#!", space[] = " \t";
    PX_AUTOCLOSE int fd = open(program, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : PX_RETRY(read(fd, name, size - 1));

    name[n > 0 ? n : 0] = '\0';
    if (strncmp(name, mark, sizeof(mark) - 1) == 0) {
        size_t begin = sizeof(mark) - 1;

        begin += strspn(name + begin, space);
        memmove(name, name + begin, strlen(name + begin) + 1);
        name[strcspn(name, " \t\n")] = '\0';
    } else {
        *name = '\0';
    }
}

/* Returns the failed step, or N_STEPS plus an index of reasons. */
static int explain(const char *program, int errnum)
{
    struct stat st;

    if ((errnum != ENOENT && errnum != EACCES) || stat(program, &st) < 0)
        return EXEC;
    if (errnum == ENOENT) /* the file exists, so its interpreter does not */
        return INTERPRETER;
    if (S_ISDIR(st.st_mode))
        return FOLDER;
    if (!S_ISREG(st.st_mode))
        return NO_FILE;
    return (st.st_mode & 0111) == 0 ? NOT_EXECUTABLE : EXEC;
}

PX_NORETURN void px_pfexec_run_child(const struct px_pfexec_plan *given)
{
    struct px_pfexec_plan plan = *given;
    struct px_pfexec_failure failure = {0};

    while (steps[failure.step].run(&plan))
        failure.step++;
    failure.errnum = errno;
    if (failure.step == EXEC)
        failure.step = explain(plan.spec->program, failure.errnum);
    if (failure.step == INTERPRETER)
        read_interpreter(plan.spec->program, failure.interpreter,
                         sizeof(failure.interpreter));
    (void)!PX_RETRY(send(plan.line, &failure, sizeof(failure), MSG_NOSIGNAL));
    _exit(EXIT_NOT_RUN);
}

pmix_status_t px_pfexec_describe(const struct px_pfexec_failure *failure,
                                 const char *program, const char *cwd,
                                 struct px_err *err)
{
    int step = failure->step;

    if (step == INTERPRETER && failure->interpreter[0])
        return px_err_set(
            err, reasons[0].status,
            "cannot run " PX_PFEXEC_NAME ": its interpreter %.*s does not exist",
            program, (int)sizeof(failure->interpreter) - 1, failure->interpreter);
    if (step >= N_STEPS && step - N_STEPS < (int)PX_COUNT(reasons))
        return px_err_set(err, reasons[step - N_STEPS].status,
                          "cannot run " PX_PFEXEC_NAME ": %s", program,
                          reasons[step - N_STEPS].text);
    if (step < 0 || step >= N_STEPS)
        return px_err_set(err, PMIX_ERROR, "cannot run " PX_PFEXEC_NAME, program);
    errno = failure->errnum;
    pmix_status_t given = steps[step].status;
    pmix_status_t rc = px_err_errno(
        err, steps[step].text, given == PMIX_ERR_JOB_WDIR_NOT_FOUND ? cwd : program);
    return given ? given : rc;
}
