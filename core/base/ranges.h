/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers as "0-3,8": parse with a cap on what they expand to, and format. */
#ifndef PX_BASE_RANGES_H
#define PX_BASE_RANGES_H

#include "core/base/attr.h"
#include "pmix_common.h"

#include <stdint.h>

/* Appends to *out (malloc'd, *n entries). PMIX_ERR_BAD_PARAM on bad syntax (a
 * descending range, junk, white space), PMIX_ERR_OUT_OF_RESOURCE beyond max entries in
 * all, those that *out came with included. "" adds nothing; on failure *out and *n are
 * unchanged. */
pmix_status_t px_ranges_parse(const char *s, size_t max, uint32_t **out, size_t *n);
/* "0-3,8" of the numbers in their order; malloc'd, "" for none. Runs of two or more
 * consecutive numbers become a-b. */
char *px_ranges_format(const uint32_t *v, size_t n);

#endif
