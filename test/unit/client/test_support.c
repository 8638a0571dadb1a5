/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries for supported attributes: what a client answers itself, what it asks its server. */
#include "core/client/client.h"
#include "fake_server.h"
#include "px_test.h"

#include <semaphore.h>
#include <string.h>

static pmix_status_t answer; /* the server's */
static char seen[512];       /* the qualifiers it was sent */

static bool tell(int fd, struct fake_req *req)
{
    pmix_query_t *queries = NULL;
    pmix_info_t info;
    size_t n;

    if (req->op != PX_OP_QUERY)
        return false;
    ok(px_unpack_size(&req->in, &n));
    ok(px_unpack_array(&req->in, (void **)&queries, n, PMIX_QUERY));
    seen[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        strcat(strcat(seen, queries[i].keys[0]), ":");
        for (size_t k = 0; k < queries[i].nqual; k++)
            strcat(strcat(seen, queries[i].qualifiers[k].key), " ");
    }
    px_type_free_array(PMIX_QUERY, queries, n);
    px_writer w = fake_begin();
    PMIx_Info_load(&info, "pmix.theirs", "yes", PMIX_STRING);
    px_pack_status(&w, answer);
    if (!answer)
        px_pack_infos(&w, &info, 1);
    PMIx_Info_destruct(&info);
    fake_reply(fd, req->tag, &w);
    return true;
}

static void start(void)
{
    fake.hook = tell;
    client_begin();
}

static pmix_query_t query(const char *key, const char *qualifier, const char *value)
{
    pmix_query_t q = PMIX_QUERY_STATIC_INIT;

    PMIx_Argv_append_nosize(&q.keys, key);
    if (qualifier) {
        PMIx_Query_qualifiers_create(&q, 1);
        PMIx_Info_load(&q.qualifiers[0], qualifier, value, PMIX_STRING);
    }
    return q;
}

PX_TEST(a_client_answers_for_itself)
{
    pmix_query_t q = query(PMIX_QUERY_ATTRIBUTE_SUPPORT, PMIX_CLIENT_ATTRIBUTES,
                           "PMIx_Finalize");
    pmix_info_t *results = NULL;
    size_t n = 0;

    start();
    ok(PMIx_Query_info(&q, 1, &results, &n));
    ck_assert_uint_eq(n, 1);
    const pmix_info_t *function = results[0].value.data.darray->array;
    ck_assert_str_eq(function->key, "PMIx_Finalize");
    const pmix_regattr_t *attr = function->value.data.darray->array;
    ck_assert_str_eq(attr->name, "PMIX_EMBED_BARRIER");
    PMIx_Info_free(results, n);
    ck_assert_uint_eq(fake.n_ops[PX_OP_QUERY], 0);
    PMIx_Query_destruct(&q);
}

PX_TEST(what_it_does_not_know_is_not_found)
{
    pmix_query_t q = query(PMIX_QUERY_ATTRIBUTE_SUPPORT, PMIX_CLIENT_ATTRIBUTES, "x");
    pmix_info_t *results = NULL;
    size_t n = 7;

    start();
    ck_assert_int_eq(PMIx_Query_info(&q, 1, &results, &n), PMIX_ERR_NOT_FOUND);
    ck_assert_uint_eq(n, 0);
    ck_assert_ptr_null(results);
    PMIx_Query_destruct(&q);
}

PX_TEST(the_server_is_asked_for_its_share_only)
{
    pmix_query_t q[] = {query(PMIX_QUERY_ATTRIBUTE_SUPPORT, NULL, NULL),
                        query(PMIX_QUERY_NAMESPACES, NULL, NULL)};
    pmix_info_t *results = NULL;
    size_t n = 0;

    start();
    ok(PMIx_Query_info(q, 2, &results, &n));
    ck_assert_str_eq(seen, PMIX_QUERY_ATTRIBUTE_SUPPORT
                     ":" PMIX_SERVER_ATTRIBUTES " " PMIX_SERVER_FUNCTIONS
                     " " PMIX_HOST_ATTRIBUTES " " PMIX_HOST_FUNCTIONS
                     " " PMIX_QUERY_NAMESPACES ":");
    ck_assert_uint_ge(n, 3);
    ck_assert_str_eq(results[0].key, PMIX_QUERY_ATTRIBUTE_SUPPORT);
    ck_assert_str_eq(results[n - 1].key, "pmix.theirs");
    PMIx_Info_free(results, n);

    answer = PMIX_ERR_NOT_SUPPORTED;
    ck_assert_int_eq(PMIx_Query_info(q, 2, &results, &n), PMIX_ERR_PARTIAL_SUCCESS);
    ck_assert_uint_ge(n, 2);
    PMIx_Info_free(results, n);
    PMIx_Query_destruct(&q[0]);
    PMIx_Query_destruct(&q[1]);
}

static size_t n_told;

static void on_answer(pmix_status_t status, pmix_info_t *info, size_t n,
                      void *cbdata PX_UNUSED, pmix_release_cbfunc_t release,
                      void *release_data)
{
    ok(status);
    ck_assert_ptr_nonnull(info);
    n_told = n;
    release(release_data);
    sem_post(&done);
}

PX_TEST(a_query_without_waiting_is_answered_in_the_callback)
{
    pmix_query_t q = query(PMIX_QUERY_ATTRIBUTE_SUPPORT, PMIX_CLIENT_FUNCTIONS, "");

    start();
    ok(PMIx_Query_info_nb(&q, 1, on_answer, NULL));
    PMIx_Query_destruct(&q); /* was copied */
    sem_wait(&done);
    ck_assert_uint_eq(n_told, 1);
}

PX_TEST(without_a_server_a_client_still_knows_itself)
{
    pmix_query_t q = query(PMIX_QUERY_ATTRIBUTE_SUPPORT, NULL, NULL);
    pmix_info_t *results = NULL;
    size_t n = 0;

    ok(PMIx_Init(NULL, NULL, 0));
    ck_assert_int_eq(PMIx_Query_info(&q, 1, &results, &n), PMIX_ERR_PARTIAL_SUCCESS);
    ck_assert_uint_ge(n, 2);
    PMIx_Info_free(results, n);
    PMIx_Query_destruct(&q);
    ok(PMIx_Finalize(NULL, 0));
}

PX_TEST_MAIN("client/support", NULL, client_end)
