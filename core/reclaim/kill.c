/* SPDX-License-Identifier: BSD-3-Clause */
/* Ending what should have ended with its server, and nobody else. A pid says nothing
 * alone: it may be another's by now. With its start time it is one process, for as long
 * as a descriptor of it is open; where there are none, we look twice and are quick. */
#include "core/reclaim/reclaim_impl.h"

#include "core/base/attr.h"
#include "core/base/fd.h"
#include "core/base/proc.h"
#include "core/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>

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

/* ---- a group without its leader
 * --------------------------------------------------- */

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
