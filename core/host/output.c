/* SPDX-License-Identifier: BSD-3-Clause */
/* From the pipes of processes to our own stdout and stderr.
 *
 * Those two are shared with the process that started us, so they must not be made
 * non-blocking; and the loop must not block in them, be it for a reader that sleeps or
 * a terminal that was stopped. A pipe or terminal is therefore opened anew through
 * /proc, which gives a file description of our own, non-blocking. Where that is not
 * allowed (the terminal of another user), it is asked before each write whether there
 * is room, and no more is written than PIPE_BUF, which then fits unless another process
 * comes between. Sockets are non-blocking call by call. Regular files and the likes of
 * /dev/null are always ready. */
#include "core/host/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/rt/log.h"

/* ---- lines ---------------------------------------------------------------------- */

/* The bytes of a stream, cut where lines end: no line may be torn by another stream's.
 * A buffer that is full of what the sink has not taken is not read into, which is all
 * the back-pressure that is needed. */
struct lines {
    uint8_t *bytes; /* PX_LINE_MAX_B of them; pages that are not written cost nothing */
    size_t len;
    size_t ready; /* the first so many bytes may go on */
};

static size_t lines_room(const struct lines *l)
{
    return PX_LINE_MAX_B - l->len;
}

/* n bytes have been put at the end. */
static void lines_added(struct lines *l, size_t n)
{
    const uint8_t *newline = memrchr(l->bytes + l->len, '\n', n);

    l->len += n;
    if (newline)
        l->ready = (size_t)(newline - l->bytes) + 1;
    else if (l->ready == 0 && l->len == PX_LINE_MAX_B)
        l->ready = l->len;
}

/* n of the ready bytes have gone on. */
static void lines_taken(struct lines *l, size_t n)
{
    l->len -= n;
    l->ready -= n;
    memmove(l->bytes, l->bytes + n, l->len);
}

/* ---- streams and sinks ---------------------------------------------------------- */

struct px_stream {
    struct px_list link;      /* in px_sink.streams */
    struct px_list turn_link; /* in px_sink.queue */
    struct px_sink *sink;
    struct lines lines;
    size_t turn; /* bytes it may still write before it is the next one's turn */
    int fd;      /* -1: the end has come */
    struct px_watch *watch;
    bool finish; /* after so many bytes more, even if others still write */
    size_t left;
    void (*done)(void *arg);
    void *arg;
};

static void on_writable(void *arg, int fd, unsigned events);

/* ---- sinks ---------------------------------------------------------------------- */

static void sink_open(struct px_sink *sink, int fd)
{
    struct stat st;

    sink->fd = fd;
    if (fstat(fd, &st) < 0) {
        sink->kind = PX_SINK_CLOSED;
        sink->broken = true;
    } else if (S_ISSOCK(st.st_mode)) {
        sink->kind = PX_SINK_SOCKET;
    } else if (!S_ISFIFO(st.st_mode) && !isatty(fd)) {
        sink->kind = PX_SINK_PLAIN;
    } else {
        char path[32];

        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        int own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        sink->kind = own < 0 ? PX_SINK_SHARED : PX_SINK_OWN;
        sink->own_fd = own >= 0;
        sink->fd = own < 0 ? fd : own;
    }
}

void px_output_init(struct px_output *o, struct px_loop *loop,
                    void (*on_broken)(void *arg, pmix_status_t status), void *arg)
{
    static const char *const names[2] = {"standard output", "standard error"};

    *o = (struct px_output){.loop = loop, .on_broken = on_broken, .arg = arg};
    for (int i = 0; i < 2; i++) {
        struct px_sink *sink = &o->sinks[i];

        sink->output = o;
        sink->name = names[i];
        px_list_init(&sink->streams);
        px_list_init(&sink->queue);
        sink_open(sink, STDOUT_FILENO + i);
        o->sink_of[i] = sink;
    }
    /* Else a line of one could be written into the middle of one of the other. */
    struct stat out, errors;
    if (fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &errors) == 0 &&
        out.st_dev == errors.st_dev && out.st_ino == errors.st_ino)
        o->sink_of[1] = o->sink_of[0];
}

void px_output_fini(struct px_output *o)
{
    for (int i = 0; o->loop && i < 2; i++) {
        struct px_sink *sink = &o->sinks[i];

        px_watch_free(sink->watch);
        if (sink->own_fd)
            close(sink->fd);
    }
    *o = (struct px_output){0};
}

/* As write(2); EAGAIN if there is no room now. */
static ssize_t sink_write(const struct px_sink *sink, const uint8_t *bytes, size_t n)
{
    struct pollfd room = {.fd = sink->fd, .events = POLLOUT};

    if (sink->kind == PX_SINK_SOCKET)
        return send(sink->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sink->kind != PX_SINK_SHARED)
        return px_fd_write(sink->fd, bytes, n);
    if (poll(&room, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return px_fd_write(sink->fd, bytes, n < PIPE_BUF ? n : PIPE_BUF);
}

/* ---- streams -------------------------------------------------------------------- */

static void stream_free(struct px_stream *s)
{
    px_list_remove(&s->link);
    px_list_remove(&s->turn_link);
    px_watch_free(s->watch);
    if (s->fd >= 0)
        close(s->fd);
    free(s->lines.bytes);
    free(s);
}

static void stream_end(struct px_stream *s)
{
    px_watch_free(s->watch);
    s->watch = NULL;
    close(s->fd);
    s->fd = -1;
    s->lines.ready = s->lines.len; /* newline or not */
}

/* Reads what there is room for, once; with finish all of what is left that finds
 * room. */
static void stream_fill(struct px_stream *s)
{
    do {
        size_t room = lines_room(&s->lines);

        if (s->finish && s->left == 0) {
            stream_end(s);
            return;
        }
        if (s->finish && room > s->left)
            room = s->left;
        if (room == 0)
            return;
        ssize_t n = read(s->fd, s->lines.bytes + s->lines.len, room);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            return;
        if (n <= 0) {
            stream_end(s);
            return;
        }
        lines_added(&s->lines, (size_t)n);
        s->left -= s->finish ? (size_t)n : 0;
    } while (s->finish);
}

/* Lines that are ready wait for their turn, a full buffer is not read into. True if the
 * stream has come to its end and is gone: the owner then knows. */
static bool stream_settle(struct px_stream *s)
{
    void (*done)(void *arg) = s->done;
    void *arg = s->arg;

    if (s->lines.ready > 0 && !px_list_linked(&s->turn_link))
        px_list_append(&s->sink->queue, &s->turn_link);
    if (s->fd >= 0) {
        px_watch_set(s->watch, lines_room(&s->lines) > 0 ? PX_READABLE : 0);
        return false;
    }
    if (s->lines.len > 0)
        return false;
    stream_free(s);
    done(arg);
    return true;
}

/* The reader has gone, or the disk is full. The writers learn it as they would without
 * us between: by SIGPIPE. */
static void sink_break(struct px_sink *sink, int errnum)
{
    struct px_output *o = sink->output;

    sink->broken = true;
    px_watch_free(sink->watch);
    sink->watch = NULL;
    if (errnum != EPIPE) {
        errno = errnum;
        px_log(PX_LOG_ERROR, "output", "cannot write to %s: %m", sink->name);
        /* Before the streams end, which must not pass for complete. */
        o->on_broken(o->arg, px_status_of_errno(errnum));
    }
    while (!px_list_empty(&sink->streams)) {
        struct px_stream *s = PX_CONTAINER_OF(sink->streams.next, struct px_stream,
                                              link);
        void (*done)(void *arg) = s->done;
        void *arg = s->arg;

        stream_free(s);
        done(arg);
    }
}

static void sink_wait(struct px_sink *sink)
{
    if (!sink->watch)
        sink->watch = px_watch_create(sink->output->loop, sink->fd, PX_WRITABLE,
                                      on_writable, sink);
    else
        px_watch_set(sink->watch, PX_WRITABLE);
    if (!sink->watch)
        sink_break(sink, ENOMEM);
}

/* One write of the stream whose turn it is; false if the sink takes no more for now. */
static bool serve(struct px_sink *sink, struct px_stream *s)
{
    if (s->turn == 0)
        s->turn = s->lines.ready;
    ssize_t n = sink_write(sink, s->lines.bytes, s->turn);
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        sink_wait(sink);
        return false;
    }
    if (n < 0) {
        sink_break(sink, errno);
        return false;
    }
    lines_taken(&s->lines, (size_t)n);
    s->turn -= (size_t)n;
    if (s->turn == 0)
        px_list_remove(&s->turn_link); /* settling puts it last if it has more */
    if (s->finish && s->fd >= 0)
        stream_fill(s);
    (void)stream_settle(s);
    return true;
}

static void sink_pump(struct px_sink *sink)
{
    if (sink->watch)
        px_watch_set(sink->watch, 0);
    while (!px_list_empty(&sink->queue)) {
        if (!serve(sink,
                   PX_CONTAINER_OF(sink->queue.next, struct px_stream, turn_link)))
            return;
    }
}

static void on_writable(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    sink_pump(arg);
}

static void stream_advance(struct px_stream *s)
{
    struct px_sink *sink = s->sink;
    bool idle = px_list_empty(&sink->queue);

    stream_fill(s);
    if (!stream_settle(s) && idle) /* else its turn comes when there is room */
        sink_pump(sink);
}

static void on_readable(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    stream_advance(arg);
}

pmix_status_t px_stream_open(struct px_output *o, int which, int fd,
                             void (*done)(void *arg), void *arg, struct px_stream **out)
{
    struct px_sink *sink = o->sink_of[which == STDERR_FILENO];
    struct px_stream *s;

    if (sink->broken) {
        close(fd);
        *out = NULL;
        return PMIX_SUCCESS;
    }
    s = calloc(1, sizeof(*s));
    if (!s)
        return PMIX_ERR_NOMEM;
    s->sink = sink;
    s->fd = -1;
    s->done = done;
    s->arg = arg;
    px_list_append(&sink->streams, &s->link);
    s->lines.bytes = malloc(PX_LINE_MAX_B);
    if (!s->lines.bytes ||
        !(s->watch = px_watch_create(o->loop, fd, PX_READABLE, on_readable, s))) {
        stream_free(s);
        return PMIX_ERR_NOMEM;
    }
    s->fd = fd;
    *out = s;
    return PMIX_SUCCESS;
}

void px_stream_finish(struct px_stream *s)
{
    int n = 0;

    if (s->fd < 0 || s->finish)
        return;
    if (ioctl(s->fd, FIONREAD, &n) < 0)
        n = 0;
    s->finish = true;
    s->left = (size_t)n;
    stream_advance(s);
}

void px_stream_close(struct px_stream *s)
{
    if (s)
        stream_free(s);
}
