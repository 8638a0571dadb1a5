/* SPDX-License-Identifier: BSD-3-Clause */
/* ptl/usock: Unix sockets, "usock://<path>". The socket is a file in the server's
 * private directory, so other users cannot connect. The kernel gives user, group and
 * process of the peer. */
#include "tenon/ptl.h"

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/os/os.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#define SCHEME    "usock://"
#define FILE_NAME "server.sock"

enum {
    PRIORITY = 80, /* above tcp: cheaper, and attests more */
    LONGEST_PATH = sizeof(((struct sockaddr_un *)0)->sun_path) - 1,
};

struct conf {
    int64_t mode;
};

struct usock {
    const struct px_services *services;
    mode_t mode;
};

static const struct px_param params[] = {
    PX_PARAM_INT(struct conf, mode, "384", 0, 511,
                 "Permissions of the socket as a decimal number, such as 384 for octal "
                 "600. The private folder of the server limits access further "
                 "(PMIX_SOCKET_MODE)"),
    PX_PARAM_END,
};

/* ---- life ------------------------------------------------------------------------ */

static pmix_status_t usock_open(const struct px_services *services, const void *conf,
                                void **self)
{
    struct usock *u = malloc(sizeof(*u));
    if (!u)
        return PMIX_ERR_NOMEM;

    u->services = services;
    u->mode = (mode_t)((const struct conf *)conf)->mode;
    *self = u;
    return PMIX_SUCCESS;
}

static pmix_status_t usock_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

/* ---- addresses ------------------------------------------------------------------- */

static bool usock_handles(void *self PX_UNUSED, const char *address)
{
    return px_str_starts(address, SCHEME);
}

/* Parses an address. Refuses a relative path, which each process would resolve
 * differently. */
static bool parse(const char *address, struct sockaddr_un *sa)
{
    *sa = (struct sockaddr_un){.sun_family = AF_UNIX};
    return px_str_starts(address, SCHEME "/") &&
           px_str_copy(sa->sun_path, sizeof(sa->sun_path), address + strlen(SCHEME));
}

/* Chooses the path of the socket, or logs the reason for a failure. */
static pmix_status_t place(const struct usock *u, const char *dir, size_t address_size,
                           struct sockaddr_un *sa)
{
    size_t longest = LONGEST_PATH;

    if (!dir) /* the core has logged the reason */
        return PMIX_ERR_NOT_AVAILABLE;
    if (address_size < sizeof(SCHEME) + longest)
        longest = address_size > sizeof(SCHEME) ? address_size - sizeof(SCHEME) : 0;

    PX_AUTOFREE char *path = px_path_join(dir, FILE_NAME);
    if (!path)
        return PMIX_ERR_NOMEM;
    if (strlen(path) > longest) {
        u->services->log(
            u->services, PX_LOG_WARN,
            "cannot listen at %s: a socket's path may have %zu bytes, this one "
            "has %zu; a shorter TMPDIR helps",
            path, longest, strlen(path));
        return PMIX_ERR_BAD_PARAM;
    }
    if (path[0] != '/' || strchr(path, ';')) { /* in a URI, ; would end the address */
        u->services->log(u->services, PX_LOG_WARN,
                         "cannot listen at %s: the path must be absolute and have no ;",
                         path);
        return PMIX_ERR_BAD_PARAM;
    }
    *sa = (struct sockaddr_un){.sun_family = AF_UNIX};
    px_str_copy(sa->sun_path, sizeof(sa->sun_path), path);
    return PMIX_SUCCESS;
}

/* ---- the server's end ------------------------------------------------------------ */

static pmix_status_t cannot_listen(const struct usock *u, const struct sockaddr_un *sa)
{
    struct px_err err;
    pmix_status_t rc = px_err_errno(&err, "cannot listen at %s", sa->sun_path);

    u->services->log(u->services, PX_LOG_WARN, "%s", err.text);
    return rc;
}

static pmix_status_t usock_listen(void *self, const char *dir, int *fd, char *address,
                                  size_t size)
{
    const struct usock *u = self;
    struct sockaddr_un sa;
    pmix_status_t rc = place(u, dir, size, &sa);
    if (rc)
        return rc;

    PX_AUTOCLOSE int s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s < 0)
        return cannot_listen(u, &sa);
    /* The mode is set before bind, so the file never has more, whatever the umask. */
    if (fchmod(s, u->mode) < 0 || bind(s, (struct sockaddr *)&sa, sizeof(sa)) < 0)
        return cannot_listen(u, &sa);
    if (listen(s, SOMAXCONN) < 0) {
        rc = cannot_listen(u, &sa);
        unlink(sa.sun_path);
        return rc;
    }
    snprintf(address, size, SCHEME "%s", sa.sun_path);
    *fd = px_take_fd(&s);
    return PMIX_SUCCESS;
}

static void usock_unlisten(void *self PX_UNUSED, int fd, const char *address)
{
    struct sockaddr_un sa;

    if (parse(address, &sa))
        unlink(sa.sun_path); /* the file may be gone already */
    close(fd);
}

/* Identifies the process at the other end. pid 0: the process is in another pid
 * namespace. */
static void attest(int fd, struct px_ptl_peer *peer)
{
    struct px_os_peer cred;

    *peer = (struct px_ptl_peer){0};
    if (!px_os_peer(fd, &cred))
        return;
    *peer = (struct px_ptl_peer){
        .has_uid = cred.uid != (uid_t)-1,
        .has_gid = cred.gid != (gid_t)-1,
        .has_pid = cred.pid > 0,
        .uid = cred.uid,
        .gid = cred.gid,
        .pid = cred.pid,
    };
}

static pmix_status_t usock_accept(void *self PX_UNUSED, int listen_fd, int *fd,
                                  struct px_ptl_peer *peer)
{
    int conn;

    do { /* ECONNABORTED: the client gave up; others may wait */
        conn = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while (conn < 0 && (errno == EINTR || errno == ECONNABORTED));
    if (conn < 0)
        return px_status_of_errno(errno);
    attest(conn, peer);
    *fd = conn;
    return PMIX_SUCCESS;
}

/* ---- the client's end ------------------------------------------------------------ */

/* Connects with a blocking socket. A non-blocking connect fails with EAGAIN if the
 * backlog is full, without an event to wait for. A blocking connect waits for
 * SO_SNDTIMEO. */
static pmix_status_t connect_until(int fd, const struct sockaddr_un *sa,
                                   uint64_t deadline_ms)
{
    for (;;) {
        uint64_t now = px_clock_ms(), left = deadline_ms > now ? deadline_ms - now : 1;
        struct timeval tv = {.tv_sec = (time_t)(left / 1000),
                             .tv_usec = (suseconds_t)(left % 1000 * 1000)};

        if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) < 0)
            return px_status_of_errno(errno);
        if (connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) == 0)
            break;
        if (errno == EAGAIN || (errno == EINTR && px_clock_ms() >= deadline_ms))
            return PMIX_ERR_TIMEOUT;
        if (errno != EINTR)
            return px_status_of_errno(errno);
    }
    return px_fd_nonblock(fd); /* the send timeout has no effect any more */
}

static pmix_status_t usock_connect(void *self PX_UNUSED, const char *address,
                                   uint64_t timeout_ms, int *fd)
{
    const uint64_t deadline_ms = px_clock_ms() + timeout_ms;
    struct sockaddr_un sa;

    if (!parse(address, &sa))
        return PMIX_ERR_BAD_PARAM;
    PX_AUTOCLOSE int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0)
        return px_status_of_errno(errno);
    pmix_status_t rc = connect_until(s, &sa, deadline_ms);
    if (!rc)
        *fd = px_take_fd(&s);
    return rc;
}

/* Identifies the process that called listen, which has accepted or will accept us. */
static pmix_status_t usock_peer(void *self PX_UNUSED, int fd, struct px_ptl_peer *peer)
{
    attest(fd, peer);
    return PMIX_SUCCESS;
}

static const struct px_ptl_ops ops = {
    .listen = usock_listen,
    .unlisten = usock_unlisten,
    .accept = usock_accept,
    .handles = usock_handles,
    .connect = usock_connect,
    .peer = usock_peer,
};

PX_COMPONENT(ptl, usock) = {
    PX_COMPONENT_HEAD(ptl, PTL, usock),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf),
    .open = usock_open,
    .query = usock_query,
    .close = free,
    .ops = &ops,
};
