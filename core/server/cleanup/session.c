/* SPDX-License-Identifier: BSD-3-Clause */
/* The private folder of a server, with its journal. The server may be killed between
 * any two system calls. So the cleaning component gets the folder's name before the
 * folder exists. Other paths are in the journal before they are made. */
#include "core/server/cleanup/session.h"

#include "core/base/buf.h"
#include "core/base/env.h"
#include "core/base/fd.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/model/nspace.h"
#include "core/os/os.h"
#include "core/rt/owner.h"
#include "core/link/rendezvous.h"
#include "core/model/resources.h"
#include "core/plugin/select.h"
#include "core/reclaim/rmtree.h"
#include "core/rt/log.h"
#include "core/server/cleanup/registry.h"
#include "core/server/server.h"
#include "frameworks/framework.h"
#include "tenon/pcleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define JOURNAL_NEW PX_JOURNAL_NAME ".new"

enum {
    MAX_TRIES = 16,           /* names to try for the folder */
    COMPACT_FROM_B = 1 << 16, /* a shorter journal is not rewritten */
    COMPACT_RATIO = 4,
};

/* ---- directories from the host --------------------------------------------------- */

/* Returns a directory of the host, or NULL if it is not given or not a path. */
static const char *given_dir(const pmix_info_t *info, size_t n, const char *key)
{
    const pmix_info_t *i = px_info_find(info, n, key);
    const char *dir = i ? px_value_string(&i->value) : NULL;

    if (dir && *dir)
        return dir;
    if (i)
        px_log(PX_LOG_WARN, "server", "cannot use attribute %s: %s", key,
               dir ? "it is empty" : "the value has no string");
    return NULL;
}

/* Stores the directories as attributes: programs query all of them, and not every host
 * gives them. */
static pmix_status_t learn_dirs(struct px_server *srv, const pmix_info_t *info,
                                size_t n)
{
    struct px_session *s = srv->part.session;
    const char *session = given_dir(info, n, PMIX_TMPDIR);
    const char *server = given_dir(info, n, PMIX_SERVER_TMPDIR);
    const char *system = given_dir(info, n, PMIX_SYSTEM_TMPDIR);
    const char *own = server ? server : px_env("PMIX_SERVER_TMPDIR");
    char normal[PX_RM_MAX_PATH + 1];
    PX_AUTO(px_infos) infos = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    s->keep_dirs = px_info_flag(info, n, PMIX_TDIR_RMCLEAN);
    if (own && px_rm_path_check(own, normal) == NULL)
        s->own_tmpdir = strdup(normal);
    if (!server)
        server = session;
    srv->tmpdir = server ? strdup(server)
                         : px_rendezvous_dir(NULL, 0, "", "PMIX_SERVER_TMPDIR");
    srv->system_tmpdir = system ? strdup(system)
                                : px_rendezvous_dir(NULL, 0, "", "PMIX_SYSTEM_TMPDIR");
    if (!srv->tmpdir || !srv->system_tmpdir)
        return PMIX_ERR_NOMEM;
    const char *const rows[][2] = {
        {PMIX_SERVER_TMPDIR, srv->tmpdir},
        {PMIX_SYSTEM_TMPDIR, srv->system_tmpdir},
        {PMIX_TMPDIR, session},
        {PMIX_NSDIR, given_dir(info, n, PMIX_NSDIR)},
        {PMIX_LAUNCHER_RENDEZVOUS_FILE,
         given_dir(info, n, PMIX_LAUNCHER_RENDEZVOUS_FILE)},
    };
    for (size_t i = 0; !rc && i < PX_COUNT(rows); i++)
        if (rows[i][1])
            rc = px_infos_add(&infos, rows[i][0], rows[i][1], PMIX_STRING);
    if (!rc && px_info_find(info, n, PMIX_TDIR_RMCLEAN))
        rc = px_infos_add(&infos, PMIX_TDIR_RMCLEAN, &s->keep_dirs, PMIX_BOOL);
    return rc ? rc : px_resources_set(srv->model, infos.v, infos.n);
}

/* ---- the journal ----------------------------------------------------------------- */

bool px_session_can_record(const struct px_server *srv)
{
    const struct px_session *s = srv->part.session;

    return s && s->journal_fd >= 0 && !s->torn;
}

/* Appends in one write, so that a kill leaves all of it or a torn end. */
static pmix_status_t append_bytes(struct px_session *s, const px_buf *bytes)
{
    ssize_t done;

    if (s->torn || s->length + bytes->len > PX_JOURNAL_MAX_B)
        return PMIX_ERR_OUT_OF_RESOURCE;
    done = px_fd_write(s->journal_fd, bytes->data, bytes->len);
    if (done == (ssize_t)bytes->len) {
        s->length += bytes->len;
        return PMIX_SUCCESS;
    }
    /* Nothing behind a torn record would be read. */
    if (done > 0 && ftruncate(s->journal_fd, (off_t)s->length) < 0)
        s->torn = true;
    return PMIX_ERR_OUT_OF_RESOURCE;
}

static pmix_status_t encode(px_buf *out, const struct px_journal_record *r, size_t n)
{
    uint8_t bytes[PX_JOURNAL_RECORD_B];
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++) {
        size_t len = px_journal_encode(&r[i], bytes);

        rc = len ? px_buf_add(out, bytes, len) : PMIX_ERR_BAD_PARAM;
    }
    return rc;
}

pmix_status_t px_session_record(struct px_server *srv,
                                const struct px_journal_record *r, size_t n)
{
    struct px_session *s = srv->part.session;
    PX_AUTO(px_buf) bytes = {0};

    if (!px_session_can_record(srv))
        return PMIX_ERR_NOT_AVAILABLE;
    if (s->rewrite) {
        if (s->rewrite->data && encode(s->rewrite, r, n))
            px_buf_cleanup(s->rewrite); /* then the journal is not rewritten */
        return PMIX_SUCCESS;
    }
    pmix_status_t rc = encode(&bytes, r, n);
    return rc ? rc : append_bytes(s, &bytes);
}

static const char *node_name(const struct px_server *srv)
{
    return srv->model->hostname[0] ? srv->model->hostname : srv->node_name;
}

/* Creates a journal. It replaces an older one only in struct px_session. */
static pmix_status_t begin_journal(struct px_server *srv, const char *name)
{
    struct px_session *s = srv->part.session;
    char whereabouts[320];
    struct px_journal_record head = {.type = PX_JOURNAL_HEAD,
                                     .flags = s->unlocked ? PX_JOURNAL_UNLOCKED : 0,
                                     .uid = geteuid(),
                                     .gid = getegid(),
                                     .x = (uint64_t)getpid(),
                                     .y = px_journal_start_time(getpid()),
                                     .path = whereabouts};
    PX_AUTO(px_buf) bytes = {0};
    pmix_status_t rc;
    int fd = openat(s->dir_fd, name,
                    O_CREAT | O_EXCL | O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                    0600);

    if (fd < 0)
        return px_status_of_errno(errno);
    px_journal_whereabouts(node_name(srv), whereabouts);
    s->journal_fd = fd;
    s->length = 0;
    s->torn = false;
    rc = encode(&bytes, &head, 1);
    return rc ? rc : append_bytes(s, &bytes);
}

static pmix_status_t give_journal(const struct px_session *s)
{
    return s->cleaner ? PX_OPS(pcleanup, s->cleaner)
                            ->journal(s->cleaner->self, s->dir_fd, s->journal_fd)
                      : PMIX_SUCCESS;
}

/* Rewrites the journal. The new one takes the old one's name only when it is
 * complete. */
bool px_session_compact(struct px_server *srv, void (*each)(struct px_server *srv))
{
    struct px_session *s = srv->part.session;
    PX_AUTO(px_buf) bytes = {0};

    if (!px_session_can_record(srv) ||
        s->length <= COMPACT_FROM_B + COMPACT_RATIO * s->fresh ||
        px_buf_reserve(&bytes, PX_JOURNAL_RECORD_B))
        return false;
    const struct px_session was = *s;
    s->rewrite = &bytes;
    each(srv);
    s->rewrite = NULL;
    (void)unlinkat(s->dir_fd, JOURNAL_NEW, 0);
    if (!bytes.data || begin_journal(srv, JOURNAL_NEW) || append_bytes(s, &bytes) ||
        renameat(s->dir_fd, JOURNAL_NEW, s->dir_fd, PX_JOURNAL_NAME) < 0) {
        if (s->journal_fd != was.journal_fd) {
            close(s->journal_fd);
            (void)unlinkat(s->dir_fd, JOURNAL_NEW, 0);
        }
        *s = was;
        s->fresh = was.length; /* avoids a new try at once */
        return false;
    }
    s->fresh = s->length;
    close(was.journal_fd);
    if (give_journal(s))
        px_log(PX_LOG_WARN, "cleanup", "pcleanup/%s refused the new journal",
               s->cleaner->component->name);
    return true;
}

/* ---- the folder ------------------------------------------------------------------ */

/* True if the folder still has its name. Until it is locked, a starting server of this
 * user may take it for a leftover and remove it. Then another name is needed. */
static bool is_still_there(const struct px_session *s, const char *dir)
{
    struct stat st;

    return lstat(dir, &st) == 0 && st.st_dev == s->device && st.st_ino == s->inode;
}

/* Opens and locks the folder. PMIX_ERR_EXISTS: try another name. */
static pmix_status_t lock_folder(struct px_session *s, const char *dir,
                                 struct px_err *err)
{
    struct stat st;

    s->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->dir_fd < 0 && errno == ENOENT)
        return PMIX_ERR_EXISTS;
    if (s->dir_fd < 0 || fstat(s->dir_fd, &st) < 0)
        return px_err_errno(err, "cannot open %s", dir);
    s->device = st.st_dev;
    s->inode = st.st_ino;
    if (st.st_uid != geteuid())
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
                          "cannot use %s: it became another user's", dir);
    /* Folders may inherit mode bits, and the umask may remove some. */
    if ((st.st_mode & 07777) != 0700 && fchmod(s->dir_fd, 0700) < 0)
        return px_err_errno(err, "cannot make %s private", dir);
    /* systemd-tmpfiles does not touch a locked folder. Some file systems have no locks,
     * or a system may have none left: the journal then records that. */
    s->unlocked = PX_RETRY(flock(s->dir_fd, LOCK_EX | LOCK_NB)) < 0;
    return (s->unlocked && errno == EWOULDBLOCK) || !is_still_there(s, dir)
               ? PMIX_ERR_EXISTS
               : PMIX_SUCCESS;
}

static pmix_status_t make_folder(struct px_server *srv, const char *dir,
                                 struct px_err *err)
{
    struct px_session *s = srv->part.session;
    pmix_status_t rc;

    if (mkdir(dir, 0700) < 0)
        return errno == EEXIST ? PMIX_ERR_EXISTS
                               : px_err_errno(err, "cannot make a directory %s", dir);
    rc = lock_folder(s, dir, err);
    if (!rc) {
        rc = begin_journal(srv, PX_JOURNAL_NAME);
        if (rc == PMIX_ERR_NOT_FOUND)
            rc = PMIX_ERR_EXISTS;
        else if (rc)
            px_err_set(err, rc, "cannot write a journal in %s: %s", dir,
                       PMIx_Error_string(rc));
    }
    if (rc) {
        if (s->journal_fd >= 0)
            (void)unlinkat(s->dir_fd, PX_JOURNAL_NAME, 0);
        px_drop_fd(&s->journal_fd);
        (void)rmdir(dir);
        px_drop_fd(&s->dir_fd);
    }
    return rc;
}

/* ---- the cleaning component ------------------------------------------------------ */

static void start_cleaner(struct px_server *srv, const char *dir)
{
    struct px_session *s = srv->part.session;
    size_t n;
    const struct px_module *m = px_modules("pcleanup", &n);
    const struct px_pcleanup_ops *ops = n ? PX_OPS(pcleanup, m) : NULL;
    pmix_status_t rc;

    s->cleaner = NULL;
    if (!ops || (geteuid() == 0 && !(ops->flags & PX_PCLEANUP_OUTLIVES)))
        return;
    rc = ops->start(m->self, dir, node_name(srv));
    if (rc)
        px_log(
            PX_LOG_WARN, "cleanup",
            "cannot start pcleanup/%s: %s; if this server is killed, the next server "
            "removes its files",
            m->component->name, PMIx_Error_string(rc));
    else
        s->cleaner = m;
}

static void finish_cleaner(struct px_session *s, bool left)
{
    if (s->cleaner)
        PX_OPS(pcleanup, s->cleaner)->finish(s->cleaner->self, left);
    s->cleaner = NULL;
}

/* ---- places ---------------------------------------------------------------------- */

static bool try_place(struct px_server *srv, const char *place, struct px_err *err)
{
    struct px_session *s = srv->part.session;
    pmix_status_t rc = PMIX_ERR_EXISTS;
    char random[7] = "";

    for (int i = 0; i < MAX_TRIES && rc == PMIX_ERR_EXISTS; i++) {
        PX_AUTOFREE char *dir = NULL;

        px_path_random(random, sizeof(random) - 1);
        dir = px_strf("%s/" PX_JOURNAL_DIR "%s", strcmp(place, "/") == 0 ? "" : place,
                      random);
        if (!dir) {
            px_err_set(err, PMIX_ERR_NOMEM, "out of memory");
            return false;
        }
        start_cleaner(srv, dir);
        rc = make_folder(srv, dir, err);
        if (rc)
            finish_cleaner(s, false);
        else
            srv->dir = px_take(&dir);
    }
    return !rc;
}

/* Chooses a place. First one where no other user could replace the folder: its owner
 * could make root work elsewhere. If no place is safe, any place is taken: in a
 * container a folder's owner may be unknown. */
static bool find_place(struct px_server *srv, char *const *places, size_t n,
                       struct px_err *err)
{
    for (int any = 0; any < 2; any++)
        for (size_t i = 0; i < n; i++)
            if (places[i] &&
                (any || !px_is_privileged() || !px_path_check_holder(places[i], err)) &&
                try_place(srv, places[i], err))
                return true;
    return false;
}

/* ---- leftovers of dead servers --------------------------------------------------- */

static void on_reclaimed(void *arg, pmix_status_t status,
                         const struct px_pcleanup_totals *t)
{
    struct px_session *s = arg;

    s->n_reclaiming--;
    if (status) {
        s->removed.failed++;
        px_log(PX_LOG_INFO, "cleanup",
               "cannot remove all leftovers of dead servers: %s",
               PMIx_Error_string(status));
    } else {
        s->n_reclaimed++;
        px_pcleanup_add(&s->removed, t);
        if (t->files + t->dirs > 0)
            px_log(PX_LOG_INFO, "cleanup",
                   "removed leftovers of dead servers: %llu files, %llu directories",
                   (unsigned long long)t->files, (unsigned long long)t->dirs);
    }
    if (s->n_reclaiming == 0 && s->cleanup)
        px_cleanup_finish_if_idle(s->cleanup);
}

/* Starts to reclaim leftovers in these folders. /tmp is among them for servers whose
 * own directories were missing. Skips NULL and duplicates. */
static void reclaim(struct px_session *s, char *const *places, size_t n)
{
    for (size_t i = 0; s->cleaner && i < n; i++) {
        size_t k = 0;

        while (places[i] && k < i && (!places[k] || strcmp(places[k], places[i]) != 0))
            k++;
        if (!places[i] || k < i)
            continue;
        s->n_reclaiming++;
        pmix_status_t rc = PX_OPS(pcleanup, s->cleaner)
                               ->reclaim(s->cleaner->self, places[i], on_reclaimed, s);
        if (rc)
            on_reclaimed(s, rc, NULL);
    }
}

pmix_status_t px_session_create(struct px_server *srv,
                                const struct px_server_start *start)
{
    struct px_session *s = srv->part.session;
    struct px_err why = {.text = "no such directory"};
    enum { N = 3 };
    char *places[N];
    pmix_status_t rc;

    s->cleanup = srv->part.cleanup;
    s->dir_fd = s->journal_fd = -1;
    rc = learn_dirs(srv, start->info, start->n_info);
    if (rc) {
        px_session_end(srv, false);
        return rc;
    }
    /* Resolved, as removing follows no links. NULL: missing. */
    const char *const wanted[N] = {srv->tmpdir, srv->system_tmpdir, "/tmp"};
    for (size_t i = 0; i < N; i++)
        places[i] = wanted[i][0] == '/' ? realpath(wanted[i], NULL) : NULL;
    if (!find_place(srv, places, N, &why))
        px_log(PX_LOG_INFO, "server", "cannot make a private directory: %s", why.text);
    s->fresh = s->length;
    rc = give_journal(s);
    if (rc) {
        px_log(PX_LOG_WARN, "cleanup", "pcleanup/%s refused the journal: %s",
               s->cleaner->component->name, PMIx_Error_string(rc));
        finish_cleaner(s, true);
    }
    reclaim(s, places, N);
    for (size_t i = 0; i < N; i++)
        free(places[i]);
    return PMIX_SUCCESS;
}

/* ---- the end --------------------------------------------------------------------- */

void px_session_log_kept(void *arg PX_UNUSED, const char *path, enum px_rm_why why,
                         int errnum)
{
    if (why != PX_RM_ASKED)
        px_log(PX_LOG_INFO, "server", "cannot remove %s: %s", path,
               errnum ? strerror(errnum) : "it is not ours");
}

/* True to continue the walk: the name is the journal's. */
static bool is_journal(void *all, const char *name)
{
    *(bool *)all = strcmp(name, PX_JOURNAL_NAME) == 0;
    return *(bool *)all;
}

bool px_session_is_bare(const struct px_session *s)
{
    PX_AUTOCLOSE int fd = openat(s->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool all = true;

    return fd >= 0 && !px_os_each_name(fd, is_journal, &all) && all;
}

/* Removes a folder with nothing but the journal, relative to its parent folder, without
 * a path lookup. */
static bool remove_bare(const struct px_session *s, const char *dir)
{
    const char *name = strrchr(dir, '/') + 1;
    struct stat st;

    if (!s->swept && !px_session_is_bare(s))
        return false;
    PX_AUTOCLOSE int place = openat(s->dir_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place < 0 || fstatat(place, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        st.st_dev != s->device || st.st_ino != s->inode)
        return false;
    (void)unlinkat(s->dir_fd, PX_JOURNAL_NAME, 0);
    return unlinkat(place, name, AT_REMOVEDIR) == 0;
}

/* Removes the folder. True if it is gone. */
static bool remove_folder(const struct px_session *s, const char *dir, bool last)
{
    const struct px_rm_item item = {.path = dir,
                                    .kind = PX_RM_DIR,
                                    .flags = PX_RM_RECURSE | PX_RM_ANY_GID | PX_RM_SAME,
                                    .device = s->device,
                                    .inode = s->inode};
    struct px_pcleanup_totals totals = {0};
    int errnum;

    if (remove_bare(s, dir) || !is_still_there(s, dir))
        return true;
    errnum = px_rm_run(&item, 1, geteuid(), getegid(), px_session_log_kept, NULL,
                       &totals);
    if (last && (errnum || is_still_there(s, dir)))
        px_log(PX_LOG_WARN, "server", "cannot remove %s: %s", dir,
               errnum ? strerror(errnum) : "it is not empty");
    return false;
}

void px_session_end(struct px_server *srv, bool left)
{
    struct px_session *s = srv->part.session;

    left = left && s->journal_fd >= 0;
    bool gone = !srv->dir || left || remove_folder(s, srv->dir, false);
    finish_cleaner(s, left);
    px_drop_fd(&s->journal_fd);
    /* NFS has kept the journal while it was open, and so the folder. */
    if (!gone)
        (void)remove_folder(s, srv->dir, true);
    px_drop_fd(&s->dir_fd);
    free(px_take(&s->own_tmpdir));
    free(px_take(&srv->dir));
}
