/* SPDX-License-Identifier: BSD-3-Clause */
/* From pipes to stdout and stderr: nothing torn, nothing lost, nobody blocked. */
#include "core/host/output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/rt/call.h"
#include "px_test.h"

static struct px_loop *loop;
static struct px_output output;
static int reader; /* of what comes out */
static atomic_int n_done, n_broken;

struct source {
    int which;
    int fd; /* write end */
    struct px_stream *stream;
    pmix_status_t rc;
};

static void on_broken(void *arg PX_UNUSED, pmix_status_t status)
{
    ck_assert_int_ne(status, PMIX_SUCCESS);
    n_broken++;
}

static void on_done(void *arg PX_UNUSED)
{
    n_done++;
}

static void do_init(struct px_call *call, void *args PX_UNUSED)
{
    px_output_init(&output, loop, on_broken, NULL);
    px_call_done(call, PMIX_SUCCESS);
}

static void do_fini(struct px_call *call, void *args PX_UNUSED)
{
    px_output_fini(&output);
    px_call_done(call, PMIX_SUCCESS);
}

static void do_open(struct px_call *call, void *args)
{
    struct source *s = args;
    int ends[2];

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    ok(px_fd_nonblock(ends[0]));
    s->fd = ends[1];
    px_call_done(call,
                 px_stream_open(&output, s->which, ends[0], on_done, NULL, &s->stream));
}

static void do_finish(struct px_call *call, void *args)
{
    px_stream_finish(((struct source *)args)->stream);
    px_call_done(call, PMIX_SUCCESS);
}

static void do_close(struct px_call *call, void *args)
{
    px_stream_close(((struct source *)args)->stream);
    px_call_done(call, PMIX_SUCCESS);
}

static void do_nothing(struct px_call *call, void *args PX_UNUSED)
{
    px_call_done(call, PMIX_SUCCESS);
}

static void on_loop(px_call_fn fn, void *args)
{
    ok(px_call(loop, fn, args));
}

/* fd becomes our stdout, and stderr too. */
static void start_with(int fd)
{
    ck_assert_int_eq(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
    ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
    close(fd);
    on_loop(do_init, NULL);
}

static void start_with_pipe(void)
{
    int ends[2];

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    reader = ends[0];
    start_with(ends[1]);
}

static void setup(void)
{
    ok(px_loop_create(false, &loop));
}

static void teardown(void)
{
    on_loop(do_fini, NULL);
    px_loop_destroy(loop);
}

static struct source open_source(int which)
{
    struct source s = {.which = which};

    on_loop(do_open, &s);
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

static void end(const struct source *s, int wanted)
{
    close(s->fd);
    await_done(wanted);
}

static void assert_out(const char *text)
{
    char got[4096] = "";

    ck_assert_uint_lt(strlen(text), sizeof(got));
    ok(px_fd_read_all(reader, got, strlen(text), px_clock_ms() + 5000));
    ck_assert_str_eq(got, text);
}

static void assert_nothing_out(void)
{
    char c;

    on_loop(do_nothing, NULL);
    ck_assert_int_eq(px_fd_read_all(reader, &c, 1, px_clock_ms() + 50),
                     PMIX_ERR_TIMEOUT);
}

PX_TEST(lines_of_two_are_not_mixed)
{
    struct source a, b;

    start_with_pipe();
    a = open_source(1);
    b = open_source(2);
    say(&a, "one half, ");
    say(&b, "of ");
    assert_nothing_out();
    say(&b, "another\n");
    assert_out("of another\n");
    say(&a, "other half\n");
    assert_out("one half, other half\n");
    end(&a, 1);
    end(&b, 2);
}

PX_TEST(lines_go_on_when_they_are_whole_and_the_last_one_as_it_is)
{
    struct source a;

    start_with_pipe();
    a = open_source(1);
    say(&a, "1\n2\n3");
    assert_out("1\n2\n");
    assert_nothing_out();
    say(&a, "\n\nrest");
    assert_out("3\n\n");
    assert_nothing_out();
    end(&a, 1);
    assert_out("rest");
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
    int next[3] = {0}, which, number;
    FILE *in = fdopen(reader, "r");

    for (int i = 0; i < 2 * N_LINES; i++) {
        ck_assert_int_eq(fscanf(in, "%d line %d", &which, &number), 2);
        ck_assert(which == 1 || which == 2);
        ck_assert_int_eq(number, next[which]++);
    }
    await_done(2);
    fclose(in);
}

/* A slow one gets its lines while they are written, another one all of them
 * afterwards. */
static void run_writers(bool slow)
{
    struct source sources[2] = {open_source(1), open_source(2)};
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, write_lines, &sources[i]);
    if (slow) {
        usleep(200000);
        ck_assert_int_eq(n_done, 0);
        on_loop(do_nothing, NULL); /* the loop has time for others */
        check_lines();
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    await_done(2);
    if (!slow)
        check_lines();
}

PX_TEST(a_slow_reader_loses_nothing_and_blocks_nobody)
{
    start_with_pipe();
    run_writers(true);
}

PX_TEST(a_socket_is_as_good_as_a_pipe)
{
    int ends[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    reader = ends[0];
    start_with(ends[1]);
    run_writers(true);
}

PX_TEST(a_description_that_cannot_be_opened_anew_will_do)
{
    PX_TEST_NEEDS_PROC;
    start_with_pipe();
    for (int i = 0; i < 2; i++) {
        struct px_sink *sink = &output.sinks[i];

        if (sink->own_fd) /* without /proc they are as here already */
            close(sink->fd);
        sink->fd = STDOUT_FILENO;
        sink->own_fd = false;
        sink->kind = PX_SINK_SHARED;
    }
    run_writers(true);
}

PX_TEST(our_own_streams_stay_blocking)
{
    start_with_pipe();
    ck_assert_int_eq(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK, 0);
    on_loop(do_fini, NULL);
    ck_assert_int_eq(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK, 0);
}

PX_TEST(a_file_takes_all)
{
    const char *name = px_test_path("out");
    int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    reader = open(name, O_RDONLY | O_CLOEXEC);
    start_with(fd);
    run_writers(false);
}

/* A line that fills the buffer goes on in pieces; behind a shorter one it is not
 * cut. */
PX_TEST(long_lines_go_on_in_pieces)
{
    static const char starts[][6] = {"", "line\n", {'a', '\0', 'b', '\n', '\0'}};
    static char big[3 * PX_LINE_MAX_B + 1], got[sizeof(big)];
    struct source a;

    start_with_pipe();
    a = open_source(1);
    ck_assert_int_gt(fcntl(reader, F_SETPIPE_SZ, (int)sizeof(big)), 0);
    for (size_t i = 0; i < 3; i++) {
        memset(big, 'x', sizeof(big) - 1);
        memcpy(big, starts[i], i == 0 ? 0 : 5);
        big[sizeof(big) - 1] = '\n';
        ok(px_fd_write_all(a.fd, big, sizeof(big), 0));
        ok(px_fd_read_all(reader, got, sizeof(got), px_clock_ms() + 5000));
        ck_assert_mem_eq(big, got, sizeof(big));
    }
    end(&a, 1);
}

PX_TEST(finish_takes_what_is_there_and_waits_for_no_more)
{
    struct source a;

    start_with_pipe();
    a = open_source(1);
    say(&a, "line\nrest");
    on_loop(do_finish, &a);
    assert_out("line\nrest");
    await_done(1);
    ck_assert_int_lt(px_fd_write(a.fd, "x", 1), 0);
    ck_assert_int_eq(errno, EPIPE);
    close(a.fd);
}

PX_TEST(finish_does_not_drop_what_a_slow_reader_has_not_read)
{
    static char big[8 * PX_LINE_MAX_B], got[sizeof(big)];
    struct source a;

    start_with_pipe();
    a = open_source(1);
    memset(big, 'x', sizeof(big));
    ck_assert_int_gt(fcntl(a.fd, F_SETPIPE_SZ, (int)sizeof(big)), 0);
    ok(px_fd_write_all(a.fd, big, sizeof(big), 0));
    on_loop(do_finish, &a);
    ck_assert_int_eq(n_done, 0);
    ok(px_fd_read_all(reader, got, sizeof(got), px_clock_ms() + 5000));
    await_done(1);
    close(a.fd);
}

PX_TEST(a_writer_to_a_reader_that_has_gone_gets_sigpipe)
{
    struct source a;

    start_with_pipe();
    a = open_source(1);
    close(reader);
    say(&a, "line\n");
    await_done(1);
    ck_assert_int_lt(px_fd_write(a.fd, "x", 1), 0);
    ck_assert_int_eq(n_broken, 0);
    close(a.fd);
    a = open_source(2); /* later ones, too */
    ck_assert_ptr_null(a.stream);
    ck_assert_int_lt(px_fd_write(a.fd, "x", 1), 0);
    close(a.fd);
}

PX_TEST(a_full_disk_is_a_failure)
{
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct source a;

    PX_TEST_NEEDS(fd >= 0, "/dev/full");
    start_with(fd);
    a = open_source(1);
    say(&a, "line\n");
    await_done(1);
    ck_assert_int_eq(n_broken, 1);
    close(a.fd);
}

PX_TEST(a_closed_stream_is_silent)
{
    struct source a;

    start_with_pipe();
    a = open_source(1);
    say(&a, "rest");
    on_loop(do_nothing, NULL);
    on_loop(do_close, &a);
    assert_nothing_out();
    ck_assert_int_eq(n_done, 0);
    close(a.fd);
}

PX_TEST_MAIN("host/output", setup, teardown)
