/* SPDX-License-Identifier: BSD-3-Clause */
/* Output from pipes and from memory to sinks: lines stay whole, no byte is lost, and no
 * writer blocks. */
#include "core/iof/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "alloc_fail.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/role/role.h"
#include "px_test.h"

static const struct px_iof_std *std;
static struct px_iof_sink *copy; /* copy of the stream that has one */
static int reader;               /* read end of all output */
static atomic_int n_done, n_broken, n_rooms;

/* ---- from pipes ------------------------------------------------------------------ */

static bool on_broken(void *arg PX_UNUSED)
{
    n_broken++;
    return false;
}

static void on_done(void *arg PX_UNUSED)
{
    n_done++;
}

static void on_room(void *arg PX_UNUSED)
{
    n_rooms++;
}

enum action { NOTHING, INIT, FINI, OPEN, FINISH, CLOSE, PUT, FLUSH, RESUME };

struct source {
    enum action action;
    int which; /* 0 stdout, 1 stderr; -1: neither */
    struct px_iof_way how;
    struct px_iof_sink *sink; /* replaces stdout and stderr */
    int file;                 /* descriptor of a copy; 0: none */
    enum px_piof_kind kind;
    bool by_hand;
    unsigned (*tap)(void *arg, const uint8_t *bytes, size_t n);
    int fd; /* write end */
    struct px_stream *stream;
    const void *bytes; /* bytes of action PUT */
    size_t n, taken;
};

static pmix_status_t do_open(struct source *s)
{
    const struct px_piof_source wanted = {
        .size = sizeof(wanted), .kind = s->kind, .merged = true};
    const struct px_piof_target file = {.size = sizeof(file), .fd = s->file};
    struct px_stream_way way = {
        .how = s->how,
        .origin = {.nspace = "job", .rank = 1, .channel = "stdout"},
        .sink = s->sink        ? s->sink
                : s->which < 0 ? NULL
                               : std->of[s->which],
        .tap = s->tap,
        .is_tapped = s->tap != NULL,
        .done = on_done,
        .on_broken = on_broken,
        .on_room = on_room};
    struct px_piof_ends ends = {{-1, -1, -1}, {-1, -1, -1}};

    if (s->file)
        ok(px_iof_sink_open(&file, "out", &copy, NULL));
    way.copy = copy;
    if (!s->by_hand)
        ok(px_iof_source_open(&wanted, &ends, NULL));
    s->fd = ends.child[1];
    return px_stream_open(&way, ends.ours[1], &s->stream);
}

static void do_action(struct px_call *call, void *args)
{
    struct source *s = args;
    pmix_status_t rc = PMIX_SUCCESS;

    switch (s->action) {
    case NOTHING:
        break;
    case INIT:
        rc = px_iof_std_get(&std);
        break;
    case FINI:
        px_iof_sink_close(px_take(&copy));
        px_iof_std_put();
        std = NULL;
        break;
    case OPEN:
        rc = do_open(s);
        break;
    case FINISH:
        px_stream_finish(s->stream);
        break;
    case CLOSE:
        px_stream_close(s->stream);
        break;
    case PUT:
        s->taken = px_stream_put(s->stream, s->bytes, s->n);
        break;
    case FLUSH:
        px_stream_flush(s->stream);
        break;
    case RESUME:
        px_stream_resume(s->stream);
    }
    px_call_done(call, rc);
}

/* Acts on the loop. s: needed from OPEN on, otherwise NULL. */
static void on_loop(enum action action, struct source *s)
{
    struct source none;

    s = s ? s : &none;
    s->action = action;
    ok(px_call(px_process.loop, do_action, s));
}

static void begin_role(void)
{
    struct px_err err = {0};

    px_process_lock();
    ck_assert_msg(px_role_begin(PX_ROLE_TOOL, NULL, 0, &err) == PMIX_SUCCESS, "%s",
                  err.text);
    ok(px_loop_need_thread(px_process.loop));
    px_process_unlock();
}

static void teardown(void)
{
    if (std)
        on_loop(FINI, NULL);
    px_process_lock();
    px_role_end(PX_ROLE_TOOL);
    px_process_unlock();
}

/* Starts again with fd as stdout and stderr. */
static void start_with(int fd)
{
    if (std)
        on_loop(FINI, NULL);
    ck_assert_int_eq(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
    ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
    close(fd);
    on_loop(INIT, NULL);
}

/* Begins with a pipe as stdout and stderr. */
static void setup(void)
{
    int ends[2];

    begin_role();
    ok(pipe2(ends, O_CLOEXEC));
    reader = ends[0];
    start_with(ends[1]);
}

static struct source open_source(int which)
{
    struct source s = {.which = which, .how.gather_ms = PX_IOF_FOR_EVER};

    on_loop(OPEN, &s);
    return s;
}

static void write_text(const struct source *s, const char *text)
{
    ok(px_fd_write_all(s->fd, text, strlen(text), 0));
}

static void await_done(int wanted)
{
    while (n_done < wanted)
        usleep(100);
}

/* Checks that the pipe has no reader any more. */
static void assert_broken(const struct source *s)
{
    ck_assert_int_lt(px_fd_write(s->fd, "x", 1), 0);
    ck_assert_int_eq(errno, EPIPE);
    close(s->fd);
}

static void assert_in(int fd, const char *text)
{
    char got[4096] = "";

    ok(px_fd_read_all(fd, got, strlen(text), px_clock_ms() + 5000));
    ck_assert_str_eq(got, text);
}

static void assert_nothing_out(void)
{
    char c;

    on_loop(NOTHING, NULL);
    fails(px_fd_read_all(reader, &c, 1, px_clock_ms() + 50), TIMEOUT);
}

PX_TEST(whole_lines_go_on_and_those_of_two_are_not_mixed)
{
    struct source a = open_source(0), b = open_source(1);

    write_text(&a, "1\n2\none half, ");
    assert_in(reader, "1\n2\n");
    write_text(&b, "of ");
    assert_nothing_out();
    write_text(&b, "another\n");
    assert_in(reader, "of another\n");
    write_text(&a, "other half\n\nrest");
    assert_in(reader, "one half, other half\n\n");
    assert_nothing_out();
    close(b.fd);
    await_done(1);
    close(a.fd);
    await_done(2);
    assert_in(reader, "rest"); /* with or without a newline */
}

/* More lines than all buffers hold; each contains its number. */
#define N_LINES 6000
#define LINE_B  100

static void *write_lines(void *arg)
{
    const struct source *s = arg;
    char line[LINE_B + 1];

    for (int i = 0; i < N_LINES; i++) {
        snprintf(line, sizeof(line), "%d line %-*d\n", s->which, LINE_B - 8, i);
        write_text(s, line);
    }
    close(s->fd);
    return NULL;
}

static void check_lines(void)
{
    int next[2] = {0}, which, number;
    FILE *in = fdopen(reader, "r");

    for (int i = 0; i < 2 * N_LINES; i++) {
        ck_assert_int_eq(fscanf(in, "%d line %d", &which, &number), 2);
        ck_assert(which == 0 || which == 1);
        ck_assert_int_eq(number, next[which]++);
    }
    await_done(2);
    fclose(in);
}

/* A slow reader reads during the writes, a fast one after them. */
static void run_writers(bool slow)
{
    struct source sources[2] = {open_source(0), open_source(1)};
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, write_lines, &sources[i]);
    if (slow) {
        usleep(200000);
        ck_assert_int_eq(n_done, 0);
        on_loop(NOTHING, NULL); /* the loop must not be blocked */
        check_lines();
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    await_done(2);
    if (!slow)
        check_lines();
}

/* A pipe, a pipe that cannot be opened again, a socket, a file. */
PX_TEST_LOOP(a_slow_reader_loses_nothing_and_blocks_no_other, 4)
{
    enum { PIPE, SHARED, SOCKET, PLAIN };
    int ends[2];

    if (_i == SHARED) {
        teardown();
        setenv("PMIX_MCA_piof_stdio_own", "false", 1);
        begin_role();
    }
    if (_i == SOCKET) {
        ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
    } else if (_i == PLAIN) {
        ends[1] = open(px_test_path("out"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        ends[0] = open(px_test_path("out"), O_RDONLY | O_CLOEXEC);
    } else {
        ok(pipe2(ends, O_CLOEXEC));
    }
    reader = ends[0];
    start_with(ends[1]);
    run_writers(_i != PLAIN);
    ck_assert_int_eq(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK, 0);
}

/* A line that fills the buffer continues in pieces; behind a shorter line it stays
 * whole. */
PX_TEST(long_lines_go_on_in_pieces)
{
    static const char starts[][6] = {"", "line\n", {'a', '\0', 'b', '\n', '\0'}};
    static char big[3 * PX_LINE_MAX_B + 1], got[sizeof(big)];
    struct source a = open_source(0);

    ck_assert_int_gt(fcntl(reader, F_SETPIPE_SZ, (int)sizeof(big)), 0);
    for (size_t i = 0; i < 3; i++) {
        memset(big, 'x', sizeof(big) - 1);
        memcpy(big, starts[i], i == 0 ? 0 : 5);
        big[sizeof(big) - 1] = '\n';
        ok(px_fd_write_all(a.fd, big, sizeof(big), 0));
        ok(px_fd_read_all(reader, got, sizeof(got), px_clock_ms() + 5000));
        ck_assert_mem_eq(big, got, sizeof(big));
    }
    close(a.fd);
    await_done(1);
}

/* Takes a short rest, and a rest that a slow reader has not read yet. */
PX_TEST(finish_takes_what_is_there_and_waits_for_no_more)
{
    static char big[8 * PX_LINE_MAX_B], got[sizeof(big)];
    struct source a = open_source(0);

    write_text(&a, "line\nrest");
    on_loop(FINISH, &a);
    assert_in(reader, "line\nrest");
    await_done(1);
    assert_broken(&a);
    a = open_source(0);
    memset(big, 'x', sizeof(big));
    ck_assert_int_gt(fcntl(a.fd, F_SETPIPE_SZ, (int)sizeof(big)), 0);
    ok(px_fd_write_all(a.fd, big, sizeof(big), 0));
    on_loop(FINISH, &a);
    ck_assert_int_eq(n_done, 1);
    ok(px_fd_read_all(reader, got, sizeof(got), px_clock_ms() + 5000));
    await_done(2);
    assert_broken(&a);
}

PX_TEST(a_writer_to_a_reader_that_has_gone_gets_sigpipe)
{
    struct source a = open_source(0);

    close(reader);
    write_text(&a, "line\n");
    await_done(1);
    assert_broken(&a);
    ck_assert_int_eq(n_broken, 0);
    a = open_source(1); /* later streams, too */
    ck_assert_ptr_null(a.stream);
    assert_broken(&a);
}

PX_TEST(a_full_disk_is_a_failure)
{
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct source a;

    PX_TEST_NEEDS(fd >= 0, "/dev/full");
    start_with(fd);
    a = open_source(0);
    write_text(&a, "line\n");
    await_done(1);
    ck_assert_int_eq(n_broken, 1);
    close(a.fd);
}

PX_TEST(a_closed_stream_is_silent)
{
    struct source a = open_source(0);

    write_text(&a, "rest");
    on_loop(NOTHING, NULL);
    on_loop(CLOSE, &a);
    assert_nothing_out();
    ck_assert_int_eq(n_done, 0);
    close(a.fd);
}

/* ---- prefixes and files ---------------------------------------------------------- */

#define PREFIX "[1]<stdout>:"

static const struct px_iof_way prefixed = {.tag_rank = true,
                                           .gather_ms = PX_IOF_FOR_EVER};
static const struct px_iof_way lines = {.gather_ms = PX_IOF_FOR_EVER};

static int open_file(void)
{
    int fd = open(px_test_path("out"), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);

    ck_assert_int_ge(fd, 0);
    return fd;
}

static void assert_in_file(int fd, const char *text)
{
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    assert_in(fd, text);
    ck_assert_int_eq(lseek(fd, 0, SEEK_END), (int)strlen(text));
    close(fd);
}

PX_TEST(prefixed_lines_are_the_same_in_the_file)
{
    struct source a = {.how = prefixed, .file = open_file()};
    static const char all[] = PREFIX "1\n" PREFIX "one, two\n" PREFIX "rest\n";

    on_loop(OPEN, &a);
    write_text(&a, "1\none, ");
    assert_in(reader, PREFIX "1\n");
    write_text(&a, "two\nrest");
    close(a.fd);
    assert_in(reader, all + sizeof(PREFIX) + 1);
    await_done(1);
    assert_in_file(a.file, all);
}

/* A long line is cut, and each piece has a prefix; an incomplete line waits. */
PX_TEST(prefixed_lines_to_a_slow_reader_lose_nothing)
{
    static char big[3 * PX_LINE_MAX_B], line[PX_LINE_MAX_B + sizeof(PREFIX) + 1];
    struct source a = {.how = prefixed, .file = open_file()};

    on_loop(OPEN, &a);
    memset(big, 'x', sizeof(big));
    ck_assert_int_gt(fcntl(a.fd, F_SETPIPE_SZ, (int)sizeof(big)), 0);
    ok(px_fd_write_all(a.fd, big, sizeof(big), 0));
    on_loop(FINISH, &a);
    ck_assert_int_eq(n_done, 0);
    for (int i = 0; i < 3; i++) {
        ok(px_fd_read_all(reader, line, sizeof(line) - 1, px_clock_ms() + 5000));
        ck_assert_int_eq(strncmp(line, PREFIX "xx", sizeof(PREFIX) + 1), 0);
        ck_assert_str_eq(line + sizeof(line) - 3, "x\n");
    }
    await_done(1);
    ck_assert_int_eq(lseek(a.file, 0, SEEK_END), 3 * (int)(sizeof(line) - 1));
    close(a.file);
    assert_broken(&a);
}

/* All output goes to the file and none to the reader, even if the reader has gone. */
PX_TEST_LOOP(a_file_alone_gets_all, 3)
{
    struct source a = {.which = -1, .how = lines, .file = open_file()};

    a.which = _i == 0 ? -1 : 0;
    if (_i > 0)
        close(reader);
    on_loop(OPEN, &a);
    write_text(&a, "line\nre");
    on_loop(NOTHING, NULL);
    write_text(&a, "st\nof it");
    if (_i == 2)
        on_loop(FINISH, &a);
    else
        close(a.fd);
    await_done(1);
    assert_in_file(a.file, "line\nrest\nof it");
    ck_assert_int_eq(n_broken, 0);
}

/* The failure is reported once. A stream with only this file ends; otherwise the reader
 * gets the rest. */
PX_TEST_LOOP(a_file_on_a_full_disk_is_a_failure, 2)
{
    struct source a = {
        .which = _i - 1, .how = lines, .file = open("/dev/full", O_WRONLY | O_CLOEXEC)};

    PX_TEST_NEEDS(a.file >= 0, "/dev/full");
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    on_loop(OPEN, &a);
    write_text(&a, "line\n");
    if (_i == 0) {
        await_done(1);
        assert_broken(&a);
    } else {
        assert_in(reader, "line\n");
        write_text(&a, "more\n");
        assert_in(reader, "more\n");
        close(a.fd);
        await_done(1);
    }
    ck_assert_int_eq(n_broken, 1);
    close(a.file);
}

/* ---- incomplete lines ------------------------------------------------------------- */

/* A prompt without a newline is passed on, but not before its time and not in
 * pieces. */
PX_TEST(a_line_without_end_goes_on_when_it_has_waited)
{
    struct source a = {.how.gather_ms = 100};
    uint64_t begin;

    on_loop(OPEN, &a);
    for (int i = 0; i < 2; i++) {
        begin = px_clock_ms();
        write_text(&a, "line\nna");
        write_text(&a, "me: ");
        assert_in(reader, "line\nname: ");
        ck_assert_uint_ge(px_clock_ms() - begin, 100);
    }
    close(a.fd);
    await_done(1);
}

PX_TEST(bytes_are_gathered_as_asked_for)
{
    static const struct {
        struct px_iof_way how;
        const char *pieces[4], *outs[4]; /* "": no output */
        const char *flushed;
    } rows[] = {{{.raw = true}, {"a", "\nb"}, {"a", "\nb"}, ""},
                {{.raw = true, .gather_b = 4, .gather_ms = PX_IOF_FOR_EVER},
                 {"a", "\nb", "cd", "e"},
                 {"", "", "a\nbcd", ""},
                 "e"},
                {{.gather_b = 4, .gather_ms = PX_IOF_FOR_EVER},
                 {"a\n", "bc", "d\n", "\n\n\ne"},
                 {"", "a\n", "", "bcd\n\n\n\n"},
                 "e"},
                {{.gather_ms = PX_IOF_FOR_EVER}, {"a", "b\nc"}, {"", "ab\n"}, "c"},
                {{0}, {"a", "b\nc"}, {"a", "b\nc"}, ""}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct source a = {.how = rows[i].how, .by_hand = true};

        on_loop(OPEN, &a);
        for (int k = 0; k < 4 && rows[i].pieces[k]; k++) {
            a.bytes = rows[i].pieces[k];
            a.n = strlen(rows[i].pieces[k]);
            on_loop(PUT, &a);
            ck_assert_uint_eq(a.taken, a.n);
            assert_in(reader, rows[i].outs[k]);
        }
        if (!*rows[i].flushed)
            assert_nothing_out();
        on_loop(FLUSH, &a);
        assert_in(reader, rows[i].flushed);
        on_loop(FINISH, &a);
        ck_assert_int_eq(n_done, (int)i + 1);
    }
}

/* ---- output from memory, to functions, through taps ------------------------------- */

static atomic_size_t n_got, room; /* state of the function used as a sink */
static uint8_t got[8 * PX_LINE_MAX_B];

static ssize_t take_some(void *arg PX_UNUSED, const struct iovec *v, int n PX_UNUSED)
{
    size_t len = v->iov_len < room ? v->iov_len : room;

    if (len == 0) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(got + n_got, v->iov_base, len);
    n_got += len;
    room -= len;
    return (ssize_t)len;
}

static void give_room(struct px_call *call, void *sink)
{
    room = 5000;
    px_iof_sink_has_room(sink);
    px_call_done(call, PMIX_SUCCESS);
}

/* Takes no more bytes than fit, and reports when there is room again. */
PX_TEST(bytes_that_are_handed_over_wait_for_room)
{
    static uint8_t all[sizeof(got)];
    struct source a = {.how = {.raw = true}, .by_hand = true};
    size_t at = 0;
    int rooms = 0;

    for (size_t i = 0; i < sizeof(all); i++)
        all[i] = (uint8_t)(i * 31 >> 3);
    ok(px_iof_sink_create(take_some, NULL, "a function", &a.sink));
    on_loop(OPEN, &a);
    for (int turns = 0; at < sizeof(all); turns++) {
        rooms = n_rooms;
        a.bytes = all + at;
        a.n = sizeof(all) - at;
        on_loop(PUT, &a);
        at += a.taken;
        ck_assert_uint_le(at - n_got, PX_LINE_MAX_B);
        while (a.taken < a.n && n_rooms == rooms)
            ok(px_call(px_process.loop, give_room, a.sink));
        ck_assert_int_lt(turns, 1000);
    }
    on_loop(FINISH, &a);
    while (n_done == 0)
        ok(px_call(px_process.loop, give_room, a.sink));
    ck_assert_uint_eq(n_got, sizeof(all));
    ck_assert_mem_eq(got, all, sizeof(all));
    px_iof_sink_close(a.sink);
}

/* A sink that fails still takes all bytes. */
PX_TEST(a_reader_that_has_gone_takes_all)
{
    struct source a = {.how = lines, .by_hand = true, .bytes = "a\nb\n", .n = 4};

    on_loop(OPEN, &a);
    close(reader);
    on_loop(PUT, &a);
    ck_assert_uint_eq(a.taken, 4);
    ck_assert_int_eq(n_done, 1);
    ck_assert_int_eq(n_broken, 0);
}

static atomic_uint tap_shows, n_ends;

static unsigned tap(void *arg PX_UNUSED, const uint8_t *bytes, size_t n)
{
    n_ends += n == 0;
    if (n > 0)
        memcpy(got + n_got, bytes, n);
    n_got += n;
    return tap_shows;
}

/* The tap gets all bytes; its result decides if the sink gets them, too. */
PX_TEST(a_tap_holds_up_its_writer_and_may_have_all_alone)
{
    struct source a = {.how = lines, .tap = tap};

    on_loop(OPEN, &a);
    tap_shows = PX_TAP_TAKES;
    write_text(&a, "1\n2");
    assert_in(reader, "1\n");
    tap_shows = PX_TAP_TAKES | PX_TAP_HOLDS;
    write_text(&a, "\n3\n");
    assert_in(reader, "2\n3\n");
    write_text(&a, "4\n");
    assert_nothing_out();
    ck_assert_uint_eq(n_got, 6);
    tap_shows = PX_TAP_TAKES | PX_TAP_ALONE;
    on_loop(RESUME, &a);
    while (n_got < 8)
        usleep(100);
    assert_nothing_out();
    ck_assert_mem_eq(got, "1\n2\n3\n4\n", 8);
    tap_shows = PX_TAP_TAKES | PX_TAP_HOLDS;
    write_text(&a, "5\n");
    assert_in(reader, "5\n");
    on_loop(FINISH, &a);
    ck_assert_int_eq(n_done, 0); /* not while held */
    on_loop(RESUME, &a);
    ck_assert_uint_eq(n_ends, 1);
    on_loop(RESUME, &a);
    ck_assert_int_eq(n_done, 1);
    assert_broken(&a);
}

/* After the reader has gone, the stream continues for the tap; then the tap refuses
 * more bytes, too. */
PX_TEST(a_tap_keeps_a_stream_without_a_reader)
{
    struct source a = {.how = lines, .tap = tap};

    on_loop(OPEN, &a);
    close(reader);
    tap_shows = PX_TAP_TAKES;
    write_text(&a, "1\n");
    write_text(&a, "2\n");
    while (n_got < 4)
        usleep(100);
    ck_assert_int_eq(n_done, 0);
    tap_shows = 0;
    write_text(&a, "3\n");
    await_done(1);
    assert_broken(&a);
}

/* All output of a terminal's last user precedes the end. */
PX_TEST(a_terminal_ends_with_its_last_user)
{
    struct source a = {.how = lines, .kind = PX_PIOF_TERMINAL};

    PX_TEST_NEEDS(px_test_has_terminals(), "pseudo terminals");
    on_loop(OPEN, &a);
    write_text(&a, "line\nrest");
    close(a.fd);
    await_done(1);
    assert_in(reader, "line\nrest");
}

/* Opens the standard streams, two sinks, and a stream that uses both sinks. */
static void open_all(struct px_call *call, void *path)
{
    const struct px_piof_target target = {
        .size = sizeof(target), .fd = -1, .path = path, .mode = 0600};
    struct px_stream_way way = {.how = prefixed, .done = on_done};
    const struct px_iof_std *own = NULL;
    struct px_iof_sink *file = NULL;
    struct px_stream *s = NULL;
    pmix_status_t rc = px_iof_std_get(&own);

    way.origin.channel = "stdout";
    if (!rc)
        rc = px_iof_sink_open(&target, "out", &file, NULL);
    if (!rc)
        rc = px_iof_sink_create(take_some, NULL, "a function", &way.sink);
    way.copy = file;
    if (!rc)
        rc = px_stream_open(&way, -1, &s);
    px_stream_close(s);
    px_iof_sink_close(way.sink);
    px_iof_sink_close(file);
    if (own)
        px_iof_std_put();
    px_call_done(call, rc);
}

PX_TEST(without_memory_nothing_stays_open)
{
    void *path = (void *)px_test_path("out");
    size_t n_fds;

    PX_TEST_NEEDS_ALLOC;
    on_loop(FINI, NULL);
    ok(px_call(px_process.loop, open_all,
               path)); /* allocates the loop's room for timers */
    n_fds = px_test_count_fds();
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        pmix_status_t rc = px_call(px_process.loop, open_all, path);

        (void)px_alloc_check(rc);
        ck_assert_uint_eq(px_test_count_fds(), n_fds);
    }
}

PX_TEST_MAIN("iof/stream", setup, teardown)
