/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/config/param_impl.h"
#include "core/base/str.h"
#include "alloc_fail.h"
#include "test/unit/plugin/fake_files.h"

#include <sys/statvfs.h>

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
    ok(px_params_set(params, "ptl_x_count", "8", PX_SOURCE_ENV, "environment"));
    ok(px_params_parse(params, "ptl_x_", more_table, &conf, &err));
    ck_assert_uint_eq(conf.count, 8); /* same priority */
}

PX_TEST(strings_stay_valid_when_they_are_overruled_later)
{
    struct conf conf = {0};

    ok(px_params_set(params, "ptl_x_label", "one", PX_SOURCE_ARG, "x"));
    ok(px_params_parse(params, "ptl_x_", table, &conf, &err));
    for (int i = 0; i < 100; i++)
        ok(px_params_set(params, "ptl_x_label", "two", PX_SOURCE_ARG, "x"));

    ck_assert_str_eq(conf.label, "one");
    ck_assert_str_eq(px_params_text(params, "ptl_x_label", NULL, NULL), "two");
}

PX_TEST(a_setuid_program_heeds_neither_environment_nor_home)
{
    static const struct {
        mode_t mode;
        const char *wanted_line;
    } cases[] = {{0755, "setuid 0, environment 1, home 2, namespace users\n"},
                 {04755,
                  "setuid 1, environment none, home none, namespace none\n"}};
    struct statvfs fs;
    rt_path probe;

    PX_TEST_NEEDS_ROOT;
    PX_TEST_NEEDS(statvfs(etc, &fs) == 0 && !(fs.f_flag & ST_NOSUID),
                  "setuid programs in TMPDIR");
    rt_write(home, ".pmix/mca-params.conf", "probe_home = 2\n");
    setenv("HOME", home, 1);
    setenv("PMIX_MCA_probe_env", "1", 1);
    setenv("PMIX_NAMESPACE", "users", 1);
    ck_assert_int_eq(chmod(etc, 0755), 0);
    rt_join(probe, etc, "probe");
    rt_copy(SETUID_PROBE, probe);
    ck_assert_int_eq(chown(probe, 4711, 4711), 0);
    for (size_t i = 0; i < PX_COUNT(cases); i++) {
        char line[128] = "";

        ck_assert_int_eq(chmod(probe, cases[i].mode), 0);
        FILE *f = popen(probe, "r"); /* exec of a setuid file sets AT_SECURE */
        ck_assert_ptr_nonnull(f);
        ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
        ck_assert_int_eq(pclose(f), 0);
        ck_assert_str_eq(line, cases[i].wanted_line);
    }
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
    ok(px_params_set(params, name, value, source, "here"));
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

PX_TEST(the_same_line_is_kept_and_reported_once)
{
    pmix_status_t rc;

    px_params_complain(params, PX_PARAM_WRONG, "a %d", 1);
    px_params_complain(params, PX_PARAM_WRONG, "a %d", 1);
    assert_settles("warn", PMIX_SUCCESS, 1);
    char *text = settle(&rc, &err);
    ck_assert_str_eq(text, "");
    free(text);
}

PX_TEST(problems_that_no_other_process_gets_are_reported_here)
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
    for (unsigned nth = 0; px_alloc_next(&nth); px_alloc_fail_end()) {
        params->unseen = &params->first;
        px_params_complain(params, PX_PARAM_WRONG, "line %u", nth);
        px_params_look_for_unknown(params);
    }
    ck_assert_uint_ge(params->n_problems, 1);
}

PX_TEST_MAIN("config/param", set_up, tear_down)
