/* SPDX-License-Identifier: BSD-3-Clause */
/* piof/stdio: open descriptors as sinks, and pipes as sources.
 *
 * A standard stream is shared with the process that started us, so it must not be made
 * non-blocking. But the loop must not block in a write if the reader sleeps or the
 * terminal is stopped. So a pipe or terminal is reopened, which gives a non-blocking
 * file description of our own.
 *
 * Reopening may be forbidden (terminal of another user). Then each write is preceded by
 * poll, and is small enough to fit: PIPE_BUF bytes to a pipe, far fewer to a terminal,
 * which may write a tab as eight spaces. Another process may still fill the space in
 * between. Sockets are non-blocking in each call. Regular files and devices such as
 * /dev/null are always ready. */
#include "tenon/piof.h"

#include "components/piof/pipes.h"
#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { PRIORITY = 50, TERMINAL_B = 32 };

struct conf {
    bool own;
};

enum how {
    OWN,    /* non-blocking description of our own */
    SOCKET, /* non-blocking in each call */
    SHARED, /* blocking: write only what is sure to fit */
    PLAIN,  /* file or device that is always ready */
};

struct sink {
    int fd, own; /* descriptor to close; -1: none */
    enum how how;
    size_t sure_b; /* SHARED: bytes that fit if there is any room */
};

static pmix_status_t stdio_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

/* ---- sinks ----------------------------------------------------------------------- */

static pmix_status_t stdio_open_sink(void *self, const struct px_piof_target *target,
                                     void **out)
{
    const struct conf *conf = self;
    struct sink *sink;
    struct stat st;
    int flags;

    if (target->fd < 0)
        return PMIX_ERR_NOT_SUPPORTED;
    flags = fcntl(target->fd, F_GETFL);
    if (flags < 0 || fstat(target->fd, &st) < 0)
        return px_status_of_errno(errno);
    if ((flags & O_ACCMODE) == O_RDONLY)
        return PMIX_ERR_BAD_PARAM;
    sink = malloc(sizeof(*sink));
    if (!sink)
        return PMIX_ERR_NOMEM;
    *sink = (struct sink){.fd = target->fd, .own = -1, .how = PLAIN};
    if (S_ISSOCK(st.st_mode)) {
        sink->how = SOCKET;
    } else if (S_ISFIFO(st.st_mode) || isatty(target->fd)) {
        if (conf->own)
            sink->own = px_os_reopen(target->fd,
                                     O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        sink->how = sink->own < 0 ? SHARED : OWN;
        sink->sure_b = S_ISFIFO(st.st_mode) ? PIPE_BUF : TERMINAL_B;
        sink->fd = sink->own < 0 ? target->fd : sink->own;
    }
    *out = sink;
    return PMIX_SUCCESS;
}

/* Writes at most sure_b bytes, which fit if there is any room. */
static ssize_t write_little(const struct sink *sink, const struct iovec *v, int n)
{
    struct iovec part[8];
    size_t left = sink->sure_b;
    int parts = 0;

    for (; parts < n && parts < (int)PX_COUNT(part) && left > 0; parts++) {
        part[parts] = v[parts];
        if (part[parts].iov_len > left)
            part[parts].iov_len = left;
        left -= part[parts].iov_len;
    }
    return px_fd_writev(sink->fd, part, parts);
}

static ssize_t stdio_writev(void *self PX_UNUSED, void *of, const struct iovec *v,
                            int n)
{
    const struct sink *sink = of;
    struct pollfd room = {.fd = sink->fd, .events = POLLOUT};
    struct msghdr message = {.msg_iov = (struct iovec *)v, .msg_iovlen = (size_t)n};

    if (sink->how == SOCKET)
        return sendmsg(sink->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sink->how != SHARED)
        return px_fd_writev(sink->fd, v, n);
    if (poll(&room, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return write_little(sink, v, n);
}

static int stdio_room_fd(void *self PX_UNUSED, void *of)
{
    const struct sink *sink = of;

    return sink->how == PLAIN ? -1 : sink->fd;
}

static void stdio_close_sink(void *self PX_UNUSED, void *of)
{
    struct sink *sink = of;

    px_drop_fd(&sink->own);
    free(sink);
}

/* ---- sources --------------------------------------------------------------------- */

static pmix_status_t stdio_open_source(void *self PX_UNUSED,
                                       const struct px_piof_source *wanted,
                                       struct px_piof_ends *ends)
{
    struct px_piof_ends made = {{-1, -1, -1}, {-1, -1, -1}};
    pmix_status_t rc = PMIX_SUCCESS;

    if (wanted->kind != PX_PIOF_PIPES)
        return PMIX_ERR_NOT_SUPPORTED;
    for (int i = wanted->input ? 0 : 1; !rc && i < (wanted->merged ? 2 : 3); i++)
        rc = piof_pipe(&made, i);
    if (rc) {
        piof_drop(&made);
        return rc;
    }
    /* One pipe for both streams keeps the order of writes. */
    if (wanted->merged)
        made.child[2] = made.child[1];
    *ends = made;
    return PMIX_SUCCESS;
}

/* ---- descriptor ------------------------------------------------------------------ */

static const struct px_param params[] = {
    PX_PARAM_BOOL(
        struct conf, own, "true",
        "Reopen pipes and terminals that others share, to write as much as fits; "
        "otherwise write small pieces",
        .level = 5),
    PX_PARAM_END,
};

static const struct px_piof_ops ops = {
    .open_sink = stdio_open_sink,
    .open_source = stdio_open_source,
    .writev = stdio_writev,
    .room_fd = stdio_room_fd,
    .close_sink = stdio_close_sink,
};

PX_COMPONENT(piof, stdio) = {
    PX_COMPONENT_HEAD(piof, PIOF, stdio),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf), /* self is the conf */
    .query = stdio_query,
    .ops = &ops,
};
