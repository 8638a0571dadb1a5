/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that the host gives to the server: process sets, attributes, values for every job. Also the
 * server's answers to queries about such data. */
#include "fake_host.h"
#include "raw.h"

#include <semaphore.h>
#include <string.h>

static void start(void)
{
    raw_start(&host_module, 3, 0);
}

static pmix_status_t inside_status;

/* ---- queries --------------------------------------------------------------------------------- */

/* Returns a query for keys, all with the same qualifiers. */
static px_writer query_of(char **keys, pmix_info_t *qualifiers, size_t n)
{
    px_writer w = raw_begin(PX_OP_QUERY);
    const pmix_query_t q = {.keys = keys, .qualifiers = qualifiers, .nqual = n};

    px_pack_size(&w, 1);
    px_pack(&w, &q, 1, PMIX_QUERY);
    return w;
}

/* Sends a query. Returns its status, and the infos of the reply in *out. */
static pmix_status_t send_query(px_writer w, px_infos *out)
{
    px_reader r;
    pmix_status_t rc = raw_request(one, w, &r);

    px_infos_cleanup(out);
    if (!px_reader_done(&r))
        ok(px_unpack_infos(&r, &out->v, &out->n));
    out->cap = out->n;
    return rc;
}

static pmix_status_t ask(const char *key, const char *set, px_infos *out)
{
    char *keys[] = {(char *)(uintptr_t)key, NULL};
    pmix_info_t of = {0};

    if (set)
        PMIx_Info_load(&of, PMIX_PSET_NAME, set, PMIX_STRING);
    px_writer w = query_of(keys, &of, set ? 1 : 0);
    PMIx_Info_destruct(&of);
    return send_query(w, out);
}

/* ---- process sets ------------------------------------------------------------------------------ */

static pmix_status_t define(const char *name, pmix_rank_t a, pmix_rank_t b)
{
    pmix_proc_t members[2] = {raw_proc("job", a), raw_proc("job", b)};

    return PMIx_server_define_process_set(members, 2, name);
}

static pmix_status_t delete_set(const char *name)
{
    return PMIx_server_delete_process_set((char *)(uintptr_t)name);
}

static size_t how_many(void)
{
    PX_AUTO(px_infos) l = {0};

    ok(ask(PMIX_QUERY_NUM_PSETS, NULL, &l));
    ck_assert_uint_eq(l.n, 1);
    ck_assert_int_eq(l.v[0].value.type, PMIX_SIZE);
    return l.v[0].value.data.size;
}

static const pmix_data_array_t *ask_array(const char *key, const char *set, size_t size,
                                          px_infos *l)
{
    ok(ask(key, set, l));
    ck_assert_uint_eq(l->v[0].value.data.darray->size, size);
    return l->v[0].value.data.darray;
}

PX_TEST(sets_are_returned_without_the_host_as_they_were_defined_until_deleted)
{
    PX_AUTO(px_infos) l = {0};
    const pmix_data_array_t *array;

    start();
    ck_assert_uint_eq(how_many(), 0);
    (void)ask_array(PMIX_QUERY_PSET_NAMES, NULL, 0, &l);
    ok(define("sea", 0, 2));
    fails(define("sea", 1, 2), EXISTS);
    ok(define("ice", 1, PMIX_RANK_WILDCARD));
    ck_assert_uint_eq(how_many(), 2);
    array = ask_array(PMIX_QUERY_PSET_NAMES, NULL, 2, &l);
    ck_assert_int_eq(array->type, PMIX_STRING);
    ck_assert_str_eq(((char **)array->array)[0], "sea");
    ck_assert_str_eq(((char **)array->array)[1], "ice");
    array = ask_array(PMIX_QUERY_PSET_MEMBERSHIP, "sea", 2, &l);
    ck_assert_int_eq(array->type, PMIX_PROC);
    ck_assert_uint_eq(((pmix_proc_t *)array->array)[1].rank, 2);
    ok(delete_set("sea"));
    fails(delete_set("sea"), NOT_FOUND);
    ok(define("sea", 1, 2));
    ck_assert_uint_eq(how_many(), 2);
    ck_assert_uint_eq(host_calls("query"), 0);
}

PX_TEST(what_is_not_known_here_is_the_hosts_to_answer)
{
    char *keys[] = {(char *)PMIX_QUERY_NUM_PSETS, NULL};
    char *more[] = {(char *)PMIX_UNIV_SIZE, (char *)PMIX_QUERY_NUM_PSETS, NULL};
    char *support[] = {(char *)PMIX_QUERY_ATTRIBUTE_SUPPORT, NULL};
    pmix_info_t of;
    const pmix_query_t q[] = {{.keys = keys},
                              {.keys = more},
                              {.keys = support, .qualifiers = &of, .nqual = 1}};
    PX_AUTO(px_infos) l = {0};
    uint32_t size = 8;

    start();
    PMIx_Info_load(&of, PMIX_SERVER_FUNCTIONS, NULL, PMIX_BOOL);
    ok(px_infos_add(&host.infos, PMIX_UNIV_SIZE, &size, PMIX_UINT32));
    ok(ask(PMIX_QUERY_PSET_MEMBERSHIP, "none", &l));
    ck_assert_uint_eq(host_calls("query"), 1);
    ck_assert_str_eq(host.keys[0], PMIX_QUERY_PSET_MEMBERSHIP);
    ok(ask(PMIX_QUERY_PSET_MEMBERSHIP, NULL, &l));
    ck_assert_uint_eq(host_calls("query"), 2);

    /* A query for both the host and the library. The host gets its part, and the server joins the
     * answers. */
    for (int fails = 0; fails < 2; fails++) {
        px_writer w = raw_begin(PX_OP_QUERY);

        host.status = fails ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS;
        px_pack_size(&w, 3);
        px_pack(&w, q, 3, PMIX_QUERY);
        ck_assert_int_eq(send_query(w, &l),
                         fails ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS);
        ck_assert_int_eq(host.code, 1); /* number of queries */
        ck_assert_uint_eq(host.n_keys, 1);
        ck_assert_str_eq(host.keys[0], PMIX_UNIV_SIZE);
        ck_assert_uint_eq(l.n, 4);
        ck_assert_str_eq(l.v[0].key, PMIX_QUERY_ATTRIBUTE_SUPPORT);
        ck_assert_str_eq(l.v[1].key, PMIX_QUERY_NUM_PSETS);
        ck_assert_str_eq(l.v[3].key, PMIX_UNIV_SIZE);
    }
}

/* Each key takes a few bytes in the request, and many in the reply. */
PX_TEST(no_client_asks_for_more_than_a_reply_holds)
{
    enum { N_MEMBERS = 4000, N_KEYS = 2000 };
    static pmix_proc_t members[N_MEMBERS];
    static char *keys[N_KEYS + 1];
    PX_AUTO(px_infos) l = {0};
    pmix_info_t of;

    start();
    for (size_t i = 0; i < N_MEMBERS; i++)
        members[i] = raw_proc("job", (pmix_rank_t)i);
    ok(PMIx_server_define_process_set(members, N_MEMBERS, "all"));
    for (size_t i = 0; i < N_KEYS; i++)
        keys[i] = (char *)(uintptr_t)PMIX_QUERY_PSET_MEMBERSHIP;
    PMIx_Info_load(&of, PMIX_PSET_NAME, "all", PMIX_STRING);
    fails(send_query(query_of(keys, &of, 1), &l), OUT_OF_RESOURCE);
    ck_assert_uint_eq(how_many(), 1);
    PMIx_Info_destruct(&of);
}

static void expect_set(pmix_status_t code, size_t n_members)
{
    PX_AUTO(px_infos) l = {0};
    const pmix_info_t *members;

    ck_assert_int_eq(raw_next_event(one, &l), code);
    ck_assert(px_info_flag(l.v, l.n, PMIX_EVENT_NON_DEFAULT));
    ck_assert_str_eq(px_info_str(l.v, l.n, PMIX_PSET_NAME), "sea");
    members = px_info_find(l.v, l.n, PMIX_PSET_MEMBERS);
    ck_assert_uint_eq(members ? members->value.data.darray->size : 0, n_members);
}

PX_TEST(registered_clients_are_notified_of_sets)
{
    static const pmix_status_t codes[] = {PMIX_PROCESS_SET_DEFINE,
                                          PMIX_PROCESS_SET_DELETE};

    start();
    ok(raw_request(one, raw_want(codes, 2, NULL), NULL));
    ok(define("sea", 0, 1));
    expect_set(PMIX_PROCESS_SET_DEFINE, 2);
    ok(delete_set("sea"));
    expect_set(PMIX_PROCESS_SET_DELETE, 0);
    ck_assert(raw_quiet(two));
}

/* ---- attributes ------------------------------------------------------------------------------ */

static pmix_status_t register_names(const char *function, const char *first,
                                    const char *second)
{
    char *names[] = {(char *)first, (char *)second, NULL};

    return PMIx_Register_attributes((char *)function, first ? names : NULL);
}

/* Queries the attributes or functions of one level. The answer as text, "function(attribute ...) "
 * each or the functions, must contain wanted. NULL: no answer. */
static void expect(const char *qualifier, const char *value, const char *wanted)
{
    char *keys[] = {(char *)PMIX_QUERY_ATTRIBUTE_SUPPORT, NULL};
    pmix_info_t of, *results = NULL;
    pmix_query_t q = {.keys = keys, .qualifiers = &of, .nqual = 1};
    PX_AUTOFREE char *text = NULL;
    size_t n = 0, size;
    FILE *f = open_memstream(&text, &size);

    PMIx_Info_load(&of, qualifier, value, PMIX_STRING);
    pmix_status_t rc = PMIx_Query_info(&q, 1, &results, &n);
    for (size_t i = 0; i < n; i++) {
        const pmix_data_array_t *a = results[i].value.data.darray;

        for (const pmix_info_t *l = a->array; l < (pmix_info_t *)a->array + a->size;
             l++) {
            const pmix_data_array_t *attrs = l->value.data.darray;

            if (l->value.type == PMIX_STRING) {
                fprintf(f, "%s ", l->value.data.string);
                continue;
            }
            fprintf(f, "%s(", l->key);
            for (size_t m = 0; m < attrs->size; m++)
                fprintf(f, "%s ", ((pmix_regattr_t *)attrs->array)[m].name);
            fprintf(f, ") ");
        }
    }
    fclose(f);
    ck_assert_int_eq(rc, wanted ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
    ck_assert_msg(strstr(text, wanted ? wanted : ""), "%s: %s", wanted, text);
    PMIx_Info_destruct(&of);
    PMIx_Info_free(results, n);
}

PX_TEST(what_was_registered_is_returned_under_the_users_name)
{
    start();
    ok(register_names("publish", "PMIX_RANGE", "example.own"));
    ok(register_names("PMIx_Lookup", NULL, NULL));
    ok(register_names("example", "PMIX_TIMEOUT", NULL));
    fails(register_names("lookup", "PMIX_TIMEOUT", NULL), REPEAT_ATTR_REGISTRATION);
    fails(register_names("publish", NULL, NULL), REPEAT_ATTR_REGISTRATION);
    expect(PMIX_HOST_FUNCTIONS, "", "PMIx_Publish,PMIx_Lookup,example ");
    expect(PMIX_HOST_ATTRIBUTES, "all",
           "PMIx_Publish(PMIX_RANGE example.own ) example(PMIX_TIMEOUT ) ");
    expect(PMIX_HOST_ATTRIBUTES, "PMIx_Publish",
           "PMIx_Publish(PMIX_RANGE example.own ) ");
    ck_assert_uint_eq(host_calls("query"), 0);
}

PX_TEST(names_that_are_none_are_refused)
{
    static const char *const rows[][3] = {{NULL, NULL, NULL},
                                          {"", NULL, NULL},
                                          {"a,b", NULL, NULL},
                                          {"spawn", "PMIX_HOST", ""},
                                          {"spawn", "x,y", NULL}};

    start();
    for (size_t i = 0; i < PX_COUNT(rows); i++)
        fails(register_names(rows[i][0], rows[i][1], rows[i][2]), BAD_PARAM);
    expect(PMIX_HOST_FUNCTIONS, "", NULL);
    raw_server_stop();
    fails(register_names("spawn", NULL, NULL), INIT);
}

PX_TEST(the_builtin_host_describes_itself)
{
    raw_start(NULL, 1, 0);
    expect(PMIX_SERVER_ATTRIBUTES, "PMIx_Put", NULL);
    expect(PMIX_HOST_ATTRIBUTES, "PMIx_Lookup",
           "PMIx_Lookup(PMIX_RANGE PMIX_WAIT PMIX_TIMEOUT ) ");
}

PX_TEST(no_client_asks_for_the_same_without_end)
{
    enum { N = 20000 };
    static char names[N * sizeof("PMIx_Get,")], *keys[502];
    const struct {
        size_t n_keys; /* after the first key */
        const char *qualifier, *value;
        size_t n_qualifiers; /* all equal */
        pmix_status_t status;
    } rows[] = {
        {0, PMIX_SERVER_ATTRIBUTES, names, 1, PMIX_ERR_OUT_OF_RESOURCE},
        {0, PMIX_SERVER_FUNCTIONS, NULL, N, PMIX_ERR_OUT_OF_RESOURCE},
        {500, PMIX_SERVER_ATTRIBUTES, NULL, 500, PMIX_ERR_OUT_OF_RESOURCE},
        {2, PMIX_SERVER_ATTRIBUTES, NULL, 2, PMIX_SUCCESS},
    };

    start();
    for (size_t i = 0; i < N; i++)
        strcpy(names + i * strlen("PMIx_Get,"), "PMIx_Get,");
    keys[0] = (char *)PMIX_QUERY_ATTRIBUTE_SUPPORT;
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_info_t *l = calloc(rows[i].n_qualifiers, sizeof(*l));
        PX_AUTO(px_infos) got = {0};

        for (size_t k = 1; k < PX_COUNT(keys); k++)
            keys[k] = k <= rows[i].n_keys ? (char *)"PMIx_Get" : NULL;
        for (size_t k = 0; k < rows[i].n_qualifiers; k++)
            PMIx_Info_load(&l[k], rows[i].qualifier, rows[i].value, PMIX_STRING);
        ck_assert_int_eq(send_query(query_of(keys, l, rows[i].n_qualifiers), &got),
                         rows[i].status);
        PMIx_Info_free(l, rows[i].n_qualifiers);
    }
    ck_assert_uint_eq(host_calls("query"), 0);
}

/* ---- values for every job -------------------------------------------------------------------- */

static pmix_info_t info(const char *key, const char *value)
{
    pmix_info_t i;

    PMIx_Info_load(&i, key, value, PMIX_STRING);
    return i;
}

/* Checks a value in the job information of a client. NULL: the key is absent. */
static void job_has(int fd, const char *key, const char *value)
{
    PX_AUTOFREE char *name = NULL, *found = NULL;
    px_reader r;

    raw_send(fd, 500, raw_begin(PX_OP_REQ));
    ck_assert(raw_recv(fd, 500, &r));
    ok(px_unpack_str(&r, &name));
    ck_assert_str_eq(name, fd == one ? "job" : "later");
    while (!px_reader_done(&r)) {
        struct px_kval kv = {0};

        ok(px_unpack_kval(&r, &kv));
        if (strcmp(kv.key, key) == 0)
            found = strdup(px_value_string(&kv.value));
        px_kval_fini(&kv);
    }
    ck_assert_pstr_eq(found, value);
}

PX_TEST(every_job_gets_the_folders_of_its_session)
{
    pmix_info_t i = info(PMIX_SERVER_TMPDIR, "/from/the/host");
    pmix_proc_t job = raw_proc("job", PMIX_RANK_WILDCARD);
    pmix_value_t *found = NULL;

    start();
    job_has(one, PMIX_SERVER_TMPDIR, px_process.server->tmpdir);
    job_has(one, PMIX_SYSTEM_TMPDIR, px_process.server->system_tmpdir);
    at_once(PMIx_server_register_nspace(job.nspace, 2, &i, 1, NULL, NULL));
    ok(PMIx_Get(&job, PMIX_SERVER_TMPDIR, NULL, 0, &found));
    ck_assert_str_eq(found->data.string, "/from/the/host");
    PMIx_Value_free(found, 1);
    PMIx_Info_destruct(&i);
}

static void on_answer(pmix_status_t status, void *cbdata)
{
    pmix_info_t i = info(PMIX_RM_NAME, "rm");

    inside_status = PMIx_server_register_resources(&i, 1, NULL, NULL);
    PMIx_Info_destruct(&i);
    raw_on_end(status, cbdata);
}

static pmix_status_t get_cluster(void)
{
    return raw_request(one, raw_get("job", PMIX_RANK_WILDCARD, PMIX_CLUSTER_ID, NULL),
                       NULL);
}

PX_TEST(resources_are_those_of_jobs_before_and_after)
{
    pmix_info_t i = info(PMIX_CLUSTER_ID, "west");
    pmix_info_t *fleeting = malloc(sizeof(*fleeting));

    start();
    fails(get_cluster(), NOT_FOUND);
    at_once(PMIx_server_register_resources(&i, 1, NULL, NULL));
    raw_add_job("later", 1, 0, geteuid());
    job_has(one, PMIX_CLUSTER_ID, "west");
    job_has(raw_client_of("later", 0), PMIX_CLUSTER_ID, "west");
    ok(get_cluster()); /* also for a client that had the job information before */
    at_once(PMIx_server_deregister_resources(&i, 1, NULL, NULL));
    job_has(one, PMIX_CLUSTER_ID, NULL);
    PMIx_Info_destruct(&i);

    /* A call with a callback copies its infos. */
    sem_init(&raw_ended, 0, 0);
    *fleeting = info(PMIX_CLUSTER_ID, "east");
    ok(PMIx_server_register_resources(fleeting, 1, on_answer, &raw_ended));
    PMIx_Info_destruct(fleeting);
    memset(fleeting, 0xee, sizeof(*fleeting));
    free(fleeting);
    ok(raw_await_end());
    ck_assert_int_eq(inside_status, PMIX_OPERATION_SUCCEEDED);
    job_has(one, PMIX_CLUSTER_ID, "east");
    job_has(one, PMIX_RM_NAME, "rm");
}

PX_TEST(resources_of_no_name_or_of_a_group_are_refused)
{
    pmix_info_t i = info("", "v"), node = info(PMIX_GROUP_INFO_ARRAY, "v");

    start();
    fails(PMIx_server_register_resources(&i, 1, NULL, NULL), BAD_PARAM);
    fails(PMIx_server_register_resources(&node, 1, NULL, NULL), NOT_SUPPORTED);
    fails(PMIx_server_deregister_resources(&node, 1, NULL, NULL), NOT_SUPPORTED);
    /* Without any component. */
    ck_assert_int_eq(PMIx_server_deliver_inventory(&node, 1, NULL, 0, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
    PMIx_Info_destruct(&i);
    PMIx_Info_destruct(&node);
}

PX_TEST(each_job_is_collected_once_in_order)
{
    static const char *const wanted[] = {"second", "job"};
    pmix_proc_t procs[] = {raw_proc("second", 0), raw_proc("unknown", 0),
                           raw_proc("job", 1), raw_proc("job", 0),
                           raw_proc("second", PMIX_RANK_WILDCARD)};
    pmix_data_buffer_t b;

    start();
    raw_add_job("second", 1, 0, geteuid());
    PMIx_Data_buffer_construct(&b);
    ok(PMIx_server_collect_job_info(procs, PX_COUNT(procs), &b));
    for (size_t i = 0; i < PX_COUNT(wanted); i++) {
        pmix_byte_object_t bytes = {0};
        PX_AUTOFREE char *name = NULL;
        pmix_data_buffer_t job;
        int32_t n = 1;

        ok(PMIx_Data_unpack(NULL, &b, &bytes, &n, PMIX_BYTE_OBJECT));
        PMIx_Data_buffer_construct(&job);
        ok(PMIx_Data_load(&job, &bytes));
        ok(PMIx_Data_unpack(NULL, &job, &name, &n, PMIX_STRING));
        ck_assert_str_eq(name, wanted[i]);
        ck_assert_uint_gt(job.bytes_used, 50);
        PMIx_Data_buffer_destruct(&job);
    }
    ck_assert_ptr_eq(b.unpack_ptr, b.base_ptr + b.bytes_used);
    PMIx_Data_buffer_destruct(&b);
}

static void call_all(void *arg PX_UNUSED)
{
    pmix_proc_t p = raw_proc("job", 0);
    pmix_data_buffer_t b;

    PMIx_Data_buffer_construct(&b);
    ok(register_names("spawn", "PMIX_HOST", NULL));
    fails(register_names("spawn", NULL, NULL), REPEAT_ATTR_REGISTRATION);
    ok(define("sea", 0, 1));
    ok(define("lake", 0, 1));
    fails(define("", 0, 1), BAD_PARAM);
    ok(delete_set("sea"));
    fails(delete_set("sea"), NOT_FOUND);
    ok(PMIx_server_collect_job_info(&p, 1, &b));
    PMIx_Data_buffer_destruct(&b);
    fails(PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDIN_CHANNEL, true, NULL, 0,
                                       NULL, NULL),
          WOULD_BLOCK); /* may call the host */
}

PX_TEST(calls_in_a_callback_take_effect_and_a_failure_changes_nothing)
{
    pmix_proc_t p = raw_proc("unknown", 0);
    pmix_data_buffer_t b;

    start();
    raw_on_loop(call_all, NULL);
    ck_assert_uint_eq(how_many(), 1);
    expect(PMIX_HOST_FUNCTIONS, "", "PMIx_Spawn ");
    PMIx_Data_buffer_construct(&b);
    ok(PMIx_Data_pack(NULL, &b, &(uint32_t){7}, 1, PMIX_UINT32));
    size_t used = b.bytes_used;
    fails(PMIx_server_collect_job_info(&p, 1, &b), NOT_FOUND);
    ck_assert_uint_eq(b.bytes_used, used);
    raw_server_stop();
    fails(PMIx_server_collect_job_info(&p, 1, &b), INIT);
    PMIx_Data_buffer_destruct(&b);
}

PX_TEST_MAIN("server/launch", NULL, host_end)
