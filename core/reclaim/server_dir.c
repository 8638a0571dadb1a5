/* SPDX-License-Identifier: BSD-3-Clause */
/* What is left to do of a server that is no more. The journal goes last, and a scope
 * that was swept is noted in it, so that a process that is killed here is followed by
 * another that neither leaves something nor removes anything twice. Where many may make
 * folders, anyone can make one that looks like a server's. */
#include "core/reclaim/server_dir.h"

#include "core/base/attr.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/proc.h"
#include "core/base/str.h"
#include "core/reclaim/process.h"
#include "core/reclaim/rmpath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- the folder: is it one of ours, and is its server gone?
 * ----------------------- */

struct folder {
    char path[PX_RM_MAX_PATH + 1]; /* where it is now */
    bool is_gone;                  /* then where it was */
    struct stat st;
    int fd;         /* open for reading, and locked by us or the caller */
    bool unlocked;  /* its file system has no such locks */
    int journal;    /* -1: there is none */
    bool is_found;  /* by its path: whoever opens it is not its server's own */
    bool is_shared; /* its file system may be that of other nodes, too */
};

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

static int open_from(struct folder *f, int at)
{
    if (fstat(at, &f->st) < 0)
        return errno;
    if (!is_ours(&f->st))
        return EPERM;
    f->fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return f->fd < 0 ? errno : 0;
}

static int open_by_path(struct folder *f)
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
static int open_locked(struct folder *f, int locked)
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

static int open_journal(struct folder *f)
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

static int folder_open(struct folder *f, const struct px_reclaim *s, const char *path,
                       int locked)
{
    *f = (struct folder){.fd = -1, .journal = -1};
    if (px_rm_path_check(path, f->path))
        return EPERM;
    int errnum = locked < 0 ? open_by_path(f) : open_locked(f, locked);
    if (!errnum)
        errnum = open_journal(f);
    if (!errnum && f->journal < 0 && locked >= 0 && s->journal >= 0)
        f->journal = fcntl(s->journal, F_DUPFD_CLOEXEC, 0);
    return errnum;
}

static void folder_close(struct folder *f)
{
    if (f->journal >= 0)
        close(f->journal);
    if (f->fd >= 0)
        close(f->fd);
    f->journal = f->fd = -1;
}

/* ---- the remains
 * ------------------------------------------------------------------ */

enum {
    GRACE_MS = 2000, /* for what was killed, where nobody waits for processes */
    MAX_WATCHED = 64,
    LOOK_AGAIN_MS = 50, /* where not all can be watched */
    GATHER_MS = 5,      /* ends come in crowds */
    OWN_SCOPE = 0,
};

struct remains {
    struct px_reclaim sweep;
    struct folder folder;
    struct px_journal_view view;
    bool is_here; /* pids of the journal mean something */
    bool can_note;
    size_t end_b; /* of the journal */
    struct px_pcleanup_totals *totals;
    int errnum; /* the first of scopes that could not be swept */
    px_rm_told_fn told;
    void *arg;
};

/* ---- processes ------------------------------------------------------------------ */

static bool is_alive(const struct remains *r, const struct px_journal_entry *entry,
                     struct px_journal_record *record)
{
    if (entry->type != PX_JOURNAL_PROC || !r->is_here)
        return false;
    px_journal_view_get(&r->view, entry, record);
    return !px_proc_ended((int64_t)record->x, record->y);
}

static bool has_ended(const struct remains *r, size_t first, size_t n)
{
    struct px_journal_record record;

    for (size_t i = first; i < first + n; i++) {
        if (is_alive(r, &r->view.entries[i], &record))
            return false;
    }
    return true;
}

static bool kill_all(const struct remains *r)
{
    bool any = false;

    for (size_t i = 0; r->is_here && i < r->view.n; i++) {
        struct px_journal_record record;

        if (r->view.entries[i].type != PX_JOURNAL_PROC)
            continue;
        px_journal_view_get(&r->view, &r->view.entries[i], &record);
        px_reclaim_kill(&record);
        any |= (record.flags & PX_JOURNAL_END) != 0;
    }
    return any;
}

/* Until one of those that are waited for has ended, or it is time to look again. */
static void await_one(const struct remains *r, uint64_t deadline_ms)
{
    struct pollfd watched[MAX_WATCHED];
    size_t n = 0, alive = 0;
    uint64_t now = px_clock_ms();

    for (size_t i = 0; i < r->view.n && alive <= MAX_WATCHED; i++) {
        struct px_journal_record record;

        if (!is_alive(r, &r->view.entries[i], &record))
            continue;
        alive++;
        int fd = n < MAX_WATCHED ? px_reclaim_pidfd((int64_t)record.x, record.y) : -1;
        if (fd >= 0)
            watched[n++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    uint64_t left = deadline_ms > now ? deadline_ms - now : 0;
    int timeout = n < alive ? LOOK_AGAIN_MS : -1;
    if (deadline_ms && (timeout < 0 || left < (uint64_t)timeout))
        timeout = left < INT_MAX ? (int)left : INT_MAX;
    if (alive)
        poll(watched, n, timeout);
    for (size_t i = 0; i < n; i++)
        close(watched[i].fd);
    poll(NULL, 0, GATHER_MS);
}

/* ---- scopes --------------------------------------------------------------------- */

/* Behind a record that is torn nothing would be seen. */
static void begin_notes(struct remains *r)
{
    r->end_b = r->view.valid_b;
    r->can_note = r->end_b == r->view.size_b ||
                  ftruncate(r->folder.journal, (off_t)r->end_b) == 0;
}

/* So that the next to come does not remove what has come to stand there since. If the
 * disk is full, he does. */
static void note_done(struct remains *r, uint64_t scope)
{
    uint8_t bytes[PX_JOURNAL_RECORD_B];
    const struct px_journal_record done = {.type = PX_JOURNAL_DONE, .scope = scope};
    size_t n = px_journal_encode(&done, bytes);

    if (!r->can_note)
        return;
    if (write(r->folder.journal, bytes, n) == (ssize_t)n)
        r->end_b += n;
    else
        r->can_note = ftruncate(r->folder.journal, (off_t)r->end_b) == 0;
}

static void reclaim_one_scope(struct remains *r, size_t first, size_t n)
{
    uint64_t scope = r->view.entries[first].scope;
    int errnum = px_reclaim_entries(&r->sweep, &r->view, first, n, NULL, r->totals);

    if (!errnum)
        note_done(r, scope);
    else if (!r->errnum)
        r->errnum = errnum;
    for (size_t i = first; i < first + n; i++) {
        struct px_journal_record record;

        px_journal_view_get(&r->view, &r->view.entries[i], &record);
        r->view.entries[i].past = true;
        if (record.kind != PX_RM_KEEP) /* which counts for the scopes that are left */
            r->view.entries[i].type = PX_JOURNAL_NONE;
    }
}

/* Sweeps the scopes that nobody lives for any more. Whether others are left. */
static bool reclaim_ended(struct remains *r)
{
    bool left = false;

    for (size_t first = 0, n; first < r->view.n; first += n) {
        n = px_journal_view_scope(&r->view, first);
        if (!has_ended(r, first, n))
            left = true;
        else if (r->view.entries[first].scope != OWN_SCOPE &&
                 !r->view.entries[first].past)
            reclaim_one_scope(r, first, n);
    }
    return left;
}

static int reclaim_scopes(struct remains *r, bool wait, bool killed)
{
    uint64_t deadline = wait ? 0 : px_clock_ms() + (killed ? GRACE_MS : 0);

    while (reclaim_ended(r)) {
        if (!wait && px_clock_ms() >= deadline)
            return EBUSY;
        await_one(r, deadline);
    }
    return r->errnum;
}

/* ---- the server's own ----------------------------------------------------------- */

/* That we spare our own journal until the end is of no interest to anybody. */
static void tell(void *arg, const char *path, enum px_rm_why why, int errnum)
{
    const struct remains *r = arg;

    if (r->told && why != PX_RM_ASKED)
        r->told(r->arg, path, why, errnum);
}

static int reclaim_own(struct remains *r, bool files_only)
{
    const struct px_reclaim_pick pick = {.files_only = files_only,
                                         .spare = r->folder.path};
    struct px_pcleanup_totals totals = {0};
    size_t n = r->view.n && r->view.entries[0].scope == OWN_SCOPE
                   ? px_journal_view_scope(&r->view, 0)
                   : 0;
    int errnum = px_reclaim_entries(&r->sweep, &r->view, 0, n, &pick, &totals);

    totals.kept = 0;
    px_pcleanup_add(r->totals, &totals);
    return errnum;
}

static int walk_own(struct remains *r, const struct px_rm_item *items, size_t n)
{
    struct px_pcleanup_totals totals = {0};
    int errnum = px_reclaim_walk(&r->sweep, items, n, geteuid(), getegid(), &totals);

    totals.kept = 0;
    px_pcleanup_add(r->totals, &totals);
    return errnum;
}

/* Folders that we have made for ours to stand in. */
static size_t add_ancestors(const struct remains *r, struct px_rm_item *items)
{
    size_t n = 0;

    for (size_t i = 0; i < r->view.n && r->view.entries[i].scope == OWN_SCOPE; i++) {
        struct px_journal_record record;

        if (r->view.entries[i].type != PX_JOURNAL_ITEM)
            continue;
        px_journal_view_get(&r->view, &r->view.entries[i], &record);
        if (record.kind == PX_RM_DIR && record.uid == geteuid() &&
            strcmp(record.path, r->folder.path) != 0 &&
            px_rm_path_is_in(r->folder.path, record.path))
            items[n++] = (struct px_rm_item){.path = record.path,
                                             .kind = record.kind,
                                             .flags = (uint8_t)record.flags,
                                             .device = record.x,
                                             .inode = record.y};
    }
    return n;
}

/* All in it but the journal first; then that, the folder, and those around it. NFS
 * keeps what is removed while it is open, under another name. */
static int remove_folder(struct remains *r)
{
    static const char name[] = "/" PX_JOURNAL_NAME;
    char journal[PX_RM_MAX_PATH + sizeof(name)];
    size_t n = strlen(r->folder.path),
           size_b = (r->view.n + 2) * sizeof(struct px_rm_item);
    struct px_rm_item *items = px_reclaim_map(size_b);

    if (!items)
        return ENOMEM;
    memcpy(journal, r->folder.path, n);
    memcpy(journal + n, name, sizeof(name));
    items[0] = (struct px_rm_item){.path = r->folder.path,
                                   .kind = PX_RM_DIR,
                                   .flags = PX_RM_RECURSE | PX_RM_ANY_GID | PX_RM_SAME,
                                   .device = r->folder.st.st_dev,
                                   .inode = r->folder.st.st_ino};
    items[1] = (struct px_rm_item){.path = journal, .kind = PX_RM_KEEP};
    int errnum = 0;
    if (r->folder.journal >= 0)
        errnum = walk_own(r, items, 2);
    if (!errnum) {
        px_drop_fd(&r->folder.journal);
        r->can_note = false;
        n = 1 + add_ancestors(r, items + 1);
        errnum = walk_own(r, items, n);
    }
    px_reclaim_unmap(items, size_b);
    return errnum;
}

/* ---- all of it ------------------------------------------------------------------ */

static int do_remains(struct remains *r, bool wait)
{
    int errnum = r->folder.journal >= 0
                     ? px_journal_view_load(r->folder.journal, NULL, &r->view)
                     : 0;

    if (errnum)
        return errnum;
    r->is_here = r->view.has_head && px_journal_is_here(&r->view.head, r->sweep.node);
    if (px_journal_view_in_use(&r->view, r->is_here, r->folder.unlocked,
                               r->folder.is_shared, r->folder.is_found))
        return EBUSY;
    if (!r->view.has_head)
        r->view.n = 0;
    begin_notes(r);
    bool killed = kill_all(r);
    errnum = reclaim_own(r, true);
    if (!errnum && r->is_here)
        errnum = reclaim_scopes(r, wait, killed);
    if (!errnum)
        errnum = reclaim_own(r, false);
    return errnum || r->folder.is_gone ? errnum : remove_folder(r);
}

int px_reclaim_server_dir(const struct px_reclaim *s, const char *dir, int locked,
                          bool wait, struct px_pcleanup_totals *totals)
{
    struct remains r = {.sweep = *s, .totals = totals, .told = s->told, .arg = s->arg};

    r.sweep.told = tell;
    r.sweep.arg = &r;
    int errnum = folder_open(&r.folder, s, dir, locked);
    if (!errnum) {
        errnum = do_remains(&r, wait);
        px_journal_view_unload(&r.view);
    }
    folder_close(&r.folder);
    return errnum == ENOENT ? 0 : errnum;
}

/* ---- all of them ---------------------------------------------------------------- */

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
