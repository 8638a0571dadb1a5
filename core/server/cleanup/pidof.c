/* SPDX-License-Identifier: BSD-3-Clause */
/* One walk through /proc, those first that were started last: a client has been, as a rule. */
#include "core/server/cleanup/pidof.h"

#include "core/base/fd.h"
#include "core/base/proc.h"
#include "core/base/str.h"
#include "core/base/vec.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CHECK_EVERY = 16 };

struct walk {
    struct px_pidof *searches;
    size_t n;
    uint64_t until_us;
    unsigned n_looks;
    bool is_over; /* out of time */
};

/* Of this thread: on a busy machine a walk shall get as far as elsewhere. */
static uint64_t cpu_us(void)
{
    struct timespec t = {0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static bool has_time(struct walk *w)
{
    if (++w->n_looks % CHECK_EVERY == 0 && cpu_us() >= w->until_us)
        w->is_over = true;
    return !w->is_over;
}

/* ---- what a process has open -------------------------------------------------------------------- */

static bool is_wanted_user(const struct walk *w, uid_t uid)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->searches[i].uid == uid)
            return true;
    /* What may not be dumped belongs to root there, and root may look into it. */
    return uid == 0 && geteuid() == 0;
}

/* NULL: the process is none of those users', or has ended, or is not to be looked at. */
static DIR *open_fds(struct walk *w, pid_t pid)
{
    char path[64];
    PX_AUTOCLOSE int proc = -1, fds = -1;
    struct stat st;
    DIR *dir;

    if (!has_time(w) || !px_proc_path(pid, "", path, sizeof path))
        return NULL;
    proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0 || fstat(proc, &st) < 0 || !is_wanted_user(w, st.st_uid))
        return NULL;
    fds = openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = fds < 0 ? NULL : fdopendir(fds);
    if (dir)
        (void)px_take_fd(&fds);
    return dir;
}

/* "socket:[inode]"; 0: it is none. */
static uint64_t inode_of(int fds, const char *name)
{
    static const char begin[] = "socket:[";
    char text[64];
    uint64_t inode;
    ssize_t n = readlinkat(fds, name, text, sizeof text);

    if (n <= 0 || text[n - 1] != ']')
        return 0;
    text[n - 1] = '\0';
    return px_str_starts(text, begin) &&
                   px_str_to_u64(text + strlen(begin), 1, UINT64_MAX, &inode)
               ? inode
               : 0;
}

/* 0: there are no more, or there is no more time. */
static uint64_t next_socket(struct walk *w, DIR *fds)
{
    const struct dirent *entry;
    uint64_t inode;

    while (has_time(w) && (entry = readdir(fds))) {
        inode = inode_of(dirfd(fds), entry->d_name);
        if (inode)
            return inode;
    }
    return 0;
}

static bool holds(struct walk *w, pid_t pid, uint64_t inode)
{
    DIR *fds = open_fds(w, pid);
    uint64_t found;

    if (!fds)
        return false;
    do
        found = next_socket(w, fds);
    while (found && found != inode);
    closedir(fds);
    return found;
}

/* A child that was forked has its parent's sockets, and is met first: the socket was made by the oldest
 * ancestor that has it. If there is no time to find out, none will do. */
static void climb(struct walk *w, struct px_pidof *s)
{
    struct px_proc_stat st;
    pid_t pid = s->pid;

    s->pid = 0;
    while (px_proc_stat(pid, &st) && st.parent > 1 &&
           holds(w, (pid_t)st.parent, s->inode))
        pid = (pid_t)st.parent;
    if (w->is_over || !px_proc_stat(pid, &st))
        return;
    s->pid = pid;
    s->start = st.start;
}

static void look_at(struct walk *w, pid_t pid)
{
    DIR *fds = open_fds(w, pid);
    uint64_t inode;

    if (!fds)
        return;
    while ((inode = next_socket(w, fds)))
        for (size_t i = 0; i < w->n; i++)
            if (w->searches[i].inode == inode && !w->searches[i].start)
                w->searches[i].pid = pid;
    closedir(fds);
    for (size_t i = 0; i < w->n; i++)
        if (w->searches[i].pid == pid && !w->searches[i].start)
            climb(w, &w->searches[i]);
}

/* ---- the processes there are -------------------------------------------------------------------- */

/* The last number that was given to a process: those above are older, from before numbers began anew. */
static pid_t last_pid(void)
{
    char text[128];
    const char *at;
    uint64_t pid;

    if (!px_proc_read("/proc/loadavg", text, sizeof text))
        return INT32_MAX;
    text[strcspn(text, "\n")] = '\0';
    at = strrchr(text, ' ');
    return at && px_str_to_u64(at + 1, 1, INT32_MAX, &pid) ? (pid_t)pid : INT32_MAX;
}

static int newest_first(const void *a, const void *b, void *last)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    bool x_is_old = x > *(pid_t *)last, y_is_old = y > *(pid_t *)last;

    if (x_is_old != y_is_old)
        return x_is_old ? 1 : -1;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The caller's; *n is less than there are, if there is no memory. */
static pid_t *list_processes(size_t *n)
{
    DIR *procs = opendir("/proc");
    pid_t *pids = NULL, *one = NULL, last = last_pid();
    const struct dirent *entry;
    size_t cap = 0;
    uint64_t pid;

    *n = 0;
    while (procs && (entry = readdir(procs)))
        if (px_str_to_u64(entry->d_name, 1, INT32_MAX, &pid) &&
            (one = px_vec_add(&pids, n, &cap)))
            *one = (pid_t)pid;
    if (procs)
        closedir(procs);
    if (pids)
        qsort_r(pids, *n, sizeof *pids, newest_first, &last);
    return pids;
}

static bool all_found(const struct walk *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (!w->searches[i].pid)
            return false;
    return true;
}

uint64_t px_pidof_find(struct px_pidof *searches, size_t n, uint64_t limit_us)
{
    uint64_t began_us = cpu_us();
    struct walk w = {.searches = searches, .n = n, .until_us = began_us + limit_us};
    size_t n_pids;
    PX_AUTOFREE pid_t *pids = list_processes(&n_pids);

    for (size_t i = 0; i < n; i++)
        searches[i].pid = searches[i].start = 0;
    for (size_t i = 0; i < n_pids && !w.is_over && !all_found(&w); i++)
        look_at(&w, pids[i]);
    return cpu_us() - began_us;
}
