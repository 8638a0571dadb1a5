/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host registers of its attributes, and who gets told. */
#include "fake_host.h"
#include "pmix.h"
#include "px_test.h"
#include "raw.h"

#include <string.h>

static void setup(void)
{
    raw_server_start(&host_module, 2);
}

static pmix_status_t register_names(const char *function, const char *first,
                                    const char *second)
{
    char *names[] = {(char *)first, (char *)second, NULL};

    return PMIx_Register_attributes((char *)function, first ? names : NULL);
}

/* The text of what is asked at one level: "function(attribute ...) " each, or the functions. */
static pmix_status_t ask_server(const char *qualifier, const char *value, char *text,
                                size_t size)
{
    pmix_query_t q = PMIX_QUERY_STATIC_INIT;
    pmix_info_t *results = NULL;
    size_t n = 0, len = 0;

    text[0] = '\0';
    PMIx_Argv_append_nosize(&q.keys, PMIX_QUERY_ATTRIBUTE_SUPPORT);
    PMIx_Query_qualifiers_create(&q, 1);
    PMIx_Info_load(&q.qualifiers[0], qualifier, value, PMIX_STRING);
    pmix_status_t rc = PMIx_Query_info(&q, 1, &results, &n);
    for (size_t i = 0; i < n; i++) {
        const pmix_data_array_t *a = results[i].value.data.darray;
        const pmix_info_t *info = a->array;

        for (size_t k = 0; k < a->size; k++) {
            if (info[k].value.type == PMIX_STRING) {
                len += (size_t)snprintf(text + len, size - len, "%s ",
                                        info[k].value.data.string);
                continue;
            }
            const pmix_data_array_t *attrs = info[k].value.data.darray;
            len += (size_t)snprintf(text + len, size - len, "%s(", info[k].key);
            for (size_t m = 0; m < attrs->size; m++)
                len += (size_t)snprintf(text + len, size - len, "%s ",
                                        ((pmix_regattr_t *)attrs->array)[m].name);
            len += (size_t)snprintf(text + len, size - len, ") ");
        }
    }
    PMIx_Query_destruct(&q);
    PMIx_Info_free(results, n);
    return rc;
}

static void expect(const char *qualifier, const char *value, const char *wanted)
{
    char text[1024];

    ok(ask_server(qualifier, value, text, sizeof(text)));
    ck_assert_str_eq(text, wanted);
}

PX_TEST(what_was_registered_is_told_under_the_users_name)
{
    char text[512];

    ok(register_names("publish", "PMIX_RANGE", "example.own"));
    ok(register_names("PMIx_Lookup", NULL, NULL));
    ok(register_names("example", "PMIX_TIMEOUT", NULL));

    expect(PMIX_HOST_FUNCTIONS, "", "PMIx_Publish,PMIx_Lookup,example ");
    expect(PMIX_HOST_ATTRIBUTES, "all",
           "PMIx_Publish(PMIX_RANGE example.own ) example(PMIX_TIMEOUT ) ");
    ck_assert_int_eq(
        ask_server(PMIX_HOST_ATTRIBUTES, "PMIx_Publish", text, sizeof(text)), 0);
    ck_assert_str_eq(text, "PMIx_Publish(PMIX_RANGE example.own ) ");
    ck_assert_uint_eq(host_calls("query"), 0);
}

PX_TEST(a_function_is_registered_once)
{
    ok(register_names("lookup", "PMIX_WAIT", NULL));
    ck_assert_int_eq(register_names("lookup", "PMIX_TIMEOUT", NULL),
                     PMIX_ERR_REPEAT_ATTR_REGISTRATION);
    ck_assert_int_eq(register_names("PMIx_Lookup", NULL, NULL),
                     PMIX_ERR_REPEAT_ATTR_REGISTRATION);
    char text[512];
    ck_assert_int_eq(
        ask_server(PMIX_HOST_ATTRIBUTES, "PMIx_Lookup", text, sizeof(text)), 0);
    ck_assert_str_eq(text, "PMIx_Lookup(PMIX_WAIT ) ");
}

PX_TEST(names_that_are_none_are_refused)
{
    char text[512];

    ck_assert_int_eq(register_names(NULL, NULL, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(register_names("", NULL, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(register_names("a,b", NULL, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(register_names("spawn", "PMIX_HOST", ""), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(register_names("spawn", "x,y", NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(ask_server(PMIX_HOST_FUNCTIONS, "", text, sizeof(text)),
                     PMIX_ERR_NOT_FOUND);
    raw_server_stop();
    ck_assert_int_eq(register_names("spawn", NULL, NULL), PMIX_ERR_INIT);
}

static pmix_status_t within;

static void register_within(void *arg PX_UNUSED)
{
    within = register_names("spawn", NULL, NULL);
}

PX_TEST(a_callback_must_not_wait_for_it)
{
    raw_on_loop(register_within, NULL);
    ck_assert_int_eq(within, PMIX_ERR_WOULD_BLOCK);
}

PX_TEST(the_library_tells_of_itself)
{
    char text[4096];

    ok(ask_server(PMIX_SERVER_FUNCTIONS, "", text, sizeof(text)));
    ck_assert_ptr_nonnull(strstr(text, "PMIx_server_register_nspace,"));
    ck_assert_int_eq(
        ask_server(PMIX_SERVER_ATTRIBUTES, "PMIx_Fence", text, sizeof(text)), 0);
    ck_assert_str_eq(text, "PMIx_Fence(PMIX_TIMEOUT PMIX_COLLECT_DATA ) ");
    ok(ask_server(PMIX_CLIENT_FUNCTIONS, "", text, sizeof(text)));
    ck_assert_ptr_nonnull(strstr(text, "PMIx_Init,"));
    ck_assert_int_eq(
        ask_server(PMIX_CLIENT_ATTRIBUTES, "PMIx_Finalize", text, sizeof(text)), 0);
    ck_assert_str_eq(text, "PMIx_Finalize(PMIX_EMBED_BARRIER ) ");
    ck_assert_int_eq(ask_server(PMIX_SERVER_ATTRIBUTES, "PMIx_Put", text, sizeof(text)),
                     PMIX_ERR_NOT_FOUND);
}

PX_TEST(the_host_of_last_resort_has_attributes_too)
{
    char text[1024];

    raw_server_stop();
    raw_server_start(NULL, 1);
    ck_assert_int_eq(
        ask_server(PMIX_HOST_ATTRIBUTES, "PMIx_Lookup", text, sizeof(text)), 0);
    ck_assert_str_eq(text, "PMIx_Lookup(PMIX_RANGE PMIX_WAIT PMIX_TIMEOUT ) ");
}

/* Two queries of a client over the wire: one for the host, one for the library. */
PX_TEST(answers_of_library_and_host_come_together)
{
    pmix_query_t q[2] = {PMIX_QUERY_STATIC_INIT, PMIX_QUERY_STATIC_INIT};
    int fd = raw_client(0);
    PX_AUTO(px_infos) got = {0};
    px_writer w;
    px_reader r;

    PMIx_Argv_append_nosize(&q[0].keys, PMIX_QUERY_NAMESPACES);
    PMIx_Argv_append_nosize(&q[1].keys, PMIX_QUERY_ATTRIBUTE_SUPPORT);
    PMIx_Query_qualifiers_create(&q[1], 1);
    PMIx_Info_load(&q[1].qualifiers[0], PMIX_SERVER_FUNCTIONS, NULL, PMIX_BOOL);
    for (int round = 0; round < 2; round++) {
        host.status = round ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
        if (!round)
            ck_assert_int_eq(
                px_infos_add(&host.infos, "pmix.qry.ns", "job", PMIX_STRING), 0);
        raw_begin(&w, PX_OP_QUERY);
        px_pack_size(&w, 2);
        px_pack(&w, q, 2, PMIX_QUERY);
        ck_assert_int_eq(raw_request(fd, &w, &r),
                         round ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS);
        ok(px_unpack_infos(&r, &got.v, &got.n));
        ck_assert_str_eq(got.v[0].key, PMIX_QUERY_ATTRIBUTE_SUPPORT);
        ck_assert_uint_eq(host.n_keys, 1);
        if (!round)
            ck_assert_str_eq(got.v[1].key, PMIX_QUERY_NAMESPACES);
        px_infos_cleanup(&got);
        px_infos_cleanup(&host.infos);
    }
    PMIx_Query_destruct(&q[0]);
    PMIx_Query_destruct(&q[1]);
}

/* So many keys behind the first, so many qualifiers, all the same. */
static pmix_status_t ask_again_and_again(int fd, size_t n_keys, const char *qualifier,
                                         const char *value, size_t n_qualifiers)
{
    pmix_query_t q = PMIX_QUERY_STATIC_INIT;
    px_writer w;

    PMIx_Argv_append_nosize(&q.keys, PMIX_QUERY_ATTRIBUTE_SUPPORT);
    for (size_t i = 0; i < n_keys; i++)
        PMIx_Argv_append_nosize(&q.keys, "PMIx_Get");
    PMIx_Query_qualifiers_create(&q, n_qualifiers);
    for (size_t i = 0; i < n_qualifiers; i++)
        PMIx_Info_load(&q.qualifiers[i], qualifier, value, PMIX_STRING);
    raw_begin(&w, PX_OP_QUERY);
    px_pack_size(&w, 1);
    px_pack(&w, &q, 1, PMIX_QUERY);
    PMIx_Query_destruct(&q);
    return raw_request(fd, &w, NULL);
}

PX_TEST(nobody_asks_for_the_same_without_end)
{
    enum { N = 20000 };
    char *names = calloc(N, sizeof("PMIx_Get,"));
    int fd = raw_client(0);

    for (size_t i = 0; i < N; i++)
        strcpy(names + i * strlen("PMIx_Get,"), "PMIx_Get,");
    ck_assert_int_eq(ask_again_and_again(fd, 0, PMIX_SERVER_ATTRIBUTES, names, 1),
                     PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_eq(ask_again_and_again(fd, 0, PMIX_SERVER_FUNCTIONS, NULL, N),
                     PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_eq(ask_again_and_again(fd, 500, PMIX_SERVER_ATTRIBUTES, NULL, 500),
                     PMIX_ERR_OUT_OF_RESOURCE);
    ok(ask_again_and_again(fd, 2, PMIX_SERVER_ATTRIBUTES, NULL, 2));
    ck_assert_uint_eq(host_calls("query"), 0);
    free(names);
}

PX_TEST_MAIN("server/attributes", setup, host_end)
