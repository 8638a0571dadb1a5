/* SPDX-License-Identifier: BSD-3-Clause */
/* Diagnostics: one line each on stderr, "tenon[host:pid] area: text". Log once, where
 * an error stops; parameter mca_base_verbose chooses the level. Any thread. */
#ifndef PX_RT_LOG_H
#define PX_RT_LOG_H

#include "core/base/attr.h"
#include "tenon/services.h"

#include <stdarg.h>
#include <stdbool.h>

/* %m works; errno is kept. Control characters become '?', too long a text ends in
 * "...". */
void px_log(enum px_log_level level, const char *area, const char *fmt, ...)
    PX_PRINTF(3, 4);
void px_vlog(enum px_log_level level, const char *area, const char *fmt, va_list args)
    PX_PRINTF(3, 0);
/* For what is costly to compose. */
bool px_log_wants(enum px_log_level level);

#endif
