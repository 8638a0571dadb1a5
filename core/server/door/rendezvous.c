/* SPDX-License-Identifier: BSD-3-Clause */
/* The rendezvous files of a server, one for each of its roles. A file is written under
 * a temporary name, locked, and then renamed. The lock shows that the owner lives, not
 * the process id in the file: a lock ends with its owner, and no other process can
 * inherit it. An existing file is never written to. A stale file is replaced as a
 * whole, by one starting server at a time. */
#include "core/base/clock.h"
#include "core/base/env.h"
#include "core/base/fd.h"
#include "core/base/path.h"
#include "core/os/os.h"
#include "core/plugin/select.h"
#include "core/reclaim/rmtree.h"
#include "core/base/str.h"
#include "core/link/rendezvous.h"
#include "core/rt/log.h"
#include "core/server/door/door.h"
#include "core/server/cleanup/session.h"
#include "core/server/server.h"
#include "tenon/ptl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    RETRY_MS = 500,   /* wait for servers that start at the same time */
    PROBE_MS = 200,   /* timeout for a server without a lock */
    OWNER_BYTE = 0,   /* locked by the file's owner */
    STARTER_BYTE = 1, /* locked by a starting server that replaces the file */
};

/* A file that is being published. */
struct publication {
    struct px_server *srv;
    const struct px_rendezvous_request *placement;
    char *dir; /* resolved */
    int dir_fd;
    struct px_rendezvous_file *file;
    char temporary[32];
    struct px_cleanup_entry *temporary_made;
};

/* State of the file that has the name. */
enum holder { FREE_NAME, LIVES, STALE, FOREIGN, NOT_TO_BE_TAKEN, CHANGED };

struct probe {
    struct stat st;
    int fd; /* a stale file's, to lock it; -1: cannot be locked */
};

/* ---- locks ----------------------------------------------------------------------- */

/* True if a writer locks the byte. A reader's lock does not count: any user who may
 * read the file can take one. */
static bool is_owned(int fd)
{
    return px_os_is_locked(fd, OWNER_BYTE, 1);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool name_leads_to(const struct publication *p, const char *name,
                          const struct stat *st)
{
    struct stat now;

    return fstatat(p->dir_fd, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           is_same(&now, st);
}

/* ---- probing the name ------------------------------------------------------------ */

static bool listens(const char *address)
{
    size_t n;
    const struct px_module *m = px_modules("ptl", &n);
    struct px_ptl_peer who = {0};
    bool ours = false;

    for (size_t i = 0; i < n; i++) {
        const struct px_ptl_ops *ops = m[i].component->ops;
        int fd = -1;

        if (!ops->handles(m[i].self, address))
            continue;
        if (ops->connect(m[i].self, address, PROBE_MS, &fd))
            return false;
        /* Another process may have the port now. */
        ours = !ops->peer || ops->peer(m[i].self, fd, &who) || !who.has_uid ||
               who.uid == geteuid();
        close(fd);
        break;
    }
    return ours;
}

/* Describes the live owner of the name in err. */
static void report_owner(const struct publication *p, const struct probe *l,
                         struct px_err *err)
{
    struct px_rendezvous r = {0};
    pmix_status_t rc = px_rendezvous_read(p->file->path, &r, NULL);

    if (rc || r.pid == 0)
        px_err_set(err, PMIX_ERR_EXISTS, "%s is that of a server of uid %u that runs",
                   p->file->path, (unsigned)l->st.st_uid);
    else
        px_err_set(err, PMIX_ERR_EXISTS,
                   "%s is that of a server that runs: pid %ld of uid %u, %s.%u",
                   p->file->path, (long)r.pid, (unsigned)l->st.st_uid,
                   r.uri.server.nspace, r.uri.server.rank);
}

/* Probes a file of another user. Only root may take it; that user's lock does not
 * protect it then. */
static enum holder probe_foreign(const struct publication *p, struct probe *l,
                                 struct px_err *err)
{
    PX_AUTOCLOSE int fd = -1;

    if (geteuid() == 0 && p->placement->well_known)
        return FOREIGN;
    if (!S_ISREG(l->st.st_mode)) {
        px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
                   "%s is not a regular file, and belongs to uid %u", p->file->path,
                   (unsigned)l->st.st_uid);
        return NOT_TO_BE_TAKEN;
    }
    fd = openat(p->dir_fd, p->placement->name,
                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || is_owned(fd)) {
        report_owner(p, l, err);
        return LIVES;
    }
    px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
               "%s is left over and belongs to uid %u, who alone can remove it",
               p->file->path, (unsigned)l->st.st_uid);
    return NOT_TO_BE_TAKEN;
}

static enum holder probe_own(const struct publication *p, struct probe *l,
                             struct px_err *err)
{
    struct px_rendezvous r;
    struct stat st;

    l->fd = openat(p->dir_fd, p->placement->name,
                   O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (l->fd < 0)
        return errno == EACCES ? STALE : CHANGED; /* a mode that servers do not set */
    if (fstat(l->fd, &st) < 0 || !is_same(&st, &l->st))
        return CHANGED;
    if (is_owned(l->fd)) {
        report_owner(p, l, err);
        return LIVES;
    }
    /* Other libraries do not lock. Their file is stale if its process is gone or does
     * not listen. */
    if (px_rendezvous_read(p->file->path, &r, NULL) == PMIX_SUCCESS &&
        (r.pid <= 0 || kill(r.pid, 0) == 0 || errno != ESRCH) &&
        px_str_starts(r.uri.address, "tcp") && listens(r.uri.address)) {
        report_owner(p, l, err);
        return LIVES;
    }
    return STALE;
}

static enum holder probe_name(const struct publication *p, struct probe *l,
                              struct px_err *err)
{
    l->fd = -1;
    if (fstatat(p->dir_fd, p->placement->name, &l->st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? FREE_NAME : CHANGED;
    if (l->st.st_uid != geteuid())
        return probe_foreign(p, l, err);
    if (!S_ISREG(l->st.st_mode)) {
        px_err_set(err, PMIX_ERR_NO_PERMISSIONS, "cannot replace %s: it is %s",
                   p->file->path,
                   S_ISLNK(l->st.st_mode) ? "a symbolic link" : "not a regular file");
        return NOT_TO_BE_TAKEN;
    }
    return probe_own(p, l, err);
}

/* ---- taking the name ------------------------------------------------------------- */

/* Renames a file of the folder to the published name, unless that name is taken. */
static bool rename_to_free(const struct publication *p, const char *from)
{
    return px_os_rename_to_free(p->dir_fd, from, p->placement->name) == 0;
}

/* Returns 0 or an errno; EEXIST if the name is taken. */
static int take_free_name(const struct publication *p)
{
    if (rename_to_free(p, p->temporary))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    /* Network file systems: the file has two names for a moment, and readers try
     * again. */
    if (linkat(p->dir_fd, p->temporary, p->dir_fd, p->placement->name, 0) < 0)
        return errno;
    return unlinkat(p->dir_fd, p->temporary, 0) < 0 ? errno : 0;
}

/* Moves a file that cannot be locked aside and removes it. Moves a different file back,
 * as another server was faster. */
static void evict(const struct publication *p, const struct stat *st)
{
    char aside[32] = ".pmix.";

    px_path_random(aside + strlen(aside), 12);
    if (renameat(p->dir_fd, p->placement->name, p->dir_fd, aside) < 0)
        return;
    if (!name_leads_to(p, aside, st) && rename_to_free(p, aside))
        return;
    if (unlinkat(p->dir_fd, aside, S_ISDIR(st->st_mode) ? AT_REMOVEDIR : 0) < 0)
        px_log(PX_LOG_WARN, "server",
               "cannot remove %s/%s, which had the name of this server's file: %m",
               p->dir, aside);
}

/* True if the file replaced the stale one. */
static bool replace(const struct publication *p, const struct probe *l)
{
    return name_leads_to(p, p->placement->name, &l->st) &&
           renameat(p->dir_fd, p->temporary, p->dir_fd, p->placement->name) == 0;
}

/* Probes the name once, and acts on the result. PMIX_ERR_WOULD_BLOCK: try again. */
static pmix_status_t contend(const struct publication *p, bool may_wait,
                             struct px_err *err)
{
    struct probe l;
    pmix_status_t rc = PMIX_ERR_WOULD_BLOCK;

    switch (probe_name(p, &l, err)) {
    case LIVES:
        rc = PMIX_ERR_EXISTS;
        break;
    case NOT_TO_BE_TAKEN:
        rc = PMIX_ERR_NO_PERMISSIONS;
        break;
    case STALE:
        if (l.fd >= 0 && px_os_lock_byte(l.fd, STARTER_BYTE)) {
            if (replace(p, &l))
                rc = PMIX_SUCCESS;
        } else if (may_wait) {
            /* Another starting server, or a stranger with a lock, has it. */
            (void)nanosleep(&(struct timespec){.tv_nsec = 2 * 1000000}, NULL);
        } else {
            evict(p, &l.st);
        }
        break;
    case FOREIGN:
        evict(p, &l.st);
        break;
    case FREE_NAME:
    case CHANGED:
        break;
    }
    if (l.fd >= 0)
        close(l.fd);
    return rc;
}

static pmix_status_t take_name(const struct publication *p, struct px_err *err)
{
    uint64_t wait_until = px_clock_ms() + RETRY_MS;
    pmix_status_t rc = PMIX_ERR_WOULD_BLOCK;

    while (rc == PMIX_ERR_WOULD_BLOCK) {
        uint64_t now = px_clock_ms();
        int errnum = take_free_name(p);

        if (errnum == 0)
            return PMIX_SUCCESS;
        errno = errnum;
        if (errnum != EEXIST)
            return px_err_errno(err, "cannot make %s", p->file->path);
        if (now > wait_until + RETRY_MS)
            return px_err_set(err, PMIX_ERR_NO_PERMISSIONS, "%s cannot be replaced",
                              p->file->path);
        rc = contend(p, now < wait_until, err);
    }
    return rc;
}

/* ---- the file -------------------------------------------------------------------- */

static pmix_status_t open_dir(struct publication *p, struct px_err *err)
{
    mode_t mode = p->srv->part.door->tools_foreign ? 0755 : 0700;
    PX_AUTOFREE char *cwd = p->placement->dir[0] == '/' ? NULL : getcwd(NULL, 0);
    PX_AUTOFREE char *dir = px_path_join(cwd, p->placement->dir);
    pmix_status_t rc = PMIX_SUCCESS;

    if (!dir)
        return PMIX_ERR_NOMEM;
    p->dir = realpath(dir, NULL);
    if (!p->dir && errno == ENOENT) {
        rc = px_made_dir(p->srv, dir, mode, err);
        if (rc)
            return rc;
        p->dir = realpath(dir, NULL);
    }
    if (p->dir)
        p->dir_fd = open(p->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return p->dir_fd >= 0 ? PMIX_SUCCESS : px_err_errno(err, "cannot use %s", dir);
}

/* Writes and locks the file under its temporary name. */
static pmix_status_t write_aside(struct publication *p, struct stat *st,
                                 struct px_err *err)
{
    PX_AUTOFREE char *path = px_path_join(p->dir, p->temporary);
    struct px_rendezvous_file *f = p->file;
    pmix_status_t rc = path ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    if (!rc)
        rc = px_made_record(p->srv, path, PX_RM_FILE, 0, NULL, &p->temporary_made);
    if (rc)
        return px_err_set(err, rc, "cannot record %s in the journal: %s", f->path,
                          PMIx_Error_string(rc));
    f->fd = openat(p->dir_fd, p->temporary,
                   O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (f->fd < 0)
        return px_err_errno(err, "cannot make %s", path);
    rc = px_fd_write_all(f->fd, p->placement->text, strlen(p->placement->text), 0);
    if (rc)
        return px_err_set(err, rc, "cannot write %s: %s", path, PMIx_Error_string(rc));
    if (fchmod(f->fd, p->srv->part.door->tools_foreign ? 0644 : 0600) < 0 ||
        fstat(f->fd, st) < 0)
        return px_err_errno(err, "cannot write %s", path);
    if (!px_os_lock_byte(f->fd, OWNER_BYTE)) /* some file systems have no locks */
        px_log(PX_LOG_INFO, "server", "cannot lock %s: %m", path);
    f->device = st->st_dev;
    f->inode = st->st_ino;
    return PMIX_SUCCESS;
}

/* Publishes the file. Its final name and identity are in the journal before the
 * rename. */
static pmix_status_t publish(struct publication *p, struct px_err *err)
{
    struct px_rendezvous_file *f = p->file;
    struct stat st;
    pmix_status_t rc = write_aside(p, &st, err);

    if (!rc) {
        rc = px_made_record(p->srv, f->path, PX_RM_FILE, 0, &st, &f->made);
        if (rc)
            px_err_set(err, rc, "cannot record %s in the journal: %s", f->path,
                       PMIx_Error_string(rc));
    }
    if (!rc)
        rc = take_name(p, err);
    if (rc && f->fd >= 0)
        (void)unlinkat(p->dir_fd, p->temporary, 0);
    if (rc)
        px_made_forget(p->srv, f->made);
    px_made_forget(p->srv, p->temporary_made);
    return rc;
}

static pmix_status_t make_file(struct publication *p)
{
    PX_AUTOFREE char *path = px_path_join(p->dir, p->placement->name);
    size_t path_b = path ? strlen(path) + 1 : 0;
    struct px_rendezvous_file *f = path ? malloc(sizeof(*f) + path_b) : NULL;

    if (!f)
        return PMIX_ERR_NOMEM;
    f->fd = -1;
    f->made = NULL;
    memcpy(f->path, path, path_b);
    p->file = f;
    return PMIX_SUCCESS;
}

pmix_status_t px_rendezvous_file_publish(struct px_server *srv,
                                         const struct px_rendezvous_request *placement,
                                         struct px_err *err)
{
    struct publication p = {
        .srv = srv, .placement = placement, .dir_fd = -1, .temporary = ".pmix."};
    pmix_status_t rc = open_dir(&p, err);
    bool have = false;

    px_path_random(p.temporary + strlen(p.temporary), 12);
    if (!rc)
        rc = make_file(&p);
    PX_LIST_EACH (&srv->part.door->files, struct px_rendezvous_file, f, link)
        have = have || (!rc && strcmp(f->path, p.file->path) == 0);
    if (!rc && !have) {
        rc = publish(&p, err);
        if (!rc)
            px_list_append(&srv->part.door->files, &px_take(&p.file)->link);
    }
    if (p.file && p.file->fd >= 0)
        close(p.file->fd);
    free(p.file);
    free(p.dir);
    if (p.dir_fd >= 0)
        close(p.dir_fd);
    return rc;
}

static void log_kept(void *arg PX_UNUSED, const char *path, enum px_rm_why why,
                     int errnum)
{
    if (why == PX_RM_FAILED)
        px_log(PX_LOG_WARN, "server", "cannot remove %s: %s", path, strerror(errnum));
}

/* Removes a published file. While it is open, no other file has its inode, so it is
 * closed last. If it cannot be removed now, px_made_remove tries again. */
void px_rendezvous_file_withdraw(struct px_server *srv, struct px_rendezvous_file *f)
{
    const struct px_rm_item item = {.path = f->path,
                                    .kind = PX_RM_FILE,
                                    .flags = PX_RM_SAME | PX_RM_ANY_GID,
                                    .device = f->device,
                                    .inode = f->inode};
    struct px_pcleanup_totals totals = {0};

    if (!px_rm_run(&item, 1, geteuid(), getegid(), log_kept, NULL, &totals) &&
        !totals.failed)
        px_made_forget(srv, f->made);
    px_list_remove(&f->link);
    close(f->fd);
    free(f);
}

/* ---- the files of each role ------------------------------------------------------ */

/* Rendezvous files by attribute, named pmix.<before><host><after><what>. A node has one
 * system server, scheduler and system controller: a second one does not start. Other
 * names may be taken, as tools have several to try. The server logs a taken name or a
 * full disk. */
enum what { NOTHING, PID, NSPACE };
static const struct kind {
    const char *key, *before, *after;
    enum what what;
    bool system;   /* in system_tmpdir, not in tmpdir */
    bool only_one; /* unique on the node */
} kinds[] = {
    {PMIX_SERVER_SYSTEM_SUPPORT, "sys.", "", NOTHING, true, true},
    {PMIX_SERVER_SCHEDULER, "sched.", "", NOTHING, true, true},
    {PMIX_SERVER_SYS_CONTROLLER, "sysctrlr.", "", NOTHING, true, true},
    {PMIX_SERVER_SESSION_SUPPORT, "sys.", "", NOTHING, false, false},
    {PMIX_SERVER_SESSION_SUPPORT, "", ".tool", NOTHING, false, false},
    {PMIX_SERVER_TOOL_SUPPORT, "", ".", PID, false, false},
    {PMIX_SERVER_TOOL_SUPPORT, "", ".", NSPACE, false, false},
    /* names that tools of releases 4 to 6 read */
    {PMIX_SERVER_TOOL_SUPPORT, "", ".tool.", PID, false, false},
    {PMIX_SERVER_TOOL_SUPPORT, "", ".tool.", NSPACE, false, false},
};

/* Files in the private folder of a server that its launcher's user may look at. */
static const struct kind private_kinds[] = {
    {NULL, "", ".tool.", PID, false, false},
    {NULL, "", ".tool.", NSPACE, false, false},
};

const char *px_rendezvous_launcher_file(const pmix_info_t *info, size_t n_info)
{
    const char *path = px_info_str(info, n_info, PMIX_LAUNCHER_RENDEZVOUS_FILE);

    if (!path)
        path = px_env(PMIX_LAUNCHER_RNDZ_FILE);
    if (!path)
        path = px_env("PMIX_LAUNCHER_RENDEZVOUS_FILE");
    return path && *path ? path : NULL;
}

static const char *report_uri(const struct px_server *srv, const pmix_info_t *info,
                              size_t n_info)
{
    const char *where = px_info_str(info, n_info, PMIX_TCP_REPORT_URI);

    if (!where)
        where = srv->conf.report_uri;
    return where && *where ? where : NULL;
}

/* True if the host asks for any way by which tools find the server. */
bool px_rendezvous_wanted(const struct px_server *srv, const pmix_info_t *info,
                          size_t n_info)
{
    for (size_t i = 0; i < PX_COUNT(kinds); i++)
        if (px_info_flag(info, n_info, kinds[i].key))
            return true;
    return px_rendezvous_launcher_file(info, n_info) || report_uri(srv, info, n_info);
}

/* Returns the file's name, or "" if it would be invalid. NULL if out of memory. */
static char *name_of(const struct kind *k, const struct px_server *srv)
{
    char pid[24];
    const char *what = k->what == PID ? pid : k->what == NSPACE ? srv->proc.nspace : "";

    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    if (strchr(what, '/'))
        return strdup("");
    return px_strf("pmix.%s%s%s%s", k->before, srv->node_name, k->after, what);
}

static void log_missing(const char *what, const struct px_err *err, pmix_status_t rc)
{
    px_log(PX_LOG_WARN, "server", "cannot publish the address by %s: %s", what,
           err->text[0] ? err->text : PMIx_Error_string(rc));
}

/* Publishes a file, and logs a failure. only_one: another server's file is an error. */
static pmix_status_t write_file(struct px_server *srv, const char *label,
                                const struct px_rendezvous_request *placement,
                                bool only_one, struct px_err *err)
{
    struct px_err why = {0};
    pmix_status_t rc = px_rendezvous_file_publish(srv, placement, &why);

    if (rc == PMIX_ERR_NOMEM)
        return rc;
    if (only_one && (rc == PMIX_ERR_EXISTS || rc == PMIX_ERR_NO_PERMISSIONS) &&
        why.status == rc && why.text[0])
        return px_err_set(err, rc, "%s", why.text);
    if (rc)
        log_missing(label, &why, rc);
    return PMIX_SUCCESS;
}

static pmix_status_t write_kind(struct px_server *srv, const struct kind *k,
                                const char *dir, const char *text, struct px_err *err)
{
    PX_AUTOFREE char *name = name_of(k, srv);
    const struct px_rendezvous_request placement = {
        .dir = dir, .name = name, .text = text, .well_known = true};

    if (!name || !*name)
        return name ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    return write_file(srv, name, &placement, k->only_one, err);
}

/* Writes a file at a path of the host or user. */
static pmix_status_t write_at(struct px_server *srv, const char *path, const char *text)
{
    const char *slash = strrchr(path, '/');
    PX_AUTOFREE char *dir = slash ? px_strf("%.*s", (int)(slash - path) + 1, path)
                                  : strdup(".");
    const struct px_rendezvous_request placement = {
        .dir = dir, .name = slash ? slash + 1 : path, .text = text};

    return dir ? write_file(srv, path, &placement, false, NULL) : PMIX_ERR_NOMEM;
}

/* Writes a line to a descriptor. Waits a second at most for its reader. */
static void report_to(int fd, const char *line)
{
    pmix_status_t rc = px_fd_write_all(fd, line, strlen(line), px_clock_ms() + 1000);
    struct px_err err = {0};

    if (rc)
        log_missing("a descriptor", &err, rc);
}

/* Returns the address for this library alone, or "". */
static const char *faster_of(const struct px_server *srv)
{
    return srv->own_uri[0] ? srv->own_uri + strlen(srv->uri) + 1 : "";
}

/* Returns the address for files and streams that tools on other machines may read.
 * Other files are for tools of this machine, which need no credential. */
static const char *widest_uri(const struct px_server *srv)
{
    const char *remote = srv->part.door->remote_uri;

    return remote[0] ? remote : srv->uri;
}

/* Reports the address at "-", "+", a descriptor's number, or a file. */
static pmix_status_t report(struct px_server *srv, const char *where)
{
    const char *uri = widest_uri(srv);
    bool number = strspn(where, "0123456789") == strlen(where);
    uint64_t fd = 0;
    PX_AUTOFREE char *line = px_strf(
        "%s%s\n",
        number
            ? "PMIX_SERVER_URI41:PMIX_SERVER_URI4:PMIX_SERVER_URI3:PMIX_SERVER_URI21;"
            : "",
        uri);
    PX_AUTOFREE char *text = px_strf("%s\nv" TENON_CLAIMED_VERSION "\n\n\n\n%s%s\n",
                                     uri, PX_RENDEZVOUS_FASTER, faster_of(srv));

    if (!line || !text)
        return PMIX_ERR_NOMEM;
    if (strcmp(where, "-") == 0)
        report_to(STDOUT_FILENO, line);
    else if (strcmp(where, "+") == 0)
        report_to(STDERR_FILENO, line);
    else if (number && px_str_to_u64(where, 0, INT32_MAX, &fd))
        report_to((int)fd, line);
    else
        return write_at(srv, where, text);
    return PMIX_SUCCESS;
}

/* Returns the content of a rendezvous file, malloc'd. */
static char *text_with(const struct px_server *srv, const char *uri)
{
    time_t now = time(NULL);
    char date[32] = "\n";

    ctime_r(&now, date);
    return px_strf("%s\n" TENON_CLAIMED_VERSION "\n%ld\n%u:%u\n%s\n%s%s\n", uri,
                   (long)getpid(), (unsigned)geteuid(), (unsigned)getegid(), date,
                   PX_RENDEZVOUS_FASTER, faster_of(srv));
}

pmix_status_t px_rendezvous_publish(struct px_server *srv, const pmix_info_t *info,
                                    size_t n_info, struct px_err *err)
{
    const char *launcher = px_rendezvous_launcher_file(info, n_info),
               *where = report_uri(srv, info, n_info);
    pmix_status_t rc = PMIX_SUCCESS;

    if (!srv->part.door->tools)
        return PMIX_SUCCESS;
    PX_AUTOFREE char *text = text_with(srv, srv->uri);
    PX_AUTOFREE char *wide = text_with(srv, widest_uri(srv));
    if (!text || !wide)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; !rc && i < PX_COUNT(kinds); i++)
        if (px_info_flag(info, n_info, kinds[i].key))
            rc = write_kind(srv, &kinds[i],
                            kinds[i].system ? srv->system_tmpdir : srv->tmpdir, text,
                            err);
    for (size_t i = 0; !rc && i < PX_COUNT(private_kinds); i++)
        if (srv->part.door->tools_private && srv->dir)
            rc = write_kind(srv, &private_kinds[i], srv->dir, text, err);
    if (!rc && launcher)
        rc = write_at(srv, launcher, wide);
    if (!rc && where)
        rc = report(srv, where);
    return rc;
}

void px_rendezvous_withdraw(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.door->files, struct px_rendezvous_file, f, link)
        px_rendezvous_file_withdraw(srv, f);
}
