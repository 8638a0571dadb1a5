/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers: syntax, caps, and back to text. */
#include "alloc_fail.h"
#include "core/base/ranges.h"
#include "px_test.h"

#include <string.h>

/* Asserts that text parses to the n numbers of wanted. */
static void assert_parses(const char *text, const uint32_t *wanted, size_t n)
{
    PX_AUTOFREE uint32_t *v = NULL;
    size_t len = 0;

    ok(px_ranges_parse(text, 100, &v, &len));
    ck_assert_uint_eq(len, n);
    ck_assert_mem_eq(v, wanted, n * sizeof(*v));
}

PX_TEST(numbers_and_ranges_expand_in_their_order)
{
    assert_parses("5", (const uint32_t[]){5}, 1);
    assert_parses("0-3,8", (const uint32_t[]){0, 1, 2, 3, 8}, 5);
    assert_parses("8,0-1,8", (const uint32_t[]){8, 0, 1, 8}, 4);
    assert_parses("7-7", (const uint32_t[]){7}, 1);
    assert_parses("007", (const uint32_t[]){7}, 1);
}

PX_TEST(the_largest_number_can_be_in_a_range)
{
    assert_parses("4294967294-4294967295",
                  (const uint32_t[]){UINT32_MAX - 1, UINT32_MAX}, 2);
}

PX_TEST(an_empty_text_adds_nothing)
{
    uint32_t *v = NULL;
    size_t n = 0;

    ok(px_ranges_parse("", 0, &v, &n));

    ck_assert_ptr_null(v);
    ck_assert_uint_eq(n, 0);
}

PX_TEST(parsing_appends_to_what_is_there)
{
    PX_AUTOFREE uint32_t *v = NULL;
    size_t n = 0;

    ok(px_ranges_parse("1-2", 10, &v, &n));
    ok(px_ranges_parse("9", 10, &v, &n));

    ck_assert_uint_eq(n, 3);
    ck_assert_mem_eq(v, ((const uint32_t[]){1, 2, 9}), 3 * sizeof(*v));
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

PX_TEST(the_cap_holds_for_all_entries_together)
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
    px_alloc_fail_at(1);
    pmix_status_t rc = px_ranges_parse("0-50", 100, &v, &n);
    bool failed = px_alloc_fail_end();

    ck_assert(failed);
    fails(rc, NOMEM);
    ck_assert_int_eq(px_alloc_balance(), 0);
    ck_assert_ptr_eq(v, before);
    ck_assert_uint_eq(n, 1);
}

PX_TEST(formatting_without_memory_is_null)
{
    uint32_t v[100];
    char *text;

    PX_TEST_NEEDS_ALLOC;
    for (uint32_t i = 0; i < PX_COUNT(v); i++)
        v[i] = 2 * i;
    for (unsigned nth = 1;; nth++) {
        px_alloc_fail_at(nth);
        text = px_ranges_format(v, PX_COUNT(v));
        if (!px_alloc_fail_end())
            break;
        ck_assert_ptr_null(text);
        ck_assert_int_eq(px_alloc_balance(), 0);
    }
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_gt(px_alloc_count(), 1);
    free(text);

    px_alloc_fail_at(1);
    text = px_ranges_format(NULL, 0);
    ck_assert(px_alloc_fail_end());
    ck_assert_ptr_null(text);
}

PX_TEST_MAIN("base/ranges", NULL, NULL)
