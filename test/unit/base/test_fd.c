/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors: complete transfers with a deadline, each implementation of close_from,
 * and the clock. */
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/os/os.h"
#include "px_test.h"
#include "seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* Interrupts the first n_interrupts calls; passes the others to the C library. */
static int n_interrupts;

ssize_t writev(int fd, const struct iovec *v, int n)
{
    if (n_interrupts > 0) {
        n_interrupts--;
        errno = EINTR;
        return -1;
    }
    return syscall(SYS_writev, fd, v, n);
}

enum { BIG = 1 << 20 }; /* more than any pipe or socket buffers by default */

/* Two connected ends: [0] to read from, [1] to write to. */
static int ends[2] = {-1, -1};

static void make_pipe(void)
{
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
}

static void make_sockets(void)
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
}

static void (*const make[])(void) = {make_pipe, make_sockets};

static void close_both(void)
{
    close(ends[0]);
    close(ends[1]);
}

static uint8_t *make_pattern(void)
{
    uint8_t *bytes = malloc(BIG);

    for (size_t i = 0; i < BIG; i++)
        bytes[i] = (uint8_t)(i * 31 >> 3);
    return bytes;
}

PX_TEST(nonblock_and_cloexec_set_their_flag_and_keep_others)
{
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(fcntl(ends[1], F_SETFL, O_APPEND), 0);
    ok(px_fd_nonblock(ends[1]));
    ok(px_fd_cloexec(ends[1]));

    int flags = fcntl(ends[1], F_GETFL);
    ck_assert_int_ne(flags & O_NONBLOCK, 0);
    ck_assert_int_ne(flags & O_APPEND, 0);
    ck_assert_int_eq(fcntl(ends[1], F_GETFD), FD_CLOEXEC);
}

PX_TEST(a_descriptor_that_is_not_open_is_a_bad_parameter)
{
    char byte = 0;

    fails(px_fd_nonblock(-1), BAD_PARAM);
    fails(px_fd_cloexec(-1), BAD_PARAM);
    fails(px_fd_write_all(1 << 19, &byte, 1, 0), BAD_PARAM);
    fails(px_fd_read_all(1 << 19, &byte, 1, 0), BAD_PARAM);
}

struct sender {
    int fd;
    const uint8_t *bytes;
    uint64_t deadline_ms;
    pmix_status_t rc;
};

static void *send_all(void *arg)
{
    struct sender *sender = arg;

    sender->rc = px_fd_write_all(sender->fd, sender->bytes, BIG, sender->deadline_ms);
    return NULL;
}

/* Writes from a thread and reads here, in many partial transfers. */
static void assert_transfers(uint64_t deadline_ms)
{
    PX_AUTOFREE uint8_t *bytes = make_pattern();
    PX_AUTOFREE uint8_t *got = calloc(1, BIG);
    struct sender sender = {ends[1], bytes, deadline_ms, PMIX_ERROR};
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, send_all, &sender), 0);
    pmix_status_t rc = px_fd_read_all(ends[0], got, BIG, deadline_ms);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);

    ok(rc);
    ok(sender.rc);
    ck_assert_int_eq(memcmp(got, bytes, BIG), 0);
}

PX_TEST(transfers_are_whole_on_blocking_and_nonblocking_descriptors)
{
    for (size_t i = 0; i < PX_COUNT(make); i++) {
        make[i]();
        assert_transfers(0);
        assert_transfers(px_clock_ms() + 60000);
        px_fd_nonblock(ends[0]);
        px_fd_nonblock(ends[1]);
        assert_transfers(0);
        assert_transfers(px_clock_ms() + 60000);
        ok(px_fd_read_all(ends[0], NULL, 0, 0)); /* nothing to transfer */
        ok(px_fd_write_all(ends[1], NULL, 0, 0));
        close_both();
    }
}

PX_TEST(reading_stops_at_the_deadline)
{
    char got[4];
    make_sockets();
    ok(px_fd_write_all(ends[1], "abc", 3, 0));
    uint64_t deadline = px_clock_ms() + 5;

    fails(px_fd_read_all(ends[0], got, 4, deadline), TIMEOUT);
    ck_assert_uint_ge(px_clock_ms(), deadline);
}

PX_TEST(writing_stops_at_the_deadline_even_on_a_blocking_descriptor)
{
    PX_AUTOFREE uint8_t *bytes = make_pattern();

    for (size_t i = 0; i < PX_COUNT(make); i++) {
        make[i]();
        fails(px_fd_write_all(ends[1], bytes, BIG, px_clock_ms() + 5), TIMEOUT);
        close_both();
    }
}

PX_TEST(what_is_ready_is_moved_even_after_the_deadline)
{
    char got[3];
    make_pipe();
    ok(px_fd_write_all(ends[1], "abc", 3, 1));
    ok(px_fd_read_all(ends[0], got, 3, 1));
    ck_assert_mem_eq(got, "abc", 3);
    fails(px_fd_read_all(ends[0], got, 1, 1), TIMEOUT);
}

PX_TEST(end_of_file_before_all_is_read_is_unreach)
{
    for (size_t i = 0; i < PX_COUNT(make); i++) {
        char got[4];
        make[i]();
        ok(px_fd_write_all(ends[1], "abc", 3, 0));
        close(ends[1]);
        fails(px_fd_read_all(ends[0], got, 4, 0), UNREACH);
        close(ends[0]);
    }
}

/* In fork mode a SIGPIPE would end the test and count as a failure. */
PX_TEST(writing_to_a_closed_end_is_unreach_and_raises_no_signal)
{
    sigset_t pending;
    sigset_t mask;

    for (size_t i = 0; i < PX_COUNT(make); i++) {
        make[i]();
        close(ends[0]);
        fails(px_fd_write_all(ends[1], "abc", 3, 0), UNREACH);
        close(ends[1]);
    }
    ck_assert_int_eq(sigpending(&pending), 0);
    ck_assert_int_eq(sigismember(&pending, SIGPIPE), 0);
    ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
    ck_assert_int_eq(sigismember(&mask, SIGPIPE), 0);
}

/* Closes the read end as soon as the pipe is full. */
static void *close_full(void *arg PX_UNUSED)
{
    int left = 0;

    while (left < 65536)
        ck_assert_int_eq(ioctl(ends[0], FIONREAD, &left), 0);
    close(ends[0]);
    return NULL;
}

PX_TEST(a_reader_that_goes_while_a_write_waits_raises_no_signal)
{
    static char bytes[65537];
    pthread_t reader;

    make_pipe();
    ck_assert_int_eq(pthread_create(&reader, NULL, close_full, NULL), 0);
    ck_assert_int_eq(px_fd_write(ends[1], bytes, sizeof(bytes)), 65536);
    pthread_join(reader, NULL);
    close(ends[1]);
}

PX_TEST(a_sigpipe_that_was_pending_before_stays_pending)
{
    sigset_t sigpipe;
    sigset_t pending;
    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &sigpipe, NULL), 0);
    ck_assert_int_eq(raise(SIGPIPE), 0);
    make_pipe();
    close(ends[0]);
    fails(px_fd_write_all(ends[1], "abc", 3, 0), UNREACH);
    close(ends[1]);

    ck_assert_int_eq(sigpending(&pending), 0);
    ck_assert_int_eq(sigismember(&pending, SIGPIPE), 1);
    sigtimedwait(&sigpipe, NULL, &(struct timespec){0});
}

static void on_alarm(int signum PX_UNUSED)
{
}

PX_TEST(a_write_that_is_interrupted_begins_again)
{
    char c = 0;

    make_pipe();
    n_interrupts = 3;
    ck_assert_int_eq(px_fd_write(ends[1], "x", 1), 1);
    ck_assert_int_eq(n_interrupts, 0);
    ck_assert_int_eq(read(ends[0], &c, 1), 1);
    ck_assert_int_eq(c, 'x');
}

PX_TEST(signals_do_not_cut_a_transfer_short)
{
    struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART */
    struct itimerval often = {{0, 200}, {0, 200}};
    struct itimerval never = {{0, 0}, {0, 0}};
    ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
    make_pipe();
    ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
    assert_transfers(0);
    assert_transfers(px_clock_ms() + 60000);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
}

/* -- close_from: each implementation, selected by denying the better ones ---------- */

enum { FIRST = 10, LAST = 300 };

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* Runs setup and close_from(FIRST) in a child and checks descriptors 3 to LAST. Returns
 * 0 if the right ones are left, or 77 if setup failed. */
static int close_from_in_child(bool (*setup)(void))
{
    int status = 0;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        for (int fd = 3; fd <= LAST; fd += fd < 100 ? 1 : 7) /* leaves gaps */
            dup2(STDERR_FILENO, fd);
        if (setup && !setup())
            _exit(77);
        px_fd_close_from(FIRST);
        for (int fd = 0; fd <= LAST; fd++) {
            if (is_open(fd) != (fd < FIRST))
                _exit(1);
        }
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool refuse_close_range(void)
{
    return px_test_deny(SYS_close_range, ENOSYS);
}

static bool refuse_close_range_and_listing(void)
{
    return px_test_deny(SYS_close_range, EPERM) && px_test_deny(SYS_getdents64, EPERM);
}

/* Descriptors above the limit stay open, and no new one can be opened. */
static bool refuse_close_range_and_lower_the_limit(void)
{
    struct rlimit limit;

    if (!refuse_close_range() || getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return false;
    limit.rlim_cur = 3;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static const struct {
    const char *where;
    bool (*setup)(void);
} ways[] = {
    {"everywhere", NULL},
    {"on a kernel without close_range", refuse_close_range},
    {"without a usable /proc", refuse_close_range_and_listing},
    {"when no descriptor is left to list them", refuse_close_range_and_lower_the_limit},
};

PX_TEST_LOOP(close_from_closes_all_from_there_and_none_below, (int)PX_COUNT(ways))
{
    int result = close_from_in_child(ways[_i].setup);

    PX_TEST_NEEDS(result != 77, "seccomp");
    ck_assert_msg(result == 0, "%s: %d", ways[_i].where, result);
}

PX_TEST(close_range_closes_what_is_between_and_no_more)
{
    ck_assert_int_eq(pipe(ends), 0);
    for (int fd = 50; fd < 60; fd++)
        ck_assert_int_eq(dup2(ends[0], fd), fd);
    px_fd_close_range(52, 57);
    for (int fd = 50; fd < 60; fd++)
        ck_assert_int_eq(is_open(fd), fd < 52 || fd > 57);
    px_fd_close_range(51, 50);
    ck_assert(is_open(50) && is_open(51));
    for (int fd = 50; fd < 60; fd++)
        close(fd);
}

/* Returns the size of this process's descriptor table. */
static unsigned room(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    char line[128];
    unsigned n = 0;

    while (f && n == 0 && fgets(line, sizeof(line), f))
        (void)!sscanf(line, "FDSize: %u", &n);
    if (f)
        fclose(f);
    return n;
}

PX_TEST(room_is_made_for_as_many_descriptors_as_the_limit_allows)
{
    struct rlimit limit;
    unsigned before = room();

    PX_TEST_NEEDS(before > 0 && before < 500, "/proc and a small table of descriptors");
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 500;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    px_fd_make_room(100000);
    ck_assert_uint_ge(room(), 500);
    ck_assert_uint_lt(room(), 2000);
    ck_assert(!is_open(499));
}

static bool count(void *arg, const char *name)
{
    size_t *n = arg;

    ck_assert(name[0] && strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
    return ++*n < 300;
}

PX_TEST(each_name_of_a_folder_is_listed_until_the_callback_stops)
{
    int fd = open(px_test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t n = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 200; i++) {
            char name[64];

            snprintf(name, sizeof(name), ".%d-%d-%040d", pass, i, 0);
            ck_assert_int_eq(mknodat(fd, name, S_IFREG | 0600, 0), 0);
        }
        n = 0;
        ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
        ck_assert_int_eq(px_os_each_name(fd, count, &n), 0);
        ck_assert_uint_eq(n, pass ? 300 : 200);
    }
    close(fd);
    ck_assert_int_eq(px_os_each_name(fd, count, &n), EBADF);
}

PX_TEST(close_from_a_negative_number_closes_all)
{
    int status = 0;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        px_fd_close_from(-5);
        _exit(is_open(0) || is_open(1) || is_open(2));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

/* ---- the clock for deadlines ----------------------------------------------------------------- */

PX_TEST(the_clock_never_goes_back_and_is_that_of_poll_and_timers)
{
    struct timespec now;
    uint64_t before = px_clock_ns(), ms = px_clock_ms();

    ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    ck_assert(before <= ns && ns <= px_clock_ns());
    ck_assert(before / 1000000 <= ms && ms <= px_clock_ns() / 1000000);
    ck_assert_uint_gt(ms, 0); /* 0 would mean no deadline */
    for (int i = 0; i < 100000; i++) {
        uint64_t then = px_clock_ns();

        ck_assert(then >= before);
        before = then;
    }
}

PX_TEST_MAIN("base/fd", NULL, close_both)
