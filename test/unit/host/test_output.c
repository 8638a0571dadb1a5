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
    ck_assert_int_eq(px_fd_nonblock(ends[0]), PMIX_SUCCESS);
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
    ck_assert_int_eq(px_call(loop, fn, args), PMIX_SUCCESS);
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
    ck_assert_int_eq(px_loop_create(false, &loop), PMIX_SUCCESS);
}

static void stop(void)
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
    ck_assert_int_eq(px_fd_write_all(s->fd, text, strlen(text), 0), PMIX_SUCCESS);
}

static void end(const struct source *s, int wanted)
{
    close(s->fd);
    while (n_done < wanted)
        usleep(100);
}

static void assert_out(const char *text)
{
    char got[4096] = "";

    ck_assert_uint_lt(strlen(text), sizeof(got));
    ck_assert_int_eq(px_fd_read_all(reader, got, strlen(text), px_clock_ms() + 5000),
                     PMIX_SUCCESS);
    ck_assert_str_eq(got, text);
}

static void assert_nothing_out(void)
{
    char c;

    on_loop(do_nothing, NULL);
    ck_assert_int_eq(px_fd_read_all(reader, &c, 1, px_clock_ms() + 50),
                     PMIX_ERR_TIMEOUT);
}

START_TEST(lines_of_two_are_not_mixed)
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
    stop();
}
END_TEST

START_TEST(the_last_line_needs_no_newline)
{
    struct source a;

    start_with_pipe();
    a = open_source(1);
    say(&a, "line\nrest");
    assert_out("line\n");
    end(&a, 1);
    assert_out("rest");
    stop();
}
END_TEST

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
    while (n_done < 2)
        usleep(100);
    fclose(in);
}

static void run_slow_reader(void)
{
    struct source a = open_source(1), b = open_source(2);
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, write_lines, &a);
    pthread_create(&threads[1], NULL, write_lines, &b);
    usleep(200000);
    ck_assert_int_eq(n_done, 0);
    on_loop(do_nothing, NULL); /* the loop has time for others */
    check_lines();
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

START_TEST(a_slow_reader_loses_nothing_and_blocks_nobody)
{
    start_with_pipe();
    run_slow_reader();
    stop();
}
END_TEST

START_TEST(a_socket_is_as_good_as_a_pipe)
{
    int ends[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    reader = ends[0];
    start_with(ends[1]);
    run_slow_reader();
    stop();
}
END_TEST

START_TEST(a_description_that_cannot_be_opened_anew_will_do)
{
    start_with_pipe();
    for (int i = 0; i < 2; i++) {
        struct px_sink *sink = &output.sinks[i];

        close(sink->fd);
        sink->fd = STDOUT_FILENO;
        sink->own_fd = false;
        sink->kind = PX_SINK_SHARED;
    }
    run_slow_reader();
    stop();
}
END_TEST

START_TEST(our_own_streams_stay_blocking)
{
    start_with_pipe();
    ck_assert_int_eq(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK, 0);
    stop();
    ck_assert_int_eq(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK, 0);
}
END_TEST

START_TEST(a_file_takes_all)
{
    char name[] = "/tmp/tenon-output.XXXXXX";
    int fd = mkostemp(name, O_CLOEXEC);
    pthread_t threads[2];
    struct source a, b;

    ck_assert_int_ge(fd, 0);
    reader = open(name, O_RDONLY | O_CLOEXEC);
    unlink(name);
    start_with(fd);
    a = open_source(1);
    b = open_source(2);
    pthread_create(&threads[0], NULL, write_lines, &a);
    pthread_create(&threads[1], NULL, write_lines, &b);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    while (n_done < 2)
        usleep(100);
    check_lines();
    stop();
}
END_TEST

START_TEST(a_very_long_line_goes_on_in_pieces)
{
    static char big[3 * PX_LINE_MAX_B + 1], got[sizeof(big)];
    struct source a;

    start_with_pipe();
    a = open_source(1);
    ck_assert_int_gt(fcntl(reader, F_SETPIPE_SZ, (int)sizeof(big)), 0);
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\n';
    ck_assert_int_eq(px_fd_write_all(a.fd, big, sizeof(big), 0), PMIX_SUCCESS);
    ck_assert_int_eq(px_fd_read_all(reader, got, sizeof(got), px_clock_ms() + 5000),
                     PMIX_SUCCESS);
    ck_assert_mem_eq(big, got, sizeof(big));
    end(&a, 1);
    stop();
}
END_TEST

START_TEST(finish_takes_what_is_there_and_waits_for_no_more)
{
    struct source a;

    start_with_pipe();
    a = open_source(1);
    say(&a, "line\nrest");
    on_loop(do_finish, &a);
    assert_out("line\nrest");
    while (n_done < 1)
        usleep(100);
    ck_assert_int_lt(px_fd_write(a.fd, "x", 1), 0);
    ck_assert_int_eq(errno, EPIPE);
    close(a.fd);
    stop();
}
END_TEST

START_TEST(finish_does_not_drop_what_a_slow_reader_has_not_read)
{
    static char big[8 * PX_LINE_MAX_B], got[sizeof(big)];
    struct source a;

    start_with_pipe();
    a = open_source(1);
    memset(big, 'x', sizeof(big));
    ck_assert_int_gt(fcntl(a.fd, F_SETPIPE_SZ, (int)sizeof(big)), 0);
    ck_assert_int_eq(px_fd_write_all(a.fd, big, sizeof(big), 0), PMIX_SUCCESS);
    on_loop(do_finish, &a);
    ck_assert_int_eq(n_done, 0);
    ck_assert_int_eq(px_fd_read_all(reader, got, sizeof(got), px_clock_ms() + 5000),
                     PMIX_SUCCESS);
    while (n_done < 1)
        usleep(100);
    close(a.fd);
    stop();
}
END_TEST

START_TEST(who_writes_to_a_reader_that_has_gone_is_told)
{
    struct source a;

    start_with_pipe();
    a = open_source(1);
    close(reader);
    say(&a, "line\n");
    while (n_done < 1)
        usleep(100);
    ck_assert_int_lt(px_fd_write(a.fd, "x", 1), 0);
    ck_assert_int_eq(n_broken, 0);
    close(a.fd);
    a = open_source(2); /* later ones are too */
    ck_assert_ptr_null(a.stream);
    ck_assert_int_lt(px_fd_write(a.fd, "x", 1), 0);
    close(a.fd);
    stop();
}
END_TEST

START_TEST(a_full_disk_is_a_failure)
{
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct source a;

    PX_TEST_NEEDS(fd >= 0, "/dev/full");
    start_with(fd);
    a = open_source(1);
    say(&a, "line\n");
    while (n_done < 1)
        usleep(100);
    ck_assert_int_eq(n_broken, 1);
    close(a.fd);
    stop();
}
END_TEST

START_TEST(a_closed_stream_is_silent)
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
    stop();
}
END_TEST

PX_TEST_MAIN_WITH("server/embedded_output", setup, NULL, lines_of_two_are_not_mixed,
                  the_last_line_needs_no_newline,
                  a_slow_reader_loses_nothing_and_blocks_nobody,
                  a_socket_is_as_good_as_a_pipe,
                  a_description_that_cannot_be_opened_anew_will_do,
                  our_own_streams_stay_blocking, a_file_takes_all,
                  a_very_long_line_goes_on_in_pieces,
                  finish_takes_what_is_there_and_waits_for_no_more,
                  finish_does_not_drop_what_a_slow_reader_has_not_read,
                  who_writes_to_a_reader_that_has_gone_is_told,
                  a_full_disk_is_a_failure, a_closed_stream_is_silent)
