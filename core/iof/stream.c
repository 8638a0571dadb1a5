/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/iof/stream.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "core/base/clock.h"
#include "core/rt/log.h"
#include "core/rt/process.h"

/* Formatted lines. NULL in a stream whose bytes pass unchanged. */
struct shown {
    struct px_iof_format format;
    size_t at;   /* start of the unwritten part of the turn */
    size_t size; /* capacity of bytes */
    uint8_t bytes[];
};

struct px_stream {
    struct px_list link;      /* in px_iof_sink.streams */
    struct px_list turn_link; /* in px_iof_sink.queue */
    struct px_stream_way way; /* sink, copy: NULL after they are broken */
    int fd;                   /* -1: px_stream_put brings the bytes, or the end has been
                               * read */
    struct px_watch *watch;
    /* Bytes from start to end, written up to line ends, because another stream must not
     * split a line. A full buffer stops reading, which is the back-pressure. Pages that
     * are never written cost nothing. */
    uint8_t *bytes;
    size_t size, start, end;
    size_t lines;           /* end of the last complete line */
    size_t ready;           /* bytes before ready may be written */
    size_t turn;            /* bytes left in the current turn */
    size_t left;            /* bytes left to read; SIZE_MAX: until the end */
    struct px_timer *timer; /* expires when bytes behind ready have waited long
                             * enough */
    uint64_t since_ms;      /* arrival time of the first of these bytes */
    bool timing;            /* the timer is running */
    bool ended;
    bool held;     /* the tap holds the stream */
    bool muted;    /* the tap withholds bytes from the sink */
    bool refused;  /* px_stream_put did not take all bytes */
    bool discards; /* discards bytes without sink and copy, which have failed */
    bool *gone;    /* set to true when the stream is freed; may be NULL */
    struct shown *shown;
};

/* ---- arrival --------------------------------------------------------------------- */

/* Updates lines and ready after bytes arrived at offset from. */
static void find_ready(struct px_stream *s, size_t from)
{
    const struct px_iof_way *how = &s->way.how;
    const uint8_t *newline = memrchr(s->bytes + from, '\n', s->end - from);
    size_t ready = s->ready;

    if (how->raw || how->gather_ms == 0)
        s->lines = s->end;
    else if (newline)
        s->lines = (size_t)(newline - s->bytes) + 1;
    if (s->end - ready >= how->gather_b && s->lines > ready)
        ready = s->lines;
    if (ready == s->start && s->end - s->start == s->size)
        ready = s->end;
    if (ready == s->end || how->gather_ms == PX_IOF_FOR_EVER) {
        s->ready = ready;
        return;
    }
    if (ready != s->ready || from == s->ready)
        s->since_ms = px_clock_ms();
    s->ready = ready;
    if (!s->timing)
        px_timer_set(s->timer, how->gather_ms);
    s->timing = true;
}

static void tap(struct px_stream *s, const uint8_t *bytes, size_t n)
{
    if (!s->way.tap)
        return;
    unsigned wants = s->way.tap(s->way.arg, bytes, n);
    s->way.is_tapped = wants & PX_TAP_TAKES;
    s->held = wants & PX_TAP_HOLDS;
    s->muted = wants & PX_TAP_ALONE;
}

/* Accepts n bytes that were appended to the buffer. */
static void take_bytes(struct px_stream *s, size_t n)
{
    tap(s, s->bytes + s->end, n);
    s->end += n;
    find_ready(s, s->end - n);
}

/* Returns the number of bytes that fit. Moves the remaining bytes to the front if they
 * are few, or if the buffer has no room behind them. */
static size_t make_room(struct px_stream *s)
{
    size_t len = s->end - s->start;

    if (s->start > 0 && (len <= s->start || s->end == s->size)) {
        memmove(s->bytes, s->bytes + s->start, len);
        s->ready -= s->start;
        s->lines = s->lines > s->start ? s->lines - s->start : 0;
        s->end = len;
        s->start = 0;
    }
    return s->size - s->end;
}

static void stream_shut(struct px_stream *s)
{
    px_watch_free(px_take(&s->watch));
    px_drop_fd(&s->fd);
    s->ready = s->end; /* also an incomplete line */
    if (!s->ended)
        tap(s, NULL, 0);
    s->ended = true;
}

/* Reads once. A finishing stream reads all remaining bytes that fit. */
static void stream_fill(struct px_stream *s)
{
    const bool finishes = s->left != SIZE_MAX;

    do {
        size_t room = make_room(s);
        size_t wanted = room < s->left ? room : s->left;

        if (s->held || (wanted == 0 && s->left > 0))
            return;
        ssize_t n = wanted > 0 ? PX_RETRY(read(s->fd, s->bytes + s->end, wanted)) : 0;
        if (n < 0 && errno == EAGAIN && !finishes)
            return;
        if (n <= 0) { /* a terminal ends with EIO */
            stream_shut(s);
            return;
        }
        take_bytes(s, (size_t)n);
        s->left -= finishes ? (size_t)n : 0;
    } while (finishes);
}

/* ---- output ---------------------------------------------------------------------- */

static void stream_done(struct px_stream *s)
{
    void (*done)(void *arg) = s->way.done;
    void *arg = s->way.arg;

    px_stream_close(s);
    done(arg);
}

static void report_broken(struct px_stream *s)
{
    if (s->way.on_broken && s->way.on_broken(s->way.arg))
        s->discards = true;
}

/* Sets the stream's sink, unless the sink is broken. */
static void use_sink(struct px_stream *s, struct px_iof_sink *sink)
{
    s->way.sink = sink && !sink->broken ? sink : NULL;
    if (!s->way.sink)
        return;
    px_list_append(&s->way.sink->streams, &s->link);
}

static bool has_reader(const struct px_stream *s)
{
    return s->way.copy || s->way.is_tapped || s->discards;
}

static void write_copy(struct px_stream *s, const uint8_t *bytes, size_t n)
{
    struct px_iof_sink *copy = s->way.copy;

    while (n > 0 && copy && !copy->broken) {
        ssize_t put = px_iof_sink_write(copy, bytes, n);

        if (put > 0) {
            bytes += put;
            n -= (size_t)put;
        } else if (put == 0 || errno != EINTR) {
            px_log(PX_LOG_ERROR, "output", "cannot write to %s: %m", copy->name);
            copy->broken = true;
        }
    }
    if (!copy || !copy->broken)
        return;
    s->way.copy = NULL;
    report_broken(s);
}

/* Begins a turn with the ready bytes, or as many as the format has room for. The copy
 * gets the bytes first. */
static void begin_turn(struct px_stream *s)
{
    struct shown *shown = s->shown;
    size_t used;

    if (shown) {
        shown->at = 0;
        s->turn = px_iof_format_apply(&shown->format, s->bytes + s->start,
                                      s->ready - s->start, &used, shown->bytes,
                                      shown->size);
        s->start += used;
    } else {
        s->turn = s->ready - s->start;
    }
    write_copy(s, shown ? shown->bytes : s->bytes + s->start, s->turn);
}

/* Removes n written bytes from the turn. */
static void advance(struct px_stream *s, size_t n)
{
    s->turn -= n;
    if (s->shown)
        s->shown->at += n;
    else
        s->start += n;
}

/* Discards ready lines of a stream without a sink, after the copy got them. */
static void drain(struct px_stream *s)
{
    while (s->ready > s->start) {
        begin_turn(s);
        advance(s, s->turn);
        if (s->left != SIZE_MAX && s->fd >= 0)
            stream_fill(s);
    }
    if (has_reader(s) || s->way.sink)
        return;
    stream_shut(s); /* the writer gets an error */
    s->start = s->end;
}

/* Queues ready lines for their turn, and stops reading into a full buffer. Returns true
 * if the stream has ended and is freed. */
static bool stream_settle(struct px_stream *s)
{
    const struct px_iof_sink *sink = s->way.sink;
    bool reads, soon;

    if (!s->way.sink || (s->muted && s->turn == 0))
        drain(s);
    else if (s->ready - s->start + s->turn > 0 && !px_list_linked(&s->turn_link))
        px_list_append(&s->way.sink->queue, &s->turn_link);
    reads = !s->held && s->end - s->start < s->size;
    /* Most sinks take everything at once, so the watch usually stays unchanged. */
    soon = px_list_linked(&s->turn_link) && !sink->busy && !sink->waits;
    if (s->watch && !soon && px_watch_set(s->watch, reads ? PX_READABLE : 0)) {
        px_log(PX_LOG_ERROR, "output", "cannot read output: the kernel has no room");
        stream_shut(s);
        return stream_settle(s);
    }
    if (!s->ended || s->held || s->end - s->start + s->turn > 0)
        return false;
    stream_done(s);
    return true;
}

static bool stream_go(struct px_stream *s);

/* Moves the stream to its spare sink. Without a spare, copy and tap get the remaining
 * bytes. */
static void lose_sink(struct px_stream *s)
{
    px_list_remove(&s->link);
    px_list_remove(&s->turn_link);
    use_sink(s, px_take(&s->way.spare));
    if (s->way.sink) {
        (void)stream_go(s);
        return;
    }
    advance(s, s->turn);
    if (has_reader(s))
        (void)stream_settle(s);
    else
        stream_done(s);
}

/* Handles a reader that has gone, or a full disk. The streams close, so the writers get
 * SIGPIPE as with a direct pipe. */
static void sink_break(struct px_iof_sink *sink, int errnum)
{
    sink->broken = true;
    if (errnum != EPIPE) {
        errno = errnum;
        px_log(PX_LOG_ERROR, "output", "cannot write to %s: %m", sink->name);
        /* The report comes before the streams end, which are not complete. */
        PX_LIST_EACH (&sink->streams, struct px_stream, s, link)
            report_broken(s);
    }
    while (!px_list_empty(&sink->streams))
        lose_sink(PX_CONTAINER_OF(sink->streams.next, struct px_stream, link));
}

/* Reports room after px_stream_put took less. The stream may be freed within. */
static void report_room(struct px_stream *s)
{
    if (!s->refused || s->held || s->end - s->start == s->size)
        return;
    s->refused = false;
    s->way.on_room(s->way.arg);
}

/* Writes once for the stream whose turn it is. Returns false if the sink has no
 * room. */
static bool serve(struct px_iof_sink *sink, struct px_stream *s)
{
    if (s->turn == 0 && s->muted) {
        px_list_remove(&s->turn_link);
        (void)stream_settle(s);
        return true;
    }
    if (s->turn == 0)
        begin_turn(s);
    ssize_t n = px_iof_sink_write(
        sink, s->shown ? s->shown->bytes + s->shown->at : s->bytes + s->start, s->turn);
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0) {
        if (errno != EAGAIN)
            sink_break(sink, errno);
        return false;
    }
    advance(s, (size_t)n);
    if (s->turn == 0)
        px_list_remove(&s->turn_link); /* stream_settle appends the stream again if it
                                        * has more */
    if (s->left != SIZE_MAX && s->fd >= 0)
        stream_fill(s);
    if (!stream_settle(s))
        report_room(s);
    return true;
}

void px_stream_serve(struct px_iof_sink *sink)
{
    if (sink->busy || sink->waits)
        return;
    sink->busy = true;
    while (!sink->closed && !px_list_empty(&sink->queue) &&
           serve(sink, PX_CONTAINER_OF(sink->queue.next, struct px_stream, turn_link)))
        ;
    sink->busy = false;
    if (sink->closed)
        px_iof_sink_close(sink);
}

/* Processes new bytes. Returns true if the stream is freed. */
static bool stream_go(struct px_stream *s)
{
    struct px_iof_sink *sink = s->way.sink;
    bool gone = false, *outer = s->gone;

    s->gone = &gone;
    if (!stream_settle(s) && sink)
        px_stream_serve(sink);
    if (!gone && sink)
        (void)stream_settle(s);
    if (!gone)
        s->gone = outer;
    else if (outer)
        *outer = true;
    return gone;
}

static void on_readable(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    stream_fill(arg);
    (void)stream_go(arg);
}

static void on_timer(void *arg)
{
    struct px_stream *s = arg;
    uint64_t age_ms = px_clock_ms() - s->since_ms;

    s->timing = s->ready < s->end && age_ms < s->way.how.gather_ms;
    if (s->timing)
        px_timer_set(s->timer, s->way.how.gather_ms - age_ms);
    else
        px_stream_flush(s);
}

/* ---- functions for the owner ----------------------------------------------------- */

void px_stream_close(struct px_stream *s)
{
    if (!s)
        return;
    if (s->gone)
        *s->gone = true;
    px_list_remove(&s->link);
    px_list_remove(&s->turn_link);
    px_watch_free(s->watch);
    px_timer_free(s->timer);
    px_drop_fd(&s->fd);
    free(s->shown);
    free(s->bytes);
    free(s);
}

size_t px_stream_held(const struct px_stream *s)
{
    return s->end - s->start + s->turn;
}

/* Makes a stream. Ignores broken sinks. */
static struct px_stream *make_stream(const struct px_stream_way *way)
{
    struct px_stream *s = malloc(sizeof(*s));

    if (!s)
        return NULL;
    *s = (struct px_stream){.way = *way, .fd = -1, .left = SIZE_MAX};
    if (s->way.copy && s->way.copy->broken)
        s->way.copy = NULL;
    s->way.origin = (struct px_iof_origin){0};
    use_sink(s, s->way.sink);
    return s;
}

static bool get_buffers(struct px_stream *s, struct px_loop *loop,
                        const struct px_iof_origin *origin)
{
    const struct px_iof_way *how = &s->way.how;
    struct px_iof_format format;

    s->size = how->gather_b <= PX_LINE_MAX_B     ? PX_LINE_MAX_B
              : how->gather_b <= PX_STREAM_MAX_B ? how->gather_b
                                                 : PX_STREAM_MAX_B;
    s->bytes = malloc(s->size);
    s->timer = px_timer_create(loop, on_timer, s);
    if (!s->bytes || !s->timer)
        return false;
    if (!px_iof_format_make(&format, how, origin))
        return true;
    s->shown = malloc(sizeof(*s->shown) + s->size + PX_IOF_HEAD_MAX_B);
    if (!s->shown)
        return false;
    s->shown->format = format;
    s->shown->size = s->size + PX_IOF_HEAD_MAX_B;
    return true;
}

pmix_status_t px_stream_open(const struct px_stream_way *way, int fd,
                             struct px_stream **out)
{
    struct px_stream *s = make_stream(way);
    struct px_loop *loop = px_process.loop;

    if (!s)
        return PMIX_ERR_NOMEM;
    if (!s->way.sink && !s->way.copy && !s->way.is_tapped) {
        s->fd = fd;
        px_stream_close(s);
        *out = NULL;
        return PMIX_SUCCESS;
    }
    if (fd >= 0)
        s->watch = px_watch_create(loop, fd, PX_READABLE, on_readable, s);
    if (!get_buffers(s, loop, &way->origin) || (fd >= 0 && !s->watch)) {
        px_stream_close(s);
        return PMIX_ERR_NOMEM;
    }
    s->fd = fd;
    *out = s;
    return PMIX_SUCCESS;
}

size_t px_stream_put(struct px_stream *s, const uint8_t *bytes, size_t n)
{
    for (size_t taken = 0; taken < n;) {
        size_t room = s->held ? 0 : make_room(s);
        size_t len = n - taken < room ? n - taken : room;

        if (len == 0) {
            s->refused = true;
            return taken;
        }
        memcpy(s->bytes + s->end, bytes + taken, len);
        taken += len;
        take_bytes(s, len);
        if (stream_go(s))
            break;
    }
    return n;
}

void px_stream_flush(struct px_stream *s)
{
    s->lines = s->ready = s->end;
    (void)stream_go(s);
}

void px_stream_finish(struct px_stream *s)
{
    int n = 0;

    if (s->ended || s->left != SIZE_MAX)
        return;
    if (s->fd < 0) {
        stream_shut(s);
        (void)stream_go(s);
        return;
    }
    s->left = ioctl(s->fd, FIONREAD, &n) < 0 ? 0 : (size_t)n;
    on_readable(s, s->fd, PX_READABLE);
}

pmix_status_t px_stream_report(struct px_iof_sink *sink, char *text,
                               void (*done)(void *arg), void *arg,
                               struct px_stream **out)
{
    struct px_stream *s = make_stream(
        &(struct px_stream_way){.sink = sink, .done = done, .arg = arg});

    if (!s)
        return PMIX_ERR_NOMEM;
    s->bytes = (uint8_t *)text;
    s->size = s->end = s->ready = strlen(text);
    s->ended = true;
    *out = s;
    (void)stream_go(s);
    return PMIX_SUCCESS;
}

void px_stream_set_origin(struct px_stream *s, const struct px_iof_origin *origin)
{
    if (s && s->shown)
        (void)px_iof_format_make(&s->shown->format, &s->way.how, origin);
}

void px_stream_resume(struct px_stream *s)
{
    if (!s || !s->held)
        return;
    s->held = false;
    if (s->fd >= 0 && s->left != SIZE_MAX)
        stream_fill(s);
    if (!stream_go(s))
        report_room(s);
}
