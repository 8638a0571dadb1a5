/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/config/param_impl.h"
#include "core/rt/process.h"
#include "core/plugin/select.h"
#include "alloc_fail.h"
#include "fake.h"
#include "fake_files.h"

static rt_path dir, trace;
static struct px_loop *loop;
static struct px_params *params;
static struct px_selection *selection;
static struct px_err err;
static const char *show;

static void set(const char *name, const char *value)
{
    ok(px_params_set(params, name, value, PX_SOURCE_ARG, "--mca"));
}

static void set_up(void)
{
    const struct px_param_origin nowhere = {0};

    rt_make_dir(dir);
    rt_join(trace, dir, "trace");
    rt_install_all(dir);
    loop = rt_loop(false);
    ok(px_params_create_from(&nowhere, &params, &err));
}

static void tear_down(void)
{
    px_selection_destroy(selection);
    px_loop_destroy(loop);
    px_params_destroy(params);
}

static pmix_status_t create(struct px_selection **out)
{
    const struct px_base_conf conf = {.component_path = dir,
                                      .component_show_load_errors = show};

    return px_selection_create(params, loop, &conf, out, &err);
}

static pmix_status_t open_roles(unsigned roles)
{
    if (!selection)
        ok(create(&selection));
    return px_selection_open(selection, roles, NULL, &err);
}

static void assert_open(unsigned roles)
{
    ck_assert_msg(open_roles(roles) == PMIX_SUCCESS, "%s", err.text);
}

/* "b a": the components of a framework, best first. */
static void assert_modules(const char *framework, const char *wanted)
{
    char names[64] = "";
    size_t n;
    const struct px_module *m = px_selection_modules(selection, framework, &n);

    for (size_t i = 0; i < n; i++)
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
                 i ? " " : "", m[i].component->name);
    ck_assert_str_eq(names, wanted);
}

static const struct fake_state *state_of(const char *framework)
{
    size_t n;
    const struct px_module *m = px_selection_modules(selection, framework, &n);

    ck_assert_uint_ge(n, 1);
    return ((const struct fake_ops *)m[0].component->ops)->state(m[0].self);
}

PX_TEST(a_role_opens_the_frameworks_it_needs_and_no_others)
{
    assert_open(PX_ROLE_CLIENT);

    assert_modules("ptl", "a");
    assert_modules("gds", "a");
    assert_modules("psec", "a");
    assert_modules("pfexec", "");
    assert_modules("nonesuch", "");
    assert_open(PX_ROLE_CLIENT | PX_ROLE_SERVER);
    assert_modules("pfexec", "a");
}

PX_TEST(components_learn_their_roles_and_see_new_ones)
{
    assert_open(PX_ROLE_CLIENT);
    ck_assert_uint_eq(state_of("ptl")->roles_at_open, PX_ROLE_CLIENT);
    assert_open(PX_ROLE_CLIENT | PX_ROLE_SERVER);
    ck_assert_uint_eq(state_of("ptl")->services->roles,
                      PX_ROLE_CLIENT | PX_ROLE_SERVER);
    px_selection_close(selection, PX_ROLE_SERVER);
    ck_assert_uint_eq(state_of("ptl")->services->roles, PX_ROLE_SERVER);
}

PX_TEST(closing_ends_what_no_role_needs_any_more_in_reverse_order)
{
    set("ptl_a_trace", trace);
    set("pfexec_a_trace", trace);
    set("gds_a_trace", trace);
    assert_open(PX_ROLE_SERVER | PX_ROLE_TOOL);
    px_selection_close(selection, PX_ROLE_TOOL);
    assert_modules("ptl", "a");
    assert_modules("pfexec", "");
    px_selection_destroy(selection);
    selection = NULL;

    char *text = rt_read(trace);
    ck_assert_str_eq(text, "open ptl/a\nopen gds/a\nopen pfexec/a\n"
                           "close pfexec/a\nclose gds/a\nclose ptl/a\n");
    free(text);
}

PX_TEST(parameters_reach_the_component)
{
    set("ptl_a_level", "7");
    set("ptl_a_label", "hello");
    assert_open(PX_ROLE_CLIENT);

    ck_assert_int_eq(state_of("ptl")->level, 7);
    ck_assert_str_eq(state_of("ptl")->label, "hello");
    ck_assert_int_eq(state_of("gds")->level, 3);
    ck_assert_ptr_null(state_of("gds")->label);
}

PX_TEST(a_bad_parameter_is_a_problem_and_the_default_is_used)
{
    set("gds_a_level", "10");
    assert_open(PX_ROLE_CLIENT);

    ck_assert_int_eq(state_of("gds")->level, 3);
    rt_assert_problems(params,
                       "--mca: gds_a_level = \"10\": expected an integer from 1 "
                       "to 9; using the default, 3\n");
}

PX_TEST(higher_priority_comes_first_and_equals_by_name)
{
    rt_install(dir, "ptl_b");
    set("ptl_b_priority", "60");
    assert_open(PX_ROLE_CLIENT);
    assert_modules("ptl", "b a");
    px_selection_close(selection, 0);
    set("ptl_a_priority", "60");
    assert_open(PX_ROLE_CLIENT);
    assert_modules("ptl", "a b");
}

PX_TEST(a_framework_that_picks_one_closes_the_others)
{
    rt_install(dir, "pfexec_b");
    set("pfexec_a_trace", trace);
    set("pfexec_b_priority", "60");
    assert_open(PX_ROLE_SERVER);

    assert_modules("pfexec", "b");
    char *text = rt_read(trace);
    ck_assert_str_eq(text, "open pfexec/a\nclose pfexec/a\n");
    free(text);
}

PX_TEST(a_list_asks_for_components_in_its_own_order)
{
    rt_install(dir, "ptl_b");
    set("ptl", "b,a");
    set("ptl_a_priority", "900");
    assert_open(PX_ROLE_CLIENT);

    assert_modules("ptl", "b a");
}

PX_TEST(what_is_excluded_is_not_even_loaded)
{
    rt_write(dir, "pmix_mca_tenon_ptl_broken.so", "no ELF");
    set("ptl", "^broken");
    struct rt_capture c = rt_capture_begin();
    assert_open(PX_ROLE_CLIENT);
    char *text = rt_capture_end(&c);

    assert_modules("ptl", "a");
    ck_assert_str_eq(text, "");
    free(text);
}

PX_TEST(an_unknown_component_fails_and_tells_what_is_known)
{
    set("ptl", "nonesuch");
    ck_assert_int_eq(open_roles(PX_ROLE_CLIENT), PMIX_ERR_BAD_PARAM);
    ck_assert_str_eq(
        err.text,
        "unknown component nonesuch for framework ptl, known: a (from --mca)");
}

/* What is said while the client's frameworks open. */
static char *said(void)
{
    struct rt_capture c = rt_capture_begin();

    assert_open(PX_ROLE_CLIENT);
    return rt_capture_end(&c);
}

PX_TEST(a_broken_file_nobody_asked_for_is_skipped_without_a_word)
{
    rt_write(dir, "pmix_mca_tenon_ptl_broken.so", "no ELF");
    char *text = said();

    ck_assert_str_eq(text, "");
    assert_modules("ptl", "a");
    free(text);
}

PX_TEST(who_asks_is_told_of_every_broken_file_once)
{
    rt_write(dir, "pmix_mca_tenon_ptl_broken.so", "no ELF");
    rt_install(dir, "ptl_oldabi");
    set("ptl_broken_whatever", "1");
    show = "1";
    char *text = said();

    assert_modules("ptl", "a");
    ck_assert_int_eq(rt_count(text, "\n"), 2);
    rt_assert_has(text, "pmix_mca_tenon_ptl_broken.so");
    rt_assert_has(text, "ABI 99, wanted 1");
    free(text);
    struct rt_capture c = rt_capture_begin();
    ok(px_selection_declare_unused(selection));
    text = rt_capture_end(&c);
    ck_assert_str_eq(text, "");
    free(text);
}

PX_TEST(what_does_not_load_is_not_tried_again)
{
    rt_path file;

    set("ptl_broken_level", "4");
    rt_write(dir, "pmix_mca_tenon_ptl_broken.so", "no ELF");
    show = "ptl/broken";
    free(said());
    rt_join(file, dir, "pmix_mca_tenon_ptl_broken.so");
    ck_assert_int_eq(unlink(file), 0);
    rt_install_as(dir, "ptl_b",
                  "ptl_broken"); /* would load as ptl_b, and be no ptl_broken */
    px_selection_close(selection, 0);
    char *text = said();
    rt_assert_has(text, "file too short");
    ok(px_selection_declare_unused(selection));
    rt_assert_problems(params, "");
    free(text);
}

PX_TEST(one_may_ask_about_some_only)
{
    static const struct {
        const char *show;
        int lines;
    } cases[] = {{"all", 2},        {"none", 0},        {"ptl", 2},
                 {"ptl/oldabi", 1}, {"gds", 0},         {"gds,ptl/broken", 1},
                 {"^ptl", 0},       {"^ptl/broken", 1}, {"false", 0},
                 {"yes", 2},        {"pt", 0},          {"ptl/old", 0}};

    rt_write(dir, "pmix_mca_tenon_ptl_broken.so", "no ELF");
    rt_install(dir, "ptl_oldabi");
    for (size_t i = 0; i < PX_COUNT(cases); i++) {
        show = cases[i].show;
        char *text = said();
        ck_assert_msg(rt_count(text, "\n") == cases[i].lines, "%s: %s", show, text);
        free(text);
        px_selection_destroy(selection);
        selection = NULL;
    }
}

PX_TEST(what_is_excluded_is_told_with_its_source)
{
    rt_install(dir, "ptl_b");
    set("ptl", "^b");
    show = "all"; /* a choice is no load error */
    atomic_store(&px_process.log_level, PX_LOG_INFO);
    char *text = said();

    rt_assert_has(text, "component ptl/b is left out by ptl = \"^b\" (from --mca)");
    free(text);
}

PX_TEST(a_broken_file_that_was_asked_for_fails)
{
    rt_write(dir, "pmix_mca_tenon_ptl_broken.so", "no ELF");
    rt_install(dir, "ptl_oldabi");
    set("ptl", "a,broken");
    ck_assert_int_eq(open_roles(PX_ROLE_CLIENT), PMIX_ERR_NOT_FOUND);
    rt_assert_has(err.text, "pmix_mca_tenon_ptl_broken.so");
    set("ptl", "oldabi");
    ck_assert_int_eq(open_roles(PX_ROLE_CLIENT), PMIX_ERR_NOT_SUPPORTED);
    rt_assert_has(err.text,
                  "pmix_mca_tenon_ptl_oldabi.so has component ABI 99, wanted 1");
    assert_modules("ptl", "");
}

PX_TEST(a_component_that_declines_gives_way_and_its_reason_is_told)
{
    rt_install(dir, "ptl_b");
    set("ptl_a_decline", "true");
    set("ptl_a_trace", trace);
    show = "all";
    char *text = said();
    ck_assert_str_eq(text, ""); /* to decline is no load error */
    free(text);
    assert_modules("ptl", "b");
    text = rt_read(trace);
    ck_assert_str_eq(text, "open ptl/a\nclose ptl/a\n");
    free(text);

    px_selection_close(selection, 0);
    atomic_store(&px_process.log_level, PX_LOG_INFO);
    text = said();
    rt_assert_has(text, "component ptl/a declines: not today");
    free(text);
}

PX_TEST(a_component_that_does_not_open_is_skipped_unless_it_was_asked_for)
{
    rt_install(dir, "ptl_b");
    set("ptl_a_fail_open", "yes");
    show = "all";
    struct rt_capture c = rt_capture_begin();
    assert_open(PX_ROLE_CLIENT);
    char *text = rt_capture_end(&c);
    assert_modules("ptl", "b");
    rt_assert_has(text, "component ptl/a cannot be opened");
    free(text);
    px_selection_close(selection, 0);
    set("ptl", "b,a");
    ck_assert_int_eq(open_roles(PX_ROLE_CLIENT), PMIX_ERR_NOT_AVAILABLE);
    rt_assert_has(err.text, "component ptl/a cannot be opened");
}

PX_TEST(a_required_framework_without_a_component_fails_and_others_close_again)
{
    set("gds", "^a");
    ck_assert_int_eq(open_roles(PX_ROLE_CLIENT), PMIX_ERR_NOT_FOUND);
    ck_assert_str_eq(
        err.text, "no component is left for framework gds: gds = \"^a\" (from --mca)");
    set("gds", "");
    set("gds_a_decline", "yes");
    set("ptl_a_trace", trace);
    ck_assert_int_eq(open_roles(PX_ROLE_CLIENT), PMIX_ERR_NOT_FOUND);
    ck_assert_str_eq(err.text, "no component for framework gds can be used, known: a");

    assert_modules("ptl", "");
    char *text = rt_read(trace);
    ck_assert_str_eq(text, "open ptl/a\nclose ptl/a\n");
    free(text);
}

PX_TEST(a_client_opens_the_transport_of_its_address_and_the_rest_when_it_is_wanted)
{
    show = "all";
    rt_install(dir, "ptl_b");
    set("ptl_a_trace", trace);
    ok(create(&selection));
    ok(px_selection_open(selection, PX_ROLE_CLIENT, "b4://here", &err));
    assert_modules("ptl", "b");
    assert_modules("gds", "a");
    ok(px_selection_open(selection, PX_ROLE_CLIENT, "b4://here", &err));
    assert_modules("ptl", "b");
    assert_open(PX_ROLE_CLIENT | PX_ROLE_SERVER);
    assert_modules("ptl", "a b");
    px_selection_close(selection, 0);
    assert_modules("ptl", "");
    ok(px_selection_open(selection, PX_ROLE_CLIENT, "", &err));
    assert_modules("ptl", "");
    assert_open(PX_ROLE_CLIENT);
    assert_modules("ptl", "a b");
    px_selection_destroy(selection);
    selection = NULL;

    char *text = rt_read(trace);
    ck_assert_str_eq(text, "open ptl/a\nclose ptl/a\nopen ptl/a\nclose ptl/a\n");
    free(text);
}

PX_TEST(a_transport_that_does_not_load_is_tried_once)
{
    show = "all";
    rt_write(dir, "pmix_mca_tenon_ptl_broken.so", "no ELF");
    struct rt_capture c = rt_capture_begin();
    ok(create(&selection));
    pmix_status_t rc = px_selection_open(selection, PX_ROLE_CLIENT, "broken://x", &err);
    size_t n;
    px_selection_modules(selection, "ptl", &n);
    pmix_status_t rest = px_selection_open(selection, PX_ROLE_CLIENT, NULL, &err);
    char *text = rt_capture_end(&c);

    ok(rc);
    ck_assert_uint_eq(n, 0);
    ok(rest);
    assert_modules("ptl", "a");
    ck_assert_int_eq(rt_count(text, "pmix_mca_tenon_ptl_broken.so"), 1);
    free(text);
}

PX_TEST(a_failure_leaves_what_was_open_before)
{
    assert_open(PX_ROLE_CLIENT);
    set("pfexec", "nonesuch");
    ck_assert_int_eq(open_roles(PX_ROLE_CLIENT | PX_ROLE_SERVER), PMIX_ERR_BAD_PARAM);

    assert_modules("ptl", "a");
    assert_modules("pfexec", "");
    ck_assert_uint_eq(state_of("ptl")->services->roles, PX_ROLE_CLIENT);
}

PX_TEST(parameters_of_components_that_are_not_in_use_are_known_too)
{
    rt_install(dir, "ptl_b");
    set("ptl", "a");
    set("ptl_b_level", "3");
    set("ptl_b_levle", "3");
    set("ptl_b_priority", "much");
    set("pfexec_a_level", "4"); /* a client does not open pfexec */
    assert_open(PX_ROLE_CLIENT);
    ok(px_selection_declare_unused(selection));

    rt_assert_problems(
        params, "--mca: ptl_b_priority = \"much\": expected an integer from 0 to "
                "1000; using the default, 50\n"
                "--mca: unknown parameter ptl_b_levle = \"3\"; did you mean "
                "ptl_b_level or ptl_a_level?\n");
}

PX_TEST(what_is_excluded_or_does_not_load_cannot_be_asked)
{
    rt_write(dir, "pmix_mca_tenon_ptl_broken.so", "no ELF");
    rt_install(dir, "ptl_b");
    set("ptl", "^b,broken");
    set("ptl_b_whatever", "1");
    set("ptl_broken_whatever", "1");
    assert_open(PX_ROLE_CLIENT);
    ok(px_selection_declare_unused(selection));

    rt_assert_problems(params, "");
}

PX_TEST(running_out_of_memory_is_an_error_or_does_no_harm)
{
    struct px_selection *s = NULL;
    pmix_status_t rc;

    PX_TEST_NEEDS_ALLOC;
    show = "all";
    for (unsigned nth = 1;; nth++) {
        struct rt_capture c = rt_capture_begin();

        px_alloc_fail_at(nth);
        rc = create(&s);
        if (!rc)
            rc = px_selection_open(s, PX_ROLE_SERVER, NULL, &err);
        bool failed = px_alloc_fail_end();
        free(rt_capture_end(&c));
        px_selection_destroy(s);
        s = NULL;
        if (!failed)
            break;
        ck_assert_int_le(rc, PMIX_SUCCESS);
    }
    ok(rc);
}

PX_TEST_MAIN("rt/select", set_up, tear_down)
