/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of constants: one table per enumeration, used by all PMIx_*_string
 * functions. */
#ifndef PX_TYPES_NAMES_H
#define PX_TYPES_NAMES_H

#include "pmix_common.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the name of a value of an enumerated data type (PMIX_SCOPE, PMIX_STATUS,
 * PMIX_DATA_TYPE, PMIX_PROC_RANK, ...). NULL if the type or the value has no name. */
const char *px_name_of(pmix_data_type_t type, int64_t value);
/* Returns a status's constant, or its text if constant is false. NULL if unknown.
 * px_name_of uses the form of the claimed release. */
const char *px_status_name(pmix_status_t status, bool constant);

#endif
