/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/config/param_impl.h"
#include "core/rt/process.h"
#include "alloc_fail.h"
#include "test/unit/rt/rt_test.h"

static struct px_params *params;
static struct px_err err;

static void set_up(void)
{
    ck_assert_ptr_nonnull(params = px_params_empty(NULL));
}

static void tear_down(void)
{
    px_params_destroy(params);
}

static void set(const char *name, const char *value, enum px_param_source source)
{
    ok(px_params_set(params, name, value, source, "here"));
}

/* What px_params_report says on stderr; its status in *rc. The caller's to free. */
static char *settle(pmix_status_t *rc, struct px_err *why)
{
    struct rt_capture c = rt_capture_begin();

    *rc = px_params_report(params, why);
    return rt_capture_end(&c);
}

static void assert_settles(const char *strict, pmix_status_t status, int n_lines)
{
    pmix_status_t rc;

    set("mca_base_strict", strict, PX_SOURCE_ENV);
    char *text = settle(&rc, &err);
    ck_assert_int_eq(rc, status);
    ck_assert_int_eq(rt_count(text, "\n"), n_lines);
    free(text);
}

PX_TEST(the_same_line_is_kept_and_told_once)
{
    pmix_status_t rc;

    px_params_complain(params, PX_PARAM_WRONG, "a %d", 1);
    px_params_complain(params, PX_PARAM_WRONG, "a %d", 1);
    assert_settles("warn", PMIX_SUCCESS, 1);
    char *text = settle(&rc, &err);
    ck_assert_str_eq(text, "");
    free(text);
}

PX_TEST(strict_decides_what_comes_of_it)
{
    px_params_complain(params, PX_PARAM_WRONG, "a");
    assert_settles("off", PMIX_SUCCESS, 0);
    px_params_complain(params, PX_PARAM_WRONG, "b");
    px_params_complain(params, PX_PARAM_ODD, "c");
    px_params_complain(params, PX_PARAM_NOTE, "d");
    assert_settles("warn", PMIX_SUCCESS, 2);
    px_params_complain(params, PX_PARAM_ODD, "e");
    px_params_complain(params, PX_PARAM_WRONG, "f");
    px_params_complain(params, PX_PARAM_WRONG, "g");
    assert_settles("error", PMIX_ERR_BAD_PARAM, 2);
    ck_assert_str_eq(err.text, "f");
}

PX_TEST(what_nobody_hands_on_is_told_here)
{
    pmix_status_t rc;

    px_params_complain(params, PX_PARAM_WRONG, "lost?");
    set("mca_base_strict", "error", PX_SOURCE_ENV);
    char *text = settle(&rc, NULL);
    rt_assert_has(text, "param: lost?\n");
    free(text);
}

PX_TEST(other_ranks_keep_quiet_but_fail_alike)
{
    params->one_of_many = true;
    px_params_complain(params, PX_PARAM_WRONG, "a");
    assert_settles("warn", PMIX_SUCCESS, 0);
    px_params_complain(params, PX_PARAM_WRONG, "b");
    assert_settles("error", PMIX_ERR_BAD_PARAM, 0);
}

PX_TEST(a_full_list_ends_with_a_line_as_serious_as_what_it_stands_for)
{
    for (int i = 0; i < 2 * PX_PARAM_MAX_PROBLEMS; i++)
        px_params_complain(params, PX_PARAM_ODD, "odd %d", i);
    ck_assert_uint_eq(params->n_problems, PX_PARAM_MAX_PROBLEMS + 1);
    px_params_complain(params, PX_PARAM_WRONG, "wrong");
    ck_assert_uint_eq(params->n_problems, PX_PARAM_MAX_PROBLEMS + 1);
    assert_settles("error", PMIX_ERR_BAD_PARAM, PX_PARAM_MAX_PROBLEMS);
    ck_assert_str_eq(err.text, "more is wrong with the parameters");
}

PX_TEST(only_the_last_override_of_a_name_speaks)
{
    set("x", "1", PX_SOURCE_ENV);
    for (int i = 0; i < 9; i++)
        set("x", i % 2 ? "2" : "3", PX_SOURCE_OVERRIDE_FILE);
    px_params_look_for_unknown(params);
    int n = 0;
    for (size_t i = 0; i < params->n_problems; i++)
        n += rt_count(params->problems[i].text, "x = \"3\" overrules \"1\" of here");
    ck_assert_int_eq(n, 1);
}

PX_TEST(names_of_a_component_that_cannot_be_asked_are_believed)
{
    set("ptl_mine_speed", "1", PX_SOURCE_ENV);
    set("ptl_yours_speed", "1", PX_SOURCE_ENV);
    ok(px_params_ignore_prefix(params, "ptl_mine_"));
    rt_assert_problems(params,
                       "here: unknown parameter PMIX_MCA_ptl_yours_speed = \"1\"\n");
}

PX_TEST(running_out_of_memory_loses_lines_at_most)
{
    PX_TEST_NEEDS_ALLOC;
    set("client_conect", "1", PX_SOURCE_USER_FILE);
    for (unsigned nth = 1;; nth++) {
        params->unseen = &params->first;
        px_alloc_fail_at(nth);
        px_params_complain(params, PX_PARAM_WRONG, "line %u", nth);
        px_params_look_for_unknown(params);
        if (!px_alloc_fail_end())
            break;
    }
    ck_assert_uint_ge(params->n_problems, 1);
}

PX_TEST_MAIN("rt/param_report", set_up, tear_down)
