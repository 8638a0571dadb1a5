/* SPDX-License-Identifier: BSD-3-Clause */
/* Leftovers of dead servers of this user; for root, of all users. Nothing is changed.
 * Folders that everyone may write to are looked at, so what is
 * found there may be anything, and is believed as little as a server would
 * (core/reclaim/journal_view.c). */
#include "contrib/tools/pmix_info/info.h"
#include "contrib/tools/toolkit.h"

#include "core/base/fd.h"
#include "core/base/map.h"
#include "core/base/path.h"
#include "core/base/proc.h"
#include "core/reclaim/rmtree.h"
#include "core/base/str.h"
#include "core/reclaim/reclaim_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#define MAX_FILE_B    4096        /* as long as a rendezvous file may be */
#define MAX_JOURNAL_B (64l << 20) /* a longer one takes too long to look at */

/* ---- what is found -------------------------------------------------------------- */

static bool is_our_business(uid_t uid)
{
    return geteuid() == 0 || uid == geteuid();
}

static struct leftover *add(struct info *info, enum leftover_kind kind,
                            const char *path, const struct stat *st)
{
    time_t now = time(NULL);
    struct leftover *l;

    info->leftovers = grow(info->leftovers, info->n_leftovers + 1,
                           sizeof(*info->leftovers));
    l = &info->leftovers[info->n_leftovers++];
    *l = (struct leftover){.kind = kind,
                           .path = need(strdup(path)),
                           .uid = st->st_uid,
                           .age_s = now > st->st_mtime ? now - st->st_mtime : 0};
    return l;
}

/* ---- folders -------------------------------------------------------------------- */

/* Pids of another boot or container mean nothing here. The name of the node does not
 * matter: one machine may play several. */
static bool is_from_here(const struct px_journal_record *head)
{
    char here[320];

    px_journal_whereabouts("", here);
    return here[0] != ' ' && strncmp(here, head->path, strlen(here)) == 0;
}

/* 0 or an errno. */
static int load(int fd, struct px_journal_view *view)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return errno;
    return st.st_size > MAX_JOURNAL_B ? EFBIG : px_journal_view_load(fd, NULL, view);
}

/* A process may be in several scopes. */
static void count_process(struct leftover *l, struct px_map *seen,
                          const struct px_journal_record *r)
{
    const uint64_t key[] = {r->x, r->y};
    void *before = NULL;

    if (px_proc_ended((int64_t)r->x, r->y))
        return;
    if (px_map_put(seen, key, sizeof(key), l, &before))
        need(NULL);
    l->living += !before;
}

static void count(struct leftover *l, const struct px_journal_view *view)
{
    bool from_here = is_from_here(&view->head);
    struct px_map seen = {0};

    for (size_t i = 0; i < view->n; i++) {
        struct px_journal_record r;

        px_journal_view_get(view, &view->entries[i], &r);
        if (r.type == PX_JOURNAL_ITEM)
            l->things += r.kind != PX_RM_KEEP;
        else if (r.type == PX_JOURNAL_PROC && from_here)
            count_process(l, &seen, &r);
    }
    px_map_fini(&seen);
}

/* What the folder's journal says, as far as there is one. */
static void read_journal(struct leftover *l, int fd, const struct stat *st)
{
    struct px_journal_view view;
    time_t now = time(NULL);

    if (!S_ISREG(st->st_mode) || st->st_uid != l->uid || st->st_nlink != 1) {
        l->note = "its journal is none";
        return;
    }
    if (now >= st->st_mtime && now - st->st_mtime < l->age_s)
        l->age_s = now - st->st_mtime;
    int errnum = load(fd, &view);
    if (errnum) {
        l->note = errnum == EFBIG ? "its journal is too long to be looked at"
                                  : "its journal cannot be read";
        return;
    }
    if (view.has_head) {
        l->pid = (int64_t)view.head.x;
        count(l, &view);
        if (!is_from_here(&view.head))
            l->note = "of another boot or container";
        else if (view.valid_b < view.size_b)
            l->note = "the end of its journal is torn";
    } else {
        l->note = "its journal is none";
    }
    px_journal_view_unload(&view);
}

/* Where locks may not be, or not be seen by all nodes, or the server has got none, the
 * process has to do (as for px_reclaim_server_dir). */
static bool is_process_alive(int journal, bool unlocked, bool shared)
{
    struct px_journal_view view;
    bool alive = unlocked;

    if (journal < 0 || load(journal, &view))
        return unlocked;
    if (view.has_head && (unlocked || shared || view.head.flags & PX_JOURNAL_UNLOCKED))
        alive = !is_from_here(&view.head) ||
                !px_proc_ended((int64_t)view.head.x, view.head.y);
    px_journal_view_unload(&view);
    return alive;
}

static bool is_alive(int dir, int journal)
{
    bool unlocked = flock(dir, LOCK_SH | LOCK_NB) < 0;

    if (unlocked && errno == EWOULDBLOCK)
        return true;
    if (!unlocked)
        flock(dir, LOCK_UN);
    return is_process_alive(journal, unlocked, !px_reclaim_is_local(dir));
}

static void look_at_folder(struct info *info, int parent, const char *name,
                           const char *path)
{
    PX_AUTOCLOSE int dir = openat(parent, name,
                                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st, journal_st;

    if (dir < 0 || fstat(dir, &st) < 0 || !is_our_business(st.st_uid))
        return;
    PX_AUTOCLOSE int journal = openat(dir, PX_JOURNAL_NAME,
                                      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool has_journal = journal >= 0 || errno != ENOENT;
    if (is_alive(dir, journal))
        return;
    struct leftover *l = add(info, LEFT_FOLDER, path, &st);
    if (journal < 0)
        l->note = !has_journal ? "it has no journal" : "its journal cannot be read";
    else if (fstat(journal, &journal_st) == 0)
        read_journal(l, journal, &journal_st);
}

/* ---- rendezvous files ----------------------------------------------------------- */

/* "nspace.rank;tcp4://..." */
static bool is_address(const char *line)
{
    const char *semicolon = strchr(line, ';');

    return semicolon && memchr(line, '.', (size_t)(semicolon - line)) &&
           (px_str_starts(semicolon + 1, "tcp4://") ||
            px_str_starts(semicolon + 1, "tcp6://") ||
            px_str_starts(semicolon + 1, "usock://"));
}

/* The process that a rendezvous file names; 0 if it names none; -1 if it is no such
 * file. */
static int64_t read_pid(int fd, size_t size)
{
    char text[MAX_FILE_B + 1], *rest = text;
    const char *line;
    uint64_t pid = 0;

    if (size > MAX_FILE_B || px_fd_read_all(fd, text, size, 0))
        return -1;
    text[size] = '\0';
    line = strsep(&rest, "\n");
    if (!is_address(line))
        return -1;
    (void)strsep(&rest, "\n"); /* the version */
    line = strsep(&rest, "\n");
    return px_str_to_u64(line, 1, INT32_MAX, &pid) ? (int64_t)pid : 0;
}

/* A living server of ours has a lock on it. */
static bool is_locked(int fd)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static void look_at_file(struct info *info, int parent, const char *name,
                         const char *path)
{
    PX_AUTOCLOSE int fd = openat(parent, name,
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        !is_our_business(st.st_uid))
        return;
    int64_t pid = read_pid(fd, (size_t)st.st_size);
    /* Of those that name no process nothing is known. */
    if (pid > 0 && !is_locked(fd) && px_proc_ended(pid, 0))
        add(info, LEFT_FILE, path, &st)->pid = pid;
}

/* ---- where ---------------------------------------------------------------------- */

static void look_into(struct info *info, DIR *dir, const char *path)
{
    struct dirent *e;

    while ((e = readdir(dir))) {
        PX_AUTOFREE char *whole = need(px_path_join(path, e->d_name));

        if (px_str_starts(e->d_name, PX_JOURNAL_DIR))
            look_at_folder(info, dirfd(dir), e->d_name, whole);
        else if (px_str_starts(e->d_name, "pmix."))
            look_at_file(info, dirfd(dir), e->d_name, whole);
    }
    closedir(dir);
}

struct seen {
    struct stat st[16];
    size_t n;
};

static bool is_new(struct seen *seen, const struct stat *st)
{
    for (size_t i = 0; i < seen->n; i++) {
        if (seen->st[i].st_dev == st->st_dev && seen->st[i].st_ino == st->st_ino)
            return false;
    }
    if (seen->n < PX_COUNT(seen->st))
        seen->st[seen->n++] = *st;
    return true;
}

/* asked: the user has named it. Whether it is there. */
static bool look_at_place(struct info *info, const char *path, bool asked,
                          struct seen *seen)
{
    DIR *dir = opendir(path);
    struct stat st;

    if (!dir) {
        if (asked || (errno != ENOENT && errno != ENOTDIR))
            add_problem(info, asked ? PX_PARAM_WRONG : PX_PARAM_ODD,
                        need_text("cannot look for leftovers in %s: %s", path,
                                  strerror(errno)));
        return false;
    }
    if (fstat(dirfd(dir), &st) == 0 && is_new(seen, &st))
        look_into(info, dir, path);
    else
        closedir(dir);
    return true;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct leftover *)a)->path,
                  ((const struct leftover *)b)->path);
}

static const char *absolute(const char *variable)
{
    const char *dir = getenv(variable);

    return dir && dir[0] == '/' ? dir : NULL;
}

/* The usual folder of servers. */
static const char *common_dir(void)
{
    static const char *const variables[] = {"TMPDIR", "TEMP", "TMP"};

    for (size_t i = 0; i < PX_COUNT(variables); i++) {
        if (absolute(variables[i]))
            return absolute(variables[i]);
    }
    return "/tmp";
}

void leftovers_find(struct info *info, const struct options *o)
{
    static const char *const own[] = {"PMIX_SERVER_TMPDIR", "PMIX_SYSTEM_TMPDIR"};
    struct seen seen = {0};

    for (size_t i = 0; i < PX_COUNT(own); i++) {
        const char *dir = absolute(own[i]);
        if (dir)
            (void)look_at_place(info, dir, false, &seen);
    }
    if (!look_at_place(info, common_dir(), false, &seen))
        (void)look_at_place(info, "/tmp", false, &seen);
    for (size_t i = 0; i < o->n_dirs; i++)
        (void)look_at_place(info, o->dirs[i], true, &seen);
    if (info->n_leftovers)
        qsort(info->leftovers, info->n_leftovers, sizeof(*info->leftovers), by_path);
}

/* ---- in words ------------------------------------------------------------------- */

const char *leftover_kind_name(enum leftover_kind kind)
{
    return kind == LEFT_FOLDER ? "folder" : "file";
}

static char *age_text(int64_t s)
{
    return s < 120             ? need_text("%lld s", (long long)s)
           : s < 2 * 3600      ? need_text("%lld min", (long long)s / 60)
           : s < 2 * 24 * 3600 ? need_text("%lld h", (long long)s / 3600)
                               : need_text("%lld days", (long long)s / (24 * 3600));
}

char *leftover_text(const struct leftover *l)
{
    PX_AUTOFREE char *age = age_text(l->age_s);
    PX_AUTOFREE char *who = l->pid ? need_text("of the server that was process %lld",
                                               (long long)l->pid)
                                   : need(strdup("of a server that is no more"));
    PX_AUTOFREE char *what = l->kind == LEFT_FILE
                                 ? need(strdup(""))
                                 : need_text(
                                       "; to remove: %zu, processes that live: %zu",
                                       l->things, l->living);

    return need_text("%s: %s %s, uid %u, %s old%s%s%s", l->path,
                     leftover_kind_name(l->kind), who, (unsigned)l->uid, age, what,
                     l->note ? "; " : "", l->note ? l->note : "");
}
