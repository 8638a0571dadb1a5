/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of workers and their descriptors. test/contract/contract_pcleanup*.c tests
 * the work and the end of workers. */
#include "core/reclaim/jobs.h"

#include "core/base/str.h"
#include "reclaim_fixture.h"

#include <sys/socket.h>

enum { LATE_MS = 10000 };

static int make_sockets_without_streams(void)
{
    int ends[2];

    for (int fd = 0; fd < 3; fd++)
        close(fd);
    return px_reclaim_socket(ends) || ends[0] < 3 || ends[1] < 3 ||
           fcntl(0, F_GETFD) >= 0 || !(fcntl(ends[1], F_GETFD) & FD_CLOEXEC);
}

PX_TEST(its_socket_is_no_standard_stream)
{
    ok(px_test_in_child(make_sockets_without_streams));
}

static struct {
    int fd, errnum, times;
    const char *path;
    enum px_rm_why why;
} report;

static int report_to_fd(void)
{
    bool in_vain = false;

    dup2(report.fd, STDERR_FILENO);
    for (int i = 0; i < report.times; i++)
        px_reclaim_report(&in_vain, report.path, report.why, report.errnum);
    return in_vain;
}

/* Reports in a copy of this process with fd as stream 2. Returns 1 if the report
 * failed. */
static int report_to(int fd, const char *path, enum px_rm_why why, int errnum,
                     int times)
{
    report.fd = fd;
    report.path = path;
    report.why = why;
    report.errnum = errnum;
    report.times = times;
    return px_test_in_child(report_to_fd);
}

PX_TEST(a_line_reports_what_stays_and_why)
{
    static const struct {
        const char *path;
        enum px_rm_why why;
        int errnum;
        const char *line;
    } rows[] = {
        {"/a\nb", PX_RM_FOREIGN, 0, "/a?b: of another user or group"},
        {"/a\x7f\x1b[2Jb", PX_RM_LINK, 0, "/a??[2Jb: a symbolic link is on the way"},
        {"/a", PX_RM_FAILED, EACCES, "/a: Permission denied"},
        {"/a", PX_RM_MOUNT, 0, "/a: a mount point"},
        {"/a", PX_RM_REFUSED, 0, "/a: such a thing is never removed"},
        {"/a", PX_RM_MOVED, 0, "/a: moved meanwhile"},
        {"/a", PX_RM_FAILED, 99999, "/a: the system refuses"},
    };
    char line[PX_RECLAIM_LINE_B] = "", expected[128], path[3 * PX_RM_MAX_PATH] = "";
    int ends[2];

    ok(px_reclaim_socket(ends));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ok(report_to(ends[1], rows[i].path, rows[i].why, rows[i].errnum, 1));
        ssize_t n = recv(ends[0], line, sizeof(line), 0);
        ck_assert_int_gt(n, 0);
        line[n] = '\0';
        snprintf(expected, sizeof(expected), "cannot remove %s\n", rows[i].line);
        ck_assert_str_eq(line, expected);
    }
    ok(report_to(ends[1], "/a", PX_RM_ASKED, 0, 1));
    ck_assert_int_eq(recv(ends[0], line, sizeof(line), 0), -1);
    memset(path, 'x', sizeof(path) - 1);
    ok(report_to(ends[1], path, PX_RM_FAILED, ENOTEMPTY, 1));
    ck_assert_int_gt(recv(ends[0], line, sizeof(line), 0), PX_RM_MAX_PATH);
    ck_assert_ptr_nonnull(strstr(line, "xxx: Directory not empty\n"));
    close(ends[0]);
    close(ends[1]);
}

PX_TEST(to_a_file_it_is_a_line_of_text)
{
    int ends[2];
    char text[64] = "";

    ok(pipe(ends));
    ok(report_to(ends[1], "/a", PX_RM_MOVED, 0, 2));
    ck_assert_int_gt(read(ends[0], text, sizeof(text) - 1), 0);
    ck_assert(px_str_starts(text, "cannot remove /a: moved meanwhile\ncannot remove"));
    close(ends[0]);
    close(ends[1]);
}

/* 0: the reader has stopped, so the worker waits once; 1: the reader has gone, so a worker does not wait.
 * On a busy machine one of several tries is fast enough. */
PX_TEST_LOOP(a_reader_that_does_not_read_is_given_up, 2)
{
    uint64_t least_ms = LATE_MS;

    for (int try = 0; try < (_i ? 10 : 1) && least_ms >= 900; try++) {
        const uint64_t begin_ms = px_clock_ms();
        int ends[2];

        ok(px_reclaim_socket(ends));
        if (_i)
            close(ends[0]);
        ck_assert_int_eq(report_to(ends[1], "/a", PX_RM_MOVED, 0, 10000), 1);
        least_ms = px_clock_ms() - begin_ms;
    }
    ck_assert_uint_lt(least_ms, _i ? 900 : LATE_MS);
}

PX_TEST_MAIN("reclaim/jobs", NULL, NULL)
