/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server has made in the file system, known by what it is and not only by its name: kept
 * here and in scope 0 of the journal, and removed. */
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/rt/log.h"
#include "core/server/cleanup/session_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* A folder that the component removes while the server lives. */
struct drop {
    struct px_list link;
    struct px_server *srv;
    uint64_t scope;
    struct px_made what;
};

static void drop_free(struct drop *d)
{
    px_list_remove(&d->link);
    free(d->what.path);
    free(d);
}

/* ---- records ------------------------------------------------------------------------------------ */

static pmix_status_t record_made(struct px_server *srv, const struct px_made *m,
                                 uint64_t scope, uint32_t slot)
{
    struct px_journal_record r = {.type = PX_JOURNAL_ITEM,
                                  .kind = m->kind,
                                  .flags = m->flags,
                                  .scope = scope,
                                  .slot = slot,
                                  .uid = geteuid(),
                                  .gid = getegid(),
                                  .x = m->device,
                                  .y = m->inode,
                                  .path = m->path};
    pmix_status_t rc = px_session_record(srv, &r);

    return rc == PMIX_ERR_NOT_AVAILABLE ? PMIX_SUCCESS : rc;
}

void px_session_items_record(struct px_server *srv)
{
    const struct px_session *s = srv->session;

    for (uint32_t i = 0; i < s->n_made; i++)
        if (s->made[i].path)
            (void)record_made(srv, &s->made[i], 0, i);
    PX_LIST_EACH (&srv->session->drops, struct drop, d, link)
        (void)record_made(srv, &d->what, d->scope, 0);
}

static pmix_status_t new_slot(struct px_session *s, uint32_t *slot)
{
    struct px_made *more;
    uint32_t i = 0;

    while (i < s->n_made && s->made[i].path)
        i++;
    if (i == PX_JOURNAL_MAX_SLOT)
        return PMIX_ERR_OUT_OF_RESOURCE;
    if (i == s->n_made) {
        more = realloc(s->made, (i + 1) * sizeof(*more));
        if (!more)
            return PMIX_ERR_NOMEM;
        s->made = more;
        s->n_made++;
    }
    s->made[i] = (struct px_made){0};
    *slot = i;
    return PMIX_SUCCESS;
}

pmix_status_t px_session_made(struct px_server *srv, const char *path, uint8_t kind,
                              uint8_t flags, const struct stat *identity,
                              uint32_t *slot)
{
    struct px_session *s = srv->session;
    struct px_made m = {.kind = kind, .flags = flags | PX_RM_ANY_GID};
    uint32_t at = *slot;
    pmix_status_t rc = PMIX_SUCCESS;

    if (identity) {
        m.flags |= PX_RM_SAME;
        m.device = identity->st_dev;
        m.inode = identity->st_ino;
    }
    m.path = strdup(path);
    if (!m.path)
        return PMIX_ERR_NOMEM;
    if (at == PX_SESSION_NEW)
        rc = new_slot(s, &at);
    if (!rc)
        rc = record_made(srv, &m, 0, at);
    if (rc) {
        free(m.path);
        return rc;
    }
    free(s->made[at].path);
    s->made[at] = m;
    *slot = at;
    return PMIX_SUCCESS;
}

void px_session_unmade(struct px_server *srv, uint32_t slot)
{
    struct px_session *s = srv->session;
    struct px_journal_record none = {.type = PX_JOURNAL_NONE, .slot = slot, .path = ""};

    if (slot >= s->n_made || !s->made[slot].path)
        return;
    free(s->made[slot].path);
    s->made[slot].path = NULL;
    /* Without it somebody looks for what is not there. */
    (void)px_session_record(srv, &none);
}

/* ---- folders -------------------------------------------------------------------------------------- */

/* The folder in *fd gets another in it, and *fd then leads to that. */
static pmix_status_t make_one(struct px_server *srv, int *fd, const char *path,
                              uint8_t flags, mode_t mode, struct px_err *err)
{
    const char *name = strrchr(path, '/') + 1;
    bool record = !srv->session->keep_dirs, fresh;
    uint32_t slot = PX_SESSION_NEW;
    struct stat st;
    int made;
    pmix_status_t rc = PMIX_SUCCESS;

    if (record)
        rc = px_session_made(srv, path, PX_RM_DIR, PX_RM_EMPTY, NULL, &slot);
    if (rc)
        return px_err_set(err, rc, "cannot note that %s is made: %s", path,
                          PMIx_Error_string(rc));
    fresh = mkdirat(*fd, name, mode) == 0;
    if (!fresh && errno != EEXIST)
        rc = px_err_errno(err, "cannot make %s", path);
    made = rc ? -1 : openat(*fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!rc && (made < 0 || fstat(made, &st) < 0)) {
        rc = px_err_errno(err, "cannot use %s", path);
        if (fresh) /* it will not be known any more */
            (void)unlinkat(*fd, name, AT_REMOVEDIR);
    }
    if (!rc && fresh && st.st_uid != geteuid())
        rc = px_err_set(err, PMIX_ERR_NO_PERMISSIONS, "%s became another's", path);
    if (!rc && fresh && record)
        rc = px_session_made(srv, path, PX_RM_DIR, flags, &st, &slot);
    else if (slot != PX_SESSION_NEW)
        px_session_unmade(srv, slot);
    if (rc) {
        if (made >= 0)
            close(made);
        return rc;
    }
    close(*fd);
    *fd = made;
    return rc;
}

/* Opens as much of path as there is: *fd leads to it, *rest to what is missing. */
static pmix_status_t open_there(char *path, int *fd, char **rest, struct px_err *err)
{
    char *at = path + 1;

    *fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return px_err_errno(err, "cannot open /");
    while (at) {
        char *slash = strchr(at, '/');
        int next;

        if (slash)
            *slash = '\0';
        next = openat(*fd, at, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (slash)
            *slash = '/';
        if (next < 0 && errno == ENOENT)
            break;
        if (next < 0)
            return px_err_errno(err, "cannot use %s", path);
        close(*fd);
        *fd = next;
        at = slash ? slash + 1 : NULL;
    }
    *rest = at;
    return PMIX_SUCCESS;
}

/* Whether the first n bytes of normal are the folder that PMIX_SERVER_TMPDIR names. */
static bool is_own_tmpdir(const struct px_session *s, const char *normal, size_t n)
{
    char own[PX_RM_MAX_PATH + 1];

    return s->own_tmpdir && !px_rm_path_check(s->own_tmpdir, own) && strlen(own) == n &&
           memcmp(own, normal, n) == 0;
}

/* *rest are the names of normal that are not there yet; what is before them is there, without links. */
static pmix_status_t make_rest(struct px_server *srv, int *fd, const char *there,
                               const char *normal, const char *rest, mode_t mode,
                               struct px_err *err)
{
    PX_AUTOFREE char *whole = px_path_join(there, rest);
    pmix_status_t rc = whole ? PMIX_SUCCESS
                             : px_err_set(err, PMIX_ERR_NOMEM, "out of memory");
    char *end = whole ? whole + strlen(whole) - strlen(rest) : NULL;
    const size_t before = end ? (size_t)(end - whole) : 0;

    while (!rc && end) {
        end = strchr(end, '/');
        if (end)
            *end = '\0';
        size_t n = (size_t)(rest - normal) + strlen(whole) - before;
        rc = make_one(srv, fd, whole,
                      is_own_tmpdir(srv->session, normal, n) ? PX_RM_RECURSE
                                                             : PX_RM_EMPTY,
                      mode, err);
        if (end)
            *end++ = '/';
    }
    return rc;
}

pmix_status_t px_session_make_dir(struct px_server *srv, const char *path, mode_t mode,
                                  struct px_err *err)
{
    char normal[PX_RM_MAX_PATH + 1];
    const char *wrong = px_rm_path_check(path, normal);
    PX_AUTOCLOSE int fd = -1;
    PX_AUTOFREE char *there = NULL;
    char *rest = NULL;
    pmix_status_t rc;

    if (wrong)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "cannot make a directory %s: %s",
                          path, wrong);
    rc = open_there(normal, &fd, &rest, err);
    if (rc || !rest)
        return rc;
    rest[-1] = '\0'; /* the slash */
    there = realpath(normal[0] ? normal : "/", NULL);
    rest[-1] = '/';
    if (!there)
        return px_err_errno(err, "cannot use %s", normal);
    return make_rest(srv, &fd, there, normal, rest, mode, err);
}

/* ---- removing ------------------------------------------------------------------------------------- */

void px_session_tell_kept(void *arg PX_UNUSED, const char *path, enum px_rm_why why,
                          int errnum)
{
    if (why != PX_RM_ASKED)
        px_log(PX_LOG_INFO, "server", "%s stays: %s", path,
               errnum ? strerror(errnum) : "it is not ours");
}

/* All of the private folder but the journal, for whoever has to go on. */
static size_t add_folder(const struct px_session *s, const char *dir,
                         const char *journal, struct px_rm_item *items)
{
    const uint8_t flags = PX_RM_RECURSE | PX_RM_LEAVE_TOP | PX_RM_SAME | PX_RM_ANY_GID;

    if (!dir || !journal)
        return 0;
    items[0] = (struct px_rm_item){.path = dir,
                                   .kind = PX_RM_DIR,
                                   .flags = flags,
                                   .device = s->device,
                                   .inode = s->inode};
    items[1] = (struct px_rm_item){.path = journal, .kind = PX_RM_KEEP};
    return 2;
}

/* Nobody tries again after us: the journal goes, too. So what stays is tried twice, as it may have been for
 * want of a descriptor that one of the host's threads had; and told of once. */
static int remove_all(const struct px_rm_item *items, size_t n)
{
    struct px_rm_totals totals = {0};
    int errnum = px_rm_run(items, n, geteuid(), getegid(), NULL, NULL, &totals);

    if (errnum || totals.failed + totals.foreign == 0)
        return errnum;
    return px_rm_run(items, n, geteuid(), getegid(), px_session_tell_kept, NULL,
                     &totals);
}

void px_session_sweep(struct px_server *srv)
{
    struct px_session *s = srv->session;
    PX_AUTOFREE char *journal = NULL;
    PX_AUTOFREE struct px_rm_item *items = NULL;
    size_t n = 0;

    if (!s)
        return;
    items = calloc(s->n_made + 2, sizeof(*items));
    for (uint32_t i = 0; items && i < s->n_made; i++) {
        const struct px_made *m = &s->made[i];

        if (m->path)
            items[n++] = (struct px_rm_item){.path = m->path,
                                             .kind = m->kind,
                                             .flags = m->flags,
                                             .device = m->device,
                                             .inode = m->inode};
    }
    journal = srv->dir ? px_path_join(srv->dir, PX_JOURNAL_NAME) : NULL;
    if (items)
        n += add_folder(s, srv->dir, journal, items + n);
    int errnum = items ? remove_all(items, n) : ENOMEM;
    s->swept = errnum == 0;
    if (errnum)
        px_log(PX_LOG_WARN, "server", "cannot remove what was made: %s",
               strerror(errnum));
}

void px_session_items_free(struct px_session *s)
{
    for (uint32_t i = 0; i < s->n_made; i++)
        free(s->made[i].path);
    free(s->made);
    s->made = NULL;
    s->n_made = 0;
    PX_LIST_EACH (&s->drops, struct drop, d, link)
        drop_free(d);
}

/* ---- before the end --------------------------------------------------------------------------------- */

static void drop_over(struct drop *d)
{
    struct px_journal_record done = {
        .type = PX_JOURNAL_DONE, .scope = d->scope, .path = ""};

    (void)px_session_record(d->srv, &done);
    drop_free(d);
}

static void on_dropped(void *arg, pmix_status_t status,
                       const struct px_pcleanup_totals *totals)
{
    struct drop *d = arg;

    if (!status)
        px_pcleanup_add(&d->srv->session->removed, totals);
    drop_over(d);
}

void px_session_drop(struct px_server *srv, const char *path, const struct stat *st)
{
    struct px_session *s = srv->session;
    struct drop *d = NULL;

    if (!s || !s->cleaner || !px_session_can_record(srv))
        return;
    d = calloc(1, sizeof(*d));
    if (!d)
        return;
    d->srv = srv;
    d->scope = PX_SESSION_SCOPE | s->n_drops++;
    d->what = (struct px_made){.path = strdup(path),
                               .kind = PX_RM_DIR,
                               .flags = PX_RM_RECURSE | PX_RM_SAME | PX_RM_ANY_GID,
                               .device = st->st_dev,
                               .inode = st->st_ino};
    px_list_append(&s->drops, &d->link);
    if (!d->what.path || record_made(srv, &d->what, d->scope, 0) ||
        px_session_ops(s)->run(s->cleaner->self, d->scope, on_dropped, d))
        drop_over(d);
}
