/* SPDX-License-Identifier: BSD-3-Clause */
/* Completes the removals of a server that has ended. The journal is removed last, and
 * each finished scope is recorded in the journal. So if this process is killed, another
 * continues: nothing is left and nothing is removed twice. In a shared folder any user
 * can make a folder that looks like a server's. */
#include "core/reclaim/server_dir.h"

#include "core/base/attr.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/map.h"
#include "core/base/path.h"
#include "core/os/os.h"
#include "core/os/proc.h"
#include "core/base/str.h"
#include "core/os/group.h"
#include "core/reclaim/process.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum {
    GRACE_MS = 2000,  /* for killed processes to end if wait is false */
    CHECK_MS = 250,   /* between checks of processes without a pidfd */
    GATHER_MS = 5,    /* collects processes that end at about the same time */
    ORPHAN_MS = 1000, /* maximum wait for a lock that outlives its server */
    OWN_SCOPE = 0,
};

#define MAX_INSPECTED_B (64l << 20) /* longer journals take too long to inspect */

/* A server's folder and the pending work. */
struct remains {
    struct px_reclaim sweep;
    struct px_pcleanup_totals *totals;
    char path[PX_RM_MAX_PATH + 1]; /* the current path of the folder */
    bool is_gone;                  /* the folder was removed; path is its old path */
    struct stat st;
    int fd;         /* open for reading; locked here or by the caller */
    bool unlocked;  /* the file system does not support flock */
    bool is_found;  /* opened by path, not by the server itself */
    bool is_shared; /* other nodes may share the file system */
    int journal;    /* -1: absent */
    struct px_journal_view view;
    bool is_here; /* the journal's pids are valid here */
    size_t end_b; /* end of the journal; 0: records cannot be appended */
};

/* ---- the folder: is it a server's, and has the server ended? -------------------- */

/* Locks a folder. Returns EBUSY if another process holds the lock, otherwise 0. Sets
 * *has_none if the file system cannot lock folders, like NFS. */
static int lock(int fd, int how, bool *has_none)
{
    int errnum = PX_RETRY(flock(fd, how | LOCK_NB)) < 0 ? errno : 0;

    *has_none = errnum && errnum != EWOULDBLOCK;
    return errnum == EWOULDBLOCK ? EBUSY : 0;
}

/* Opens the journal. Returns EPERM unless the file is the owner's; for writing, only
 * the owner may have access. */
static int open_journal(int dir, uid_t owner, int how, int *journal)
{
    struct stat st;
    PX_AUTOCLOSE int fd = openat(dir, PX_JOURNAL_NAME,
                                 how | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) < 0)
        return errno;
    if (!S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_uid != owner ||
        (how != O_RDONLY && st.st_mode & 077))
        return EPERM;
    *journal = px_take_fd(&fd);
    return 0;
}

/* True if the lock's server has ended. A child forked just before still holds the lock
 * until exec or exit. */
static bool is_orphaned(const struct remains *r)
{
    uint8_t bytes[PX_JOURNAL_RECORD_B];
    struct px_journal_record head;
    size_t at = 0;
    int journal = -1;

    if (open_journal(r->fd, geteuid(), O_RDONLY, &journal))
        return false;
    ssize_t n = PX_RETRY(read(journal, bytes, sizeof(bytes)));
    close(journal);
    return n > 0 && px_journal_next(bytes, (size_t)n, &at, &head) &&
           head.type == PX_JOURNAL_HEAD && px_journal_is_here(&head, r->sweep.node) &&
           px_osproc_ended((int64_t)head.x, head.y);
}

/* Opens and locks the folder, by path or by the caller's descriptor. With a descriptor,
 * the folder may have been renamed or removed since. */
static int open_folder(struct remains *r, int locked)
{
    struct px_rm_sys sys = {.no_links = true};
    uint64_t deadline_ms = px_clock_ms() + ORPHAN_MS;
    char now[PX_RM_MAX_PATH + 1];
    struct stat there;
    bool has_none;

    r->is_found = locked < 0;
    PX_AUTOCLOSE int way = px_rm_open_way(&sys, r->path, PX_RM_NO_CLIENT);
    if (r->is_found && way < 0)
        return way == -ELOOP || way == -ENOTDIR ? EPERM : -way;
    int at = r->is_found ? way : locked;
    if (fstat(at, &r->st) < 0)
        return errno;
    if (!S_ISDIR(r->st.st_mode) || r->st.st_uid != geteuid() ||
        (r->st.st_mode & 0777) != 0700)
        return EPERM;
    r->fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->fd < 0)
        return errno;
    int errnum = lock(r->is_found ? r->fd : locked, LOCK_EX, &has_none);
    while (errnum == EBUSY && r->is_found && px_clock_ms() < deadline_ms &&
           is_orphaned(r)) {
        poll(NULL, 0, GATHER_MS);
        errnum = lock(r->fd, LOCK_EX, &has_none);
    }
    r->unlocked = r->is_found && has_none;
    r->is_shared = r->is_found && !px_os_fs_is_local(r->fd);
    if (errnum || r->is_found ||
        (way >= 0 && fstat(way, &there) == 0 && px_is_same(&there, &r->st)))
        return errnum;
    r->is_gone = r->st.st_nlink == 0 || !px_osproc_fd_path(r->fd, now, sizeof(now));
    if (!r->is_gone)
        px_str_copy(r->path, sizeof(r->path), now);
    return 0;
}

/* True if the server lives although we got the lock. Shared file systems may lock per
 * node only. Then the process decides, and other nodes clean up their own remains.
 * Other file systems have no locks, or the server could not get a lock. The last case
 * does not apply to the server's own descriptor. */
static bool is_in_use(const struct remains *r)
{
    const struct px_journal_view *view = &r->view;
    bool has_no_lock = view->has_head && view->head.flags & PX_JOURNAL_UNLOCKED;

    if (!r->unlocked && !(r->is_shared && view->has_head) &&
        !(r->is_found && has_no_lock))
        return false;
    return !r->is_here || !px_osproc_ended((int64_t)view->head.x, view->head.y);
}

/* ---- processes ------------------------------------------------------------------ */

static bool is_alive(const struct remains *r, const struct px_journal_entry *entry,
                     struct px_journal_record *record)
{
    if (entry->type != PX_JOURNAL_PROC || !r->is_here)
        return false;
    px_journal_view_get(&r->view, entry, record);
    return !px_osproc_ended((int64_t)record->x, record->y);
}

static void kill_all(const struct remains *r)
{
    struct px_journal_record record;
    bool any = false;

    for (size_t i = 0; r->is_here && i < r->view.n; i++) {
        px_journal_view_get(&r->view, &r->view.entries[i], &record);
        px_reclaim_kill(&record);
        any |= record.type == PX_JOURNAL_PROC && record.flags & PX_JOURNAL_END;
    }
    /* A server that ended in order has none left, and a successor may use the same
     * process. */
    if (any) {
        px_reclaim_kill_tagged((int64_t)r->view.head.x, r->view.head.y, true);
        px_group_end((int64_t)r->view.head.x, r->view.head.y, px_reclaim_kill_one);
    }
}

/* Waits until a process of the view has ended or CHECK_MS are over. With a
 * deadline, waits for killed processes only. */
static void await_one(const struct remains *r, uint64_t deadline_ms)
{
    struct pollfd ended = {.fd = -1, .events = POLLIN};
    uint64_t now = px_clock_ms(), left = CHECK_MS;
    struct px_journal_record record;

    for (size_t i = 0; i < r->view.n && ended.fd < 0; i++) {
        if (is_alive(r, &r->view.entries[i], &record) &&
            (!deadline_ms || record.flags & PX_JOURNAL_END))
            ended.fd = px_os_pidfd_open((int64_t)record.x);
    }
    if (deadline_ms && deadline_ms < now + left)
        left = deadline_ms > now ? deadline_ms - now : 0;
    poll(&ended, 1, (int)left);
    px_drop_fd(&ended.fd);
    poll(NULL, 0, GATHER_MS);
}

/* ---- scopes --------------------------------------------------------------------- */

/* Records that the scope is done, so that a later process does not remove new files at
 * the same paths. A full disk prevents this. */
static void note_done(struct remains *r, uint64_t scope)
{
    uint8_t bytes[PX_JOURNAL_RECORD_B];
    const struct px_journal_record done = {.type = PX_JOURNAL_DONE, .scope = scope};
    size_t n = px_journal_encode(&done, bytes);

    if (!r->end_b)
        return;
    if (write(r->journal, bytes, n) == (ssize_t)n)
        r->end_b += n;
    else if (ftruncate(r->journal, (off_t)r->end_b) < 0)
        r->end_b = 0;
}

static int reclaim_one_scope(struct remains *r, size_t first, size_t n)
{
    int errnum = px_reclaim_entries(&r->sweep, &r->view, first, NULL, r->totals);

    if (!errnum)
        note_done(r, r->view.entries[first].scope);
    for (struct px_journal_entry *e = &r->view.entries[first]; n-- > 0; e++) {
        struct px_journal_record record;

        px_journal_view_get(&r->view, e, &record);
        e->past = true;
        if (record.kind != PX_RM_KEEP) /* KEEP paths still count for other scopes */
            e->type = PX_JOURNAL_NONE;
    }
    return errnum;
}

/* Removes the scopes whose processes have all ended. True if others are left. Sets
 * *dying if a process of those was killed. */
static bool reclaim_ended(struct remains *r, bool *dying, int *result)
{
    struct px_journal_record record;
    bool left = false;

    *dying = false;
    for (size_t first = 0, n; first < r->view.n; first += n) {
        const struct px_journal_entry *e = &r->view.entries[first];
        bool alive = false;

        n = px_journal_view_scope(&r->view, first);
        if (e->scope == OWN_SCOPE || e->past)
            continue;
        for (size_t i = 0; i < n; i++) {
            if (!is_alive(r, &e[i], &record))
                continue;
            alive = true;
            *dying |= record.flags & PX_JOURNAL_END;
        }
        left |= alive;
        int errnum = alive ? 0 : reclaim_one_scope(r, first, n);
        if (!*result)
            *result = errnum;
    }
    return left;
}

static int reclaim_scopes(struct remains *r, bool wait)
{
    uint64_t deadline = wait ? 0 : px_clock_ms() + GRACE_MS;
    int result = 0;
    bool dying;

    while (reclaim_ended(r, &dying, &result)) {
        if (!wait && (!dying || px_clock_ms() >= deadline))
            return EBUSY;
        await_one(r, deadline);
    }
    return result;
}

/* ---- the server's own files ----------------------------------------------------- */

/* Removes the server's own items. The journal, spared until the end, does not count as
 * kept. */
static int reclaim_own(struct remains *r, int which)
{
    const struct px_reclaim_pick pick = {.which = which, .spare = r->path};
    const uint64_t kept = r->totals->kept;

    if (!r->view.n || r->view.entries[0].scope != OWN_SCOPE)
        return 0;
    int errnum = px_reclaim_entries(&r->sweep, &r->view, 0, &pick, r->totals);
    r->totals->kept = kept;
    return errnum;
}

/* Removes the folder's content, then journal and folder, then the parent folders. The
 * journal is closed first, because NFS keeps an open file under another name. */
static int remove_folder(struct remains *r)
{
    char journal[PX_RM_MAX_PATH + sizeof("/" PX_JOURNAL_NAME)];
    const struct px_rm_item items[] = {
        {.path = r->path,
         .kind = PX_RM_DIR,
         .flags = PX_RM_RECURSE | PX_RM_ANY_GID | PX_RM_SAME,
         .device = r->st.st_dev,
         .inode = r->st.st_ino},
        {.path = journal, .kind = PX_RM_KEEP},
    };
    const uint64_t kept = r->totals->kept;
    int errnum = 0;

    px_str_copy(journal, sizeof(journal), r->path);
    memcpy(journal + strlen(journal), "/" PX_JOURNAL_NAME, sizeof("/" PX_JOURNAL_NAME));
    if (r->journal >= 0)
        errnum = px_reclaim_walk(&r->sweep, items, 2, geteuid(), getegid(), r->totals);
    r->totals->kept = kept;
    if (errnum)
        return errnum;
    px_drop_fd(&r->journal);
    errnum = px_reclaim_walk(&r->sweep, items, 1, geteuid(), getegid(), r->totals);
    return errnum ? errnum : reclaim_own(r, PX_RECLAIM_ABOVE);
}

/* ---- all work of a folder ------------------------------------------------------- */

static int do_remains(struct remains *r, bool wait)
{
    int errnum = r->journal >= 0 ? px_journal_view_load(r->journal, NULL, &r->view) : 0;

    if (errnum)
        return errnum;
    r->is_here = r->view.has_head && px_journal_is_here(&r->view.head, r->sweep.node);
    if (is_in_use(r))
        return EBUSY;
    if (!r->view.has_head)
        r->view.n = 0;
    r->end_b = r->view.valid_b; /* readers stop at a torn record */
    if (r->end_b != r->view.size_b && ftruncate(r->journal, (off_t)r->end_b) < 0)
        r->end_b = 0;
    kill_all(r);
    errnum = reclaim_own(r, PX_RECLAIM_FILES);
    if (!errnum && r->is_here)
        errnum = reclaim_scopes(r, wait);
    if (!errnum)
        errnum = reclaim_own(r, PX_RECLAIM_TREES);
    return errnum || r->is_gone ? errnum : remove_folder(r);
}

int px_reclaim_server_dir(const struct px_reclaim *s, const char *dir, int locked,
                          bool wait, struct px_pcleanup_totals *totals)
{
    struct remains r = {.sweep = *s, .totals = totals, .fd = -1, .journal = -1};
    int errnum = px_rm_path_check(dir, r.path) ? EPERM : open_folder(&r, locked);

    if (!errnum)
        errnum = open_journal(r.fd, geteuid(), O_RDWR | O_APPEND, &r.journal);
    if (r.fd >= 0 && (errnum == ELOOP || errnum == ENXIO || errnum == EACCES ||
                      errnum == EISDIR)) /* a link, a socket or an unreadable file */
        errnum = EPERM;
    if (errnum == ENOENT && r.fd >= 0) {
        errnum = 0;
        if (locked >= 0 && s->journal >= 0)
            r.journal = fcntl(s->journal, F_DUPFD_CLOEXEC, 0);
    }
    if (!errnum)
        errnum = do_remains(&r, wait);
    px_journal_view_unload(&r.view);
    px_drop_fd(&r.journal);
    px_drop_fd(&r.fd);
    return errnum == ENOENT ? 0 : errnum;
}

/* ---- all folders of a tmpdir ---------------------------------------------------- */

struct reclaim {
    const struct px_reclaim *sweep;
    char path[PX_RM_MAX_PATH + 1]; /* tmpdir and a name */
    size_t n;
    struct px_pcleanup_totals *totals;
    int errnum;
};

/* Handles one folder. Busy folders and other users' folders are skipped. */
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
    /* tmpdir's links are the administrator's; no links below are followed */
    if (!px_osproc_fd_path(fd, r.path, sizeof(r.path)) &&
        px_rm_path_check(tmpdir, r.path))
        return EINVAL;
    r.n = strlen(r.path);
    if (r.n + 1 >= sizeof(r.path))
        return ENAMETOOLONG;
    if (r.path[r.n - 1] != '/')
        r.path[r.n++] = '/';
    int errnum = px_os_each_name(fd, reclaim_one, &r);
    return errnum ? errnum : r.errnum;
}

/* ---- inspection, which changes nothing ------------------------------------------ */

/* Returns the problem of the journal, or NULL. Pids of another boot or container are
 * not valid here. The node's name does not matter, because one machine may act as
 * several nodes. */
static const char *inspect_journal(struct remains *r, uid_t owner, time_t *changed)
{
    struct stat st;
    int errnum = open_journal(r->fd, owner, O_RDONLY, &r->journal);

    if (errnum)
        return errnum == ENOENT  ? "it has no journal"
               : errnum == EPERM ? "its journal is not valid"
                                 : "its journal cannot be read";
    if (fstat(r->journal, &st) < 0)
        return "its journal cannot be read";
    if (st.st_mtime > *changed)
        *changed = st.st_mtime;
    if (st.st_size > MAX_INSPECTED_B)
        return "its journal is too long to be looked at";
    if (px_journal_view_load(r->journal, NULL, &r->view))
        return "its journal cannot be read";
    if (!r->view.has_head)
        return "its journal is not valid";
    r->is_here = px_journal_is_here(&r->view.head, NULL);
    if (!r->is_here)
        return "of another boot or container";
    return r->view.valid_b < r->view.size_b ? "the end of its journal is torn" : NULL;
}

/* Counts items and living processes. A process in several scopes counts once. */
static int count(const struct remains *r, struct px_reclaim_left *left)
{
    struct px_map seen = {0};
    int errnum = 0;

    for (size_t i = 0; i < r->view.n && !errnum; i++) {
        struct px_journal_record record;
        void *before = NULL;

        px_journal_view_get(&r->view, &r->view.entries[i], &record);
        left->things += record.type == PX_JOURNAL_ITEM && record.kind != PX_RM_KEEP;
        if (!is_alive(r, &r->view.entries[i], &record))
            continue;
        const uint64_t key[] = {record.x, record.y};
        errnum = px_map_put(&seen, key, sizeof(key), left, &before) ? ENOMEM : 0;
        left->living += !before;
    }
    px_map_fini(&seen);
    return errnum;
}

int px_reclaim_inspect(int dir, struct px_reclaim_left *out)
{
    struct remains r = {.fd = dir,
                        .journal = -1,
                        .is_found = true,
                        .is_shared = !px_os_fs_is_local(dir)};
    struct px_reclaim_left left = {0};
    int errnum = 0;

    if (fstat(dir, &r.st) < 0)
        return errno;
    left.changed = r.st.st_mtime;
    left.alive = lock(dir, LOCK_SH, &r.unlocked) != 0;
    if (!left.alive) {
        flock(dir, LOCK_UN);
        left.note = inspect_journal(&r, r.st.st_uid, &left.changed);
        left.alive = is_in_use(&r);
    }
    if (!left.alive && r.view.has_head) {
        left.pid = (int64_t)r.view.head.x;
        errnum = count(&r, &left);
    }
    px_journal_view_unload(&r.view);
    px_drop_fd(&r.journal);
    if (!errnum)
        *out = left;
    return errnum;
}
