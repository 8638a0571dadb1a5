/* SPDX-License-Identifier: BSD-3-Clause */
/* Monotonic time. Deadlines are absolute milliseconds of px_clock_ms(). Reading the
 * clock cannot fail on Linux, so these functions report no errors. */
#ifndef PX_BASE_CLOCK_H
#define PX_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t px_clock_ns(void)
{
    struct timespec now = {0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t px_clock_ms(void)
{
    return px_clock_ns() / 1000000;
}

#endif
