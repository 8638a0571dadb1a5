/* SPDX-License-Identifier: BSD-3-Clause */
/* String vectors and environments by their public names. */
#include "alloc_fail.h"
#include "core/base/strv.h"
#include "px_test.h"

#include <string.h>

static void assert_split(const char *s, bool keep_empty, const char *expected)
{
    PX_AUTO(px_strv) argv = PMIx_Argv_split_inter(s, ',', keep_empty);
    PX_AUTOFREE char *joined = PMIx_Argv_join(argv, '|');

    ck_assert_str_eq(joined, expected);
}

PX_TEST(vectors_grow_at_both_ends)
{
    PX_AUTO(px_strv) argv = NULL;

    ok(PMIx_Argv_append_nosize(&argv, "b"));
    ok(PMIx_Argv_append_nosize(&argv, "b"));
    ok(PMIx_Argv_prepend_nosize(&argv, "a"));
    ok(PMIx_Argv_append_unique_nosize(&argv, "b"));
    ok(PMIx_Argv_append_unique_nosize(&argv, "c"));

    PX_AUTOFREE char *joined = PMIx_Argv_join(argv, ' ');
    ck_assert_str_eq(joined, "a b b c");
    ck_assert_int_eq(PMIx_Argv_count(argv), 4);
}

PX_TEST(splitting_leaves_out_or_keeps_empty_parts)
{
    assert_split("a,,b,", false, "a|b");
    assert_split("a,,b,", true, "a||b");
    assert_split(",a", true, "|a");
    assert_split("abc", true, "abc");

    PX_AUTO(px_strv) plain = PMIx_Argv_split("a,,b", ',');
    PX_AUTO(px_strv) all = PMIx_Argv_split_with_empty("a,,b", ',');
    ck_assert_int_eq(PMIx_Argv_count(plain), 2);
    ck_assert_int_eq(PMIx_Argv_count(all), 3);
}

PX_TEST(splitting_nothing_gives_null)
{
    ck_assert_ptr_null(PMIx_Argv_split("", ','));
    ck_assert_ptr_null(PMIx_Argv_split(NULL, ','));
    ck_assert_ptr_null(PMIx_Argv_split(",,", ','));
    ck_assert_ptr_null(PMIx_Argv_split_with_empty("", ','));
    ck_assert_ptr_null(PMIx_Argv_split_with_empty(NULL, ','));
}

PX_TEST(null_is_an_empty_vector)
{
    PX_AUTOFREE char *joined = PMIx_Argv_join(NULL, ',');

    ck_assert_str_eq(joined, "");
    ck_assert_int_eq(PMIx_Argv_count(NULL), 0);
    ck_assert_ptr_null(PMIx_Argv_copy(NULL));
    PMIx_Argv_free(NULL);
}

PX_TEST(null_arguments_are_bad_parameters)
{
    char **argv = NULL;

    fails(PMIx_Argv_append_nosize(NULL, "a"), BAD_PARAM);
    fails(PMIx_Argv_append_nosize(&argv, NULL), BAD_PARAM);
    fails(PMIx_Argv_prepend_nosize(&argv, NULL), BAD_PARAM);
    fails(PMIx_Argv_append_unique_nosize(&argv, NULL), BAD_PARAM);
    fails(PMIx_Setenv(NULL, "x", true, &argv), BAD_PARAM);
    fails(PMIx_Setenv("", "x", true, &argv), BAD_PARAM);
    fails(PMIx_Setenv("A=B", "x", true, &argv), BAD_PARAM);
    fails(PMIx_Setenv("A", "x", true, NULL), BAD_PARAM);
    ck_assert_ptr_null(argv);
}

PX_TEST(copies_share_nothing)
{
    PX_AUTO(px_strv) argv = PMIx_Argv_split("a,b", ',');
    PX_AUTO(px_strv) copy = PMIx_Argv_copy(argv);

    ck_assert_ptr_ne(copy[1], argv[1]);
    ck_assert_str_eq(copy[1], "b");
    ck_assert_ptr_null(copy[2]);
}

PX_TEST(variables_are_set_and_only_overwritten_when_asked)
{
    PX_AUTO(px_strv) env = NULL;

    ok(PMIx_Setenv("A", "1", false, &env));
    fails(PMIx_Setenv("A", "2", false, &env), EXISTS);
    ck_assert_str_eq(env[0], "A=1");
    ok(PMIx_Setenv("A", "2", true, &env));
    ck_assert_str_eq(env[0], "A=2");
    ok(PMIx_Setenv("B", NULL, true, &env));
    ck_assert_str_eq(env[1], "B=");
    ck_assert_ptr_null(env[2]);
}

PX_TEST(the_processs_own_environment_is_libcs_to_change)
{
    ok(PMIx_Setenv("TENON_TEST", "1", false, &environ));
    ck_assert_str_eq(getenv("TENON_TEST"), "1");
    fails(PMIx_Setenv("TENON_TEST", "2", false, &environ), EXISTS);
    ok(PMIx_Setenv("TENON_TEST", NULL, true, &environ));
    ck_assert_ptr_null(getenv("TENON_TEST"));
}

PX_TEST(want_of_memory_is_want_of_resources)
{
    PX_AUTO(px_strv) argv = NULL;

    PX_TEST_NEEDS_ALLOC;
    px_alloc_fail_at(1);
    pmix_status_t rc = PMIx_Argv_append_nosize(&argv, "a");
    ck_assert(px_alloc_fail_end());
    fails(rc, OUT_OF_RESOURCE);
    ck_assert_ptr_null(argv);
}

PX_TEST_MAIN("types/argv", NULL, NULL)
