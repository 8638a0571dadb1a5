/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of the sweeper where little is to be had: descriptors, devices, /proc, a
 * reader; and whom they do not kill. */
#include "core/base/attr.h"
#include "core/reclaim/worker.h"
#include "seccomp.h"
#include "server_fixture.h"

#include <linux/capability.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static void deny(long number, int errnum)
{
    ck_assert(px_test_deny(number, errnum));
}

/* ---- killing -------------------------------------------------------------------- */

static struct px_journal_record victim;

static int kill_without_proc(void)
{
    deny(SYS_openat, EACCES);
    px_reclaim_kill(&victim);
    return 0;
}

PX_TEST(where_proc_is_hidden_nobody_is_killed)
{
    pid_t pid = start_process();

    victim = (struct px_journal_record){.type = PX_JOURNAL_PROC,
                                        .flags = PX_JOURNAL_END,
                                        .uid = geteuid(),
                                        .x = (uint64_t)pid,
                                        .y = px_journal_start_time(pid)};
    ck_assert_int_eq(px_test_in_child(kill_without_proc), 0);
    ck_assert_int_eq(end(pid), 0);
}

/* One whose leader has ended. */
PX_TEST(nobody_ends_the_group_that_he_is_in)
{
    int ends[2], status;
    char byte = 0;

    ck_assert_int_eq(pipe(ends), 0);
    pid_t leader = fork();
    if (leader == 0) {
        setpgid(0, 0);
        victim = (struct px_journal_record){.type = PX_JOURNAL_PROC,
                                            .flags = PX_JOURNAL_END,
                                            .uid = geteuid(),
                                            .x = (uint64_t)getpid(),
                                            .y = px_journal_start_time(getpid())};
        if (fork() == 0) {
            while (kill((pid_t)victim.x, 0) == 0)
                usleep(1000);
            px_reclaim_kill(&victim);
            _exit(write(ends[1], "x", 1) != 1);
        }
        _exit(0);
    }
    close(ends[1]);
    ck_assert_int_eq(waitpid(leader, &status, 0), leader);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1); /* not its end */
    ck_assert_int_eq(byte, 'x');
    close(ends[0]);
}

/* ---- workers -------------------------------------------------------------------- */

static int make_sockets_at_the_limit(void)
{
    size_t before = open_descriptors();
    int ends[2] = {-7, -7}, next = open("/", O_PATH | O_CLOEXEC);
    struct rlimit few = {(rlim_t)next + 1, (rlim_t)next + 1};

    close(next);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    ck_assert_int_eq(px_worker_socket(ends), EMFILE);
    close(0);
    close(1);
    few.rlim_cur = 3; /* room for both, but not where they have to be */
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    ck_assert_int_eq(px_worker_socket(ends), EINVAL);
    ck_assert_int_eq(ends[0], -7);
    ck_assert_uint_eq(open_descriptors(), before - 2);
    return 0;
}

PX_TEST(sockets_that_cannot_be_made_cost_nothing)
{
    ck_assert_int_eq(px_test_in_child(make_sockets_at_the_limit), 0);
}

static int tell_nobody(void)
{
    struct px_worker_reporter teller = {0};
    int ends[2];

    ck_assert_int_eq(px_worker_socket(ends), 0);
    ck_assert_int_eq(dup2(ends[1], PX_WORKER_REPORT_FD), PX_WORKER_REPORT_FD);
    close(ends[0]);
    px_worker_report(&teller, "/a", PX_RM_FAILED, EIO);
    return teller.in_vain;
}

PX_TEST(a_reader_that_has_gone_is_not_waited_for)
{
    const uint64_t begin_ms = px_clock_ms();

    ck_assert_int_eq(px_test_in_child(tell_nobody), 0);
    ck_assert_uint_lt(px_clock_ms() - begin_ms, 900);
}

static int tell_of_a_link(void)
{
    struct px_worker_reporter teller = {0};
    struct px_worker_msg news;
    int ends[2];

    ck_assert_int_eq(px_worker_socket(ends), 0);
    ck_assert_int_eq(dup2(ends[1], PX_WORKER_REPORT_FD), PX_WORKER_REPORT_FD);
    px_worker_report(&teller, "/a\x7f\x1b[2Jb", PX_RM_LINK, 0);
    ck_assert_int_eq(px_worker_read(ends[0], &news), 1);
    return strcmp(news.line, "cannot remove /a??[2Jb: a symbolic link is on the way") !=
           0;
}

PX_TEST(what_a_terminal_would_obey_is_not_told)
{
    ck_assert_int_eq(px_test_in_child(tell_of_a_link), 0);
}

PX_TEST(who_is_no_child_is_not_waited_for)
{
    int status = 0;

    ck_assert(px_reclaim_reap(getppid(), &status));
    ck_assert_int_eq(status, -1);
    status = 0;
    ck_assert(px_worker_reap(getppid(), &status));
    ck_assert_int_eq(status, -1);
    ck_assert_int_eq(kill(getppid(), 0), 0); /* nor killed */
}

static int detach_without_devices(void)
{
    char byte;
    struct stat st;

    ck_assert_int_eq(chroot(top), 0);
    close(1);
    px_reclaim_detach("test", NULL, 0);
    for (int fd = 0; fd < 3; fd++)
        if (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode) || read(fd, &byte, 1) != -1 ||
            write(fd, "x", 1) != -1)
            return 10 + fd;
    return fcntl(3, F_GETFD) >= 0;
}

PX_TEST(without_a_null_device_streams_lead_nowhere)
{
    PX_TEST_NEEDS(px_test_may(CAP_SYS_CHROOT), "CAP_SYS_CHROOT");
    ck_assert_int_eq(px_test_in_child(detach_without_devices), 0);
}

PX_TEST_MAIN("reclaim/reclaim_limits", setup, teardown)
