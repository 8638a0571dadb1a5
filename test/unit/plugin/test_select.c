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
    ok(px_params_add(params, name, value, PX_SOURCE_ARG, 0, "--mca"));
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

    pmix_status_t rc = px_selection_create(params, loop, &conf, out, &err);
    px_process.selection = rc ? NULL : *out;
    return rc;
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
    const struct px_module *m = px_modules(framework, &n);

    for (size_t i = 0; i < n; i++)
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
                 i ? " " : "", m[i].component->name);
    ck_assert_str_eq(names, wanted);
}

static const struct fake_state *state_of(const char *framework)
{
    size_t n;
    const struct px_module *m = px_modules(framework, &n);

    ck_assert_uint_ge(n, 1);
    return ((const struct fake_ops *)m[0].component->ops)->state(m[0].self);
}

/* Openings with one sound component of each framework and the components listed
 * here. */
static const struct opening {
    const char *what;
    const char *install; /* one more module, or "broken", which is not an ELF file */
    const char *set[4];  /* name and value in turn */
    const char *show;    /* show_load_errors; a leading '+' also shows information */
    const char *ptl, *pfexec; /* expected modules; pfexec not NULL: as a server */
    const char *logged; /* expected part of stderr; "": nothing, NULL: not checked */
    const char *trace;  /* expected trace of the components with a trace parameter */
    pmix_status_t status;
    const char *err;
} openings[] = {
    {"a role opens the frameworks it needs and no others", .ptl = "a"},
    {"a server needs more", .ptl = "a", .pfexec = "a"},
    {"of equals the first by name", "ptl_b", .ptl = "a b"},
    {"the higher priority first", "ptl_b", {"ptl_b_priority", "60"}, .ptl = "b a"},
    {"a framework that picks one closes the others",
     "pfexec_b",
     {"pfexec_a_trace", "", "pfexec_b_priority", "60"},
     .ptl = "a",
     .pfexec = "b",
     .trace = "open pfexec/a\nclose pfexec/a\n"},
    {"a list has its own order",
     "ptl_b",
     {"ptl", "b,a", "ptl_a_priority", "900"},
     .ptl = "b a"},
    {"an excluded one is not even loaded",
     "broken",
     {"ptl", "^broken"},
     .ptl = "a",
     .logged = ""},
    {"an excluded one is logged with its source",
     "ptl_b",
     {"ptl", "^b"},
     "+all", /* a choice is not a load error */
     .ptl = "a",
     .logged = "component ptl/b is left out by ptl = \"^b\" (from --mca)"},
    {"a broken file is skipped without a word", "broken", .ptl = "a", .logged = ""},
    {"a broken file that was asked for fails",
     "broken",
     {"ptl", "a,broken"},
     .ptl = "",
     .status = PMIX_ERR_NOT_FOUND,
     .err = "pmix_mca_tenon_ptl_broken.so"},
    {"an old one that was asked for fails",
     "ptl_oldabi",
     {"ptl", "oldabi"},
     .ptl = "",
     .status = PMIX_ERR_NOT_SUPPORTED,
     .err = "pmix_mca_tenon_ptl_oldabi.so has component ABI 99, wanted 1"},
    {"an unknown one means the default", "ptl_b", {"ptl", "nonesuch"}, .ptl = "a b"},
    {"an unknown one that may be stronger than the default fails",
     NULL,
     {"psec", "nonesuch"},
     .ptl = "",
     .status = PMIX_ERR_BAD_PARAM,
     .err = "unknown component nonesuch for framework psec, known: a (from --mca)"},
    {"one that declines gives way, which is not a load error",
     "ptl_b",
     {"ptl_a_decline", "true", "ptl_a_trace", ""},
     "all",
     .ptl = "b",
     .logged = "",
     .trace = "open ptl/a\nclose ptl/a\n"},
    {"one that declines has a reason",
     "ptl_b",
     {"ptl_a_decline", "true"},
     "+all",
     .ptl = "b",
     .logged = "component ptl/a declines: not today"},
    {"one that does not open is skipped",
     "ptl_b",
     {"ptl_a_fail_open", "yes"},
     "all",
     .ptl = "b",
     .logged = "component ptl/a cannot be opened"},
    {"unless it was asked for",
     "ptl_b",
     {"ptl_a_fail_open", "yes", "ptl", "b,a"},
     .ptl = "",
     .status = PMIX_ERR_NOT_AVAILABLE,
     .err = "component ptl/a cannot be opened"},
    {"a required framework needs a component",
     NULL,
     {"gds", "^a"},
     .ptl = "",
     .status = PMIX_ERR_NOT_FOUND,
     .err = "no component is left for framework gds: gds = \"^a\" (from --mca)"},
    {"that can be used, and others close again",
     NULL,
     {"gds_a_decline", "yes", "ptl_a_trace", ""},
     .ptl = "",
     .trace = "open ptl/a\nclose ptl/a\n",
     .status = PMIX_ERR_NOT_FOUND,
     .err = "no component for framework gds can be used, known: a"},
};

PX_TEST_LOOP(opening_selects_components, PX_COUNT(openings))
{
    const struct opening *o = &openings[_i];
    bool informs = o->show && o->show[0] == '+';

    printf("%s\n", o->what); /* helps to read a failure */
    if (o->install && strcmp(o->install, "broken") == 0)
        rt_write(dir, "pmix_mca_tenon_ptl_broken.so", "no ELF");
    else if (o->install)
        rt_install(dir, o->install);
    for (size_t i = 0; i < PX_COUNT(o->set) && o->set[i]; i += 2)
        set(o->set[i], strstr(o->set[i], "_trace") ? trace : o->set[i + 1]);
    show = o->show ? o->show + informs : NULL;
    if (informs)
        atomic_store(&px_process.log_level, PX_LOG_INFO);
    struct rt_capture c = rt_capture_begin();
    pmix_status_t rc = open_roles(o->pfexec ? PX_ROLE_SERVER : PX_ROLE_CLIENT);
    PX_AUTOFREE char *text = rt_capture_end(&c);

    ck_assert_int_eq(rc, o->status);
    if (rc)
        rt_assert_has(err.text, o->err);
    assert_modules("ptl", o->ptl);
    assert_modules("gds", rc ? "" : "a");
    assert_modules("pfexec", o->pfexec ? o->pfexec : "");
    assert_modules("nonesuch", "");
    if (o->logged && *o->logged)
        rt_assert_has(text, o->logged);
    else if (o->logged)
        ck_assert_str_eq(text, "");
    if (o->trace) {
        PX_AUTOFREE char *done = text_of_file(trace);
        ck_assert_str_eq(done, o->trace);
    }
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

    PX_AUTOFREE char *text = text_of_file(trace);
    ck_assert_str_eq(text, "open ptl/a\nopen gds/a\nopen pfexec/a\n"
                           "close pfexec/a\nclose gds/a\nclose ptl/a\n");
}

PX_TEST(parameters_reach_the_component_and_a_bad_one_is_a_problem)
{
    set("ptl_a_level", "7");
    set("ptl_a_label", "hello");
    set("gds_a_level", "10");
    assert_open(PX_ROLE_CLIENT);

    ck_assert_int_eq(state_of("ptl")->level, 7);
    ck_assert_str_eq(state_of("ptl")->label, "hello");
    ck_assert_int_eq(state_of("gds")->level, 3);
    ck_assert_ptr_null(state_of("gds")->label);
    rt_assert_problems(params,
                       "--mca: gds_a_level = \"10\": expected an integer from 1 "
                       "to 9; using the default, 3\n");
}

/* Opens the client's frameworks and returns their output on stderr. */
static char *open_client(void)
{
    struct rt_capture c = rt_capture_begin();

    assert_open(PX_ROLE_CLIENT);
    return rt_capture_end(&c);
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
        char *text = open_client();
        ck_assert_msg(rt_count(text, "\n") == cases[i].lines, "%s: %s", show, text);
        free(text);
        px_selection_destroy(selection);
        selection = NULL;
    }
}

PX_TEST(what_does_not_load_is_not_tried_again)
{
    rt_path file;

    set("ptl_broken_level", "4");
    rt_write(dir, "pmix_mca_tenon_ptl_broken.so", "no ELF");
    show = "ptl/broken";
    free(open_client());
    rt_join(file, dir, "pmix_mca_tenon_ptl_broken.so");
    ck_assert_int_eq(unlink(file), 0);
    rt_install_as(dir, "ptl_b",
                  "ptl_broken"); /* would load as ptl_b instead of ptl_broken */
    px_selection_close(selection, 0);
    PX_AUTOFREE char *text = open_client();
    rt_assert_has(text, "file too short");
    ok(px_selection_declare_unused(selection));
    rt_assert_problems(params, "");
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

    PX_AUTOFREE char *text = text_of_file(trace);
    ck_assert_str_eq(text, "open ptl/a\nclose ptl/a\nopen ptl/a\nclose ptl/a\n");
}

PX_TEST(a_transport_that_does_not_load_is_tried_once)
{
    show = "all";
    rt_write(dir, "pmix_mca_tenon_ptl_broken.so", "no ELF");
    struct rt_capture c = rt_capture_begin();
    ok(create(&selection));
    pmix_status_t rc = px_selection_open(selection, PX_ROLE_CLIENT, "broken://x", &err);
    size_t n;
    px_modules("ptl", &n);
    pmix_status_t rest = px_selection_open(selection, PX_ROLE_CLIENT, NULL, &err);
    PX_AUTOFREE char *text = rt_capture_end(&c);

    ok(rc);
    ck_assert_uint_eq(n, 0);
    ok(rest);
    assert_modules("ptl", "a");
    ck_assert_int_eq(rt_count(text, "pmix_mca_tenon_ptl_broken.so"), 1);
}

PX_TEST(a_failure_leaves_what_was_open_before)
{
    assert_open(PX_ROLE_CLIENT);
    set("pfexec", "a");
    set("pfexec_a_fail_open", "yes");
    ck_assert_int_eq(open_roles(PX_ROLE_CLIENT | PX_ROLE_SERVER),
                     PMIX_ERR_NOT_AVAILABLE);

    assert_modules("ptl", "a");
    assert_modules("pfexec", "");
    ck_assert_uint_eq(state_of("ptl")->services->roles, PX_ROLE_CLIENT);
}

PX_TEST(parameters_of_components_that_are_not_in_use_are_known_too)
{
    rt_install(dir, "ptl_b");
    rt_install(dir, "pfexec_b");
    rt_write(dir, "pmix_mca_tenon_ptl_broken.so", "no ELF");
    set("ptl", "a");
    set("ptl_broken_whatever", "1"); /* cannot be checked */
    set("pfexec", "^b");
    set("pfexec_b_whatever", "1"); /* can be checked */
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

PX_TEST(running_out_of_memory_is_an_error_or_does_no_harm)
{
    pmix_status_t rc = PMIX_SUCCESS;

    PX_TEST_NEEDS_ALLOC;
    show = "all";
    for (bool failed = true; failed;) {
        static unsigned nth;
        struct px_selection *s = NULL;
        struct rt_capture c = rt_capture_begin();

        px_alloc_fail_at(++nth);
        rc = create(&s);
        if (!rc)
            rc = px_selection_open(s, PX_ROLE_SERVER, NULL, &err);
        failed = px_alloc_fail_end();
        free(rt_capture_end(&c));
        px_selection_destroy(s);
        ck_assert_int_le(rc, PMIX_SUCCESS);
    }
    ok(rc);
}

PX_TEST_MAIN("plugin/select", set_up, tear_down)
