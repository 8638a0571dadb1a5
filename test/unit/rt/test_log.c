/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/str.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "rt_test.h"

#include <errno.h>

static void name_host(void)
{
    px_str_copy(px_process.host, sizeof(px_process.host), "node7");
}

PX_TEST(a_message_is_one_line_that_says_who_and_where)
{
    char wanted[64];
    struct rt_capture c = rt_capture_begin();

    px_log(PX_LOG_ERROR, "ptl/tcp", "port %d is taken", 4711);
    char *text = rt_capture_end(&c);

    snprintf(wanted, sizeof(wanted), "tenon[node7:%ld] ptl/tcp: port 4711 is taken\n",
             (long)getpid());
    ck_assert_str_eq(text, wanted);
    free(text);
}

PX_TEST(before_the_first_acquire_the_host_is_that_of_the_system)
{
    char host[256];
    char wanted[300];
    struct rt_capture c = rt_capture_begin();

    px_process.host[0] = '\0';
    px_log(PX_LOG_ERROR, "x", "y");
    char *text = rt_capture_end(&c);

    ck_assert_int_eq(gethostname(host, sizeof(host)), 0);
    snprintf(wanted, sizeof(wanted), "tenon[%s:", host);
    rt_assert_has(text, wanted);
    free(text);
}

PX_TEST(less_serious_messages_than_the_level_are_not_printed)
{
    for (int level = PX_LOG_ERROR; level <= PX_LOG_DEBUG; level++) {
        struct rt_capture c = rt_capture_begin();

        atomic_store(&px_process.log_level, level);
        for (int l = PX_LOG_ERROR; l <= PX_LOG_DEBUG; l++) {
            px_log((enum px_log_level)l, "area", "text");
            ck_assert_int_eq(px_log_wants((enum px_log_level)l), l <= level);
        }
        char *text = rt_capture_end(&c);
        ck_assert_int_eq(rt_count(text, "\n"), level + 1);
        free(text);
    }
}

PX_TEST(warnings_are_printed_by_default_and_infos_are_not)
{
    ck_assert(px_log_wants(PX_LOG_WARN));
    ck_assert(!px_log_wants(PX_LOG_INFO));
}

PX_TEST(what_a_peer_sent_cannot_begin_a_line_or_drive_the_terminal)
{
    struct rt_capture c = rt_capture_begin();

    px_log(PX_LOG_WARN, "server", "rank said \"%s\"", "a\nb\r\x1b[2J\x7f");
    char *text = rt_capture_end(&c);

    ck_assert_int_eq(rt_count(text, "\n"), 1);
    rt_assert_has(text, "\"a?b??[2J?\"\n");
    free(text);
}

PX_TEST(too_long_a_text_is_cut_visibly_and_still_ends_the_line)
{
    char longer[5000];
    struct rt_capture c = rt_capture_begin();

    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    px_log(PX_LOG_WARN, "area", "%s", longer);
    char *text = rt_capture_end(&c);

    ck_assert_uint_le(strlen(text), 1024);
    rt_assert_has(text, "xx...\n");
    free(text);
}

PX_TEST(errno_can_be_printed_and_survives)
{
    struct rt_capture c = rt_capture_begin();

    errno = ENOENT;
    px_log(PX_LOG_WARN, "area", "open: %m");
    int after = errno;
    char *text = rt_capture_end(&c);

    rt_assert_has(text, "open: No such file or directory\n");
    ck_assert_int_eq(after, ENOENT);
    free(text);
}

PX_TEST(a_line_that_nobody_reads_is_dropped_and_counted)
{
    char bytes[65536 + 4096];
    int was = dup(STDERR_FILENO), ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(fcntl(ends[1], F_SETPIPE_SZ, 4096), 4096);
    ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    close(ends[1]);
    for (int i = 0; i < 100; i++)
        px_log(PX_LOG_WARN, "area", "message %d", i);
    ssize_t n = read(ends[0], bytes, sizeof(bytes) - 1);
    px_log(PX_LOG_WARN, "area", "again");
    ssize_t more = read(ends[0], bytes + n, sizeof(bytes) - 1 - (size_t)n);
    unsigned lost = atomic_load(&px_process.log_lost);
    close(ends[0]);
    px_log(PX_LOG_WARN, "area", "the reader has gone, and SIGPIPE does not come");
    dup2(was, STDERR_FILENO);
    close(was);

    ck_assert_int_gt(n, 0);
    ck_assert_int_gt(more, 0);
    bytes[n + more] = '\0';
    int kept = rt_count(bytes, "] area: message ");
    ck_assert_int_lt(kept, 100);
    char said[64];
    snprintf(said, sizeof(said), "] log: %d messages are lost: stderr was full\n",
             100 - kept);
    rt_assert_has(bytes, said);
    rt_assert_has(bytes, "] area: again\n");
    ck_assert_uint_eq(lost, 0);
}

PX_TEST_MAIN("rt/log", name_host, NULL)
