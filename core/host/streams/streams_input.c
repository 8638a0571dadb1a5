/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/streams/streams_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/iof/iof_input.h"
#include "core/rt/log.h"

/* ---- pushes ---------------------------------------------------------------------- */

/* Item of a push in the queue of one process. */
struct px_feed_item {
    struct px_list link;
    struct push *push;
    size_t at;       /* bytes of the push that have been written */
    uint64_t upto_b; /* end of the item in all bytes pushed to this process */
};

/* Push whose bytes all target processes share. */
struct push {
    size_t refs;    /* queued items */
    size_t n_waits; /* queued items beyond the bound */
    pmix_op_cbfunc_t done;
    void *arg;
    bool ends;
    size_t n;
    uint8_t *bytes; /* placed behind the items */
    struct px_feed_item items[];
};

static void leave_push(struct push *p)
{
    if (--p->refs == 0)
        free(p);
}

/* Completes the pushes whose last item has come within the bound. all: every push. */
static void admit_more(struct px_feed *f, bool all)
{
    while (f->outside && (all || f->outside->upto_b - f->written_b <= PX_FEED_MAX_B)) {
        struct push *p = f->outside->push;
        struct px_list *next = f->outside->link.next;

        f->outside = next == &f->queue
                         ? NULL
                         : PX_CONTAINER_OF(next, struct px_feed_item, link);
        if (--p->n_waits == 0 && p->done)
            p->done(PMIX_SUCCESS, p->arg);
    }
}

static void drop_item(struct px_feed *f, struct px_feed_item *item)
{
    f->written_b = item->upto_b;
    admit_more(f, false);
    px_list_remove(&item->link);
    leave_push(item->push);
}

/* ---- one process ----------------------------------------------------------------- */

void px_feed_init(struct px_feed *f, struct px_loop *loop)
{
    *f = (struct px_feed){.loop = loop, .fd = -1};
    px_list_init(&f->queue);
}

static void close_pipe(struct px_feed *f)
{
    px_watch_free(px_take(&f->watch));
    px_drop_fd(&f->fd);
}

void px_feed_shut(struct px_feed *f)
{
    close_pipe(f);
    f->shut = true;
    admit_more(f, true);
    while (!px_list_empty(&f->queue))
        drop_item(f, PX_CONTAINER_OF(f->queue.next, struct px_feed_item, link));
}

/* Writes the end-of-file character: once at the start of a line, twice within a line. A
 * terminal that is not in line mode has no such character. False: no room. */
static bool end_terminal(const struct px_feed *f)
{
    struct termios t;

    if (tcgetattr(f->fd, &t) < 0 || !(t.c_lflag & ICANON))
        return true;
    const uint8_t ends[] = {t.c_cc[VEOF], t.c_cc[VEOF]};
    return px_fd_write(f->fd, ends, f->in_line ? 2 : 1) > 0 || errno != EAGAIN;
}

/* Writes bytes of an item. False if the pipe is full or closed. */
static bool write_item(struct px_feed *f, struct px_feed_item *item)
{
    const struct push *p = item->push;
    ssize_t n = p->n > item->at
                    ? px_fd_write(f->fd, p->bytes + item->at, p->n - item->at)
                    : 0;

    if (n < 0 && errno == EAGAIN)
        return false;
    if (n < 0) { /* the process has closed its stdin */
        px_feed_shut(f);
        return false;
    }
    item->at += (size_t)n;
    f->written_b += (uint64_t)n;
    if (n > 0)
        f->in_line = p->bytes[item->at - 1] != '\n';
    if (item->at < p->n)
        return true;
    if (p->ends && f->is_terminal && !end_terminal(f))
        return false;
    if (p->ends)
        close_pipe(f);
    drop_item(f, item);
    return f->fd >= 0;
}

static void feed(struct px_feed *f)
{
    while (f->fd >= 0 && !px_list_empty(&f->queue) &&
           write_item(f, PX_CONTAINER_OF(f->queue.next, struct px_feed_item, link)))
        ;
    if (f->fd >= 0 &&
        px_watch_set(f->watch, px_list_empty(&f->queue) ? 0 : PX_WRITABLE)) {
        px_log(PX_LOG_ERROR, "input", "cannot pass on stdin: the kernel has no room");
        px_feed_shut(f);
    }
    admit_more(f, false);
}

static void on_room(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    feed(arg);
}

/* Opens the feed on fd, which is taken. Closes a feed that has ended at once. */
static pmix_status_t open_to(struct px_feed *f, int fd, bool is_terminal,
                             struct px_err *err)
{
    close_pipe(f);
    f->watch = px_watch_create(f->loop, fd, 0, on_room, f);
    f->fd = fd;
    f->is_terminal = is_terminal;
    f->in_line = f->shut = false;
    if (!f->watch) {
        close_pipe(f);
        return px_err_nomem(err, "pass on stdin");
    }
    if (f->ended && px_list_empty(&f->queue)) {
        (void)(is_terminal && end_terminal(f)); /* the new terminal has room */
        close_pipe(f);
    }
    feed(f);
    return PMIX_SUCCESS;
}

pmix_status_t px_feed_open(struct px_feed *f, int *fd, struct px_err *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return px_err_errno(err, "cannot make a pipe");
    PX_AUTOCLOSE int read_end = ends[0];
    PX_AUTOCLOSE int write_end = ends[1];
    if (px_fd_nonblock(write_end))
        return px_err_errno(err, "cannot make a pipe");
    pmix_status_t rc = open_to(f, px_take_fd(&write_end), false, err);
    if (!rc)
        *fd = px_take_fd(&read_end);
    return rc;
}

pmix_status_t px_feed_open_terminal(struct px_feed *f, int fd, struct px_err *err)
{
    return open_to(f, fd, true, err);
}

pmix_status_t px_feed_push(struct px_feed *const feeds[], size_t n_feeds,
                           const void *bytes, size_t n, bool ends,
                           pmix_op_cbfunc_t done, void *arg)
{
    size_t items_b = n_feeds * sizeof(struct px_feed_item);
    struct push *p = n > SIZE_MAX / 2 ? NULL : malloc(sizeof(*p) + items_b + n);

    if (!p)
        return PMIX_ERR_NOMEM;
    *p = (struct push){.refs = 1, .ends = ends, .n = n};
    p->bytes = (uint8_t *)(p->items + n_feeds);
    if (n > 0)
        memcpy(p->bytes, bytes, n);
    for (size_t i = 0; i < n_feeds; i++) {
        struct px_feed *f = feeds[i];
        struct px_feed_item *item = &p->items[i];

        bool takes = !f->shut && !f->ended;

        f->ended |= ends;
        if (!takes)
            continue;
        f->pushed_b += n + sizeof(*item); /* bounds the number of small pushes too */
        *item = (struct px_feed_item){.push = p, .upto_b = f->pushed_b};
        px_list_append(&f->queue, &item->link);
        f->outside = f->outside ? f->outside : item;
        p->refs++;
        p->n_waits++;
        feed(f);
    }
    bool waits = p->n_waits > 0;
    if (waits) {
        p->done = done;
        p->arg = arg;
    }
    leave_push(p);
    return waits ? PMIX_SUCCESS : PMIX_OPERATION_SUCCEEDED;
}

/* ---- our own stdin --------------------------------------------------------------- */

/* A single process gets our stdin itself if that is a file, pipe, socket or device. So
 * only that process consumes bytes, and sees the end. A terminal cannot be shared: a
 * read from a background process group stops the group. So this process reads from a
 * terminal while it is in the foreground. It also reads for several processes, which
 * all get all bytes. */

struct px_input {
    struct px_iof_input *from;
    size_t n_feeds;
    struct px_feed *feeds[];
};

bool px_input_is_shared(int *fd)
{
    *fd = fcntl(STDIN_FILENO, F_GETFD) < 0 ? -1 : STDIN_FILENO;
    return !isatty(STDIN_FILENO);
}

static bool is_wanted(void *arg)
{
    const struct px_input *in = arg;

    for (size_t i = 0; i < in->n_feeds; i++)
        if (!in->feeds[i]->shut)
            return true;
    return false;
}

void px_input_go_on(struct px_input *in)
{
    if (in->from)
        px_iof_input_go_on(in->from);
}

static void on_pushed(pmix_status_t status PX_UNUSED, void *arg)
{
    px_input_go_on(arg);
}

static void pass_on(void *arg, const uint8_t *bytes, size_t n)
{
    struct px_input *in = arg;
    pmix_status_t rc = px_feed_push(in->feeds, in->n_feeds, bytes, n, n == 0, on_pushed,
                                    in);

    if (rc == PMIX_OPERATION_SUCCEEDED) {
        px_input_go_on(in);
    } else if (rc) {
        px_log(PX_LOG_ERROR, "input", "cannot pass on stdin: %s",
               PMIx_Error_string(rc));
        px_iof_input_close(px_take(&in->from));
    }
}

pmix_status_t px_input_open(struct px_loop *loop, struct px_feed *feeds, size_t n,
                            struct px_input **input, struct px_err *err)
{
    struct px_input *in = calloc(1, sizeof(*in) + n * sizeof(struct px_feed *));
    const struct px_iof_input_user user = {
        .take = pass_on, .wants = is_wanted, .arg = in};

    if (!in)
        return px_err_nomem(err, "pass on stdin");
    pmix_status_t rc = px_iof_input_open(loop, &user, &in->from, err);
    if (rc) {
        free(in);
        return rc;
    }
    for (; in->n_feeds < n; in->n_feeds++)
        in->feeds[in->n_feeds] = &feeds[in->n_feeds];
    *input = in;
    px_input_go_on(in);
    return PMIX_SUCCESS;
}

void px_input_close(struct px_input *in)
{
    if (!in)
        return;
    px_iof_input_close(in->from);
    free(in);
}
