/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers as "0-3,8": parse with a cap on what they expand to, and format. */
#ifndef PX_BASE_RANGES_H
#define PX_BASE_RANGES_H

#include "core/base/attr.h"
#include "pmix_common.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads a number; returns where it ends, NULL if there is none, or too large a one. */
static inline const char *px_number_take(const char *at, const char *end, uint32_t *out)
{
    const char *begin = at;
    uint64_t value = 0;

    for (; at < end && (unsigned)(*at - '0') < 10 && value <= UINT32_MAX; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    *out = (uint32_t)value;
    return at > begin && value <= UINT32_MAX ? at : NULL;
}

/* The next "a" or "a-b" of a list that ends before end, or a ';', and the comma behind
 * it, which must have something behind it in turn; false on bad syntax, and at the
 * end. */
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

/* Appends to *out (malloc'd, *n entries). PMIX_ERR_BAD_PARAM on bad syntax (a
 * descending range, junk, white space), PMIX_ERR_OUT_OF_RESOURCE beyond max entries in
 * all, those that *out came with included. "" adds nothing; on failure *out and *n are
 * unchanged. */
pmix_status_t px_ranges_parse(const char *s, size_t max, uint32_t **out, size_t *n);
/* Writes "a", or "a" or "a-b", without a NUL; returns its end. */
char *px_number_put(char *out, uint32_t number);
char *px_range_put(char *out, uint32_t first, uint32_t last);
/* "0-3,8" of the numbers in their order; malloc'd, "" for none. Runs of two or more
 * consecutive numbers become a-b. */
char *px_ranges_format(const uint32_t *v, size_t n);

#endif
