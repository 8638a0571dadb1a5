/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates processes that the host does not see, and drops privileges for good. Kills
 * processes that should have ended with their server. A pid alone may belong to another
 * process by now. pid and start time identify a process while a pidfd of it is open. */
#include "core/reclaim/process.h"

#include "core/base/attr.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/os/os.h"
#include "core/os/proc.h"
#include "core/base/str.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

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
    pid_t pid = bare ? px_os_fork_unseen() : fork();
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
    bool keeps[N_STREAMS] = {false};
    int from = N_STREAMS;

    px_os_reset_signals();
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

    px_os_name_thread(name);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    leave(keep, n);
    if (chdir("/") < 0) {
        /* / is better but not required: the old folder stays in use */
    }
    umask(077);
    (void)px_os_end_with_parent(0);
    (void)px_os_hide_memory();
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
    if (!px_os_end_with_parent(SIGKILL) || getppid() != parent)
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

void px_drop_privileges(uid_t uid, gid_t gid)
{
    const uid_t same_uid = (uid_t)-1;
    const gid_t same_gid = (gid_t)-1;
    gid_t groups[2];

    must(uid != same_uid && gid != same_gid);
    if (!is_user(uid) || (uid == 0 && !is_group(gid))) {
        must(px_os_set_ids(uid, gid, &gid, 1));
        must(is_user(uid) && is_group(gid));
        must(getgroups(PX_COUNT(groups), groups) == 1 && groups[0] == gid);
    }
    if (uid != 0) {
        must(px_os_drop_capabilities());
        must(is_user(uid));
    }
    must(px_os_refuse_new_rights());
    /* memory still holds the server's data: no debugger of this user */
    must(px_os_hide_memory());
}

/* ---- confinement ---------------------------------------------------------------- */

/* A second line of defence against bugs of ours. A walking process may only remove, and
 * only below the folders of its items. Reading is not restricted. */

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
    if (!px_os_confine_allow(rules, fd))
        _exit(EXIT_NOT_CONFINED);
}

bool px_reclaim_confine(const struct px_rm_item *items, size_t n)
{
    const int rules = px_os_confine_begin(items != NULL);
    struct px_rm_sys sys = {0};

    if (rules < 0)
        return false;
    for (size_t i = 0; items && i < n; i++) {
        if (items[i].kind != PX_RM_KEEP)
            allow_beside(rules, &sys, items[i].path);
    }
    bool confined = px_os_confine(rules);
    if (!confined && errno != E2BIG) /* too many nested rulesets of the host */
        _exit(EXIT_NOT_CONFINED);
    close(rules);
    return confined;
}

/* ---- children ------------------------------------------------------------------- */

bool px_reclaim_reap(pid_t pid, int *status)
{
    *status = -1;
    return PX_RETRY(waitpid(pid, status, WNOHANG | PX_OS_WAIT_ALL)) != 0;
}

bool px_reclaim_reap_until(pid_t pid, uint64_t deadline_ms, int *status)
{
    PX_AUTOCLOSE int pidfd = px_os_pidfd_open(pid);
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

/* Returns false for a living process of the leader's group and user. For
 * px_osproc_each. */
static bool is_other(void *arg, int64_t pid)
{
    struct orphans *orphans = arg;
    const struct px_journal_record *leader = orphans->leader;
    struct px_osproc_stat st;
    uid_t owner;

    orphans->found = px_osproc_stat(pid, &st) && !px_osproc_stat_ended(&st) &&
                     st.pgrp == (int64_t)leader->x && st.start >= leader->y &&
                     px_osproc_owner(pid, &owner) && owner == leader->uid;
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

    if (group != getpgrp() && kill(-group, 0) == 0 &&
        !px_osproc_each(is_other, &orphans) && orphans.found)
        kill(-group, SIGKILL);
}

/* Kills by the pidfd, or by the pid on systems without pidfds. */
static bool send_kill(int64_t pid, int pidfd)
{
    const int errnum = px_os_pidfd_signal(pidfd, SIGKILL, false);

    return !errnum || (errnum != ESRCH && kill((pid_t)pid, SIGKILL) == 0);
}

void px_reclaim_kill(const struct px_journal_record *r)
{
    int64_t pid = (int64_t)r->x;
    struct px_osproc_stat st;

    if (r->type != PX_JOURNAL_PROC || !(r->flags & PX_JOURNAL_END) || !r->y ||
        pid <= 1 || pid == getpid())
        return;
    PX_AUTOCLOSE int pidfd = px_os_pidfd_open(pid);
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
    char name[32];

    return px_osproc_name(pid, name, sizeof(name)) &&
           (strcmp(name, PX_RECLAIM_JANITOR) == 0 ||
            strcmp(name, PX_RECLAIM_WORKER) == 0);
}

bool px_reclaim_kill_one(int64_t pid, int pidfd)
{
    return !is_cleaner(pid) && send_kill(pid, pidfd);
}

static bool kill_tagged(void *arg, int64_t pid)
{
    struct tagged *m = arg;
    struct px_osproc_stat st;

    if (pid == getpid())
        return true;
    PX_AUTOCLOSE int pidfd = px_os_pidfd_open(pid);
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
        m.n = 0;
        if (px_osproc_each(kill_tagged, &m))
            break;
        clean = m.n ? 0 : clean + 1;
        if (!wait && clean)
            break;
        poll(NULL, 0, m.n ? NAP_MS : ROUND_NAP_MS);
    }
}
