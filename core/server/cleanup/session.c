/* SPDX-License-Identifier: BSD-3-Clause */
/* The private folder of a server and the journal in it. Between any two system calls the server
 * may be killed: so whoever finishes its work knows the folder's name before there is a folder, and
 * what else is made stands in the journal before it is made. */
#include "core/base/buf.h"
#include "core/base/fd.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/config/owner.h"
#include "core/server/cleanup/session_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#define JOURNAL_NEW PX_JOURNAL_NAME ".new"

enum {
    MAX_TRIES = 16,           /* names for the folder */
    COMPACT_FROM_B = 1 << 16, /* a shorter journal is not worth writing anew */
    COMPACT_RATIO = 4,
};

/* ---- the journal -------------------------------------------------------------------------------- */

bool px_session_can_record(const struct px_server *srv)
{
    const struct px_session *s = srv->session;

    return s && s->journal_fd >= 0 && !s->torn;
}

/* One write, so that the end of the server leaves all of it or a torn end. */
static pmix_status_t append_bytes(struct px_session *s, const uint8_t *bytes, size_t n)
{
    ssize_t done;

    if (s->torn || s->length + n > PX_JOURNAL_MAX_B)
        return PMIX_ERR_OUT_OF_RESOURCE;
    done = px_fd_write(s->journal_fd, bytes, n);
    if (done == (ssize_t)n) {
        s->length += n;
        return PMIX_SUCCESS;
    }
    /* Nothing behind a torn record would be seen. */
    if (done > 0 && ftruncate(s->journal_fd, (off_t)s->length) < 0)
        s->torn = true;
    return PMIX_ERR_OUT_OF_RESOURCE;
}

static pmix_status_t append(struct px_session *s, const struct px_journal_record *r,
                            size_t n_records)
{
    PX_AUTO(px_buf) all = {0};
    uint8_t bytes[PX_JOURNAL_RECORD_B];

    for (size_t i = 0; i < n_records; i++) {
        size_t n = px_journal_encode(&r[i], bytes);

        if (n == 0)
            return PMIX_ERR_BAD_PARAM;
        if (n_records == 1)
            return append_bytes(s, bytes, n);
        if (px_buf_add(&all, bytes, n))
            return PMIX_ERR_NOMEM;
    }
    return append_bytes(s, all.data, all.len);
}

pmix_status_t px_session_record_all(struct px_server *srv,
                                    const struct px_journal_record *r, size_t n)
{
    pmix_status_t rc;

    if (!px_session_can_record(srv))
        return PMIX_ERR_NOT_AVAILABLE;
    rc = append(srv->session, r, n);
    if (rc)
        srv->session->missed = true;
    return rc;
}

pmix_status_t px_session_record(struct px_server *srv,
                                const struct px_journal_record *r)
{
    return px_session_record_all(srv, r, 1);
}

static const char *node_name(void)
{
    const struct px_model *m = px_process.model;

    return m && m->hostname[0] ? m->hostname : px_process.host;
}

/* Takes the place of the journal there is, if any, in *s only. */
static pmix_status_t begin_journal(struct px_session *s, const char *name)
{
    char whereabouts[320];
    struct px_journal_record head = {.type = PX_JOURNAL_HEAD,
                                     .flags = s->unlocked ? PX_JOURNAL_UNLOCKED : 0,
                                     .uid = geteuid(),
                                     .gid = getegid(),
                                     .x = (uint64_t)getpid(),
                                     .y = px_journal_start_time(getpid()),
                                     .path = whereabouts};
    int fd = openat(s->dir_fd, name,
                    O_CREAT | O_EXCL | O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                    0600);

    if (fd < 0)
        return px_status_of_errno(errno);
    px_journal_whereabouts(node_name(), whereabouts);
    s->journal_fd = fd;
    s->length = 0;
    s->torn = false;
    return append(s, &head, 1);
}

static bool is_worth_it(const struct px_session *s)
{
    return s->length > COMPACT_FROM_B + COMPACT_RATIO * s->fresh;
}

/* The new one takes the old one's name when it is whole, and only then. */
static bool rewrite(struct px_server *srv, void (*each)(struct px_server *srv))
{
    struct px_session *s = srv->session;

    (void)unlinkat(s->dir_fd, JOURNAL_NEW, 0);
    if (begin_journal(s, JOURNAL_NEW))
        return false;
    s->missed = false;
    px_session_items_record(srv);
    if (each)
        each(srv);
    return !s->missed &&
           renameat(s->dir_fd, JOURNAL_NEW, s->dir_fd, PX_JOURNAL_NAME) == 0;
}

void px_session_compact(struct px_server *srv, void (*each)(struct px_server *srv))
{
    struct px_session *s = srv->session;

    if (!px_session_can_record(srv) || !is_worth_it(s))
        return;
    struct px_session was = *s;
    if (!rewrite(srv, each)) {
        if (s->journal_fd != was.journal_fd) {
            close(s->journal_fd);
            (void)unlinkat(s->dir_fd, JOURNAL_NEW, 0);
        }
        s->journal_fd = was.journal_fd;
        s->length = was.length;
        s->torn = was.torn;
        s->fresh = was.length; /* not again at once */
        return;
    }
    s->fresh = s->length;
    if (s->cleaner &&
        px_session_ops(s)->journal(s->cleaner->self, s->dir_fd, s->journal_fd))
        px_log(PX_LOG_WARN, "cleanup", "pcleanup/%s does not take the new journal",
               s->cleaner->component->name);
    close(was.journal_fd);
}

/* ---- the folder --------------------------------------------------------------------------------- */

enum outcome { MADE, AGAIN, NOT_HERE };

/* A server of this user that starts may think the folder is left over as long as we have no lock
 * on it: then it is gone, and another name is due. */
static bool is_still_there(const struct px_session *s, const char *dir)
{
    struct stat st;

    return lstat(dir, &st) == 0 && st.st_dev == s->device && st.st_ino == s->inode;
}

/* systemd-tmpfiles, too, leaves alone what is locked. Some file systems have no locks, and a system may
 * have none left: then the journal says so. False if somebody else has it. */
static bool lock_it(struct px_session *s)
{
    int rc;

    do
        rc = flock(s->dir_fd, LOCK_EX | LOCK_NB);
    while (rc < 0 && errno == EINTR);
    s->unlocked = rc < 0;
    return rc == 0 || errno != EWOULDBLOCK;
}

static enum outcome lock_folder(struct px_session *s, const char *dir,
                                struct px_err *err)
{
    struct stat st;

    s->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->dir_fd < 0 && errno == ENOENT)
        return AGAIN;
    if (s->dir_fd < 0 || fstat(s->dir_fd, &st) < 0) {
        px_err_errno(err, "cannot open %s", dir);
        return NOT_HERE;
    }
    s->device = st.st_dev;
    s->inode = st.st_ino;
    if (st.st_uid != geteuid()) {
        px_err_set(err, PMIX_ERR_NO_PERMISSIONS, "%s became another's", dir);
        return NOT_HERE;
    }
    /* Folders may inherit bits, and the umask may take some. */
    if ((st.st_mode & 07777) != 0700 && fchmod(s->dir_fd, 0700) < 0) {
        px_err_errno(err, "cannot make %s private", dir);
        return NOT_HERE;
    }
    if (!lock_it(s))
        return AGAIN;
    return is_still_there(s, dir) ? MADE : AGAIN;
}

static void leave_folder(struct px_session *s, const char *dir)
{
    if (s->journal_fd >= 0) {
        (void)unlinkat(s->dir_fd, PX_JOURNAL_NAME, 0);
        close(s->journal_fd);
    }
    (void)rmdir(dir);
    if (s->dir_fd >= 0)
        close(s->dir_fd);
    s->dir_fd = s->journal_fd = -1;
}

static enum outcome make_folder(struct px_session *s, const char *dir,
                                struct px_err *err)
{
    enum outcome o;
    pmix_status_t rc;

    if (mkdir(dir, 0700) < 0) {
        if (errno == EEXIST)
            return AGAIN;
        px_err_errno(err, "cannot make a directory %s", dir);
        return NOT_HERE;
    }
    o = lock_folder(s, dir, err);
    if (o == MADE) {
        rc = begin_journal(s, PX_JOURNAL_NAME);
        if (rc)
            px_err_set(err, rc, "cannot write a journal in %s: %s", dir,
                       PMIx_Error_string(rc));
        if (rc)
            o = rc == PMIX_ERR_NOT_FOUND ? AGAIN : NOT_HERE;
    }
    if (o != MADE)
        leave_folder(s, dir);
    return o;
}

/* ---- who finishes the work ------------------------------------------------------------------------ */

static void tell_start(struct px_session *s, const char *dir)
{
    size_t n;
    const struct px_module *m = px_modules("pcleanup", &n);
    const struct px_pcleanup_ops *ops;
    pmix_status_t rc;

    s->cleaner = NULL;
    /* Only where whoever removes becomes the user first may root's be asked. */
    if (n == 0 || (geteuid() == 0 && strcmp(m->component->name, "janitor") != 0))
        return;
    ops = m->component->ops;
    rc = ops->start(m->self, dir, node_name());
    if (rc)
        px_log(PX_LOG_WARN, "cleanup",
               "pcleanup/%s cannot start: %s; what is left if this server is killed, "
               "the next one removes",
               m->component->name, PMIx_Error_string(rc));
    else
        s->cleaner = m;
}

static void tell_finish(struct px_session *s, bool left)
{
    if (s->cleaner)
        px_session_ops(s)->finish(s->cleaner->self, left);
    s->cleaner = NULL;
}

static void tell_journal(struct px_session *s)
{
    pmix_status_t rc;

    if (!s->cleaner)
        return;
    rc = px_session_ops(s)->journal(s->cleaner->self, s->dir_fd, s->journal_fd);
    if (!rc)
        return;
    px_log(PX_LOG_WARN, "cleanup", "pcleanup/%s does not take the journal: %s",
           s->cleaner->component->name, PMIx_Error_string(rc));
    tell_finish(s, true);
}

/* ---- places ------------------------------------------------------------------------------------------ */

/* Without links in it, as those who remove go through none. NULL: it is not there. */
static char *real_place(const char *dir)
{
    return dir[0] == '/' ? realpath(dir, NULL) : NULL;
}

static enum outcome try_name(struct px_server *srv, const char *place,
                             struct px_err *err)
{
    struct px_session *s = srv->session;
    PX_AUTOFREE char *dir = NULL;
    char random[7] = "";
    enum outcome o;

    px_path_random(random, sizeof(random) - 1);
    dir = px_strf("%s/" PX_JOURNAL_DIR "%s", strcmp(place, "/") == 0 ? "" : place,
                  random);
    if (!dir) {
        px_err_set(err, PMIX_ERR_NOMEM, "out of memory");
        return NOT_HERE;
    }
    tell_start(s, dir);
    o = make_folder(s, dir, err);
    if (o == MADE)
        srv->dir = px_take(&dir);
    else
        tell_finish(s, false);
    return o;
}

static bool try_place(struct px_server *srv, const char *place, struct px_err *err)
{
    enum outcome o = AGAIN;

    for (int i = 0; i < MAX_TRIES && o == AGAIN; i++)
        o = try_name(srv, place, err);
    return o == MADE;
}

/* Whether others could put another folder in the place of ours there. It has to be asked where they
 * would gain by that: a user to whom the folder belongs has root work elsewhere in his stead. */
static bool is_safe(const char *place, struct px_err *err)
{
    return !px_is_privileged() || !px_path_check_holder(place, err);
}

/* Returns which place it is; n: none. If none is safe (in a container nobody knows whose a folder is)
 * any will do. */
static size_t find_place(struct px_server *srv, char *const *places, size_t n,
                         struct px_err *err)
{
    for (int any = 0; any < 2; any++)
        for (size_t i = 0; i < n; i++)
            if (places[i] && (any || is_safe(places[i], err)) &&
                try_place(srv, places[i], err))
                return i;
    return n;
}

static pmix_status_t create(struct px_server *srv, const struct px_server_start *start)
{
    const pmix_info_t *info = start->info;
    size_t n = start->n_info;
    struct px_err *err = start->err;
    const char *wanted[] = {srv->tmpdir, srv->system_tmpdir, "/tmp"};
    const char *own = px_info_str(info, n, PMIX_SERVER_TMPDIR);
    char *places[PX_COUNT(wanted)] = {NULL};
    struct px_err why = {.text = "there is no such directory"};
    struct px_session *s = srv->session = calloc(1, sizeof(*s));
    size_t found;

    if (!s)
        return px_err_set(err, PMIX_ERR_NOMEM, "out of memory");
    s->dir_fd = s->journal_fd = -1;
    px_list_init(&s->drops);
    s->keep_dirs = px_info_flag(info, n, PMIX_TDIR_RMCLEAN);
    if (!own)
        own = secure_getenv("PMIX_SERVER_TMPDIR");
    s->own_tmpdir = own ? strdup(own) : NULL;
    if (own && !s->own_tmpdir)
        return px_err_set(err, PMIX_ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < PX_COUNT(wanted); i++)
        places[i] = real_place(wanted[i]);
    found = find_place(srv, places, PX_COUNT(places), &why);
    if (!srv->dir)
        px_log(PX_LOG_INFO, "server", "no private directory: %s", why.text);
    s->fresh = s->length;
    tell_journal(s);
    /* The last is for want of a better one, and else nobody's business. */
    if (found < PX_COUNT(places) - 1)
        free(px_take(&places[PX_COUNT(places) - 1]));
    px_session_reclaim(srv, places, PX_COUNT(places));
    for (size_t i = 0; i < PX_COUNT(places); i++)
        free(places[i]);
    return PMIX_SUCCESS;
}

/* ---- the end ------------------------------------------------------------------------------------------- */

const struct px_module *px_session_cleaner(const struct px_server *srv)
{
    return srv->session ? srv->session->cleaner : NULL;
}

static void remove_folder(const struct px_session *s, const char *dir, bool last)
{
    const struct px_rm_item item = {.path = dir,
                                    .kind = PX_RM_DIR,
                                    .flags = PX_RM_RECURSE | PX_RM_ANY_GID | PX_RM_SAME,
                                    .device = s->device,
                                    .inode = s->inode};
    struct px_rm_totals totals = {0};
    int errnum;

    if (!is_still_there(s, dir))
        return;
    errnum = px_rm_run(&item, 1, geteuid(), getegid(), px_session_tell_kept, NULL,
                       &totals);
    if (last && (errnum || is_still_there(s, dir)))
        px_log(PX_LOG_WARN, "server", "cannot remove %s%s%s", dir, errnum ? ": " : "",
               errnum ? strerror(errnum) : "");
}

static void destroy(struct px_server *srv)
{
    struct px_session *s = srv->session;
    bool left;

    if (!s)
        return;
    if (!s->swept)
        px_session_sweep(srv);
    left = (srv->cleanup_left || !s->swept) && s->journal_fd >= 0;
    if (srv->dir && !left)
        remove_folder(s, srv->dir, false);
    tell_finish(s, left);
    if (s->journal_fd >= 0)
        close(s->journal_fd);
    /* NFS has kept a journal that was open, and with it the folder. */
    if (srv->dir && !left)
        remove_folder(s, srv->dir, true);
    if (s->dir_fd >= 0)
        close(s->dir_fd);
    px_session_items_free(s);
    free(s->own_tmpdir);
    free(s);
    srv->session = NULL;
    free(srv->dir);
    srv->dir = NULL;
}

const struct px_server_part px_session_part = {
    .name = "session", .create = create, .destroy = destroy};
