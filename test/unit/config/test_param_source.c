/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings from files, the environment and infos; and the syntax of files. */
#include "core/base/str.h"
#include "core/config/param_impl.h"
#include "test/unit/rt/rt_test.h"

static rt_path dir;
static rt_path file;
static struct px_params *params;
static struct px_err err;

static void set_up(void)
{
    const struct px_param_origin nowhere = {0};

    rt_make_dir(dir);
    rt_join(file, dir, "x.conf");
    ok(px_params_create_from(&nowhere, &params, &err));
}

static void tear_down(void)
{
    px_params_destroy(params);
}

static pmix_status_t read_file(const char *text, bool privileged)
{
    rt_write(dir, "x.conf", text);
    return px_params_read_file(params, file, PX_SOURCE_USER_FILE, false, privileged);
}

/* Returns the last problem, or "". */
static const char *problem(void)
{
    return params->n_problems ? params->problems[params->n_problems - 1].text : "";
}

static void assert_value(const char *name, const char *value)
{
    const char *text = px_params_text(params, name, NULL, NULL);

    ck_assert_msg(text && strcmp(text, value) == 0, "%s is %s, not %s", name,
                  text ? text : "unset", value);
}

PX_TEST(a_guarded_process_does_not_read_what_others_can_write)
{
    ok(read_file("a = 1\n", true));
    assert_value("a", "1");

    ck_assert_int_eq(chmod(file, 0666), 0);
    ok(read_file("a = 2\n", true));
    assert_value("a", "1");
    rt_assert_has(problem(), "writable by all users");
}

PX_TEST(info_gives_what_has_the_prefix)
{
    pmix_info_t info[4];
    enum px_param_source source;
    const char *where;
    int number = 3;

    ok(PMIx_Info_load(&info[0], "PMIX_MCA_ptl", "tcp", PMIX_STRING));
    ok(PMIx_Info_load(&info[1], "PMIX_MCA_n", &number, PMIX_INT));
    ok(PMIx_Info_load(&info[2], "PMIX_MCA_x y", "1", PMIX_STRING));
    ok(PMIx_Info_load(&info[3], PMIX_TIMEOUT, &number, PMIX_INT));
    ok(px_params_read_info(params, info, PX_COUNT(info), "info"));

    ck_assert_str_eq(px_params_text(params, "ptl", &source, &where), "tcp");
    ck_assert_int_eq(source, PX_SOURCE_ARG);
    ck_assert_str_eq(where, "info");
    ck_assert_uint_eq(params->n_problems, 2);
    ck_assert_str_eq(params->problems[0].text, "info: PMIX_MCA_n: expected a string");
    for (size_t i = 0; i < PX_COUNT(info); i++)
        PMIx_Info_destruct(&info[i]);
}

PX_TEST(the_environment_gives_what_has_the_prefix)
{
    char *env[] = {(char *)"PATH=/bin",       (char *)"PMIX_MCA_ptl=tcp",
                   (char *)"PMIX_MCA_empty=", (char *)"PMIX_MCA_novalue",
                   (char *)"PMIX_MCA_o dd=1", (char *)"XPMIX_MCA_x=1",
                   (char *)"PMIX_MCA_a=b=c",  NULL};
    enum px_param_source source;
    const char *where;

    ok(px_params_read_env(params, env));

    ck_assert_str_eq(px_params_text(params, "ptl", &source, &where), "tcp");
    ck_assert_int_eq(source, PX_SOURCE_ENV);
    ck_assert_str_eq(where, "environment");
    assert_value("empty", "");
    assert_value("a", "b=c");
    ck_assert_ptr_null(px_params_text(params, "novalue", NULL, NULL));
    ck_assert_ptr_null(px_params_text(params, "x", NULL, NULL));
    ok(px_params_read_env(params, NULL));
}

PX_TEST(a_number_in_PMIX_DEBUG_is_a_parameter_under_several_names)
{
    char *env[] = {(char *)"PMIX_MCA_pcleanup_inproc_verbose=1",
                   (char *)"PMIX_DEBUG=10", NULL};
    char *text[] = {(char *)"PMIX_DEBUG=all", (char *)"PMIX_DEBUGGER=1", NULL};

    ok(px_params_read_env(params, text));
    ck_assert_ptr_null(px_params_text(params, "pcleanup_janitor_verbose", NULL, NULL));
    ok(px_params_read_env(params, env));
    assert_value("pcleanup_janitor_verbose", "10");
    assert_value("pcleanup_inproc_verbose",
                 "1"); /* the component's own name is stronger */
    ck_assert_uint_eq(params->n_problems, 0);
}

/* ---- syntax, without files ----------------------------------------------------------- */

/* Returns the parser's results for a text: "1 a=b\n", "2 include x\n", "3 !
 * problem\n". */
static const char *read_as(const char *content)
{
    static char results[1024];
    char *copy = strdup(content);
    struct px_param_text text = {.rest = copy, .line = 1};
    struct px_param_line line;
    size_t len = 0;

    results[0] = '\0';
    while (px_param_next_line(&text, &line)) {
        char *at = results + len;
        size_t room = sizeof(results) - len;
        int n = line.wrong ? snprintf(at, room, "%lu ! %s\n", line.number, line.wrong)
                : line.include
                    ? snprintf(at, room, "%lu include %s\n", line.number, line.include)
                    : snprintf(at, room, "%lu %s=%s\n", line.number, line.name,
                               line.value);
        len += (size_t)n;
        ck_assert_uint_lt(len, sizeof(results));
    }
    free(copy);
    return results;
}

PX_TEST(lines_are_settings_includes_or_wrong)
{
    static const struct {
        const char *text, *read;
    } rows[] = {
        {"", ""},
        {"\n\n# x\n \t\r\n", ""},
        {"a = b\ninclude x # y\nc d",
         "1 a=b\n2 include x\n3 ! expected name = value\n"},
        {"include = 1\ninclude=2\nincluded x",
         "1 include=1\n2 include=2\n3 ! expected name = value\n"},
        /* comments, the last one without white space before it */
        {"# a = 1\n\t # x\r\n\r\nb = 2 # two\r\nc = a#b\n#", "4 b=2\n5 c=a#b\n"},
        /* quotes keep white space and comment signs */
        {"a = \" x # y \" # z\nb = 'set \"x\"'\nc = \"\"\nd = x\"y\"",
         "1 a= x # y \n2 b=set \"x\"\n3 c=\n4 d=x\"y\"\n"},
        {"a =\nb = x=y=z\nc = # nothing", "1 a=\n2 b=x=y=z\n3 c=\n"},
        /* continued lines have the number of their first line */
        {"a = 1, \\\n 2\nb = 3", "1 a=1,   2\n3 b=3\n"},
        {"a = 1\\\r\n2", "1 a=1 2\n"},
        {"\\\n\\\nb = 3\\", "1 b=3\\\n"},
        {"a = \\\n\\\r\n1\nbad\n", "1 a=1\n4 ! expected name = value\n"},
        /* comments are not continued */
        {"# x \\\na = 1", "2 a=1\n"},
        {"a = 1 # x \\\nb = 2", "1 a=1\n"},
        {" \\\n # x \\\na = 1", "3 a=1\n"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        ck_assert_str_eq(read_as(rows[i].text), rows[i].read);
}

PX_TEST_MAIN("config/param_source", set_up, tear_down)
