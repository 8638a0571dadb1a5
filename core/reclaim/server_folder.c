/* SPDX-License-Identifier: BSD-3-Clause */
/* The private folder of a server that is no more: whether it is one of ours, and
 * whether its server is really gone. Where many may make folders, anybody can make one
 * that looks like it. */
#include "core/reclaim/reclaim_impl.h"

#include "core/base/attr.h"
#include "core/base/fd.h"
#include "core/base/proc.h"
#include "core/reclaim/rmpath.h"
#include "core/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/vfs.h>

enum { PERMISSIONS = 0777, OF_OTHERS = 077, PRIVATE = 0700 };

static bool is_named(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && px_str_starts(slash + 1, PX_JOURNAL_DIR);
}

/* What is not among them may be a file system that other nodes have mounted, too. */
bool px_reclaim_is_local(int fd)
{
    static const uint32_t local[] = {
        0xEF53,     /* ext */
        0x58465342, /* xfs */
        0x9123683E, /* btrfs */
        0x01021994, /* tmpfs */
        0x858458F6, /* ramfs */
        0x794C7630, /* overlayfs */
        0xF2F52010, /* f2fs */
        0x2FC12FC1, /* zfs */
        0xCA451A4E, /* bcachefs */
    };
    struct statfs fs;

    if (fstatfs(fd, &fs) < 0)
        return false;
    for (size_t i = 0; i < PX_COUNT(local); i++) {
        if ((uint32_t)fs.f_type == local[i])
            return true;
    }
    return false;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* 0 if it is ours or may be; a file system may have no locks on folders (NFS). */
static int lock(int fd, bool *has_none)
{
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno == EWOULDBLOCK)
            return EBUSY;
        if (errno != EINTR) {
            *has_none = true;
            return 0;
        }
    }
    return 0;
}

static bool is_ours(const struct stat *st)
{
    return S_ISDIR(st->st_mode) && st->st_uid == geteuid() &&
           (st->st_mode & PERMISSIONS) == PRIVATE;
}

static int open_from(struct px_server_folder *f, int at)
{
    if (fstat(at, &f->st) < 0)
        return errno;
    if (!is_ours(&f->st))
        return EPERM;
    f->fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return f->fd < 0 ? errno : 0;
}

static int open_by_path(struct px_server_folder *f)
{
    struct px_rm_sys sys = {.no_links = true};

    if (!is_named(f->path))
        return EPERM;
    PX_AUTOCLOSE int way = px_rm_open_way(&sys, f->path, PX_RM_NO_CLIENT);
    if (way < 0)
        return way == -ELOOP || way == -ENOTDIR ? EPERM : -way;
    int errnum = open_from(f, way);
    if (errnum)
        return errnum;
    f->is_found = true;
    f->is_shared = !px_reclaim_is_local(f->fd);
    return lock(f->fd, &f->unlocked);
}

/* Its path may lead elsewhere by now, or nowhere: where others may rename what is
 * ours. */
static int open_locked(struct px_server_folder *f, int locked)
{
    struct px_rm_sys sys = {.no_links = true};
    struct stat there;
    bool has_none = false;
    int errnum = lock(locked, &has_none);

    if (!errnum)
        errnum = open_from(f, locked);
    if (errnum)
        return errnum;
    PX_AUTOCLOSE int way = px_rm_open_way(&sys, f->path, PX_RM_NO_CLIENT);
    if (way >= 0 && fstat(way, &there) == 0 && is_same(&there, &f->st))
        return 0;
    char now[PX_RM_MAX_PATH + 1];
    f->is_gone = f->st.st_nlink == 0 || !px_proc_fd_path(f->fd, now, sizeof(now));
    if (!f->is_gone)
        px_str_copy(f->path, sizeof(f->path), now);
    return 0;
}

static int open_journal(struct px_server_folder *f)
{
    struct stat st;
    PX_AUTOCLOSE int fd = openat(f->fd, PX_JOURNAL_NAME,
                                 O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK |
                                     O_NOCTTY | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0) /* a link, a socket, one that we may not open */
        return errno == ELOOP || errno == ENXIO || errno == EACCES || errno == EISDIR
                   ? EPERM
                   : errno;
    if (fstat(fd, &st) < 0)
        return errno;
    if (!S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_uid != geteuid() ||
        st.st_mode & OF_OTHERS)
        return EPERM;
    f->journal = px_take_fd(&fd);
    return 0;
}

int px_server_folder_open(struct px_server_folder *f, const struct px_reclaim *s,
                          const char *path, int locked)
{
    *f = (struct px_server_folder){.fd = -1, .journal = -1};
    if (px_rm_path_check(path, f->path))
        return EPERM;
    int errnum = locked < 0 ? open_by_path(f) : open_locked(f, locked);
    if (!errnum)
        errnum = open_journal(f);
    if (!errnum && f->journal < 0 && locked >= 0 && s->journal >= 0)
        f->journal = fcntl(s->journal, F_DUPFD_CLOEXEC, 0);
    return errnum;
}

void px_server_folder_close(struct px_server_folder *f)
{
    if (f->journal >= 0)
        close(f->journal);
    if (f->fd >= 0)
        close(f->fd);
    f->journal = f->fd = -1;
}

/* ---- all of them
 * ------------------------------------------------------------------ */

struct reclaim {
    const struct px_reclaim *sweep;
    char path[PX_RM_MAX_PATH + 1]; /* tmpdir, and behind it room for a name */
    size_t n;
    struct px_pcleanup_totals *totals;
    int errnum;
};

/* What is busy has its own end, and what is not ours is nobody's business here. */
static bool reclaim_one(void *arg, const char *name)
{
    struct reclaim *r = arg;

    if (!px_str_starts(name, PX_JOURNAL_DIR) ||
        !px_str_copy(r->path + r->n, sizeof(r->path) - r->n, name))
        return true;
    int errnum = px_reclaim_server_dir(r->sweep, r->path, -1, false, r->totals);
    if (errnum && errnum != EBUSY && errnum != EPERM && !r->errnum)
        r->errnum = errnum;
    return true;
}

int px_reclaim_tmpdir(const struct px_reclaim *s, const char *tmpdir,
                      struct px_pcleanup_totals *totals)
{
    struct reclaim r = {.sweep = s, .totals = totals};
    PX_AUTOCLOSE int fd = open(tmpdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOENT ? 0 : errno;
    /* its links are the administrator's; from there on none are followed */
    if (!px_proc_fd_path(fd, r.path, sizeof(r.path)) &&
        px_rm_path_check(tmpdir, r.path))
        return EINVAL;
    r.n = strlen(r.path);
    if (r.n + 1 >= sizeof(r.path))
        return ENAMETOOLONG;
    if (r.path[r.n - 1] != '/')
        r.path[r.n++] = '/';
    int errnum = px_fd_each_name(fd, reclaim_one, &r);
    return errnum ? errnum : r.errnum;
}
