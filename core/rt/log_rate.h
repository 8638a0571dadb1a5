/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines that strangers can cause at will are logged at a rate: a few per user and
 * reason, then how many more there were. Loop thread only. */
#ifndef PX_RT_LOG_RATE_H
#define PX_RT_LOG_RATE_H

#include "core/rt/log.h"
#include "core/rt/loop.h"

#include <sys/types.h>

#define PX_LOG_RATE_LINES 3 /* of one user and reason in each period */

struct px_log_rate;

/* NULL: out of memory. */
struct px_log_rate *px_log_rate_create(struct px_loop *loop, uint64_t period_ms);
/* Logs the counts that are left. NULL is fine. */
void px_log_rate_destroy(struct px_log_rate *r);
/* As px_log, at level PX_LOG_WARN. uid (uid_t)-1: not known. */
void px_log_limited(struct px_log_rate *r, uid_t uid, pmix_status_t reason,
                    const char *area, const char *fmt, ...) PX_PRINTF(5, 6);

#endif
