/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables, problems, sources and the syntax of files. test/integration/params.py tests
 * precedence and mistakes with whole programs. */
#include "core/config/param_impl.h"
#include "core/base/str.h"
#include "alloc_fail.h"
#include "test/unit/rt/rt_test.h"

struct conf {
    int64_t port;
    bool fast;
    const char *label;
};

static const struct px_param table[] = {
    PX_PARAM_INT(struct conf, port, "80", 1, 65535, "A port"),
    PX_PARAM_BOOL(struct conf, fast, "true", "Whether to hurry"),
    PX_PARAM_STRING(struct conf, label, NULL, "A text"),
    PX_PARAM_END,
};

static rt_path etc, home;
static struct px_params *params;
static struct px_err err;

/* Creates params anew from the files present. */
static pmix_status_t create(char *const *env, bool privileged)
{
    const struct px_param_origin origin = {
        .sysconfdir = etc, .home = home, .env = env, .privileged = privileged};

    px_params_destroy(params);
    params = NULL;
    return px_params_create_from(&origin, &params, &err);
}

static void set_up(void)
{
    rt_path dot;

    rt_make_dir(etc);
    rt_make_dir(home);
    rt_join(dot, home, ".pmix");
    ck_assert_int_eq(mkdir(dot, 0700), 0);
    ok(create(NULL, false));
}

static void tear_down(void)
{
    px_params_destroy(params);
}

static void assert_port(int64_t port)
{
    struct conf conf = {0};

    ck_assert_msg(px_params_parse(params, "ptl_x_", table, &conf, &err) == PMIX_SUCCESS,
                  "%s", err.text);
    ck_assert_int_eq(conf.port, port);
}

/* Returns the output of px_params_report on stderr; *rc is its status. The caller frees
 * the text. */
static char *settle(pmix_status_t *rc, struct px_err *why)
{
    struct rt_capture c = rt_capture_begin();

    *rc = px_params_report(params, why);
    return rt_capture_end(&c);
}

PX_TEST(a_bad_value_that_is_overruled_is_reported_all_the_same)
{
    char *env[] = {(char *)"PMIX_MCA_ptl_x_port=9", NULL};

    rt_write(etc, "pmix-mca-params.conf", "ptl_x_port = banana\n");
    ok(create(env, false));
    assert_port(9);
    ck_assert_uint_eq(params->n_problems, 1);
    rt_assert_has(params->problems[0].text, "expected an integer from 1 to 65535");
}

struct more {
    uint64_t count;
    const char *const *names;
    const char *dir;
    struct px_param_version version;
};

static const struct px_param more_table[] = {
    PX_PARAM_UINT(struct more, count, "1", 0, 10, "A count",
                  .old_names = "ptl_x_number"),
    PX_PARAM_LIST(struct more, names, "x", "Names", .level = 9),
    PX_PARAM_PATH(struct more, dir, NULL, "A folder"),
    PX_PARAM_VERSION(struct more, version, "1.2", "A version"),
    PX_PARAM_END,
};

PX_TEST(lists_paths_counts_and_versions_are_parsed)
{
    char *env[] = {(char *)"PMIX_MCA_ptl_x_names= a, b ,,c",
                   (char *)"PMIX_MCA_ptl_x_dir=~/x", (char *)"PMIX_MCA_ptl_x_version=5",
                   (char *)"PMIX_MCA_ptl_x_count=10", NULL};
    struct more conf = {0};
    rt_path wanted;

    ok(px_params_parse(params, "ptl_x_", more_table, &conf, &err));
    ck_assert_str_eq(conf.names[0], "x");
    ck_assert_ptr_null(conf.names[1]);
    ck_assert_ptr_null(conf.dir);
    ck_assert_uint_eq(conf.version.minor, 2);
    ok(create(env, false));
    ok(px_params_parse(params, "ptl_x_", more_table, &conf, &err));
    ck_assert_uint_eq(conf.count, 10);
    ck_assert_str_eq(conf.names[0], "a");
    ck_assert_str_eq(conf.names[1], "b");
    ck_assert_str_eq(conf.names[2], "c");
    ck_assert_ptr_null(conf.names[3]);
    rt_join(wanted, home, "x");
    ck_assert_str_eq(conf.dir, wanted);
    ck_assert_uint_eq(conf.version.major, 5);
    ck_assert_uint_eq(conf.version.minor, 0);
    rt_assert_problems(params, "");
}

PX_TEST(whether_a_text_fits_can_be_asked)
{
    static const struct px_param list = {.kind = PX_PARAM_KIND_LIST};
    static const struct px_param path = {.kind = PX_PARAM_KIND_PATH};
    static const struct px_param number = {.kind = PX_PARAM_KIND_INT, .max = 9};
    const struct px_param_origin nobody = {0};

    ck_assert(px_params_fits(params, &list, "a, b"));
    ck_assert(px_params_fits(params, &number, "9"));
    ck_assert(!px_params_fits(params, &number, "10"));
    ck_assert(px_params_fits(params, &path, "/x"));
    ck_assert(!px_params_fits(params, &path, "x"));
    ck_assert(px_params_fits(params, &path, "~/x"));
    px_params_destroy(params);
    ok(px_params_create_from(&nobody, &params, &err));
    ck_assert(!px_params_fits(params, &path, "~/x")); /* unknown home */
}

PX_TEST(tables_of_the_core_take_no_memory_without_settings)
{
    ok(px_params_check_core(params, &err));
    ck_assert_uint_eq(params->declared.n_used, 0);
}

PX_TEST(every_table_of_the_core_is_checked)
{
    char *env[] = {(char *)"PMIX_MCA_client_connect_timeout=soon",
                   (char *)"PMIX_MCA_server_handshake_timeout=5s", NULL};

    ok(create(env, false));
    ok(px_params_check_core(params, &err));
    px_params_look_for_unknown(params);
    rt_assert_problems(
        params, "environment: PMIX_MCA_client_connect_timeout = \"soon\": expected "
                "a duration such as 250ms, 5s, 2m or 1h, from 1 to 3600000 ms; using "
                "the default, 60s\n");
    ck_assert_str_eq(params->sysconfdir, etc);
}

PX_TEST(an_old_name_works_and_the_new_one_is_reported)
{
    char *env[] = {(char *)"PMIX_MCA_ptl_x_number=7", NULL};
    struct more conf = {0};

    ok(create(env, false));
    ok(px_params_parse(params, "ptl_x_", more_table, &conf, &err));
    ck_assert_uint_eq(conf.count, 7);
    rt_assert_problems(
        params, "environment: PMIX_MCA_ptl_x_number is called ptl_x_count now\n");
    ok(px_params_add(params, "ptl_x_count", "8", PX_SOURCE_ENV, 0, "environment"));
    ok(px_params_parse(params, "ptl_x_", more_table, &conf, &err));
    ck_assert_uint_eq(conf.count, 8); /* same priority */
}

PX_TEST(strings_stay_valid_when_they_are_overruled_later)
{
    struct conf conf = {0};

    ok(px_params_add(params, "ptl_x_label", "one", PX_SOURCE_ARG, 0, "x"));
    ok(px_params_parse(params, "ptl_x_", table, &conf, &err));
    for (int i = 0; i < 100; i++)
        ok(px_params_add(params, "ptl_x_label", "two", PX_SOURCE_ARG, 0, "x"));

    ck_assert_str_eq(conf.label, "one");
    ck_assert_str_eq(px_params_text(params, "ptl_x_label", NULL, NULL), "two");
}

PX_TEST(running_out_of_memory_is_an_error_or_does_no_harm)
{
    char *env[] = {(char *)"PMIX_MCA_ptl_x_port=9", NULL};
    pmix_status_t rc;

    PX_TEST_NEEDS_ALLOC;
    rt_write(etc, "pmix-mca-params.conf", "a = 1\nb = 2\n");
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        rc = create(env, true);
        px_alloc_fail_end();
        ck_assert(rc == PMIX_ERR_NOMEM || rc == PMIX_SUCCESS);
        if (rc)
            ck_assert_ptr_null(params);
        else
            assert_port(9);
    }
    ok(rc);
}

/* ---- problems ------------------------------------------------------------------------- */

static void set(const char *name, const char *value, enum px_param_source source)
{
    ok(px_params_add(params, name, value, source, 0, "here"));
}

static void assert_settles(const char *strict, pmix_status_t status, int n_lines)
{
    pmix_status_t rc;

    set("mca_base_strict", strict, PX_SOURCE_ENV);
    PX_AUTOFREE char *text = settle(&rc, &err);
    ck_assert_int_eq(rc, status);
    ck_assert_int_eq(rt_count(text, "\n"), n_lines);
}

PX_TEST(the_same_line_is_kept_and_reported_once)
{
    pmix_status_t rc;

    px_params_complain(params, PX_PARAM_WRONG, "a %d", 1);
    px_params_complain(params, PX_PARAM_WRONG, "a %d", 1);
    assert_settles("warn", PMIX_SUCCESS, 1);
    PX_AUTOFREE char *text = settle(&rc, &err);
    ck_assert_str_eq(text, "");
}

PX_TEST(problems_that_no_other_process_gets_are_reported_here)
{
    pmix_status_t rc;

    px_params_complain(params, PX_PARAM_WRONG, "lost?");
    set("mca_base_strict", "error", PX_SOURCE_ENV);
    PX_AUTOFREE char *text = settle(&rc, NULL);
    rt_assert_has(text, "param: lost?\n");
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
    for (unsigned nth = 0; px_alloc_next(&nth); px_alloc_fail_end()) {
        params->unseen = &params->first;
        px_params_complain(params, PX_PARAM_WRONG, "line %u", nth);
        px_params_look_for_unknown(params);
    }
    ck_assert_uint_ge(params->n_problems, 1);
}

/* ---- sources -------------------------------------------------------------------------- */

static void assert_value(const char *name, const char *value)
{
    const char *text = px_params_text(params, name, NULL, NULL);

    ck_assert_msg(text && strcmp(text, value) == 0, "%s is %s, not %s", name,
                  text ? text : "unset", value);
}

PX_TEST(a_guarded_process_does_not_read_what_others_can_write)
{
    rt_path file;

    rt_join(file, etc, "x.conf");
    for (int open_to_all = 0; open_to_all < 2; open_to_all++) {
        rt_write(etc, "x.conf", open_to_all ? "a = 2\n" : "a = 1\n");
        ok(chmod(file, open_to_all ? 0666 : 0644));
        ok(px_params_read_file(params, file, PX_SOURCE_USER_FILE, false, true));
        assert_value("a", "1");
    }
    ck_assert_uint_eq(params->n_problems, 1);
    rt_assert_has(params->problems[0].text, "writable by all users");
}

PX_TEST(files_that_cannot_be_read_are_named)
{
    static const struct {
        const char *text, *problem;
    } rows[] = {
        {"include x.conf", "it includes itself"},
        {"include back.conf", "it includes itself"},
        {"include .", "Is a directory"},
        {"include pipe", "it is not a regular file"},
        {"include big", "it has more than 1 MiB"},
        {"include /dev/null", "it is not a regular file"},
        {"include missing", "No such file or directory"},
        {"include x.conf/x", "Not a directory"},
        {"nonsense", "x.conf:1: \"nonsense\": expected name = value"},
        {"include deep0", "files include each other too deeply"},
    };
    rt_path file, path;

    rt_write(etc, "back.conf", "a = 2\ninclude ./x.conf\n");
    for (int i = 0; i < 20; i++) {
        PX_AUTOFREE char *name = px_strf("deep%d", i),
                         *next = px_strf("include deep%d", i + 1);
        rt_write(etc, name, next);
    }
    rt_join(path, etc, "pipe");
    ok(mkfifo(path, 0600));
    rt_write(etc, "big", "");
    rt_join(path, etc, "big");
    ok(truncate(path, (1 << 20) + 1));
    rt_join(file, etc, "x.conf");
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ok(create(NULL, false));
        rt_write(etc, "x.conf", rows[i].text);
        ok(px_params_read_file(params, file, PX_SOURCE_USER_FILE, false, false));
        ck_assert_msg(params->n_problems == 1, "%s", rows[i].text);
        rt_assert_has(params->problems[0].text, rows[i].problem);
    }
    rt_write(etc, "x.conf", "a = 1\ninclude ok.conf\n");
    rt_write(etc, "ok.conf", "b = 3\n");
    ok(px_params_read_file(params, file, PX_SOURCE_USER_FILE, false, false));
    assert_value("a", "1");
    assert_value("b", "3");
}

PX_TEST(parameters_name_further_files)
{
    rt_path named, user;
    rt_join(named, etc, "named.conf");
    rt_join(user, etc, "user.conf");
    rt_write(etc, "named.conf", "a = named\nb = named\n");
    rt_write(etc, "user.conf", "a = user\nc = user\n");
    rt_write(home, ".pmix/mca-params.conf", "c = home\nd = home\n");
    PX_AUTOFREE char *files = px_strf("PMIX_MCA_mca_base_param_files=%s:relative",
                                      named),
                     *own = px_strf("PMIX_MCA_mca_base_user_param_file=%s", user);

    ok(create((char *[]){files, own, NULL}, false));
    assert_value("b", "named");
    assert_value("c", "user");
    ck_assert_ptr_null(
        px_params_text(params, "d", NULL, NULL)); /* another file replaces it */
    ck_assert_uint_eq(params->n_problems, 1);
    rt_assert_has(params->problems[0].text,
                  "mca_base_param_files = \"relative\": expected absolute paths");
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

PX_TEST(attributes_of_init_functions_are_settings)
{
    const bool yes = true, no = false;
    const uint32_t port = 4711;
    const struct {
        const char *key;
        const void *value;
        pmix_data_type_t type;
        const char *name, *text; /* NULL: not set */
    } rows[] = {
        {PMIX_SOCKET_MODE, &port, PMIX_UINT32, "ptl_usock_mode", "4711"},
        {PMIX_TCP_IPV4_PORT, &port, PMIX_UINT32, "ptl_tcp_port_min", "4711"},
        {PMIX_TCP_IPV6_PORT, &port, PMIX_UINT32, "ptl_tcp_port_v6", "4711"},
        {PMIX_TCP_IF_INCLUDE, "lo,eth0", PMIX_STRING, "ptl_tcp_interfaces", "lo,eth0"},
        {PMIX_TCP_IF_EXCLUDE, "eth0", PMIX_STRING, "ptl_tcp_no_interfaces", "eth0"},
        {PMIX_TCP_DISABLE_IPV4, &yes, PMIX_BOOL, "ptl_tcp_no_ipv4", "true"},
        {PMIX_TCP_DISABLE_IPV6, &no, PMIX_BOOL, "ptl_tcp_no_ipv6", NULL},
    };
    const char *where;
    enum px_param_source source;
    pmix_info_t info;

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ok(PMIx_Info_load(&info, rows[i].key, rows[i].value, rows[i].type));
        ok(px_params_read_info(params, &info, 1, "info"));
        const char *text = px_params_text(params, rows[i].name, &source, &where);

        ck_assert(!text == !rows[i].text && (!text || strcmp(text, rows[i].text) == 0));
        PMIx_Info_destruct(&info);
    }
    ck_assert_uint_eq(params->n_problems, 0);
    ok(PMIx_Info_load(&info, PMIX_TCP_IPV4_PORT, &(float){1.5F}, PMIX_FLOAT));
    ok(px_params_read_info(params, &info, 1, "info"));
    ck_assert_str_eq(params->problems[0].text,
                     "info: pmix.tcp.ipv4: expected a string or a number");
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
    PX_AUTOFREE char *copy = strdup(content);
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

PX_TEST_MAIN("config/param", set_up, tear_down)
