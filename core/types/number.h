/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of any type: read wide, compared by value, written narrow if they fit. Part
 * of core/types; core/wire also uses px_load_int and px_store_int. */
#ifndef PX_TYPES_NUMBER_H
#define PX_TYPES_NUMBER_H

#include "core/types/type.h"

#include <string.h>

enum px_number_kind {
    PX_UNSIGNED,
    PX_NEGATIVE, /* an integer below zero */
    PX_REAL,
};

/* A number. Each integer has exactly one representation, so equal integers have equal
 * members. */
struct px_number {
    enum px_number_kind kind;
    union {
        uint64_t u;
        int64_t i;
        double d;
    };
};

/* Loads the integer of 1, 2, 4 or 8 bytes at `at`, and extends its sign if is_signed.
 * With a constant size, this function and px_store_int compile to a few
 * instructions. */
static inline __attribute__((always_inline)) uint64_t px_load_int(const void *at,
                                                                  size_t size,
                                                                  bool is_signed)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;

    switch (size) {
    case 1:
        memcpy(&u8, at, 1);
        return is_signed ? (uint64_t)(int64_t)(int8_t)u8 : u8;
    case 2:
        memcpy(&u16, at, 2);
        return is_signed ? (uint64_t)(int64_t)(int16_t)u16 : u16;
    case 4:
        memcpy(&u32, at, 4);
        return is_signed ? (uint64_t)(int64_t)(int32_t)u32 : u32;
    default:
        memcpy(&u64, at, 8);
        return u64;
    }
}

/* Stores the low bytes, in two's complement like every integer type. */
static inline __attribute__((always_inline)) void px_store_int(void *to, size_t size,
                                                               uint64_t bits)
{
    uint16_t u16 = (uint16_t)bits;
    uint32_t u32 = (uint32_t)bits;

    switch (size) {
    case 1:
        *(uint8_t *)to = (uint8_t)bits;
        break;
    case 2:
        memcpy(to, &u16, 2);
        break;
    case 4:
        memcpy(to, &u32, 4);
        break;
    default:
        memcpy(to, &bits, 8);
    }
}

/* Reads a number of type t. False if t is not a number; truth values, pointers and
 * timevals are not, enumerations are. */
bool px_number_read(const struct px_type *t, const void *at, struct px_number *n);
/* Stores n at *to. Returns PMIX_ERR_CHANGE_SIGN for a negative number in an unsigned
 * type. Returns PMIX_ERR_LOST_PRECISION if n is out of range; fractions are truncated.
 * Returns PMIX_ERR_BAD_PARAM if t is not a number. On failure *to is unchanged. */
pmix_status_t px_number_write(const struct px_type *t, void *to,
                              const struct px_number *n);
/* Returns <0, 0 or >0. Integers and reals compare with each other; NaN is below all
 * numbers. */
int px_number_compare(const struct px_number *a, const struct px_number *b);

#endif
