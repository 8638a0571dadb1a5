/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/iof/iof_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/os/os.h"
#include "core/rt/log.h"

enum { BACKGROUND_MS = 250 }; /* interval of checks for the foreground */

struct px_iof_input {
    struct px_iof_input_user user;
    int from; /* -1: stdin is closed */
    bool is_terminal, ended;
    struct px_watch *watch; /* NULL: the input is always ready */
    struct px_timer *timer; /* next check while in the background; next read of a
                             * file */
    uint8_t bytes[PX_IOF_CHUNK_B];
};

static void input_stop(struct px_iof_input *in)
{
    px_watch_free(px_take(&in->watch));
    px_timer_free(px_take(&in->timer));
    px_drop_fd(&in->from);
}

static bool is_wanted(const struct px_iof_input *in)
{
    return !in->user.wants || in->user.wants(in->user.arg);
}

/* Passes on the result n of a read. The input may be closed within take, so nothing may
 * follow. */
static void pass_on(struct px_iof_input *in, ssize_t n)
{
    if (n <= 0) {
        in->ended = true;
        input_stop(in);
    } else if (in->watch) {
        (void)px_watch_set(in->watch, 0);
    }
    in->user.take(in->user.arg, in->bytes, n > 0 ? (size_t)n : 0);
}

void px_iof_input_go_on(struct px_iof_input *in)
{
    if (in->ended)
        return;
    if (!in->watch) {
        if (is_wanted(in))
            px_timer_set(in->timer, 0);
    } else if (px_watch_set(in->watch, is_wanted(in) ? PX_READABLE : 0)) {
        px_log(PX_LOG_ERROR, "input",
               "cannot read standard input: the kernel has no room");
        input_stop(in);
        in->ended = true; /* does not call take: the end is not known */
    }
}

static bool in_background(int fd)
{
    pid_t group = tcgetpgrp(fd);

    return group >= 0 && group != getpgrp();
}

static void on_input(void *arg, int fd, unsigned events PX_UNUSED)
{
    struct px_iof_input *in = arg;
    bool away = in->is_terminal && in_background(fd);

    if (!is_wanted(in)) {
        px_iof_input_go_on(in);
        return;
    }
    ssize_t n = away     ? -1
                : fd < 0 ? 0
                         : PX_RETRY(read(fd, in->bytes, sizeof(in->bytes)));

    if (away || (n < 0 && errno == EIO && in->is_terminal && in_background(fd))) {
        (void)px_watch_set(in->watch, 0);
        px_timer_set(in->timer, BACKGROUND_MS);
        return;
    }
    if (n < 0 && errno == EAGAIN) {
        px_iof_input_go_on(in);
        return;
    }
    if (n < 0 && !in->is_terminal) /* a hung-up terminal fails */
        px_log(PX_LOG_ERROR, "input", "cannot read standard input: %m");
    pass_on(in, n);
}

static void on_timer(void *arg)
{
    struct px_iof_input *in = arg;

    if (in->watch)
        px_iof_input_go_on(in);
    else
        on_input(in, in->from, PX_READABLE);
}

pmix_status_t px_iof_input_open(struct px_loop *loop,
                                const struct px_iof_input_user *user,
                                struct px_iof_input **input, struct px_err *err)
{
    struct px_iof_input *in = calloc(1, sizeof(*in));
    struct stat st = {0};

    if (!in)
        return px_err_nomem(err, "read stdin");
    in->user = *user;
    /* Open a separate description, because stdin is shared with the shell. A file keeps
     * the shared description, which has the offset. */
    in->from = -1;
    /* A descriptor without a file type was made by this process itself. */
    bool given = fstat(STDIN_FILENO, &st) == 0 && (st.st_mode & S_IFMT) != 0;
    if (given && !S_ISREG(st.st_mode))
        in->from = px_os_reopen(STDIN_FILENO,
                                O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (given && in->from < 0)
        in->from = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    in->is_terminal = isatty(STDIN_FILENO);
    in->timer = px_timer_create(loop, on_timer, in);
    if (in->from >= 0)
        in->watch = px_watch_create(loop, in->from, PX_READABLE, on_input, in);
    /* Files, and devices such as /dev/null, cannot be watched and are always ready. */
    bool is_ready = in->from < 0 ||
                    (!in->is_terminal && (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)));
    if (!in->timer || (!in->watch && !is_ready)) {
        px_iof_input_close(in);
        return px_err_nomem(err, "read stdin");
    }
    if (in->watch)
        (void)px_watch_set(in->watch, 0);
    *input = in;
    return PMIX_SUCCESS;
}

void px_iof_input_close(struct px_iof_input *in)
{
    if (!in)
        return;
    input_stop(in);
    free(in);
}
