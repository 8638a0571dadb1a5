/* SPDX-License-Identifier: BSD-3-Clause */
/* Diagnostics: one line each on stderr, "tenon[host:pid] area: text". Log an error
 * once, where it is handled. Parameter mca_base_verbose sets the level. Any thread. */
#ifndef PX_RT_LOG_H
#define PX_RT_LOG_H

#include "core/base/attr.h"
#include "pmix_common.h"
#include "tenon/services.h"

#include <stdarg.h>
#include <stdbool.h>
#include <sys/types.h>

struct px_loop;

/* Logs a line. %m works; errno is kept. Control characters become '?', a long text ends
 * with "...". */
void px_log(enum px_log_level level, const char *area, const char *fmt, ...)
    PX_PRINTF(3, 4);
void px_vlog(enum px_log_level level, const char *area, const char *fmt, va_list args)
    PX_PRINTF(3, 0);
/* True if lines of this level are logged; saves composing costly lines. */
bool px_log_wants(enum px_log_level level);

/* Rate limit for lines that other users can cause at will. Logs a few lines for each
 * user and reason, then their number. Loop thread only. */
#define PX_LOG_RATE_LINES 3 /* for each user and reason, in a period */

struct px_log_rate;

/* Creates a rate limit. Returns NULL if memory is exhausted. */
struct px_log_rate *px_log_rate_create(struct px_loop *loop, uint64_t period_ms);
/* Logs the remaining counts and frees r. r may be NULL. */
void px_log_rate_destroy(struct px_log_rate *r);
/* Logs a line like px_log, at level PX_LOG_WARN. uid (uid_t)-1: unknown. */
void px_log_limited(struct px_log_rate *r, uid_t uid, pmix_status_t reason,
                    const char *area, const char *fmt, ...) PX_PRINTF(5, 6);

#endif
