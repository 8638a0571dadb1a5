/* SPDX-License-Identifier: BSD-3-Clause */
/* The rendezvous files of a server: one for each role it is asked to play, whatever
 * else it is.
 *
 * Of system servers, schedulers and system controllers there is one per node: a second
 * one does not start. Names of sessions and namespaces may be taken without harm, as
 * there are others to be found by; that is logged, and so is a disk that is full. */
#include "core/server/door/rendezvous_file.h"

#include "core/base/fd.h"
#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/rt/log.h"
#include "core/server/door/door.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* pmix.<before><host><after><what> */
enum what { NOTHING, PID, NSPACE };
static const struct kind {
    const char *key, *before, *after;
    enum what what;
    bool system;   /* in the folder of the system, not of this server */
    bool only_one; /* on a node */
} kinds[] = {
    {PMIX_SERVER_SYSTEM_SUPPORT, "sys.", "", NOTHING, true, true},
    {PMIX_SERVER_SCHEDULER, "sched.", "", NOTHING, true, true},
    {PMIX_SERVER_SYS_CONTROLLER, "sysctrlr.", "", NOTHING, true, true},
    {PMIX_SERVER_SESSION_SUPPORT, "sys.", "", NOTHING, false, false},
    {PMIX_SERVER_SESSION_SUPPORT, "", ".tool", NOTHING, false, false},
    {PMIX_SERVER_TOOL_SUPPORT, "", ".", PID, false, false},
    {PMIX_SERVER_TOOL_SUPPORT, "", ".", NSPACE, false, false},
    /* the names that tools of releases 4 to 6 look for */
    {PMIX_SERVER_TOOL_SUPPORT, "", ".tool.", PID, false, false},
    {PMIX_SERVER_TOOL_SUPPORT, "", ".tool.", NSPACE, false, false},
};

/* A launcher's own file. The variable may be meant for a launcher that started this
 * process. */
static const char *launcher_file(const pmix_info_t *info, size_t n_info)
{
    const char *path = px_info_str(info, n_info, PMIX_LAUNCHER_RENDEZVOUS_FILE);

    if (!path)
        path = secure_getenv(PMIX_LAUNCHER_RNDZ_FILE);
    if (!path)
        path = secure_getenv("PMIX_LAUNCHER_RENDEZVOUS_FILE");
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

/* A host that asks for any of these wants tools to come. */
bool px_rendezvous_wanted(const struct px_server *srv, const pmix_info_t *info,
                          size_t n_info)
{
    for (size_t i = 0; i < PX_COUNT(kinds); i++)
        if (px_info_flag(info, n_info, kinds[i].key))
            return true;
    return launcher_file(info, n_info) || report_uri(srv, info, n_info);
}

static char *content(const struct px_server *srv)
{
    time_t now = time(NULL);
    char date[32] = "\n";

    ctime_r(&now, date);
    return px_strf("%s\n" PX_IMITATED_VERSION "\n%ld\n%u:%u\n%s\n", srv->uri,
                   (long)getpid(), (unsigned)geteuid(), (unsigned)getegid(), date);
}

/* NULL: out of memory, or "" if it would be no name. */
static char *name_of(const struct kind *k, const struct px_server *srv)
{
    char pid[24];
    const char *what = k->what == PID ? pid : k->what == NSPACE ? srv->proc.nspace : "";

    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    if (strchr(what, '/'))
        return strdup("");
    return px_strf("pmix.%s%s%s%s", k->before, px_process.host, k->after, what);
}

static void log_missing(const char *what, const struct px_err *err, pmix_status_t rc)
{
    px_log(PX_LOG_WARN, "server", "cannot publish the address by %s: %s", what,
           err->text[0] ? err->text : PMIx_Error_string(rc));
}

static pmix_status_t write_kind(struct px_server *srv, const struct kind *k,
                                const char *text, struct px_err *err)
{
    PX_AUTOFREE char *name = name_of(k, srv);
    struct px_rendezvous_wish wish = {.dir = k->system ? srv->system_tmpdir
                                                       : srv->tmpdir,
                                      .name = name,
                                      .text = text,
                                      .well_known = true};
    struct px_err why = {0};
    pmix_status_t rc;

    if (!name)
        return PMIX_ERR_NOMEM;
    if (!*name)
        return PMIX_SUCCESS;
    rc = px_rendezvous_file_publish(srv, &wish, &why);
    if (rc == PMIX_ERR_NOMEM)
        return rc;
    if (k->only_one && (rc == PMIX_ERR_EXISTS || rc == PMIX_ERR_NO_PERMISSIONS) &&
        why.status == rc && why.text[0])
        return px_err_set(err, rc, "%s", why.text);
    if (rc)
        log_missing(name, &why, rc);
    return PMIX_SUCCESS;
}

/* At a path that the host or the user has chosen. */
static pmix_status_t write_at(struct px_server *srv, const char *path, const char *text)
{
    const char *slash = strrchr(path, '/');
    PX_AUTOFREE char *dir = slash ? px_strf("%.*s", (int)(slash - path) + 1, path)
                                  : strdup(".");
    struct px_rendezvous_wish wish = {
        .dir = dir, .name = slash ? slash + 1 : path, .text = text};
    struct px_err why = {0};
    pmix_status_t rc = dir ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    if (!rc)
        rc = px_rendezvous_file_publish(srv, &wish, &why);
    if (rc && rc != PMIX_ERR_NOMEM)
        log_missing(path, &why, rc);
    return rc == PMIX_ERR_NOMEM ? rc : PMIX_SUCCESS;
}

/* To a descriptor; a reader that does not read is not waited for. */
static void report_to(int fd, const char *line)
{
    pmix_status_t rc = px_fd_write_all(fd, line, strlen(line), px_clock_ms() + 1000);
    struct px_err err = {0};

    if (rc)
        log_missing("a descriptor", &err, rc);
}

/* "-", "+", the number of a descriptor, or a file. */
static pmix_status_t report(struct px_server *srv, const char *where)
{
    bool number = strspn(where, "0123456789") == strlen(where);
    uint64_t fd = 0;
    PX_AUTOFREE char *line = px_strf(
        "%s%s\n",
        number
            ? "PMIX_SERVER_URI41:PMIX_SERVER_URI4:PMIX_SERVER_URI3:PMIX_SERVER_URI21;"
            : "",
        srv->uri);
    PX_AUTOFREE char *text = px_strf("%s\nv" PX_IMITATED_VERSION "\n", srv->uri);

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

pmix_status_t px_rendezvous_publish(struct px_server *srv, const pmix_info_t *info,
                                    size_t n_info, struct px_err *err)
{
    const char *launcher = launcher_file(info, n_info),
               *where = report_uri(srv, info, n_info);
    PX_AUTOFREE char *text = srv->part.door->tools ? content(srv) : NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    if (!srv->part.door->tools)
        return PMIX_SUCCESS;
    if (!text)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; !rc && i < PX_COUNT(kinds); i++)
        if (px_info_flag(info, n_info, kinds[i].key))
            rc = write_kind(srv, &kinds[i], text, err);
    if (!rc && launcher)
        rc = write_at(srv, launcher, text);
    if (!rc && where)
        rc = report(srv, where);
    return rc;
}

void px_rendezvous_withdraw(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.door->files, struct px_rendezvous_file, f, link)
        px_rendezvous_file_withdraw(srv, f);
}
