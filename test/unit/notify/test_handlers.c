/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of event handlers. */
#include "core/notify/notify_impl.h"
#include "px_test.h"

#include <string.h>

static struct px_handlers all;

static void setup(void)
{
    px_list_init(&all.list);
}

static void teardown(void)
{
    px_handlers_fini(&all);
}

PX_TEST_HANDLER(handler)
{
}

/* Adds a handler of n codes with a name and up to one placing directive. */
static pmix_status_t add(const char *name, size_t n_codes, const char *key,
                         const char *value)
{
    static const pmix_status_t codes[] = {-1, -2, -3};
    PX_AUTO(px_infos) infos = {0};
    struct px_handler *h;

    ok(px_infos_add(&infos, PMIX_EVENT_HDLR_NAME, name, PMIX_STRING));
    if (key)
        ok(px_infos_add(&infos, key, value, value ? PMIX_STRING : PMIX_BOOL));
    return px_handlers_add(&all, codes, n_codes, infos.v, infos.n, handler, &h);
}

/* Names in calling order, joined by blanks. */
static const char *order(void)
{
    static char text[256];

    text[0] = '\0';
    PX_LIST_EACH (&all.list, struct px_handler, h, link) {
        strcat(text, text[0] ? " " : "");
        strcat(text, h->name);
    }
    return text;
}

PX_TEST(calls_those_of_one_code_before_several_before_default)
{
    ok(add("default", 0, NULL, NULL));
    ok(add("multi", 2, NULL, NULL));
    ok(add("single", 1, NULL, NULL));

    ck_assert_str_eq(order(), "single multi default");
}

PX_TEST(latest_comes_first_unless_appended)
{
    ok(add("a", 1, NULL, NULL));
    ok(add("b", 1, NULL, NULL));
    ok(add("c", 1, PMIX_EVENT_HDLR_APPEND, NULL));

    ck_assert_str_eq(order(), "b a c");
}

PX_TEST(first_and_last_bracket_everything_and_are_unique)
{
    ok(add("last", 1, PMIX_EVENT_HDLR_LAST, NULL));
    ok(add("default", 0, NULL, NULL));
    ok(add("first", 0, PMIX_EVENT_HDLR_FIRST, NULL));

    ck_assert_int_eq(add("x", 1, PMIX_EVENT_HDLR_FIRST, NULL),
                     PMIX_ERR_EVENT_REGISTRATION);
    ck_assert_int_eq(add("y", 1, PMIX_EVENT_HDLR_LAST, NULL),
                     PMIX_ERR_EVENT_REGISTRATION);
    ck_assert_str_eq(order(), "first default last");
}

PX_TEST(edges_of_a_category_stay_at_its_edges)
{
    ok(add("head", 1, PMIX_EVENT_HDLR_FIRST_IN_CATEGORY, NULL));
    ok(add("tail", 1, PMIX_EVENT_HDLR_LAST_IN_CATEGORY, NULL));
    ok(add("a", 1, NULL, NULL));
    ok(add("b", 1, PMIX_EVENT_HDLR_APPEND, NULL));

    ck_assert_str_eq(order(), "head a b tail");
    ck_assert_int_eq(add("x", 1, PMIX_EVENT_HDLR_FIRST_IN_CATEGORY, NULL),
                     PMIX_ERR_EVENT_REGISTRATION);
}

PX_TEST(places_before_and_after_a_named_one)
{
    ok(add("a", 2, NULL, NULL));
    ok(add("b", 2, PMIX_EVENT_HDLR_BEFORE, "a"));
    ok(add("c", 2, PMIX_EVENT_HDLR_AFTER, "a"));

    ck_assert_str_eq(order(), "b a c");
}

PX_TEST(a_place_beside_nobody_is_refused_and_changes_nothing)
{
    ok(add("a", 1, NULL, NULL));

    ck_assert_int_eq(add("b", 1, PMIX_EVENT_HDLR_BEFORE, "nobody"),
                     PMIX_ERR_EVENT_REGISTRATION);

    ck_assert_str_eq(order(), "a");
}

PX_TEST(a_removed_handler_is_found_no_more)
{
    ok(add("a", 1, NULL, NULL));
    ok(add("f", 1, PMIX_EVENT_HDLR_FIRST, NULL));

    px_handlers_remove(px_handlers_find(&all, 1));
    px_handlers_remove(px_handlers_find(&all, 0));

    ck_assert_ptr_null(px_handlers_find(&all, 0));
    ck_assert_ptr_null(px_handlers_find(&all, 1));
    ck_assert_str_eq(order(), "");
}

PX_TEST(tells_the_codes_that_only_one_handler_has)
{
    static const pmix_status_t codes[] = {-1, -2, -2, -3};
    struct px_handler *first, *second, *any;

    ok(px_handlers_add(&all, codes, 3, NULL, 0, handler, &first));
    ok(px_handlers_add(&all, codes + 2, 2, NULL, 0, handler, &second));
    ok(px_handlers_add(&all, NULL, 0, NULL, 0, handler, &any));
    const struct {
        const struct px_handler *of;
        pmix_status_t only;
    } rows[] = {{first, -1}, {second, -3}, {any, PX_DEFAULT_CODE}};
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        size_t n;
        PX_AUTOFREE pmix_status_t *only = px_handlers_only_of(&all, rows[i].of, &n);
        ck_assert_uint_eq(n, 1);
        ck_assert_int_eq(only[0], rows[i].only);
    }
    px_handlers_remove(second);
    size_t n;
    PX_AUTOFREE pmix_status_t *both = px_handlers_only_of(&all, first, &n);
    ck_assert_uint_eq(n, 2);
}

PX_TEST(reads_procs_from_one_and_from_an_array)
{
    pmix_proc_t two[2], *procs = NULL;
    size_t n = 0;
    pmix_data_array_t array = {.type = PMIX_PROC, .size = 2, .array = two};
    pmix_value_t v = {.type = PMIX_DATA_ARRAY, .data.darray = &array};

    px_proc_set(&two[0], "ns", 1);
    px_proc_set(&two[1], "ns", 2);
    ok(px_value_procs(&v, &procs, &n));
    ck_assert_uint_eq(n, 2);
    ck_assert(px_proc_same(&procs[1], &two[1]));
    free(procs);

    v = (pmix_value_t){.type = PMIX_PROC, .data.proc = &two[0]};
    ok(px_value_procs(&v, &procs, &n));
    ck_assert_uint_eq(n, 1);
    free(procs);

    array.array = NULL;
    const pmix_value_t wrong[] = {
        {.type = PMIX_UINT32},
        {.type = PMIX_PROC}, /* users forget to set what they declare */
        {.type = PMIX_DATA_ARRAY},
        {.type = PMIX_DATA_ARRAY, .data.darray = &array},
    };
    for (size_t i = 0; i < PX_COUNT(wrong); i++)
        ck_assert_int_eq(px_value_procs(&wrong[i], &procs, &n), PMIX_ERR_BAD_PARAM);
}

PX_TEST_MAIN("notify/handlers", setup, teardown)
