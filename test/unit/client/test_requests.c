/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies of a server: published values, spawned jobs, supported attributes, and groups in the layout
 * of each release. */
#include "core/client/client.h"
#include "fake_server.h"
#include "px_test.h"

#include <limits.h>
#include <string.h>

static pmix_info_t *results;
static size_t n_results;

static void free_results(void)
{
    PMIx_Info_free(results, n_results);
    results = NULL;
    n_results = 0;
}

/* ---- get ------------------------------------------------------------------------- */

static bool fence_ends; /* at the first get, else at a commit */

/* Refuses the first get with NOT_FOUND, and later gets with another status. */
static bool hold_fence(int fd, struct fake_req *req)
{
    static struct fake_req fence;
    const bool is_first = fake.n_ops[PX_OP_GET] == 1;

    if (req->op == PX_OP_FENCE)
        fence = (struct fake_req){.op = PX_OP_FENCE, .tag = req->tag};
    else if (req->op == PX_OP_GET)
        fake_status(fd, req->tag,
                    is_first ? PMIX_ERR_NOT_FOUND : PMIX_ERR_NO_PERMISSIONS);
    if (req->op == PX_OP_COMMIT || (req->op == PX_OP_GET && is_first && fence_ends))
        fake_answer(fd, &fence);
    return req->op == PX_OP_FENCE || req->op == PX_OP_GET;
}

PX_TEST(an_immediate_get_waits_for_a_fence_of_its_process)
{
    static const struct {
        const char *key, *qualifier;
        pmix_rank_t fenced; /* INVALID: the fence names no process */
        bool fence_ends;
        pmix_status_t status; /* NO_PERMISSIONS: asked again */
    } rows[] = {
        {"a", PMIX_IMMEDIATE, PMIX_RANK_INVALID, true, PMIX_ERR_NO_PERMISSIONS},
        {"a", PMIX_IMMEDIATE, PMIX_RANK_WILDCARD, true, PMIX_ERR_NO_PERMISSIONS},
        {"a", PMIX_IMMEDIATE, 1, true, PMIX_ERR_NO_PERMISSIONS},
        {"a", PMIX_IMMEDIATE, 0, true, PMIX_ERR_NOT_FOUND},
        {"a", PMIX_IMMEDIATE, 1, false, PMIX_ERR_NOT_FOUND},
        {"a", PMIX_TIMEOUT, 1, true, PMIX_ERR_NOT_FOUND},
        {"pmix.a", PMIX_IMMEDIATE, 1, true, PMIX_ERR_NOT_FOUND}};
    const pmix_proc_t peer = rank(1);
    pmix_value_t *v;

    client_of_hook(hold_fence);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const pmix_proc_t fenced = rank(rows[i].fenced);
        const pmix_info_t info = flag(rows[i].qualifier);

        fence_ends = rows[i].fence_ends;
        fake.n_ops[PX_OP_GET] = 0;
        ok(PMIx_Fence_nb(&fenced, fenced.rank != PMIX_RANK_INVALID, NULL, 0, on_op,
                         &done));
        ck_assert_int_eq(PMIx_Get(&peer, rows[i].key, &info, 1, &v), rows[i].status);
        if (!fence_ends)
            ok(PMIx_Commit());
        ok(await_op());
    }
    fake.n_ops[PX_OP_GET] = 0;
    const pmix_info_t now = flag(PMIX_IMMEDIATE);
    fails(PMIx_Get(&peer, "a", &now, 1, &v), NOT_FOUND); /* no fence */
}

/* ---- publish and lookup ---------------------------------------------------------- */

static const char *const *found_keys;
static size_t n_found;

/* Packs n_found values as one array: the count, then the elements. */
static void add_found(px_writer *w, const struct fake_req *req)
{
    if (req->op != PX_OP_LOOKUP || (!n_found && fake.answer))
        return;
    px_pack_size(w, n_found);
    for (size_t i = 0; i < n_found; i++) {
        pmix_pdata_t one = {
            .value = {.type = PMIX_UINT32, .data.uint32 = 10u + (unsigned)i}};
        px_writer element = fake_begin();

        PMIx_Load_key(one.key, found_keys[i]);
        one.proc = rank(1);
        px_pack(&element, &one, 1, PMIX_PDATA);
        if (i == 0)
            element.buf.data[0] = (uint8_t)(2 * n_found);
        ok(px_buf_add(&w->buf, element.buf.data + (i > 0), element.buf.len - (i > 0)));
        px_writer_cleanup(&element);
    }
}

static void find(const char *const *keys, size_t n)
{
    found_keys = keys;
    n_found = n;
    fake.add = add_found;
}

PX_TEST(values_found_go_to_the_entries_that_asked_for_them)
{
    static const char *const keys[] = {"shape", "colour", "surplus"};
    pmix_pdata_t data[] = {{.key = "colour"}, {.key = "nothing"}, {.key = "shape"}};

    find(keys, 3);
    fake.answer = PMIX_ERR_PARTIAL_SUCCESS;
    client_begin();
    fails(PMIx_Lookup(data, 3, NULL, 0), PARTIAL_SUCCESS);
    ck_assert_uint_eq(fake.received.number, geteuid());
    ck_assert_uint_eq(fake.received.n_keys, 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert_str_eq(fake.received.keys[i], data[i].key);
    ck_assert_uint_eq(data[0].value.data.uint32, 11);
    ck_assert_uint_eq(data[0].proc.rank, 1);
    ck_assert_int_eq(data[1].value.type, PMIX_UNDEF);
    ck_assert_uint_eq(data[2].value.data.uint32, 10);
}

PX_TEST(a_key_asked_for_twice_gets_each_value_once)
{
    static const char *const keys[] = {"colour", "colour"};
    pmix_pdata_t data[] = {{.key = "colour"}, {.key = "colour"}};

    find(keys, 2);
    client_begin();
    ok(PMIx_Lookup(data, 2, NULL, 0));
    ck_assert_uint_eq(data[0].value.data.uint32, 10);
    ck_assert_uint_eq(data[1].value.data.uint32, 11);
}

static void on_lookup(pmix_status_t status, pmix_pdata_t data[], size_t n, void *cbdata)
{
    ck_assert_uint_eq(n, status ? 0 : 1);
    if (n)
        ck_assert_str_eq(data[0].key, "colour");
    on_op(status, cbdata);
}

PX_TEST(a_lookup_without_waiting_gets_what_was_found)
{
    static const char *const found[] = {"colour"};
    char *keys[] = {(char *)"colour", NULL};

    find(found, 1);
    client_begin();
    finished(PMIx_Lookup_nb(keys, NULL, 0, on_lookup, &done), PMIX_SUCCESS);
    n_found = 0;
    fake.answer = PMIX_ERR_NOT_FOUND;
    finished(PMIx_Lookup_nb(keys, NULL, 0, on_lookup, &done), PMIX_ERR_NOT_FOUND);
}

/* ---- spawn ----------------------------------------------------------------------- */

static const char *spawned;

static void add_spawned(px_writer *w, const struct fake_req *req)
{
    if (req->op != PX_OP_SPAWN)
        return;
    px_pack_str(w, spawned);
    if (!fake.answer)
        fake_usual_job_info(w);
}

static void on_spawned(pmix_status_t status, pmix_nspace_t nspace, void *cbdata)
{
    ck_assert_str_eq(nspace, status ? "" : "child");
    on_op(status, cbdata);
}

PX_TEST(a_spawned_job_is_named_and_known_and_a_failed_one_has_no_name)
{
    char *argv[] = {(char *)"prog", NULL};
    pmix_app_t app = {.argv = argv, .maxprocs = 2};
    pmix_nspace_t nspace;

    spawned = "child";
    fake.add = add_spawned;
    client_begin();
    ok(PMIx_Spawn(NULL, 0, &app, 1, nspace));
    ck_assert_str_eq(nspace, "child");
    ck_assert_uint_eq(get_u32(nspace, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 2);
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET], 0);
    finished(PMIx_Spawn_nb(NULL, 0, &app, 1, on_spawned, &done), PMIX_SUCCESS);

    spawned = NULL;
    fake.answer = PMIX_ERR_JOB_FAILED_TO_LAUNCH;
    ck_assert_int_eq(PMIx_Spawn(NULL, 0, &app, 1, nspace), fake.answer);
    ck_assert_str_eq(nspace, "");
    finished(PMIx_Spawn_nb(NULL, 0, &app, 1, on_spawned, &done), fake.answer);
    fake.answer = PMIX_SUCCESS; /* success without a name is an error */
    fails(PMIx_Spawn(NULL, 0, &app, 1, nspace), UNPACK_FAILURE);
}

/* The first job stays known, since this process has stored a value for that job. */
PX_TEST(the_number_of_known_spawned_jobs_is_bounded)
{
    char *argv[] = {(char *)"prog", NULL}, name[32];
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = 9};
    pmix_app_t app = {.argv = argv, .maxprocs = 2};
    pmix_proc_t proc;
    const unsigned last = PX_MAX_RECEIVED + 1; /* counted from 0 */

    spawned = name;
    fake.add = add_spawned;
    client_begin();
    for (unsigned i = 0; i <= last; i++) {
        snprintf(name, sizeof(name), "child-%u", i);
        ok(PMIx_Spawn(NULL, 0, &app, 1, NULL));
        proc = proc_of(name, 1);
        if (i == 0)
            ok(PMIx_Store_internal(&proc, "own", &v));
    }
    fake.add = NULL;
    ck_assert_uint_eq(get_u32("child-0", 1, "own"), 9);
    ck_assert_uint_eq(get_u32("child-0", 1, PMIX_LOCAL_RANK), 1);
    ck_assert_uint_eq(get_u32("child-2", 1, PMIX_LOCAL_RANK), 1);
    ck_assert_uint_eq(get_u32(name, 1, PMIX_LOCAL_RANK), 1);
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET], 0);
    ck_assert_uint_eq(get_u32("child-1", 1, PMIX_LOCAL_RANK), UINT32_MAX);
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET],
                      1); /* the client requests the forgotten job */
}

static const char *parent;

static void pack_parent(px_writer *w)
{
    px_writer body = fake_begin();
    pmix_value_t v = {.type = PMIX_BYTE_OBJECT};

    px_pack_str(&body, parent);
    fake_usual_job_info(&body);
    v.data.bo = (pmix_byte_object_t){(char *)body.buf.data, body.buf.len};
    fake_usual_job_info(w);
    px_pack_kval(w, PX_PARENT_JOB, &v);
    px_writer_cleanup(&body);
}

PX_TEST(the_job_of_the_parent_is_known_from_the_start)
{
    parent = "parent";
    fake.job_info = pack_parent;
    client_begin();
    ck_assert_uint_eq(get_u32(parent, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 2);
    ck_assert_uint_eq(get_u32(parent, 1, PMIX_LOCAL_RANK), 1);
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET], 0);
    client_end();
    parent = ""; /* no name */
    fake_start();
    fails(PMIx_Init(NULL, NULL, 0), UNPACK_FAILURE);
    fake_stop();
}

/* ---- supported attributes: the client's own, and the server's -------------------- */

static void add_theirs(px_writer *w, const struct fake_req *req)
{
    pmix_info_t info = flag("pmix.theirs");

    if (req->op == PX_OP_QUERY && !fake.answer)
        px_pack_infos(w, &info, 1);
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

PX_TEST(client_attributes_need_no_request)
{
    static const char *const key = PMIX_QUERY_ATTRIBUTE_SUPPORT;
    pmix_query_t q = query(key, PMIX_CLIENT_ATTRIBUTES, "PMIx_Finalize");
    pmix_query_t unknown = query(key, PMIX_CLIENT_ATTRIBUTES, "x");

    client_begin();
    ok(PMIx_Query_info(&q, 1, &results, &n_results));
    ck_assert_uint_eq(n_results, 1);
    const pmix_info_t *function = results[0].value.data.darray->array;
    ck_assert_str_eq(function->key, "PMIx_Finalize");
    const pmix_regattr_t *attr = function->value.data.darray->array;
    ck_assert_str_eq(attr->name, "PMIX_EMBED_BARRIER");
    free_results();
    n_results = 7;
    fails(PMIx_Query_info(&unknown, 1, &results, &n_results), NOT_FOUND);
    ck_assert_uint_eq(n_results, 0);
    ck_assert_ptr_null(results);
    ck_assert_uint_eq(fake.n_ops[PX_OP_QUERY], 0);
    PMIx_Query_destruct(&q);
    PMIx_Query_destruct(&unknown);
}

PX_TEST(the_server_is_asked_only_for_server_and_host_attributes)
{
    static const char *const theirs[] = {PMIX_SERVER_ATTRIBUTES, PMIX_SERVER_FUNCTIONS,
                                         PMIX_HOST_ATTRIBUTES, PMIX_HOST_FUNCTIONS};
    pmix_query_t q[] = {query(PMIX_QUERY_ATTRIBUTE_SUPPORT, NULL, NULL),
                        query(PMIX_QUERY_NAMESPACES, NULL, NULL)};
    const pmix_query_t *queries;

    fake.add = add_theirs;
    client_begin();
    ok(PMIx_Query_info(q, 2, &results, &n_results));
    ck_assert_uint_eq(fake.received.n_queries, 2);
    queries = fake.received.queries;
    ck_assert_str_eq(queries[0].keys[0], PMIX_QUERY_ATTRIBUTE_SUPPORT);
    ck_assert_uint_eq(queries[0].nqual, PX_COUNT(theirs));
    for (size_t i = 0; i < PX_COUNT(theirs); i++)
        ck_assert_str_eq(queries[0].qualifiers[i].key, theirs[i]);
    ck_assert_str_eq(queries[1].keys[0], PMIX_QUERY_NAMESPACES);
    ck_assert_uint_eq(queries[1].nqual, 0);
    ck_assert_uint_ge(n_results, 3);
    ck_assert_str_eq(results[0].key, PMIX_QUERY_ATTRIBUTE_SUPPORT);
    ck_assert_str_eq(results[n_results - 1].key, "pmix.theirs");
    free_results();

    fake.answer = PMIX_ERR_NOT_SUPPORTED;
    fails(PMIx_Query_info(q, 2, &results, &n_results), PARTIAL_SUCCESS);
    ck_assert_uint_ge(n_results, 2);
    free_results();
    client_end();
    client_alone(); /* client attributes need no server */
    fails(PMIx_Query_info(q, 1, &results, &n_results), PARTIAL_SUCCESS);
    ck_assert_uint_ge(n_results, 2);
    free_results();
    PMIx_Query_destruct(&q[0]);
    PMIx_Query_destruct(&q[1]);
}

static void on_answer(pmix_status_t status, pmix_info_t *info PX_UNUSED, size_t n,
                      void *cbdata, pmix_release_cbfunc_t release, void *release_data)
{
    ck_assert_uint_eq(n, 1);
    release(release_data);
    on_op(status, cbdata);
}

PX_TEST(the_server_is_not_asked_for_the_version_of_the_abi)
{
    pmix_query_t q[] = {query(PMIX_QUERY_NAMESPACES, NULL, NULL),
                        query(PMIX_QUERY_STABLE_ABI_VERSION, NULL, NULL)};

    PMIx_Argv_append_nosize(&q[0].keys, PMIX_QUERY_PROVISIONAL_ABI_VERSION);
    fake.add = add_theirs;
    client_begin();
    ok(PMIx_Query_info(q, 2, &results, &n_results));
    ck_assert_uint_eq(fake.received.n_queries, 1);
    ck_assert_str_eq(fake.received.queries[0].keys[0], PMIX_QUERY_NAMESPACES);
    ck_assert_ptr_null(fake.received.queries[0].keys[1]);
    ck_assert_uint_eq(n_results, 3);
    ck_assert_str_eq(results[0].key, PMIX_QUERY_PROVISIONAL_ABI_VERSION);
    ck_assert_str_eq(results[1].key, PMIX_QUERY_STABLE_ABI_VERSION);
    ck_assert_str_eq(results[2].key, "pmix.theirs");
    free_results();
    ok(PMIx_Query_info_nb(&q[1], 1, on_answer, &done));
    ok(await_op());
    ck_assert_uint_eq(fake.n_ops[PX_OP_QUERY], 1);
    PMIx_Query_destruct(&q[0]);
    PMIx_Query_destruct(&q[1]);
}

/* ---- groups ---------------------------------------------------------------------- */

static struct px_version release;

/* Packs the reply in the layout of the release (see the wire notes). */
static void add_constructed(px_writer *w, const struct fake_req *req)
{
    pmix_proc_t members[2] = {rank(0), rank(1)};
    pmix_info_t own[2] = {0}, shared = {0};
    pmix_data_array_t array = {PMIX_INFO, 2, own};
    bool yes = true;

    if (req->op != PX_OP_GROUP_CONSTRUCT || fake.answer)
        return;
    if (!fake.no_members)
        px_pack_procs(w, members, 2);
    if (release.major >= 6)
        px_pack(w, &yes, 1, PMIX_BOOL);
    px_pack_size(w, 77);
    if (release.major >= 6 && release.minor >= 1) {
        PMIx_Info_load(&own[0], PMIX_PROCID, &members[1], PMIX_PROC);
        PMIx_Info_load(&own[1], "number", &(uint32_t){5}, PMIX_UINT32);
        PMIx_Info_load(&shared, PMIX_GROUP_INFO, &array, PMIX_DATA_ARRAY);
        px_pack_size(w, 1);
        px_pack(w, &shared, 1, PMIX_INFO);
        PMIx_Info_destruct(&shared);
        PMIx_Info_destruct(&own[0]);
    }
}

static void destructs(const char *name, size_t n_procs)
{
    ok(PMIx_Group_destruct(name, NULL, 0));
    ck_assert_uint_eq(fake.received_op, PX_OP_GROUP_DESTRUCT);
    ck_assert_uint_eq(fake.received.n_procs, n_procs);
}

/* Contents of a reply: 4.2.2 packs the context, 4.2.9 also the members, 6.0 also a flag for the
 * context, 6.1 also the values that members share. */
PX_TEST_LOOP(a_group_comes_from_the_servers_reply, 4)
{
    static const char *const versions[] = {"4.2.2", "4.2.9", "6.0.0", "6.1.0"};
    pmix_proc_t everyone = rank(PMIX_RANK_WILDCARD);
    pmix_info_t directive = flag("some");
    size_t n_members = _i == 0 ? 0 : 2;
    const pmix_info_t *members;

    fake.version = versions[_i];
    px_version_parse(fake.version, &release);
    fake.no_members = _i == 0;
    fake.add = add_constructed;
    client_begin();
    ok(PMIx_Group_construct("sea", &everyone, 1, &directive, 1, &results, &n_results));
    ck_assert_uint_eq(fake.received_op, PX_OP_GROUP_CONSTRUCT);
    ck_assert_str_eq(fake.received.text, "sea");
    ck_assert_uint_eq(fake.received.n_procs, 1);
    ck_assert_uint_eq(fake.received.procs[0].rank, PMIX_RANK_WILDCARD);
    ck_assert_uint_eq(fake.received.info.n, 1);
    ck_assert_uint_eq(n_results, 2 + (n_members > 0));
    ck_assert_str_eq(px_info_str(results, n_results, PMIX_GROUP_ID), "sea");
    ck_assert_uint_eq(
        px_info_find(results, n_results, PMIX_GROUP_CONTEXT_ID)->value.data.size, 77);
    members = px_info_find(results, n_results, PMIX_GROUP_MEMBERSHIP);
    ck_assert_uint_eq(members ? members->value.data.darray->size : 0, n_members);
    free_results();

    /* The results are optional. */
    ok(PMIx_Group_construct("ice", &everyone, 1, NULL, 0, NULL, NULL));
    ok(PMIx_Group_destruct("sea", &directive, 1));
    ck_assert_uint_eq(fake.received.n_procs, n_members); /* members from the reply */
    ck_assert_uint_eq(fake.received.info.n, 1);
    destructs("sea", 0); /* the group is unknown by now */
}

PX_TEST_LOOP(values_that_members_share_travel_with_their_names, 2)
{
    pmix_proc_t everyone = rank(PMIX_RANK_WILDCARD), other = rank(1);
    pmix_info_t own = {.key = "number", .value = {.type = PMIX_UINT32}}, shared, id;
    pmix_data_array_t array = {PMIX_INFO, 1, &own};
    const pmix_info_t *sent;
    pmix_value_t *v = NULL;
    size_t n, context = 77;

    fake.version = _i ? "6.1.0" : "5.0.7";
    px_version_parse(fake.version, &release);
    fake.add = add_constructed;
    client_begin();
    PMIx_Info_load(&shared, PMIX_GROUP_INFO, &array, PMIX_DATA_ARRAY);
    ok(PMIx_Group_construct("sea", &everyone, 1, &shared, 1, &results, &n_results));
    ck_assert(px_value_infos(&fake.received.info.v[0].value, &sent, &n));
    ck_assert_uint_eq(n, _i ? 2 : 1); /* earlier servers know the sender */
    ck_assert(!_i || sent->value.data.proc->rank == 0);
    if (_i) {
        PMIx_Info_load(&id, PMIX_GROUP_CONTEXT_ID, &context, PMIX_SIZE);
        ok(PMIx_Get(&other, "number", &id, 1, &v));
        ck_assert_uint_eq(v->data.uint32, 5);
        PMIx_Value_free(v, 1);
    }
    PMIx_Info_destruct(&shared);
    free_results();
}

PX_TEST(a_bare_status_constructs_the_requested_group)
{
    pmix_proc_t procs[2] = {rank(0), rank(1)};

    results = (pmix_info_t *)procs; /* overwritten by the call */
    n_results = 9;
    client_begin();
    ok(PMIx_Group_construct("sea", procs, 2, NULL, 0, &results, &n_results));
    ck_assert_uint_eq(n_results, 1); /* the name */
    free_results();
    ok(PMIx_Group_construct("ice", procs, 2, NULL, 0, NULL, NULL));
    ok(PMIx_Group_construct("sea", procs + 1, 1, NULL, 0, NULL,
                            NULL)); /* replaces the first group */
    destructs("sea", 1);
    destructs("sea", 0);
    destructs("ice", 2);
    destructs("ice", 0);
}

PX_TEST(refusals_come_through_and_leave_the_group)
{
    pmix_proc_t procs[2] = {rank(0), rank(1)};

    client_begin();
    ok(PMIx_Group_construct("sea", procs, 2, NULL, 0, NULL, NULL));
    fake.answer = PMIX_ERR_NOT_SUPPORTED;
    fails(PMIx_Group_construct("ice", procs, 2, NULL, 0, &results, &n_results),
          NOT_SUPPORTED);
    ck_assert_ptr_null(results);
    fails(PMIx_Group_destruct("sea", NULL, 0), NOT_SUPPORTED);
    fails(PMIx_Group_leave("sea", NULL, 0), NOT_SUPPORTED);
    ck_assert_uint_eq(fake.received_op, PX_OP_GROUP_LEAVE);
    fake.answer = PMIX_SUCCESS;
    destructs("sea", 2); /* the group has survived */
}

PX_TEST_MAIN("client/requests", NULL, client_end)
