/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of constants: one table per enumeration, read by every PMIx_*_string
 * function. */
#ifndef PX_TYPES_NAMES_H
#define PX_TYPES_NAMES_H

#include "pmix_common.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct px_name {
    int64_t value;
    const char *name; /* what the *_string function answers */
};

/* "UNKNOWN" style fallback is the caller's. */
const char *px_name_find(const struct px_name *table, size_t n, int64_t value);
/* The name of a value of an enumerated data type (PMIX_SCOPE, PMIX_STATUS,
 * PMIX_DATA_TYPE, PMIX_PROC_RANK, ...); NULL if the type has no names or none for this
 * value. */
const char *px_name_of(pmix_data_type_t type, int64_t value);
/* Returns the constant of a status with constant, its text without; NULL if unknown.
 * px_name_of takes the form of the release that the library claims. */
const char *px_status_name(pmix_status_t status, bool constant);

#endif
