/* SPDX-License-Identifier: BSD-3-Clause */
/* One walk through /proc, youngest processes first: a client has mostly just
 * started. */
#include "core/os/pidof.h"

#include "core/os/proc.h"
#include "core/base/str.h"
#include "core/base/vec.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { CHECK_EVERY = 16 };

struct walk {
    struct px_pidof *searches;
    size_t n;
    uint64_t until_us;
    unsigned n_checks;
    bool is_over; /* out of time */
};

/* Returns the CPU time of this thread, so that a walk gets equally far on a busy
 * machine. */
static uint64_t cpu_us(void)
{
    struct timespec t = {0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static bool has_time(struct walk *w)
{
    if (++w->n_checks % CHECK_EVERY == 0 && cpu_us() >= w->until_us)
        w->is_over = true;
    return !w->is_over;
}

static bool is_wanted_user(const struct walk *w, uid_t uid)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->searches[i].uid == uid)
            return true;
    /* In /proc, a process that may not be dumped belongs to root, and root may read
     * it. */
    return uid == 0 && geteuid() == 0;
}

/* Returns the inode of the socket behind a descriptor, or 0 if it is not a socket. */
static uint64_t inode_of(int fds, const char *name)
{
    char text[64];
    uint64_t inode;
    ssize_t n = readlinkat(fds, name, text, sizeof(text) - 1);

    text[n > 0 ? n : 0] = '\0';
    return sscanf(text, "socket:[%" SCNu64 "]", &inode) == 1 ? inode : 0;
}

/* Records which of the sockets not found yet the process has. */
static void search_fds(struct walk *w, int64_t pid)
{
    char path[64];
    PX_AUTOCLOSE int proc = -1, fds = -1;
    const struct dirent *entry;
    struct stat st;
    DIR *dir;

    if (!has_time(w) || !px_osproc_path(pid, "", path, sizeof(path)))
        return;
    proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0 || fstat(proc, &st) < 0 || !is_wanted_user(w, st.st_uid))
        return;
    fds = openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = fds < 0 ? NULL : fdopendir(fds);
    if (!dir)
        return;
    fds = -1; /* now owned by dir */
    while (has_time(w) && (entry = readdir(dir))) {
        const uint64_t inode = inode_of(dirfd(dir), entry->d_name);

        for (size_t i = 0; inode && i < w->n; i++)
            if (w->searches[i].inode == inode && !w->searches[i].start)
                w->searches[i].pid = (pid_t)pid;
    }
    closedir(dir);
}

/* Finds the oldest ancestor that has the socket, which has made it: a forked child has
 * its parent's sockets, and is found first. Out of time, no process is the result. */
static void climb(struct walk *w, struct px_pidof *s)
{
    struct px_osproc_stat st;
    pid_t pid;

    do {
        pid = s->pid;
        if (!px_osproc_stat(pid, &st)) {
            s->pid = 0;
            return;
        }
        if (st.parent > 1)
            search_fds(w, st.parent);
    } while (s->pid != pid);
    if (!w->is_over)
        s->start = st.start;
}

/* Returns the last process id that was given. Higher ids are older: they were given
 * before the ids began anew. */
static int64_t last_pid(void)
{
    char text[128], *at = NULL;

    if (px_osproc_read("/proc/loadavg", text, sizeof(text)))
        at = strrchr(text, ' ');
    return at ? atoll(at) : INT32_MAX;
}

uint64_t px_pidof_find(struct px_pidof *searches, size_t n, uint64_t limit_us)
{
    const uint64_t began_us = cpu_us();
    struct walk w = {.searches = searches, .n = n, .until_us = began_us + limit_us};
    PX_AUTOFREE int64_t *pids = NULL;
    size_t n_pids = 0, cap = 0, n_found = 0, n_young = 0;
    const int64_t last = last_pid();
    DIR *procs = opendir("/proc");
    const struct dirent *entry;
    int64_t *one;
    uint64_t pid;

    for (size_t i = 0; i < n; i++)
        searches[i].pid = searches[i].start = 0;
    while (procs && (entry = readdir(procs))) /* in the order of process ids */
        if (px_str_to_u64(entry->d_name, 1, INT32_MAX, &pid) &&
            (one = px_vec_add(&pids, &n_pids, &cap))) {
            *one = (int64_t)pid;
            n_young += *one <= last;
        }
    if (procs)
        closedir(procs);
    for (size_t k = n_pids; k-- > 0 && n_found < n && !w.is_over;) {
        search_fds(&w, pids[(k + n_young) % n_pids]);
        n_found = 0;
        for (size_t i = 0; i < n; i++) {
            if (searches[i].pid && !searches[i].start)
                climb(&w, &searches[i]);
            n_found += searches[i].start != 0;
        }
    }
    for (size_t i = 0; i < n; i++)
        if (!searches[i].start)
            searches[i].pid = 0;
    return cpu_us() - began_us;
}
