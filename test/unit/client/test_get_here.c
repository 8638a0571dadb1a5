/* SPDX-License-Identifier: BSD-3-Clause */
/* Get in the caller's thread: what is known takes no system call, so that no other
 * thread can have had a part in it; and what the loop changes meanwhile is seen
 * whole. */
#include "alloc_fail.h"
#include "core/client/client.h"
#include "core/model/nspace.h"
#include "fake_server.h"
#include "px_test.h"
#include "seccomp.h"

#include <string.h>
#include <sys/syscall.h>

enum { READS = 1000, READERS = 4, ROUNDS = 400 };

/* Every rank but ours has a colour. */
static bool answer_get(int fd, struct fake_req *req)
{
    PX_AUTOFREE char *nspace = NULL;
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = 7};
    px_writer w = fake_begin(), body = fake_begin();
    pmix_proc_t p;
    pmix_rank_t r;

    if (req->op != PX_OP_GET)
        return false;
    ok(px_unpack_str(&req->in, &nspace));
    ok(px_unpack_rank(&req->in, &r));
    px_proc_set(&p, nspace, r);
    px_pack(&body, &p, 1, PMIX_PROC);
    px_pack_kval(&body, "colour", &v);
    px_pack_status(&w, PMIX_SUCCESS);
    px_pack_bytes(&w, body.buf.data, body.buf.len);
    px_writer_cleanup(&body);
    fake_reply(fd, req->tag, &w);
    return true;
}

static void setup(void)
{
    fake.hook = answer_get;
    client_begin();
}

static void put(const char *key, const char *text)
{
    pmix_value_t v = {.type = PMIX_STRING, .data.string = (char *)(uintptr_t)text};

    ok(PMIx_Put(PMIX_GLOBAL, key, &v));
}

static pmix_status_t get(const char *nspace, pmix_rank_t rank, const char *key,
                         const char *flag, pmix_value_t **v)
{
    pmix_proc_t p;
    pmix_info_t info;

    px_proc_set(&p, nspace, rank);
    *v = NULL;
    if (flag)
        PMIx_Info_load(&info, flag, NULL, PMIX_BOOL);
    return PMIx_Get(&p, key, flag ? &info : NULL, flag != NULL, v);
}

/* ---- no system call -------------------------------------------------------------- */

struct question {
    pmix_rank_t rank;
    const char *key, *flag;
};

static void ask(void *arg)
{
    const struct question *q = arg;

    for (int i = 0; i < READS; i++) {
        pmix_value_t *v;

        if (get(i % 2 ? "job" : "", q->rank, q->key, q->flag, &v) == PMIX_SUCCESS)
            PMIX_VALUE_RELEASE(v);
    }
}

static const struct question known[] = {
    {PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL},
    {PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, PMIX_SESSION_INFO},
    {PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, NULL},
    {PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE, PMIX_NODE_INFO},
    {PMIX_RANK_WILDCARD, PMIX_NUM_NODES, NULL}, /* follows from the map */
    {1, PMIX_LOCAL_RANK, NULL},
    {1, PMIX_HOSTNAME, PMIX_IMMEDIATE}, /* follows, too */
    {0, "put", NULL},
    {0, "committed", PMIX_OPTIONAL},
    {1, "colour", NULL}, /* of a peer, after a fence that collects */
};

static void publish(void)
{
    pmix_info_t collect;
    pmix_value_t *v;

    put("committed", "text");
    ok(PMIx_Commit());
    put("put", "text");
    PMIx_Info_load(&collect, PMIX_COLLECT_DATA, NULL, PMIX_BOOL);
    ok(PMIx_Fence(NULL, 0, &collect, 1));
    ok(get("job", 1, "colour", NULL, &v));
    PMIX_VALUE_RELEASE(v);
}

START_TEST(what_is_known_takes_no_system_call)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    struct question q = known[_i];
    pmix_value_t *v;

    publish();
    ok(get("job", q.rank, q.key, q.flag, &v));
    PMIX_VALUE_RELEASE(v);
    ck_assert_int_eq(px_test_first_call_of(ask, &q), -1);
}
END_TEST

static void call_kernel(void *arg PX_UNUSED)
{
    syscall(SYS_getppid);
}

START_TEST(a_system_call_would_be_seen)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    ck_assert_int_eq(px_test_first_call_of(call_kernel, NULL), SYS_getppid);
}
END_TEST

static void ask_for_nothing(void *arg)
{
    pmix_value_t *v;

    *(pmix_status_t *)arg = get("job", 0, "nothing", PMIX_OPTIONAL, &v);
}

/* The last of its process: the reader's stack, of which the loop has heard, is gone. */
START_TEST(what_is_not_known_takes_the_loop)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    static pmix_status_t rc;

    setup();
    ck_assert_int_ge(px_test_first_call_of(ask_for_nothing, &rc), 0);
    ck_assert_int_eq(rc, PMIX_ERR_NOT_FOUND);
}
END_TEST

/* ---- while the loop changes things ----------------------------------------------- */

static atomic_bool over;

static void is_whole(const pmix_value_t *v)
{
    const char *text = v->data.string;

    ck_assert_int_eq(v->type, PMIX_STRING);
    ck_assert_uint_eq(strspn(text, (char[]){text[0], '\0'}), strlen(text));
}

static void *read_all(void *arg)
{
    static const struct {
        const char *nspace;
        pmix_rank_t rank;
        const char *key;
        uint32_t number; /* 0: a text that is put ever anew */
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
        uint32_t n = 0;
        pmix_status_t rc = get(rows[i].nspace, rows[i].rank, rows[i].key,
                               rows[i].comes_and_goes ? PMIX_OPTIONAL : NULL, &v);

        if (rc == PMIX_ERR_NOT_FOUND && rows[i].comes_and_goes)
            continue;
        ck_assert_msg(rc == PMIX_SUCCESS, "%s: %s", rows[i].key, PMIx_Error_string(rc));
        if (rows[i].number) {
            ck_assert(px_value_to_u32(v, &n));
            ck_assert_uint_eq(n, rows[i].number);
        } else {
            is_whole(v);
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

/* Replaces, removes, empties and registers anew what the others read. */
static void change_all(int round)
{
    char text[201] = "";
    pmix_value_t v = {.type = PMIX_STRING, .data.string = text};
    pmix_info_t collect;
    pmix_proc_t p;

    memset(text, 'a' + round % 26, 1 + (size_t)round % (sizeof(text) - 1));
    put("text", text);
    px_proc_set(&p, "other", 0);
    ok(PMIx_Store_internal(&p, "text", &v));
    ok(px_call(px_process.loop, on_change, &v));
    PMIx_Info_load(&collect, PMIX_COLLECT_DATA, NULL, PMIX_BOOL);
    if (round % 8 == 0)
        ok(PMIx_Fence(NULL, 0, &collect, 1));
}

START_TEST(readers_in_many_threads_see_whole_values)
{
    pthread_t readers[READERS];

    put("text", "x");
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(pthread_create(&readers[i], NULL, read_all, NULL), 0);
    for (int i = 0; i < ROUNDS; i++)
        change_all(i);
    atomic_store(&over, true);
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(pthread_join(readers[i], NULL), 0);
}
END_TEST

static void *read_to_the_end(void *arg)
{
    pmix_value_t *v;
    pmix_status_t rc;

    do {
        rc = get("", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL, &v);
        if (!rc)
            PMIX_VALUE_RELEASE(v);
        ck_assert(rc == PMIX_SUCCESS || rc == PMIX_ERR_INIT);
    } while (rc == PMIX_SUCCESS);
    return arg;
}

START_TEST(finalize_may_come_while_others_read)
{
    unsetenv("PMIX_NAMESPACE");
    for (int i = 0; i < 40; i++) {
        pthread_t readers[READERS];

        ok(PMIx_Init(NULL, NULL, 0));
        for (int k = 0; k < READERS; k++)
            ck_assert_int_eq(pthread_create(&readers[k], NULL, read_to_the_end, NULL),
                             0);
        ok(PMIx_Finalize(NULL, 0));
        for (int k = 0; k < READERS; k++)
            ck_assert_int_eq(pthread_join(readers[k], NULL), 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("client/get_here");

    px_test_add(suite, what_is_known_takes_no_system_call, PX_COUNT(known), setup,
                client_end);
    px_test_add(suite, a_system_call_would_be_seen, 1, NULL, NULL);
    px_test_add(suite, what_is_not_known_takes_the_loop, 1, NULL, NULL);
    px_test_add(suite, readers_in_many_threads_see_whole_values, 1, setup, client_end);
    px_test_add(suite, finalize_may_come_while_others_read, 1, NULL, NULL);
    return px_test_run_suite(suite);
}
