/* SPDX-License-Identifier: BSD-3-Clause */
/* Put, commit and get: what goes to the server, and what is done with its answers. */
#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/client/client.h"
#include "fake_server.h"
#include "px_test.h"

#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>

static pmix_value_t done_value;

static pmix_status_t put(pmix_scope_t scope, const char *key, uint32_t n)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = n};

    return PMIx_Put(scope, key, &v);
}

/* With up to one flag; UINT32_MAX and the status in *rc if there is none. */
static uint32_t get(pmix_rank_t r, const char *key, const char *flag, pmix_status_t *rc)
{
    pmix_value_t *v = NULL;
    pmix_proc_t p = rank(r);
    pmix_info_t info;
    uint32_t n = UINT32_MAX;

    if (flag)
        PMIx_Info_load(&info, flag, NULL, PMIX_BOOL);
    *rc = PMIx_Get(&p, key, flag ? &info : NULL, flag ? 1 : 0, &v);
    if (*rc == PMIX_SUCCESS) {
        ck_assert_int_eq(v->type, PMIX_UINT32);
        n = v->data.uint32;
        PMIX_VALUE_RELEASE(v);
    } else {
        ck_assert_ptr_null(v);
    }
    return n;
}

static void not_found(pmix_rank_t r, const char *key, const char *flag)
{
    pmix_status_t rc;

    (void)get(r, key, flag, &rc);
    ck_assert_int_eq(rc, PMIX_ERR_NOT_FOUND);
}

/* ---- commit ---------------------------------------------------------------------- */

static px_buf commits[4];
static unsigned n_commits;
static pmix_status_t commit_status;

static bool keep_commit(int fd, struct fake_req *req)
{
    if (req->op != PX_OP_COMMIT)
        return false;
    ok(px_buf_add(&commits[n_commits++], req->in.pos,
                  (size_t)(req->in.end - req->in.pos)));
    fake_status(fd, req->tag, commit_status);
    return true;
}

/* "a=1 b=2" of one scope in a commit; "" if it is not there. */
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
            char one[64];

            ok(px_unpack_kval(&values, &kv));
            snprintf(one, sizeof(one), "%s%s=%u", text[0] ? " " : "", kv.key,
                     kv.value.data.uint32);
            strcat(text, one);
            px_kval_fini(&kv);
        }
    }
    return text;
}

static void free_commits(void)
{
    for (size_t i = 0; i < PX_COUNT(commits); i++)
        px_buf_cleanup(&commits[i]);
}

PX_TEST(a_commit_carries_what_was_put_since_the_last_by_scope)
{
    fake.hook = keep_commit;
    client_begin();
    ok(put(PMIX_LOCAL, "a", 1));
    ok(put(PMIX_REMOTE, "b", 2));
    ok(put(PMIX_GLOBAL, "c", 3));
    ok(put(PMIX_INTERNAL, "d", 4));
    ok(PMIx_Commit());
    ok(put(PMIX_LOCAL, "a", 5));
    ok(PMIx_Commit());
    ok(PMIx_Commit());

    ck_assert_str_eq(committed(0, PMIX_LOCAL), "a=1 c=3");
    ck_assert_str_eq(committed(0, PMIX_REMOTE), "b=2 c=3");
    ck_assert_str_eq(committed(1, PMIX_LOCAL), "a=5");
    ck_assert_str_eq(committed(1, PMIX_REMOTE), "");
    ck_assert_uint_eq(commits[2].len, 0);
}

PX_TEST(a_value_the_servers_dialect_lacks_fails_its_put_alone)
{
    pmix_value_t odd = {.type = PMIX_LINK_STATE, .data.linkstate = 1};
    static const pmix_scope_t scopes[] = {PMIX_LOCAL, PMIX_REMOTE, PMIX_GLOBAL};

    fake.hook = keep_commit;
    fake.uri_variable = "PMIX_SERVER_URI3";
    fake.codec.dialect = px_dialect_find("v3");
    client_begin();
    ok(put(PMIX_GLOBAL, "a", 1));
    for (size_t i = 0; i < PX_COUNT(scopes); i++)
        ck_assert_int_eq(PMIx_Put(scopes[i], "odd", &odd), PMIX_ERR_UNKNOWN_DATA_TYPE);
    ok(put(PMIX_GLOBAL, "b", 2));
    ok(PMIx_Commit());
    ck_assert_str_eq(committed(0, PMIX_LOCAL), "a=1 b=2");
    ck_assert_str_eq(committed(0, PMIX_REMOTE), "a=1 b=2");
    not_found(0, "odd", NULL); /* nor is it here */
}

PX_TEST(the_servers_status_is_the_commits)
{
    fake.hook = keep_commit;
    commit_status = PMIX_ERR_NO_PERMISSIONS;
    client_begin();
    ck_assert_int_eq(PMIx_Commit(), PMIX_ERR_NO_PERMISSIONS);
}

PX_TEST(own_values_need_no_server)
{
    pmix_status_t rc;

    client_begin();
    ok(put(PMIX_GLOBAL, "a", 1));
    ck_assert_uint_eq(get(0, "a", NULL, &rc), 1);
    not_found(0, "b", NULL);
    not_found(PMIX_RANK_WILDCARD, "b", NULL);
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET] + fake.n_ops[PX_OP_COMMIT], 0);
}

/* ---- get ------------------------------------------------------------------------- */

/* Answers with key "colour", of the rank asked for. */
static uint32_t colour = 7;
static char *asked_key;
static bool asked_timeout;

static void teardown(void)
{
    client_end();
    free_commits();
    free(asked_key);
}

static bool answer_get(int fd, struct fake_req *req)
{
    PX_AUTOFREE char *nspace = NULL;
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = colour};
    px_writer w = fake_begin(), body = fake_begin();
    PX_AUTO(px_infos) infos = {0};
    pmix_proc_t p;
    pmix_rank_t r;

    if (req->op != PX_OP_GET)
        return false;
    ok(px_unpack_str(&req->in, &nspace));
    ok(px_unpack_rank(&req->in, &r));
    ok(px_unpack_infos(&req->in, &infos.v, &infos.n));
    free(asked_key);
    asked_key = NULL;
    if (!px_reader_done(&req->in))
        ok(px_unpack_str(&req->in, &asked_key));
    asked_timeout = px_info_find(infos.v, infos.n, PMIX_TIMEOUT);
    px_proc_set(&p, nspace, r == PMIX_RANK_UNDEF ? 1 : r);
    px_pack(&body, &p, 1, PMIX_PROC);
    px_pack_kval(&body, "colour", &v);
    px_pack_status(&w, PMIX_SUCCESS);
    px_pack_bytes(&w, body.buf.data, body.buf.len);
    px_writer_cleanup(&body);
    fake_reply(fd, req->tag, &w);
    return true;
}

PX_TEST(a_value_of_a_peer_is_asked_for_once)
{
    pmix_status_t rc;

    fake.hook = answer_get;
    client_begin();
    ck_assert_uint_eq(get(1, "colour", NULL, &rc), 7);
    ck_assert_str_eq(asked_key, "colour");
    colour = 8;
    ck_assert_uint_eq(get(1, "colour", NULL, &rc), 7);
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET], 1);
    ck_assert_uint_eq(get(1, "colour", PMIX_GET_REFRESH_CACHE, &rc), 8);
    not_found(1, "shape", NULL); /* what the server brings without it */
}

PX_TEST(after_a_collecting_fence_values_are_asked_for_anew)
{
    pmix_info_t collect;
    pmix_status_t rc;
    pmix_proc_t all = rank(PMIX_RANK_WILDCARD);

    fake.hook = answer_get;
    client_begin();
    PMIx_Info_load(&collect, PMIX_COLLECT_DATA, NULL, PMIX_BOOL);
    for (uint32_t i = 0; i < 3; i++) {
        colour = 20 + i;
        ck_assert_uint_eq(get(1, "colour", NULL, &rc), 20 + i);
        ok(i ? PMIx_Fence(&all, 1, &collect, 1) : PMIx_Fence(NULL, 0, &collect, 1));
    }
    ok(PMIx_Fence(NULL, 0, NULL, 0)); /* not after this one */
    ck_assert_uint_eq(get(1, "colour", NULL, &rc), 22);
    colour = 99;
    ok(PMIx_Fence(NULL, 0, NULL, 0));
    ck_assert_uint_eq(get(1, "colour", NULL, &rc), 22);
}

PX_TEST(an_optional_value_is_not_asked_for)
{
    pmix_status_t rc;

    fake.hook = answer_get;
    client_begin();
    not_found(1, "colour", PMIX_OPTIONAL);
    ck_assert_uint_eq(fake.n_ops[PX_OP_GET], 0);
    ck_assert_uint_eq(get(1, "colour", PMIX_IMMEDIATE, &rc), 7);
}

PX_TEST(without_a_key_the_server_is_asked_for_everything_of_a_peer)
{
    pmix_value_t *v = NULL;
    pmix_proc_t p = rank(1);
    const pmix_data_array_t *a;

    fake.hook = answer_get;
    client_begin();
    ok(PMIx_Get(&p, NULL, NULL, 0, &v));
    ck_assert_ptr_null(asked_key);
    ck_assert_int_eq(v->type, PMIX_DATA_ARRAY);
    a = v->data.darray;
    ck_assert_uint_eq(px_info_u32(a->array, a->size, "colour", 0), 7);
    PMIX_VALUE_RELEASE(v);

    fake.hook = NULL; /* a server that has nothing: what the job told is left */
    ok(PMIx_Get(&p, NULL, NULL, 0, &v));
    PMIX_VALUE_RELEASE(v);
}

PX_TEST(everything_of_the_job_is_known_from_the_start)
{
    static const pmix_rank_t ranks[] = {PMIX_RANK_WILDCARD, PMIX_RANK_UNDEF};

    client_begin();
    for (size_t i = 0; i < PX_COUNT(ranks); i++) {
        pmix_value_t *v = NULL;
        pmix_proc_t p = rank(ranks[i]);
        const pmix_data_array_t *a;

        ok(PMIx_Get(&p, NULL, NULL, 0, &v));
        a = v->data.darray;
        ck_assert_uint_eq(px_info_u32(a->array, a->size, PMIX_JOB_SIZE, 0), 2);
        ck_assert_ptr_null(px_info_find(a->array, a->size, PMIX_LOCAL_RANK));
        PMIX_VALUE_RELEASE(v);
    }
}

PX_TEST(the_caller_may_provide_the_storage)
{
    pmix_value_t storage = {.type = PMIX_UNDEF}, *v = &storage;
    pmix_proc_t p = rank(1);
    pmix_info_t given;

    fake.hook = answer_get;
    client_begin();
    PMIx_Info_load(&given, PMIX_GET_STATIC_VALUES, NULL, PMIX_BOOL);
    ok(PMIx_Get(&p, "colour", &given, 1, &v));
    ck_assert_ptr_eq(v, &storage);
    ck_assert_uint_eq(storage.data.uint32, 7);
    ck_assert_int_eq(PMIx_Get(&p, "shape", &given, 1, &v), PMIX_ERR_NOT_FOUND);
    ck_assert_ptr_eq(v, &storage);
    v = NULL;
    ck_assert_int_eq(PMIx_Get(&p, "colour", &given, 1, &v), PMIX_ERR_BAD_PARAM);
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    ck_assert_ptr_eq(cbdata, &done);
    done_status = status;
    ck_assert_int_eq(!value, status != PMIX_SUCCESS);
    if (value)
        done_value = *value;
    sem_post(&done);
}

PX_TEST(without_waiting_the_value_comes_by_callback)
{
    char *key = strdup("colour");
    pmix_proc_t p = rank(1);

    fake.hook = answer_get;
    client_begin();
    ok(PMIx_Get_nb(&p, key, NULL, 0, on_value, &done));
    memset(key, 'x', strlen(key)); /* callers pass keys from their stack */
    free(key);
    ok(await_op());
    ck_assert_uint_eq(done_value.data.uint32, 7);
    finished(PMIx_Get_nb(&p, "shape", NULL, 0, on_value, &done), PMIX_ERR_NOT_FOUND);
}

/* ---- slow, dying and strange servers --------------------------------------------- */

static uint32_t late_tag;

static bool keep_waiting(int fd, struct fake_req *req)
{
    if (req->op == PX_OP_GET) {
        late_tag = req->tag;
        return true;
    }
    if (req->op == PX_OP_COMMIT && late_tag) { /* now the late answer */
        struct fake_req get = {.op = PX_OP_GET, .tag = late_tag};
        px_writer w = fake_begin();

        px_pack_str(&w, "job");
        px_pack_rank(&w, 1);
        px_pack_infos(&w, NULL, 0);
        px_reader_init(&get.in, fake.codec, w.buf.data, w.buf.len);
        ck_assert(answer_get(fd, &get));
        px_writer_cleanup(&w);
        late_tag = 0;
    }
    return false;
}

PX_TEST(a_get_may_have_a_deadline_and_what_comes_later_is_kept)
{
    pmix_proc_t p = rank(1);
    pmix_value_t *v = NULL;
    pmix_info_t timeout;
    uint32_t second = 1;
    pmix_status_t rc;

    fake.hook = keep_waiting;
    client_begin();
    PMIx_Info_load(&timeout, PMIX_TIMEOUT, &second, PMIX_UINT32);
    ck_assert_int_eq(PMIx_Get(&p, "colour", &timeout, 1, &v), PMIX_ERR_TIMEOUT);
    ck_assert_ptr_null(v);
    ok(PMIx_Commit());
    ck_assert_uint_eq(get(1, "colour", PMIX_OPTIONAL, &rc), 7);
}

static bool die_at_get(int fd, struct fake_req *req)
{
    if (req->op == PX_OP_GET || req->op == PX_OP_FENCE || req->op == PX_OP_COMMIT)
        shutdown(fd, SHUT_RDWR);
    return req->op != PX_OP_REQ;
}

PX_TEST(a_server_that_dies_ends_whatever_waits_for_it)
{
    pmix_status_t rc;

    for (int i = 0; i < 3; i++) {
        fake.hook = die_at_get;
        client_begin();
        if (i == 0) {
            (void)get(1, "colour", NULL, &rc);
            ck_assert_int_eq(rc, PMIX_ERR_LOST_CONNECTION);
        } else if (i == 1) {
            ck_assert_int_eq(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_LOST_CONNECTION);
        } else {
            ck_assert_int_eq(PMIx_Commit(), PMIX_ERR_LOST_CONNECTION);
        }
        (void)get(1, "colour", NULL, &rc); /* and what comes after has nobody to ask */
        ck_assert_int_eq(rc, PMIX_ERR_UNREACH);
        ck_assert_int_eq(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_UNREACH);
        ok(put(PMIX_GLOBAL, "a", 1));
        ck_assert_int_eq(PMIx_Commit(), PMIX_ERR_UNREACH);
        ck_assert_int_eq(PMIx_Commit(), PMIX_ERR_UNREACH);
        ck_assert_uint_eq(get(0, "a", NULL, &rc), 1);
        client_end();
    }
}

static const char *strange;
static size_t n_strange;

static bool answer_strangely(int fd, struct fake_req *req)
{
    px_writer w = fake_begin();

    if (req->op != PX_OP_GET && req->op != PX_OP_FENCE && req->op != PX_OP_CONNECT)
        return false;
    ok(px_buf_add(&w.buf, strange, n_strange));
    fake_reply(fd, req->tag, &w);
    return true;
}

PX_TEST(strange_answers_are_errors_and_no_crash)
{
    static const struct {
        const char *bytes;
        size_t n;
    } rows[] = {
        {"", 0},
        {"\xff", 1},
        {"\x02\x00\x02\x7f", 4},             /* a part longer than the message */
        {"\x02\x00\x02\x04\x02\x06ns", 8},   /* a process without an end */
        {"\x02\x00\x02\x03\x02\x00\x00", 7}, /* of no namespace */
    };
    pmix_proc_t self = rank(0);
    pmix_status_t rc;

    fake.hook = answer_strangely;
    client_begin();
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        strange = rows[i].bytes;
        n_strange = rows[i].n;
        (void)get(1, "colour", NULL, &rc);
        ck_assert_msg(rc < 0, "%zu", i);
        if (i < 2)
            ck_assert_int_lt(PMIx_Fence(NULL, 0, NULL, 0), 0);
        ck_assert_int_lt(PMIx_Connect(&self, 1, NULL, 0), 0);
    }
}

PX_TEST_MAIN("client/put_get", NULL, teardown)
