/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounded copies, strict numbers, edit distance. */
#include "alloc_fail.h"
#include "core/base/str.h"
#include "px_test.h"

#include <string.h>

PX_TEST(copy_of_what_fits_is_whole)
{
    char dst[4] = "zzz";

    ck_assert(px_str_copy(dst, sizeof(dst), "abc"));
    ck_assert_str_eq(dst, "abc");
    ck_assert(px_str_copy(dst, sizeof(dst), ""));
    ck_assert_str_eq(dst, "");
}

PX_TEST(copy_cuts_what_is_too_long_says_so_and_terminates)
{
    char dst[5] = "wxyz";

    ck_assert(!px_str_copy(dst, 4, "abcd"));
    ck_assert_mem_eq(dst, "abc\0", 5);
    ck_assert(!px_str_copy(dst, 1, "a"));
    ck_assert_str_eq(dst, "");
}

PX_TEST(copy_to_no_space_touches_nothing)
{
    char dst[1] = {'x'};

    ck_assert(!px_str_copy(dst, 0, "a"));
    ck_assert(!px_str_copy(dst, 0, ""));
    ck_assert_int_eq(dst[0], 'x');
}

PX_TEST(copy_of_null_is_empty)
{
    char dst[4] = "abc";

    ck_assert(px_str_copy(dst, sizeof(dst), NULL));
    ck_assert_str_eq(dst, "");
}

PX_TEST(copy_reads_no_more_of_the_source_than_it_may_keep)
{
    const char unterminated[4] = {'a', 'b', 'c', 'd'};
    char dst[4];

    ck_assert(!px_str_copy(dst, sizeof(dst), unterminated));
    ck_assert_str_eq(dst, "abc");
}

PX_TEST(strf_formats_into_its_own_memory)
{
    PX_AUTOFREE char *s = px_strf("%s-%d", "abc", 42);

    ck_assert_str_eq(s, "abc-42");
}

PX_TEST(strf_without_memory_is_null)
{
    PX_TEST_NEEDS_ALLOC;
    px_alloc_fail_at(1);
    char *s = px_strf("%s-%d", "abc", 42);
    bool failed = px_alloc_fail_end();

    ck_assert(failed);
    ck_assert_ptr_null(s);
}

PX_TEST(starts_compares_the_whole_prefix)
{
    ck_assert(px_str_starts("pmix.job", "pmix."));
    ck_assert(px_str_starts("pmix", "pmix"));
    ck_assert(px_str_starts("pmix", ""));
    ck_assert(!px_str_starts("pmi", "pmix"));
    ck_assert(!px_str_starts("", "p"));
}

PX_TEST(decimal_and_hexadecimal_numbers_are_read)
{
    uint64_t u = 1;
    int64_t i = 1;

    ck_assert(px_str_to_u64("0", 0, UINT64_MAX, &u) && u == 0);
    ck_assert(px_str_to_u64("007", 0, UINT64_MAX, &u) && u == 7);
    ck_assert(px_str_to_u64("0xFf", 0, UINT64_MAX, &u) && u == 255);
    ck_assert(px_str_to_i64("-0x10", INT64_MIN, INT64_MAX, &i) && i == -16);
    ck_assert(px_str_to_i64("-0", INT64_MIN, INT64_MAX, &i) && i == 0);
    ck_assert(px_str_to_i64("42", INT64_MIN, INT64_MAX, &i) && i == 42);
}

PX_TEST(numbers_reach_the_limits_of_their_type_and_no_further)
{
    uint64_t u = 5;
    int64_t i = 5;

    ck_assert(!px_str_to_u64("18446744073709551616", 0, UINT64_MAX, &u));
    ck_assert(!px_str_to_u64("99999999999999999999", 0, UINT64_MAX, &u));
    ck_assert(!px_str_to_u64("0x10000000000000000", 0, UINT64_MAX, &u));
    ck_assert(!px_str_to_i64("9223372036854775808", INT64_MIN, INT64_MAX, &i));
    ck_assert(!px_str_to_i64("-9223372036854775809", INT64_MIN, INT64_MAX, &i));
    ck_assert_uint_eq(u, 5);
    ck_assert_int_eq(i, 5);

    ck_assert(px_str_to_u64("18446744073709551615", 0, UINT64_MAX, &u));
    ck_assert_uint_eq(u, UINT64_MAX);
    ck_assert(px_str_to_i64("9223372036854775807", INT64_MIN, INT64_MAX, &i));
    ck_assert_int_eq(i, INT64_MAX);
    ck_assert(px_str_to_i64("-9223372036854775808", INT64_MIN, INT64_MAX, &i));
    ck_assert_int_eq(i, INT64_MIN);
}

PX_TEST(numbers_outside_the_range_asked_for_are_refused)
{
    uint64_t u = 7;
    int64_t i = 7;

    ck_assert(!px_str_to_u64("9", 10, 20, &u));
    ck_assert(!px_str_to_u64("21", 10, 20, &u));
    ck_assert(!px_str_to_i64("-11", -10, -5, &i));
    ck_assert(!px_str_to_i64("-4", -10, -5, &i));
    ck_assert_uint_eq(u, 7);
    ck_assert_int_eq(i, 7);

    ck_assert(px_str_to_u64("10", 10, 20, &u) && u == 10);
    ck_assert(px_str_to_i64("-10", -10, -5, &i) && i == -10);
}

PX_TEST(what_is_not_wholly_a_number_is_refused)
{
    static const char *const bad[] = {
        "",    " 1",   "1 ",  "+1",  "-",   "--1", "1x",  "x",    "0x",  "0X",
        "-0x", "0x-1", "0xg", "1.0", "1e3", "a",   "12a", "0x1x", "\t1", NULL,
    };
    uint64_t u = 3;
    int64_t i = 3;

    for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
        ck_assert_msg(!px_str_to_u64(bad[n], 0, UINT64_MAX, &u), "'%s'", bad[n]);
        ck_assert_msg(!px_str_to_i64(bad[n], INT64_MIN, INT64_MAX, &i), "'%s'", bad[n]);
    }
    ck_assert(!px_str_to_u64("-1", 0, UINT64_MAX, &u));
    ck_assert(!px_str_to_u64("-0", 0, UINT64_MAX, &u));
    ck_assert_uint_eq(u, 3);
    ck_assert_int_eq(i, 3);
}

PX_TEST(trim_removes_white_space_at_both_ends_only)
{
    char both[] = " \t a b\r\n\v\f";
    char none[] = "ab";
    char only[] = " \n ";
    char empty[] = "";

    ck_assert_str_eq(px_str_trim(both), "a b");
    ck_assert_str_eq(px_str_trim(none), "ab");
    ck_assert_str_eq(px_str_trim(only), "");
    ck_assert_str_eq(px_str_trim(empty), "");
}

PX_TEST(trim_leaves_bytes_beyond_ascii_alone)
{
    char utf8[] = " \xc3\xa0\xc2\xa0 ";

    ck_assert_str_eq(px_str_trim(utf8), "\xc3\xa0\xc2\xa0");
}

PX_TEST(distance_counts_edits_and_transpositions)
{
    ck_assert_uint_eq(px_str_distance("", ""), 0);
    ck_assert_uint_eq(px_str_distance("abc", "abc"), 0);
    ck_assert_uint_eq(px_str_distance("", "abc"), 3);
    ck_assert_uint_eq(px_str_distance("abc", ""), 3);
    ck_assert_uint_eq(px_str_distance("abc", "abd"), 1);
    ck_assert_uint_eq(px_str_distance("abc", "abcd"), 1);
    ck_assert_uint_eq(px_str_distance("abc", "ac"), 1);
    ck_assert_uint_eq(px_str_distance("port_mni", "port_min"), 1);
    ck_assert_uint_eq(px_str_distance("ba", "ab"), 1);
    ck_assert_uint_eq(px_str_distance("kitten", "sitting"), 3);
    ck_assert_uint_eq(px_str_distance("ptl_tcp_prot", "ptl_tcp_port"), 1);
}

PX_TEST(distance_is_symmetric)
{
    static const char *const words[] = {"usock", "socku", "tcp", "", "ptl", "uosck"};

    for (size_t i = 0; i < PX_COUNT(words); i++) {
        for (size_t j = 0; j < PX_COUNT(words); j++)
            ck_assert_uint_eq(px_str_distance(words[i], words[j]),
                              px_str_distance(words[j], words[i]));
    }
}

PX_TEST(distance_gives_up_beyond_64_characters)
{
    char a[66] = {0};
    char b[66] = {0};

    memset(a, 'a', 64);
    memset(b, 'b', 64);
    ck_assert_uint_eq(px_str_distance(a, b), 64);
    a[64] = 'a';
    ck_assert_uint_eq(px_str_distance(a, b), SIZE_MAX);
    ck_assert_uint_eq(px_str_distance(b, a), SIZE_MAX);
    ck_assert_uint_eq(px_str_distance(a, a), SIZE_MAX);
}

PX_TEST_MAIN("base/str", NULL, NULL)
