/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of any type. Hosts differ in the type they give a key, so readers convert. */
#include "core/types/number.h"

#include <string.h>

/* 2^63 and 2^64 are exact as doubles; INT64_MAX and UINT64_MAX are not. */
#define TWO_63 9223372036854775808.0
#define TWO_64 18446744073709551616.0

static struct px_number whole(int64_t i)
{
    if (i < 0)
        return (struct px_number){.kind = PX_NEGATIVE, .i = i};
    return (struct px_number){.kind = PX_UNSIGNED, .u = (uint64_t)i};
}

static bool is_signed(const struct px_type *t)
{
    switch (t->store) {
    case PX_BYTE1:
        return t->id == PMIX_INT8;
    case PX_INT16:
    case PX_INT32:
    case PX_INT64:
    case PX_INT:
    case PX_PID:
    case PX_TIME:
        return true;
    default:
        return false;
    }
}

static bool is_integer(const struct px_type *t)
{
    switch (t->store) {
    case PX_BYTE1:
    case PX_UINT16:
    case PX_UINT32:
    case PX_UINT64:
    case PX_UINT:
    case PX_SIZE:
        return true;
    default:
        return is_signed(t);
    }
}

static int64_t read_signed(const void *at, size_t size)
{
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;

    switch (size) {
    case sizeof(i8):
        memcpy(&i8, at, sizeof(i8));
        return i8;
    case sizeof(i16):
        memcpy(&i16, at, sizeof(i16));
        return i16;
    case sizeof(i32):
        memcpy(&i32, at, sizeof(i32));
        return i32;
    default:
        memcpy(&i64, at, sizeof(i64));
        return i64;
    }
}

static uint64_t mask_of(size_t size)
{
    return size < sizeof(uint64_t) ? (UINT64_C(1) << (8 * size)) - 1 : UINT64_MAX;
}

bool px_number_read(const struct px_type *t, const void *at, struct px_number *n)
{
    float f;

    if (t->store == PX_FLOAT) {
        memcpy(&f, at, sizeof(f));
        *n = (struct px_number){.kind = PX_REAL, .d = f};
        return true;
    }
    if (t->store == PX_DOUBLE) {
        n->kind = PX_REAL;
        memcpy(&n->d, at, sizeof(n->d));
        return true;
    }
    if (!is_integer(t))
        return false;
    int64_t i = read_signed(at, t->size);
    if (is_signed(t))
        *n = whole(i);
    else
        *n = (struct px_number){.kind = PX_UNSIGNED,
                                .u = (uint64_t)i & mask_of(t->size)};
    return true;
}

/* The whole part of a real, if 64 bits can hold it. */
static bool truncate_real(double d, struct px_number *n)
{
    if (!(d < TWO_64 && d >= -TWO_63)) /* false for NaN too */
        return false;
    if (d < 0)
        *n = whole((int64_t)d);
    else
        *n = (struct px_number){.kind = PX_UNSIGNED, .u = (uint64_t)d};
    return true;
}

static double as_real(const struct px_number *n)
{
    switch (n->kind) {
    case PX_UNSIGNED:
        return (double)n->u;
    case PX_NEGATIVE:
        return (double)n->i;
    default:
        return n->d;
    }
}

/* Two's complement of the low bytes, which is what every integer type stores. */
static void write_low_bytes(void *to, size_t size, uint64_t bits)
{
    uint8_t b8 = (uint8_t)bits;
    uint16_t b16 = (uint16_t)bits;
    uint32_t b32 = (uint32_t)bits;

    switch (size) {
    case sizeof(b8):
        memcpy(to, &b8, sizeof(b8));
        break;
    case sizeof(b16):
        memcpy(to, &b16, sizeof(b16));
        break;
    case sizeof(b32):
        memcpy(to, &b32, sizeof(b32));
        break;
    default:
        memcpy(to, &bits, sizeof(bits));
    }
}

static pmix_status_t write_integer(const struct px_type *t, void *to,
                                   const struct px_number *n)
{
    uint64_t max = is_signed(t) ? mask_of(t->size) >> 1 : mask_of(t->size);
    struct px_number cut = *n;
    double d = as_real(n);

    if (!is_signed(t) && d < 0)
        return PMIX_ERR_CHANGE_SIGN;
    if (n->kind == PX_REAL && !truncate_real(d, &cut))
        return PMIX_ERR_LOST_PRECISION;
    /* -1 is as far from -(max + 1) as 0 is from max. */
    if (cut.kind == PX_NEGATIVE ? (uint64_t) - (cut.i + 1) > max : cut.u > max)
        return PMIX_ERR_LOST_PRECISION;
    write_low_bytes(to, t->size, cut.u);
    return PMIX_SUCCESS;
}

pmix_status_t px_number_write(const struct px_type *t, void *to,
                              const struct px_number *n)
{
    double d = as_real(n);
    float f = (float)d;

    if (t->store == PX_FLOAT)
        memcpy(to, &f, sizeof(f));
    else if (t->store == PX_DOUBLE)
        memcpy(to, &d, sizeof(d));
    else if (is_integer(t))
        return write_integer(t, to, n);
    else
        return PMIX_ERR_BAD_PARAM;
    return PMIX_SUCCESS;
}

static int compare_reals(double a, double b)
{
    if (a != a || b != b) /* NaN */
        return (a == a) - (b == b);
    return (a > b) - (a < b);
}

int px_number_compare(const struct px_number *a, const struct px_number *b)
{
    if (a->kind == PX_REAL || b->kind == PX_REAL)
        return compare_reals(as_real(a), as_real(b));
    if (a->kind != b->kind)
        return a->kind == PX_NEGATIVE ? -1 : 1;
    if (a->kind == PX_NEGATIVE)
        return (a->i > b->i) - (a->i < b->i);
    return (a->u > b->u) - (a->u < b->u);
}
