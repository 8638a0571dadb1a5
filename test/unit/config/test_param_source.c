/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings from files, the environment and infos; and the syntax of files. */
#include "core/base/str.h"
#include "core/config/param_impl.h"
#include "test/unit/rt/rt_test.h"

enum { SIZE = 1 << 20 };

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

PX_TEST(a_line_sets_a_name_to_a_value_and_its_place_is_known)
{
    enum px_param_source source;
    const char *where;
    PX_AUTOFREE char *wanted = px_strf("%s:3", file);

    ok(read_file("a = 1\n\n  b=two  \n", false));

    assert_value("a", "1");
    ck_assert_str_eq(px_params_text(params, "b", &source, &where), "two");
    ck_assert_int_eq(source, PX_SOURCE_USER_FILE);
    ck_assert_str_eq(where, wanted);
}

PX_TEST(of_equal_names_the_last_counts_and_another_value_is_a_problem)
{
    ok(read_file("a = 1\na = 1\n", false));
    ck_assert_str_eq(problem(), "");
    ok(read_file("a = 1\n\na = 2\n", false));

    assert_value("a", "2");
    rt_assert_has(problem(), "x.conf:3: a = \"2\": was \"1\" at ");
    rt_assert_has(problem(), "x.conf:1; the last counts");
}

PX_TEST(a_malformed_line_is_a_problem_that_names_file_line_and_text)
{
    static const char *const bad[] = {"a = 1\nno equals sign\n",
                                      "# x\nname",
                                      "\n= value",
                                      "\nna me = 1",
                                      "\na = \"open",
                                      "\na = 'x' y",
                                      "\nb\xc3\xa4 = 1",
                                      "\n[section]",
                                      "\ninclude \"x",
                                      "\ninclude ''"};

    for (size_t i = 0; i < PX_COUNT(bad); i++) {
        size_t before = params->n_problems;

        ok(read_file(bad[i], false));
        ck_assert_uint_eq(params->n_problems, before + 1);
        rt_assert_has(problem(), "x.conf:2: \"");
        ck_assert_ptr_null(strchr(problem(), '\n'));
    }
    assert_value("a", "1"); /* the valid lines count */
    read_file("just words", false);
    rt_assert_has(problem(), "x.conf:1: \"just words\": expected name = value");
}

PX_TEST(a_file_may_include_others_beside_it)
{
    enum px_param_source source;
    const char *where;

    rt_write(dir, "y.conf", "b = 2\n");
    ok(read_file("a = 1\ninclude y.conf # more\nb = 3\ninclude = 5\n", false));

    ck_assert_str_eq(px_params_text(params, "b", &source, &where), "3");
    ck_assert_int_eq(source, PX_SOURCE_USER_FILE);
    rt_assert_has(where, "x.conf:3");
    assert_value("include", "5");
    ck_assert_str_eq(problem(), ""); /* two files may differ */
    ok(read_file("include \"y.conf\"\n", false));
    px_params_text(params, "b", NULL, &where);
    rt_assert_has(where, "y.conf:1");
}

PX_TEST(an_include_that_does_not_work_is_a_problem)
{
    ok(read_file("a = 1\ninclude nonesuch.conf\n", false));
    rt_assert_has(problem(), "x.conf:2: parameter file ");
    rt_assert_has(problem(), "nonesuch.conf not read: No such file or directory");
    ok(read_file("include x.conf\na = 2\n", false));
    rt_assert_has(problem(), "x.conf:1: parameter file ");
    rt_assert_has(problem(), "x.conf not read: it includes itself");
    assert_value("a", "2");
    for (int i = 0; i < 20; i++) {
        char name[32], next[32];
        snprintf(name, sizeof(name), "%d.conf", i);
        snprintf(next, sizeof(next), "include %d.conf\n", i + 1);
        rt_write(dir, name, next);
    }
    PX_AUTOFREE char *include = px_strf("include %s/0.conf", dir);
    ok(read_file(include, false));
    rt_assert_has(problem(), "files include each other too deeply");
}

static void assert_file(size_t i, const char *name, bool read)
{
    rt_path wanted;

    rt_join(wanted, dir, name);
    ck_assert_uint_lt(i, params->n_files);
    ck_assert_str_eq(params->files[i].path, wanted);
    ck_assert_int_eq(params->files[i].source, PX_SOURCE_USER_FILE);
    ck_assert_int_eq(params->files[i].read, read);
}

PX_TEST(each_file_that_was_looked_for_is_remembered)
{
    rt_path gone;

    rt_join(gone, dir, "gone.conf");
    rt_write(dir, "y.conf", "b = 1\n");
    ok(px_params_read_file(params, gone, PX_SOURCE_USER_FILE, false, false));
    ok(read_file("include y.conf\na = 1\ninclude z.conf\n", false));

    ck_assert_uint_eq(params->n_files, 4);
    assert_file(0, "gone.conf", false);
    assert_file(1, "x.conf", true);
    assert_file(2, "y.conf", true);
    assert_file(3, "z.conf", false);
    const struct px_setting *a = px_map_sget(&params->by_name, "a");
    const struct px_setting *b = px_map_sget(&params->by_name, "b");
    ck_assert_uint_eq(a->file, 2); /* the first line is 1 */
    ck_assert_uint_eq(b->file, 3);
}

PX_TEST(an_absent_file_matters_only_if_it_was_asked_for)
{
    ok(px_params_read_file(params, file, PX_SOURCE_USER_FILE, false, false));
    ok(px_params_read_file(params, file, PX_SOURCE_USER_FILE, false, true));
    ck_assert_str_eq(problem(), "");
    for (int privileged = 0; privileged < 2; privileged++) {
        ok(px_params_read_file(params, file, PX_SOURCE_NAMED_FILE, true, privileged));
        rt_assert_has(problem(), "x.conf not read: No such file or directory");
        while (params->n_problems) /* room for the same problem again */
            free(params->problems[--params->n_problems].text);
    }
}

PX_TEST(what_is_no_text_file_of_a_bearable_size_is_not_read_and_does_not_hang)
{
    rt_path fifo, large, binary;

    rt_join(fifo, dir, "fifo");
    rt_join(large, dir, "large");
    rt_join(binary, dir, "binary");
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    rt_write(dir, "large", "a = 1\n");
    ck_assert_int_eq(truncate(large, (1 << 20) + 1), 0);
    rt_write(dir, "binary", "a = 1");
    ck_assert_int_eq(truncate(binary, 7), 0);
    const char *const odd[][2] = {{fifo, "fifo not read: "},
                                  {dir, "not read: "},
                                  {"/dev/zero", "/dev/zero not read: "},
                                  {large, "large not read: it has more than 1 MiB"},
                                  {binary, "binary not read: it is not a text file"}};
    for (size_t i = 0; i < PX_COUNT(odd); i++) {
        ok(px_params_read_file(params, odd[i][0], PX_SOURCE_USER_FILE, false, false));
        ck_assert_uint_eq(params->n_problems, i + 1);
        rt_assert_has(problem(), odd[i][1]);
    }
    ck_assert_ptr_null(px_params_text(params, "a", NULL, NULL));
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

PX_TEST(a_name_has_letters_digits_and_three_signs)
{
    ck_assert(px_param_is_name("ptl_tcp-9.x"));
    ck_assert(!px_param_is_name(""));
    ck_assert(!px_param_is_name("a b"));
    ck_assert(!px_param_is_name("a\xc3\xa9"));
    ck_assert(!px_param_is_name("a\n"));
}

PX_TEST(what_is_shown_of_a_line_is_cut)
{
    char text[200];
    struct px_param_text rest = {.rest = text, .line = 7};
    struct px_param_line line;

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    ck_assert(px_param_next_line(&rest, &line));
    ck_assert_uint_eq(strlen(line.shown), sizeof(line.shown) - 1);
    ck_assert_uint_eq(line.number, 7);
    ck_assert(!px_param_next_line(&rest, &line));
}

/* A quadratic parser would take minutes; Check ends the test after seconds. */
PX_TEST(a_line_of_half_a_million_lines_takes_no_time)
{
    char *content = malloc(SIZE + 1);

    ck_assert_ptr_nonnull(content);
    for (size_t i = 0; i < SIZE; i += 2)
        memcpy(content + i, "\\\n", 2);
    content[SIZE] = '\0';
    ck_assert_str_eq(read_as(content), "");
    memcpy(content + SIZE - 6, "a = 1\n", 6);
    ck_assert_str_eq(read_as(content), "1 a=1\n");
    free(content);
}

PX_TEST_MAIN("config/param_source", set_up, tear_down)
