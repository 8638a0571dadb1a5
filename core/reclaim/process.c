/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates processes that the host does not see, and drops privileges for good. Kills
 * processes that should have ended with their server. A pid alone may belong to another
 * process by now. pid and start time identify a process while a pidfd of it is open. */
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

/* Newer than the headers of some supported systems. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_send_signal 424
#define SYS_pidfd_open        434
#endif
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif

enum {
    N_STREAMS = 3,
    NAP_MS = 2,      /* between checks of processes without a pidfd */
    GRACE_MS = 2000, /* for a killed process to end */
    ROUNDS_MS = 1000,
    ROUND_NAP_MS = 10,
    CLEAN_ROUNDS = 2,
    EXIT_NOT_CONFINED = 125,
    EXIT_NOT_THE_USER = 126,
    EXIT_NOT_EXECUTED = 127,
};

/* Forks with all signals blocked, because the host's handlers must not run in the
 * child. bare: without an exit signal, so the host gets neither SIGCHLD nor this child
 * from wait(). */
static pid_t fork_blocked(bool bare)
{
    sigset_t all, was;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    /* The order of clone's arguments depends on the machine, but all are zero. */
    pid_t pid = bare ? (pid_t)syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L) : fork();
    if (pid != 0) {
        int errnum = errno;

        pthread_sigmask(SIG_SETMASK, &was, NULL);
        errno = errnum;
    }
    return pid;
}

pid_t px_reclaim_fork(void)
{
    return fork_blocked(true);
}

/* ---- leaving the host ----------------------------------------------------------- */

/* Resets all handlers, starts a session, and closes all descriptors except keep[0..n),
 * which is sorted. Opens /dev/null as 0-2 unless keep contains them. */
static void leave(const int *keep, size_t n)
{
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    bool keeps[N_STREAMS] = {false};
    int from = N_STREAMS;

    for (int signum = 1; signum < NSIG; signum++)
        sigaction(signum, &by_default, NULL);
    setsid();
    for (size_t i = 0; i < n; i++) {
        if (keep[i] < N_STREAMS) {
            keeps[keep[i]] = true;
            continue;
        }
        px_fd_close_range(from, keep[i] - 1);
        from = keep[i] + 1;
    }
    px_fd_close_from(from);
    /* Open streams of the host would keep its readers from seeing EOF. A free
     * descriptor below 3 would be reused by the next open. */
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) /* this descriptor allows neither reads nor writes, too */
        null = open("/", O_PATH | O_CLOEXEC);
    for (int fd = 0; fd < N_STREAMS; fd++) {
        if (!keeps[fd] && (null < 0 || (fd != null && dup2(null, fd) < 0)))
            close(fd);
    }
    if (null >= N_STREAMS)
        close(null);
}

void px_reclaim_detach(const char *name, const int *keep, size_t n)
{
    sigset_t all;

    prctl(PR_SET_NAME, name);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    leave(keep, n);
    if (chdir("/") < 0) {
        /* / is better but not required: the old folder stays in use */
    }
    umask(077);
    prctl(PR_SET_PDEATHSIG, 0);
    prctl(PR_SET_DUMPABLE, 0);
}

/* ---- programs beside the host --------------------------------------------------- */

/* Executes the program of px_reclaim_launch. After a failure writes errno to report. */
static void become(char *const argv[], const int ends[2], int report)
{
    const int keep[] = {STDOUT_FILENO, STDERR_FILENO, ends[0], ends[1]};
    sigset_t none;

    leave(keep, PX_COUNT(keep));
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (fcntl(ends[0], F_SETFD, 0) == 0 && fcntl(ends[1], F_SETFD, 0) == 0)
        execv(argv[0], argv);
    int errnum = errno;
    _exit(write(report, &errnum, sizeof(errnum)) > 0 ? EXIT_NOT_EXECUTED
                                                     : EXIT_FAILURE);
}

bool px_reclaim_launch(char *const argv[], const int ends[2], int report)
{
    const pid_t pid = px_reclaim_fork();
    int status = 0, errnum;

    if (pid < 0)
        return false;
    if (pid == 0) { /* the program's parent ends at once, and so the program is an
                     * orphan */
        const pid_t child = px_reclaim_fork();

        if (child == 0)
            become(argv, ends, report);
        _exit(child > 0 ? 0 : errno);
    }
    (void)px_reclaim_reap_until(pid, 0, &status);
    errnum = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
    errno = errnum;
    return errnum == 0;
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
    const pid_t pid = fork_blocked(false);
    sigset_t none;

    if (pid != 0)
        return pid;
    px_reclaim_detach(name, keeps, PX_COUNT(keeps));
    px_reclaim_bind(parent);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    return 0;
}

/* ---- becoming a user ------------------------------------------------------------ */

/* Numbers of the system calls that set ids. The C library's functions would wait for
 * threads that exist in the parent only. They would also take locks that no thread
 * releases here. On 32-bit systems the plain calls take 16-bit ids. */
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

/* Drops all capabilities. The kernel drops them with root's uid unless the host asked
 * for PR_SET_KEEPCAPS. */
static void drop_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}},
                                  left[PX_COUNT(none)];

    memset(left, 0xff, sizeof(left)); /* assume all until capget has answered */
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
    /* memory still holds the server's data: no debugger of this user */
    must(prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L) == 0);
}

/* ---- Landlock ------------------------------------------------------------------- */

/* A second line of defence against bugs of ours. With Landlock, a walking process may
 * only remove, and only below the folders of its items. Reading is not restricted. */

/* All rights that change or run something, except removal. Truncation by path and
 * device requests are not restricted, because Landlock would then check every opened
 * folder as well. LANDLOCK_ACCESS_FS_REFER exists from version 2 on. */
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

/* Allows removal below the parent folder of path. */
static void allow_beside(int rules, struct px_rm_sys *sys, const char *path)
{
    char folder[PX_RM_MAX_PATH + 1];
    char *slash = px_str_copy(folder, sizeof(folder), path) ? strrchr(folder, '/')
                                                            : NULL;

    if (!slash)
        return;
    slash[slash == folder] = '\0';
    PX_AUTOCLOSE int fd = px_rm_open_way(sys, folder, geteuid());
    if (fd < 0) /* the walk cannot open this folder, either */
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

    if (abi < 1) /* unknown, switched off or not permitted */
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
    if (!confined && errno != E2BIG) /* too many nested rulesets of the host */
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

/* Returns false when name is a living process of the leader's group and user. For
 * px_fd_each_name. */
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

/* Kills a process group whose leader has ended. The kernel does not reuse the group's
 * number while members live. So the members are normally the leader's. The exception is
 * a later group with this number that lost its leader, too. Owner and start time limit
 * that risk. A signal to a group also reaches members that are being forked. */
static void kill_orphans(const struct px_journal_record *leader)
{
    struct orphans orphans = {.leader = leader};
    pid_t group = (pid_t)leader->x;
    PX_AUTOCLOSE int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (proc >= 0 && group != getpgrp() && kill(-group, 0) == 0 &&
        !px_fd_each_name(proc, is_other, &orphans) && orphans.found)
        kill(-group, SIGKILL);
}

/* Kills by the pidfd, or by the pid on systems without pidfds. */
static bool send_kill(int64_t pid, int pidfd)
{
    if (pidfd >= 0 && syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0)
        return true;
    return (pidfd < 0 || errno != ESRCH) && kill((pid_t)pid, SIGKILL) == 0;
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
    if (st.pgrp == pid && pid != getpgrp()) /* not reaped: the pid is in use */
        kill(-(pid_t)pid, SIGKILL);
    (void)send_kill(pid, pidfd);
}

/* ---- killing processes with a tag ----------------------------------------------- */

struct tagged {
    uint64_t tag, start;
    unsigned n; /* processes killed in this round */
};

/* True for janitors and workers, which end by themselves when their work is done. */
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
    return !is_cleaner(pid) && send_kill(pid, pidfd);
}

static bool kill_tagged(void *arg, const char *name)
{
    struct tagged *m = arg;
    struct px_osproc_stat st;
    int64_t pid;

    if (!px_str_to_i64(name, 2, INT32_MAX, &pid) || pid == getpid())
        return true;
    PX_AUTOCLOSE int pidfd = px_reclaim_pidfd_open(pid);
    if (!px_osproc_stat(pid, &st) || px_osproc_stat_ended(&st) || st.start < m->start ||
        !px_osproc_has_rlimit_tag(pid, m->tag))
        return true;
    m->n += px_reclaim_kill_one(pid, pidfd);
    return true;
}

/* Kills in rounds. A later round finds a process that was forked during an earlier
 * round. */
void px_reclaim_kill_tagged(int64_t server, uint64_t start, bool wait)
{
    struct tagged m = {.tag = px_osproc_rlimit_tag(server, start, RLIM_INFINITY),
                       .start = start};
    const uint64_t deadline_ms = px_clock_ms() + ROUNDS_MS;
    int clean = 0;

    while (m.tag && clean < CLEAN_ROUNDS && px_clock_ms() < deadline_ms) {
        PX_AUTOCLOSE int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        m.n = 0;
        if (proc < 0 || px_fd_each_name(proc, kill_tagged, &m))
            break;
        clean = m.n ? 0 : clean + 1;
        if (!wait && clean)
            break;
        poll(NULL, 0, m.n ? NAP_MS : ROUND_NAP_MS);
    }
}
