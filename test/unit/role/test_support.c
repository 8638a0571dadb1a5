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

/* Appends " key=value" to text: the names of attributes, a text, or "-" for none. */
static void show(char *text, const pmix_info_t *info)
{
    const pmix_data_array_t *a = info->value.data.darray;

    strcat(strcat(strcat(text, " "), info->key), "=");
    if (info->value.type == PMIX_STRING)
        strcat(text, info->value.data.string);
    if (info->value.type == PMIX_UNDEF)
        strcat(text, "-");
    if (info->value.type != PMIX_DATA_ARRAY)
        return;
    ck_assert_int_eq(a->type, PMIX_REGATTR);
    for (size_t i = 0; i < a->size; i++) {
        const pmix_regattr_t *attr = (const pmix_regattr_t *)a->array + i;

        ck_assert_str_eq(attr->string, PMIx_Get_attribute_string(attr->name));
        strcat(strcat(text, i ? "," : ""), attr->name);
    }
}

/* Returns all answers as text; left: number of queries that must remain. */
static const char *answers_to(pmix_query_t *q, size_t left)
{
    static char text[1024];
    PX_AUTO(px_infos) out = {0};
    size_t n = 1;

    text[0] = '\0';
    ck_assert(px_support_asked(q, 1));
    ok(px_support_query(tables, q, &n, &out));
    ck_assert_uint_eq(n, left);
    px_type_free_array(PMIX_QUERY, q, n);
    for (size_t i = 0; i < out.n; i++) {
        const pmix_data_array_t *a = out.v[i].value.data.darray;

        ck_assert_int_eq(out.v[i].value.type, PMIX_DATA_ARRAY);
        ck_assert_int_eq(a->type, PMIX_INFO);
        if (strcmp(out.v[i].key, PMIX_QUERY_ATTRIBUTE_SUPPORT) != 0)
            strcat(strcat(text, out.v[i].key), ":");
        for (size_t k = 0; k < a->size; k++)
            show(text, (const pmix_info_t *)a->array + k);
    }
    return text;
}

#define GET   " PMIx_Get=PMIX_TIMEOUT,PMIX_OPTIONAL"
#define FENCE "=PMIX_TIMEOUT,example.own"

PX_TEST(answers_have_the_functions_and_attributes_asked_for)
{
    static const struct {
        const char *function, *qualifier, *value;
        size_t left;
        const char *answers;
    } rows[] = {
        {NULL, PMIX_CLIENT_ATTRIBUTES, "PMIx_Get", 0, GET},
        {NULL, PMIX_CLIENT_ATTRIBUTES, "PMIx_Fence_nb,PMIx_None,PMIx_Put,PMIx_Get", 0,
         " PMIx_Fence_nb" FENCE GET},
        {NULL, PMIX_HOST_ATTRIBUTES, "all", 0, GET " PMIx_Fence" FENCE},
        {NULL, PMIX_HOST_ATTRIBUTES, NULL, 0, GET " PMIx_Fence" FENCE},
        {NULL, PMIX_CLIENT_FUNCTIONS, NULL, 0,
         " " PMIX_CLIENT_FUNCTIONS "=PMIx_A,PMIx_B"},
        {NULL, PMIX_HOST_FUNCTIONS, NULL, 0,
         " " PMIX_HOST_FUNCTIONS "=PMIx_Get,PMIx_Put,PMIx_Fence"},
        {NULL, PMIX_CLIENT_ATTRIBUTES, "PMIx_X", 0, ""},
        {NULL, PMIX_CLIENT_ATTRIBUTES, "", 0, ""},
        {NULL, PMIX_SERVER_ATTRIBUTES, "PMIx_Get", 1, ""}, /* left to others */
        {"PMIx_Get", PMIX_CLIENT_ATTRIBUTES, NULL, 0,
         "PMIx_Get: " PMIX_CLIENT_ATTRIBUTES "=PMIX_TIMEOUT,PMIX_OPTIONAL"},
        {"PMIx_Put", PMIX_CLIENT_ATTRIBUTES, NULL, 0,
         "PMIx_Put: " PMIX_CLIENT_ATTRIBUTES "=-"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        ck_assert_str_eq(
            answers_to(ask(rows[i].function, rows[i].qualifier, rows[i].value),
                       rows[i].left),
            rows[i].answers);
    tables[PX_LEVEL_HOST].n = 0;
    ck_assert_str_eq(answers_to(ask(NULL, PMIX_HOST_FUNCTIONS, NULL), 0), "");
    pmix_query_t *q = ask(NULL, PMIX_CLIENT_ATTRIBUTES, NULL);
    q->qualifiers[0].value.data.flag = false; /* not requested */
    ck_assert_str_eq(answers_to(q, 0), "");
}

PX_TEST(attributes_are_described_as_in_the_dictionary)
{
    pmix_query_t *q = ask("PMIx_Get", PMIX_CLIENT_ATTRIBUTES, NULL);
    PX_AUTO(px_infos) out = {0};
    size_t n = 1;

    ok(px_support_query(tables, q, &n, &out));
    const pmix_info_t *level = out.v[0].value.data.darray->array;
    const pmix_regattr_t *attr = level->value.data.darray->array;
    ck_assert_str_eq(attr->string, PMIX_TIMEOUT);
    ck_assert_int_eq(attr->type, PMIX_INT);
    ck_assert_str_eq(attr->description[0], px_key_by_name("PMIX_TIMEOUT")->text);
    ck_assert_str_eq(attr->description[1], "PMIX_MIN_VALUE=0");
    ck_assert_ptr_null(attr->description[2]);
    ck_assert_ptr_null(attr[1].description[1]);
    free(q);
}

/* Limits of attributes in this library's tables, each a line after the first. */
static const struct {
    const char *function, *attribute, *limits;
} limited[] = {
    {"PMIx_Process_monitor", "PMIX_MONITOR_HEARTBEAT_TIME", "PMIX_MIN_VALUE=1"},
    {"PMIx_Process_monitor", "PMIX_MONITOR_FILE_CHECK_TIME", "PMIX_MIN_VALUE=1"},
    {"PMIx_Process_monitor", "PMIX_MONITOR_RESOURCE_RATE", "PMIX_MIN_VALUE=1"},
    {"PMIx_Process_monitor", "PMIX_RANGE", "PMIX_MIN_VALUE=0 PMIX_MAX_VALUE=7"},
    {"PMIx_Process_monitor", "PMIX_MONITOR_ID", ""},
    {"PMIx_Job_control", "PMIX_JOB_CTRL_SIGNAL", "PMIX_MIN_VALUE=1 PMIX_MAX_VALUE=64"},
    {"PMIx_Log", "PMIX_LOG_SYSLOG_PRI", "PMIX_MIN_VALUE=0 PMIX_MAX_VALUE=7"},
    {"PMIx_server_init", "PMIX_TCP_IPV4_PORT", "PMIX_MIN_VALUE=0 PMIX_MAX_VALUE=65535"},
    {"PMIx_Fence", "PMIX_TIMEOUT", "PMIX_MIN_VALUE=0"},
};

PX_TEST_LOOP(limits_of_values_are_in_the_description, PX_COUNT(limited))
{
    pmix_query_t *q = ask(limited[_i].function, PMIX_SERVER_ATTRIBUTES, NULL);
    PX_AUTO(px_infos) out = {0};
    size_t n = 1, n_found = 0;

    px_support_library(tables);
    tables[PX_LEVEL_SERVER].here = true;
    ok(px_support_query(tables, q, &n, &out));
    const pmix_info_t *level = out.v[0].value.data.darray->array;
    const pmix_data_array_t *attrs = level->value.data.darray;
    for (size_t i = 0; i < attrs->size; i++) {
        const pmix_regattr_t *attr = (const pmix_regattr_t *)attrs->array + i;

        if (strcmp(attr->name, limited[_i].attribute) != 0)
            continue;
        PX_AUTOFREE char *lines = px_strv_join(attr->description + 1, ' ');
        ck_assert_str_eq(lines ? lines : "", limited[_i].limits);
        n_found++;
    }
    ck_assert_uint_eq(n_found, 1);
    free(q);
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
