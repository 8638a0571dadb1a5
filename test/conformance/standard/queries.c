/* SPDX-License-Identifier: BSD-3-Clause */
/* The Standard's chapter "Query Operations". */
#include "standard.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(s) ((char *)(uintptr_t)(s))

/* ---- a host with a query function ---------------------------------------------------------- */

static struct {
    pmix_status_t answer;
    pmix_info_t results[4];
    size_t n_results;
    unsigned n_calls;
} host;

static pmix_status_t host_query(pmix_proc_t *requestor PX_UNUSED,
                                pmix_query_t *queries PX_UNUSED, size_t n PX_UNUSED,
                                pmix_info_cbfunc_t cb, void *cbdata)
{
    host.n_calls++;
    cb(host.answer, host.results, host.n_results, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_server_module_t module = {.query = host_query};
static pmix_nspace_t job = "job";

static void start(pmix_server_module_t *with)
{
    pmix_info_t infos[4];
    uint32_t size = 2, session = 7;
    pmix_proc_t rank = {"job", 0};

    ok(PMIx_server_init(with, NULL, 0));
    PMIx_Info_load(&infos[0], PMIX_NODE_MAP, "here,other", PMIX_STRING);
    PMIx_Info_load(&infos[1], PMIX_PROC_MAP, "0;1", PMIX_STRING);
    PMIx_Info_load(&infos[2], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    PMIx_Info_load(&infos[3], PMIX_SESSION_ID, &session, PMIX_UINT32);
    ok(standard_wait(
        PMIx_server_register_nspace(job, 1, infos, 4, standard_on_op, NULL)));
    ok(standard_wait(
        PMIx_server_register_client(&rank, 0, 0, NULL, standard_on_op, NULL)));
}

static pmix_info_t *found;
static size_t n_found;

static void drop(void)
{
    if (found)
        PMIx_Info_free(found, n_found);
    found = NULL;
    n_found = 0;
}

static void stop(void)
{
    drop();
    if (PMIx_Initialized())
        (void)PMIx_server_finalize();
}

/* ---- queries ------------------------------------------------------------------------------- */

/* Queries keys, of which the second may be NULL, with qualifiers. */
static pmix_status_t ask(const char *key, const char *second, pmix_info_t *quals,
                         size_t n)
{
    char *keys[] = {TEXT(key), TEXT(second), NULL};
    pmix_query_t q = {.keys = keys, .qualifiers = quals, .nqual = n};

    drop();
    pmix_status_t rc = PMIx_Query_info(&q, 1, &found, &n_found);
    if (rc && rc != PMIX_ERR_PARTIAL_SUCCESS)
        ck_assert(!found && n_found == 0);
    return rc;
}

static pmix_info_t of_job(void)
{
    pmix_info_t info;

    PMIx_Info_load(&info, PMIX_NSPACE, "job", PMIX_STRING);
    return info;
}

static pmix_info_t of_proc(pmix_rank_t rank)
{
    pmix_proc_t proc = {"job", rank};
    pmix_info_t info;

    PMIx_Info_load(&info, PMIX_PROCID, &proc, PMIX_PROC);
    return info;
}

PX_TEST(info_shall_contain_an_element_for_each_key_that_returned_a_value)
{
    pmix_info_t quals[] = {of_job()};

    start(NULL);
    fails(ask(PMIX_JOB_SIZE, "example.none", quals, 1), PARTIAL_SUCCESS);
    ck_assert_uint_eq(n_found, 1);
    ck_assert(PMIx_Check_key(found[0].key, PMIX_JOB_SIZE));
    ck_assert_uint_eq(found[0].value.data.uint32, 2);
    drop();
}

PX_TEST(info_shall_be_null_and_ninfo_zero_with_any_other_status)
{
    pmix_info_t quals[] = {of_job()};

    start(&module);
    host.answer = PMIX_ERR_NO_PERMISSIONS;
    PMIx_Info_load(&host.results[0], "example.none", "text", PMIX_STRING);
    host.n_results = 1;
    fails(ask("example.none", NULL, NULL, 0), NO_PERMISSIONS);
    ck_assert_ptr_null(found);
    ck_assert_uint_eq(n_found, 0);
    host.answer = PMIX_ERR_NOT_FOUND;
    host.n_results = 0;
    fails(ask("example.none", NULL, quals, 1), NOT_FOUND);
    ck_assert_ptr_null(found);
    ck_assert_uint_eq(n_found, 0);
}

PX_TEST(an_unsupported_key_is_handled_like_one_that_is_not_found)
{
    start(NULL);
    fails(ask("example.none", NULL, NULL, 0), NOT_FOUND);
    ck_assert_ptr_null(found);
}

PX_TEST(a_process_id_with_a_namespace_or_a_rank_will_return_bad_param)
{
    pmix_rank_t rank = 0;
    pmix_info_t quals[] = {of_proc(0), of_job()};

    start(NULL);
    fails(ask(PMIX_HOSTNAME, NULL, quals, 2), BAD_PARAM);
    PMIx_Info_load(&quals[1], PMIX_RANK, &rank, PMIX_PROC_RANK);
    fails(ask(PMIX_HOSTNAME, NULL, quals, 2), BAD_PARAM);
}

PX_TEST(duplicate_keys_shall_result_in_duplicate_responses)
{
    pmix_info_t quals[] = {of_job()};

    start(NULL);
    ok(ask(PMIX_JOB_SIZE, PMIX_JOB_SIZE, quals, 1));
    ck_assert_uint_eq(n_found, 2);
    ck_assert(PMIx_Check_key(found[1].key, PMIX_JOB_SIZE));
    drop();
}

/* The Standard also wants PMIX_QUERY_RESULTS around the results of each query, with
 * PMIX_QUERY_QUALIFIERS first. No release encloses them, and programs read the results
 * themselves (adr/0038). */
PX_TEST(results_shall_be_an_element_for_each_key_also_with_qualifiers)
{
    pmix_info_t quals[] = {of_job(), of_job()};
    char *keys[] = {TEXT(PMIX_JOB_SIZE), TEXT(PMIX_NODE_LIST), NULL};
    pmix_query_t q[] = {{.keys = keys, .qualifiers = quals, .nqual = 2},
                        {.keys = keys + 1, .qualifiers = quals, .nqual = 2}};

    start(NULL);
    PMIx_Info_load(&quals[1], PMIX_QUERY_REFRESH_CACHE, NULL, PMIX_BOOL);
    for (size_t n = 1; n <= 2; n++) {
        drop();
        ok(PMIx_Query_info(q, n, &found, &n_found));
        ck_assert_uint_eq(n_found, n + 1);
        ck_assert(PMIx_Check_key(found[0].key, PMIX_JOB_SIZE));
        for (size_t i = 1; i < n_found; i++) {
            ck_assert(PMIx_Check_key(found[i].key, PMIX_NODE_LIST));
            ck_assert_str_eq(found[i].value.data.string, "here,other");
        }
    }
}

/* The answers have no other sign of their queries than their order. */
PX_TEST(duplicate_responses_have_the_order_of_their_queries)
{
    static pmix_nspace_t other = "other";
    const char *const names[] = {other, job, other};
    char *keys[] = {TEXT(PMIX_JOB_SIZE), TEXT(PMIX_QUERY_PROC_TABLE), NULL};
    pmix_info_t quals[3], size;
    pmix_query_t q[3];

    start(NULL);
    PMIx_Info_load(&size, PMIX_JOB_SIZE, &(uint32_t){5}, PMIX_UINT32);
    ok(standard_wait(
        PMIx_server_register_nspace(other, 0, &size, 1, standard_on_op, NULL)));
    for (size_t i = 0; i < 3; i++) {
        PMIx_Info_load(&quals[i], PMIX_NSPACE, names[i], PMIX_STRING);
        q[i] = (pmix_query_t){.keys = keys, .qualifiers = &quals[i], .nqual = 1};
    }
    ok(PMIx_Query_info(q, 3, &found, &n_found));
    ck_assert_uint_eq(n_found, 6);
    for (size_t i = 0, n_sizes = 0, n_tables = 0; i < 6; i++) {
        const bool is_table = PMIx_Check_key(found[i].key, PMIX_QUERY_PROC_TABLE);
        const char *name = names[is_table ? n_tables++ : n_sizes++];

        ck_assert_uint_eq(is_table ? found[i].value.data.darray->size
                                   : found[i].value.data.uint32,
                          strcmp(name, job) ? 5 : 2);
    }
}

PX_TEST(the_cache_shall_be_checked_before_the_host_and_a_refresh_shall_bypass_it)
{
    uint32_t size = 9;
    pmix_info_t quals[] = {of_job(), of_job()};

    start(&module);
    PMIx_Info_load(&host.results[0], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    host.n_results = 1;
    ok(ask(PMIX_JOB_SIZE, NULL, quals, 1));
    ck_assert_uint_eq(host.n_calls, 0);
    ck_assert_uint_eq(found[0].value.data.uint32, 2);
    PMIx_Info_load(&quals[1], PMIX_QUERY_REFRESH_CACHE, NULL, PMIX_BOOL);
    ok(ask(PMIX_JOB_SIZE, NULL, quals, 2));
    ck_assert_uint_eq(host.n_calls, 1);
    ck_assert_uint_eq(found[0].value.data.uint32, 9);
    drop();
}

/* Makes an array of a value and, unless id is NULL, of the name of its owner. */
static void load_array(pmix_info_t *to, const char *array_key, const char *id,
                       const void *name, pmix_data_type_t type, const char *key)
{
    pmix_info_t members[2];
    pmix_data_array_t array = {.type = PMIX_INFO, .size = 2, .array = members};
    uint32_t four = 4;

    PMIx_Info_load(&members[0], id, name, type);
    PMIx_Info_load(&members[1], key, &four, PMIX_UINT32);
    PMIx_Info_load(to, array_key, &array, PMIX_DATA_ARRAY);
    PMIX_INFO_DESTRUCT(&members[0]);
}

/* Registers 4 as each value of these levels. */
static void register_more(void)
{
    pmix_rank_t rank = 1;
    uint32_t four = 4, one = 1, seven = 7;
    pmix_info_t infos[6];

    PMIx_Info_load(&infos[0], PMIX_NUM_SLOTS, &four, PMIX_UINT32);
    PMIx_Info_load(&infos[1], PMIX_NODE_SIZE, &four, PMIX_UINT32); /* of this node */
    load_array(&infos[2], PMIX_PROC_DATA, PMIX_RANK, &rank, PMIX_PROC_RANK,
               PMIX_GLOBAL_RANK);
    load_array(&infos[3], PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, "other", PMIX_STRING,
               PMIX_NODE_SIZE);
    load_array(&infos[4], PMIX_APP_INFO_ARRAY, PMIX_APPNUM, &one, PMIX_UINT32,
               PMIX_APP_SIZE);
    load_array(&infos[5], PMIX_SESSION_INFO_ARRAY, PMIX_SESSION_ID, &seven, PMIX_UINT32,
               PMIX_UNIV_SIZE);
    ok(standard_wait(
        PMIx_server_register_nspace(job, 1, infos, 6, standard_on_op, NULL)));
    for (size_t i = 2; i < 6; i++)
        PMIX_INFO_DESTRUCT(&infos[i]);
}

/* The host has newer values than it has registered. */
PX_TEST(a_refresh_shall_refresh_the_values_in_the_cache_upon_return)
{
    static const uint32_t one = 1, seven = 7;
    static const struct {
        const char *key;
        pmix_rank_t rank;
        const char *level; /* a qualifier; NULL: none */
        const void *value;
        pmix_data_type_t type;
    } rows[] = {
        {PMIX_NUM_SLOTS, PMIX_RANK_WILDCARD, NULL, NULL, 0},
        {PMIX_GLOBAL_RANK, 1, NULL, NULL, 0},
        {PMIX_NODE_SIZE, PMIX_RANK_WILDCARD, NULL, NULL, 0},
        {PMIX_NODE_SIZE, PMIX_RANK_WILDCARD, PMIX_HOSTNAME, "other", PMIX_STRING},
        {PMIX_NODE_SIZE, PMIX_RANK_WILDCARD, PMIX_NODEID, &one, PMIX_UINT32},
        {PMIX_NODE_SIZE, 1, PMIX_NODE_INFO, NULL, PMIX_BOOL},
        {PMIX_APP_SIZE, PMIX_RANK_WILDCARD, PMIX_APPNUM, &one, PMIX_UINT32},
        {PMIX_UNIV_SIZE, PMIX_RANK_WILDCARD, NULL, NULL, 0},
        {PMIX_UNIV_SIZE, PMIX_RANK_WILDCARD, PMIX_SESSION_ID, &seven, PMIX_UINT32}};
    const uint32_t newer = 8;

    for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pmix_info_t quals[] = {of_proc(rows[i].rank), of_proc(rows[i].rank), of_job()};
        pmix_proc_t proc = *quals[0].value.data.proc;
        pmix_value_t *value;

        start(&module);
        register_more();
        host.n_calls = 0;
        PMIx_Info_load(&host.results[0], rows[i].key, &newer,
                       rows[i].rank == 1 && !rows[i].level ? PMIX_PROC_RANK
                                                           : PMIX_UINT32);
        host.n_results = 1;
        if (rows[i].level)
            PMIx_Info_load(&quals[1], rows[i].level, rows[i].value, rows[i].type);
        PMIx_Info_load(&quals[2], PMIX_QUERY_REFRESH_CACHE, NULL, PMIX_BOOL);
        ok(ask(rows[i].key, NULL, quals, 2));
        ck_assert_uint_eq(found[0].value.data.uint32, 4);
        ok(ask(rows[i].key, NULL, quals, 3));
        ck_assert_uint_eq(found[0].value.data.uint32, 8);
        ok(ask(rows[i].key, NULL, quals, 2));
        ck_assert_uint_eq(found[0].value.data.uint32, 8);
        ok(PMIx_Get(&proc, rows[i].key, &quals[1], 1, &value));
        ck_assert_uint_eq(value->data.uint32, 8);
        PMIX_VALUE_RELEASE(value);
        ck_assert_uint_eq(host.n_calls, 1); /* by the refresh */
        stop();
    }
}

/* An answer for one node changes no other one, and no name of a node. */
PX_TEST(a_refresh_changes_only_what_its_qualifiers_name)
{
    const uint32_t newer = 8, one = 1;
    pmix_info_t quals[] = {of_job(), of_job(), of_job()};

    start(&module);
    register_more();
    PMIx_Info_load(&host.results[0], PMIX_NODE_SIZE, &newer, PMIX_UINT32);
    host.n_results = 1;
    PMIx_Info_load(&quals[1], PMIX_NODEID, &one, PMIX_UINT32);
    PMIx_Info_load(&quals[2], PMIX_QUERY_REFRESH_CACHE, NULL, PMIX_BOOL);
    ok(ask(PMIX_NODE_SIZE, NULL, quals, 3));
    ok(ask(PMIX_NODE_SIZE, NULL, quals, 1)); /* of this node */
    ck_assert_uint_eq(found[0].value.data.uint32, 4);
    PMIx_Info_load(&host.results[0], PMIX_HOSTNAME, "third", PMIX_STRING);
    ok(ask(PMIX_HOSTNAME, NULL, quals, 3));
    ok(ask(PMIX_HOSTNAME, NULL, quals, 2));
    ck_assert_str_eq(found[0].value.data.string, "other");
    drop();
}

PX_TEST(required_qualifiers_of_sessions_jobs_applications_and_nodes)
{
    static const struct {
        const char *flag, *key;
        uint32_t wanted;
    } rows[] = {
        {PMIX_SESSION_INFO, PMIX_SESSION_ID, 7},
        {PMIX_JOB_INFO, PMIX_JOB_SIZE, 2},
        {PMIX_APP_INFO, PMIX_APP_SIZE, 2},
        {PMIX_NODE_INFO, PMIX_LOCAL_SIZE, 1},
    };

    start(NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pmix_info_t quals[] = {of_job(), of_job(), of_job()};

        PMIx_Info_load(&quals[1], rows[i].flag, NULL, PMIX_BOOL);
        PMIx_Info_load(&quals[2], PMIX_HOSTNAME, "other", PMIX_STRING);
        ok(ask(rows[i].key, NULL, quals, strcmp(rows[i].flag, PMIX_NODE_INFO) ? 2 : 3));
        ck_assert_uint_eq(found[0].value.data.uint32, rows[i].wanted);
    }
    drop();
}

PX_TEST(required_qualifiers_that_specify_a_process)
{
    pmix_rank_t rank = 1;
    pmix_info_t proc[] = {of_proc(1)}, pair[] = {of_job(), of_job()};

    start(NULL);
    ok(ask(PMIX_HOSTNAME, PMIX_NODEID, proc, 1)); /* the process applies to all keys */
    ck_assert_uint_eq(n_found, 2);
    ck_assert_str_eq(found[0].value.data.string, "other");
    ck_assert_uint_eq(found[1].value.data.uint32, 1);
    PMIx_Info_load(&pair[1], PMIX_RANK, &rank, PMIX_PROC_RANK);
    ok(ask(PMIX_HOSTNAME, NULL, pair, 2));
    ck_assert_str_eq(found[0].value.data.string, "other");
    ok(ask(PMIX_QUERY_PROC_TABLE, NULL, proc, 1));
    ck_assert_uint_eq(found[0].value.data.darray->size, 1);
    drop();
}

PX_TEST(job_status_and_process_tables_require_a_namespace)
{
    static const char *const keys[] = {PMIX_QUERY_JOB_STATUS, PMIX_QUERY_PROC_TABLE,
                                       PMIX_QUERY_LOCAL_PROC_TABLE};

    start(&module);
    host.answer = PMIX_ERR_NOT_SUPPORTED;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        pmix_info_t quals[] = {of_job()};

        fails(ask(keys[i], NULL, NULL, 0), BAD_PARAM);
        ok(ask(keys[i], NULL, quals, 1));
    }
    drop();
}

PX_TEST(the_versions_of_the_abi_are_computed_locally_without_init)
{
    ck_assert(!PMIx_Initialized());
    ok(ask(PMIX_QUERY_STABLE_ABI_VERSION, PMIX_QUERY_PROVISIONAL_ABI_VERSION, NULL, 0));
    ck_assert_uint_eq(n_found, 2);
    ck_assert_int_eq(found[0].value.type, PMIX_STRING);
    ck_assert_ptr_nonnull(strchr(found[0].value.data.string, '.'));
    drop();
    fails(ask(PMIX_QUERY_NAMESPACES, NULL, NULL, 0), INIT);
}

/* ---- clients ------------------------------------------------------------------------------- */

/* Queries a key of the own job. */
static pmix_status_t ask_own(const char *key)
{
    pmix_info_t of;

    PMIx_Info_load(&of, PMIX_NSPACE, standard_me.nspace, PMIX_STRING);
    return ask(key, NULL, &of, 1);
}

STANDARD_CLIENT(own_job)
{
    pmix_info_t quals[1];
    const pmix_proc_info_t *row;

    STANDARD_CHECK(!ask(PMIX_QUERY_NAMESPACES, NULL, NULL, 0));
    STANDARD_CHECK(strcmp(found[0].value.data.string, standard_me.nspace) == 0);
    STANDARD_CHECK(!ask_own(PMIX_QUERY_PROC_TABLE));
    STANDARD_CHECK(found[0].value.data.darray->size == 2);
    row = found[0].value.data.darray->array;
    STANDARD_CHECK(row[1].proc.rank == 1 && row[1].pid > 0 && row[1].hostname &&
                   row[1].executable_name);
    STANDARD_CHECK(!ask_own(PMIX_QUERY_JOB_STATUS));
    STANDARD_CHECK(!ask_own(PMIX_QUERY_NAMESPACE_INFO));
    STANDARD_CHECK(!ask_own(PMIX_QUERY_MEMORY_USAGE));
    STANDARD_CHECK(!ask(PMIX_QUERY_SPAWN_SUPPORT, PMIX_QUERY_DEBUG_SUPPORT, NULL, 0));
    STANDARD_CHECK(!ask(PMIX_QUERY_SUPPORTED_KEYS, PMIX_QUERY_AVAIL_SERVERS, NULL, 0));
    STANDARD_CHECK(!ask(PMIX_QUERY_AVAIL_SERVERS, NULL, NULL, 0));
    const pmix_info_t *server = found[0].value.data.darray->array;
    STANDARD_CHECK(server->value.type == PMIX_DATA_ARRAY);
    const pmix_data_array_t *facts = server->value.data.darray;
    const pmix_info_t *since = standard_find(facts->array, facts->size,
                                             PMIX_SERVER_START_TIME);
    STANDARD_CHECK(since && since->value.type == PMIX_STRING &&
                   strlen(since->value.data.string) ==
                       strlen("Thu Jan  1 00:00:00 1970"));
    STANDARD_CHECK(!ask(PMIX_QUERY_QUEUE_LIST, PMIX_SERVER_URI, NULL, 0));
    PMIx_Info_load(&quals[0], PMIX_QUERY_SUPPORTED_QUALIFIERS, NULL, PMIX_BOOL);
    STANDARD_CHECK(!ask(PMIX_QUERY_JOB_STATUS, NULL, quals, 1));
    STANDARD_CHECK(strcmp(found[0].value.data.string, PMIX_NSPACE) == 0);
    drop();
}

PX_TEST(clients_query_their_job)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("--tools -n 2", "own_job");
}

static void on_results(pmix_status_t status, pmix_info_t *info, size_t n, void *cbdata,
                       pmix_release_cbfunc_t release, void *release_cbdata)
{
    ck_assert(!info == (status != PMIX_SUCCESS));
    ck_assert_uint_eq(n, status ? 0 : 1);
    if (release)
        release(release_cbdata);
    standard_on_op(status, cbdata);
}

static pthread_t asking;
static volatile bool is_asking;

static void on_outside(pmix_status_t status, pmix_info_t *info PX_UNUSED,
                       size_t n PX_UNUSED, void *cbdata, pmix_release_cbfunc_t release,
                       void *release_cbdata)
{
    if (is_asking && pthread_equal(asking, pthread_self()))
        status = PMIX_ERROR;
    if (release)
        release(release_cbdata);
    standard_on_op(status, cbdata);
}

/* Answers of the library in the caller, of the server, and of the host. */
PX_TEST(the_callback_must_not_be_invoked_prior_to_returning)
{
    static const char *const keys[] = {PMIX_QUERY_STABLE_ABI_VERSION, PMIX_JOB_SIZE,
                                       PMIX_QUERY_NUM_PSETS, "example.own"};
    pmix_info_t of = of_job();

    start(&module);
    asking = pthread_self();
    PMIx_Info_load(&host.results[0], "example.own", "text", PMIX_STRING);
    host.n_results = 1;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        char *list[] = {TEXT(keys[i]), NULL};
        pmix_query_t q = {.keys = list, .qualifiers = &of, .nqual = 1};

        is_asking = true;
        pmix_status_t rc = PMIx_Query_info_nb(&q, 1, on_outside, NULL);
        is_asking = false;
        ok(standard_wait(rc));
    }
}

PX_TEST(the_callback_gets_the_status_and_no_results_after_an_error)
{
    char *known[] = {TEXT(PMIX_JOB_SIZE), NULL}, *none[] = {TEXT("example.none"), NULL};
    pmix_info_t of = of_job();
    pmix_query_t q = {.keys = known, .qualifiers = &of, .nqual = 1};

    start(NULL);
    ok(standard_wait(PMIx_Query_info_nb(&q, 1, on_results, NULL)));
    q.keys = none;
    fails(standard_wait(PMIx_Query_info_nb(&q, 1, on_results, NULL)), NOT_FOUND);
}

/* ---- attribute support --------------------------------------------------------------------- */

PX_TEST(each_level_without_attributes_is_marked_undefined)
{
    char *keys[] = {TEXT(PMIX_QUERY_ATTRIBUTE_SUPPORT), TEXT("PMIx_Get"), NULL};
    pmix_query_t q = {.keys = keys};
    unsigned levels = 0;

    start(&module); /* a host that has registered no attributes */
    ok(PMIx_Query_info(&q, 1, &found, &n_found));
    for (size_t i = 0; i < n_found; i++) {
        const pmix_info_t *level = found[i].value.data.darray->array;
        bool of_host = PMIx_Check_key(level->key, PMIX_HOST_ATTRIBUTES);
        bool is_tool = PMIx_Check_key(level->key, PMIX_TOOL_ATTRIBUTES);

        ck_assert(PMIx_Check_key(found[i].key, "PMIx_Get"));
        ck_assert_int_eq(level->value.type,
                         of_host || is_tool ? PMIX_UNDEF : PMIX_DATA_ARRAY);
        levels++;
    }
    ck_assert_uint_eq(levels, 4); /* no level is named: all levels */
    drop();
}

PX_TEST(each_level_of_attributes_is_required_and_names_of_functions_follow)
{
    static const struct {
        const char *qualifier, *with,
            *without; /* functions with attributes, and without */
    } rows[] = {{PMIX_CLIENT_ATTRIBUTES, "PMIx_Get", "PMIx_Spawn"},
                {PMIX_SERVER_ATTRIBUTES, "PMIx_Get", "PMIx_Spawn"},
                {PMIX_HOST_ATTRIBUTES, "PMIx_Spawn", "PMIx_Get"},
                {PMIX_TOOL_ATTRIBUTES, "PMIx_tool_init", "PMIx_Spawn"}};
    char function[] = "PMIx_Spawn", *attributes[] = {TEXT(PMIX_PREFIX), NULL};

    start(&module);
    ok(PMIx_Register_attributes(function, attributes));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *keys[] = {TEXT(PMIX_QUERY_ATTRIBUTE_SUPPORT), TEXT(rows[i].with),
                        TEXT(rows[i].without), NULL};
        pmix_info_t level;
        pmix_query_t q = {.keys = keys, .qualifiers = &level, .nqual = 1};

        PMIx_Info_load(&level, rows[i].qualifier, NULL, PMIX_BOOL);
        ok(PMIx_Query_info(&q, 1, &found, &n_found));
        ck_assert_uint_eq(n_found, 2);
        for (size_t k = 0; k < 2; k++) {
            const pmix_info_t *answer = found[k].value.data.darray->array;

            ck_assert(PMIx_Check_key(found[k].key, keys[k + 1]));
            ck_assert(PMIx_Check_key(answer->key, rows[i].qualifier));
            ck_assert_int_eq(answer->value.type, k == 0 ? PMIX_DATA_ARRAY : PMIX_UNDEF);
        }
        drop();
    }
}

/* ---- peers --------------------------------------------------------------------------------- */

PX_TEST(a_node_without_processes_has_a_null_array_of_peers)
{
    pmix_proc_t *procs = (pmix_proc_t *)&host;
    size_t n = 99;

    start(NULL);
    ok(PMIx_Resolve_peers("other", job, &procs, &n));
    ck_assert_uint_eq(n, 1);
    PMIx_Proc_free(procs, n);
    (void)PMIx_Resolve_peers("nowhere", job, &procs, &n);
    ck_assert_ptr_null(procs);
    ck_assert_uint_eq(n, 0);
}

STANDARD_MAIN("standard/queries", NULL, stop)
