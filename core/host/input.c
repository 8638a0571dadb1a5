/* SPDX-License-Identifier: BSD-3-Clause */
/* A file, pipe, socket or device as stdin is handed to the process itself: nothing is
 * read that it does not read, and its end is seen where it is. Only a terminal cannot
 * be shared so: processes are in groups of their own, and a read from a group in the
 * background stops it. From a terminal, therefore, this process reads while it is in
 * the foreground, and passes that on by a pipe. */
#include "core/host/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/fd.h"

enum {
    CHUNK_B = 4096,      /* a terminal hands out no more than a line of this */
    BACKGROUND_MS = 250, /* between looking whether we have come to the foreground */
};

struct px_input {
    struct px_loop *loop;
    int from, to; /* terminal; pipe */
    struct px_watch *from_watch, *to_watch;
    struct px_timer *timer; /* while in the background */
    uint8_t bytes[CHUNK_B];
    size_t len;
};

static void stop(struct px_input *in)
{
    px_watch_free(in->from_watch);
    px_watch_free(in->to_watch);
    px_timer_free(in->timer);
    in->from_watch = in->to_watch = NULL;
    in->timer = NULL;
    px_drop_fd(&in->to);
}

/* Passes on what was read; true when there is room for more. */
static bool drain(struct px_input *in)
{
    while (in->len > 0) {
        ssize_t n = px_fd_write(in->to, in->bytes, in->len);

        if (n < 0 && errno == EAGAIN)
            return false;
        if (n < 0) { /* it has closed its stdin */
            stop(in);
            return false;
        }
        in->len -= (size_t)n;
        memmove(in->bytes, in->bytes + n, in->len);
    }
    return true;
}

static void go_on(struct px_input *in)
{
    bool room = drain(in);

    if (in->to < 0)
        return;
    px_watch_set(in->from_watch, room ? PX_READABLE : 0);
    px_watch_set(in->to_watch, room ? 0 : PX_WRITABLE);
}

static void on_room(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    go_on(arg);
}

static bool in_background(int fd)
{
    pid_t group = tcgetpgrp(fd);

    return group >= 0 && group != getpgrp();
}

static void on_terminal(void *arg, int fd, unsigned events PX_UNUSED)
{
    struct px_input *in = arg;
    bool away = in_background(fd);
    ssize_t n = away ? -1 : read(fd, in->bytes, sizeof(in->bytes));

    if (away || (n < 0 && errno == EIO && in_background(fd))) {
        px_watch_set(in->from_watch, 0);
        px_timer_set(in->timer, BACKGROUND_MS);
    } else if (n > 0) {
        in->len = (size_t)n;
        go_on(in);
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        stop(in); /* the user has ended it, or hung up */
    }
}

static void on_timer(void *arg)
{
    struct px_input *in = arg;

    px_watch_set(in->from_watch, PX_READABLE);
}

/* A description of our own, since this one is shared with the shell. */
static int open_terminal(void)
{
    int fd = open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    return fd < 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : fd;
}

static pmix_status_t watch(struct px_input *in)
{
    in->from_watch = px_watch_create(in->loop, in->from, PX_READABLE, on_terminal, in);
    in->to_watch = px_watch_create(in->loop, in->to, 0, on_room, in);
    in->timer = px_timer_create(in->loop, on_timer, in);
    return in->from_watch && in->to_watch && in->timer ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static pmix_status_t relay(struct px_input *in, int *fd, struct px_err *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return px_err_errno(err, "cannot make a pipe");
    in->to = ends[1];
    PX_AUTOCLOSE int read_end = ends[0];
    in->from = open_terminal();
    if (in->from < 0)
        return px_err_errno(err, "cannot read from the terminal");
    if (px_fd_nonblock(in->to) || watch(in))
        return px_err_set(err, PMIX_ERR_NOMEM,
                          "cannot watch the terminal: out of memory");
    *fd = px_take_fd(&read_end);
    return PMIX_SUCCESS;
}

pmix_status_t px_input_open(struct px_loop *loop, struct px_input **input, int *fd,
                            struct px_err *err)
{
    struct px_input *in;

    *input = NULL;
    if (!isatty(STDIN_FILENO)) {
        *fd = fcntl(STDIN_FILENO, F_GETFD) < 0 ? -1 : STDIN_FILENO;
        return PMIX_SUCCESS;
    }
    in = calloc(1, sizeof(*in));
    if (!in)
        return px_err_set(err, PMIX_ERR_NOMEM, "cannot pass on stdin: out of memory");
    in->loop = loop;
    in->from = in->to = -1;
    pmix_status_t rc = relay(in, fd, err);
    if (rc) {
        px_input_close(in);
        return rc;
    }
    *input = in;
    return PMIX_SUCCESS;
}

void px_input_close(struct px_input *in)
{
    if (!in)
        return;
    stop(in);
    if (in->from >= 0)
        close(in->from);
    free(in);
}
