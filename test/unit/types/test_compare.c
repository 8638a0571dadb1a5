/* SPDX-License-Identifier: BSD-3-Clause */
/* A total order: of generated objects by its laws, of some by what people expect. */
#include "px_test.h"
#include "sample.h"

#include <math.h>
#include <string.h>

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

PX_TEST(the_order_is_total)
{
    enum { N = 12 };

    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        union sample o[N];

        for (unsigned i = 0; i < N; i++)
            sample_fill(id, &o[i], i);
        for (int i = 0; i < N; i++) {
            ck_assert_int_eq(px_type_compare(id, &o[i], &o[i]), 0);
            for (int j = 0; j < N; j++) {
                int order = sign(px_type_compare(id, &o[i], &o[j]));

                ck_assert_int_eq(order, -sign(px_type_compare(id, &o[j], &o[i])));
                for (int k = 0; k < N && order <= 0; k++)
                    ck_assert(px_type_compare(id, &o[j], &o[k]) > 0 ||
                              px_type_compare(id, &o[i], &o[k]) <= 0);
            }
        }
        for (int i = 0; i < N; i++)
            px_type_destruct(id, &o[i]);
    }
}

/* Prints say all there is to say, except where they cut short. */
PX_TEST(objects_that_print_differently_differ)
{
    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        for (unsigned seed = 1; seed < SAMPLE_SEEDS; seed++) {
            union sample a, b;

            sample_fill(id, &a, seed - 1);
            sample_fill(id, &b, seed);
            char *text_a = px_type_print(id, &a), *text_b = px_type_print(id, &b);

            if (strcmp(text_a, text_b) != 0)
                ck_assert_msg(px_type_compare(id, &a, &b) != 0, "%s\n%s", text_a,
                              text_b);
            free(text_a);
            free(text_b);
            px_type_destruct(id, &a);
            px_type_destruct(id, &b);
        }
    }
}

PX_TEST(numbers_are_ordered_by_worth_and_sign)
{
    int32_t low = -1, high = 1;
    uint32_t small = 1, big = UINT32_MAX;
    int8_t least = -128, most = 127;

    ck_assert_int_lt(px_type_compare(PMIX_INT32, &low, &high), 0);
    ck_assert_int_lt(px_type_compare(PMIX_UINT32, &small, &big), 0);
    ck_assert_int_lt(px_type_compare(PMIX_INT8, &least, &most), 0);
    ck_assert_int_gt(px_type_compare(PMIX_UINT8, &least, &most), 0);
}

PX_TEST(nan_has_a_place_in_the_order)
{
    double nan = NAN, same = NAN, low = -HUGE_VAL;

    ck_assert_int_eq(px_type_compare(PMIX_DOUBLE, &nan, &same), 0);
    ck_assert_int_lt(px_type_compare(PMIX_DOUBLE, &nan, &low), 0);
    ck_assert_int_gt(px_type_compare(PMIX_DOUBLE, &low, &nan), 0);
}

PX_TEST(times_are_ordered_by_seconds_then_microseconds)
{
    struct timeval a = {1, 999999}, b = {2, 0}, c = {2, 1};

    ck_assert_int_lt(px_type_compare(PMIX_TIMEVAL, &a, &b), 0);
    ck_assert_int_lt(px_type_compare(PMIX_TIMEVAL, &b, &c), 0);
}

PX_TEST(what_is_absent_comes_first)
{
    char *none = NULL, *empty = TEXT(""), *text = TEXT("a");

    ck_assert_int_lt(px_type_compare(PMIX_STRING, &none, &empty), 0);
    ck_assert_int_lt(px_type_compare(PMIX_STRING, &empty, &text), 0);
    ck_assert_int_lt(px_type_compare(PMIX_STRING, NULL, &none), 0);
    ck_assert_int_eq(px_type_compare(PMIX_STRING, NULL, NULL), 0);
}

PX_TEST(a_prefix_comes_before_what_it_begins)
{
    pmix_byte_object_t prefix = {TEXT("ab"), 2}, longer = {TEXT("aba"), 3};
    pmix_byte_object_t greater = {TEXT("b"), 1};

    ck_assert_int_lt(px_type_compare(PMIX_BYTE_OBJECT, &prefix, &longer), 0);
    ck_assert_int_lt(px_type_compare(PMIX_BYTE_OBJECT, &longer, &greater), 0);
}

PX_TEST(an_empty_vector_equals_an_absent_one)
{
    char *nothing[] = {NULL};
    pmix_info_t unused;
    pmix_query_t absent = {0}, empty = {.keys = nothing, .qualifiers = &unused};

    ck_assert_int_eq(px_type_compare(PMIX_QUERY, &absent, &empty), 0);
}

PX_TEST(members_that_never_travel_count_too)
{
    pmix_proc_info_t ended = {.exit_code = 1}, fine = {.exit_code = 0};

    ck_assert_int_gt(px_type_compare(PMIX_PROC_INFO, &ended, &fine), 0);
}

PX_TEST(who_owns_the_value_is_no_difference)
{
    pmix_info_t own = {.key = "k"}, lent = {.key = "k", .flags = PMIX_INFO_PERSISTENT};
    pmix_info_t required = {.key = "k", .flags = PMIX_INFO_REQD};

    ck_assert_int_eq(px_type_compare(PMIX_INFO, &own, &lent), 0);
    ck_assert_int_ne(px_type_compare(PMIX_INFO, &own, &required), 0);
}

PX_TEST(values_of_different_types_differ)
{
    pmix_value_t number = {PMIX_UINT32, {.uint32 = 1}},
                 rank = {PMIX_PROC_RANK, {.rank = 1}};

    ck_assert_int_ne(px_type_compare(PMIX_VALUE, &number, &rank), 0);
}

PX_TEST(handles_compare_by_address)
{
    char handles[2];
    pmix_cpuset_t a = {TEXT("other"), &handles[0]}, b = {TEXT("other"), &handles[1]};

    ck_assert_int_lt(px_type_compare(PMIX_PROC_CPUSET, &a, &b), 0);
    ck_assert_int_eq(
        px_type_compare(PMIX_PROC_CPUSET, &a, &(pmix_cpuset_t){a.source, a.bitmap}), 0);
}

PX_TEST_MAIN("types/compare", NULL, NULL)
