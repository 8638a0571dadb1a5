/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and searching of rendezvous files. Any user may write to their directories,
 * so the content counts only after the kernel has named the file's owner. */
#include "core/link/rendezvous.h"

#include "core/base/env.h"
#include "core/base/fd.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/base/strv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_FILE_B  4096
#define MAX_DEPTH   8
#define MAX_ENTRIES 65536

char *px_rendezvous_dir(const pmix_info_t *info, size_t n_info, const char *key,
                        const char *env)
{
    const char *names[] = {env, "TMPDIR", "TEMP", "TMP"};
    const char *dir = px_info_str(info, n_info, key);

    if (dir && !*dir)
        dir = NULL;
    for (size_t i = 0; !dir && i < PX_COUNT(names); i++) {
        dir = px_env(names[i]);
        if (dir && dir[0] != '/')
            dir = NULL;
    }
    return strdup(dir ? dir : "/tmp");
}

/* ---- one file -------------------------------------------------------------------- */

static pmix_status_t check_file(const struct stat *st, const char *path,
                                struct px_err *err)
{
    if (!S_ISREG(st->st_mode))
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS, "%s is not a regular file",
                          path);
    if (st->st_uid != geteuid() && st->st_uid != 0)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
                          "%s belongs to uid %u, neither us nor root", path,
                          (unsigned)st->st_uid);
    if (st->st_nlink != 1)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS, "%s has more than one name",
                          path);
    if (st->st_mode & (S_IWGRP | S_IWOTH))
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS, "others may write to %s", path);
    if (st->st_size > MAX_FILE_B)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "%s is too long for a rendezvous file", path);
    return PMIX_SUCCESS;
}

pmix_status_t px_rendezvous_parse(char *text, struct px_rendezvous *r)
{
    const char *line = strsep(&text, "\n");
    uint64_t pid;

    if (px_uri_parse(line, &r->uri))
        return PMIX_ERR_BAD_PARAM;
    line = strsep(&text, "\n"); /* servers before 4.0 write less */
    if (line)
        px_version_parse(line, &r->version);
    line = strsep(&text, "\n");
    if (line && px_str_to_u64(line, 1, INT32_MAX, &pid))
        r->pid = (pid_t)pid;
    (void)strsep(&text, "\n"); /* uid:gid, which the file's owner replaces */
    line = strsep(&text, "\n");
    if (!line || !px_str_copy(r->started, sizeof(r->started), line))
        r->started[0] = '\0';
    r->faster[0] = '\0';
    while ((line = strsep(&text, "\n")))
        if (px_str_starts(line, PX_RENDEZVOUS_FASTER) &&
            !px_str_copy(r->faster, sizeof(r->faster),
                         line + strlen(PX_RENDEZVOUS_FASTER)))
            r->faster[0] = '\0';
    return PMIX_SUCCESS;
}

/* Reads a file without waiting: opening a FIFO succeeds, and check_file refuses it. */
pmix_status_t px_rendezvous_read(const char *path, struct px_rendezvous *out,
                                 struct px_err *err)
{
    PX_AUTOCLOSE int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char text[MAX_FILE_B + 1];
    struct px_rendezvous r = {0};
    struct stat st;
    pmix_status_t rc;

    if (fd < 0 && errno == ELOOP)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS, "%s is a symbolic link", path);
    if (fd < 0 || fstat(fd, &st) < 0)
        return px_err_errno(err, "cannot read %s", path);
    rc = check_file(&st, path, err);
    if (rc)
        return rc;
    rc = px_fd_read_all(fd, text, (size_t)st.st_size, 0);
    if (rc)
        return px_err_set(err, rc, "cannot read %s: %s", path, PMIx_Error_string(rc));
    text[st.st_size] = '\0';
    rc = px_rendezvous_parse(text, &r);
    if (rc)
        return px_err_set(err, rc, "%s does not begin with the address of a server",
                          path);
    r.owner = st.st_uid;
    *out = r;
    return PMIX_SUCCESS;
}

/* ---- search ---------------------------------------------------------------------- */

struct search {
    const char *const *names;
    bool prefix;
    unsigned n_trusted,
        n_others; /* numbers of entries below the first directory, by the directories'
                   * trust */
    px_rendezvous_fn found;
    void *arg;
};

/* Visits the files of a directory. n_entries NULL: no limit. Returns false after a hit,
 * at too many entries, or without memory. */
static bool visit_files(struct search *s, DIR *dir, const char *path,
                        unsigned *n_entries, bool *hit)
{
    const struct dirent *e;

    while (!*hit && (e = readdir(dir))) {
        const char *const *n = s->names;

        if (n_entries && ++*n_entries > MAX_ENTRIES)
            return false;
        while (*n &&
               (s->prefix ? !px_str_starts(e->d_name, *n) : strcmp(e->d_name, *n) != 0))
            n++;
        if (e->d_type == DT_DIR || !*n)
            continue;
        PX_AUTOFREE char *whole = px_path_join(path, e->d_name);
        if (!whole)
            return false;
        *hit = s->found(s->arg, whole);
    }
    return !*hit;
}

static bool search_dir(struct search *s, int fd, const char *path, unsigned depth);

static bool visit_directories(struct search *s, DIR *dir, const char *path,
                              unsigned depth)
{
    const struct dirent *e;
    bool hit = false;

    while (!hit && (e = readdir(dir))) {
        if ((e->d_type != DT_DIR && e->d_type != DT_UNKNOWN) ||
            strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        PX_AUTOFREE char *whole = px_path_join(path, e->d_name);
        if (!whole)
            break;
        int sub = openat(dirfd(dir), e->d_name,
                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (sub >= 0)
            hit = search_dir(s, sub, whole, depth + 1);
    }
    return hit;
}

/* Searches a directory; takes fd. Visits files before subdirectories, whose content may
 * come from other users. */
static bool search_dir(struct search *s, int fd, const char *path, unsigned depth)
{
    struct stat st;
    /* Only this user and root can add entries here. */
    bool trusted = fstat(fd, &st) == 0 && (st.st_uid == geteuid() || st.st_uid == 0) &&
                   !(st.st_mode & (S_IWGRP | S_IWOTH));
    unsigned *n_entries = depth == 1 ? NULL : trusted ? &s->n_trusted : &s->n_others;
    DIR *dir = fdopendir(fd);
    bool hit = false;

    if (!dir) {
        close(fd);
        return false;
    }
    if (visit_files(s, dir, path, n_entries, &hit) && depth < MAX_DEPTH) {
        rewinddir(dir);
        hit = visit_directories(s, dir, path, depth);
    }
    closedir(dir);
    return hit;
}

bool px_rendezvous_search(const char *dir, const char *const *names, bool prefix,
                          px_rendezvous_fn found, void *arg)
{
    struct search s = {.names = names, .prefix = prefix, .found = found, .arg = arg};
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);

    return fd >= 0 && search_dir(&s, fd, dir, 1);
}

/* ---- list ------------------------------------------------------------------------ */

struct listing {
    px_infos *servers;
    px_strv seen; /* a server may have several files */
    pmix_status_t rc;
};

static pmix_status_t add_server(px_infos *servers, const struct px_rendezvous *r)
{
    const pmix_proc_t *proc = &r->uri.server;
    PX_AUTOFREE char *uri = px_strf("%s.%u;%s", proc->nspace, proc->rank,
                                    r->uri.address);
    PX_AUTOFREE char *version = px_strf("%u.%u.%u", r->version.major, r->version.minor,
                                        r->version.release);
    const struct px_fact facts[] = {
        {PMIX_NSPACE, proc->nspace, PMIX_STRING},
        {PMIX_SERVER_NSPACE, proc->nspace, PMIX_STRING},
        {PMIX_SERVER_RANK, &proc->rank, PMIX_PROC_RANK},
        {PMIX_SERVER_URI, uri, PMIX_STRING},
        {PMIX_USERID, &r->owner, PMIX_UINT32},
        {PMIX_SERVER_PIDINFO, &r->pid, PMIX_PID},
        {PMIX_VERSION_INFO, version, PMIX_STRING},
        {PMIX_SERVER_START_TIME, r->started[0] ? r->started : NULL, PMIX_STRING},
    };
    PX_AUTO(px_infos) members = {0};

    if (!uri || !version)
        return PMIX_ERR_NOMEM;
    pmix_status_t rc = px_facts_add(&members, facts, PX_COUNT(facts));
    return rc ? rc : px_infos_add_array(servers, PMIX_SERVER_INFO_ARRAY, &members);
}

static bool list_file(void *arg, const char *path)
{
    struct listing *l = arg;
    struct px_rendezvous r;
    struct px_err err;

    if (px_rendezvous_read(path, &r, &err) ||
        (r.pid > 0 && kill(r.pid, 0) < 0 && errno == ESRCH))
        return false;
    PX_AUTOFREE char *server = px_strf("%u %s", (unsigned)r.owner, r.uri.address);
    if (server && px_strv_has(l->seen, server))
        return false;
    l->rc = server ? px_strv_append(&l->seen, server) : PMIX_ERR_NOMEM;
    if (!l->rc)
        l->rc = add_server(l->servers, &r);
    return l->rc != PMIX_SUCCESS;
}

pmix_status_t px_rendezvous_list(px_infos *servers)
{
    static const char *const vars[] = {"PMIX_SERVER_TMPDIR", "PMIX_SYSTEM_TMPDIR"};
    const char *const names[] = {"pmix.", NULL};
    struct listing l = {.servers = servers};

    for (size_t i = 0; i < PX_COUNT(vars) && !l.rc; i++) {
        PX_AUTOFREE char *dir = px_rendezvous_dir(NULL, 0, vars[i], vars[i]);

        if (!dir)
            l.rc = PMIX_ERR_NOMEM;
        else
            (void)px_rendezvous_search(dir, names, true, list_file, &l);
    }
    px_strv_cleanup(&l.seen);
    return l.rc;
}
