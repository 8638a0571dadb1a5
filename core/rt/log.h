/* SPDX-License-Identifier: BSD-3-Clause */
/* Diagnostics: one line each on stderr, "tenon[host:pid] area: text". Log once, where
 * an error stops; parameter mca_base_verbose chooses the level. Any thread. */
#ifndef PX_RT_LOG_H
#define PX_RT_LOG_H

#include "core/base/attr.h"
#include "pmix_common.h"
#include "tenon/services.h"

#include <stdarg.h>
#include <stdbool.h>
#include <sys/types.h>

struct px_loop;

/* %m works; errno is kept. Control characters become '?', too long a text ends in
 * "...". */
void px_log(enum px_log_level level, const char *area, const char *fmt, ...)
    PX_PRINTF(3, 4);
void px_vlog(enum px_log_level level, const char *area, const char *fmt, va_list args)
    PX_PRINTF(3, 0);
/* For what is costly to compose. */
bool px_log_wants(enum px_log_level level);

/* Lines that strangers can cause at will are logged at a rate: a few per user and
 * reason, then how many more there were. Loop thread only. */
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
