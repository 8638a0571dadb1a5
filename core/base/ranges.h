/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers such as "0-3,8": a parser with a cap on the count, and a
 * formatter. */
#ifndef PX_BASE_RANGES_H
#define PX_BASE_RANGES_H

#include "core/base/attr.h"
#include "pmix_common.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads a number of at most 19 digits, so that value cannot overflow. Returns its end,
 * or NULL if the number is missing or too large. */
static inline const char *px_number_take(const char *at, const char *end, uint32_t *out)
{
    const char *begin = at, *most = end - at > 19 ? at + 19 : end;
    uint64_t value = 0;

    for (; at < most && (unsigned)(*at - '0') < 10; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    *out = (uint32_t)value;
    return at > begin && value <= UINT32_MAX ? at : NULL;
}

/* Reads the next "a" or "a-b" and the comma after it. The list ends at end or at ';'.
 * False at the end and on bad syntax, such as a trailing comma. */
static inline bool px_ranges_next(const char **s, const char *end, uint32_t *first,
                                  uint32_t *last)
{
    const char *at = px_number_take(*s, end, first);

    *last = *first;
    if (at && at < end && *at == '-')
        at = px_number_take(at + 1, end, last);
    if (!at || *last < *first || (at < end && *at != ';' && *at++ != ',') ||
        (at[-1] == ',' && (at == end || *at == ';')))
        return false;
    *s = at;
    return true;
}

/* Appends the numbers to *out (malloc'd, *n entries); "" adds none. Returns
 * PMIX_ERR_BAD_PARAM on bad syntax: a descending range, junk or white space. Returns
 * PMIX_ERR_OUT_OF_RESOURCE if *n would exceed max. On failure *out and *n are
 * unchanged. */
pmix_status_t px_ranges_parse(const char *s, size_t max, uint32_t **out, size_t *n);
/* Write "a", or "a" or "a-b", without a NUL, and return the end of the text. */
char *px_number_put(char *out, uint32_t number);
char *px_range_put(char *out, uint32_t first, uint32_t last);
/* Formats the numbers in the given order as "0-3,8"; malloc'd, "" for none. Runs of two
 * or more consecutive numbers become a-b. */
char *px_ranges_format(const uint32_t *v, size_t n);

#endif
