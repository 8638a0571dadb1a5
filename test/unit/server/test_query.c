/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries that the server answers itself, beside the host's answers; and requests of other
 * libraries' clients for peers, nodes and values. */
#include "alloc_fail.h"
#include "fake_host.h"
#include "raw.h"

#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/server/host.h"
#include "core/server/peer/turn.h"
#include "core/server/query/query.h"
#include "core/server/server.h"
#include "pmix_tool.h"

#include <string.h>
#include <unistd.h>

#define TEXT(s) ((char *)(uintptr_t)(s))

static px_infos found;

/* Cost of the last reply: its size, and the allocations of its decoding. */
static struct {
    size_t size_b;
    unsigned n_allocs;
} cost;

static pmix_server_module_t without_query(void)
{
    pmix_server_module_t m = host_module;

    m.query = NULL;
    return m;
}

/* Starts a server whose clients use the Unix socket, so that their pids are known at once. */
static void start_without(uint32_t n_local, uint32_t n_remote)
{
    const pmix_server_module_t m = without_query();
    int *const fds[] = {&one, &two, &three};

    raw_server_start(&m, n_local, n_remote);
    for (pmix_rank_t r = 0; r < PX_COUNT(fds) && r < n_local; r++) {
        const struct px_hello hello = raw_hello("job", r);

        *fds[r] = raw_near_socket();
        ok(raw_send_hello(*fds[r], &hello));
    }
}

/* Sends a query for keys, separated by commas, with qualifiers. *rest: the reply. */
static pmix_status_t send_query(int fd, const char *keys, const px_infos *quals)
{
    PX_AUTO(px_strv) list = px_strv_split(keys, ',', false);
    const pmix_query_t q = {.keys = list, .qualifiers = quals->v, .nqual = quals->n};
    px_writer w = raw_begin(PX_OP_QUERY);
    px_reader r;

    px_pack_size(&w, 1);
    px_pack(&w, &q, 1, PMIX_QUERY);
    px_infos_cleanup(&found);
    pmix_status_t rc = raw_request(fd, w, &r);
    cost.size_b = (size_t)(r.end - r.pos);
    px_alloc_fail_at(0);
    pmix_status_t read = px_reader_done(&r) ? PMIX_SUCCESS
                                            : px_unpack_infos(&r, &found.v, &found.n);
    cost.n_allocs = px_alloc_count();
    px_alloc_fail_end();
    ok(read);
    found.cap = found.n;
    return rc;
}

/* Queries as rank 0. nspace and flag may be NULL. */
static pmix_status_t ask(const char *keys, const char *nspace, const char *flag)
{
    PX_AUTO(px_infos) quals = {0};

    if (nspace)
        ok(px_infos_add(&quals, PMIX_NSPACE, nspace, PMIX_STRING));
    if (flag)
        ok(px_infos_add(&quals, flag, NULL, PMIX_BOOL));
    return send_query(one, keys, &quals);
}

static pmix_status_t ask_proc(const char *keys, const char *nspace, pmix_rank_t rank)
{
    PX_AUTO(px_infos) quals = {0};
    pmix_proc_t proc = raw_proc(nspace, rank);

    ok(px_infos_add(&quals, PMIX_PROCID, &proc, PMIX_PROC));
    return send_query(one, keys, &quals);
}

static const char *text(const char *key)
{
    return px_info_str(found.v, found.n, key);
}

static const pmix_info_t *info(const char *key)
{
    const pmix_info_t *i = px_info_find(found.v, found.n, key);

    ck_assert_msg(i, "no %s", key);
    return i;
}

static const void *array(const char *key, pmix_data_type_t type, size_t n)
{
    const pmix_value_t *v = &info(key)->value;

    ck_assert_int_eq(v->type, PMIX_DATA_ARRAY);
    ck_assert_int_eq(v->data.darray->type, type);
    ck_assert_uint_eq(v->data.darray->size, n);
    return v->data.darray->array;
}

/* ---- jobs and processes ------------------------------------------------------------------ */

PX_TEST(the_registration_answers_where_the_host_has_no_function)
{
    const pmix_info_t *members;
    size_t n;

    start_without(3, 2);
    ok(ask(PMIX_QUERY_NAMESPACES "," PMIX_QUERY_NAMESPACE_INFO "," PMIX_JOB_SIZE
                                 "," PMIX_SERVER_URI,
           NULL, NULL));
    ck_assert_str_eq(text(PMIX_QUERY_NAMESPACES), "job");
    ck_assert_uint_eq(info(PMIX_JOB_SIZE)->value.data.uint32, 5);
    ck_assert_str_eq(text(PMIX_SERVER_URI), px_process.server->uri);
    const pmix_info_t *job = array(PMIX_QUERY_NAMESPACE_INFO, PMIX_INFO, 1);
    ck_assert(PMIx_Check_key(job->key, PMIX_JOB_INFO_ARRAY));
    ck_assert(px_value_infos(&job->value, &members, &n));
    ck_assert(PMIx_Check_key(members[0].key, PMIX_NSPACE));
    ck_assert_str_eq(members[0].value.data.string, "job");
    ck_assert_uint_eq(px_info_u32(members, n, PMIX_JOB_SIZE, 0), 5);
    ok(ask(PMIX_QUERY_JOB_STATUS, "job", NULL));
    ck_assert_int_eq(info(PMIX_QUERY_JOB_STATUS)->value.data.status, PMIX_SUCCESS);
    ok(ask_proc(PMIX_PROC_PID "," PMIX_PROC_STATE_STATUS "," PMIX_HOSTNAME, "job", 1));
    ck_assert_int_eq(info(PMIX_PROC_PID)->value.data.pid, getpid());
    ck_assert_int_eq(info(PMIX_PROC_STATE_STATUS)->value.data.state,
                     PMIX_PROC_STATE_CONNECTED);
    ck_assert_str_eq(text(PMIX_HOSTNAME), px_process.host);
}

PX_TEST(a_table_has_each_process_as_far_as_it_is_known)
{
    start_without(4, 2); /* rank 3 has not connected */
    ok(raw_finalize(three));
    ok(ask(PMIX_QUERY_PROC_TABLE, "job", NULL));
    const pmix_proc_info_t *row = array(PMIX_QUERY_PROC_TABLE, PMIX_PROC_INFO, 6);
    for (pmix_rank_t r = 0; r < 6; r++) {
        ck_assert_uint_eq(row[r].proc.rank, r);
        ck_assert_str_eq(row[r].hostname, r < 4 ? px_process.host : "other");
        ck_assert_int_eq(row[r].pid, r < 3 ? getpid() : 0);
        ck_assert_int_eq(row[r].state, r < 2    ? PMIX_PROC_STATE_CONNECTED
                                       : r == 2 ? PMIX_PROC_STATE_RUNNING
                                                : PMIX_PROC_STATE_UNDEF);
    }
    ok(ask(PMIX_QUERY_LOCAL_PROC_TABLE, "job", NULL));
    (void)array(PMIX_QUERY_LOCAL_PROC_TABLE, PMIX_PROC_INFO, 4);
    ok(ask_proc(PMIX_QUERY_PROC_TABLE, "job", 5));
    row = array(PMIX_QUERY_PROC_TABLE, PMIX_PROC_INFO, 1);
    ck_assert_uint_eq(row->proc.rank, 5);
}

/* A built-in host without jobs, which knows the output of four processes. */
static bool output_of(void *self PX_UNUSED, const pmix_proc_t *proc, uint64_t *bytes)
{
    *bytes = 100 + proc->rank;
    return proc->rank < 4;
}

static bool no_job(void *self PX_UNUSED, const char *nspace PX_UNUSED,
                   struct px_host_job *job PX_UNUSED)
{
    return false;
}

static void do_nothing(void *self PX_UNUSED)
{
}

static void be_builtin(void *arg PX_UNUSED)
{
    static const struct px_builtin_host builtin = {
        .output = output_of, .job = no_job, .destroy = do_nothing};

    px_process.server->host = &builtin;
}

PX_TEST_LOOP(the_built_in_host_counts_the_output_of_each_process, 2)
{
    const uint64_t *bytes;

    start_without(2, _i ? 4 : 2);
    fails(ask(TENON_QUERY_OUTPUT, "job", NULL), NOT_FOUND);
    raw_on_loop(be_builtin, NULL);
    if (_i) { /* two of the processes are not its own */
        fails(ask(TENON_QUERY_OUTPUT, "job", NULL), NOT_FOUND);
        return;
    }
    ok(ask(TENON_QUERY_OUTPUT, "job", NULL));
    bytes = array(TENON_QUERY_OUTPUT, PMIX_UINT64, 4);
    for (pmix_rank_t r = 0; r < 4; r++)
        ck_assert_uint_eq(bytes[r], 100 + r);
    fails(ask(TENON_QUERY_OUTPUT, "nowhere", NULL), NOT_FOUND);
}

PX_TEST(what_no_side_knows_is_not_found)
{
    static const struct {
        const char *keys, *nspace;
        pmix_status_t status;
        size_t n;
    } rows[] = {
        {PMIX_QUERY_PROC_TABLE, "none", PMIX_ERR_NOT_FOUND, 0},
        {PMIX_QUERY_PROC_TABLE, NULL, PMIX_ERR_BAD_PARAM, 0},
        {PMIX_QUERY_JOB_STATUS, NULL, PMIX_ERR_BAD_PARAM, 0},
        {PMIX_TIME_REMAINING, "job", PMIX_ERR_NOT_FOUND, 0},
        {PMIX_QUERY_QUEUE_LIST, NULL, PMIX_ERR_NOT_FOUND, 0},
        {PMIX_QUERY_SPAWN_SUPPORT, NULL, PMIX_ERR_NOT_FOUND, 0},
        {"example.none", NULL, PMIX_ERR_NOT_FOUND, 0},
        {PMIX_QUERY_NAMESPACES ",example.none", NULL, PMIX_ERR_PARTIAL_SUCCESS, 1},
        {PMIX_QUERY_PROC_TABLE "," PMIX_JOB_SIZE, NULL, PMIX_ERR_PARTIAL_SUCCESS, 1},
    };

    start_without(2, 0);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_msg(ask(rows[i].keys, rows[i].nspace, NULL) == rows[i].status,
                      "row %zu", i);
        ck_assert_uint_eq(found.n, rows[i].n);
    }
}

PX_TEST(a_process_beside_a_namespace_or_a_rank_is_refused)
{
    PX_AUTO(px_infos) quals = {0};
    pmix_proc_t proc = raw_proc("job", 0);

    start_without(1, 0);
    ok(px_infos_add(&quals, PMIX_PROCID, &proc, PMIX_PROC));
    ok(px_infos_add(&quals, PMIX_RANK, &proc.rank, PMIX_PROC_RANK));
    fails(send_query(one, PMIX_QUERY_NAMESPACES, &quals), BAD_PARAM);
    ck_assert_uint_eq(found.n, 0);
}

PX_TEST(the_memory_of_clients_is_read)
{
    start_without(2, 1);
    ok(ask(PMIX_QUERY_MEMORY_USAGE, "job", NULL));
    const pmix_info_t *rows = array(PMIX_QUERY_MEMORY_USAGE, PMIX_INFO, 3), *in;
    size_t n;
    ck_assert(PMIx_Check_key(rows[0].key, PMIX_DAEMON_MEMORY));
    ck_assert(px_value_infos(&rows[2].value, &in, &n));
    ck_assert(px_info_find(in, n, PMIX_PROC_RSS)->value.data.fval > 0);
    ck_assert_uint_eq(px_info_find(in, n, PMIX_PROCID)->value.data.proc->rank, 1);

    ok(ask(PMIX_QUERY_MEMORY_USAGE "," PMIX_CLIENT_AVG_MEMORY "," PMIX_DAEMON_MEMORY,
           NULL, PMIX_QUERY_REPORT_AVG));
    rows = array(PMIX_QUERY_MEMORY_USAGE, PMIX_INFO, 2);
    ck_assert(PMIx_Check_key(rows[1].key, PMIX_CLIENT_AVG_MEMORY));
    ck_assert(rows[1].value.data.fval > 0);
    ck_assert(info(PMIX_CLIENT_AVG_MEMORY)->value.data.fval > 0);
    ck_assert(info(PMIX_DAEMON_MEMORY)->value.data.fval > 0);
    ok(ask(PMIX_QUERY_MEMORY_USAGE, NULL, PMIX_QUERY_REPORT_MINMAX));
    rows = array(PMIX_QUERY_MEMORY_USAGE, PMIX_INFO, 4);
    ck_assert(PMIx_Check_key(rows[3].key, PMIX_QUERY_REPORT_MINMAX));
    fails(ask(PMIX_QUERY_MEMORY_USAGE, "none", NULL), NOT_FOUND);
}

/* ---- many processes ------------------------------------------------------------------------ */

enum { N_MANY = 100000 };

static void add_many(void)
{
    PX_AUTO(px_infos) infos = {0};
    char nodes[] = "n0,n1,n2,n3",
         ranks[] = "0-24999;25000-49999;50000-74999;75000-99999";

    ok(px_infos_add(&infos, PMIX_NODE_MAP, nodes, PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_PROC_MAP, ranks, PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_JOB_SIZE, &(uint32_t){N_MANY}, PMIX_UINT32));
    pmix_proc_t p = raw_proc("many", 0);
    PMIx_server_register_nspace(p.nspace, 0, infos.v, infos.n, NULL, NULL);
}

PX_TEST(a_large_table_takes_many_turns)
{
    struct px_turns *turns;

    start_without(2, 0);
    add_many();
    turns = px_process.server->part.turns;
    turns->largest = turns->n_items = 0;
    ok(ask(PMIX_QUERY_PROC_TABLE, "many", NULL));
    const pmix_proc_info_t *row = array(PMIX_QUERY_PROC_TABLE, PMIX_PROC_INFO, N_MANY);
    for (size_t i = 0; i < N_MANY; i++) {
        const char host[] = {'n', (char)('0' + i * 4 / N_MANY), '\0'};

        ck_assert_msg(row[i].proc.rank == i &&
                          strcmp(row[i].proc.nspace, "many") == 0 &&
                          strcmp(row[i].hostname, host) == 0 &&
                          !row[i].executable_name && row[i].pid == 0,
                      "row %zu", i);
    }
    ck_assert(raw_quiet(one));
    ck_assert_uint_eq(raw_charged_b(0), 0);
    /* No turn has more work than a share and the last row. */
    ck_assert_uint_le(turns->largest, PX_TURN_ITEMS + 3);
    ck_assert_uint_ge(turns->n_rests, N_MANY / PX_TURN_ITEMS);
    /* A process of each node is described in each turn. Other rows cost an item. */
    ck_assert_uint_le(turns->n_items, N_MANY + 8192);
}

/* A row in memory is 304 bytes, and one allocation for the host's name. */
PX_TEST(a_row_of_a_table_costs_24_bytes_and_one_allocation)
{
    start_without(2, 0);
    add_many();
    ok(ask(PMIX_QUERY_PROC_TABLE, "many", NULL));
    ck_assert_uint_le(cost.size_b, N_MANY * 24);
    PX_TEST_NEEDS_ALLOC;
    ck_assert_uint_le(cost.n_allocs, N_MANY + 64);
}

PX_TEST(a_client_that_leaves_amid_a_table_leaves_nothing)
{
    PX_AUTO(px_infos) quals = {0};
    char *keys[] = {TEXT(PMIX_QUERY_PROC_TABLE), NULL};
    px_writer w;

    start_without(2, 0);
    add_many();
    ok(px_infos_add(&quals, PMIX_NSPACE, "many", PMIX_STRING));
    const pmix_query_t q = {.keys = keys, .qualifiers = quals.v, .nqual = 1};
    w = raw_begin(PX_OP_QUERY);
    px_pack_size(&w, 1);
    px_pack(&w, &q, 1, PMIX_QUERY);
    raw_send(two, 300, w);
    close(two);
    raw_await_gone(1);
    ck_assert(px_list_empty(&px_process.server->part.queries->replies));
    ok(ask(PMIX_QUERY_NAMESPACES, NULL, NULL));
}

PX_TEST(lists_that_would_delay_other_clients_are_refused)
{
    PX_AUTO(px_infos) none = {0};
    char keys[sizeof(PMIX_QUERY_NAMESPACE_INFO) * 1000] = PMIX_QUERY_NAMESPACE_INFO;

    start_without(2, 0);
    for (int i = 0; i < 8; i++) {
        char name[] = "job0";

        name[3] = (char)('0' + i);
        raw_add_job(name, 1, 0, geteuid());
    }
    for (int i = 1; i < 1000; i++)
        strcat(keys, "," PMIX_QUERY_NAMESPACE_INFO);
    fails(send_query(one, keys, &none), OUT_OF_RESOURCE);
    ok(ask(PMIX_QUERY_NAMESPACE_INFO, NULL, NULL));
    (void)array(PMIX_QUERY_NAMESPACE_INFO, PMIX_INFO, 9);
}

/* ---- the host ------------------------------------------------------------------------------ */

PX_TEST(an_answer_of_the_host_counts_first)
{
    static const struct {
        pmix_status_t host;
        const char *keys, *flag;
        pmix_status_t status;
        size_t n;
        const char *names;
        unsigned n_calls;
    } rows[] = {
        {PMIX_SUCCESS, PMIX_QUERY_NAMESPACES, NULL, PMIX_SUCCESS, 1, "theirs", 1},
        {PMIX_ERR_PARTIAL_SUCCESS, PMIX_QUERY_NAMESPACES "," PMIX_QUERY_JOB_STATUS,
         NULL, PMIX_SUCCESS, 2, "theirs", 1},
        {PMIX_ERR_PARTIAL_SUCCESS, PMIX_QUERY_NAMESPACES ",example.none", NULL,
         PMIX_ERR_PARTIAL_SUCCESS, 1, "theirs", 1},
        {PMIX_ERR_NO_PERMISSIONS, PMIX_QUERY_NAMESPACES, NULL, PMIX_ERR_NO_PERMISSIONS,
         0, NULL, 1},
        {PMIX_ERR_NO_PERMISSIONS, PMIX_QUERY_NAMESPACES "," PMIX_JOB_SIZE, NULL,
         PMIX_ERR_PARTIAL_SUCCESS, 1, NULL, 1},
        {PMIX_SUCCESS, PMIX_QUERY_NAMESPACES, PMIX_QUERY_LOCAL_ONLY, PMIX_SUCCESS, 1,
         "job", 0},
        {PMIX_SUCCESS, PMIX_JOB_SIZE, NULL, PMIX_SUCCESS, 1, NULL, 0},
        {PMIX_ERR_NOT_FOUND, PMIX_JOB_SIZE, PMIX_QUERY_REFRESH_CACHE, PMIX_SUCCESS, 1,
         NULL, 1},
        {PMIX_ERR_NOT_SUPPORTED, PMIX_QUERY_NAMESPACES, NULL, PMIX_SUCCESS, 1, "job",
         1},
    };

    raw_start(&host_module, 2, 0);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        unsigned n_calls = host_calls("query");
        bool answers = rows[i].host == PMIX_SUCCESS ||
                       rows[i].host == PMIX_ERR_PARTIAL_SUCCESS;

        px_infos_cleanup(&host.infos);
        if (answers)
            ok(px_infos_add(&host.infos, PMIX_QUERY_NAMESPACES, "theirs", PMIX_STRING));
        host.status = rows[i].host;
        ck_assert_msg(ask(rows[i].keys, "job", rows[i].flag) == rows[i].status,
                      "row %zu", i);
        ck_assert_msg(found.n == rows[i].n, "row %zu: %zu infos", i, found.n);
        ck_assert_msg(host_calls("query") - n_calls == rows[i].n_calls, "row %zu", i);
        if (rows[i].names)
            ck_assert_str_eq(text(PMIX_QUERY_NAMESPACES), rows[i].names);
    }
}

PX_TEST(the_keys_are_those_of_the_host_and_ours_and_have_qualifiers)
{
    PX_AUTO(px_strv) list = NULL;

    raw_start(&host_module, 2, 0);
    ok(px_infos_add(&host.infos, PMIX_QUERY_SUPPORTED_KEYS, "example.host",
                    PMIX_STRING));
    ok(ask(PMIX_QUERY_SUPPORTED_KEYS, NULL, NULL));
    ck_assert_uint_eq(found.n, 1);
    list = px_strv_split(text(PMIX_QUERY_SUPPORTED_KEYS), ',', false);
    ck_assert(px_strv_has(list, "example.host"));
    ck_assert(px_strv_has(list, PMIX_QUERY_PROC_TABLE));
    ck_assert(px_strv_has(list, PMIX_QUERY_AVAIL_SERVERS));
    ok(ask(PMIX_QUERY_JOB_STATUS, NULL, PMIX_QUERY_SUPPORTED_QUALIFIERS));
    ck_assert_str_eq(text(PMIX_QUERY_JOB_STATUS), PMIX_NSPACE);
    ok(ask(PMIX_QUERY_SUPPORTED_QUALIFIERS "," PMIX_QUERY_PSET_MEMBERSHIP, NULL, NULL));
    ck_assert_str_eq(text(PMIX_QUERY_PSET_MEMBERSHIP), PMIX_PSET_NAME);
    ck_assert_uint_eq(host_calls("query"), 1);
}

PX_TEST(each_row_of_a_key_is_found)
{
    static const char *const unknown[] = {"", "example", "pmix.zzz"};
    size_t n, n_rows = 0;

    raw_start(&host_module, 1, 0);
    for (const struct px_server_part *const *p = px_server_parts; *p; p++)
        for (const struct px_query_key *k = (*p)->query_keys; k && k->key; k++) {
            const struct px_query_key *const *rows = px_part_keys(px_process.server,
                                                                  k->key, &n);
            size_t i = 0;

            while (i < n && rows[i] != k)
                i++;
            ck_assert_msg(i < n && strcmp(rows[0]->key, k->key) == 0, "%s", k->key);
            n_rows++;
        }
    ck_assert_uint_gt(n_rows, 0);
    for (size_t i = 0; i < PX_COUNT(unknown); i++) {
        px_part_keys(px_process.server, unknown[i], &n);
        ck_assert_uint_eq(n, 0);
    }
}

PX_TEST(the_attributes_of_spawn_are_those_that_the_host_registered)
{
    char *names[] = {TEXT("PMIX_HOST"), TEXT("PMIX_DEBUG_STOP_IN_INIT"), TEXT("own"),
                     NULL};
    pmix_server_module_t m = without_query();

    start_without(1, 0);
    ok(PMIx_Register_attributes(TEXT("spawn"), names));
    ok(ask(PMIX_QUERY_SPAWN_SUPPORT "," PMIX_QUERY_DEBUG_SUPPORT, NULL, NULL));
    ck_assert_str_eq(text(PMIX_QUERY_SPAWN_SUPPORT),
                     PMIX_HOST "," PMIX_DEBUG_STOP_IN_INIT ",own");
    ck_assert_str_eq(text(PMIX_QUERY_DEBUG_SUPPORT), PMIX_DEBUG_STOP_IN_INIT);
    raw_server_stop();
    m.spawn = NULL;
    raw_start(&m, 1, 0);
    ok(ask(PMIX_QUERY_SPAWN_SUPPORT, NULL, NULL));
    ck_assert_str_eq(text(PMIX_QUERY_SPAWN_SUPPORT), "");
}

PX_TEST(a_user_sees_the_jobs_of_the_user_alone)
{
    enum { ANN = 1001, BOB = 1002 };
    const pmix_server_module_t m = without_query();
    PX_AUTO(px_infos) none = {0};

    PX_TEST_NEEDS_ROOT;
    raw_server_start(&m, 1, 0);
    raw_add_job("anns", 1, 0, ANN);
    raw_add_job("bobs", 1, 0, BOB);
    const int ann = raw_client_as(ANN, "anns", 0);

    ok(send_query(ann, PMIX_QUERY_NAMESPACES, &none));
    ck_assert_str_eq(text(PMIX_QUERY_NAMESPACES), "anns");
    ok(send_query(ann, PMIX_QUERY_MEMORY_USAGE, &none));
    (void)array(PMIX_QUERY_MEMORY_USAGE, PMIX_INFO, 2);
    ok(px_infos_add(&none, PMIX_NSPACE, "bobs", PMIX_STRING));
    fails(send_query(ann, PMIX_QUERY_JOB_STATUS, &none), NO_PERMISSIONS);
    fails(send_query(ann, PMIX_JOB_SIZE, &none), NO_PERMISSIONS);
}

/* ---- requests of other libraries' clients -------------------------------------------------- */

/* Resolves the peers on a node. Returns their number, or the error. */
static int peers(const char *node, const char *nspace)
{
    px_writer w = raw_begin(PX_OP_RESOLVE_PEERS);
    PX_AUTOFREE pmix_proc_t *procs = NULL;
    px_reader r;
    size_t n;

    px_pack_str(&w, node);
    px_pack_str(&w, nspace);
    pmix_status_t rc = raw_request(one, w, &r);
    if (rc)
        return rc;
    ok(px_unpack_procs(&r, &procs, &n));
    ck_assert(px_reader_done(&r));
    return (int)n;
}

/* Resolves the nodes of a job. Returns the list, or "" after an error. */
static const char *nodes(const char *nspace)
{
    static char *list;
    px_writer w = raw_begin(PX_OP_RESOLVE_NODE);
    px_reader r;

    free(px_take(&list));
    px_pack_str(&w, nspace);
    if (raw_request(one, w, &r))
        return "";
    ok(px_unpack_str(&r, &list));
    return list;
}

PX_TEST(peers_and_nodes_are_resolved)
{
    start_without(3, 2);
    PX_AUTOFREE char *both = px_strf("%s,other", px_process.host);
    ck_assert_int_eq(peers(NULL, "job"), 3);
    ck_assert_int_eq(peers(px_process.host, "job"), 3);
    ck_assert_int_eq(peers("other", "job"), 2);
    ck_assert_int_eq(peers("other", NULL), 2);
    ck_assert_int_eq(peers(NULL, "none"), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(peers("nowhere", "job"), PMIX_ERR_NOT_FOUND);
    ck_assert_str_eq(nodes("job"), both);
    ck_assert_str_eq(nodes("none"), "");
    ok(ask(PMIX_QUERY_RESOLVE_NODE "," PMIX_QUERY_RESOLVE_PEERS, "job", NULL));
    ck_assert_str_eq(text(PMIX_QUERY_RESOLVE_NODE), both);
    (void)array(PMIX_QUERY_RESOLVE_PEERS, PMIX_PROC, 3);
}

PX_TEST(the_host_resolves_jobs_that_are_not_known_here)
{
    const pmix_proc_t procs[] = {{"far", 0}, {"far", 1}};
    const pmix_data_array_t both = {
        .type = PMIX_PROC, .size = 2, .array = (void *)(uintptr_t)procs};

    raw_start(&host_module, 2, 0);
    ok(px_infos_add(&host.infos, PMIX_QUERY_RESOLVE_NODE, "a,b", PMIX_STRING));
    ok(px_infos_add(&host.infos, PMIX_QUERY_RESOLVE_PEERS, &both, PMIX_DATA_ARRAY));
    ck_assert_str_eq(nodes("far"), "a,b");
    ck_assert_str_eq(host.keys[0], PMIX_QUERY_RESOLVE_NODE);
    ck_assert_int_eq(peers("a", "far"), 2);
    ck_assert_str_eq(px_info_str(host.given.v, host.given.n, PMIX_HOSTNAME), "a");
    px_infos_cleanup(&host.infos); /* success without an answer */
    ck_assert_int_eq(peers("a", "far"), PMIX_ERR_NOT_FOUND);
}

/* Refreshes a process. Returns the uint32 under key; UINT32_MAX without it. */
static uint32_t refreshed(const char *nspace, pmix_rank_t rank, const char *key)
{
    px_writer w = raw_begin(PX_OP_REFRESH_CACHE);
    uint32_t value = UINT32_MAX;
    struct px_kval kv;
    px_reader r;

    px_pack_str(&w, nspace);
    px_pack_rank(&w, rank);
    ok(raw_request(one, w, &r));
    while (raw_next_kval(&r, &kv)) {
        if (strcmp(kv.key, key) == 0)
            (void)px_value_to_u32(&kv.value, &value);
        px_kval_fini(&kv);
    }
    return value;
}

/* Returns the uint32 under key in the first array of a refreshed job; UINT32_MAX without
 * it. */
static uint32_t refreshed_in(const char *array_key, const char *key)
{
    px_writer w = raw_begin(PX_OP_REFRESH_CACHE);
    uint32_t value = UINT32_MAX;
    const pmix_info_t *in;
    struct px_kval kv;
    px_reader r;
    size_t n;

    px_pack_str(&w, "job");
    px_pack_rank(&w, PMIX_RANK_WILDCARD);
    ok(raw_request(one, w, &r));
    while (raw_next_kval(&r, &kv)) {
        if (strcmp(kv.key, array_key) == 0 && value == UINT32_MAX &&
            px_value_infos(&kv.value, &in, &n))
            value = px_info_u32(in, n, key, UINT32_MAX);
        px_kval_fini(&kv);
    }
    return value;
}

PX_TEST(a_refresh_of_a_job_brings_its_nodes_applications_and_sessions)
{
    static const struct {
        const char *array, *key;
    } rows[] = {{PMIX_NODE_INFO_ARRAY, PMIX_NODE_SIZE},
                {PMIX_APP_INFO_ARRAY, PMIX_APP_SIZE},
                {PMIX_SESSION_INFO_ARRAY, PMIX_UNIV_SIZE}};
    static pmix_nspace_t job = "job";

    start_without(2, 0);
    for (uint32_t n = 7; n < 9; n++) /* registered, then registered anew */
        for (size_t i = 0; i < PX_COUNT(rows); i++) {
            pmix_info_t lone;

            PMIx_Info_load(&lone, rows[i].key, &n, PMIX_UINT32);
            ok(PMIx_server_register_nspace(job, 2, &lone, 1, raw_on_end, &raw_ended));
            ok(raw_await_end());
            ck_assert_uint_eq(refreshed_in(rows[i].array, rows[i].key), n);
        }
}

PX_TEST(a_refresh_brings_the_newest_values)
{
    start_without(2, 0);
    ck_assert_uint_eq(refreshed("job", 1, "colour"), UINT32_MAX);
    ok(raw_commit(two, "colour", 7));
    ck_assert_uint_eq(refreshed("job", 1, "colour"), 7);
    ok(raw_commit(two, "colour", 8));
    ck_assert_uint_eq(refreshed("job", 1, "colour"), 8);
    ck_assert_uint_eq(refreshed("job", 1, PMIX_LOCAL_RANK), 1);
    ck_assert_uint_eq(refreshed("job", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 2);
    ck_assert_uint_eq(refreshed("none", 0, "colour"), UINT32_MAX);
    ck_assert_uint_eq(refreshed("job", PMIX_RANK_UNDEF, "colour"), UINT32_MAX);
}

/* Returns the infos of a member of an array. */
static const pmix_info_t *inside(const pmix_info_t *v, size_t *n, const char *key)
{
    const pmix_info_t *member = px_info_find(v, *n, key), *in = NULL;

    ck_assert_msg(member && px_value_infos(&member->value, &in, n), "no %s", key);
    return in;
}

PX_TEST(the_state_of_the_server_has_every_section)
{
    static const struct {
        const char *section, *entry, *member; /* entry NULL: none */
    } rows[] = {{"server", NULL, "pid"},
                {"server", NULL, "uri"},
                {"loop", NULL, "longest_turn_us"},
                {"loop", NULL, "most_items_of_one_in_a_turn"},
                {"memory", "all", "values_b"},
                {"connections", "job.1", "charged_b"},
                {"parameters", "server_unread_timeout", "source"}};

    start_without(2, 0);
    ok(raw_commit(two, "colour", 7));
    ok(ask(TENON_QUERY_SERVER, NULL, NULL));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        size_t n = found.n;
        const pmix_info_t *v = inside(found.v, &n, TENON_QUERY_SERVER);
        uint64_t number;

        v = inside(v, &n, rows[i].section);
        if (rows[i].entry)
            v = inside(v, &n, rows[i].entry);
        v = px_info_find(v, n, rows[i].member);
        ck_assert_msg(v, "no %s", rows[i].member);
        if (strcmp(rows[i].member, "charged_b") != 0 && v->value.type == PMIX_UINT64) {
            number = v->value.data.uint64;
            ck_assert_msg(number > 0, "%s is 0", rows[i].member);
        }
    }
}

PX_TEST(the_state_of_the_server_is_not_for_other_users)
{
    const px_infos none = {0};

    PX_TEST_NEEDS_ROOT;
    start_without(1, 0);
    raw_add_job("theirs", 1, 0, 4711);
    int theirs = raw_client_as(4711, "theirs", 0);
    fails(send_query(theirs, TENON_QUERY_SERVER, &none), NO_PERMISSIONS);
    close(theirs);
}

PX_TEST(a_client_may_change_to_another_datastore)
{
    PX_AUTOFREE char *name = NULL;
    px_writer w = raw_begin(PX_OP_GDS_FALLBACK);
    struct px_kval kv;
    uint32_t size = 0;
    px_reader r;

    start_without(2, 0);
    px_pack_str(&w, "none");
    fails(raw_request(one, w, NULL), NOT_SUPPORTED);
    w = raw_begin(PX_OP_GDS_FALLBACK);
    px_pack_str(&w, "hash");
    raw_send(one, 300, w);
    ck_assert(raw_recv(one, 300, &r));
    ok(px_unpack_str(&r, &name));
    ck_assert_str_eq(name, "job");
    while (!size && raw_next_kval(&r, &kv)) {
        if (strcmp(kv.key, PMIX_JOB_SIZE) == 0)
            (void)px_value_to_u32(&kv.value, &size);
        px_kval_fini(&kv);
    }
    ck_assert_uint_eq(size, 2);
}

PX_TEST_MAIN("server/query", NULL, host_end)
