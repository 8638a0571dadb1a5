/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/streams/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "core/base/fd.h"
#include "core/rt/log.h"

/* ---- output: sinks --------------------------------------------------------------- */

/* Our own stdout and stderr are shared with the process that started us, so they must
 * not be made non-blocking; and the loop must not block in them, be it for a reader
 * that sleeps or a terminal that was stopped. A pipe or terminal is therefore opened
 * anew through /proc, which gives a file description of our own, non-blocking. Where
 * that is not allowed (the terminal of another user), it is asked before each write
 * whether there is room, and no more is written than PIPE_BUF, which then fits unless
 * another process comes between. Sockets are non-blocking call by call. Regular files
 * and the likes of /dev/null are always ready. */

struct px_stream {
    struct px_list link;      /* in px_sink.streams */
    struct px_list turn_link; /* in px_sink.queue */
    struct px_sink *sink;     /* NULL: its file gets all of it, and that alone */
    struct px_stream_way way;
    int fd; /* -1: the end has come */
    struct px_watch *watch;
    /* The bytes read, cut where lines end: no line may be torn by another stream's. A
     * buffer that is full of what the sink has not taken is not read into, which is all
     * the back-pressure that is needed. */
    uint8_t *bytes; /* PX_LINE_MAX_B of them; pages that are not written cost nothing */
    size_t len;
    size_t ready; /* the first so many bytes may go on */
    size_t turn;  /* bytes it may still write before it is the next one's turn */
    size_t left;  /* bytes it may still read; SIZE_MAX: until the end */
    bool held;    /* by the tap */
    bool muted;   /* the sink gets nothing, at the tap's word */
    /* The lines of its turn with their marks; NULL: it has none, and bytes go on as
     * they are. */
    uint8_t *marked;
    size_t at; /* what is left of the turn begins here */
    struct px_marks marks;
};

enum { MARKED_B = PX_LINE_MAX_B + PX_MARK_MAX_B };

static void sink_open(struct px_sink *sink, int fd)
{
    struct stat st;
    char path[32];

    sink->fd = fd;
    if (fstat(fd, &st) < 0) {
        sink->kind = PX_SINK_BROKEN;
    } else if (S_ISSOCK(st.st_mode)) {
        sink->kind = PX_SINK_SOCKET;
    } else if (!S_ISFIFO(st.st_mode) && !isatty(fd)) {
        sink->kind = PX_SINK_PLAIN;
    } else {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        int own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        sink->kind = own < 0 ? PX_SINK_SHARED : PX_SINK_OWN;
        sink->fd = own < 0 ? fd : own;
    }
}

void px_output_init(struct px_output *o, struct px_loop *loop,
                    void (*on_broken)(void *arg), void *arg)
{
    struct stat out, errors;

    *o = (struct px_output){.loop = loop, .on_broken = on_broken, .arg = arg};
    for (int i = 0; i < 2; i++) {
        struct px_sink *sink = o->sink_of[i] = &o->sinks[i];

        sink->output = o;
        px_list_init(&sink->streams);
        px_list_init(&sink->queue);
        sink_open(sink, STDOUT_FILENO + i);
    }
    /* Else a line of one could be written into the middle of one of the other. */
    if (fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &errors) == 0 &&
        out.st_dev == errors.st_dev && out.st_ino == errors.st_ino)
        o->sink_of[1] = o->sink_of[0];
}

void px_output_fini(struct px_output *o)
{
    for (int i = 0; o->loop && i < 2; i++) {
        px_watch_free(o->sinks[i].watch);
        if (o->sinks[i].fd != STDOUT_FILENO + i)
            close(o->sinks[i].fd);
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

/* ---- output: streams ------------------------------------------------------------- */

void px_stream_close(struct px_stream *s)
{
    if (!s)
        return;
    px_list_remove(&s->link);
    px_list_remove(&s->turn_link);
    px_watch_free(s->watch);
    px_drop_fd(&s->fd);
    free(s->marked);
    free(s->bytes);
    free(s);
}

static void stream_done(struct px_stream *s)
{
    const struct px_stream_way way = s->way;

    px_stream_close(s);
    way.done(way.arg);
}

/* n bytes have been read behind the others. */
static void find_lines(struct px_stream *s, size_t n)
{
    const uint8_t *newline = memrchr(s->bytes + s->len, '\n', n);

    s->len += n;
    if (newline)
        s->ready = (size_t)(newline - s->bytes) + 1;
    else if (s->ready == 0 && s->len == PX_LINE_MAX_B)
        s->ready = s->len;
}

static void write_file(struct px_stream *s, const uint8_t *bytes, size_t n)
{
    while (n > 0 && s->way.file >= 0) {
        ssize_t put = px_fd_write(s->way.file, bytes, n);

        if (put > 0) {
            bytes += put;
            n -= (size_t)put;
            continue;
        }
        px_log(PX_LOG_ERROR, "output", "cannot write to %s: %m", s->way.file_name);
        s->way.file = -1;
        s->way.on_broken_file(s->way.arg);
    }
}

static void drop_bytes(struct px_stream *s, size_t n)
{
    s->len -= n;
    s->ready -= n;
    memmove(s->bytes, s->bytes + n, s->len);
}

/* Begins a turn with the lines that are ready, or as many as there is room to mark.
 * The file has them first. */
static void begin_turn(struct px_stream *s)
{
    size_t used;

    if (s->marked) {
        s->at = 0;
        s->turn = px_marks_apply(&s->marks, s->bytes, s->ready, &used, s->marked,
                                 MARKED_B);
        drop_bytes(s, used);
    } else {
        s->turn = s->ready;
    }
    write_file(s, s->marked ? s->marked : s->bytes, s->turn);
}

/* So much of the turn has been written. */
static void advance(struct px_stream *s, size_t n)
{
    s->turn -= n;
    if (s->marked)
        s->at += n;
    else
        drop_bytes(s, n);
}

static void tap(struct px_stream *s, const uint8_t *bytes, size_t n)
{
    if (!s->way.tap)
        return;
    unsigned says = s->way.tap(s->way.arg, bytes, n);
    s->way.is_tapped = says & PX_TAP_TAKES;
    s->held = says & PX_TAP_HOLDS;
    s->muted = says & PX_TAP_ALONE;
}

static void stream_shut(struct px_stream *s)
{
    tap(s, NULL, 0);
    px_watch_free(px_take(&s->watch));
    px_drop_fd(&s->fd);
    s->ready = s->len; /* newline or not */
}

/* Reads what there is room for, once; when it finishes, all of what is left that finds
 * room. */
static void stream_fill(struct px_stream *s)
{
    bool finishes = s->left != SIZE_MAX;

    do {
        size_t room = PX_LINE_MAX_B - s->len;
        size_t wanted = room < s->left ? room : s->left;

        if (wanted == 0 && s->left > 0)
            return;
        ssize_t n = wanted > 0 ? read(s->fd, s->bytes + s->len, wanted) : 0;
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            return;
        if (n <= 0) {
            stream_shut(s);
            return;
        }
        tap(s, s->bytes + s->len, (size_t)n);
        find_lines(s, (size_t)n);
        s->left -= finishes ? (size_t)n : 0;
    } while (finishes && !s->held);
}

/* Without a sink, no line waits. */
static void fill_file(struct px_stream *s)
{
    while (s->ready > 0) {
        begin_turn(s);
        advance(s, s->turn);
        if (s->left != SIZE_MAX && s->fd >= 0 && !s->held)
            stream_fill(s);
    }
    if (!s->sink && s->way.file < 0 && !s->way.is_tapped) { /* the writer learns it */
        px_watch_free(px_take(&s->watch));
        px_drop_fd(&s->fd);
        s->len = s->ready = 0;
    }
}

/* Lines that are ready wait for their turn, a full buffer is not read into. True if the
 * stream has come to its end and is gone: the owner then knows. */
static bool stream_settle(struct px_stream *s)
{
    if (!s->sink || (s->muted && s->turn == 0))
        fill_file(s);
    else if (s->ready + s->turn > 0 && !px_list_linked(&s->turn_link))
        px_list_append(&s->sink->queue, &s->turn_link);
    if (s->fd >= 0 &&
        px_watch_set(s->watch, s->len < PX_LINE_MAX_B && !s->held ? PX_READABLE : 0)) {
        px_log(PX_LOG_ERROR, "output", "cannot read output: the kernel has no room");
        stream_shut(s);
        return stream_settle(s);
    }
    if (s->fd >= 0 || s->len + s->turn > 0 || s->held)
        return false;
    stream_done(s);
    return true;
}

/* The file, if there is one, gets what the sink cannot take. */
static void lose_sink(struct px_stream *s)
{
    px_list_remove(&s->link);
    px_list_remove(&s->turn_link);
    s->sink = NULL;
    advance(s, s->turn);
    if (s->way.file >= 0 || s->way.is_tapped)
        (void)stream_settle(s);
    else
        stream_done(s);
}

/* The reader has gone, or the disk is full. The writers learn it as they would without
 * us between: by SIGPIPE. */
static void sink_break(struct px_sink *sink, int errnum)
{
    struct px_output *o = sink->output;

    sink->kind = PX_SINK_BROKEN;
    px_watch_free(px_take(&sink->watch));
    if (errnum != EPIPE) {
        errno = errnum;
        px_log(PX_LOG_ERROR, "output", "cannot write to %s: %m",
               sink == o->sinks ? "standard output" : "standard error");
        /* Before the streams end, which must not pass for complete. */
        o->on_broken(o->arg);
    }
    while (!px_list_empty(&sink->streams))
        lose_sink(PX_CONTAINER_OF(sink->streams.next, struct px_stream, link));
}

static void on_writable(void *arg, int fd, unsigned events);

static void sink_wait(struct px_sink *sink)
{
    bool waits;

    if (sink->watch) {
        waits = px_watch_set(sink->watch, PX_WRITABLE) == PMIX_SUCCESS;
    } else {
        sink->watch = px_watch_create(sink->output->loop, sink->fd, PX_WRITABLE,
                                      on_writable, sink);
        waits = sink->watch;
    }
    if (!waits)
        sink_break(sink, ENOMEM);
}

/* One write of the stream whose turn it is; false if the sink takes no more for now. */
static bool serve(struct px_sink *sink, struct px_stream *s)
{
    if (s->turn == 0)
        begin_turn(s);
    ssize_t n = sink_write(sink, s->marked ? s->marked + s->at : s->bytes, s->turn);
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0) {
        if (errno == EAGAIN)
            sink_wait(sink);
        else
            sink_break(sink, errno);
        return false;
    }
    advance(s, (size_t)n);
    if (s->turn == 0)
        px_list_remove(&s->turn_link); /* settling puts it last if it has more */
    if (s->left != SIZE_MAX && s->fd >= 0 && !s->held)
        stream_fill(s);
    (void)stream_settle(s);
    return true;
}

static void on_writable(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    struct px_sink *sink = arg;

    if (sink->watch)
        (void)px_watch_set(sink->watch, 0);
    while (!px_list_empty(&sink->queue) &&
           serve(sink, PX_CONTAINER_OF(sink->queue.next, struct px_stream, turn_link)))
        ;
}

static void on_readable(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    struct px_stream *s = arg;
    struct px_sink *sink = s->sink;
    bool idle = sink && px_list_empty(&sink->queue);

    stream_fill(s);
    if (!stream_settle(s) && idle) /* else its turn comes when there is room */
        on_writable(sink, sink->fd, PX_WRITABLE);
}

pmix_status_t px_stream_open(struct px_output *o, const struct px_stream_way *way,
                             int fd, struct px_stream **out)
{
    struct px_sink *sink = way->which < 0 ? NULL : o->sink_of[way->which];
    struct px_stream *s;

    if (sink && sink->kind == PX_SINK_BROKEN)
        sink = NULL;
    if (!sink && way->file < 0 && !way->is_tapped) {
        close(fd);
        *out = NULL;
        return PMIX_SUCCESS;
    }
    s = malloc(sizeof(*s));
    if (!s)
        return PMIX_ERR_NOMEM;
    *s = (struct px_stream){
        .sink = sink,
        .way = *way,
        .fd = -1,
        .bytes = malloc(PX_LINE_MAX_B),
        .watch = px_watch_create(o->loop, fd, PX_READABLE, on_readable, s),
        .left = SIZE_MAX,
        .marked = way->marks ? malloc(MARKED_B) : NULL};
    if (!s->bytes || !s->watch || (way->marks && !s->marked)) {
        px_stream_close(s);
        return PMIX_ERR_NOMEM;
    }
    if (way->marks)
        s->marks = *way->marks;
    if (sink)
        px_list_append(&sink->streams, &s->link);
    s->fd = fd;
    *out = s;
    return PMIX_SUCCESS;
}

pmix_status_t px_stream_say(struct px_output *o, int which, char *text,
                            void (*done)(void *arg), void *arg, struct px_stream **out)
{
    struct px_sink *sink = o->sink_of[which];
    struct px_stream *s = malloc(sizeof(*s));
    bool idle = px_list_empty(&sink->queue);
    size_t n = strlen(text);

    if (!s)
        return PMIX_ERR_NOMEM;
    *s = (struct px_stream){
        .sink = sink,
        .fd = -1,
        .way = {.which = which, .file = -1, .done = done, .arg = arg},
        .bytes = (uint8_t *)text,
        .len = n,
        .ready = n,
        .left = SIZE_MAX};
    px_list_append(&sink->streams, &s->link);
    *out = s;
    if (sink->kind == PX_SINK_BROKEN)
        stream_done(s);
    else if (!stream_settle(s) && idle)
        on_writable(sink, sink->fd, PX_WRITABLE);
    return PMIX_SUCCESS;
}

void px_stream_set_marks(struct px_stream *s, const struct px_marks *marks)
{
    if (s)
        s->marks = *marks;
}

void px_stream_resume(struct px_stream *s)
{
    if (!s || !s->held)
        return;
    s->held = false;
    if (s->left != SIZE_MAX && s->fd >= 0)
        on_readable(s, s->fd, PX_READABLE);
    else
        (void)stream_settle(s);
}

void px_stream_finish(struct px_stream *s)
{
    int n = 0;

    if (s->fd < 0 || s->left != SIZE_MAX)
        return;
    s->left = ioctl(s->fd, FIONREAD, &n) < 0 ? 0 : (size_t)n;
    on_readable(s, s->fd, PX_READABLE);
}
