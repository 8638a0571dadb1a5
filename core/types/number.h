/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of any type: read wide, compared by worth, written narrow if they fit.
 * Private to core/types. */
#ifndef PX_TYPES_NUMBER_H
#define PX_TYPES_NUMBER_H

#include "core/types/type.h"

enum px_number_kind {
    PX_UNSIGNED,
    PX_NEGATIVE, /* a whole number below zero */
    PX_REAL,
};

/* Whole numbers have one form each, so that equal ones are equal members. */
struct px_number {
    enum px_number_kind kind;
    union {
        uint64_t u;
        int64_t i;
        double d;
    };
};

/* False if the type is not a number (truth values, pointers and times with two parts
 * are not; every enumeration is). */
bool px_number_read(const struct px_type *t, const void *at, struct px_number *n);
/* Stores n at *to. PMIX_ERR_CHANGE_SIGN for a negative number in an unsigned type,
 * PMIX_ERR_LOST_PRECISION if it is out of range (a fraction is cut off),
 * PMIX_ERR_BAD_PARAM if the type is not a number; *to is unchanged then. */
pmix_status_t px_number_write(const struct px_type *t, void *to,
                              const struct px_number *n);
/* <0, 0, >0. Whole numbers and reals compare too; NaN is below everything. */
int px_number_compare(const struct px_number *a, const struct px_number *b);

#endif
