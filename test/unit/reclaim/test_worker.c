/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs in their order, what workers say over their socket, and how they are ended. What
 * they do is in test/contract/contract_pcleanup*.c. */
#include "core/reclaim/worker.h"

#include "alloc_fail.h"
#include "core/base/clock.h"
#include "core/base/str.h"
#include "px_test.h"
#include "seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { LATE_MS = 10000 };

/* ---- news ----------------------------------------------------------------------- */

/* In a process of its own, as denying is for good. */
static int read_denied(int errnum)
{
    struct px_worker_msg news;
    int ends[2], status;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (px_worker_socket(ends) || !px_test_deny(SYS_recvfrom, errnum))
            _exit(77);
        _exit(px_worker_read(ends[0], &news) + 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status) == 77 ? 77 : WEXITSTATUS(status) - 1;
}

PX_TEST(without_memory_for_now_a_report_may_come_later)
{
    PX_TEST_NEEDS(read_denied(EAGAIN) != 77, "seccomp");
    ck_assert_int_eq(read_denied(EAGAIN), 0);
    ck_assert_int_eq(read_denied(ENOMEM), 0);
    ck_assert_int_eq(read_denied(ENOBUFS), 0);
    ck_assert_int_eq(read_denied(ECONNRESET), -1);
    ck_assert_int_eq(read_denied(EBADF), -1);
}

PX_TEST(what_is_malformed_is_left_out)
{
    int ends[2];
    struct px_worker_msg news = {.type = 99};
    const size_t head_b = offsetof(struct px_worker_msg, line);

    ck_assert_int_eq(px_worker_socket(ends), 0);
    ck_assert_int_eq(send(ends[1], "x", 1, 0), 1);
    ck_assert_int_eq(send(ends[1], &news, head_b, 0), (ssize_t)head_b);
    news.type = PX_WORKER_LINE; /* without an end */
    memset(news.line, 'x', sizeof(news.line));
    ck_assert_int_gt(send(ends[1], &news, sizeof(news), 0), 0);
    ck_assert_int_gt(send(ends[1], &news, head_b, 0), 0);
    news.type = PX_WORKER_ENDED; /* too long */
    ck_assert_int_gt(send(ends[1], &news, sizeof(news), 0), 0);
    news.id = 1;
    ck_assert_int_gt(send(ends[1], &news, head_b, 0), 0);
    ck_assert_int_eq(px_worker_read(ends[0], &news), 1);
    ck_assert_uint_eq(news.id, 1);
    ck_assert_int_eq(px_worker_read(ends[0], &news), 0);
    close(ends[1]);
    ck_assert_int_eq(px_worker_read(ends[0], &news), -1);
    close(ends[0]);
}

PX_TEST(its_socket_is_no_standard_stream)
{
    int ends[2];
    int status;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        if (px_worker_socket(ends))
            _exit(1);
        _exit(ends[0] < 3 || ends[1] < 3 || fcntl(0, F_GETFD) >= 0 ||
              !(fcntl(ends[1], F_GETFD) & FD_CLOEXEC));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

/* ---- telling -------------------------------------------------------------------- */

/* In a copy of this process with fd as stream 2; its exit status. */
static int tell_to(int fd, const char *path, enum px_rm_why why, int errnum, int times)
{
    struct px_worker_reporter teller = {0};
    int status;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        signal(SIGPIPE, SIG_IGN); /* as in any worker */
        dup2(fd, PX_WORKER_REPORT_FD);
        for (int i = 0; i < times; i++)
            px_worker_report(&teller, path, why, errnum);
        _exit(teller.in_vain);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

PX_TEST(a_line_says_what_stays_and_why)
{
    int ends[2];
    struct px_worker_msg news;
    static const struct {
        enum px_rm_why why;
        int errnum;
        const char *line;
    } rows[] = {
        {PX_RM_FOREIGN, 0, "cannot remove /a?b: of another user or group"},
        {PX_RM_FAILED, EACCES, "cannot remove /a?b: Permission denied"},
        {PX_RM_MOUNT, 0, "cannot remove /a?b: a mount point"},
        {PX_RM_FAILED, 99999, "cannot remove /a?b: the system refuses"},
    };

    ck_assert_int_eq(px_worker_socket(ends), 0);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_int_eq(tell_to(ends[1], "/a\nb", rows[i].why, rows[i].errnum, 1), 0);
        ck_assert_int_eq(px_worker_read(ends[0], &news), 1);
        ck_assert_uint_eq(news.type, PX_WORKER_LINE);
        ck_assert_str_eq(news.line, rows[i].line);
    }
    ck_assert_int_eq(tell_to(ends[1], "/a", PX_RM_ASKED, 0, 1), 0);
    ck_assert_int_eq(px_worker_read(ends[0], &news), 0);
    close(ends[0]);
    close(ends[1]);
}

PX_TEST(a_long_path_is_cut_but_not_the_reason)
{
    int ends[2];
    struct px_worker_msg news;
    char path[3 * PX_RM_MAX_PATH];

    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    ck_assert_int_eq(px_worker_socket(ends), 0);
    ck_assert_int_eq(tell_to(ends[1], path, PX_RM_FAILED, ENOTEMPTY, 1), 0);
    ck_assert_int_eq(px_worker_read(ends[0], &news), 1);
    ck_assert_uint_gt(strlen(news.line), PX_RM_MAX_PATH);
    ck_assert_ptr_nonnull(strstr(news.line, "xxx: Directory not empty"));
    close(ends[0]);
    close(ends[1]);
}

PX_TEST(to_a_file_it_is_a_line_of_text)
{
    int ends[2];
    char text[64] = "";

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(tell_to(ends[1], "/a", PX_RM_MOVED, 0, 2), 0);
    ck_assert_int_gt(read(ends[0], text, sizeof(text) - 1), 0);
    ck_assert(px_str_starts(text, "cannot remove /a: moved meanwhile\ncannot remove"));
    close(ends[0]);
    ck_assert_int_eq(tell_to(ends[1], "/a", PX_RM_MOVED, 0, 2), 1); /* nobody reads */
    close(ends[1]);
}

PX_TEST(a_reader_that_has_stopped_is_waited_for_once)
{
    int ends[2];
    const uint64_t begin_ms = px_clock_ms();

    ck_assert_int_eq(px_worker_socket(ends), 0);
    ck_assert_int_eq(tell_to(ends[1], "/a", PX_RM_MOVED, 0, 10000), 1);
    ck_assert_uint_lt(px_clock_ms() - begin_ms, LATE_MS);
    close(ends[0]);
    close(ends[1]);
}

/* ---- processes ------------------------------------------------------------------ */

/* A worker that hangs, with a process of its own. */
static pid_t hanging_worker(int ready)
{
    pid_t pid = px_reclaim_fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        setsid();
        pid_t child = px_reclaim_fork();
        if (child > 0 && write(ready, "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    return pid;
}

static bool nobody_is_left(void)
{
    const uint64_t deadline_ms = px_clock_ms() + LATE_MS;
    pid_t r;

    while ((r = waitpid(-1, NULL, WNOHANG | __WALL)) >= 0) {
        if (px_clock_ms() >= deadline_ms)
            return false;
    }
    return errno == ECHILD;
}

static void begin_hanging(pid_t *pid)
{
    int ends[2];
    char byte;

    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    ck_assert_int_eq(pipe(ends), 0);
    *pid = hanging_worker(ends[1]);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
}

PX_TEST(who_is_stopped_is_gone_with_those_it_has_made)
{
    pid_t pid;
    int status;

    begin_hanging(&pid);
    ck_assert(!px_reclaim_reap(pid, &status));
    ck_assert(!px_reclaim_reap_within(pid, 10));
    px_worker_stop(pid);
    ck_assert(nobody_is_left());
}

PX_TEST(those_whom_a_killed_worker_leaves_are_ended)
{
    const uint64_t deadline_ms = px_clock_ms() + LATE_MS;
    pid_t pid;
    int status = 0;

    begin_hanging(&pid);
    kill(pid, SIGKILL);
    while (!px_worker_reap(pid, &status))
        ck_assert_uint_lt(px_clock_ms(), deadline_ms);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    ck_assert(nobody_is_left());
}

static bool is_mapped(void *at, size_t size)
{
    return msync(at, size, MS_ASYNC) == 0 || errno != ENOMEM;
}

static void *map(size_t size, int flags)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(p, MAP_FAILED);
    return p;
}

PX_TEST(a_child_lets_go_of_what_is_large_or_shared)
{
    PX_TEST_NEEDS_PROC;
    enum { LARGE = 8 << 20, SMALL = 4096 };
    PX_TEST_NEEDS(px_alloc_can_fail(), "a process without a sanitizer");
    char *shared = map(SMALL, MAP_SHARED);
    char *large = map(LARGE, MAP_PRIVATE);
    void *hole = map(SMALL,
                     MAP_PRIVATE); /* so that the next does not stand beside it */
    char *small = map(SMALL, MAP_PRIVATE);
    int status;

    ck_assert_int_eq(mprotect(hole, SMALL, PROT_NONE), 0);
    small[0] = 'x';
    pid_t pid = px_reclaim_fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        px_reclaim_drop_mappings();
        errno = 0;
        _exit((is_mapped(shared, SMALL) ? 1 : 0) | (is_mapped(large, LARGE) ? 2 : 0) |
              (is_mapped(small, SMALL) && small[0] == 'x' ? 0 : 4));
    }
    ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
    ck_assert(is_mapped(shared, SMALL) && is_mapped(large, LARGE));
    munmap(shared, SMALL);
    munmap(large, LARGE);
    munmap(small, SMALL);
    munmap(hole, SMALL);
}

static void *shed_in_a_child(void *arg)
{
    pid_t *pid = arg;

    *pid = px_reclaim_fork();
    if (*pid == 0) {
        char text[4096];

        px_reclaim_drop_mappings();
        errno = ENOENT;
        memset(text, 'x', sizeof(text));
        _exit(open("/", O_RDWR) >= 0 || errno != EISDIR || text[4095] != 'x');
    }
    return NULL;
}

PX_TEST(in_a_thread_its_stack_stays)
{
    int status;
    pthread_t thread;
    pid_t pid;

    ck_assert_int_eq(pthread_create(&thread, NULL, shed_in_a_child, &pid), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_ge(pid, 0);
    ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
    ck_assert_int_eq(status, 0);
}

PX_TEST_MAIN("reclaim/worker", NULL, NULL)
