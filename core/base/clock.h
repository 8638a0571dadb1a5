/* SPDX-License-Identifier: BSD-3-Clause */
/* Monotonic time. Deadlines are absolute milliseconds of px_clock_ms(). */
#ifndef PX_BASE_CLOCK_H
#define PX_BASE_CLOCK_H

#include <stdint.h>

uint64_t px_clock_ms(void);
uint64_t px_clock_ns(void);

#endif
