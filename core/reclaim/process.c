/* SPDX-License-Identifier: BSD-3-Clause */
/* Making a process that the host does not meet; making it a user who cannot come back;
 * and ending those that should have ended with their server, and no others. A pid says
 * nothing alone: it may be another's by now. With its start time it is one process, for
 * as long as a descriptor of it is open. */
#include "core/reclaim/process.h"

#include "core/base/attr.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/proc.h"
#include "core/base/str.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Newer than the headers of some systems we are built on. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_send_signal 424
#define SYS_pidfd_open        434
#endif
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif

enum {
    N_STREAMS = 3,
    NAP_MS = 2,      /* between looks at what the kernel does not tell of */
    GRACE_MS = 2000, /* for one that was killed */
    ROUNDS_MS = 1000,
    ROUND_NAP_MS = 10,
    CLEAN_ROUNDS = 2,
    EXIT_NOT_CONFINED = 125,
    EXIT_NOT_THE_USER = 126,
};

pid_t px_reclaim_fork(void)
{
    sigset_t all, was;

    /* the host's handlers are not for a process that it does not know of */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &was);
    /* No exit signal: neither SIGCHLD, nor a wait for whatever ends. The order of the
     * arguments differs between machines: all are zero. */
    pid_t pid = (pid_t)syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
    if (pid != 0) {
        int errnum = errno;

        sigprocmask(SIG_SETMASK, &was, NULL);
        errno = errnum;
    }
    return pid;
}

/* ---- leaving the host ----------------------------------------------------------- */

void px_reclaim_detach(const char *name, const int *keep, size_t n)
{
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    bool keeps[N_STREAMS] = {false};
    int from = N_STREAMS;
    sigset_t all;

    prctl(PR_SET_NAME, name);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (int signum = 1; signum < NSIG; signum++)
        sigaction(signum, &by_default, NULL);
    setsid();
    if (chdir("/") < 0) {
        /* then a folder is held that may go away: a nuisance, no danger */
    }
    umask(077);
    for (size_t i = 0; i < n; i++) {
        if (keep[i] < N_STREAMS) {
            keeps[keep[i]] = true;
            continue;
        }
        px_fd_close_range(from, keep[i] - 1);
        from = keep[i] + 1;
    }
    px_fd_close_from(from);
    /* The host's streams, kept open, keep its readers waiting for their end; and an
     * empty place below 3 would be taken by what is opened next. */
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) /* nothing can be read from or written to this one, either */
        null = open("/", O_PATH | O_CLOEXEC);
    for (int fd = 0; fd < N_STREAMS; fd++) {
        if (!keeps[fd] && (null < 0 || (fd != null && dup2(null, fd) < 0)))
            close(fd);
    }
    if (null >= N_STREAMS)
        close(null);
    prctl(PR_SET_PDEATHSIG, 0);
    prctl(PR_SET_DUMPABLE, 0);
}

void px_reclaim_bind(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
        _exit(EXIT_FAILURE);
}

pid_t px_reclaim_fork_component(const char *name, int keep)
{
    const int keeps[] = {STDERR_FILENO, keep};
    const pid_t parent = getpid();
    sigset_t all, none, was;

    sigfillset(&all);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    const pid_t pid = fork();
    if (pid == 0) {
        px_reclaim_detach(name, keeps, PX_COUNT(keeps));
        px_reclaim_bind(parent);
        pthread_sigmask(SIG_SETMASK, &none, NULL);
        return 0;
    }
    const int errnum = errno;
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    errno = errnum;
    return pid;
}

/* ---- becoming a user ------------------------------------------------------------ */

/* The ids are set by system calls: the C library would first ask the threads of the
 * process that has been copied, which are not here, and take locks that are never let
 * go of here. 32-bit systems have had calls for ids of 16 bits. */
#ifdef SYS_setresuid32
#define NR_OF(call) SYS_##call##32
#else
#define NR_OF(call) SYS_##call
#endif

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
    gid_t groups[2];

    must(uid != same_uid && gid != same_gid);
    if (!is_user(uid) || (uid == 0 && !is_group(gid))) {
        must(syscall(NR_OF(setgroups), 1L, &gid) == 0);
        must(syscall(NR_OF(setresgid), gid, gid, gid) == 0);
        must(syscall(NR_OF(setresuid), uid, uid, uid) == 0);
        must(is_user(uid) && is_group(gid));
        must(getgroups(PX_COUNT(groups), groups) == 1 && groups[0] == gid);
    }
    if (uid != 0) {
        drop_capabilities();
        must(syscall(NR_OF(setuid), 0L) < 0);
        must(syscall(NR_OF(setresuid), same_uid, 0L, same_uid) < 0);
        must(is_user(uid));
    }
    must(prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) == 0);
    /* our memory is still that of the server: not for this user's debugger */
    must(prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L) == 0);
}

/* ---- only removing -------------------------------------------------------------- */

/* A second belt: where the kernel has Landlock, a process that walks may do nothing to
 * the file system but remove, and only beneath the folders its items stand in. Reading
 * is not restricted. It holds against a mistake of ours. */

/* All that changes or runs something but removal; but for truncation by path and
 * requests to devices: for their sake it would climb from each folder that is opened,
 * too. The last is known from version 2 on. */
static const uint64_t removal = LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                LANDLOCK_ACCESS_FS_REMOVE_FILE,
                      changes = LANDLOCK_ACCESS_FS_EXECUTE |
                                LANDLOCK_ACCESS_FS_WRITE_FILE |
                                LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                LANDLOCK_ACCESS_FS_MAKE_DIR |
                                LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_MAKE_SOCK |
                                LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                                LANDLOCK_ACCESS_FS_MAKE_SYM,
                      moves = LANDLOCK_ACCESS_FS_REFER;

/* Beneath the folder that path is in. */
static void allow_beside(int rules, struct px_rm_sys *sys, const char *path)
{
    char folder[PX_RM_MAX_PATH + 1];
    char *slash = px_str_copy(folder, sizeof(folder), path) ? strrchr(folder, '/')
                                                            : NULL;

    if (!slash)
        return;
    slash[slash == folder] = '\0';
    PX_AUTOCLOSE int fd = px_rm_open_way(sys, folder, geteuid());
    if (fd < 0) /* nor will the walker get there */
        return;
    struct landlock_path_beneath_attr rule = {.allowed_access = removal,
                                              .parent_fd = fd};
    if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
        _exit(EXIT_NOT_CONFINED);
}

bool px_reclaim_confine(const struct px_rm_item *items, size_t n)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
                       LANDLOCK_CREATE_RULESET_VERSION);
    struct px_rm_sys sys = {0};

    if (abi < 1) /* not known, switched off, or not for us */
        return false;
    struct landlock_ruleset_attr attr = {
        .handled_access_fs = changes | (abi >= 2 ? moves : 0) | (items ? removal : 0)};
    long rules = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    if (rules < 0)
        return false;
    for (size_t i = 0; items && i < n; i++) {
        if (items[i].kind != PX_RM_KEEP)
            allow_beside((int)rules, &sys, items[i].path);
    }
    bool confined = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    if (!confined && errno != E2BIG) /* the host has done so as often as may be */
        _exit(EXIT_NOT_CONFINED);
    close((int)rules);
    return confined;
}

/* ---- children ------------------------------------------------------------------- */

int px_reclaim_pidfd_open(int64_t pid)
{
    return (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
}

bool px_reclaim_reap(pid_t pid, int *status)
{
    *status = -1;
    return PX_RETRY(waitpid(pid, status, WNOHANG | __WALL)) != 0;
}

bool px_reclaim_reap_until(pid_t pid, uint64_t deadline_ms, int *status)
{
    PX_AUTOCLOSE int pidfd = px_reclaim_pidfd_open(pid);
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};

    while (!px_reclaim_reap(pid, status)) {
        uint64_t now = px_clock_ms(), left = deadline_ms ? deadline_ms - now : INT_MAX;

        if (deadline_ms && now >= deadline_ms)
            return false;
        if (left > (pidfd < 0 ? NAP_MS : INT_MAX))
            left = pidfd < 0 ? NAP_MS : INT_MAX;
        poll(&ended, 1, (int)left);
    }
    return true;
}

void px_reclaim_end(pid_t pid)
{
    int status;

    kill(pid, SIGKILL);
    (void)px_reclaim_reap_until(pid, px_clock_ms() + GRACE_MS, &status);
}

/* ---- ending others -------------------------------------------------------------- */

struct orphans {
    const struct px_journal_record *leader;
    bool found;
};

/* True to go on: it is not one that the leader has left. */
static bool is_other(void *arg, const char *name)
{
    struct orphans *orphans = arg;
    const struct px_journal_record *leader = orphans->leader;
    struct px_osproc_stat st;
    struct stat owner;
    char path[64];
    int64_t pid;

    orphans->found = px_str_to_i64(name, 2, INT32_MAX, &pid) &&
                     px_osproc_stat(pid, &st) && !px_osproc_stat_ended(&st) &&
                     st.pgrp == (int64_t)leader->x && st.start >= leader->y &&
                     px_osproc_path(pid, "", path, sizeof(path)) &&
                     stat(path, &owner) == 0 && owner.st_uid == leader->uid;
    return !orphans->found;
}

/* A group without its leader. Its number is not given to a process while it has
 * members. So those there are the leader's, unless all of it had ended, and another one
 * with that number has led a group, and has left it behind, too: of the same user,
 * then, and later. A signal to a group leaves out none that is being made. */
static void kill_orphans(const struct px_journal_record *leader)
{
    struct orphans orphans = {.leader = leader};
    pid_t group = (pid_t)leader->x;
    PX_AUTOCLOSE int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (proc >= 0 && group != getpgrp() && kill(-group, 0) == 0 &&
        !px_fd_each_name(proc, is_other, &orphans) && orphans.found)
        kill(-group, SIGKILL);
}

void px_reclaim_kill(const struct px_journal_record *r)
{
    int64_t pid = (int64_t)r->x;
    struct px_osproc_stat st;

    if (r->type != PX_JOURNAL_PROC || !(r->flags & PX_JOURNAL_END) || !r->y ||
        pid <= 1 || pid == getpid())
        return;
    PX_AUTOCLOSE int pidfd = px_reclaim_pidfd_open(pid);
    if (!px_osproc_stat(pid, &st)) {
        if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
            kill_orphans(r);
        return;
    }
    if (st.start != r->y)
        return;
    if (st.pgrp == pid && pid != getpgrp()) /* the number is taken while it is there */
        kill(-(pid_t)pid, SIGKILL);
    if (pidfd < 0 || syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) < 0)
        kill((pid_t)pid, SIGKILL);
}

/* ---- ending those that carry a mark --------------------------------------------- */

struct marked {
    uint64_t mark, start;
    unsigned n; /* that were there */
};

/* One of a server's own: it ends when it has done its work. */
static bool is_cleaner(int64_t pid)
{
    char path[64], name[32];

    return px_osproc_path(pid, "/comm", path, sizeof(path)) &&
           px_osproc_read(path, name, sizeof(name)) &&
           (strcmp(name, PX_RECLAIM_JANITOR "\n") == 0 ||
            strcmp(name, PX_RECLAIM_WORKER "\n") == 0);
}

bool px_reclaim_kill_one(int64_t pid, int pidfd)
{
    if (is_cleaner(pid))
        return false;
    if (pidfd >= 0 && syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0)
        return true;
    return (pidfd < 0 || errno != ESRCH) && kill((pid_t)pid, SIGKILL) == 0;
}

static bool kill_marked(void *arg, const char *name)
{
    struct marked *m = arg;
    struct px_osproc_stat st;
    int64_t pid;

    if (!px_str_to_i64(name, 2, INT32_MAX, &pid) || pid == getpid())
        return true;
    PX_AUTOCLOSE int pidfd = px_reclaim_pidfd_open(pid);
    if (!px_osproc_stat(pid, &st) || px_osproc_stat_ended(&st) || st.start < m->start ||
        !px_osproc_has_rlimit_tag(pid, m->mark))
        return true;
    m->n += px_reclaim_kill_one(pid, pidfd);
    return true;
}

/* One that is being made while a round goes on is found by the next, or the one after
 * that. */
void px_reclaim_kill_marked(int64_t server, uint64_t start, bool wait)
{
    struct marked m = {.mark = px_osproc_rlimit_tag(server, start, RLIM_INFINITY),
                       .start = start};
    const uint64_t deadline_ms = px_clock_ms() + ROUNDS_MS;
    int clean = 0;

    while (m.mark && clean < CLEAN_ROUNDS && px_clock_ms() < deadline_ms) {
        PX_AUTOCLOSE int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        m.n = 0;
        if (proc < 0 || px_fd_each_name(proc, kill_marked, &m))
            break;
        clean = m.n ? 0 : clean + 1;
        if (!wait && clean)
            break;
        poll(NULL, 0, m.n ? NAP_MS : ROUND_NAP_MS);
    }
}
