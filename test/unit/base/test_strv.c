/* SPDX-License-Identifier: BSD-3-Clause */
/* String vectors: editing, splitting and joining. */
#include "alloc_fail.h"
#include "core/base/strv.h"
#include "px_test.h"

#include <string.h>

/* Asserts that v is exactly the strings of "a|b|c"; "" is an empty vector. */
static void assert_is(char *const *v, const char *wanted)
{
    PX_AUTOFREE char *joined = px_strv_join(v, '|');

    ck_assert_ptr_nonnull(joined);
    ck_assert_str_eq(joined, wanted);
}

PX_TEST(null_is_an_empty_vector)
{
    char *none[] = {NULL};

    ck_assert_uint_eq(px_strv_count(NULL), 0);
    ck_assert_uint_eq(px_strv_count(none), 0);
    ck_assert(!px_strv_has(NULL, "a"));
    px_strv_free(NULL);
}

PX_TEST(append_and_prepend_copy_to_their_end)
{
    PX_AUTO(px_strv) v = NULL;
    char text[] = "b";

    ok(px_strv_append(&v, text));
    text[0] = 'x';
    ok(px_strv_append(&v, "c"));
    ok(px_strv_prepend(&v, "a"));

    assert_is(v, "a|b|c");
    ck_assert_uint_eq(px_strv_count(v), 3);
}

PX_TEST(prepend_to_nothing_makes_a_vector)
{
    PX_AUTO(px_strv) v = NULL;

    ok(px_strv_prepend(&v, "a"));

    assert_is(v, "a");
}

PX_TEST(an_element_of_the_vector_can_be_added_to_it)
{
    PX_AUTO(px_strv) v = px_strv_split("a,b", ',', false);

    ok(px_strv_append(&v, v[0]));
    ok(px_strv_prepend(&v, v[1]));

    assert_is(v, "b|a|b|a");
}

PX_TEST(append_unique_adds_only_what_is_new)
{
    PX_AUTO(px_strv) v = NULL;

    ok(px_strv_append_unique(&v, "a"));
    ok(px_strv_append_unique(&v, "b"));
    ok(px_strv_append_unique(&v, "a"));

    assert_is(v, "a|b");
}

PX_TEST(has_compares_whole_strings)
{
    PX_AUTO(px_strv) v = px_strv_split("abc,b", ',', false);

    ck_assert(px_strv_has(v, "abc"));
    ck_assert(px_strv_has(v, "b"));
    ck_assert(!px_strv_has(v, "ab"));
    ck_assert(!px_strv_has(v, "abcd"));
    ck_assert(!px_strv_has(v, ""));
}

PX_TEST(split_drops_empty_fields)
{
    PX_AUTO(px_strv) v = px_strv_split(",a,,bc,", ',', false);

    ck_assert_uint_eq(px_strv_count(v), 2);
    assert_is(v, "a|bc");
}

PX_TEST(split_keeps_empty_fields_when_asked)
{
    PX_AUTO(px_strv) v = px_strv_split(",a,,bc,", ',', true);
    PX_AUTO(px_strv) of_empty = px_strv_split("", ',', true);

    ck_assert_uint_eq(px_strv_count(v), 5);
    assert_is(v, "|a||bc|");
    ck_assert_uint_eq(px_strv_count(of_empty), 1);
    ck_assert_str_eq(of_empty[0], "");
}

PX_TEST(split_of_no_field_is_null)
{
    ck_assert_ptr_null(px_strv_split("", ',', false));
    ck_assert_ptr_null(px_strv_split(",,,", ',', false));
    ck_assert_ptr_null(px_strv_split(NULL, ',', false));
    ck_assert_ptr_null(px_strv_split(NULL, ',', true));
}

PX_TEST(split_with_empty_fields_is_undone_by_join)
{
    static const char *const texts[] = {"", ":", "::", "a", ":a", "a:", "a:b", "a::b:"};

    for (size_t i = 0; i < PX_COUNT(texts); i++) {
        PX_AUTO(px_strv) v = px_strv_split(texts[i], ':', true);
        PX_AUTOFREE char *joined = px_strv_join(v, ':');

        ck_assert_str_eq(joined, texts[i]);
    }
}

PX_TEST(a_separator_beyond_ascii_splits_too)
{
    PX_AUTO(px_strv)
    v = px_strv_split("a\xff"
                      "b",
                      0xff, false);

    assert_is(v, "a|b");
}

PX_TEST(join_of_nothing_is_an_empty_string)
{
    char *none[] = {NULL};
    PX_AUTOFREE char *of_null = px_strv_join(NULL, ',');
    PX_AUTOFREE char *of_none = px_strv_join(none, ',');

    ck_assert_str_eq(of_null, "");
    ck_assert_str_eq(of_none, "");
}

PX_TEST(dup_is_deep)
{
    char a[] = "a";
    char *of[] = {a, NULL};
    PX_AUTO(px_strv) copy = px_strv_dup(of);

    a[0] = 'x';

    assert_is(copy, "a");
    ck_assert_ptr_null(px_strv_dup(NULL));
}

PX_TEST(dup_of_an_empty_vector_is_an_empty_vector)
{
    char *none[] = {NULL};
    PX_AUTO(px_strv) copy = px_strv_dup(none);

    ck_assert_ptr_nonnull(copy);
    ck_assert_ptr_null(copy[0]);
}

PX_TEST(cleanup_may_be_repeated)
{
    px_strv v = px_strv_split("a", ',', false);

    px_strv_cleanup(&v);
    ck_assert_ptr_null(v);
    px_strv_cleanup(&v);
}

PX_TEST(adding_without_memory_changes_nothing)
{
    typedef pmix_status_t (*add_fn)(char ***, const char *);
    static const add_fn add[] = {px_strv_append, px_strv_prepend,
                                 px_strv_append_unique};

    PX_TEST_NEEDS_ALLOC;
    for (size_t i = 0; i < PX_COUNT(add); i++) {
        PX_AUTO(px_strv) v = px_strv_split("a,b", ',', false);
        pmix_status_t rc;

        for (unsigned nth = 1;; nth++) {
            char **before = v;
            px_alloc_fail_at(nth);
            rc = add[i](&v, "c");
            if (!px_alloc_fail_end())
                break;
            fails(rc, NOMEM);
            ck_assert_int_eq(px_alloc_balance(), 0);
            ck_assert_ptr_eq(v, before);
            assert_is(v, "a|b");
        }
        ok(rc);
        ck_assert_uint_eq(px_strv_count(v), 3);
        ck_assert_uint_eq(px_alloc_count(), 2);
    }
}

PX_TEST(split_dup_and_join_without_memory_are_null_and_leak_nothing)
{
    PX_AUTO(px_strv) v = NULL;

    PX_TEST_NEEDS_ALLOC;
    for (unsigned nth = 1;; nth++) {
        px_alloc_fail_at(nth);
        v = px_strv_split("a,b,c", ',', false);
        if (!px_alloc_fail_end())
            break;
        ck_assert_ptr_null(v);
        ck_assert_int_eq(px_alloc_balance(), 0);
    }
    assert_is(v, "a|b|c");
    for (unsigned nth = 1;; nth++) {
        px_alloc_fail_at(nth);
        PX_AUTO(px_strv) copy = px_strv_dup(v);
        if (!px_alloc_fail_end())
            break;
        ck_assert_ptr_null(copy);
        ck_assert_int_eq(px_alloc_balance(), 0);
    }
    px_alloc_fail_at(1);
    char *joined = px_strv_join(v, ',');
    ck_assert(px_alloc_fail_end());
    ck_assert_ptr_null(joined);
}

PX_TEST(a_hundred_thousand_fields_are_split_in_one_go)
{
    enum { N = 100000 };
    char *text = malloc(2 * N);

    for (size_t i = 0; i < N; i++) {
        text[2 * i] = 'n';
        text[2 * i + 1] = ',';
    }
    text[2 * N - 1] = '\0';
    PX_AUTO(px_strv) v = px_strv_split(text, ',', false);
    PX_AUTOFREE char *joined = px_strv_join(v, ',');

    ck_assert_uint_eq(px_strv_count(v), N);
    ck_assert_str_eq(joined, text);
    free(text);
}

PX_TEST_MAIN("base/strv", NULL, NULL)
