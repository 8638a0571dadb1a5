/* SPDX-License-Identifier: BSD-3-Clause */
/* Making a process that the host does not meet, and making it a user who cannot come
 * back. The ids are set by system calls: the C library would first ask the threads of
 * the process that has been copied, which are not here, and take locks that nobody here
 * will ever let go of. */
#include "core/reclaim/reclaim.h"

#include "core/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { N_STREAMS = 3, EXIT_NOT_THE_USER = 126 };

/* 32-bit systems have had calls for ids of 16 bits. */
#ifdef SYS_setresuid32
enum {
    NR_SETGROUPS = SYS_setgroups32,
    NR_SETRESGID = SYS_setresgid32,
    NR_SETRESUID = SYS_setresuid32,
    NR_SETUID = SYS_setuid32,
};
#else
enum {
    NR_SETGROUPS = SYS_setgroups,
    NR_SETRESGID = SYS_setresgid,
    NR_SETRESUID = SYS_setresuid,
    NR_SETUID = SYS_setuid,
};
#endif

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

/* ---- leaving the host
 * ------------------------------------------------------------- */

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

/* ---- becoming the user
 * ------------------------------------------------------------ */

static void must(bool good)
{
    if (!good)
        _exit(EXIT_NOT_THE_USER);
}

static bool is_user(uid_t uid)
{
    uid_t real, effective, saved;

    return getresuid(&real, &effective, &saved) == 0 && real == uid &&
           effective == uid && saved == uid;
}

static bool is_group(gid_t gid)
{
    gid_t real, effective, saved;

    return getresgid(&real, &effective, &saved) == 0 && real == gid &&
           effective == gid && saved == gid;
}

static bool has_only_group(gid_t gid)
{
    gid_t groups[2];

    return getgroups(PX_COUNT(groups), groups) == 1 && groups[0] == gid;
}

/* They go with root's uid, but not if the host has asked the kernel to keep them. */
static void drop_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}},
                                  left[PX_COUNT(none)];

    memset(left, 0xff, sizeof(left)); /* until the kernel says what there is */
    must(syscall(SYS_capset, &head, none) == 0);
    must(syscall(SYS_capget, &head, left) == 0);
    for (size_t i = 0; i < PX_COUNT(left); i++)
        must(!left[i].effective && !left[i].permitted && !left[i].inheritable);
}

void px_drop_privileges(uid_t uid, gid_t gid)
{
    const uid_t same_uid = (uid_t)-1;
    const gid_t same_gid = (gid_t)-1;

    must(uid != same_uid && gid != same_gid);
    if (!is_user(uid) || (uid == 0 && !is_group(gid))) {
        must(syscall(NR_SETGROUPS, 1L, &gid) == 0);
        must(syscall(NR_SETRESGID, gid, gid, gid) == 0);
        must(syscall(NR_SETRESUID, uid, uid, uid) == 0);
        must(is_user(uid) && is_group(gid) && has_only_group(gid));
    }
    if (uid != 0) {
        drop_capabilities();
        must(syscall(NR_SETUID, 0L) < 0);
        must(syscall(NR_SETRESUID, same_uid, 0L, same_uid) < 0);
        must(is_user(uid));
    }
    must(prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) == 0);
    /* our memory is still that of the server: not for this user's debugger */
    must(prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L) == 0);
}
