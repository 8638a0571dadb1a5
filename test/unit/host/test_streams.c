/* SPDX-License-Identifier: BSD-3-Clause */
/* From pipes to stdout and stderr: nothing torn, nothing lost, nobody blocked. */
#include "core/host/streams/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/rt/loop.h"
#include "px_test.h"

static struct px_loop *loop;
static struct px_output output;
static int reader; /* of what comes out */
static atomic_int n_done, n_broken, n_broken_files;

static void setup(void)
{
    ok(px_loop_create(PX_PROGRESS_THREAD, &loop));
}

static void teardown(void)
{
    px_loop_destroy(loop);
}

/* ---- output ---------------------------------------------------------------------- */

static void on_broken(void *arg PX_UNUSED)
{
    n_broken++;
}

static void on_done(void *arg PX_UNUSED)
{
    n_done++;
}

static void on_broken_file(void *arg PX_UNUSED)
{
    n_broken_files++;
}

enum action { NOTHING, INIT, FINI, OPEN, FINISH, CLOSE };

struct source {
    enum action action;
    int which; /* 0 stdout, 1 stderr */
    const struct px_marks *marks;
    int file; /* 0: none */
    int fd;   /* write end */
    struct px_stream *stream;
};

static void do_action(struct px_call *call, void *args)
{
    struct source *s = args;
    pmix_status_t rc = PMIX_SUCCESS;
    int ends[2];

    switch (s->action) {
    case NOTHING:
        break;
    case INIT:
        px_output_init(&output, loop, on_broken, NULL);
        break;
    case FINI:
        px_output_fini(&output);
        break;
    case OPEN:
        ok(pipe2(ends, O_CLOEXEC));
        ok(px_fd_nonblock(ends[0]));
        s->fd = ends[1];
        rc = px_stream_open(&output,
                            &(struct px_stream_way){.which = s->which,
                                                    .marks = s->marks,
                                                    .file = s->file ? s->file : -1,
                                                    .file_name = "out",
                                                    .done = on_done,
                                                    .on_broken_file = on_broken_file},
                            ends[0], &s->stream);
        break;
    case FINISH:
        px_stream_finish(s->stream);
        break;
    case CLOSE:
        px_stream_close(s->stream);
    }
    px_call_done(call, rc);
}

/* s: of the last three; else NULL. */
static void on_loop(enum action action, struct source *s)
{
    struct source none;

    s = s ? s : &none;
    s->action = action;
    ok(px_call(loop, do_action, s));
}

/* fd becomes our stdout, and stderr too. */
static void start_with(int fd)
{
    ck_assert_int_eq(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
    ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
    close(fd);
    on_loop(INIT, NULL);
}

static void start_with_pipe(void)
{
    int ends[2];

    ok(pipe2(ends, O_CLOEXEC));
    reader = ends[0];
    start_with(ends[1]);
}

static struct source open_source(int which)
{
    struct source s = {.which = which};

    on_loop(OPEN, &s);
    return s;
}

static void say(const struct source *s, const char *text)
{
    ok(px_fd_write_all(s->fd, text, strlen(text), 0));
}

static void await_done(int wanted)
{
    while (n_done < wanted)
        usleep(100);
}

/* That the writing end has no reader any more. */
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
    ck_assert_int_eq(px_fd_read_all(reader, &c, 1, px_clock_ms() + 50),
                     PMIX_ERR_TIMEOUT);
}

PX_TEST(whole_lines_go_on_and_those_of_two_are_not_mixed)
{
    struct source a, b;

    start_with_pipe();
    a = open_source(0);
    b = open_source(1);
    say(&a, "1\n2\none half, ");
    assert_in(reader, "1\n2\n");
    say(&b, "of ");
    assert_nothing_out();
    say(&b, "another\n");
    assert_in(reader, "of another\n");
    say(&a, "other half\n\nrest");
    assert_in(reader, "one half, other half\n\n");
    assert_nothing_out();
    close(b.fd);
    await_done(1);
    close(a.fd);
    await_done(2);
    assert_in(reader, "rest"); /* newline or not */
    on_loop(FINI, NULL);
}

/* More than all buffers on the way hold; each line tells its number. */
#define N_LINES 6000
#define LINE_B  100

static void *write_lines(void *arg)
{
    const struct source *s = arg;
    char line[LINE_B + 1];

    for (int i = 0; i < N_LINES; i++) {
        snprintf(line, sizeof(line), "%d line %-*d\n", s->which, LINE_B - 8, i);
        say(s, line);
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

/* A slow reader gets its lines while they are written, another one all of them
 * afterwards. */
static void run_writers(bool slow)
{
    struct source sources[2] = {open_source(0), open_source(1)};
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, write_lines, &sources[i]);
    if (slow) {
        usleep(200000);
        ck_assert_int_eq(n_done, 0);
        on_loop(NOTHING, NULL); /* the loop has time for others */
        check_lines();
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    await_done(2);
    if (!slow)
        check_lines();
    on_loop(FINI, NULL);
}

/* A pipe, the same where it cannot be opened anew, a socket, a file. */
PX_TEST_LOOP(a_slow_reader_loses_nothing_and_blocks_nobody, 4)
{
    enum { PIPE, SHARED, SOCKET, PLAIN };
    int ends[2];

    if (_i == SHARED)
        PX_TEST_NEEDS_PROC;
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
    for (int i = 0; _i == SHARED && i < 2; i++) {
        close(output.sinks[i].fd);
        output.sinks[i].fd = STDOUT_FILENO + i;
        output.sinks[i].kind = PX_SINK_SHARED;
    }
    run_writers(_i != PLAIN);
    ck_assert_int_eq(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK, 0);
}

/* A line that fills the buffer goes on in pieces; behind a shorter one it is not
 * cut. */
PX_TEST(long_lines_go_on_in_pieces)
{
    static const char starts[][6] = {"", "line\n", {'a', '\0', 'b', '\n', '\0'}};
    static char big[3 * PX_LINE_MAX_B + 1], got[sizeof(big)];
    struct source a;

    start_with_pipe();
    a = open_source(0);
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
    on_loop(FINI, NULL);
}

/* Of a short rest, and of one that a slow reader has not read yet. */
PX_TEST(finish_takes_what_is_there_and_waits_for_no_more)
{
    static char big[8 * PX_LINE_MAX_B], got[sizeof(big)];
    struct source a;

    start_with_pipe();
    a = open_source(0);
    say(&a, "line\nrest");
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
    on_loop(FINI, NULL);
}

PX_TEST(a_writer_to_a_reader_that_has_gone_gets_sigpipe)
{
    struct source a;

    start_with_pipe();
    a = open_source(0);
    close(reader);
    say(&a, "line\n");
    await_done(1);
    assert_broken(&a);
    ck_assert_int_eq(n_broken, 0);
    a = open_source(1); /* later ones, too */
    ck_assert_ptr_null(a.stream);
    assert_broken(&a);
    on_loop(FINI, NULL);
}

PX_TEST(a_full_disk_is_a_failure)
{
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct source a;

    PX_TEST_NEEDS(fd >= 0, "/dev/full");
    start_with(fd);
    a = open_source(0);
    say(&a, "line\n");
    await_done(1);
    ck_assert_int_eq(n_broken, 1);
    close(a.fd);
    on_loop(FINI, NULL);
}

PX_TEST(a_closed_stream_is_silent)
{
    struct source a;

    start_with_pipe();
    a = open_source(0);
    say(&a, "rest");
    on_loop(NOTHING, NULL);
    on_loop(CLOSE, &a);
    assert_nothing_out();
    ck_assert_int_eq(n_done, 0);
    close(a.fd);
    on_loop(FINI, NULL);
}

/* ---- marks and files ------------------------------------------------------------- */

static const struct px_marks marks = {.source = "[1]:"};

/* Whatever is in a line; the rest is one, too; and where no more fits, no line is cut. */
PX_TEST(each_line_gets_its_mark)
{
    static const struct {
        const char *in;
        size_t n;
        size_t room;
        const char *out;
        size_t n_out, used;
    } rows[] = {{"", 0, 100, "", 0, 0},
                {"a\n\nrest", 7, 100, "[1]:a\n[1]:\n[1]:rest\n", 20, 7},
                {"\0\xff\r\n\0", 5, 100, "[1]:\0\xff\r\n[1]:\0\n", 14, 5},
                {"a\nb\nc", 5, 14, "[1]:a\n[1]:b\n", 12, 4},
                {"a\nb\n", 4, 5, "", 0, 0}};
    uint8_t out[100];
    size_t used;

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_uint_eq(px_marks_apply(&marks, (const uint8_t *)rows[i].in, rows[i].n,
                                         &used, out, rows[i].room),
                          rows[i].n_out);
        ck_assert_uint_eq(used, rows[i].used);
        ck_assert_mem_eq(out, rows[i].out, rows[i].n_out);
    }
}

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

PX_TEST(marked_lines_are_the_same_in_the_file)
{
    struct source a = {.marks = &marks, .file = open_file()};
    static const char all[] = "[1]:1\n[1]:one, two\n[1]:rest\n";

    start_with_pipe();
    on_loop(OPEN, &a);
    say(&a, "1\none, ");
    assert_in(reader, "[1]:1\n");
    say(&a, "two\nrest");
    close(a.fd);
    assert_in(reader, all + 6);
    await_done(1);
    assert_in_file(a.file, all);
    on_loop(FINI, NULL);
}

/* A long line is cut, and marked again; what is short of a line waits. */
PX_TEST(marked_lines_to_a_slow_reader_lose_nothing)
{
    static char big[3 * PX_LINE_MAX_B], line[PX_LINE_MAX_B + 6];
    struct source a = {.marks = &marks, .file = open_file()};

    start_with_pipe();
    on_loop(OPEN, &a);
    memset(big, 'x', sizeof(big));
    ck_assert_int_gt(fcntl(a.fd, F_SETPIPE_SZ, (int)sizeof(big)), 0);
    ok(px_fd_write_all(a.fd, big, sizeof(big), 0));
    on_loop(FINISH, &a);
    ck_assert_int_eq(n_done, 0);
    for (int i = 0; i < 3; i++) {
        ok(px_fd_read_all(reader, line, sizeof(line) - 1, px_clock_ms() + 5000));
        ck_assert_int_eq(strncmp(line, "[1]:xx", 6), 0);
        ck_assert_str_eq(line + sizeof(line) - 3, "x\n");
    }
    await_done(1);
    ck_assert_int_eq(lseek(a.file, 0, SEEK_END), 3 * (int)(sizeof(line) - 1));
    close(a.file);
    assert_broken(&a);
    on_loop(FINI, NULL);
}

/* Nothing comes out; all is in the file, even if the reader has gone. */
PX_TEST_LOOP(a_file_alone_gets_all, 3)
{
    struct source a = {.which = -1, .file = open_file()};

    start_with_pipe();
    a.which = _i == 0 ? -1 : 0;
    if (_i > 0)
        close(reader);
    on_loop(OPEN, &a);
    say(&a, "line\nre");
    on_loop(NOTHING, NULL);
    say(&a, "st\nof it");
    if (_i == 2)
        on_loop(FINISH, &a);
    else
        close(a.fd);
    await_done(1);
    assert_in_file(a.file, "line\nrest\nof it");
    ck_assert_int_eq(n_broken + n_broken_files, 0);
    on_loop(FINI, NULL);
}

/* It is told once. Alone it ends the stream; else the reader gets the rest. */
PX_TEST_LOOP(a_file_on_a_full_disk_is_a_failure, 2)
{
    struct source a = {.which = _i - 1,
                       .file = open("/dev/full", O_WRONLY | O_CLOEXEC)};

    PX_TEST_NEEDS(a.file >= 0, "/dev/full");
    start_with_pipe();
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    on_loop(OPEN, &a);
    say(&a, "line\n");
    if (_i == 0) {
        await_done(1);
        assert_broken(&a);
    } else {
        assert_in(reader, "line\n");
        say(&a, "more\n");
        assert_in(reader, "more\n");
        close(a.fd);
        await_done(1);
    }
    ck_assert_int_eq(n_broken, 0);
    ck_assert_int_eq(n_broken_files, 1);
    close(a.file);
    on_loop(FINI, NULL);
}

PX_TEST_MAIN("host/streams", setup, teardown)
