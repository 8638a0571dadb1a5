/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the process that holds a socket. */
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/proc.h"
#include "core/rt/call.h"
#include "core/server/cleanup/pidof.h"
#include "px_test.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static struct px_loop *loop;
static struct px_pidof *pidof;

struct want {
    struct px_pidof_search search;
    _Atomic unsigned n_answers;
    pid_t pid;
    uint64_t start;
    struct want *other; /* to cancel, or to begin, from within the answer */
    bool cancels;
};

struct call {
    void (*fn)(struct want *w);
    struct want *w;
};

static void run_call(struct px_call *call, void *args)
{
    const struct call *c = args;

    c->fn(c->w);
    px_call_done(call, PMIX_SUCCESS);
}

static void on_loop(void (*fn)(struct want *w), struct want *w)
{
    struct call c = {fn, w};

    ck_assert_int_eq(px_call(loop, run_call, &c), PMIX_SUCCESS);
}

static void make(struct want *w PX_UNUSED)
{
    pidof = px_pidof_create(loop);
}

static void destroy(struct want *w PX_UNUSED)
{
    px_pidof_destroy(pidof);
}

static void begin(struct want *w)
{
    px_pidof_begin(pidof, &w->search);
}

static void hurry(struct want *w PX_UNUSED)
{
    px_pidof_hurry(pidof);
}

static void cancel(struct want *w)
{
    px_pidof_cancel(&w->search);
}

static void setup(void)
{
    ck_assert_int_eq(px_loop_create(false, &loop), PMIX_SUCCESS);
    on_loop(make, NULL);
    ck_assert_ptr_nonnull(pidof);
}

static void teardown(void)
{
    on_loop(destroy, NULL);
    px_loop_destroy(loop);
}

static void on_answer(void *arg, pid_t pid, uint64_t start)
{
    struct want *w = arg;

    w->pid = pid;
    w->start = start;
    if (w->other && w->cancels)
        cancel(w->other);
    else if (w->other)
        begin(w->other);
    w->n_answers++;
}

static struct want want(int fd)
{
    struct stat st = {0};

    if (fd >= 0)
        ck_assert_int_eq(fstat(fd, &st), 0);
    return (struct want){.search = {.inode = fd >= 0 ? st.st_ino : 1,
                                    .uid = geteuid(),
                                    .fn = on_answer}};
}

static void await(struct want *w)
{
    uint64_t deadline = px_clock_ms() + 20000;

    while (w->n_answers == 0) {
        ck_assert_uint_lt(px_clock_ms(), deadline);
        sched_yield();
    }
    on_loop(hurry, NULL);
}

static void find(struct want *w)
{
    w->search.arg = w;
    on_loop(begin, w);
    await(w);
    ck_assert_uint_eq(w->n_answers, 1);
}

START_TEST(it_is_the_process_that_has_the_socket_open)
{
    int ends[2];
    struct px_proc_stat st;

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    struct want w = want(ends[0]);
    find(&w);
    ck_assert_int_eq(w.pid, getpid());
    ck_assert(px_proc_stat(getpid(), &st));
    ck_assert_uint_eq(w.start, st.start);
    /* Again, with the same search. */
    w.n_answers = 0;
    w.pid = 0;
    find(&w);
    ck_assert_int_eq(w.pid, getpid());
    close(ends[0]);
    close(ends[1]);
}
END_TEST

START_TEST(of_those_that_share_it_it_is_the_one_that_made_it)
{
    int ends[2], to[2];

    ck_assert_int_eq(pipe(to), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    pid_t child = fork();
    if (child == 0) { /* and a grandchild that has it, too */
        fork();
        close(to[1]);
        if (read(to[0], &(char){0}, 1) < 0)
            _exit(1);
        _exit(0);
    }
    struct want w = want(ends[0]);
    find(&w);
    ck_assert_int_eq(w.pid, getpid());
    close(to[1]);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    close(to[0]);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

/* How much of the loop's time passes between two looks at it. */
struct look {
    uint64_t last_us, longest_us;
};

static struct look look;

static void look_on(struct want *w PX_UNUSED)
{
    struct timespec t = {0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    uint64_t now_us = (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
    if (look.last_us && now_us - look.last_us > look.longest_us)
        look.longest_us = now_us - look.last_us;
    look.last_us = now_us;
}

START_TEST(who_has_much_open_does_not_hold_up_the_loop)
{
    enum { ENOUGH = 10000, MOST = 200000, LONGEST_US = 40000 };
    struct rlimit limit;
    int ends[2], to[2], n = 0, fds = open("/dev/null", O_RDONLY | O_CLOEXEC);

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    if (limit.rlim_cur > MOST)
        limit.rlim_cur = MOST;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_int_eq(pipe(to), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(to[1]);
        _exit(read(to[0], &(char){0}, 1) < 0);
    }
    while (fcntl(fds, F_DUPFD_CLOEXEC, 0) >= 0)
        n++;
    px_fd_close_from((int)limit.rlim_cur - 50); /* room for who searches */
    PX_TEST_NEEDS(n >= ENOUGH, "so many descriptors");
    ck_assert_int_ge(dup2(ends[0], fds + n), 0); /* it is met last */
    close(ends[0]);
    struct want w = want(fds + n);
    w.search.arg = &w;
    on_loop(look_on, NULL);
    on_loop(begin, &w);
    while (w.n_answers == 0)
        on_loop(look_on, NULL);
    on_loop(look_on, NULL);
    ck_assert_int_eq(w.pid, getpid());
    ck_assert_uint_lt(look.longest_us, LONGEST_US);
    close(to[1]);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

START_TEST(a_socket_that_nobody_has_is_nobody_s)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct want gone = want(fd), none = want(-1);

    close(fd);
    find(&gone);
    ck_assert_int_eq(gone.pid, 0);
    find(&none);
    ck_assert_int_eq(none.pid, 0);
}
END_TEST

START_TEST(a_process_of_another_user_is_found)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    int ends[2], told[2];
    struct stat st;

    ck_assert_int_eq(pipe2(told, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);

        close(ends[1]);
        if (setresgid(12345, 12345, 12345) || setresuid(12345, 12345, 12345) ||
            fstat(fd, &st) || write(told[1], &st, sizeof st) != sizeof st ||
            read(ends[0], &(char){0}, 1) < 0)
            _exit(1);
        _exit(0);
    }
    ck_assert_int_eq(read(told[0], &st, sizeof st), sizeof st);
    struct want theirs = want(-1);
    theirs.search.inode = st.st_ino;
    theirs.search.uid = 12345;
    find(&theirs);
    ck_assert_int_eq(theirs.pid, child);
    close(ends[1]);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

static struct want many[64];

static void begin_many(struct want *w PX_UNUSED)
{
    for (size_t i = 0; i < PX_COUNT(many); i++)
        begin(&many[i]);
}

START_TEST(many_are_found_in_one_walk)
{
    int fds[PX_COUNT(many)];

    for (size_t i = 0; i < PX_COUNT(many); i++) {
        fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        many[i] = want(fds[i]);
        many[i].search.arg = &many[i];
    }
    on_loop(begin_many, NULL);
    for (size_t i = 0; i < PX_COUNT(many); i++) {
        await(&many[i]);
        ck_assert_int_eq(many[i].pid, getpid());
        ck_assert_uint_eq(many[i].search.n_passes, 1);
        close(fds[i]);
    }
}
END_TEST

static void begin_with_other(struct want *w)
{
    begin(w);
    begin(w->other);
}

static void begin_and_cancel(struct want *w)
{
    begin(w);
    cancel(w);
    cancel(w);
}

START_TEST(an_answer_may_cancel_and_begin_searches)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct want first = want(fd), second = want(fd), third = want(fd);

    first.search.arg = &first;
    second.search.arg = &second;
    third.search.arg = &third;
    first.other = &second;
    first.cancels = true;
    on_loop(begin_with_other, &first);
    await(&first);
    first.n_answers = 0;
    first.cancels = false;
    first.other = &third;
    on_loop(begin, &first);
    await(&third);
    ck_assert_int_eq(third.pid, getpid());
    on_loop(begin_and_cancel, &second);
    third.n_answers = 0;
    find(&third);
    ck_assert_uint_eq(second.n_answers, 0); /* who is cancelled hears nothing */
    close(fd);
}
END_TEST

START_TEST(what_is_under_way_ends_with_the_searcher)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct want w = want(-1);

    w.search.arg = &w;
    on_loop(begin, &w);
    on_loop(destroy, NULL);
    on_loop(make, NULL);
    ck_assert_uint_eq(w.n_answers, 0);
    ck_assert_ptr_null(w.search.link.next);
    close(fd);
}
END_TEST

PX_TEST_MAIN_WITH("server/pidof", setup, teardown,
                  it_is_the_process_that_has_the_socket_open,
                  of_those_that_share_it_it_is_the_one_that_made_it,
                  who_has_much_open_does_not_hold_up_the_loop,
                  a_socket_that_nobody_has_is_nobody_s,
                  a_process_of_another_user_is_found, many_are_found_in_one_walk,
                  an_answer_may_cancel_and_begin_searches,
                  what_is_under_way_ends_with_the_searcher)
