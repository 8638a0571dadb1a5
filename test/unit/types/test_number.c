/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of one type made numbers of another. */
#include "core/types/number.h"
#include "px_test.h"

#include <math.h>
#include <string.h>

static struct px_number number_of(pmix_data_type_t id, const void *at)
{
    struct px_number n;

    ck_assert(px_number_read(px_type_find(id), at, &n));
    return n;
}

static struct px_number real(double d)
{
    return number_of(PMIX_DOUBLE, &d);
}

static struct px_number whole(int64_t i)
{
    return number_of(PMIX_INT64, &i);
}

static struct px_number natural(uint64_t u)
{
    return number_of(PMIX_UINT64, &u);
}

PX_TEST(every_integer_type_keeps_its_least_and_greatest)
{
    static const pmix_data_type_t ids[] = {
        PMIX_INT8,   PMIX_INT16,  PMIX_INT32,   PMIX_INT64,     PMIX_UINT8,
        PMIX_UINT16, PMIX_UINT32, PMIX_UINT64,  PMIX_INT,       PMIX_UINT,
        PMIX_SIZE,   PMIX_PID,    PMIX_STATUS,  PMIX_PROC_RANK, PMIX_TIME,
        PMIX_BYTE,   PMIX_SCOPE,  PMIX_DEVTYPE, PMIX_LOCTYPE,
    };

    for (size_t i = 0; i < PX_COUNT(ids); i++) {
        const struct px_type *t = px_type_find(ids[i]);

        for (int bits = 0; bits < 4; bits++) { /* 00.., 01.., 10.., 11.. */
            uint64_t in = bits & 1 ? UINT64_MAX : 0, out = ~in;
            ((uint8_t *)&in)[t->size - 1] ^= bits & 2 ? 0x80 : 0;
            struct px_number n = number_of(ids[i], &in);

            ok(px_number_write(t, &out, &n));
            ck_assert_mem_eq(&in, &out, t->size);
        }
    }
}

PX_TEST(a_number_that_does_not_fit_is_refused_and_nothing_stored)
{
    static const struct {
        pmix_data_type_t id;
        int64_t below, above; /* just outside */
    } limits[] = {
        {PMIX_INT8, -129, 128},
        {PMIX_INT16, -32769, 32768},
        {PMIX_INT32, INT64_C(-2147483649), INT64_C(2147483648)},
        {PMIX_UINT8, -1, 256},
        {PMIX_UINT16, -1, 65536},
        {PMIX_UINT32, -1, INT64_C(4294967296)},
    };

    for (size_t i = 0; i < PX_COUNT(limits); i++) {
        const struct px_type *t = px_type_find(limits[i].id);
        struct px_number below = whole(limits[i].below), above = whole(limits[i].above);
        pmix_status_t sign = limits[i].below == -1 ? PMIX_ERR_CHANGE_SIGN
                                                   : PMIX_ERR_LOST_PRECISION;
        uint64_t stored = 7;

        ck_assert_int_eq(px_number_write(t, &stored, &below), sign);
        fails(px_number_write(t, &stored, &above), LOST_PRECISION);
        ck_assert_uint_eq(stored, 7);
    }
}

PX_TEST(the_fraction_of_a_real_is_cut_off)
{
    struct px_number n = real(-1234.567);
    int32_t i32;
    uint32_t u32;

    ok(px_number_write(px_type_find(PMIX_INT32), &i32, &n));
    ck_assert_int_eq(i32, -1234);
    fails(px_number_write(px_type_find(PMIX_UINT32), &u32, &n), CHANGE_SIGN);
}

PX_TEST(reals_beyond_64_bits_are_refused)
{
    static const double beyond[] = {1e300, -1e300, 18446744073709551616.0, HUGE_VAL,
                                    NAN};
    uint64_t u64;
    int64_t i64;

    for (size_t i = 0; i < PX_COUNT(beyond); i++) {
        struct px_number n = real(beyond[i]);

        fails(px_number_write(px_type_find(PMIX_INT64), &i64, &n), LOST_PRECISION);
        ck_assert_int_ne(px_number_write(px_type_find(PMIX_UINT64), &u64, &n),
                         PMIX_SUCCESS);
    }
    struct px_number most = real(18446744073709549568.0), least = real(-0x1p63);
    ok(px_number_write(px_type_find(PMIX_UINT64), &u64, &most));
    ck_assert_uint_eq(u64, UINT64_C(18446744073709549568));
    ok(px_number_write(px_type_find(PMIX_INT64), &i64, &least));
    ck_assert_int_eq(i64, INT64_MIN);
}

PX_TEST(whole_numbers_become_reals)
{
    struct px_number n = whole(-5);
    float f;
    double d;

    ok(px_number_write(px_type_find(PMIX_FLOAT), &f, &n));
    ok(px_number_write(px_type_find(PMIX_DOUBLE), &d, &n));
    ck_assert(f == -5 && d == -5);
}

PX_TEST(what_is_no_number_is_refused)
{
    static const pmix_data_type_t ids[] = {PMIX_UNDEF,   PMIX_BOOL, PMIX_STRING,
                                           PMIX_POINTER, PMIX_PROC, PMIX_TIMEVAL,
                                           PMIX_VALUE,   PMIX_INFO, PMIX_BYTE_OBJECT};
    struct px_number n, five = whole(5);
    pmix_info_t room = {0};

    for (size_t i = 0; i < PX_COUNT(ids); i++) {
        ck_assert(!px_number_read(px_type_find(ids[i]), &room, &n));
        fails(px_number_write(px_type_find(ids[i]), &room, &five), BAD_PARAM);
    }
}

PX_TEST(numbers_compare_by_worth_whatever_their_types)
{
    struct px_number ascending[] = {real(NAN),  real(-HUGE_VAL),     whole(INT64_MIN),
                                    real(-1.5), whole(-1),           real(-0.5),
                                    natural(0), real(0.5),           natural(1),
                                    whole(2),   natural(UINT64_MAX), real(1e30)};

    for (size_t i = 0; i < PX_COUNT(ascending); i++) {
        ck_assert_int_eq(px_number_compare(&ascending[i], &ascending[i]), 0);
        for (size_t j = 0; j < i; j++) {
            ck_assert_int_lt(px_number_compare(&ascending[j], &ascending[i]), 0);
            ck_assert_int_gt(px_number_compare(&ascending[i], &ascending[j]), 0);
        }
    }
    struct px_number one = whole(1), same = real(1);
    ck_assert_int_eq(px_number_compare(&one, &same), 0);
}

PX_TEST_MAIN("types/number", NULL, NULL)
