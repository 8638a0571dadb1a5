/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of any type. Hosts use different types for a key, so readers convert. */
#include "core/types/number.h"

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
    return t->id == PMIX_INT8 || t->store == PX_INT16 || t->store == PX_INT32 ||
           t->store == PX_INT64 || t->store == PX_INT || t->store == PX_PID ||
           t->store == PX_TIME;
}

static bool is_integer(const struct px_type *t)
{
    return t->store >= PX_BYTE1 && t->store <= PX_TIME;
}

bool px_number_read(const struct px_type *t, const void *at, struct px_number *n)
{
    float f;

    if (t->store == PX_FLOAT) {
        memcpy(&f, at, sizeof(f));
        *n = (struct px_number){.kind = PX_REAL, .d = f};
    } else if (t->store == PX_DOUBLE) {
        n->kind = PX_REAL;
        memcpy(&n->d, at, sizeof(n->d));
    } else if (is_integer(t)) {
        uint64_t bits = px_load_int(at, t->size, is_signed(t));
        *n = is_signed(t) ? whole((int64_t)bits)
                          : (struct px_number){.kind = PX_UNSIGNED, .u = bits};
    } else {
        return false;
    }
    return true;
}

static double as_real(const struct px_number *n)
{
    return n->kind == PX_UNSIGNED   ? (double)n->u
           : n->kind == PX_NEGATIVE ? (double)n->i
                                    : n->d;
}

static pmix_status_t write_integer(const struct px_type *t, void *to,
                                   const struct px_number *n)
{
    uint64_t max = UINT64_MAX >> (64 - 8 * t->size + is_signed(t));
    struct px_number cut = *n;
    double d = as_real(n);

    if (!is_signed(t) && d < 0)
        return PMIX_ERR_CHANGE_SIGN;
    if (n->kind == PX_REAL) {              /* the integer part must fit in 64 bits */
        if (!(d < TWO_64 && d >= -TWO_63)) /* also true for NaN */
            return PMIX_ERR_LOST_PRECISION;
        cut = d < 0 ? whole((int64_t)d)
                    : (struct px_number){.kind = PX_UNSIGNED, .u = (uint64_t)d};
    }
    /* A negative number's distance from -1 has the same limit. */
    if (cut.kind == PX_NEGATIVE ? (uint64_t) - (cut.i + 1) > max : cut.u > max)
        return PMIX_ERR_LOST_PRECISION;
    px_store_int(to, t->size, cut.u);
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
    else
        return is_integer(t) ? write_integer(t, to, n) : PMIX_ERR_BAD_PARAM;
    return PMIX_SUCCESS;
}

int px_number_compare(const struct px_number *a, const struct px_number *b)
{
    double left = as_real(a), right = as_real(b);

    if (a->kind == PX_REAL || b->kind == PX_REAL)
        return left != left || right != right /* NaN */
                   ? (left == left) - (right == right)
                   : (left > right) - (left < right);
    if (a->kind != b->kind)
        return a->kind == PX_NEGATIVE ? -1 : 1;
    if (a->kind == PX_NEGATIVE)
        return (a->i > b->i) - (a->i < b->i);
    return (a->u > b->u) - (a->u < b->u);
}
