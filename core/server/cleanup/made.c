/* SPDX-License-Identifier: BSD-3-Clause */
/* Files and folders that the server has made. Device and inode identify them, not only
 * their names. */
#include "core/server/cleanup/registry.h"

#include "core/base/fd.h"
#include "core/base/path.h"
#include "core/rt/log.h"
#include "core/server/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* ---- records --------------------------------------------------------------------- */

/* Records a path in a scope and in the journal. *e: NULL, or an entry of the same path.
 * Without a journal only the server itself will remove the path. */
static pmix_status_t record(struct px_cleanup_scope *s, const char *path, uint8_t kind,
                            uint8_t flags, const struct stat *identity,
                            struct px_cleanup_entry **e)
{
    struct px_journal_record r = {.type = PX_JOURNAL_ITEM,
                                  .kind = kind,
                                  .flags = flags | PX_RM_ANY_GID,
                                  .uid = geteuid(),
                                  .gid = getegid(),
                                  .path = path};
    const bool is_new = !*e;
    pmix_status_t rc = PMIX_SUCCESS;

    if (identity) {
        r.flags |= PX_RM_SAME;
        r.x = identity->st_dev;
        r.y = identity->st_ino;
    }
    if (is_new)
        rc = px_cleanup_entry_add(s, NULL, &r, e);
    if (rc)
        return rc;
    r.scope = (*e)->r.scope;
    r.slot = (*e)->r.slot;
    r.path = (*e)->path;
    rc = px_session_record(s->job->registry->server, &r, 1);
    if (!rc || rc == PMIX_ERR_NOT_AVAILABLE) {
        (*e)->r = r;
        return PMIX_SUCCESS;
    }
    if (is_new)
        px_cleanup_entry_free(px_take(e));
    return rc;
}

pmix_status_t px_made_record(struct px_server *srv, const char *path, uint8_t kind,
                             uint8_t flags, const struct stat *identity,
                             struct px_cleanup_entry **e)
{
    return record(srv->part.cleanup->made, path, kind, flags, identity, e);
}

void px_made_forget(struct px_server *srv, struct px_cleanup_entry *e)
{
    if (!e)
        return;
    const struct px_journal_record none = {
        .type = PX_JOURNAL_NONE, .scope = e->r.scope, .slot = e->r.slot};

    /* Without this record the next reader looks for what does not exist. */
    (void)px_session_record(srv, &none, 1);
    px_cleanup_entry_free(e);
}

struct px_cleanup_scope *px_made_scope(struct px_server *srv, const char *path,
                                       const struct stat *st)
{
    struct px_cleanup_scope *s = px_cleanup_scope_new(srv->part.cleanup->own, NULL);
    struct px_cleanup_entry *e = NULL;

    if (!s || !record(s, path, PX_RM_DIR, PX_RM_RECURSE, st, &e))
        return s;
    px_cleanup_scope_free(s);
    return NULL;
}

/* ---- folders --------------------------------------------------------------------- */

/* Makes a folder in the folder *fd, and opens the new one as *fd. */
static pmix_status_t make_one(struct px_server *srv, int *fd, const char *path,
                              uint8_t flags, mode_t mode, struct px_err *err)
{
    const char *name = strrchr(path, '/') + 1;
    const bool is_noted = !srv->part.session->keep_dirs;
    struct px_cleanup_entry *e = NULL;
    PX_AUTOCLOSE int made = -1;
    struct stat st;
    pmix_status_t rc = PMIX_SUCCESS;

    if (is_noted)
        rc = px_made_record(srv, path, PX_RM_DIR, PX_RM_EMPTY, NULL, &e);
    if (rc)
        return px_err_set(err, rc, "cannot record %s in the journal: %s", path,
                          PMIx_Error_string(rc));
    const bool fresh = mkdirat(*fd, name, mode) == 0;
    if (!fresh && errno != EEXIST)
        rc = px_err_errno(err, "cannot make %s", path);
    else
        made = openat(*fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!rc && (made < 0 || fstat(made, &st) < 0)) {
        rc = px_err_errno(err, "cannot use %s", path);
        if (fresh) /* it will not be recorded any more */
            (void)unlinkat(*fd, name, AT_REMOVEDIR);
    }
    if (!rc && fresh && st.st_uid != geteuid())
        rc = px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
                        "cannot use %s: it became another user's", path);
    if (!rc && fresh && is_noted)
        rc = px_made_record(srv, path, PX_RM_DIR, flags, &st, &e);
    else
        px_made_forget(srv, e);
    if (!rc) {
        close(*fd);
        *fd = px_take_fd(&made);
    }
    return rc;
}

pmix_status_t px_made_dir(struct px_server *srv, const char *path, mode_t mode,
                          struct px_err *err)
{
    const char *own = srv->part.session->own_tmpdir;
    char normal[PX_RM_MAX_PATH + 1];
    const char *wrong = px_rm_path_check(path, normal);
    PX_AUTOCLOSE int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    PX_AUTOFREE char *real = NULL; /* path of fd, once a folder was absent */
    pmix_status_t rc = PMIX_SUCCESS;

    if (wrong)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "cannot make a directory %s: %s",
                          path, wrong);
    for (char *name = normal + 1, *end; !rc && name; name = end) {
        int next = -1;

        end = strchr(name, '/');
        if (end)
            *end = '\0';
        if (!real)
            next = openat(fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (!real && next < 0 && errno == ENOENT) {
            name[-1] = '\0';
            real = realpath(*normal ? normal : "/", NULL);
            name[-1] = '/';
        }
        if (real) {
            const bool is_own = own && strcmp(own, normal) == 0;
            char *made = px_path_join(real, name);

            free(real);
            real = made;
            rc = real ? make_one(srv, &fd, real, is_own ? PX_RM_RECURSE : PX_RM_EMPTY,
                                 mode, err)
                      : px_err_set(err, PMIX_ERR_NOMEM, "out of memory");
        } else if (next < 0) {
            rc = px_err_errno(err, "cannot use %s", normal);
        } else {
            close(fd);
            fd = next;
        }
        if (end)
            *end++ = '/';
    }
    return rc;
}

/* ---- removing -------------------------------------------------------------------- */

void px_made_remove(struct px_server *srv)
{
    struct px_session *s = srv->part.session;
    PX_AUTOFREE char *journal = NULL;
    PX_AUTOFREE struct px_rm_item *items = NULL;
    struct px_pcleanup_totals totals = {0};
    int errnum = ENOMEM;
    size_t n = 0;

    if (!s)
        return;
    s->swept = srv->part.cleanup->made->n_entries == 0 &&
               (!srv->dir || px_session_is_bare(s));
    if (s->swept)
        return;
    items = calloc(srv->part.cleanup->made->n_entries + 2, sizeof(*items));
    journal = srv->dir ? px_path_join(srv->dir, PX_JOURNAL_NAME) : NULL;
    if (items)
        PX_LIST_EACH (&srv->part.cleanup->made->entries, struct px_cleanup_entry, e,
                      link)
            items[n++] = (struct px_rm_item){.path = e->path,
                                             .kind = e->r.kind,
                                             .flags = (uint8_t)e->r.flags,
                                             .device = e->r.x,
                                             .inode = e->r.y};
    if (items && journal) { /* the component needs the journal if it has to go on */
        items[n++] = (struct px_rm_item){srv->dir, PX_RM_DIR,
                                         PX_RM_RECURSE | PX_RM_LEAVE_TOP | PX_RM_SAME |
                                             PX_RM_ANY_GID,
                                         s->device, s->inode};
        items[n++] = (struct px_rm_item){.path = journal, .kind = PX_RM_KEEP};
    }
    if (items)
        errnum = px_rm_run(items, n, geteuid(), getegid(), NULL, NULL, &totals);
    /* This is the last attempt, as the journal is removed, too. So paths that stay are
     * tried twice: a thread of the host may have had the last descriptor. The second
     * failure is logged. */
    if (!errnum && totals.failed + totals.foreign > 0)
        errnum = px_rm_run(items, n, geteuid(), getegid(), px_session_log_kept, NULL,
                           &totals);
    s->swept = errnum == 0;
    if (errnum)
        px_log(PX_LOG_WARN, "server", "cannot remove the server's files: %s",
               strerror(errnum));
}

static void destroy(struct px_server *srv)
{
    if (!srv->part.session->swept)
        px_made_remove(srv);
    px_session_end(srv, srv->part.cleanup->left || !srv->part.session->swept);
}

const struct px_server_part px_session_part = {
    .name = "session",
    PX_PART_STATE(session, struct px_session),
    .create = px_session_create,
    .destroy = destroy,
};
