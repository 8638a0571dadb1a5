/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings: bounded copies, formatting, strict numbers, near names. */
#ifndef PX_BASE_STR_H
#define PX_BASE_STR_H

#include "core/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

/* Copies src (NULL is "") to dst[size] and always terminates dst. False if src was
 * truncated. */
bool px_str_copy(char *dst, size_t size, const char *src);
/* Formats into malloc'd memory. Returns NULL when out of memory. */
char *px_strf(const char *fmt, ...) PX_PRINTF(1, 2);
bool px_str_starts(const char *s, const char *prefix);
/* Parses s as a decimal or 0x number in [min,max], without spaces or a plus sign.
 * Otherwise returns false and leaves *out unchanged. s may be NULL. */
bool px_str_to_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out);
bool px_str_to_i64(const char *s, int64_t min, int64_t max, int64_t *out);
/* Trims white space at both ends in place; returns the new start. */
char *px_str_trim(char *s);
/* Returns the edit distance with transpositions, for "did you mean". Returns SIZE_MAX
 * if either string has more than 64 characters. */
size_t px_str_distance(const char *a, const char *b);

#endif
