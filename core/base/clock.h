/* SPDX-License-Identifier: BSD-3-Clause */
/* Monotonic time. Deadlines are absolute milliseconds of px_clock_ms(). Reading the
 * clock cannot fail on Linux, so these functions report no errors. */
#ifndef PX_BASE_CLOCK_H
#define PX_BASE_CLOCK_H

#include <limits.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t px_clock_ns_of(clockid_t clock)
{
    struct timespec now = {0};

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t px_clock_ns(void)
{
    return px_clock_ns_of(CLOCK_MONOTONIC);
}

/* Returns the processor time of this thread. A busy machine does not increase it. */
static inline uint64_t px_clock_work_ns(void)
{
    return px_clock_ns_of(CLOCK_THREAD_CPUTIME_ID);
}

static inline uint64_t px_clock_ms(void)
{
    return px_clock_ns() / 1000000;
}

/* Returns the time left until the deadline as poll's timeout, 0 after the deadline. */
static inline int px_clock_left(uint64_t deadline_ms)
{
    const uint64_t now = px_clock_ms();

    return deadline_ms <= now            ? 0
           : deadline_ms - now < INT_MAX ? (int)(deadline_ms - now)
                                         : INT_MAX;
}

#endif
