/* SPDX-License-Identifier: BSD-3-Clause */
/* Our stdin for another process: handed over as it is, except a terminal, which is read
 * for it. */
#include "core/host/input.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/rt/call.h"
#include "px_test.h"

static struct px_loop *loop;
static struct px_input *input;
static int master; /* the user's end of the terminal */

static void do_open(struct px_call *call, void *args)
{
    struct px_err err = {0};

    px_call_done(call, px_input_open(loop, &input, args, &err));
}

static void do_close(struct px_call *call, void *args PX_UNUSED)
{
    px_input_close(input);
    px_call_done(call, PMIX_SUCCESS);
}

static int open_input(void)
{
    int fd = -2;

    ok(px_loop_create(false, &loop));
    ok(px_call(loop, do_open, &fd));
    return fd;
}

static void close_input(void)
{
    ok(px_call(loop, do_close, NULL));
    px_loop_destroy(loop);
}

static bool has_terminals(void)
{
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    return fd >= 0 && close(fd) == 0;
}

/* A terminal of which this process is in the foreground, as its stdin. Not the test's
 * own process, which leads a group and so cannot begin a session. */
static int open_terminal(void)
{
    int slave;

    ck_assert_int_gt(setsid(), 0);
    master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert_int_ge(master, 0);
    ck_assert_int_eq(grantpt(master), 0);
    ck_assert_int_eq(unlockpt(master), 0);
    slave = open(ptsname(master), O_RDWR | O_CLOEXEC); /* the first one becomes ours */
    ck_assert_int_ge(slave, 0);
    ck_assert_int_eq(dup2(slave, STDIN_FILENO), STDIN_FILENO);
    close(slave);
    return open_input();
}

static void run_in_child(void (*body)(void))
{
    pid_t pid = check_fork();

    if (pid == 0)
        body();
    check_waitpid_and_exit(pid);
}

static void type(const char *text)
{
    ok(px_fd_write_all(master, text, strlen(text), 0));
}

static void assert_in(int fd, const char *text)
{
    char got[256] = "";

    ok(px_fd_read_all(fd, got, strlen(text), px_clock_ms() + 5000));
    ck_assert_str_eq(got, text);
}

static bool is_silent(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, ms) == 0;
}

PX_TEST(a_file_is_handed_over_itself)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    ck_assert_int_eq(dup2(null, STDIN_FILENO), STDIN_FILENO);
    ck_assert_int_eq(open_input(), STDIN_FILENO);
    ck_assert_ptr_null(input);
    close_input();
    close(null);
}

PX_TEST(no_stdin_is_none)
{
    close(STDIN_FILENO);
    PX_AUTOCLOSE int zero = open("/dev/null",
                                 O_RDONLY | O_CLOEXEC); /* for the loop's files */
    int fd = -2;

    ok(px_loop_create(false, &loop));
    close(px_take_fd(&zero));
    ok(px_call(loop, do_open, &fd));
    ck_assert_int_eq(fd, -1);
    close_input();
}

static void typing(void)
{
    int fd = open_terminal();

    ck_assert_int_gt(fd, STDERR_FILENO);
    type("hello\n");
    assert_in(fd, "hello\n");
    type("again\n");
    assert_in(fd, "again\n");
    ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFL) & O_NONBLOCK, 0);
    close_input();
    close(fd);
}

PX_TEST(what_is_typed_comes_through_the_pipe)
{
    PX_TEST_NEEDS(has_terminals(), "pseudo terminals");
    run_in_child(typing);
}

static void ending(void)
{
    int fd = open_terminal();
    char c;

    type("last\n\x04");
    assert_in(fd, "last\n");
    ck_assert_int_eq(px_fd_read_all(fd, &c, 1, px_clock_ms() + 5000), PMIX_ERR_UNREACH);
    close_input();
    close(fd);
}

PX_TEST(the_end_of_what_is_typed_is_the_end_of_the_pipe)
{
    PX_TEST_NEEDS(has_terminals(), "pseudo terminals");
    run_in_child(ending);
}

static void not_reading(void)
{
    int fd = open_terminal();
    char line[200];

    memset(line, 'x', sizeof(line) - 2);
    line[sizeof(line) - 2] = '\n';
    line[sizeof(line) - 1] = '\0';
    for (int i = 0; i < 10; i++)
        type(line);
    ck_assert(!is_silent(fd, 5000));
    close(fd);
    type(line); /* finds nobody: not a reason to die of SIGPIPE */
    usleep(50000);
    close_input();
}

PX_TEST(who_does_not_read_ends_nothing)
{
    PX_TEST_NEEDS(has_terminals(), "pseudo terminals");
    run_in_child(not_reading);
}

/* A process in a group of its own, which has the foreground. */
static pid_t take_foreground(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        setpgid(0, 0);
        pause();
        _exit(0);
    }
    ck_assert_int_eq(setpgid(pid, pid), 0);
    signal(SIGTTOU, SIG_IGN);
    ck_assert_int_eq(tcsetpgrp(STDIN_FILENO, pid), 0);
    return pid;
}

static void background(void)
{
    int fd = open_terminal();
    pid_t other = take_foreground();

    type("for the other\n");
    ck_assert(is_silent(fd, 100));
    ck_assert_int_eq(tcsetpgrp(STDIN_FILENO, getpgrp()), 0);
    assert_in(fd, "for the other\n");
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    close_input();
    close(fd);
}

PX_TEST(in_the_background_nothing_is_read)
{
    PX_TEST_NEEDS(has_terminals(), "pseudo terminals");
    run_in_child(background);
}

PX_TEST_MAIN("host/input", NULL, NULL)
