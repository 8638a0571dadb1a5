/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts the process that is a singleton's host: the program, its two descriptors, and
 * its address. */
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/client/singleton/host_program.h"
#include "core/client/singleton/singleton.h"
#include "core/reclaim/process.h"
#include "core/rt/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* ---- the program ----------------------------------------------------------------- */

/* Returns the path of the installed pmixrun, malloc'd: PX_HOST_PROGRAM, relative to the
 * folder of this library. */
static char *installed_program(void)
{
    PX_AUTOFREE char *library = px_library_file();
    const char *slash = library ? strrchr(library, '/') : NULL;

    if (PX_HOST_PROGRAM[0] == '/')
        return strdup(PX_HOST_PROGRAM);
    return slash ? px_strf("%.*s/%s", (int)(slash - library), library, PX_HOST_PROGRAM)
                 : NULL;
}

/* Returns the path of the program, malloc'd. A process of root runs only files that no
 * other user can change. */
static pmix_status_t find_program(const char *given, char **path, struct px_err *err)
{
    PX_AUTOFREE char *wanted = given ? strdup(given) : installed_program();

    if (!wanted)
        return px_err_nomem(err, "find pmixrun");
    if (wanted[0] != '/')
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "client_singleton_program: \"%s\": expected an absolute path",
                          wanted);
    if (!px_is_privileged()) {
        *path = px_take(&wanted);
        return PMIX_SUCCESS;
    }
    pmix_status_t rc = px_path_check_owner(wanted, path, err);
    return rc ? px_err_prefix(err, "cannot execute %s", wanted) : PMIX_SUCCESS;
}

/* ---- descriptors ----------------------------------------------------------------- */

/* Descriptors of this process and of the host. */
struct ends {
    int keepalive, report, hosts_keepalive, hosts_report;
};

static void close_ends(struct ends *e)
{
    px_drop_fd(&e->keepalive);
    px_drop_fd(&e->report);
    px_drop_fd(&e->hosts_keepalive);
    px_drop_fd(&e->hosts_report);
}

/* Moves a descriptor of the host above the standard streams, which may be closed. */
static bool move_up(int *fd)
{
    const int above = *fd > STDERR_FILENO
                          ? *fd
                          : fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    if (above != *fd)
        close(*fd);
    *fd = above;
    return above >= 0;
}

/* The host learns this process's id from the socket. */
static pmix_status_t make_ends(struct ends *e, struct px_err *err)
{
    int pair[2], report[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return px_err_errno(err, "cannot make a socket");
    e->keepalive = pair[0];
    e->hosts_keepalive = pair[1];
    if (pipe2(report, O_CLOEXEC) < 0)
        return px_err_errno(err, "cannot make a pipe");
    e->report = report[0];
    e->hosts_report = report[1];
    return move_up(&e->hosts_keepalive) && move_up(&e->hosts_report)
               ? PMIX_SUCCESS
               : px_err_errno(err, "cannot move a descriptor");
}

/* ---- start ----------------------------------------------------------------------- */

static pmix_status_t launch(const char *program, const pmix_proc_t *self,
                            const struct ends *e, struct px_err *err)
{
    const int a = e->hosts_keepalive, b = e->hosts_report;
    const int sorted[] = {a < b ? a : b, a < b ? b : a};
    PX_AUTOFREE char *name = px_strf("%s.%u", self->nspace, self->rank);
    char keepalive[16], report[16];

    snprintf(keepalive, sizeof(keepalive), "%d", a);
    snprintf(report, sizeof(report), "%d", b);
    const char *const argv[] = {program,   "--singleton",  name,   "--keepalive",
                                keepalive, "--report-uri", report, NULL};
    if (!name)
        return px_err_nomem(err, "name the process");
    if (!px_reclaim_launch((char *const *)argv, sorted, b))
        return px_err_errno(err, "cannot make a process");
    return PMIX_SUCCESS;
}

/* Reads the line of the host's address, or the errno of a program that did not run. */
static pmix_status_t read_address(const char *program, int fd, uint64_t deadline_ms,
                                  char **uri, struct px_err *err)
{
    char text[2048];
    size_t len = 0;
    ssize_t n = 1;
    int errnum;

    while (n > 0 && len < sizeof(text) - 1 && !memchr(text, '\n', len)) {
        if (px_fd_await(fd, POLLIN, deadline_ms))
            return px_err_set(err, PMIX_ERR_TIMEOUT,
                              "%s has reported no address within "
                              "client_singleton_timeout",
                              program);
        n = PX_RETRY(read(fd, text + len, sizeof(text) - 1 - len));
        len += n > 0 ? (size_t)n : 0;
    }
    text[len] = '\0';
    if (len == sizeof(errnum)) {
        memcpy(&errnum, text, sizeof(errnum));
        errno = errnum;
        return px_err_errno(err, "cannot execute %s", program);
    }
    if (len == 0 || text[len - 1] != '\n')
        return px_err_set(err, PMIX_ERR_UNREACH, "%s has ended without an address",
                          program);
    text[len - 1] = '\0';
    *uri = strdup(text);
    return *uri ? PMIX_SUCCESS : px_err_nomem(err, "keep an address");
}

pmix_status_t px_singleton_start_host(const char *program, const pmix_proc_t *self,
                                      uint64_t deadline_ms, int *keepalive, char **uri,
                                      struct px_err *err)
{
    struct ends e = {-1, -1, -1, -1};
    PX_AUTOFREE char *path = NULL;
    pmix_status_t rc = find_program(program, &path, err);

    if (!rc)
        rc = make_ends(&e, err);
    if (!rc)
        rc = launch(path, self, &e, err);
    px_drop_fd(&e.hosts_keepalive);
    px_drop_fd(&e.hosts_report);
    if (!rc)
        rc = read_address(path, e.report, deadline_ms, uri, err);
    if (!rc)
        *keepalive = px_take_fd(&e.keepalive);
    close_ends(&e);
    return rc;
}
