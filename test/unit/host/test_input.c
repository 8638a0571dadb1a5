/* SPDX-License-Identifier: BSD-3-Clause */
/* Stdin of processes. Pushed bytes leave each pipe in order, and the slowest reader delays the next
 * push. The program's own stdin, of any kind, goes to all processes. */
#include "core/host/streams/streams_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "alloc_fail.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "px_test.h"

#define MAX_FEEDS 3

static struct px_loop *loop;
static struct px_feed feeds[MAX_FEEDS];
static int outs[MAX_FEEDS]; /* ends that the processes read */
static size_t n_feeds;
static struct px_input *input;
static atomic_int n_done;
static int master; /* the user's end of the terminal */

static void setup(void)
{
    ok(px_loop_create(PX_PROGRESS_THREAD, NULL, &loop));
}

static void teardown(void)
{
    px_loop_destroy(loop);
}

static void on_done(pmix_status_t status, void *arg PX_UNUSED)
{
    ok(status);
    n_done++;
}

enum action { NOTHING, INIT, OPEN, TERMINAL, SHUT, PUSH, OWN, CLOSE };

struct order {
    enum action action;
    size_t which; /* index of a feed */
    const void *bytes;
    size_t n;
    bool ends;
};

static pmix_status_t obey(const struct order *o)
{
    struct px_feed *all[MAX_FEEDS], *which = &feeds[o->which];
    pmix_status_t rc = PMIX_SUCCESS;
    struct px_err err = {0};

    for (size_t i = 0; i < n_feeds; i++)
        all[i] = &feeds[i];
    if (o->action == INIT)
        px_feed_init(which, loop);
    if (o->action == OPEN)
        rc = px_feed_open(which, &outs[o->which], &err);
    if (o->action == OPEN && input)
        px_input_go_on(input);
    if (o->action == TERMINAL)
        rc = px_feed_open_terminal(which, dup(master), &err);
    if (o->action == SHUT)
        px_feed_shut(which);
    if (o->action == PUSH)
        rc = px_feed_push(all, n_feeds, o->bytes, o->n, o->ends, on_done, NULL);
    if (o->action == OWN)
        rc = px_input_open(loop, feeds, n_feeds, &input, &err);
    if (o->action == CLOSE) {
        px_input_close(px_take(&input));
        for (size_t i = 0; i < n_feeds; i++)
            px_feed_shut(all[i]);
    }
    return rc;
}

static void do_order(struct px_call *call, void *args)
{
    px_call_done(call, obey(args));
}

static pmix_status_t on_loop(enum action action, const struct order *o)
{
    struct order order = o ? *o : (struct order){0};

    order.action = action;
    return px_call(loop, do_order, &order);
}

static void open_feed(size_t which)
{
    ok(on_loop(OPEN, &(struct order){.which = which}));
}

static void make_feeds(size_t n)
{
    n_feeds = n;
    for (size_t i = 0; i < n; i++) {
        ok(on_loop(INIT, &(struct order){.which = i}));
        open_feed(i);
    }
}

static pmix_status_t push(const char *text, bool ends)
{
    return on_loop(PUSH,
                   &(struct order){.bytes = text, .n = strlen(text), .ends = ends});
}

static void read_own(void)
{
    ok(on_loop(OWN, NULL));
}

static void assert_in(int fd, const char *text)
{
    char got[4096] = "";

    ok(px_fd_read_all(fd, got, strlen(text), px_clock_ms() + 5000));
    ck_assert_str_eq(got, text);
}

static void assert_end(int fd)
{
    char c;

    ck_assert_int_eq(px_fd_read_all(fd, &c, 1, px_clock_ms() + 5000), PMIX_ERR_UNREACH);
    close(fd);
}

static bool is_silent(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, ms) == 0;
}

/* ---- pushes ---------------------------------------------------------------------- */

/* Returns n numbers. Number i stands at byte 4 i. */
static uint32_t *numbers(size_t n)
{
    uint32_t *v = malloc(n * sizeof(*v));

    for (size_t i = 0; i < n; i++)
        v[i] = (uint32_t)i;
    return v;
}

PX_TEST(the_slowest_holds_up_the_next_push_and_all_get_all)
{
    enum { N = 256 * 1024, PUSHES = 4 }; /* 1 MiB each */
    PX_AUTOFREE uint32_t *v = numbers(N);
    PX_AUTOFREE uint32_t *got = malloc(N * sizeof(*got));
    struct order whole = {.bytes = v, .n = N * sizeof(*v)};
    int n = 0;

    make_feeds(2);
    ck_assert_int_eq(on_loop(PUSH, &(struct order){.bytes = v, .n = 100000}),
                     PMIX_OPERATION_SUCCEEDED);
    for (int i = 0; i < 2; i++)
        ok(px_fd_read_all(outs[i], got, 100000, px_clock_ms() + 5000));
    for (int p = 0; p < PUSHES; p++) {
        whole.ends = p == PUSHES - 1;
        pmix_status_t rc = on_loop(PUSH, &whole);
        ck_assert(rc == PMIX_OPERATION_SUCCEEDED || rc == PMIX_SUCCESS);
        n += rc == PMIX_SUCCESS;
        ok(px_fd_read_all(outs[0], got, whole.n, px_clock_ms() + 5000));
        ck_assert_mem_eq(got, v, whole.n);
    }
    ck_assert_int_ge(n, PUSHES - 1);
    ck_assert_int_eq(n_done, 0); /* feed 1 has read nothing */
    assert_end(outs[0]);
    for (int p = 0; p < PUSHES; p++) {
        ok(px_fd_read_all(outs[1], got, whole.n, px_clock_ms() + 5000));
        ck_assert_mem_eq(got, v, whole.n);
    }
    assert_end(outs[1]);
    on_loop(NOTHING, NULL);
    ck_assert_int_eq(n_done, n);
    on_loop(CLOSE, NULL);
}

/* A closed stdin does not cause SIGPIPE. Pushes that wait for a closed stdin complete. */
PX_TEST_LOOP(one_that_closed_its_stdin_or_ended_is_skipped, 2)
{
    PX_AUTOFREE uint32_t *v = numbers(1 << 20);

    make_feeds(2);
    ok(on_loop(PUSH, &(struct order){.bytes = v, .n = 4 << 20}));
    close(outs[0]);
    if (_i == 1)
        on_loop(SHUT, &(struct order){.which = 0});
    ok(px_fd_read_all(outs[1], v, 4 << 20, px_clock_ms() + 5000));
    while (n_done == 0)
        usleep(100);
    ck_assert_int_eq(push("on", true), PMIX_OPERATION_SUCCEEDED);
    assert_in(outs[1], "on");
    assert_end(outs[1]);
    /* No feed is open. */
    ck_assert_int_eq(push("more", false), PMIX_OPERATION_SUCCEEDED);
    on_loop(CLOSE, NULL);
}

/* The new process gets all later pushes, and the end, even if the end came before. */
PX_TEST(the_next_life_of_a_process_has_a_stdin_again)
{
    make_feeds(1);
    ck_assert_int_eq(push("first", false), PMIX_OPERATION_SUCCEEDED);
    assert_in(outs[0], "first");
    close(outs[0]);
    on_loop(SHUT, NULL);
    push("lost", false);
    open_feed(0);
    push("second", false);
    assert_in(outs[0], "second");
    close(outs[0]);
    on_loop(SHUT, NULL);
    push("lost", true);
    open_feed(0);
    assert_end(outs[0]);
    on_loop(CLOSE, NULL);
}

PX_TEST(what_is_pushed_before_a_process_starts_waits_for_it)
{
    n_feeds = 1;
    ok(on_loop(INIT, NULL));
    ck_assert_int_eq(push("early", true), PMIX_OPERATION_SUCCEEDED);
    open_feed(0);
    assert_in(outs[0], "early");
    assert_end(outs[0]);
    on_loop(CLOSE, NULL);
}

PX_TEST(a_push_without_memory_adds_nothing)
{
    PX_TEST_NEEDS_ALLOC;
    make_feeds(2);
    px_alloc_fail_at(1);
    pmix_status_t rc = push("lost", true);
    ck_assert(px_alloc_fail_end());
    ck_assert_int_eq(rc, PMIX_ERR_NOMEM);
    push("text", true);
    for (int i = 0; i < 2; i++) {
        assert_in(outs[i], "text");
        assert_end(outs[i]);
    }
    on_loop(CLOSE, NULL);
}

/* The feed first completes an unfinished line. */
PX_TEST_LOOP(a_terminal_gets_the_end_as_its_eof_character, 2)
{
    char line[16];

    PX_TEST_NEEDS(px_test_has_terminals(), "pseudo terminals");
    master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    ok(grantpt(master));
    ok(unlockpt(master));
    PX_AUTOCLOSE int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    n_feeds = 1;
    ok(on_loop(INIT, NULL));
    ok(on_loop(TERMINAL, NULL));
    ck_assert_int_eq(push(_i ? "line" : "line\n", true), PMIX_OPERATION_SUCCEEDED);
    ck_assert_int_eq(read(slave, line, sizeof(line)), _i ? 4 : 5);
    ck_assert_int_eq(read(slave, line, sizeof(line)), 0);
    on_loop(CLOSE, NULL);
    close(master);
}

/* ---- our own --------------------------------------------------------------------- */

PX_TEST(a_file_can_be_handed_over_itself_and_no_stdin_is_none)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC), fd = -2;

    ck_assert_int_eq(dup2(null, STDIN_FILENO), STDIN_FILENO);
    ck_assert(px_input_is_shared(&fd));
    ck_assert_int_eq(fd, STDIN_FILENO);
    close(STDIN_FILENO);
    ck_assert(px_input_is_shared(&fd));
    ck_assert_int_eq(fd, -1);
    close(null);
}

enum kind { FILE_KIND, PIPE_KIND, SOCKET_KIND, DEVICE_KIND, CLOSED_KIND, N_KINDS };

/* Makes a file of this kind the program's stdin. Descriptor 0 is never free before that: the loop's
 * thread could open a file there. Returns the descriptor to close after writing, or -1. */
static int make_stdin(enum kind kind)
{
    int ends[2] = {-1, -1};

    if (kind == FILE_KIND) {
        ends[1] = open(px_test_path("in"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        ends[0] = open(px_test_path("in"), O_RDONLY | O_CLOEXEC);
    } else if (kind == PIPE_KIND) {
        ok(pipe2(ends, O_CLOEXEC));
    } else if (kind == SOCKET_KIND) {
        ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
    } else if (kind == DEVICE_KIND) {
        ends[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    if (kind == CLOSED_KIND) {
        close(STDIN_FILENO);
    } else {
        ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
        close(ends[0]);
    }
    return ends[1];
}

struct writing {
    int fd;
    const void *bytes;
    size_t n;
};

static void *write_it(void *arg)
{
    const struct writing *w = arg;

    if (w->fd >= 0) {
        ok(px_fd_write_all(w->fd, w->bytes, w->n, 0));
        close(w->fd);
    }
    return NULL;
}

/* Feeds of three processes. Two read one after the other; the third has ended. */
PX_TEST_LOOP(all_get_all_that_comes_in, N_KINDS)
{
    enum { N = 1 << 20 }; /* 4 MiB */
    PX_AUTOFREE uint32_t *v = numbers(N);
    PX_AUTOFREE uint32_t *got = malloc(N * sizeof(*got));
    struct writing w = {-1, v, N * sizeof(*v)};
    pthread_t thread;

    make_feeds(3); /* made first, so that a pipe does not become descriptor 0 */
    w.fd = make_stdin((enum kind)_i);
    bool any = w.fd >= 0;
    if (_i == FILE_KIND)
        write_it(&w);
    else
        pthread_create(&thread, NULL, write_it, &w);
    on_loop(SHUT, &(struct order){.which = 2});
    read_own();
    for (size_t at = 0; any && at < w.n; at += w.n / 64)
        for (int i = 0; i < 2; i++) {
            ok(px_fd_read_all(outs[i], got, w.n / 64, px_clock_ms() + 5000));
            ck_assert_mem_eq(got, (uint8_t *)v + at, w.n / 64);
        }
    for (int i = 0; i < 2; i++)
        assert_end(outs[i]);
    if (_i != FILE_KIND)
        pthread_join(thread, NULL);
    on_loop(CLOSE, NULL);
}

/* Input without an open feed is not read until a feed opens. */
PX_TEST(input_without_an_open_feed_is_not_read)
{
    int in = make_stdin(PIPE_KIND);

    make_feeds(1);
    read_own();
    ok(px_fd_write_all(in, "one\n", 4, 0));
    assert_in(outs[0], "one\n");
    close(outs[0]);
    on_loop(SHUT, NULL);
    ok(px_fd_write_all(in, "two\n", 4, 0));
    for (int i = 0; i < 50; i++)
        on_loop(NOTHING, NULL);
    ck_assert(!is_silent(STDIN_FILENO, 0));
    open_feed(0);
    assert_in(outs[0], "two\n");
    on_loop(CLOSE, NULL);
    close(outs[0]);
    close(in);
}

/* ---- terminals ------------------------------------------------------------------- */

static void type(const char *text)
{
    ok(px_fd_write_all(master, text, strlen(text), 0));
}

static void typing(int fd)
{
    char c;

    ck_assert_int_gt(fd, STDERR_FILENO);
    type("hello\n");
    assert_in(fd, "hello\n");
    ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFL) & O_NONBLOCK, 0);
    type("last\n\x04");
    assert_in(fd, "last\n");
    ck_assert_int_eq(px_fd_read_all(fd, &c, 1, px_clock_ms() + 5000), PMIX_ERR_UNREACH);
}

static void not_reading(int fd)
{
    char line[201];

    snprintf(line, sizeof(line), "%199d\n", 0);
    for (int i = 0; i < 10; i++)
        type(line);
    ck_assert(!is_silent(fd, 5000));
    close(fd);
    type(line); /* the reader is gone; the write must not cause a fatal SIGPIPE */
    usleep(50000);
}

/* Forks a process in a group of its own, gives that group the foreground, and returns the pid. */
static pid_t take_foreground(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        setpgid(0, 0);
        pause();
        _exit(0);
    }
    ok(setpgid(pid, pid));
    signal(SIGTTOU, SIG_IGN);
    ok(tcsetpgrp(STDIN_FILENO, pid));
    return pid;
}

static void background(int fd)
{
    pid_t other = take_foreground();

    type("for the other\n");
    ck_assert(is_silent(fd, 100));
    ok(tcsetpgrp(STDIN_FILENO, getpgrp()));
    assert_in(fd, "for the other\n");
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
}

/* Runs body in a forked process whose stdin is a terminal with this process in the foreground. The
 * test's own process leads a group and so cannot begin a session. */
static void run_at_terminal(void (*body)(int fd))
{
    pid_t pid;
    int slave;

    PX_TEST_NEEDS(px_test_has_terminals(), "pseudo terminals");
    px_loop_destroy(loop);
    pid = check_fork();
    ok(px_loop_create(PX_PROGRESS_THREAD, NULL, &loop));
    if (pid == 0) {
        ck_assert_int_gt(setsid(), 0);
        master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        ck_assert_int_ge(master, 0);
        ok(grantpt(master));
        ok(unlockpt(master));
        /* The first terminal becomes the controlling one. */
        slave = open(ptsname(master), O_RDWR | O_CLOEXEC);
        ck_assert_int_ge(slave, 0);
        ck_assert_int_eq(dup2(slave, STDIN_FILENO), STDIN_FILENO);
        close(slave);
        make_feeds(1);
        read_own();
        body(outs[0]);
        on_loop(CLOSE, NULL);
        px_loop_destroy(loop);
    }
    check_waitpid_and_exit(pid);
}

PX_TEST(what_is_typed_comes_through_the_pipe_and_so_does_its_end)
{
    run_at_terminal(typing);
}

PX_TEST(a_process_that_does_not_read_ends_nothing)
{
    run_at_terminal(not_reading);
}

PX_TEST(in_the_background_nothing_is_read)
{
    run_at_terminal(background);
}

PX_TEST_MAIN("host/input", setup, teardown)
