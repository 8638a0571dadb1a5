/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock that deadlines are told by. */
#include "core/base/clock.h"
#include "px_test.h"

#include <time.h>

PX_TEST(never_goes_back)
{
    uint64_t before = px_clock_ns();

    for (int i = 0; i < 100000; i++) {
        uint64_t now = px_clock_ns();

        if (now < before)
            ck_abort_msg("%ju after %ju", (uintmax_t)now, (uintmax_t)before);
        before = now;
    }
}

PX_TEST(milliseconds_and_nanoseconds_are_the_same_clock)
{
    uint64_t before = px_clock_ns();
    uint64_t ms = px_clock_ms();
    uint64_t after = px_clock_ns();

    ck_assert_uint_le(before / 1000000, ms);
    ck_assert_uint_le(ms, after / 1000000);
}

PX_TEST(is_the_monotonic_clock_that_poll_and_timers_use)
{
    struct timespec now;
    uint64_t before = px_clock_ns();

    ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;

    ck_assert_uint_le(before, ns);
    ck_assert_uint_le(ns, px_clock_ns());
}

PX_TEST(is_never_zero_which_means_no_deadline)
{
    ck_assert_uint_gt(px_clock_ms(), 0);
}

PX_TEST_MAIN("base/clock", NULL, NULL)
