/* SPDX-License-Identifier: BSD-3-Clause */
/* Environment vectors, with names that stand in them more than once. */
#include "alloc_fail.h"
#include "core/base/env.h"
#include "px_test.h"

/* A malloc'd environment of the entries of "A=1|B=2". */
static char **env_of(const char *entries)
{
    return px_strv_split(entries, '|', false);
}

static void assert_is(char *const *env, const char *wanted)
{
    PX_AUTOFREE char *joined = px_strv_join(env, '|');

    ck_assert_ptr_nonnull(joined);
    ck_assert_str_eq(joined, wanted);
}

PX_TEST(get_finds_the_whole_name_only)
{
    PX_AUTO(px_strv) env = env_of("PATHX=1|PAT=2|PATH=/bin:=x");

    ck_assert_str_eq(px_env_get(env, "PATH"), "/bin:=x");
    ck_assert_str_eq(px_env_get(env, "PAT"), "2");
    ck_assert_ptr_null(px_env_get(env, "PA"));
    ck_assert_ptr_null(px_env_get(env, "ATH"));
}

PX_TEST(get_tells_an_empty_value_from_none)
{
    PX_AUTO(px_strv) env = env_of("A=|B");

    ck_assert_str_eq(px_env_get(env, "A"), "");
    ck_assert_ptr_null(px_env_get(env, "B"));
    ck_assert_ptr_null(px_env_get(NULL, "A"));
}

PX_TEST(get_refuses_what_is_no_name)
{
    PX_AUTO(px_strv) env = env_of("A=B=c|=x");

    ck_assert_ptr_null(px_env_get(env, "A=B"));
    ck_assert_ptr_null(px_env_get(env, ""));
    ck_assert_ptr_null(px_env_get(env, NULL));
}

PX_TEST(the_first_of_several_entries_is_the_one)
{
    PX_AUTO(px_strv) env = env_of("A=1|A=2");

    ck_assert_str_eq(px_env_get(env, "A"), "1");
}

PX_TEST(set_adds_at_the_end)
{
    PX_AUTO(px_strv) env = NULL;

    ok(px_env_set(&env, "A", "1", false));
    ok(px_env_set(&env, "B", "x=y", true));
    ok(px_env_set(&env, "C", NULL, true));

    assert_is(env, "A=1|B=x=y|C=");
}

PX_TEST(set_replaces_in_place_when_told_to_overwrite)
{
    PX_AUTO(px_strv) env = env_of("A=1|B=2|AA=3");

    ok(px_env_set(&env, "A", "9", true));

    assert_is(env, "A=9|B=2|AA=3");
}

PX_TEST(set_without_overwrite_keeps_the_value_and_succeeds)
{
    PX_AUTO(px_strv) env = env_of("A=1");

    ok(px_env_set(&env, "A", "9", false));

    assert_is(env, "A=1");
}

PX_TEST(overwriting_leaves_no_second_entry)
{
    PX_AUTO(px_strv) env = env_of("B=0|A=1|C=2|A=3|A=4");

    ok(px_env_set(&env, "A", "9", true));

    assert_is(env, "B=0|A=9|C=2");
}

PX_TEST(the_new_value_may_be_the_old_one)
{
    PX_AUTO(px_strv) env = env_of("A=1");

    ok(px_env_set(&env, "A", px_env_get(env, "A"), true));

    assert_is(env, "A=1");
}

PX_TEST(set_refuses_what_is_no_name_and_changes_nothing)
{
    PX_AUTO(px_strv) env = env_of("A=1");

    fails(px_env_set(&env, "", "x", true), BAD_PARAM);
    fails(px_env_set(&env, "A=1", "x", true), BAD_PARAM);
    fails(px_env_set(&env, NULL, "x", true), BAD_PARAM);

    assert_is(env, "A=1");
}

PX_TEST(unset_removes_every_entry_of_the_name)
{
    PX_AUTO(px_strv) env = env_of("A=1|B=2|A=3|AB=4|A");

    px_env_unset(env, "A");

    assert_is(env, "B=2|AB=4|A");
}

PX_TEST(unset_of_what_is_not_there_changes_nothing)
{
    PX_AUTO(px_strv) env = env_of("A=1|=x");

    px_env_unset(env, "B");
    px_env_unset(env, "");
    px_env_unset(env, NULL);
    px_env_unset(NULL, "A");

    assert_is(env, "A=1|=x");
}

PX_TEST(set_without_memory_changes_nothing)
{
    static const char *const names[] = {"A", "C"}; /* one to replace, one to add */

    PX_TEST_NEEDS_ALLOC;
    for (size_t i = 0; i < PX_COUNT(names); i++) {
        PX_AUTO(px_strv) env = env_of("A=1|B=2|A=3");
        pmix_status_t rc;

        for (unsigned nth = 1;; nth++) {
            char **before = env;
            px_alloc_fail_at(nth);
            rc = px_env_set(&env, names[i], "9", true);
            if (!px_alloc_fail_end())
                break;
            fails(rc, NOMEM);
            ck_assert_int_eq(px_alloc_balance(), 0);
            ck_assert_ptr_eq(env, before);
            assert_is(env, "A=1|B=2|A=3");
        }
        ok(rc);
        ck_assert_str_eq(px_env_get(env, names[i]), "9");
    }
}

PX_TEST_MAIN("base/env", NULL, NULL)
