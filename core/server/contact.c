/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous files: written under another name first, so that nobody reads half of one, and removed
 * only if they are still the ones we wrote. */
#include "core/base/fd.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/model/rendezvous.h"
#include "core/rt/log.h"
#include "core/server/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct px_contact_file {
    struct px_list link;
    dev_t device;
    ino_t inode;
    struct timespec written; /* inodes are used again */
    char path[];
};

static char *content(const struct px_server *srv)
{
    time_t now = time(NULL);
    char date[32] = "\n";

    ctime_r(&now, date);
    return px_strf("%s\n" PX_IMITATED_VERSION "\n%ld\n%u:%u\n%s\n", srv->uri,
                   (long)getpid(), (unsigned)geteuid(), (unsigned)getegid(), date);
}

/* There is one system server, say, per node: whoever lives keeps the name. */
static bool is_anothers(const char *path)
{
    struct px_rendezvous r;

    return px_rendezvous_read(path, &r, NULL) == PMIX_SUCCESS && r.pid > 0 &&
           r.pid != getpid() && (kill(r.pid, 0) == 0 || errno == EPERM);
}

/* The file's identity goes into st. */
static pmix_status_t write_as(const char *path, const char *text, mode_t mode,
                              struct stat *st, struct px_err *err)
{
    PX_AUTOFREE char *temporary = px_strf("%s.XXXXXX", path);
    char *slash = temporary ? strrchr(temporary, '/') : NULL;
    PX_AUTOCLOSE int fd = -1;
    pmix_status_t rc;

    if (!slash)
        return temporary ? PMIX_ERR_BAD_PARAM : PMIX_ERR_NOMEM;
    slash[1] = '.'; /* no name that anybody looks for */
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return px_err_errno(err, "cannot make %s", temporary);
    rc = px_fd_write_all(fd, text, strlen(text), 0);
    if (rc)
        px_err_set(err, rc, "cannot write %s: %s", path, PMIx_Error_string(rc));
    else if (fchmod(fd, mode) < 0 || fstat(fd, st) < 0 || rename(temporary, path) < 0)
        rc = px_err_errno(err, "cannot make %s", path);
    if (rc)
        unlink(temporary);
    return rc;
}

static pmix_status_t write_file(struct px_server *srv, const char *path)
{
    PX_AUTOFREE char *text = content(srv);
    struct px_contact_file *f = malloc(sizeof *f + strlen(path) + 1);
    struct px_err err = {0};
    struct stat st;
    pmix_status_t rc = text && f ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    if (!rc && is_anothers(path))
        rc = px_err_set(&err, PMIX_ERR_EXISTS, "%s is that of a server that runs",
                        path);
    if (!rc)
        rc = write_as(path, text, srv->tools_foreign ? 0644 : 0600, &st, &err);
    if (rc) {
        free(f);
        px_log(PX_LOG_WARN, "server", "tools will not find us by %s: %s", path,
               err.text[0] ? err.text : PMIx_Error_string(rc));
        return rc == PMIX_ERR_NOMEM ? rc : PMIX_SUCCESS;
    }
    f->device = st.st_dev;
    f->inode = st.st_ino;
    f->written = st.st_mtim;
    strcpy(f->path, path); /* as long as was made for it */
    px_list_append(&srv->contact_files, &f->link);
    return PMIX_SUCCESS;
}

/* Takes name. */
static pmix_status_t write_named(struct px_server *srv, const char *dir, char *name)
{
    PX_AUTOFREE char *own = name;
    PX_AUTOFREE char *path = own ? px_path_join(dir, own) : NULL;

    return path ? write_file(srv, path) : PMIX_ERR_NOMEM;
}

pmix_status_t px_contact_files_write(struct px_server *srv, const pmix_info_t *info,
                                     size_t n_info)
{
    const char *host = px_process.host;
    const char *extra = px_info_str(info, n_info, PMIX_LAUNCHER_RENDEZVOUS_FILE);
    pmix_status_t rc;

    if (!srv->tools)
        return PMIX_SUCCESS;
    rc = write_named(srv, srv->tmpdir,
                     px_strf("pmix.%s.tool.%ld", host, (long)getpid()));
    if (!rc && !strchr(srv->proc.nspace, '/'))
        rc = write_named(srv, srv->tmpdir,
                         px_strf("pmix.%s.tool.%s", host, srv->proc.nspace));
    if (!rc && px_info_flag(info, n_info, PMIX_SERVER_SESSION_SUPPORT))
        rc = write_named(srv, srv->tmpdir, px_strf("pmix.%s.tool", host));
    if (!rc && px_info_flag(info, n_info, PMIX_SERVER_SYSTEM_SUPPORT))
        rc = write_named(srv, srv->system_tmpdir, px_strf("pmix.sys.%s", host));
    if (!extra)
        extra = secure_getenv(PMIX_LAUNCHER_RNDZ_FILE);
    if (!rc && extra)
        rc = strchr(extra, '/') ? write_file(srv, extra)
                                : write_named(srv, ".", strdup(extra));
    return rc;
}

static bool is_still_ours(const struct px_contact_file *f)
{
    struct stat st;

    return lstat(f->path, &st) == 0 && st.st_dev == f->device &&
           st.st_ino == f->inode && st.st_mtim.tv_sec == f->written.tv_sec &&
           st.st_mtim.tv_nsec == f->written.tv_nsec;
}

void px_contact_files_remove(struct px_server *srv)
{
    PX_LIST_EACH (&srv->contact_files, struct px_contact_file, f, link) {
        if (is_still_ours(f) && unlink(f->path) < 0)
            px_log(PX_LOG_WARN, "server", "cannot remove %s: %m", f->path);
        px_list_remove(&f->link);
        free(f);
    }
}
