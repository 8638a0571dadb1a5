/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/rt/param_impl.h"
#include "rt_test.h"

static rt_path dir;
static rt_path file;
static struct px_params *params;
static struct px_err err;

static void set_up(void)
{
    const struct px_param_origin nowhere = {0};

    rt_make_dir(dir);
    rt_join(file, dir, "x.conf");
    ck_assert_int_eq(px_params_create_from(&nowhere, &params, &err), PMIX_SUCCESS);
}

static void tear_down(void)
{
    px_params_destroy(params);
    rt_remove_dir(dir);
}

static pmix_status_t read_file(const char *text, bool guarded)
{
    rt_write(dir, "x.conf", text);
    return px_params_read_file(params, file, PX_SOURCE_USER_FILE, guarded, &err);
}

static void assert_value(const char *name, const char *value)
{
    const char *text = px_params_text(params, name, NULL, NULL);

    ck_assert_msg(text && strcmp(text, value) == 0, "%s is %s, not %s", name,
                  text ? text : "unset", value);
}

START_TEST(a_line_sets_a_name_to_a_value_and_its_place_is_known)
{
    enum px_param_source source;
    const char *where;
    rt_path wanted;

    ck_assert_int_eq(read_file("a = 1\n\n  b=two  \n", false), PMIX_SUCCESS);

    assert_value("a", "1");
    ck_assert_str_eq(px_params_text(params, "b", &source, &where), "two");
    ck_assert_int_eq(source, PX_SOURCE_USER_FILE);
    ck_assert_int_gt(snprintf(wanted, sizeof(wanted), "%.200s:3", file), 0);
    ck_assert_str_eq(where, wanted);
}
END_TEST

START_TEST(comments_blank_lines_and_windows_line_ends_are_nothing)
{
    ck_assert_int_eq(
        read_file("# a = 1\n\t # x\r\n\r\nb = 2 # two\r\nc = a#b\n#", false),
        PMIX_SUCCESS);

    ck_assert_ptr_null(px_params_text(params, "a", NULL, NULL));
    assert_value("b", "2");
    assert_value("c", "a#b"); /* no white space before it */
}
END_TEST

START_TEST(quotes_keep_white_space_and_comment_signs)
{
    ck_assert_int_eq(
        read_file("a = \" x # y \" # z\nb = 'say \"x\"'\nc = \"\"\nd = x\"y\"", false),
        PMIX_SUCCESS);

    assert_value("a", " x # y ");
    assert_value("b", "say \"x\"");
    assert_value("c", "");
    assert_value("d", "x\"y\"");
}
END_TEST

START_TEST(a_value_may_be_empty_and_may_have_equals_signs)
{
    ck_assert_int_eq(read_file("a =\nb = x=y=z\nc = # nothing", false), PMIX_SUCCESS);

    assert_value("a", "");
    assert_value("b", "x=y=z");
    assert_value("c", "");
}
END_TEST

START_TEST(the_last_of_equal_names_counts)
{
    ck_assert_int_eq(read_file("a = 1\na = 2\n", false), PMIX_SUCCESS);

    assert_value("a", "2");
}
END_TEST

START_TEST(a_malformed_line_is_an_error_that_names_file_line_and_text)
{
    static const char *const bad[] = {"a = 1\nno equals sign\n",
                                      "# x\nname",
                                      "\n= value",
                                      "\nna me = 1",
                                      "\na = \"open",
                                      "\na = 'x' y",
                                      "\nb\xc3\xa4 = 1"};

    for (size_t i = 0; i < PX_COUNT(bad); i++) {
        ck_assert_int_eq(read_file(bad[i], false), PMIX_ERR_BAD_PARAM);
        rt_assert_has(err.text, "x.conf:2: \"");
        ck_assert_ptr_null(strchr(err.text, '\n'));
    }
    read_file("just words", false);
    rt_assert_has(err.text, "x.conf:1: \"just words\": expected name = value");
}
END_TEST

START_TEST(a_file_that_is_not_text_is_an_error)
{
    FILE *f = fopen(file, "w");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fwrite("a = 1\0b", 1, 7, f), 7);
    fclose(f);

    ck_assert_int_eq(px_params_read_file(params, file, PX_SOURCE_ENV, false, &err),
                     PMIX_ERR_BAD_PARAM);
    rt_assert_has(err.text, "not a text file");
}
END_TEST

START_TEST(an_absent_file_is_no_matter)
{
    struct rt_capture c = rt_capture_begin();

    pmix_status_t rc = px_params_read_file(params, file, PX_SOURCE_USER_FILE, false,
                                           &err);
    pmix_status_t guarded = px_params_read_file(params, file, PX_SOURCE_USER_FILE, true,
                                                &err);
    char *text = rt_capture_end(&c);

    ck_assert_int_eq(rc, PMIX_SUCCESS);
    ck_assert_int_eq(guarded, PMIX_SUCCESS);
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

START_TEST(what_is_no_regular_file_is_not_read_and_does_not_hang)
{
    rt_path fifo;

    rt_join(fifo, dir, "fifo");
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    const char *const odd[] = {fifo, dir, "/dev/zero"};
    for (size_t i = 0; i < PX_COUNT(odd); i++) {
        struct rt_capture c = rt_capture_begin();
        pmix_status_t rc = px_params_read_file(params, odd[i], PX_SOURCE_USER_FILE,
                                               false, &err);
        char *text = rt_capture_end(&c);

        ck_assert_int_eq(rc, PMIX_SUCCESS);
        rt_assert_has(text, odd[i]);
        ck_assert_int_eq(rt_count(text, "\n"), 1);
        free(text);
    }
}
END_TEST

START_TEST(a_guarded_process_does_not_read_what_others_can_write)
{
    ck_assert_int_eq(read_file("a = 1\n", true), PMIX_SUCCESS);
    assert_value("a", "1");

    ck_assert_int_eq(chmod(file, 0666), 0);
    struct rt_capture c = rt_capture_begin();
    pmix_status_t rc = read_file("a = 2\n", true);
    char *text = rt_capture_end(&c);

    ck_assert_int_eq(rc, PMIX_SUCCESS);
    assert_value("a", "1");
    rt_assert_has(text, "writable by everybody");
    free(text);
}
END_TEST

START_TEST(the_environment_gives_what_has_the_prefix)
{
    char *env[] = {(char *)"PATH=/bin",       (char *)"PMIX_MCA_ptl=tcp",
                   (char *)"PMIX_MCA_empty=", (char *)"PMIX_MCA_novalue",
                   (char *)"PMIX_MCA_o dd=1", (char *)"XPMIX_MCA_x=1",
                   (char *)"PMIX_MCA_a=b=c",  NULL};
    enum px_param_source source;
    const char *where;

    ck_assert_int_eq(px_params_read_env(params, env), PMIX_SUCCESS);

    ck_assert_str_eq(px_params_text(params, "ptl", &source, &where), "tcp");
    ck_assert_int_eq(source, PX_SOURCE_ENV);
    ck_assert_str_eq(where, "environment");
    assert_value("empty", "");
    assert_value("a", "b=c");
    ck_assert_ptr_null(px_params_text(params, "novalue", NULL, NULL));
    ck_assert_ptr_null(px_params_text(params, "x", NULL, NULL));
    ck_assert_int_eq(px_params_read_env(params, NULL), PMIX_SUCCESS);
}
END_TEST

PX_TEST_MAIN_WITH("rt/param_source", set_up, tear_down,
                  a_line_sets_a_name_to_a_value_and_its_place_is_known,
                  comments_blank_lines_and_windows_line_ends_are_nothing,
                  quotes_keep_white_space_and_comment_signs,
                  a_value_may_be_empty_and_may_have_equals_signs,
                  the_last_of_equal_names_counts,
                  a_malformed_line_is_an_error_that_names_file_line_and_text,
                  a_file_that_is_not_text_is_an_error, an_absent_file_is_no_matter,
                  what_is_no_regular_file_is_not_read_and_does_not_hang,
                  a_guarded_process_does_not_read_what_others_can_write,
                  the_environment_gives_what_has_the_prefix)
