/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/str.h"
#include "core/rt/log.h"
#include "core/rt/process.h"
#include "rt_test.h"

#include <errno.h>
#include <time.h>

/* Returns the line that px_log writes for text at PX_LOG_WARN. */
static char *logged(const char *area, const char *text)
{
    struct rt_capture c = rt_capture_begin();

    px_log(PX_LOG_WARN, area, "%s", text);
    return rt_capture_end(&c);
}

/* Before the first acquire, the line has the system's host name. */
PX_TEST(a_message_is_one_line_with_process_and_host)
{
    char host[256], wanted[320];

    ok(gethostname(host, sizeof(host)));
    for (int acquired = 0; acquired < 2; acquired++) {
        px_str_copy(px_process.host, sizeof(px_process.host), acquired ? "node7" : "");
        PX_AUTOFREE char *text = logged("ptl/tcp", "a port is taken");

        snprintf(wanted, sizeof(wanted), "tenon[%s:%ld] ptl/tcp: a port is taken\n",
                 acquired ? "node7" : host, (long)getpid());
        ck_assert_str_eq(text, wanted);
    }
}

PX_TEST(less_serious_messages_than_the_level_are_not_printed)
{
    ck_assert_int_eq(atomic_load(&px_process.log_level), PX_LOG_WARN);
    for (int level = PX_LOG_ERROR; level <= PX_LOG_DEBUG; level++) {
        struct rt_capture c = rt_capture_begin();

        atomic_store(&px_process.log_level, level);
        for (int l = PX_LOG_ERROR; l <= PX_LOG_DEBUG; l++) {
            px_log((enum px_log_level)l, "area", "text");
            ck_assert_int_eq(px_log_wants((enum px_log_level)l), l <= level);
        }
        PX_AUTOFREE char *text = rt_capture_end(&c);
        ck_assert_int_eq(rt_count(text, "\n"), level + 1);
    }
}

PX_TEST(what_a_peer_sent_cannot_begin_a_line_or_drive_the_terminal)
{
    PX_AUTOFREE char *text = logged("server", "\"a\nb\r\x1b[2J\x7f\"");

    ck_assert_int_eq(rt_count(text, "\n"), 1);
    rt_assert_has(text, "\"a?b??[2J?\"\n");
}

PX_TEST(too_long_a_text_is_cut_visibly_and_still_ends_the_line)
{
    char longer[5000];

    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    PX_AUTOFREE char *text = logged("area", longer);
    ck_assert_uint_le(strlen(text), 1024);
    rt_assert_has(text, "xx...\n");
}

PX_TEST(errno_can_be_printed_and_survives)
{
    struct rt_capture c = rt_capture_begin();

    errno = ENOENT;
    px_log(PX_LOG_WARN, "area", "open: %m");
    int after = errno;
    PX_AUTOFREE char *text = rt_capture_end(&c);

    rt_assert_has(text, "open: No such file or directory\n");
    ck_assert_int_eq(after, ENOENT);
}

PX_TEST(a_line_that_is_not_read_is_dropped_and_counted)
{
    char bytes[65536 + 4096];
    int was = dup(STDERR_FILENO), ends[2];

    ok(pipe(ends));
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
    char lost_line[64];
    snprintf(lost_line, sizeof(lost_line),
             "] log: %d messages are lost: stderr was full\n", 100 - kept);
    rt_assert_has(bytes, lost_line);
    rt_assert_has(bytes, "] area: again\n");
    ck_assert_uint_eq(lost, 0);
}

/* ---- at a rate -------------------------------------------------------------------- */

static struct px_log_rate *rate;
static uint64_t period_ms = 60000;

static void create(void *arg)
{
    rate = px_log_rate_create(arg, period_ms);
    ck_assert_ptr_nonnull(rate);
}

static void destroy(void *arg PX_UNUSED)
{
    px_log_rate_destroy(rate);
}

struct flood {
    uid_t uid, n_users;
    pmix_status_t reason;
    unsigned n;
};

static void flood(void *arg)
{
    const struct flood *f = arg;

    for (unsigned i = 0; i < f->n; i++)
        px_log_limited(rate, f->uid + i % f->n_users, f->reason, "door", "refused: %u",
                       i);
}

/* Returns everything logged by these floods and by the end of the counting log. */
static char *text_of(struct flood *f, size_t n)
{
    struct px_loop *loop = rt_loop(false);
    struct rt_capture c = rt_capture_begin();

    rt_on_loop(loop, create, loop);
    for (size_t i = 0; i < n; i++)
        rt_on_loop(loop, flood, &f[i]);
    rt_on_loop(loop, destroy, NULL);
    px_loop_destroy(loop);
    return rt_capture_end(&c);
}

/* Checks for a line that counts refusals and ends with the name of their status. */
static void counted(const char *text, const char *line, pmix_status_t status)
{
    PX_AUTOFREE char *wanted = px_strf("%s, %s\n", line, PMIx_Error_string(status));

    rt_assert_has(text, wanted);
}

PX_TEST(a_flood_is_a_few_lines_and_a_count)
{
    struct flood f = {1000, 1, PMIX_ERR_BAD_PARAM, 90000};
    PX_AUTOFREE char *text = text_of(&f, 1);

    ck_assert_int_eq(rt_count(text, "\n"), PX_LOG_RATE_LINES + 1);
    rt_assert_has(text, "refused: 0\n");
    counted(text, "door: 89997 more like it: uid 1000", PMIX_ERR_BAD_PARAM);
}

PX_TEST(users_and_reasons_are_counted_apart)
{
    struct flood f[] = {{1000, 2, PMIX_ERR_BAD_PARAM, 200},
                        {1000, 1, PMIX_ERR_TIMEOUT, 50},
                        {(uid_t)-1, 1, PMIX_ERR_BAD_PARAM, 4},
                        {7, 1, PMIX_ERR_BAD_PARAM, 2}};
    PX_AUTOFREE char *text = text_of(f, PX_COUNT(f));

    counted(text, "97 more like it: uid 1000", PMIX_ERR_BAD_PARAM);
    counted(text, "97 more like it: uid 1001", PMIX_ERR_BAD_PARAM);
    counted(text, "47 more like it: uid 1000", PMIX_ERR_TIMEOUT);
    counted(text, "1 more like it: uid -1", PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(rt_count(text, "\n"), 4 * PX_LOG_RATE_LINES + 2 + 4);
}

PX_TEST(many_users_share_what_is_left)
{
    struct flood f = {1000, 500, PMIX_ERR_BAD_PARAM, 500 * 10};
    PX_AUTOFREE char *text = text_of(&f, 1);

    ck_assert_int_lt(rt_count(text, "\n"), 100);
    rt_assert_has(text, "more like it: others\n");
}

PX_TEST(the_count_comes_when_its_time_is_over)
{
    struct flood f = {1000, 1, PMIX_ERR_BAD_PARAM, 5};
    struct px_loop *loop = rt_loop(false);
    struct rt_capture c = rt_capture_begin();

    period_ms = 50;
    rt_on_loop(loop, create, loop);
    rt_on_loop(loop, flood, &f);
    rt_capture_await(&c, "2 more like it");
    rt_on_loop(loop, flood, &f); /* a new count */
    rt_on_loop(loop, destroy, NULL);
    px_loop_destroy(loop);
    PX_AUTOFREE char *text = rt_capture_end(&c);
    ck_assert_int_eq(rt_count(text, "\n"), 2 * (PX_LOG_RATE_LINES + 1));
    ck_assert_int_eq(rt_count(text, "2 more like it"), 2);
}

PX_TEST_MAIN("rt/log", NULL, NULL)
