/* SPDX-License-Identifier: BSD-3-Clause */
/* String vectors: editing, splitting and joining; environments, also with repeated
 * names. */
#include "alloc_fail.h"
#include "core/base/strv.h"
#include "px_test.h"

#include <string.h>

/* Asserts that v is exactly the strings of "a|b|c"; "" is an empty vector. */
static void assert_is(char *const *v, const char *wanted)
{
    PX_AUTOFREE char *joined = px_strv_join(v, '|');

    ck_assert_ptr_nonnull(joined);
    ck_assert_str_eq(joined, wanted);
}

PX_TEST(null_and_no_element_are_an_empty_vector)
{
    char *none[] = {NULL};
    PX_AUTO(px_strv) copy = px_strv_dup(none);

    px_strv_cleanup(&copy); /* may be repeated */
    copy = px_strv_dup(none);
    ck_assert_uint_eq(px_strv_count(NULL), 0);
    ck_assert_uint_eq(px_strv_count(none), 0);
    ck_assert(!px_strv_has(NULL, "a"));
    px_strv_free(NULL);
    assert_is(NULL, "");
    assert_is(none, "");
    ck_assert_ptr_null(px_strv_dup(NULL));
    ck_assert_ptr_nonnull(copy);
    ck_assert_ptr_null(copy[0]);
}

PX_TEST(what_is_added_is_copied_to_its_end)
{
    PX_AUTO(px_strv) v = NULL;
    char text[] = "b";

    ok(px_strv_prepend(&v, text));
    text[0] = 'x';
    ok(px_strv_append(&v, "c"));
    ok(px_strv_prepend(&v, "a"));
    assert_is(v, "a|b|c");
    ok(px_strv_append(&v, v[0])); /* an element of the vector */
    ok(px_strv_prepend(&v, v[2]));
    ok(px_strv_append_unique(&v, "a"));
    ok(px_strv_append_unique(&v, "d"));
    assert_is(v, "c|a|b|c|a|d");
    ck_assert(px_strv_has(v, "d") && !px_strv_has(v, "da") && !px_strv_has(v, ""));
    ck_assert_uint_eq(px_strv_count(v), 6);
}

PX_TEST(split_drops_empty_fields_or_keeps_them)
{
    static const struct {
        const char *text;
        unsigned separator;
        bool keep;
        size_t n;
        const char *joined;
    } rows[] = {
        {",a,,bc,", ',', false, 2, "a|bc"},
        {",a,,bc,", ',', true, 5, "|a||bc|"},
        {"", ',', true, 1, ""},
        {":", ':', true, 2, "|"},
        {":a", ':', true, 2, "|a"},
        {"a\xff"
         "b",
         0xff, false, 2, "a|b"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_strv) v = px_strv_split(rows[i].text, (char)rows[i].separator,
                                           rows[i].keep);

        ck_assert_uint_eq(px_strv_count(v), rows[i].n);
        assert_is(v, rows[i].joined);
    }
}

PX_TEST(split_of_no_field_is_null)
{
    ck_assert_ptr_null(px_strv_split("", ',', false));
    ck_assert_ptr_null(px_strv_split(",,,", ',', false));
    ck_assert_ptr_null(px_strv_split(NULL, ',', false));
    ck_assert_ptr_null(px_strv_split(NULL, ',', true));
}

PX_TEST(adding_without_memory_changes_nothing)
{
    typedef pmix_status_t (*add_fn)(char ***, const char *);
    static const add_fn add[] = {px_strv_append, px_strv_prepend,
                                 px_strv_append_unique};

    PX_TEST_NEEDS_ALLOC;
    for (size_t i = 0; i < PX_COUNT(add); i++) {
        PX_AUTO(px_strv) v = px_strv_split("a,b", ',', false);
        char **before = v;

        for (unsigned nth = 0; px_alloc_next(&nth);)
            if (px_alloc_check(add[i](&v, "c"))) {
                ck_assert_ptr_eq(v, before);
                assert_is(v, "a|b");
            }
        ck_assert_uint_eq(px_strv_count(v), 3);
        ck_assert_uint_eq(px_alloc_count(), 2);
    }
}

PX_TEST(a_list_that_grows_is_a_vector_at_each_step)
{
    size_t n, cap;

    PX_TEST_NEEDS_ALLOC;
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        pmix_status_t rc = PMIX_SUCCESS;
        char **v = NULL;

        for (n = cap = 0; !rc && n < 20;)
            rc = px_strv_add(&v, &n, &cap, "text");
        (void)px_alloc_fail_end(); /* a smaller vector may do */
        ck_assert_uint_eq(px_strv_count(v), n);
        ck_assert_uint_eq(n < 20, rc != PMIX_SUCCESS);
        px_strv_free(v);
    }
    ck_assert_uint_le(px_alloc_count(), 20 + 4); /* the vector grows by doubling */
}

PX_TEST(split_dup_and_join_without_memory_are_null_and_leak_nothing)
{
    PX_AUTO(px_strv) v = NULL;

    PX_TEST_NEEDS_ALLOC;
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        v = px_strv_split("a,b,c", ',', false);
        px_alloc_check(v ? PMIX_SUCCESS : PMIX_ERR_NOMEM);
    }
    assert_is(v, "a|b|c");
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        PX_AUTO(px_strv) copy = px_strv_dup(v);
        px_alloc_check(copy ? PMIX_SUCCESS : PMIX_ERR_NOMEM);
    }
    px_alloc_fail_at(1);
    char *joined = px_strv_join(v, ',');
    ck_assert(px_alloc_fail_end());
    ck_assert_ptr_null(joined);
}

PX_TEST(a_hundred_thousand_fields_are_split_in_one_go)
{
    enum { N = 100000 };
    PX_AUTOFREE char *text = malloc(2 * N);

    for (size_t i = 0; i < N; i++) {
        text[2 * i] = 'n';
        text[2 * i + 1] = ',';
    }
    text[2 * N - 1] = '\0';
    PX_AUTO(px_strv) v = px_strv_split(text, ',', false);
    PX_AUTOFREE char *joined = px_strv_join(v, ',');

    ck_assert_uint_eq(px_strv_count(v), N);
    ck_assert_str_eq(joined, text);
}

/* ---- environments ---------------------------------------------------------------------------- */

/* A malloc'd environment of the entries of "A=1|B=2". */
static char **env_of(const char *entries)
{
    return px_strv_split(entries, '|', false);
}

PX_TEST(a_variable_is_found_by_its_whole_name)
{
    static const struct {
        const char *env, *name, *value;
    } rows[] = {
        {"PATHX=1|PAT=2|PATH=/bin:=x", "PATH", "/bin:=x"},
        {"PATHX=1|PAT=2|PATH=/bin:=x", "PAT", "2"},
        {"PATHX=1|PAT=2|PATH=/bin:=x", "PA", NULL},
        {"PATHX=1|PAT=2|PATH=/bin:=x", "ATH", NULL},
        {"A=|B", "A", ""}, /* an empty value is not a missing one */
        {"A=|B", "B", NULL},
        {NULL, "A", NULL},
        {"A=B=c|=x", "A=B", NULL}, /* not valid names */
        {"A=B=c|=x", "", NULL},
        {"A=B=c|=x", NULL, NULL},
        {"A=1|A=2", "A", "1"}, /* the first of several counts */
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_strv) env = env_of(rows[i].env);
        const char *value = px_env_get(env, rows[i].name);

        ck_assert_pstr_eq(value, rows[i].value);
    }
}

PX_TEST(a_variable_is_set_in_its_place_once)
{
    static const struct {
        const char *env, *name, *value;
        bool overwrite;
        const char *after;
        pmix_status_t status;
    } rows[] = {
        {NULL, "A", "1", false, "A=1", 0},
        {"A=1", "B", "x=y", true, "A=1|B=x=y", 0},
        {"A=1", "C", NULL, true, "A=1|C=", 0},
        {"A=1|B=2|AA=3", "A", "9", true, "A=9|B=2|AA=3", 0},
        {"A=1", "A", "9", false, "A=1", 0}, /* succeeds and keeps the old value */
        {"B=0|A=1|C=2|A=3|A=4", "A", "9", true, "B=0|A=9|C=2", 0},
        {"A=1", "", "x", true, "A=1", PMIX_ERR_BAD_PARAM}, /* not valid names */
        {"A=1", "A=1", "x", true, "A=1", PMIX_ERR_BAD_PARAM},
        {"A=1", NULL, "x", true, "A=1", PMIX_ERR_BAD_PARAM},
    };
    PX_AUTO(px_strv) same = env_of("A=1");

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_strv) env = env_of(rows[i].env);

        ck_assert_int_eq(
            px_env_set(&env, rows[i].name, rows[i].value, rows[i].overwrite),
            rows[i].status);
        assert_is(env, rows[i].after);
    }
    ok(px_env_set(&same, "A", px_env_get(same, "A"), true));
    assert_is(same, "A=1");
}

PX_TEST(unset_removes_every_entry_of_the_name_and_no_other)
{
    PX_AUTO(px_strv) env = env_of("A=1|=x|B=2|A|B=3|AB=4");

    px_env_unset(env, "B");
    px_env_unset(env, "");
    px_env_unset(env, NULL);
    px_env_unset(NULL, "A");

    assert_is(env, "A=1|=x|A|AB=4");
}

PX_TEST(set_without_memory_changes_nothing)
{
    static const char *const names[] = {"A", "C"}; /* one to replace and one to add */

    PX_TEST_NEEDS_ALLOC;
    for (size_t i = 0; i < PX_COUNT(names); i++) {
        PX_AUTO(px_strv) env = env_of("A=1|B=2|A=3");
        char **before = env;

        for (unsigned nth = 0; px_alloc_next(&nth);)
            if (px_alloc_check(px_env_set(&env, names[i], "9", true))) {
                ck_assert_ptr_eq(env, before);
                assert_is(env, "A=1|B=2|A=3");
            }
        ck_assert_str_eq(px_env_get(env, names[i]), "9");
    }
}

PX_TEST_MAIN("base/strv", NULL, NULL)
