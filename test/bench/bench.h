/* SPDX-License-Identifier: BSD-3-Clause */
/* For the programs of compare.py: a row is "what microseconds". */
#ifndef PX_BENCH_H
#define PX_BENCH_H

#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double now_us(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static inline void must(const char *what, pmix_status_t rc)
{
    if (rc) {
        fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(rc));
        exit(EXIT_FAILURE);
    }
}

#endif
