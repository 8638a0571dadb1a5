/* SPDX-License-Identifier: BSD-3-Clause */
/* Leftovers of dead servers of this user; for root, of all users. Reads only. Every
 * user may write to the searched folders, so the files may have any contents. */
#include "contrib/tools/pmix_info/info.h"
#include "contrib/tools/toolkit.h"

#include "core/base/fd.h"
#include "core/base/path.h"
#include "core/os/os.h"
#include "core/os/proc.h"
#include "core/base/str.h"
#include "core/reclaim/server_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define MAX_FILE_B 4096 /* maximum size of a rendezvous file */

/* ---- folders -------------------------------------------------------------- */

static bool is_our_business(uid_t uid)
{
    return geteuid() == 0 || uid == geteuid();
}

static struct leftover *add(struct info *info, const char *kind, const char *path,
                            uid_t uid, time_t changed)
{
    time_t now = time(NULL);
    struct leftover *l;

    info->leftovers = grow(info->leftovers, info->n_leftovers + 1,
                           sizeof(*info->leftovers));
    l = &info->leftovers[info->n_leftovers++];
    *l = (struct leftover){.kind = kind,
                           .path = need(strdup(path)),
                           .uid = uid,
                           .age_s = now > changed ? now - changed : 0};
    return l;
}

static void look_at_folder(struct info *info, int parent, const char *name,
                           const char *path)
{
    PX_AUTOCLOSE int dir = openat(parent, name,
                                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct px_reclaim_left left;
    struct stat st;

    if (dir < 0 || fstat(dir, &st) < 0 || !is_our_business(st.st_uid))
        return;
    int errnum = px_reclaim_inspect(dir, &left);
    if (errnum)
        fail("cannot look into %s: %s", path, strerror(errnum));
    if (left.alive)
        return;
    struct leftover *l = add(info, "folder", path, st.st_uid, left.changed);
    l->pid = left.pid;
    l->things = left.things;
    l->living = left.living;
    l->note = left.note;
}

/* ---- rendezvous files ----------------------------------------------------------- */

/* Returns the process in a rendezvous file; 0 if the file does not name a process; -1
 * if the file is not a rendezvous file. */
static int64_t read_pid(int fd, size_t size)
{
    char text[MAX_FILE_B + 1], *rest = text;
    const char *line;
    uint64_t pid = 0;

    if (size > MAX_FILE_B || px_fd_read_all(fd, text, size, 0))
        return -1;
    text[size] = '\0';
    line = strsep(&rest, "\n");
    const char *semicolon = strchr(line, ';'); /* "nspace.rank;tcp4://..." */
    if (!semicolon || !memchr(line, '.', (size_t)(semicolon - line)) ||
        !(px_str_starts(semicolon + 1, "tcp4://") ||
          px_str_starts(semicolon + 1, "tcp6://") ||
          px_str_starts(semicolon + 1, "usock://")))
        return -1;
    (void)strsep(&rest, "\n"); /* the version */
    line = strsep(&rest, "\n");
    return px_str_to_u64(line, 1, INT32_MAX, &pid) ? (int64_t)pid : 0;
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
    /* A living server holds a lock on the file. A file without a process is skipped. */
    if (pid > 0 && !px_os_is_locked(fd, 0, 0) && px_osproc_ended(pid, 0))
        add(info, "file", path, st.st_uid, st.st_mtime)->pid = pid;
}

/* ---- where ---------------------------------------------------------------------- */

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

/* Searches a folder; false if the folder cannot be opened. asked: named by the user. */
static bool look_at_place(struct info *info, const char *path, bool asked,
                          struct seen *seen)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    struct stat st;

    if (!dir) {
        if (asked || (errno != ENOENT && errno != ENOTDIR))
            add_problem(info, asked ? PX_PARAM_WRONG : PX_PARAM_ODD,
                        need_text("cannot look for leftovers in %s: %s", path,
                                  strerror(errno)));
        return false;
    }
    bool is_wanted = fstat(dirfd(dir), &st) == 0 && is_new(seen, &st);
    while (is_wanted && (e = readdir(dir))) {
        PX_AUTOFREE char *whole = need(px_path_join(path, e->d_name));

        if (px_str_starts(e->d_name, PX_JOURNAL_DIR))
            look_at_folder(info, dirfd(dir), e->d_name, whole);
        else if (px_str_starts(e->d_name, "pmix."))
            look_at_file(info, dirfd(dir), e->d_name, whole);
    }
    closedir(dir);
    return true;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct leftover *)a)->path,
                  ((const struct leftover *)b)->path);
}

void leftovers_find(struct info *info, const struct options *o)
{
    /* Servers use the first that is set of TMPDIR, TEMP and TMP. */
    static const char *const variables[] = {"PMIX_SERVER_TMPDIR", "PMIX_SYSTEM_TMPDIR",
                                            "TMPDIR", "TEMP", "TMP"};
    const char *common = NULL;
    struct seen seen = {0};

    for (size_t i = 0; i < PX_COUNT(variables); i++) {
        const char *dir = getenv(variables[i]);

        if (!dir || dir[0] != '/')
            continue;
        if (i < 2)
            (void)look_at_place(info, dir, false, &seen);
        else if (!common)
            common = dir;
    }
    if (!common || !look_at_place(info, common, false, &seen))
        (void)look_at_place(info, "/tmp", false, &seen);
    for (char **dir = o->dirs; *dir; dir++)
        (void)look_at_place(info, *dir, true, &seen);
    if (info->n_leftovers)
        qsort(info->leftovers, info->n_leftovers, sizeof(*info->leftovers), by_path);
}

/* ---- in words ------------------------------------------------------------------- */

char *leftover_text(const struct leftover *l)
{
    static const struct {
        int64_t below_s, unit_s;
        const char *unit;
    } ages[] = {{120, 1, "s"},
                {2 * 3600, 60, "min"},
                {2 * 24 * 3600, 3600, "h"},
                {INT64_MAX, 24 * 3600, "days"}};
    PX_AUTOFREE char *server = l->pid ? need_text("of the server that was process %lld",
                                                  (long long)l->pid)
                                      : need(strdup("of a server that has ended"));
    PX_AUTOFREE char *rest = strcmp(l->kind, "file") == 0
                                 ? need(strdup(""))
                                 : need_text(
                                       "; to remove: %zu, processes that live: %zu",
                                       l->things, l->living);
    size_t i = 0;

    while (l->age_s >= ages[i].below_s)
        i++;
    return need_text("%s: %s %s, uid %u, %lld %s old%s%s%s", l->path, l->kind, server,
                     (unsigned)l->uid, (long long)(l->age_s / ages[i].unit_s),
                     ages[i].unit, rest, l->note ? "; " : "", l->note ? l->note : "");
}
