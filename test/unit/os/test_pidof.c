/* SPDX-License-Identifier: BSD-3-Clause */
/* Search for the process that holds a socket. */
#include "core/os/pidof.h"

#include "core/base/fd.h"
#include "core/os/proc.h"
#include "px_test.h"

#include <linux/capability.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { LIMIT_US = 5000000, OTHER = 12345 };

static int ends[2], to_child[2];

static void setup(void)
{
    ok(pipe(to_child));
    ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
}

static void teardown(void)
{
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(to_child[i]);
    }
}

static struct px_pidof search_of(int fd)
{
    struct stat st;

    ok(fstat(fd, &st));
    return (struct px_pidof){.inode = st.st_ino, .uid = geteuid()};
}

static pid_t find(int fd)
{
    struct px_pidof s = search_of(fd);

    (void)px_pidof_find(&s, 1, LIMIT_US);
    return s.pid;
}

/* Forks a child that lives until the pipe is closed. */
static pid_t start_child(void)
{
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(to_child[1]);
        _exit(read(to_child[0], &(char){0}, 1) < 0);
    }
    return child;
}

static void end_child(pid_t child)
{
    close(to_child[1]);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

PX_TEST(of_those_that_share_it_it_is_the_one_that_made_it)
{
    PX_TEST_NEEDS_PROC;
    pid_t child = start_child();
    ck_assert_int_eq(find(ends[0]), getpid());
    end_child(child);
}

PX_TEST(a_socket_that_no_process_has_is_found_nowhere)
{
    struct px_pidof s[2] = {search_of(ends[0]), {.inode = 1, .uid = geteuid()}};

    close(ends[0]);
    close(ends[1]);
    (void)px_pidof_find(s, 2, LIMIT_US);
    ck_assert_int_eq(s[0].pid, 0);
    ck_assert_int_eq(s[1].pid, 0);
}

PX_TEST(a_process_of_another_user_is_found)
{
    struct px_pidof s = search_of(ends[0]);
    int ready[2];

    PX_TEST_NEEDS_ROOT;
    PX_TEST_NEEDS(px_test_may(CAP_SYS_PTRACE), "CAP_SYS_PTRACE");
    PX_TEST_NEEDS_PROC;
    ok(pipe(ready));
    pid_t child = fork();
    if (child == 0) {
        close(to_child[1]);
        if (setresgid(OTHER, OTHER, OTHER) || setresuid(OTHER, OTHER, OTHER) ||
            write(ready[1], "", 1) != 1 || read(to_child[0], &(char){0}, 1) < 0)
            _exit(1);
        _exit(0);
    }
    ck_assert_int_eq(read(ready[0], &(char){0}, 1), 1);
    close(ends[0]);
    s.uid = OTHER;
    (void)px_pidof_find(&s, 1, LIMIT_US);
    ck_assert_int_eq(s.pid, child);
    end_child(child);
    close(ready[0]);
    close(ready[1]);
}

PX_TEST(the_process_that_has_them_open_is_found_in_one_walk_for_many)
{
    struct px_osproc_stat st;
    struct px_pidof s[64];
    int fds[64];

    PX_TEST_NEEDS_PROC;
    ck_assert(px_osproc_stat(getpid(), &st));
    for (size_t i = 0; i < 64; i++) {
        fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        s[i] = search_of(fds[i]);
    }
    (void)px_pidof_find(s, 64, LIMIT_US);
    for (size_t i = 0; i < 64; i++) {
        ck_assert_int_eq(s[i].pid, getpid());
        ck_assert_uint_eq(s[i].start, st.start);
        close(fds[i]);
    }
}

/* The loop waits for a walk. So a walk has a time limit, however many descriptors and processes
 * there are. */
PX_TEST(a_walk_takes_no_longer_than_it_may)
{
    enum { ENOUGH = 20000, SHORT_US = 200, TOLERANCE_US = 20000 };
    struct px_pidof s = search_of(ends[0]);
    struct rlimit limit;

    PX_TEST_NEEDS_PROC;
    ok(getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = limit.rlim_max < ENOUGH ? limit.rlim_max : ENOUGH;
    ok(setrlimit(RLIMIT_NOFILE, &limit));
    pid_t child =
        start_child(); /* has the socket; a search of our own descriptors takes long */
    close(to_child[0]);
    while (fcntl(ends[1], F_DUPFD_CLOEXEC, 0) >= 0)
        ;
    PX_TEST_NEEDS(limit.rlim_cur == ENOUGH, "20000 descriptors");
    px_fd_close_from((int)limit.rlim_cur - 50); /* room for the search */
    uint64_t took = px_pidof_find(&s, 1, SHORT_US);
    ck_assert_uint_lt(took, SHORT_US + TOLERANCE_US);
    ck_assert_int_eq(s.pid, 0); /* no process is better than a wrong process */
    (void)px_pidof_find(&s, 1, LIMIT_US);
    ck_assert_int_eq(s.pid, getpid());
    end_child(child);
}

PX_TEST_MAIN("os/pidof", setup, teardown)
