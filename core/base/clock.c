/* SPDX-License-Identifier: BSD-3-Clause */
/* Monotonic time. Reading CLOCK_MONOTONIC cannot fail on Linux: no errors to report. */
#include "core/base/clock.h"

#include <time.h>

uint64_t px_clock_ns(void)
{
    struct timespec now = {0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t px_clock_ms(void)
{
    return px_clock_ns() / 1000000;
}
