/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies to queries for supported attributes, in both forms; and the consistency of
 * the tables with dictionary and headers. */
#include "core/role/support.h"

#include "alloc_fail.h"
#include "core/base/strv.h"
#include "core/types/keys.h"
#include "px_test.h"

#include <string.h>

static const struct px_support rows[] = {
    {"PMIx_Get", "PMIX_TIMEOUT,PMIX_OPTIONAL"},
    {"PMIx_Put", NULL},
    {"PMIx_Fence", "PMIX_TIMEOUT,example.own"},
};
static struct px_support_table tables[PX_N_LEVELS];

static void setup(void)
{
    memset(tables, 0, sizeof(tables));
    tables[PX_LEVEL_CLIENT] = (struct px_support_table){
        .rows = rows, .n = PX_COUNT(rows), .functions = "PMIx_A,PMIx_B", .here = true};
    tables[PX_LEVEL_HOST] = (struct px_support_table){
        .rows = rows, .n = PX_COUNT(rows), .here = true};
}

/* Makes a query with this key, an optional function name in the key, and a
 * qualifier. */
static pmix_query_t *ask(const char *function, const char *qualifier, const char *value)
{
    pmix_query_t *q = PMIx_Query_create(1);

    PMIx_Argv_append_nosize(&q->keys, PMIX_QUERY_ATTRIBUTE_SUPPORT);
    if (function)
        PMIx_Argv_append_nosize(&q->keys, function);
    if (qualifier) {
        PMIx_Query_qualifiers_create(q, 1);
        if (value)
            PMIx_Info_load(&q->qualifiers[0], qualifier, value, PMIX_STRING);
        else
            PMIx_Info_load(&q->qualifiers[0], qualifier, NULL, PMIX_BOOL);
    }
    return q;
}

/* Returns the answers; left: number of queries that must remain. */
static px_infos answers_to(pmix_query_t *q, size_t left)
{
    px_infos out = {0};
    size_t n = 1;

    ck_assert(px_support_asked(q, 1));
    ok(px_support_query(tables, q, &n, &out));
    ck_assert_uint_eq(n, left);
    px_type_free_array(PMIX_QUERY, q, n);
    return out;
}

static const pmix_info_t *infos_in(const pmix_info_t *info, size_t n)
{
    const pmix_data_array_t *a = info->value.data.darray;

    ck_assert_int_eq(info->value.type, PMIX_DATA_ARRAY);
    ck_assert_int_eq(a->type, PMIX_INFO);
    ck_assert_uint_eq(a->size, n);
    return a->array;
}

/* Checks the attribute names in an info and their order. */
static void assert_attributes(const pmix_info_t *info, const char *names)
{
    const pmix_data_array_t *a = info->value.data.darray;
    PX_AUTO(px_strv) list = NULL;

    ck_assert_int_eq(info->value.type, PMIX_DATA_ARRAY);
    ck_assert_int_eq(a->type, PMIX_REGATTR);
    for (size_t i = 0; i < a->size; i++) {
        const pmix_regattr_t *attr = (const pmix_regattr_t *)a->array + i;
        ck_assert_str_eq(attr->string, PMIx_Get_attribute_string(attr->name));
        px_strv_append(&list, attr->name);
    }
    PX_AUTOFREE char *joined = px_strv_join(list, ',');
    ck_assert_str_eq(joined, names);
}

PX_TEST(attributes_are_described_as_in_the_dictionary)
{
    PX_AUTO(px_infos) out = answers_to(ask(NULL, PMIX_CLIENT_ATTRIBUTES, "PMIx_Get"),
                                       0);
    const pmix_info_t *function = infos_in(&out.v[0], 1);
    const pmix_regattr_t *attr = function->value.data.darray->array;

    ck_assert_str_eq(out.v[0].key, PMIX_QUERY_ATTRIBUTE_SUPPORT);
    ck_assert_str_eq(function->key, "PMIx_Get");
    assert_attributes(function, "PMIX_TIMEOUT,PMIX_OPTIONAL");
    ck_assert_str_eq(attr->string, PMIX_TIMEOUT);
    ck_assert_int_eq(attr->type, PMIX_INT);
    ck_assert_str_eq(attr->description[0], px_key_by_name("PMIX_TIMEOUT")->text);
    ck_assert_ptr_null(attr->description[1]);
}

PX_TEST(several_functions_or_all_may_be_asked_for)
{
    PX_AUTO(px_infos) two = answers_to(
        ask(NULL, PMIX_CLIENT_ATTRIBUTES, "PMIx_Fence_nb,PMIx_None,PMIx_Put,PMIx_Get"),
        0);
    PX_AUTO(px_infos) all = answers_to(ask(NULL, PMIX_HOST_ATTRIBUTES, "all"), 0);
    PX_AUTO(px_infos) too = answers_to(ask(NULL, PMIX_HOST_ATTRIBUTES, NULL), 0);
    const pmix_info_t *some = infos_in(&two.v[0], 2);

    ck_assert_str_eq(some[0].key, "PMIx_Fence_nb");
    assert_attributes(&some[0], "PMIX_TIMEOUT,example.own");
    ck_assert_str_eq(some[1].key, "PMIx_Get");
    ck_assert_str_eq(infos_in(&all.v[0], 2)[1].key, "PMIx_Fence");
    ck_assert_str_eq(infos_in(&too.v[0], 2)[0].key, "PMIx_Get");
}

PX_TEST(functions_are_listed)
{
    PX_AUTO(px_infos) given = answers_to(ask(NULL, PMIX_CLIENT_FUNCTIONS, NULL), 0);
    PX_AUTO(px_infos) made = answers_to(ask(NULL, PMIX_HOST_FUNCTIONS, NULL), 0);
    const pmix_info_t *list = infos_in(&given.v[0], 1);

    ck_assert_str_eq(list->key, PMIX_CLIENT_FUNCTIONS);
    ck_assert_str_eq(list->value.data.string, "PMIx_A,PMIx_B");
    ck_assert_str_eq(infos_in(&made.v[0], 1)->value.data.string,
                     "PMIx_Get,PMIx_Put,PMIx_Fence");
}

PX_TEST(an_unknown_function_has_no_answer)
{
    PX_AUTO(px_infos) none = answers_to(ask(NULL, PMIX_CLIENT_ATTRIBUTES, "PMIx_X"), 0);
    PX_AUTO(px_infos) empty = answers_to(ask(NULL, PMIX_CLIENT_ATTRIBUTES, ""), 0);

    tables[PX_LEVEL_HOST].n = 0;
    PX_AUTO(px_infos) host = answers_to(ask(NULL, PMIX_HOST_FUNCTIONS, NULL), 0);
    pmix_query_t *q = ask(NULL, PMIX_CLIENT_ATTRIBUTES, NULL);
    q->qualifiers[0].value.data.flag = false; /* not requested */
    PX_AUTO(px_infos) unwanted = answers_to(q, 0);
    ck_assert_uint_eq(none.n + empty.n + host.n + unwanted.n, 0);
}

PX_TEST(functions_as_keys_are_answered_by_function_and_level)
{
    pmix_query_t *q = ask("PMIx_Get", PMIX_CLIENT_ATTRIBUTES, NULL);
    PMIx_Argv_append_nosize(&q->keys, "PMIx_Put");
    PX_AUTO(px_infos) out = answers_to(q, 0);

    ck_assert_uint_eq(out.n, 2);
    ck_assert_str_eq(out.v[0].key, "PMIx_Get");
    ck_assert_str_eq(infos_in(&out.v[0], 1)->key, PMIX_CLIENT_ATTRIBUTES);
    assert_attributes(infos_in(&out.v[0], 1), "PMIX_TIMEOUT,PMIX_OPTIONAL");
    ck_assert_str_eq(out.v[1].key, "PMIx_Put");
    ck_assert_int_eq(infos_in(&out.v[1], 1)->value.type, PMIX_UNDEF);
}

PX_TEST(without_a_level_each_answers_its_share)
{
    pmix_query_t *q = ask(NULL, NULL, NULL);
    PX_AUTO(px_infos) out = {0};
    size_t n = 1;

    ok(px_support_query(tables, q, &n, &out));
    ck_assert_uint_eq(out.n, 4);
    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(q->nqual, 4);
    ck_assert_str_eq(q->qualifiers[0].key, PMIX_SERVER_ATTRIBUTES);
    ck_assert_str_eq(q->qualifiers[1].key, PMIX_SERVER_FUNCTIONS);
    ck_assert_str_eq(q->qualifiers[2].key, PMIX_TOOL_ATTRIBUTES);
    PMIx_Query_free(q, 1);

    /* A query about a role that is absent is left to others. */
    PX_AUTO(px_infos) none = answers_to(ask(NULL, PMIX_SERVER_ATTRIBUTES, "PMIx_Get"),
                                        1);
    ck_assert_uint_eq(none.n, 0);
}

PX_TEST(other_queries_stay_as_they_are)
{
    pmix_query_t *q = PMIx_Query_create(3);
    px_infos out = {0};
    size_t n = 3;

    PMIx_Argv_append_nosize(&q[0].keys, PMIX_QUERY_NAMESPACES);
    PMIx_Argv_append_nosize(&q[1].keys, PMIX_QUERY_ATTRIBUTE_SUPPORT);
    PMIx_Query_qualifiers_create(&q[1], 1);
    PMIx_Info_load(&q[1].qualifiers[0], PMIX_CLIENT_FUNCTIONS, NULL, PMIX_BOOL);
    ck_assert(!px_support_asked(q, 1));
    ck_assert(px_support_asked(q, 3));
    ok(px_support_query(tables, q, &n, &out));
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(q[0].keys[0], PMIX_QUERY_NAMESPACES);
    ck_assert_ptr_null(q[1].keys);
    ck_assert_uint_eq(out.n, 1);
    px_infos_cleanup(&out);
    PMIx_Query_free(q, n);
}

PX_TEST(short_memory_is_reported_and_nothing_leaks)
{
    bool failed = true;
    unsigned nth = 0;

    PX_TEST_NEEDS_ALLOC;
    while (failed) {
        pmix_query_t *q = ask(nth & 1 ? "PMIx_Get" : NULL, NULL, NULL);
        px_infos out = {0};
        size_t n = 1;

        px_alloc_fail_at(++nth);
        pmix_status_t rc = px_support_query(tables, q, &n, &out);
        failed = px_alloc_fail_end();
        ck_assert_int_eq(rc, failed ? PMIX_ERR_NOMEM : PMIX_SUCCESS);
        px_infos_cleanup(&out);
        PMIx_Query_free(q, n);
    }
    ck_assert_uint_gt(nth, 20);
}

PX_TEST(the_library_names_only_what_there_is)
{
    struct px_support_table own[PX_N_LEVELS];

    px_support_library(own);
    for (int level = 0; level < PX_N_LEVELS; level++) {
        PX_AUTO(px_strv) functions = px_strv_split(own[level].functions, ',', false);

        ck_assert(!own[level].here);
        for (size_t i = 0; i < own[level].n; i++) {
            PX_AUTO(px_strv) names = px_strv_split(own[level].rows[i].attributes, ',',
                                                   false);
            for (size_t k = 0; names[k]; k++)
                ck_assert_msg(px_key_by_name(names[k]), "%s", names[k]);
            ck_assert_uint_gt(px_strv_count(names), 0);
        }
        if (level == PX_LEVEL_CLIENT)
            for (size_t i = 0; i < own[level].n; i++)
                ck_assert(px_strv_has(functions, own[level].rows[i].function));
    }
    ck_assert_ptr_nonnull(strstr(own[PX_LEVEL_CLIENT].functions, "PMIx_Init,"));
    ck_assert_ptr_nonnull(strstr(own[PX_LEVEL_SERVER].functions, "PMIx_server_init,"));
    ck_assert_ptr_null(own[PX_LEVEL_HOST].functions);
}

PX_TEST_MAIN("role/support", setup, NULL)
