/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/rt/log_rate.h"
#include "rt_test.h"

#include <time.h>

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

/* All that these floods and the end of the counting log. */
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

PX_TEST(a_flood_is_a_few_lines_and_a_count)
{
    struct flood f = {1000, 1, PMIX_ERR_BAD_PARAM, 90000};
    char *text = text_of(&f, 1);

    ck_assert_int_eq(rt_count(text, "\n"), PX_LOG_RATE_LINES + 1);
    rt_assert_has(text, "refused: 0\n");
    rt_assert_has(text, "door: 89997 more like it: uid 1000, BAD-PARAM\n");
    free(text);
}

PX_TEST(users_and_reasons_are_counted_apart)
{
    struct flood f[] = {{1000, 2, PMIX_ERR_BAD_PARAM, 200},
                        {1000, 1, PMIX_ERR_TIMEOUT, 50},
                        {(uid_t)-1, 1, PMIX_ERR_BAD_PARAM, 4},
                        {7, 1, PMIX_ERR_BAD_PARAM, 2}};
    char *text = text_of(f, PX_COUNT(f));

    rt_assert_has(text, "97 more like it: uid 1000, BAD-PARAM\n");
    rt_assert_has(text, "97 more like it: uid 1001, BAD-PARAM\n");
    rt_assert_has(text, "47 more like it: uid 1000, TIMEOUT\n");
    rt_assert_has(text, "1 more like it: uid -1, BAD-PARAM\n");
    ck_assert_int_eq(rt_count(text, "\n"), 4 * PX_LOG_RATE_LINES + 2 + 4);
    free(text);
}

PX_TEST(many_users_share_what_is_left)
{
    struct flood f = {1000, 500, PMIX_ERR_BAD_PARAM, 500 * 10};
    char *text = text_of(&f, 1);

    ck_assert_int_lt(rt_count(text, "\n"), 100);
    rt_assert_has(text, "more like it: others\n");
    free(text);
}

PX_TEST(the_count_comes_when_its_time_is_over)
{
    struct flood f = {1000, 1, PMIX_ERR_BAD_PARAM, 5};
    struct px_loop *loop = rt_loop(false);
    struct rt_capture c = rt_capture_begin();
    const struct timespec wait = {.tv_nsec = 200000000};

    period_ms = 50;
    rt_on_loop(loop, create, loop);
    rt_on_loop(loop, flood, &f);
    nanosleep(&wait, NULL);
    rt_on_loop(loop, flood, &f); /* counted anew */
    rt_on_loop(loop, destroy, NULL);
    px_loop_destroy(loop);
    char *text = rt_capture_end(&c);
    ck_assert_int_eq(rt_count(text, "\n"), 2 * (PX_LOG_RATE_LINES + 1));
    ck_assert_int_eq(rt_count(text, "2 more like it"), 2);
    free(text);
}

PX_TEST_MAIN("rt/log_rate", NULL, NULL)
