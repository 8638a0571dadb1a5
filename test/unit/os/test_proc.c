/* SPDX-License-Identifier: BSD-3-Clause */
/* Process state from /proc, also of processes with misleading names. */
#include "core/os/proc.h"
#include "px_test.h"
#include "seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char rest[] =
    " S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2 0 987654 1 2\n";

static bool parses(const char *name, const char *after, struct px_osproc_stat *st)
{
    char text[512];

    snprintf(text, sizeof(text), "42 (%s)%s", name, after);
    return px_osproc_stat_parse(text, st);
}

PX_TEST(a_name_with_spaces_and_brackets_is_a_name)
{
    static const char *const names[] = {"a",   "",      "a b",    ")", ") R 1 2 3",
                                        "(((", "a) (b", "\n 1 2", "a)"};
    struct px_osproc_stat st;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        memset(&st, 0, sizeof(st));
        ck_assert_msg(parses(names[i], rest, &st), "%s", names[i]);
        ck_assert_int_eq(st.state, 'S');
        ck_assert_int_eq(st.pgrp, 77);
        ck_assert_int_eq(st.threads, 2);
        ck_assert_uint_eq(st.start, 987654);
    }
}

PX_TEST(what_the_kernel_does_not_write_is_refused)
{
    static const char *const wrong[] = {
        "",
        " ",
        " S",
        " S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2 0",
        " S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2 0 ",
        " S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2 0 x",
        " S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2 0 -1",
        " S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2 0 99999999999999999999999",
        " S 1 -7 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2 0 9 1",
        " S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 b 0 9 1",
        " 1 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2 0 9 1",
        " S x 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2 0 9 1",
        " S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2 0 9x 1",
        " S 2147483648 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2 0 9 1",
        " S 1 2147483648 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2 0 9 1",
        " S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2147483648 0 9 1",
        "S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 2 0 9 1"};
    struct px_osproc_stat st = {.start = 5};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        ck_assert_msg(!parses("a", wrong[i], &st), "%s", wrong[i]);
    ck_assert(!px_osproc_stat_parse("42", &st));
    ck_assert_uint_eq(st.start, 5);
}

PX_TEST(the_own_process_is_found_whatever_its_name)
{
    PX_TEST_NEEDS_PROC;
    struct px_osproc_stat st, again;

    ck_assert(px_osproc_stat(getpid(), &st));
    ck_assert_int_eq(prctl(PR_SET_NAME, ") Z 1 2 3 4 ("), 0);
    ck_assert(px_osproc_stat(getpid(), &again));
    ck_assert_int_eq(again.state, 'R');
    ck_assert_uint_eq(again.start, st.start);
    ck_assert_int_eq(again.parent, getppid());
    ck_assert_int_eq(again.pgrp, getpgrp());
}

static void *stay(void *arg)
{
    char byte;

    if (read(*(int *)arg, &byte, 1) < 0)
        _exit(1);
    _exit(0);
}

PX_TEST(a_leader_that_has_left_its_threads_behind_has_not_ended)
{
    PX_TEST_NEEDS_PROC;
    int ends[2], status;
    struct px_osproc_stat st = {0};

    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;

        close(ends[1]);
        if (pthread_create(&thread, NULL, stay, &ends[0]))
            _exit(1);
        pthread_exit(NULL);
    }
    close(ends[0]);
    while (px_osproc_stat(child, &st) && st.state != 'Z')
        usleep(1000);
    ck_assert_int_eq(st.state, 'Z');
    ck_assert(!px_osproc_ended(child, st.start));
    close(ends[1]);
    ck_assert_int_eq(waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT), 0);
    ck_assert(px_osproc_ended(child, st.start));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

PX_TEST(a_path_that_does_not_fit_is_refused)
{
    char out[16];

    ck_assert(px_osproc_path(1234567, "/a", out, sizeof(out)));
    ck_assert_str_eq(out, "/proc/1234567/a");
    ck_assert(!px_osproc_path(1234567, "/ab", out, sizeof(out)));
    ck_assert(!px_osproc_path(0, "", out, sizeof(out)));
    ck_assert(!px_osproc_path(-1, "", out, sizeof(out)));
}

PX_TEST(a_file_that_does_not_fit_is_refused)
{
    char out[8];

    ck_assert(!px_osproc_read("/proc/self/status", out, sizeof(out)));
    ck_assert(!px_osproc_read("/proc/self/nothing", out, sizeof(out)));
    ck_assert(!px_osproc_read("/tmp", out, sizeof(out)));
    ck_assert(px_osproc_read("/dev/null", out, sizeof(out)));
    ck_assert_str_eq(out, "");
}

PX_TEST(the_path_of_a_descriptor_is_without_links)
{
    PX_TEST_NEEDS_PROC;
    char out[64];
    int fd = open("/proc/self/../", O_PATH | O_CLOEXEC), ends[2];

    ck_assert(px_osproc_fd_path(fd, out, sizeof(out)));
    ck_assert_str_eq(out, "/proc");
    ck_assert(!px_osproc_fd_path(fd, out, 5));
    ck_assert(!px_osproc_fd_path(fd, out, 0));
    ck_assert(!px_osproc_fd_path(-1, out, sizeof(out)));
    close(fd);
    ck_assert(!px_osproc_fd_path(fd, out, sizeof(out)));
    ok(pipe(ends)); /* has no path */
    ck_assert(!px_osproc_fd_path(ends[0], out, sizeof(out)));
}

PX_TEST(nothing_has_to_come_after_the_start_time)
{
    static const char *const ends[] = {"", "\n", " "};
    struct px_osproc_stat st;
    char text[128];

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(text, sizeof(text),
                 " X 2147483647 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 9 0 987654%s",
                 ends[i]);
        ck_assert(parses("a", text, &st));
        ck_assert_uint_eq(st.start, 987654);
        ck_assert_int_eq(st.parent, INT32_MAX);
        ck_assert(px_osproc_stat_ended(&st)); /* X means dead, after any other state */
    }
}

PX_TEST(a_number_that_is_not_a_pid_has_no_process)
{
    ck_assert(px_osproc_ended(0, 0));
    ck_assert(px_osproc_ended(-1, 0));
    ck_assert(px_osproc_ended((int64_t)INT32_MAX + 1, 0));
    ck_assert(!px_osproc_ended(getpid(), 0));
}

static pid_t gone;

static int ask_the_kernel(void)
{
    ck_assert(px_test_deny(SYS_openat, EACCES));
    return !px_osproc_ended(getppid(), 7) && px_osproc_ended(gone, 0);
}

PX_TEST(where_proc_is_hidden_the_kernel_is_asked_which_process_exists)
{
    int status;

    gone = fork();
    if (gone == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(gone, &status, 0), gone);
    ck_assert_int_eq(px_test_in_child(ask_the_kernel), 1);
}

PX_TEST(tags_are_below_each_limit_and_inherited)
{
    PX_TEST_NEEDS_PROC;
    const uint64_t first = px_osproc_rlimit_tag(77, 1234, RLIM_INFINITY),
                   same = px_osproc_rlimit_tag(77, 1234, first),
                   other = px_osproc_rlimit_tag(78, 1234, same);
    const struct rlimit limit = {1000, other};
    const uint64_t none[][3] = {{77, 0, RLIM_INFINITY},
                                {77, 1234, 0},
                                {77, 1234, 1ull << 50},
                                {77, 1234, 200000}};
    pid_t pid = fork();

    ck_assert(first > same && same > other && other > 1ull << 50);
    ck_assert(first < RLIM_INFINITY / 2);
    ck_assert_uint_ne(first, px_osproc_rlimit_tag(77, 1235, RLIM_INFINITY));
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        ck_assert_uint_eq(
            px_osproc_rlimit_tag((int64_t)none[i][0], none[i][1], none[i][2]), 0);
    if (pid == 0) {
        bool had = px_osproc_has_rlimit_tag(getpid(), other);

        if (had || setrlimit(RLIMIT_RTTIME, &limit) < 0)
            _exit(1);
        pid = fork();
        if (pid == 0)
            _exit(px_osproc_has_rlimit_tag(
                      getpid(), px_osproc_rlimit_tag(78, 1234, RLIM_INFINITY)) &&
                          !px_osproc_has_rlimit_tag(getpid(), first) &&
                          !px_osproc_has_rlimit_tag(getpid(), 0)
                      ? 0
                      : 2);
        int status = -1;
        _exit(waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 3);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

PX_TEST_MAIN("os/proc", NULL, NULL)
