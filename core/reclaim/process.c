/* SPDX-License-Identifier: BSD-3-Clause */
/* Making a process that the host does not meet; and ending those that should have ended
 * with their server, and no others. A pid says nothing alone: it may be another's by
 * now. With its start time it is one process, for as long as a descriptor of it is
 * open; where there are none, we look twice and are quick. */
#include "core/reclaim/process.h"

#include "core/base/attr.h"
#include "core/base/fd.h"
#include "core/base/proc.h"
#include "core/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { N_STREAMS = 3 };

/* No exit signal: neither SIGCHLD, nor a wait for whatever ends. Without flags, the
 * arguments of clone, whose order differs between machines, are all zero. */
static pid_t clone_quietly(void)
{
#ifdef SYS_clone3
    struct clone_args args = {.exit_signal = 0};
    long pid = syscall(SYS_clone3, &args, sizeof(args));

    if (pid >= 0 || (errno != ENOSYS && errno != EPERM && errno != EINVAL))
        return (pid_t)pid;
#endif
    return (pid_t)syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
}

pid_t px_reclaim_fork(void)
{
    sigset_t all, was;

    /* the host's handlers are not for a process that it does not know of */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &was);
    pid_t pid = clone_quietly();
    if (pid != 0) {
        int errnum = errno;

        sigprocmask(SIG_SETMASK, &was, NULL);
        errno = errnum;
    }
    return pid;
}

/* ---- leaving the host ----------------------------------------------------------- */

static void default_signals(void)
{
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (int signum = 1; signum < NSIG; signum++)
        sigaction(signum, &by_default, NULL);
}

static bool is_kept(int fd, const int *keep, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (keep[i] == fd)
            return true;
    }
    return false;
}

static void close_others(const int *keep, size_t n)
{
    int from = N_STREAMS;

    for (size_t i = 0; i < n; i++) {
        if (keep[i] < from)
            continue;
        px_fd_close_range(from, keep[i] - 1);
        from = keep[i] + 1;
    }
    px_fd_close_from(from);
}

/* Whoever holds the host's streams keeps its readers waiting for their end; and an
 * empty place below 3 would be taken by what is opened next. */
static void null_streams(const int *keep, size_t n)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0) /* nothing can be read from or written to this one, either */
        null = open("/", O_PATH | O_CLOEXEC);
    for (int fd = 0; fd < N_STREAMS; fd++) {
        if (!is_kept(fd, keep, n) && (null < 0 || (fd != null && dup2(null, fd) < 0)))
            close(fd);
    }
    if (null >= N_STREAMS)
        close(null);
}

void px_reclaim_detach(const char *name, const int *keep, size_t n)
{
    default_signals();
    setsid();
    if (chdir("/") < 0) {
        /* then a folder is held that may go away: a nuisance, no danger */
    }
    umask(077);
    close_others(keep, n);
    null_streams(keep, n);
    prctl(PR_SET_NAME, name);
    prctl(PR_SET_PDEATHSIG, 0);
    prctl(PR_SET_DUMPABLE, 0);
}

/* ---- ending others
 * ---------------------------------------------------------------- */

/* Over all processes, as long as something new is found (what is killed may have forked
 * just before), or something could not be read. */
enum { MAX_PASSES = 16 };

static bool is_still(int64_t pid, uint64_t start)
{
    struct px_proc_stat st;

    return px_proc_stat(pid, &st) && st.start == start;
}

int px_reclaim_pidfd_open(int64_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

int px_reclaim_pidfd(int64_t pid, uint64_t start)
{
    PX_AUTOCLOSE int fd = px_reclaim_pidfd_open(pid);

    return fd >= 0 && !px_proc_ended(pid, start) ? px_take_fd(&fd) : -1;
}

static bool send_kill(int pidfd)
{
#ifdef SYS_pidfd_send_signal
    return pidfd >= 0 && syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0;
#else
    (void)pidfd;
    return false;
#endif
}

/* with_group: it leads one. Its number is taken as long as it or one of the group is
 * there. */
static void kill_process(int64_t pid, uint64_t start, bool with_group)
{
    PX_AUTOCLOSE int pidfd = px_reclaim_pidfd_open(pid);

    if (!is_still(pid, start))
        return;
    if (with_group && pid != getpgrp())
        kill(-(pid_t)pid, SIGKILL);
    if (!send_kill(pidfd) && is_still(pid, start))
        kill((pid_t)pid, SIGKILL);
}

/* ---- a group without its leader ------------------------------------------------- */

struct orphans {
    const struct px_journal_record *leader;
    bool again; /* somebody was killed in this pass, or could not be looked at */
};

static bool is_of_user(int64_t pid, uid_t uid)
{
    char path[64];
    struct stat st;

    return px_proc_path(pid, "", path, sizeof(path)) && stat(path, &st) == 0 &&
           st.st_uid == uid;
}

static bool kill_orphan(void *arg, const char *name)
{
    struct orphans *orphans = arg;
    const struct px_journal_record *leader = orphans->leader;
    struct px_proc_stat st;
    int64_t pid;

    if (!px_str_to_i64(name, 2, INT32_MAX, &pid) || pid == getpid())
        return true;
    if (!px_proc_stat(pid, &st)) {
        orphans->again |= getpgid((pid_t)pid) == (pid_t)leader->x;
        return true;
    }
    if (px_proc_stat_ended(&st) || st.pgrp != (int64_t)leader->x ||
        st.start < leader->y || !is_of_user(pid, leader->uid))
        return true;
    kill_process(pid, st.start, false);
    orphans->again = true;
    return true;
}

/* The number of a group is not given to a process while the group has members. So those
 * there are the leader's, unless all of it had ended, and another one with that number
 * has led a group, and has left it behind, too: of the same user, then. */
static void kill_orphans(const struct px_journal_record *leader)
{
    pid_t group = (pid_t)leader->x;

    if (group == getpgrp() || (kill(-group, 0) < 0 && errno == ESRCH))
        return; /* ours, or nobody is left */
    for (int pass = 0; pass < MAX_PASSES; pass++) {
        struct orphans orphans = {.leader = leader};
        PX_AUTOCLOSE int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (proc < 0 || px_fd_each_name(proc, kill_orphan, &orphans))
            orphans.again = true; /* for want of a descriptor, perhaps */
        if (!orphans.again)
            return;
    }
}

void px_reclaim_kill(const struct px_journal_record *r)
{
    int64_t pid = (int64_t)r->x;
    struct px_proc_stat st;

    if (r->type != PX_JOURNAL_PROC || !(r->flags & PX_JOURNAL_END) || !r->y ||
        pid <= 1 || pid == getpid())
        return;
    if (px_proc_stat(pid, &st)) {
        if (st.start == r->y)
            kill_process(pid, st.start, st.pgrp == pid);
    } else if (kill((pid_t)pid, 0) < 0 && errno == ESRCH) {
        kill_orphans(r);
    }
}
