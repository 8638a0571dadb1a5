/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/plugin/choice.h"
#include "core/config/param_impl.h"
#include "test/unit/rt/rt_test.h"

static struct px_params *params;
static px_choice choice;
static struct px_err err;
static struct px_found found[] = {
    {.framework = PX_FW_PTL, .name = (char *)"tcp", .prefix = (char *)"ptl_tcp_"},
    {.framework = PX_FW_PTL, .name = (char *)"usock", .prefix = (char *)"ptl_usock_"},
    {.framework = PX_FW_GDS, .name = (char *)"hash"},
    {.framework = PX_FW_PSEC, .name = (char *)"native"},
};
static const px_catalog catalog = {.v = found, .n = PX_COUNT(found)};

static void set_up(void)
{
    ck_assert_ptr_nonnull(params = px_params_empty(NULL));
    ok(px_choice_declare(params));
}

static void tear_down(void)
{
    px_choice_cleanup(&choice);
    px_params_destroy(params);
}

static pmix_status_t choose_of(enum px_framework_id id, const char *text)
{
    const char *framework = px_frameworks[id].name;

    px_choice_cleanup(&choice);
    ok(px_params_add(params, framework, text, PX_SOURCE_ENV, 0, "environment"));
    pmix_status_t rc = px_choice_parse(params, framework, &choice, &err);
    return rc ? rc : px_choice_check(&choice, &catalog, id, params, &err);
}

static pmix_status_t choose(const char *text)
{
    return choose_of(PX_FW_PTL, text);
}

PX_TEST(a_choice_lets_in_what_it_names_in_its_order_or_all_but_what_it_excludes)
{
    enum { NO = -1 };
    static const struct {
        const char *text;    /* NULL: none */
        int tcp, usock, sim; /* place in the list, or NO */
    } rows[] = {
        {NULL, 0, 0, 0},         {"", 0, 0, 0},  {"  ", 0, 0, 0},
        {",", 0, 0, 0},          {"^", 0, 0, 0}, {" usock , tcp", 1, 0, NO},
        {"^tcp,sim", NO, 0, NO},
    };

    ok(px_choice_parse(params, "ptl", &choice, &err));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const struct {
            const char *name;
            int place;
        } wanted[] = {
            {"tcp", rows[i].tcp}, {"usock", rows[i].usock}, {"sim", rows[i].sim}};

        if (rows[i].text)
            ok(choose(rows[i].text));
        for (size_t k = 0; k < PX_COUNT(wanted); k++) {
            size_t rank = 9;
            bool in = px_choice_allows(&choice, wanted[k].name, &rank);

            ck_assert_msg(in == (wanted[k].place != NO) &&
                              (!in || (int)rank == wanted[k].place),
                          "%s of \"%s\"", wanted[k].name, rows[i].text);
        }
    }
}

/* Settings that sites use for OpenPMIx. */
static const struct {
    enum px_framework_id id;
    const char *text, *problem; /* problem NULL: an error */
} absent[] = {
    {PX_FW_PTL, "usok", "usok; using the default: tcp, usock\n"},
    {PX_FW_PTL, "hash", "hash; using the default: tcp, usock\n"},
    {PX_FW_GDS, "ds21", "ds21; using the default: hash\n"},
    {PX_FW_PNET, "test", "test; using the default: none\n"},
    {PX_FW_PSEC, "none", "none; using the default: native\n"},
    {PX_FW_PSEC, "dummy_handshake", "dummy_handshake; using the default: native\n"},
    {PX_FW_PSEC, "munge", NULL},
    {PX_FW_PSEC, "munge,kerberos", NULL},
};

PX_TEST_LOOP(a_list_of_absent_components_means_the_default_unless_that_is_weaker,
             PX_COUNT(absent))
{
    const char *framework = px_frameworks[absent[_i].id].name;
    pmix_status_t rc = choose_of(absent[_i].id, absent[_i].text);
    char problem[200] = "";
    size_t rank;

    if (absent[_i].problem) {
        ok(rc);
        snprintf(problem, sizeof(problem),
                 "environment: %s = \"%s\": unknown component %s", framework,
                 absent[_i].text, absent[_i].problem);
        ck_assert(px_choice_allows(&choice, "native", &rank) && !choice.text);
    } else {
        ck_assert_int_eq(rc, PMIX_ERR_BAD_PARAM);
        ck_assert_str_eq(err.text, "unknown component munge for framework psec, known: "
                                   "native (from environment)");
    }
    rt_assert_problems(params, problem);
}

static int64_t priority_of(const struct px_found *f, const struct px_param *table)
{
    int64_t priority = 0;

    ok(px_choice_parse_of(params, f, table, NULL, &priority, &err));
    return priority;
}

PX_TEST(a_parameter_sets_a_priority_unless_the_component_has_its_own)
{
    static const struct px_param own[] = {
        {.name = "priority", .kind = PX_PARAM_KIND_INT, .max = 900}, PX_PARAM_END};

    ck_assert_int_lt(priority_of(&found[0], NULL), 0);
    ok(px_params_add(params, "ptl_tcp_priority", "900", PX_SOURCE_ENV, 0,
                     "environment"));
    ck_assert_int_eq(priority_of(&found[0], NULL), 900);
    ck_assert_int_lt(priority_of(&found[1], NULL), 0);
    ck_assert_int_lt(priority_of(&found[0], own), 0);
    rt_assert_problems(params, "");
}

static bool can_wait(const char *address, const char *name)
{
    return px_choice_can_wait(&choice, &catalog, PX_FW_PTL, address, name);
}

PX_TEST(a_transport_waits_if_the_name_of_another_fits_the_address)
{
    ck_assert(!can_wait("tcp4://127.0.0.1:1", "tcp"));
    ck_assert(can_wait("tcp4://127.0.0.1:1", "usock"));
    ck_assert(can_wait("usock:///tmp/x", "tcp"));
    ck_assert(!can_wait("usock:///tmp/x", "usock"));
    ck_assert(can_wait("", "tcp")); /* no address */
    ck_assert(!can_wait(NULL, "tcp"));
    ck_assert(!can_wait("carrier-pigeon://loft", "tcp")); /* an unknown scheme */
    ck_assert(!px_choice_can_wait(&choice, &catalog, PX_FW_GDS, "tcp4://x", "hash"));
    ok(choose("^tcp"));
    ck_assert(!can_wait("tcp4://127.0.0.1:1", "usock"));
    ok(choose("tcp,usock")); /* both were requested */
    ck_assert(!can_wait("tcp4://127.0.0.1:1", "usock"));
}

PX_TEST_MAIN("plugin/choice", set_up, tear_down)
