/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounded copies, strict numbers and edit distance; lists of numbers: syntax, limits
 * and output as text. */
#include "alloc_fail.h"
#include "core/base/ranges.h"
#include "core/base/str.h"
#include "px_test.h"

#include <string.h>

PX_TEST(a_copy_is_whole_or_cut_and_ends)
{
    static const char unterminated[4] = {'a', 'b', 'c', 'd'};
    static const struct {
        size_t room;
        const char *src;
        bool fits;
        const char *dst;
    } rows[] = {
        {4, "abc", true, "abc"}, {4, "", true, ""},
        {4, NULL, true, ""},     {4, "abcd", false, "abc"},
        {1, "a", false, ""},     {4, unterminated, false, "abc"},
        {0, "a", false, "wxyz"}, {0, "", false, "wxyz"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        char dst[5] = "wxyz";

        ck_assert_int_eq(px_str_copy(dst, rows[i].room, rows[i].src), rows[i].fits);
        ck_assert_str_eq(dst, rows[i].dst);
    }
}

PX_TEST(strf_formats_into_its_own_memory_or_is_null)
{
    const char *volatile missing = NULL;
    char *made[] = {
        px_strf("%s-%d", "abc", 42), px_strf("%s/%s_", "a", "bc"),
        px_strf("%s", ""),           px_strf("only text"),
        px_strf("%s%%", "100"),      px_strf("%.2s", "abc"),
        px_strf("<%s>", missing),
    };
    const char *expected[] = {"abc-42", "a/bc_", "",        "only text",
                              "100%",   "ab",    "<(null)>"};

    for (size_t i = 0; i < PX_COUNT(made); i++) {
        ck_assert_str_eq(made[i], expected[i]);
        free(made[i]);
    }
    PX_TEST_NEEDS_ALLOC;
    for (int i = 0; i < 2; i++) {
        px_alloc_fail_at(1);
        const char *none = i ? px_strf("%s-%d", "abc", 42) : px_strf("%s-%s", "a", "b");
        ck_assert(px_alloc_fail_end());
        ck_assert_ptr_null(none);
    }
}

PX_TEST(numbers_are_read_within_the_range_asked_for)
{
    static const struct {
        const char *text;
        uint64_t least, most, value; /* value 5: refused */
    } naturals[] = {
        {"0", 0, UINT64_MAX, 0},
        {"007", 0, UINT64_MAX, 7},
        {"0xFf", 0, UINT64_MAX, 255},
        {"18446744073709551615", 0, UINT64_MAX, UINT64_MAX},
        {"18446744073709551616", 0, UINT64_MAX, 5},
        {"99999999999999999999", 0, UINT64_MAX, 5},
        {"0x10000000000000000", 0, UINT64_MAX, 5},
        {"-1", 0, UINT64_MAX, 5},
        {"-0", 0, UINT64_MAX, 5},
        {"9", 10, 20, 5},
        {"10", 10, 20, 10},
        {"21", 10, 20, 5},
    };
    static const struct {
        const char *text;
        int64_t least, most, value;
    } integers[] = {
        {"-0x10", INT64_MIN, INT64_MAX, -16},
        {"-0", INT64_MIN, INT64_MAX, 0},
        {"42", INT64_MIN, INT64_MAX, 42},
        {"9223372036854775807", INT64_MIN, INT64_MAX, INT64_MAX},
        {"9223372036854775808", INT64_MIN, INT64_MAX, 5},
        {"-9223372036854775808", INT64_MIN, INT64_MAX, INT64_MIN},
        {"-9223372036854775809", INT64_MIN, INT64_MAX, 5},
        {"-11", -10, -5, 5},
        {"-10", -10, -5, -10},
        {"-4", -10, -5, 5},
    };

    for (size_t i = 0; i < PX_COUNT(naturals); i++) {
        uint64_t u = 5;
        bool good = px_str_to_u64(naturals[i].text, naturals[i].least, naturals[i].most,
                                  &u);

        ck_assert_msg(good == (u != 5) && u == naturals[i].value, "%s",
                      naturals[i].text);
    }
    for (size_t n = 0; n < PX_COUNT(integers); n++) {
        int64_t i = 5;
        bool good = px_str_to_i64(integers[n].text, integers[n].least, integers[n].most,
                                  &i);

        ck_assert_msg(good == (i != 5) && i == integers[n].value, "%s",
                      integers[n].text);
    }
}

PX_TEST(what_is_not_wholly_a_number_is_refused)
{
    static const char *const bad[] = {
        "",    " 1",   "1 ",  "+1",  "-",   "--1", "1x",  "x",    "0x",  "0X",
        "-0x", "0x-1", "0xg", "1.0", "1e3", "a",   "12a", "0x1x", "\t1", NULL,
    };
    uint64_t u = 3;
    int64_t i = 3;

    for (size_t n = 0; n < PX_COUNT(bad); n++) {
        ck_assert_msg(!px_str_to_u64(bad[n], 0, UINT64_MAX, &u), "'%s'", bad[n]);
        ck_assert_msg(!px_str_to_i64(bad[n], INT64_MIN, INT64_MAX, &i), "'%s'", bad[n]);
    }
    ck_assert(u == 3 && i == 3);
}

PX_TEST(trim_removes_ascii_white_space_at_both_ends_only)
{
    static const char *const rows[][2] = {
        {" \t a b\r\n\v\f", "a b"},
        {"ab", "ab"},
        {" \n ", ""},
        {"", ""},
        {" \xc3\xa0\xc2\xa0 ", "\xc3\xa0\xc2\xa0"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        char text[16];

        strcpy(text, rows[i][0]);
        ck_assert_str_eq(px_str_trim(text), rows[i][1]);
    }
}

PX_TEST(distance_counts_edits_and_transpositions_both_ways)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } rows[] = {
        {"", "", 0},
        {"abc", "abc", 0},
        {"", "abc", 3},
        {"abc", "abd", 1},
        {"abc", "abcd", 1},
        {"abc", "ac", 1},
        {"ba", "ab", 1},
        {"port_mni", "port_min", 1},
        {"kitten", "sitting", 3},
        {"ptl_tcp_prot", "ptl_tcp_port", 1},
        {"usock", "socku", 2},
        {"usock", "uosck", 1},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_uint_eq(px_str_distance(rows[i].a, rows[i].b), rows[i].distance);
        ck_assert_uint_eq(px_str_distance(rows[i].b, rows[i].a), rows[i].distance);
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

/* ---- lists of numbers ------------------------------------------------------------------------ */

/* Asserts that text parses to the n numbers of wanted. */
static void assert_parses(const char *text, const uint32_t *wanted, size_t n)
{
    PX_AUTOFREE uint32_t *v = NULL;
    size_t len = 0;

    ok(px_ranges_parse(text, 100, &v, &len));
    ck_assert_uint_eq(len, n);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(v[i], wanted[i]);
}

PX_TEST(numbers_and_ranges_expand_in_their_order)
{
    assert_parses("5", (const uint32_t[]){5}, 1);
    assert_parses("0-3,8", (const uint32_t[]){0, 1, 2, 3, 8}, 5);
    assert_parses("8,0-1,8", (const uint32_t[]){8, 0, 1, 8}, 4);
    assert_parses("7-7", (const uint32_t[]){7}, 1);
    assert_parses("007", (const uint32_t[]){7}, 1);
    assert_parses("4294967294-4294967295",
                  (const uint32_t[]){UINT32_MAX - 1, UINT32_MAX}, 2);
    assert_parses("", NULL, 0);
}

PX_TEST(bad_syntax_is_refused_and_changes_nothing)
{
    static const char *const bad[] = {
        ",",
        "1,",
        ",1",
        "1,,2",
        "-",
        "1-",
        "-1",
        "3-1",
        "1-2-3",
        "a",
        "1a",
        "1 ",
        " 1",
        "1, 2",
        "0x1",
        "4294967296",
        "1-4294967296",
        "1.5",
        "1;2",
        "+1",
        "1--2",
        "99999999999999999999999999",
        "00000000000000000001",
        NULL,
    };
    PX_AUTOFREE uint32_t *v = NULL;
    size_t n = 0;

    ok(px_ranges_parse("42", 10, &v, &n));
    const uint32_t *before = v;
    for (size_t i = 0; i < PX_COUNT(bad); i++) {
        ck_assert_msg(px_ranges_parse(bad[i], 10, &v, &n) == PMIX_ERR_BAD_PARAM, "'%s'",
                      bad[i]);
        ck_assert_ptr_eq(v, before);
        ck_assert_uint_eq(n, 1);
    }
    ck_assert_uint_eq(v[0], 42);
}

PX_TEST(parsing_appends_and_the_cap_holds_for_all_entries_together)
{
    PX_AUTOFREE uint32_t *v = NULL;
    size_t n = 0;

    ok(px_ranges_parse("0-9", 10, &v, &n));
    ok(px_ranges_parse("", 10, &v, &n));
    fails(px_ranges_parse("7", 10, &v, &n), OUT_OF_RESOURCE);
    fails(px_ranges_parse("7", 5, &v, &n), OUT_OF_RESOURCE);
    ck_assert_uint_eq(n, 10);
    ok(px_ranges_parse("7", 11, &v, &n));
    ck_assert_uint_eq(n, 11);
    ck_assert(v[9] == 9 && v[10] == 7);
}

PX_TEST(a_huge_range_is_refused_before_anything_is_allocated)
{
    uint32_t *v = NULL;
    size_t n = 0;

    PX_TEST_NEEDS_ALLOC;
    px_alloc_fail_at(0);
    pmix_status_t rc = px_ranges_parse("0-4294967295,0-4294967295", 1000000, &v, &n);
    px_alloc_fail_end();

    fails(rc, OUT_OF_RESOURCE);
    ck_assert_uint_eq(px_alloc_count(), 0);
    ck_assert_ptr_null(v);
}

PX_TEST(runs_of_two_or_more_are_formatted_as_ranges)
{
    static const struct {
        uint32_t v[6];
        size_t n;
        const char *text;
    } rows[] = {
        {{0}, 0, ""},
        {{5}, 1, "5"},
        {{0, 1, 2, 3, 8}, 5, "0-3,8"},
        {{3, 4}, 2, "3-4"},
        {{1, 3, 5}, 3, "1,3,5"},
        {{4, 3, 2}, 3, "4,3,2"},
        {{7, 7, 8}, 3, "7,7-8"},
        {{UINT32_MAX - 1, UINT32_MAX, 0, 1}, 4, "4294967294-4294967295,0-1"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE char *text = px_ranges_format(rows[i].v, rows[i].n);

        ck_assert_str_eq(text, rows[i].text);
    }
}

PX_TEST(parsing_what_was_formatted_gives_the_numbers_back)
{
    uint32_t random = 1;

    for (unsigned round = 0; round < 200; round++) {
        uint32_t v[50];
        PX_AUTOFREE uint32_t *parsed = NULL;
        size_t n = 0;

        for (size_t i = 0; i < PX_COUNT(v); i++) {
            random = random * 1664525 + 1013904223;
            v[i] = i > 0 && random >> 30 ? v[i - 1] + 1 : random;
        }
        PX_AUTOFREE char *text = px_ranges_format(v, PX_COUNT(v));
        ok(px_ranges_parse(text, PX_COUNT(v), &parsed, &n));
        ck_assert_uint_eq(n, PX_COUNT(v));
        ck_assert_mem_eq(parsed, v, sizeof(v));
    }
}

PX_TEST(parsing_without_memory_changes_nothing)
{
    PX_AUTOFREE uint32_t *v = NULL;
    size_t n = 0;

    PX_TEST_NEEDS_ALLOC;
    ok(px_ranges_parse("42", 100, &v, &n));
    const uint32_t *before = v;
    for (unsigned nth = 0; px_alloc_next(&nth);)
        if (px_alloc_check(px_ranges_parse("0-50", 100, &v, &n)))
            ck_assert(v == before && n == 1);
}

PX_TEST(formatting_without_memory_is_null)
{
    uint32_t v[100];
    char *text = NULL;

    PX_TEST_NEEDS_ALLOC;
    for (uint32_t i = 0; i < PX_COUNT(v); i++)
        v[i] = 2 * i;
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        text = px_ranges_format(v, PX_COUNT(v));
        px_alloc_check(text ? PMIX_SUCCESS : PMIX_ERR_NOMEM);
    }
    ck_assert_uint_eq(px_alloc_count(), 1);
    free(text);

    px_alloc_fail_at(1);
    text = px_ranges_format(NULL, 0);
    ck_assert(px_alloc_fail_end());
    ck_assert_ptr_null(text);
}

PX_TEST_MAIN("base/str", NULL, NULL)
