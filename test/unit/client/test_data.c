/* SPDX-License-Identifier: BSD-3-Clause */
/* Put, commit and get: the requests to the server and the effects of its replies. A get of a known
 * value makes no system call, so no other thread takes part. Readers see whole values while the loop
 * changes data. */
#include "alloc_fail.h"
#include "core/client/client.h"
#include "core/model/resources.h"
#include "fake_server.h"
#include "px_test.h"
#include "seccomp.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum { READS = 1000, READERS = 4, ROUNDS = 400 };

static pmix_status_t put(pmix_scope_t scope, const char *key, uint32_t n)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = n};

    return PMIx_Put(scope, key, &v);
}

/* Gets a value; yes is the key of a flag, or NULL. */
static pmix_status_t get_value(const char *nspace, pmix_rank_t r, const char *key,
                               const char *yes, pmix_value_t **v)
{
    pmix_proc_t p = proc_of(nspace, r);
    pmix_info_t info = yes ? flag(yes) : (pmix_info_t){0};

    *v = NULL;
    return PMIx_Get(&p, key, yes ? &info : NULL, yes != NULL, v);
}

/* Returns the number of a rank of the job, or the status. */
static int get(pmix_rank_t r, const char *key, const char *yes)
{
    pmix_value_t *v;
    pmix_status_t rc = get_value("job", r, key, yes, &v);
    int n = rc;

    ck_assert(!v == (rc != PMIX_SUCCESS));
    if (v) {
        ck_assert_int_eq(v->type, PMIX_UINT32);
        n = (int)v->data.uint32;
        PMIX_VALUE_RELEASE(v);
    }
    return n;
}

/* ---- commit ---------------------------------------------------------------------- */

static px_buf commits[4];
static unsigned n_commits;

static bool keep_commit(int fd PX_UNUSED, struct fake_req *req)
{
    if (req->op == PX_OP_COMMIT)
        ok(px_buf_add(&commits[n_commits++], req->in.pos,
                      (size_t)(req->in.end - req->in.pos)));
    return false;
}

/* Returns the pairs of one scope in a commit, as "a=1 b=2"; "" if the scope is absent. */
static const char *committed(unsigned i, uint8_t wanted)
{
    static char text[256];
    px_reader r, values;
    uint8_t scope;

    text[0] = '\0';
    px_reader_init(&r, fake.codec, commits[i].data, commits[i].len);
    while (!px_reader_done(&r)) {
        ok(px_unpack_u8(&r, &scope, PMIX_SCOPE));
        ok(px_unpack_view(&r, &values, PMIX_BUFFER));
        while (scope == wanted && !px_reader_done(&values)) {
            struct px_kval kv = {0};
            size_t n = strlen(text);

            ok(px_unpack_kval(&values, &kv));
            snprintf(text + n, sizeof(text) - n, "%s%s=%u", n ? " " : "", kv.key,
                     kv.value.data.uint32);
            px_kval_fini(&kv);
        }
    }
    return text;
}

static void teardown(void)
{
    client_end();
    for (size_t i = 0; i < PX_COUNT(commits); i++)
        px_buf_cleanup(&commits[i]);
}

PX_TEST(a_commit_carries_what_was_put_since_the_last_by_scope)
{
    client_of_hook(keep_commit);
    ok(put(PMIX_LOCAL, "a", 1));
    ok(put(PMIX_REMOTE, "b", 2));
    ok(put(PMIX_GLOBAL, "c", 3));
    ok(put(PMIX_INTERNAL, "d", 4));
    ok(PMIx_Commit());
    ok(put(PMIX_LOCAL, "a", 5));
    ok(PMIx_Commit());
    ok(PMIx_Commit());

    ok(PMIx_Fence(NULL, 0, NULL, 0)); /* the commits have arrived */

    ck_assert_str_eq(committed(0, PMIX_LOCAL), "a=1");
    ck_assert_str_eq(committed(0, PMIX_REMOTE), "b=2");
    ck_assert_str_eq(committed(0, PMIX_GLOBAL), "c=3");
    ck_assert_str_eq(committed(1, PMIX_LOCAL), "a=5");
    ck_assert_str_eq(committed(1, PMIX_REMOTE), "");
    ck_assert_uint_eq(commits[2].len, 0);
}

static bool refuse_commits(int fd, struct fake_req *req)
{
    if (req->op == PX_OP_COMMIT)
        fake_status(fd, req->tag, PMIX_ERR_NO_PERMISSIONS);
    return req->op == PX_OP_COMMIT;
}

/* The reply to the failed commit arrives before the reply to the next request. */
PX_TEST(a_commit_does_not_wait_and_the_next_fence_or_commit_returns_its_error)
{
    client_of_hook(refuse_commits);
    ok(put(PMIX_LOCAL, "a", 1));
    ok(PMIx_Commit());
    fails(PMIx_Fence(NULL, 0, NULL, 0), NO_PERMISSIONS);
    ok(PMIx_Fence(NULL, 0, NULL, 0));
    ok(PMIx_Commit());
    fails(get(1, "b", NULL), NOT_FOUND);
    fails(PMIx_Commit(), NO_PERMISSIONS);
    fake.hook = NULL;
    ok(PMIx_Commit());
    ok(PMIx_Fence(NULL, 0, NULL, 0));
}

static unsigned n_held;
static uint32_t held_tags[4];

/* Holds the replies to commits until the fourth commit. */
static bool hold_commits(int fd, struct fake_req *req)
{
    if (req->op != PX_OP_COMMIT)
        return false;
    held_tags[n_held++] = req->tag;
    for (unsigned i = 0; n_held == 4 && i < 4; i++)
        fake_status(fd, held_tags[i], PMIX_SUCCESS);
    return true;
}

PX_TEST(unacknowledged_commits_are_bounded)
{
    enum { SIZE_B = 10 << 20 };
    PX_AUTOFREE char *bytes = calloc(1, SIZE_B);
    pmix_value_t v = {.type = PMIX_BYTE_OBJECT, .data.bo = {bytes, SIZE_B}};

    client_of_hook(hold_commits);
    for (unsigned i = 0; i < 3; i++) {
        ok(PMIx_Put(PMIX_LOCAL, "a", &v));
        ok(PMIx_Commit());
    }
    ck_assert_uint_eq(n_held, 4); /* the third commit has waited for an empty commit */
}

PX_TEST(a_value_the_servers_dialect_lacks_fails_its_put_alone)
{
    pmix_value_t odd = {.type = PMIX_LINK_STATE, .data.linkstate = 1};
    static const pmix_scope_t scopes[] = {PMIX_LOCAL, PMIX_REMOTE, PMIX_GLOBAL};

    fake.uri_variable = "PMIX_SERVER_URI3";
    fake.codec.dialect = px_dialect_find("v3");
    client_of_hook(keep_commit);
    ok(put(PMIX_GLOBAL, "a", 1));
    for (size_t i = 0; i < PX_COUNT(scopes); i++)
        fails(PMIx_Put(scopes[i], "odd", &odd), UNKNOWN_DATA_TYPE);
    ok(put(PMIX_GLOBAL, "b", 2));
    ok(PMIx_Commit());
    ok(PMIx_Fence(NULL, 0, NULL, 0));
    ck_assert_str_eq(committed(0, PMIX_GLOBAL), "a=1 b=2");
    fails(get(0, "odd", NULL), NOT_FOUND); /* not stored, either */
}

PX_TEST(a_limit_sends_a_get_of_an_own_value_to_the_server)
{
    pmix_proc_t p = rank(0);
    pmix_value_t *v = NULL;
    pmix_info_t timeout;

    client_begin();
    PMIx_Info_load(&timeout, PMIX_TIMEOUT, &(int){5}, PMIX_INT);
    fails(PMIx_Get(&p, "b", &timeout, 1, &v), NOT_FOUND);
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET], 1);
    fails(PMIx_Get(&p, "pmix.b", &timeout, 1, &v), NOT_FOUND);
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET], 1);
}

PX_TEST(reserved_keys_of_a_peer_are_asked_for_without_waiting)
{
    static const struct {
        const char *key;
        pmix_rank_t rank;
        bool immediate;
    } rows[] = {
        {"pmix.b", 1, true}, {"b", 1, false}, {"pmix.b", PMIX_RANK_UNDEF, false}};

    client_begin();
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        fails(get(rows[i].rank, rows[i].key, NULL), NOT_FOUND);
        ck_assert_uint_eq(fake.n_ops[PX_OP_GET], i + 1);
        ck_assert_int_eq(
            px_info_flag(fake.received.info.v, fake.received.info.n, PMIX_IMMEDIATE),
            rows[i].immediate);
    }
}

PX_TEST(a_process_knows_its_name_and_its_server)
{
    const char *address;
    pmix_value_t *v;

    client_begin();
    address = getenv("PMIX_SERVER_URI41");
    ok(get_value("job", 0, PMIX_SERVER_URI, NULL, &v));
    ck_assert_str_eq(v->data.string, address);
    PMIX_VALUE_RELEASE(v);
    px_test_knows_itself(&px_process.model->self);
    ok(get_value("", PMIX_RANK_INVALID, PMIX_RANK, NULL, &v));
    ck_assert_uint_eq(v->data.rank, 0);
    PMIX_VALUE_RELEASE(v);
}

/* Packs the values of a process as a part of a reply. */
static void pack_part(px_writer *w, pmix_proc_t p, void (*pack_values)(px_writer *w))
{
    PX_AUTO(px_writer) body = fake_begin();

    px_pack(&body, &p, 1, PMIX_PROC);
    pack_values(&body);
    px_pack_bytes(w, body.buf.data, body.buf.len);
}

static void add_job(px_writer *w, const struct fake_req *req)
{
    if (req->op == PX_OP_GET && strcmp(fake.received.nspace, "served") == 0)
        pack_part(w, proc_of("served", PMIX_RANK_WILDCARD), fake_usual_job_info);
}

PX_TEST(peers_in_a_job_that_the_server_serves_are_asked_for)
{
    static const pmix_nspace_t served = "served", another = "another";
    pmix_proc_t *procs;
    size_t n;

    fake.add = add_job;
    client_begin();
    for (int i = 0; i < 2; i++) {
        ok(PMIx_Resolve_peers(NULL, served, &procs, &n));
        ck_assert_uint_eq(n, 2);
        ck_assert_str_eq(procs[1].nspace, "served");
        PMIX_PROC_FREE(procs, n);
    }
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET], 1);
    fails(PMIx_Resolve_peers(NULL, another, &procs, &n), NOT_FOUND);
    ck_assert(px_info_flag(fake.received.info.v, fake.received.info.n, PMIX_IMMEDIATE));
}

/* ---- get ------------------------------------------------------------------------- */

static uint32_t colour = 7; /* value in every reply to a get */

static void pack_colour(px_writer *w)
{
    fake_put_u32(w, "colour", colour);
}

static void add_value(px_writer *w, const struct fake_req *req)
{
    pmix_rank_t r = fake.received.rank == PMIX_RANK_UNDEF ? 1 : fake.received.rank;

    if (req->op == PX_OP_GET)
        pack_part(w, proc_of(fake.received.nspace, r), pack_colour);
}

static void begin(void)
{
    fake.add = add_value;
    client_begin();
}

PX_TEST(a_value_of_a_peer_is_asked_for_once)
{
    begin();
    fails(get(1, "colour", PMIX_OPTIONAL), NOT_FOUND);
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET], 0); /* an optional get sends no request */
    ck_assert_int_eq(get(1, "colour", PMIX_IMMEDIATE), 7);
    ck_assert_str_eq(fake.received.text, "colour");
    colour = 8;
    ck_assert_int_eq(get(1, "colour", NULL), 7);
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET], 1);
    ck_assert_int_eq(get(1, "colour", PMIX_GET_REFRESH_CACHE), 8);
    /* The reply lacks this key. */
    fails(get(1, "shape", NULL), NOT_FOUND);
}

PX_TEST(after_a_collecting_fence_values_are_asked_for_anew)
{
    pmix_info_t collect = flag(PMIX_COLLECT_DATA);
    pmix_proc_t all = rank(PMIX_RANK_WILDCARD);

    begin();
    for (uint32_t i = 0; i < 3; i++) {
        colour = 20 + i;
        ck_assert_uint_eq(get(1, "colour", NULL), 20 + i);
        ok(i ? PMIx_Fence(&all, 1, &collect, 1) : PMIx_Fence(NULL, 0, &collect, 1));
    }
    ck_assert_int_eq(get(1, "colour", NULL), 22);
    colour = 99;
    ok(PMIx_Fence(NULL, 0, NULL, 0)); /* does not collect */
    ck_assert_int_eq(get(1, "colour", NULL), 22);
}

/* Gets all keys of a rank and expects number as the value of key. */
static void everything_has(pmix_rank_t r, const char *key, uint32_t number)
{
    const pmix_data_array_t *a;
    pmix_value_t *v;

    ok(get_value("job", r, NULL, NULL, &v));
    ck_assert_int_eq(v->type, PMIX_DATA_ARRAY);
    a = v->data.darray;
    ck_assert_uint_eq(px_info_u32(a->array, a->size, key, 0), number);
    ck_assert(r == 1 || !px_info_find(a->array, a->size, PMIX_LOCAL_RANK));
    PMIX_VALUE_RELEASE(v);
}

PX_TEST(without_a_key_everything_is_there)
{
    begin();
    everything_has(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 2);
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET], 0); /* known from the start */
    everything_has(1, "colour", 7);
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET], 1);
    ck_assert_ptr_null(fake.received.text);
    fake.add = NULL; /* the server has no data; known data stays */
    everything_has(1, "colour", 7);
    everything_has(PMIX_RANK_UNDEF, PMIX_JOB_SIZE, 2);
}

PX_TEST(the_caller_may_provide_the_storage)
{
    pmix_value_t storage = {.type = PMIX_UNDEF}, *v = &storage;
    pmix_proc_t p = rank(1);
    pmix_info_t given = flag(PMIX_GET_STATIC_VALUES);

    begin();
    ok(PMIx_Get(&p, "colour", &given, 1, &v));
    ck_assert_ptr_eq(v, &storage);
    ck_assert_uint_eq(storage.data.uint32, 7);
    fails(PMIx_Get(&p, "shape", &given, 1, &v), NOT_FOUND);
    ck_assert_ptr_eq(v, &storage);
    v = NULL;
    fails(PMIx_Get(&p, "colour", &given, 1, &v), BAD_PARAM);
}

static uint32_t done_value, done_sum;

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    ck_assert_int_eq(!value, status != PMIX_SUCCESS);
    if (value)
        done_sum += done_value = value->data.uint32;
    on_op(status, cbdata);
}

/* ---- slow, dying and strange servers --------------------------------------------- */

static uint32_t late_tag;

static bool keep_waiting(int fd, struct fake_req *req)
{
    struct fake_req late = {.op = PX_OP_GET, .tag = late_tag};

    if (req->op == PX_OP_GET)
        late_tag = req->tag;
    else if (req->op == PX_OP_COMMIT)
        fake_answer(fd, &late);
    return req->op == PX_OP_GET;
}

PX_TEST(a_get_may_have_a_deadline_and_what_comes_later_is_kept)
{
    pmix_proc_t p = rank(1);
    pmix_value_t *v = NULL;
    pmix_info_t timeout;
    uint32_t second = 1;

    fake.add = add_value;
    client_of_hook(keep_waiting);
    PMIx_Info_load(&timeout, PMIX_TIMEOUT, &second, PMIX_UINT32);
    fails(PMIx_Get(&p, "colour", &timeout, 1, &v), TIMEOUT);
    ck_assert_ptr_null(v);
    ok(PMIx_Commit());
    ok(PMIx_Fence(NULL, 0, NULL, 0));
    ck_assert_int_eq(get(1, "colour", PMIX_OPTIONAL), 7);
}

static bool die_at_get(int fd, struct fake_req *req)
{
    if (req->op == PX_OP_GET || req->op == PX_OP_FENCE || req->op == PX_OP_COMMIT)
        shutdown(fd, SHUT_RDWR);
    return req->op != PX_OP_REQ;
}

/* Holds the first get until a commit, and each get of "size". */
static bool park(int fd, struct fake_req *req)
{
    struct fake_req late = {.op = PX_OP_GET, .tag = late_tag};

    if (req->op == PX_OP_COMMIT)
        fake_answer(fd, &late);
    if (req->op != PX_OP_GET || (late_tag && strcmp(fake.received.text, "size") != 0))
        return false;
    late_tag = req->tag;
    return true;
}

PX_TEST(a_waiting_get_does_not_block_other_gets_of_the_peer)
{
    static const char *const keys[] = {"shape", "size"};
    pmix_proc_t p = rank(1);

    fake.add = add_value;
    client_of_hook(park);
    for (size_t i = 0; i < PX_COUNT(keys); i++)
        ok(PMIx_Get_nb(&p, keys[i], NULL, 0, on_value, &done));
    ck_assert_int_eq(get(1, "colour", NULL), 7);
    fails(get(1, "weight", PMIX_IMMEDIATE), NOT_FOUND);
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET], 4);
    client_end();
    for (size_t i = 0; i < PX_COUNT(keys); i++)
        ck_assert_int_lt(await_op(), 0);
}

enum { BURST = 500 };

static void pack_burst(px_writer *w)
{
    char key[16];

    for (uint32_t i = 0; i < BURST; i++) {
        snprintf(key, sizeof(key), "k%u", i);
        fake_put_u32(w, key, i);
    }
}

static void add_burst(px_writer *w, const struct fake_req *req)
{
    if (req->op == PX_OP_GET)
        pack_part(w, rank(1), pack_burst);
}

PX_TEST(many_gets_of_a_peer_need_few_requests)
{
    pmix_proc_t p = rank(1);
    char key[16];

    fake.add = add_burst;
    client_of_hook(park);
    for (uint32_t i = 0; i < BURST; i++) {
        snprintf(key, sizeof(key), "k%u", i);
        ok(PMIx_Get_nb(&p, key, NULL, 0, on_value, &done));
    }
    ok(PMIx_Commit());
    for (uint32_t i = 0; i < BURST; i++)
        ok(await_op());
    ck_assert_uint_eq(done_sum, BURST * (BURST - 1) / 2);
    /* Gets that come while a request is under way share the next one. */
    ck_assert_uint_le(fake.n_ops[PX_OP_GET], BURST / 50);
}

PX_TEST_LOOP(a_dying_server_ends_all_waiting_calls, 3)
{
    pmix_status_t rc;

    client_of_hook(die_at_get);
    if (_i == 2)
        ok(PMIx_Commit()); /* the next call may already return UNREACH */
    rc = _i == 0 ? get(1, "colour", NULL) : PMIx_Fence(NULL, 0, NULL, 0);
    if (_i < 2 || rc != PMIX_ERR_UNREACH)
        ck_assert_int_eq(rc, PMIX_ERR_LOST_CONNECTION);
    /* later calls find no server */
    fails(get(1, "colour", NULL), UNREACH);
    fails(PMIx_Fence(NULL, 0, NULL, 0), UNREACH);
    ok(put(PMIX_GLOBAL, "a", 1));
    rc = PMIx_Commit();
    ck_assert_int_eq(rc, _i == 2 ? PMIX_ERR_LOST_CONNECTION : PMIX_ERR_UNREACH);
    fails(PMIx_Commit(), UNREACH);
    ck_assert_int_eq(get(0, "a", NULL), 1);
}

static const char *strange;
static size_t n_strange;

static bool answer_strangely(int fd, struct fake_req *req)
{
    if (req->op != PX_OP_GET && req->op != PX_OP_FENCE && req->op != PX_OP_CONNECT)
        return false;
    fake_raw(fd, req->tag, strange, n_strange);
    return true;
}

PX_TEST(malformed_replies_are_errors)
{
    static const struct {
        const char *bytes;
        size_t n;
    } rows[] = {
        {"", 0},
        {"\xff", 1},
        {"\x02\x00\x02\x7f", 4},             /* a part longer than the message */
        {"\x02\x00\x02\x04\x02\x06ns", 8},   /* a truncated process */
        {"\x02\x00\x02\x03\x02\x00\x00", 7}, /* a process without a namespace */
    };
    pmix_proc_t self = rank(0);

    client_of_hook(answer_strangely);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        strange = rows[i].bytes;
        n_strange = rows[i].n;
        ck_assert_msg(get(1, "colour", NULL) < 0, "%zu", i);
        if (i < 2)
            ck_assert_int_lt(PMIx_Fence(NULL, 0, NULL, 0), 0);
        ck_assert_int_lt(PMIx_Connect(&self, 1, NULL, 0), 0);
    }
}

/* ---- no system call, no allocation but the value's --------------------------------- */

static const struct question {
    pmix_rank_t rank;
    const char *key, *flag;
    unsigned n_allocs; /* the value and its data */
} known[] = {
    {PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL, 1},
    {PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, PMIX_SESSION_INFO, 1},
    {PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, NULL, 2},
    {PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE, PMIX_NODE_INFO, 1},
    {PMIX_RANK_WILDCARD, PMIX_NUM_NODES, NULL, 1}, /* derived from the map */
    {1, PMIX_LOCAL_RANK, NULL, 1},
    {1, PMIX_HOSTNAME, PMIX_IMMEDIATE, 2}, /* derived from the map, too */
    {0, "put", NULL, 1},
    {0, "committed", PMIX_OPTIONAL, 1},
    {1, "colour", NULL, 1}, /* peer data after a collecting fence */
};

static void ask(void *arg)
{
    const struct question *q = arg;

    for (int i = 0; i < READS; i++) {
        pmix_value_t *v;

        if (get_value(i % 2 ? "job" : "", q->rank, q->key, q->flag, &v) == PMIX_SUCCESS)
            PMIX_VALUE_RELEASE(v);
    }
}

PX_TEST_LOOP(a_get_of_a_known_value_makes_no_system_call, PX_COUNT(known))
{
    PX_TEST_NEEDS_ALLOC;
    struct question q = known[_i];
    pmix_info_t collect = flag(PMIX_COLLECT_DATA);
    pmix_value_t *v;

    begin();
    ok(put(PMIX_GLOBAL, "committed", 5));
    ok(PMIx_Commit());
    ok(put(PMIX_GLOBAL, "put", 5));
    ok(PMIx_Fence(NULL, 0, &collect, 1));
    ck_assert_int_eq(get(1, "colour", NULL), 7);
    px_alloc_fail_at(0);
    pmix_status_t rc = get_value("job", q.rank, q.key, q.flag, &v);
    unsigned n = px_alloc_count();
    PMIX_VALUE_RELEASE(v);
    ck_assert_int_eq(px_alloc_balance(), 0);
    px_alloc_fail_end();
    ok(rc);
    ck_assert_uint_eq(n, q.n_allocs);
    ck_assert_int_eq(px_test_first_call_of(ask, &q), -1);
}

static void call_kernel(void *arg PX_UNUSED)
{
    syscall(SYS_getppid);
}

static void ask_for_nothing(void *arg)
{
    pmix_value_t *v;

    *(pmix_status_t *)arg = get_value("job", 0, "nothing", PMIX_OPTIONAL, &v);
}

/* The reader runs the idle loop itself. The first check shows that a system call is found. */
PX_TEST(a_get_of_an_unknown_value_makes_no_system_call_either)
{
    PX_TEST_NEEDS_ALLOC;
    static pmix_status_t rc;

    begin();
    ck_assert_int_eq(px_test_first_call_of(call_kernel, NULL), SYS_getppid);
    ck_assert_int_eq(px_test_first_call_of(ask_for_nothing, &rc), -1);
    px_alloc_fail_at(0);
    ask_for_nothing(&rc);
    px_alloc_fail_end();
    ck_assert_uint_eq(px_alloc_count(), 0);
    ck_assert_int_eq(rc, PMIX_ERR_NOT_FOUND);
}

static sem_t held, let_go;

static void hold_loop(struct px_msg *msg PX_UNUSED)
{
    sem_post(&held);
    sem_wait(&let_go);
}

PX_TEST(a_get_of_a_known_or_missing_value_does_not_wait_for_the_loop)
{
    struct px_msg msg = {.run = hold_loop};

    begin();
    ok(put(PMIX_GLOBAL, "put", 5));
    sem_init(&held, 0, 0);
    sem_init(&let_go, 0, 0);
    ck_assert(px_process_post(&msg));
    sem_wait(&held);
    ck_assert_int_eq(get(0, "put", NULL), 5);
    fails(get(0, "nothing", NULL), NOT_FOUND);
    fails(get(1, "nothing", PMIX_OPTIONAL), NOT_FOUND);
    fails(get(PMIX_RANK_WILDCARD, "nothing", NULL), NOT_FOUND);
    sem_post(&let_go);
    ck_assert_int_eq(get(1, "colour", NULL), 7);
}

/* ---- while the loop changes things ----------------------------------------------- */

static atomic_bool over;

static void *read_all(void *arg)
{
    static const struct {
        const char *nspace;
        pmix_rank_t rank;
        const char *key;
        uint32_t number; /* 0: a text that changes */
        bool comes_and_goes;
    } rows[] = {
        {"job", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 2, false},
        {"job", PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE, 2, false},
        {"job", 1, "colour", 7, false},
        {"job", 0, "text", 0, false},
        {"other", 0, "text", 0, true},
        {"job", PMIX_RANK_WILDCARD, "resource", 0, true},
    };

    for (size_t i = 0; !atomic_load(&over); i = (i + 1) % PX_COUNT(rows)) {
        pmix_value_t *v;
        const char *text;
        uint32_t n = 0;
        pmix_status_t rc = get_value(rows[i].nspace, rows[i].rank, rows[i].key,
                                     rows[i].comes_and_goes ? PMIX_OPTIONAL : NULL, &v);

        if (rc == PMIX_ERR_NOT_FOUND && rows[i].comes_and_goes)
            continue;
        ck_assert_msg(rc == PMIX_SUCCESS, "%s: %s", rows[i].key, PMIx_Error_string(rc));
        if (rows[i].number) {
            ck_assert(px_value_to_u32(v, &n));
            ck_assert_uint_eq(n, rows[i].number);
        } else { /* a whole text repeats one letter */
            ck_assert_int_eq(v->type, PMIX_STRING);
            text = v->data.string;
            ck_assert_uint_eq(strspn(text, (char[]){text[0], '\0'}), strlen(text));
        }
        PMIX_VALUE_RELEASE(v);
    }
    return arg;
}

static void on_change(struct px_call *call, void *args)
{
    struct px_model *m = px_process.model;
    pmix_info_t info = {.key = "resource"};

    info.value = *(pmix_value_t *)args;
    px_nspace_remove(m, px_nspace_find(m, "other"));
    px_call_done(call, px_resources_set(m, &info, 1));
}

/* Replaces, removes and registers the data that the readers get. */
static void change_all(int round)
{
    char text[201] = "";
    pmix_value_t v = {.type = PMIX_STRING, .data.string = text};
    pmix_info_t collect = flag(PMIX_COLLECT_DATA);
    pmix_proc_t p = proc_of("other", 0);

    memset(text, 'a' + round % 26, 1 + (size_t)round % (sizeof(text) - 1));
    ok(PMIx_Put(PMIX_GLOBAL, "text", &v));
    ok(PMIx_Store_internal(&p, "text", &v));
    ok(px_call(px_process.loop, on_change, &v));
    if (round % 8 == 0)
        ok(PMIx_Fence(NULL, 0, &collect, 1));
}

static void start_all(pthread_t *readers, void *(*fn)(void *))
{
    for (int i = 0; i < READERS; i++)
        ok(pthread_create(&readers[i], NULL, fn, NULL));
}

static void join_all(const pthread_t *readers)
{
    for (int i = 0; i < READERS; i++)
        ok(pthread_join(readers[i], NULL));
}

PX_TEST(readers_in_many_threads_see_whole_values)
{
    pthread_t readers[READERS];

    begin();
    change_all(0);
    start_all(readers, read_all);
    for (int i = 0; i < ROUNDS; i++)
        change_all(i);
    atomic_store(&over, true);
    join_all(readers);
}

static void *read_to_the_end(void *arg)
{
    pmix_value_t *v;
    pmix_status_t rc;

    do {
        rc = get_value("", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL, &v);
        if (!rc)
            PMIX_VALUE_RELEASE(v);
        ck_assert(rc == PMIX_SUCCESS || rc == PMIX_ERR_INIT);
    } while (rc == PMIX_SUCCESS);
    return arg;
}

PX_TEST(finalize_may_run_while_other_threads_read)
{
    for (int i = 0; i < 40; i++) {
        pthread_t readers[READERS];

        client_alone();
        start_all(readers, read_to_the_end);
        ok(PMIx_Finalize(NULL, 0));
        join_all(readers);
    }
}

PX_TEST_MAIN("client/data", NULL, teardown)
