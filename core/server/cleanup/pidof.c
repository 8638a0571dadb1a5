/* SPDX-License-Identifier: BSD-3-Clause */
/* One walk serves all searches that were there when it began; those that come meanwhile wait for the
 * next. */
#include "core/server/cleanup/pidof.h"

#include "core/base/proc.h"
#include "core/base/str.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    STEP_US = 1000, /* of the loop's time at once */
    PAUSE_MS = 3,   /* for everybody else */
    CHECK_EVERY = 16,
    /* Processes come, go and open files while the walk is on. */
    MAX_PASSES = 2,
};

struct px_pidof {
    struct px_timer *timer;
    struct px_list waiting, active;
    bool walking;
    bool is_new; /* a search was begun that nobody has hurried for yet */
    pid_t *pids; /* there when the walk began */
    size_t n, cap, next;
    DIR *fds;  /* of a process; NULL: not open */
    pid_t pid; /* whose these are */
};

static void close_dir(DIR **dir)
{
    if (*dir)
        closedir(*dir);
    *dir = NULL;
}

/* ---- what a process has open -------------------------------------------------------------------- */

static bool is_wanted_user(const struct px_pidof *p, uid_t uid)
{
    PX_LIST_EACH (&p->active, struct px_pidof_search, s, link)
        if (s->uid == uid)
            return true;
    /* What may not be dumped belongs to root there, and root may look into it. */
    return uid == 0 && geteuid() == 0;
}

static int open_proc(pid_t pid)
{
    char path[64];

    return px_proc_path(pid, "", path, sizeof path)
               ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)
               : -1;
}

static DIR *open_dir(int dir, const char *name)
{
    PX_AUTOCLOSE int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (d)
        (void)px_take_fd(&fd);
    return d;
}

/* A child that was forked has its parent's sockets, and is looked at before: who has made it is the
 * oldest ancestor that has it. What that has open is looked at in steps, too: it may be very much. */
static void found(struct px_pidof_search *s, pid_t pid)
{
    struct px_proc_stat st;

    s->above = 0;
    if (!px_proc_stat(pid, &st))
        return;
    s->pid = pid;
    s->start = st.start;
    if (st.parent > 1)
        s->above = (pid_t)st.parent;
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

static void look_at(struct px_pidof *p, const char *name)
{
    uint64_t inode = inode_of(dirfd(p->fds), name);

    if (inode == 0)
        return;
    PX_LIST_EACH (&p->active, struct px_pidof_search, s, link)
        if (s->inode == inode && (!s->pid || s->above == p->pid))
            found(s, p->pid);
}

/* ---- whom to look at ---------------------------------------------------------------------------- */

static bool add_pid(struct px_pidof *p, pid_t pid)
{
    size_t cap = p->cap ? 2 * p->cap : 256;
    pid_t *bigger;

    if (p->n == p->cap) {
        bigger = realloc(p->pids, cap * sizeof *bigger);
        if (!bigger)
            return false;
        p->pids = bigger;
        p->cap = cap;
    }
    p->pids[p->n++] = pid;
    return true;
}

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

/* Clients have been started lately, as a rule. */
static void begin_walk(struct px_pidof *p)
{
    pid_t last = last_pid();
    DIR *procs = opendir("/proc");
    const struct dirent *entry;
    uint64_t pid;

    p->n = p->next = 0;
    while (procs && (entry = readdir(procs)))
        if (px_str_to_u64(entry->d_name, 1, INT32_MAX, &pid) && !add_pid(p, (pid_t)pid))
            break;
    close_dir(&procs);
    if (p->n)
        qsort_r(p->pids, p->n, sizeof *p->pids, newest_first, &last);
}

/* ---- the walk ----------------------------------------------------------------------------------- */

static void take_waiting(struct px_pidof *p)
{
    PX_LIST_EACH (&p->waiting, struct px_pidof_search, s, link) {
        px_list_remove(&s->link);
        px_list_append(&p->active, &s->link);
    }
}

/* Each was found, or has been looked for often enough, or has another turn. Callbacks may begin and
 * cancel searches. */
static void pass_ends(struct px_pidof *p)
{
    struct px_list ended;

    px_list_init(&ended);
    PX_LIST_EACH (&p->active, struct px_pidof_search, s, link) {
        s->n_passes++;
        px_list_remove(&s->link);
        px_list_append(s->pid || s->n_passes >= MAX_PASSES ? &ended : &p->waiting,
                       &s->link);
    }
    while (!px_list_empty(&ended)) {
        struct px_pidof_search *s = PX_CONTAINER_OF(ended.next, struct px_pidof_search,
                                                    link);

        px_list_remove(&s->link);
        s->fn(s->arg, s->pid, s->start);
    }
}

static bool all_found(const struct px_pidof *p)
{
    PX_LIST_EACH (&p->active, struct px_pidof_search, s, link)
        if (!s->pid || s->above)
            return false;
    return true;
}

/* What it has open was looked at, or cannot be. */
static void leave(struct px_pidof *p, pid_t pid)
{
    close_dir(&p->fds);
    PX_LIST_EACH (&p->active, struct px_pidof_search, s, link)
        if (s->above == pid)
            s->above = 0;
}

/* Looks at an ancestor of who was found; false if there is none to be looked at. */
static bool climb(struct px_pidof *p)
{
    PX_LIST_EACH (&p->active, struct px_pidof_search, s, link) {
        PX_AUTOCLOSE int dir = s->above ? open_proc(s->above) : -1;

        if (!s->above)
            continue;
        p->pid = s->above;
        p->fds = dir < 0 ? NULL : open_dir(dir, "fd");
        if (!p->fds)
            leave(p, p->pid);
        return true;
    }
    return false;
}

static void enter(struct px_pidof *p, pid_t pid)
{
    PX_AUTOCLOSE int dir = open_proc(pid);
    struct stat st;

    if (dir < 0 || fstat(dir, &st) < 0 || !is_wanted_user(p, st.st_uid))
        return;
    p->fds = open_dir(dir, "fd");
    p->pid = pid;
}

/* One descriptor, or one process; false at the end of the walk. */
static bool step(struct px_pidof *p)
{
    const struct dirent *entry = p->fds ? readdir(p->fds) : NULL;

    if (entry)
        look_at(p, entry->d_name);
    else if (p->fds)
        leave(p, p->pid);
    else if (climb(p))
        return true;
    else if (p->next == p->n || all_found(p))
        return false;
    else
        enter(p, p->pids[p->next++]);
    return true;
}

/* Of this thread: on a busy machine a step shall get as far as elsewhere. */
static uint64_t cpu_us(void)
{
    struct timespec t = {0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static bool walk_on(struct px_pidof *p)
{
    uint64_t until = cpu_us() + STEP_US;

    for (unsigned n = 1;; n++) {
        if (!step(p))
            return false;
        if (n % CHECK_EVERY == 0 && cpu_us() >= until)
            return true;
    }
}

static void walk_a_step(struct px_pidof *p)
{
    if (!p->walking) {
        take_waiting(p);
        begin_walk(p);
    }
    p->walking = !px_list_empty(&p->active) && walk_on(p);
    if (!p->walking) {
        close_dir(&p->fds);
        pass_ends(p);
    }
    if (p->walking || !px_list_empty(&p->waiting))
        px_timer_set(p->timer, PAUSE_MS);
}

static void on_time(void *arg)
{
    walk_a_step(arg);
}

void px_pidof_hurry(struct px_pidof *p)
{
    if (p->is_new)
        walk_a_step(p);
    p->is_new = false;
}

struct px_pidof *px_pidof_create(struct px_loop *loop)
{
    struct px_pidof *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    px_list_init(&p->waiting);
    px_list_init(&p->active);
    p->timer = px_timer_create(loop, on_time, p);
    if (p->timer)
        return p;
    free(p);
    return NULL;
}

void px_pidof_destroy(struct px_pidof *p)
{
    if (!p)
        return;
    PX_LIST_EACH (&p->waiting, struct px_pidof_search, s, link)
        px_list_remove(&s->link);
    PX_LIST_EACH (&p->active, struct px_pidof_search, t, link)
        px_list_remove(&t->link);
    close_dir(&p->fds);
    px_timer_free(p->timer);
    free(p->pids);
    free(p);
}

void px_pidof_begin(struct px_pidof *p, struct px_pidof_search *s)
{
    bool idle = !p->walking && px_list_empty(&p->waiting);

    s->pid = s->above = 0;
    s->start = 0;
    s->n_passes = 0;
    px_list_append(&p->waiting, &s->link);
    p->is_new = true;
    if (idle)
        px_timer_set(p->timer, 0);
}

void px_pidof_cancel(struct px_pidof_search *s)
{
    px_list_remove(&s->link);
}
