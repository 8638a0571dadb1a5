/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a client: with a server that answers, that is silent, that dies; with calls under way;
 * again and again; beside a server role in the same process. */
#include "core/base/clock.h"
#include "core/client/client.h"
#include "fake_server.h"
#include "pmix_server.h"
#include "px_test.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>

static void init(void)
{
    ok(PMIx_Init(NULL, NULL, 0));
}

static void finalize(void)
{
    ok(PMIx_Finalize(NULL, 0));
}

PX_TEST(it_says_goodbye_once_waits_for_the_answer_and_may_come_back)
{
    for (unsigned i = 0; i < 5; i++) {
        client_begin();
        init();
        finalize();
        ok(PMIx_Commit());
        ck_assert_uint_eq(fake.n_ops[PX_OP_FINALIZE], i);
        client_end();
        ck_assert_uint_eq(fake.n_ops[PX_OP_REQ], i + 1);
        ck_assert_uint_eq(fake.n_ops[PX_OP_FINALIZE], i + 1);
        ck_assert_int_eq(PMIx_Finalize(NULL, 0), PMIX_ERR_INIT);
    }
}

PX_TEST(a_barrier_comes_first_if_it_was_asked_for)
{
    pmix_info_t barrier = flag(PMIX_EMBED_BARRIER);

    client_begin();
    ok(PMIx_Finalize(&barrier, 1));
    fake_stop();
    ck_assert_uint_eq(fake.n_ops[PX_OP_FENCE], 1);
}

/* ---- servers that do not answer -------------------------------------------------- */

static bool die_at_goodbye(int fd, struct fake_req *req)
{
    if (req->op == PX_OP_FINALIZE)
        shutdown(fd, SHUT_RDWR);
    return req->op == PX_OP_FINALIZE;
}

static bool ignore_goodbye(int fd PX_UNUSED, struct fake_req *req)
{
    return req->op == PX_OP_FINALIZE;
}

PX_TEST(a_server_that_answers_no_goodbye_keeps_it_for_its_time_only)
{
    uint64_t began;

    client_of_hook(die_at_goodbye);
    client_end();
    setenv("PMIX_MCA_client_finalize_timeout", "50ms", 1);
    client_of_hook(ignore_goodbye);
    began = px_clock_ms();
    client_end();
    ck_assert_uint_ge(px_clock_ms() - began, 40);
}

static sem_t gone;

static void serve_and_leave(void)
{
    struct fake_req req = {0};
    int fd = fake_accept();

    fake_words(fd, PMIX_SUCCESS, 7);
    ck_assert(fake_next(fd, &req));
    fake_answer(fd, &req);
    px_buf_cleanup(&req.payload);
    close(fd);
    sem_post(&gone);
}

PX_TEST_HANDLER(on_event)
{
    ck_assert_str_eq(source->nspace, "server");
    cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    on_op(code, &done);
}

PX_TEST(the_loss_of_the_server_is_an_event_and_the_end_still_works)
{
    sem_init(&gone, 0, 0);
    fake.script = serve_and_leave;
    client_begin();
    handle_code(PMIX_ERR_LOST_CONNECTION, on_event);
    sem_wait(&gone);
    ck_assert_int_eq(await_op(), PMIX_ERR_LOST_CONNECTION);
    ck_assert(PMIx_Initialized());
    init(); /* a further reference needs no server */
    finalize();
}

/* ---- calls under way ------------------------------------------------------------- */

static sem_t heard;

static bool hold_all_but_goodbye(int fd, struct fake_req *req)
{
    if (req->op == PX_OP_FINALIZE) {
        fake_status(fd, req->tag, PMIX_SUCCESS);
    } else if (req->op != PX_OP_REQ) {
        sem_post(&heard);
        return true;
    }
    return req->op == PX_OP_FINALIZE;
}

static void *fence(void *arg)
{
    *(pmix_status_t *)arg = PMIx_Fence(NULL, 0, NULL, 0);
    return NULL;
}

PX_TEST(calls_without_an_answer_end_with_the_client)
{
    pmix_status_t waited = PMIX_SUCCESS;
    pmix_info_t data = flag("key");
    pthread_t thread;

    sem_init(&heard, 0, 0);
    client_of_hook(hold_all_but_goodbye);
    ok(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, &done));
    ok(PMIx_Publish_nb(&data, 1, on_op, &done));
    ok(pthread_create(&thread, NULL, fence, &waited));
    for (int i = 0; i < 3; i++)
        sem_wait(&heard);
    client_end();
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(await_op(), PMIX_ERR_UNREACH);
    pthread_join(thread, NULL); /* is let go */
    ck_assert_int_eq(waited, PMIX_ERR_UNREACH);
}

/* ---- event handlers that answer late --------------------------------------------- */

static pmix_event_notification_cbfunc_fn_t late_cb;
static void *late_cbdata;

PX_TEST_HANDLER(answer_later)
{
    late_cb = cb;
    late_cbdata = cbdata;
    on_op(code, &done);
}

static void *answer_now(void *arg PX_UNUSED)
{
    late_cb(PMIX_SUCCESS, NULL, 0, NULL, NULL, late_cbdata);
    return NULL;
}

/* After the end, in the next life, and in a thread while the client ends. */
PX_TEST(a_handler_may_answer_late)
{
    for (int i = 0; i < 32; i++) {
        pthread_t thread;

        client_begin();
        handle_code(0, answer_later);
        ok(PMIx_Notify_event(-700, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL));
        sem_wait(&done);
        if (i > 1)
            ok(pthread_create(&thread, NULL, answer_now, NULL));
        client_end();
        if (i == 1)
            client_begin();
        if (i > 1)
            pthread_join(thread, NULL);
        else
            answer_now(NULL);
        client_end();
    }
}

/* ---- lives and roles ------------------------------------------------------------- */

static void *serve_parent(void *arg PX_UNUSED)
{
    struct fake_req req = {0};
    int fd = fake_accept();

    fake_words(fd, PMIX_SUCCESS, 7);
    ck_assert(fake_next(fd, &req));
    fake_answer(fd, &req);
    sem_wait(&heard);
    while (fake_next(fd, &req))
        fake_answer(fd, &req);
    close(fd);
    return NULL;
}

static void serve_parent_then_child(void)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, serve_parent, NULL), 0);
    sem_wait(&gone);
    fake_serve(); /* the child */
    sem_post(&heard);
    pthread_join(thread, NULL);
}

PX_TEST(a_forked_child_is_a_client_of_its_own_and_ends_alone)
{
    sem_init(&gone, 0, 0);
    sem_init(&heard, 0, 0);
    fake.script = serve_parent_then_child;
    client_begin();
    pid_t pid = fork();
    if (pid == 0)
        _exit(PMIx_Fence(NULL, 0, NULL, 0) != PMIX_ERR_INIT ||
              PMIx_Init(NULL, NULL, 0) || PMIx_Commit() || PMIx_Finalize(NULL, 0));
    sem_post(&gone);
    exits_with_0(pid);
    ok(PMIx_Commit()); /* the parent's connection lives */
}

static const pmix_server_module_t no_module;

static void host_a_job(void)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_server_module_t module = no_module;
    pmix_nspace_t hosted = "hosted";
    uint32_t three = 3;

    ok(PMIx_server_init(&module, NULL, 0));
    ok(px_infos_add(&infos, PMIX_JOB_SIZE, &three, PMIX_UINT32));
    ok(PMIx_server_register_nspace(hosted, 3, infos.v, infos.n, NULL, NULL));
}

PX_TEST(a_client_may_be_a_server_too_and_either_may_end_first)
{
    for (int server_first = 0; server_first < 2; server_first++) {
        client_begin();
        host_a_job();
        ck_assert_uint_eq(get_u32("job", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 2);
        ck_assert_uint_eq(get_u32("hosted", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 3);
        ok(PMIx_Fence(NULL, 0, NULL, 0)); /* at its server */
        if (server_first) {
            ok(PMIx_server_finalize());
            ck_assert_uint_eq(get_u32("hosted", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE),
                              UINT32_MAX);
            ok(PMIx_Fence(NULL, 0, NULL, 0));
            client_end();
        } else {
            pmix_info_t data = flag("key");

            client_end();
            ck_assert(PMIx_Initialized());
            ck_assert_uint_eq(get_u32("hosted", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 3);
            ck_assert_int_eq(PMIx_Publish(&data, 1),
                             PMIX_ERR_NOT_SUPPORTED); /* its own host */
            ck_assert_int_eq(PMIx_Finalize(NULL, 0), PMIX_ERR_INIT);
            ok(PMIx_server_finalize());
        }
        ck_assert(!PMIx_Initialized());
        ck_assert_ptr_null(px_process.loop);
    }
}

PX_TEST(what_a_process_serves_survives_its_own_fences_and_refreshes)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = 5}, *got = NULL;
    pmix_info_t collect = flag(PMIX_COLLECT_DATA),
                refresh = flag(PMIX_GET_REFRESH_CACHE);
    pmix_proc_t p = proc_of("hosted", 1);

    client_begin();
    host_a_job();
    ok(px_store_put(&px_nspace_find(px_process.model, "hosted")->store, PX_GDS_REMOTE,
                    1, "colour", &v));
    ok(PMIx_Fence(NULL, 0, &collect, 1));
    ok(PMIx_Get(&p, "colour", &refresh, 1, &got));
    ck_assert_uint_eq(got->data.uint32, 5);
    PMIX_VALUE_RELEASE(got);
    ok(PMIx_server_finalize());
}

PX_TEST(init_in_a_server_is_a_guest_of_it)
{
    pmix_server_module_t module = no_module;
    pmix_proc_t self;

    host_a_job();
    ck_assert_int_eq(PMIx_Finalize(NULL, 0), PMIX_ERR_INIT);
    ok(PMIx_Init(&self, NULL, 0));
    ck_assert(px_proc_same(&self, &px_process.model->self));
    ok(PMIx_Finalize(NULL, 0));
    ck_assert_int_eq(PMIx_Finalize(NULL, 0), PMIX_ERR_INIT);

    ok(PMIx_Init(NULL, NULL, 0));
    ok(PMIx_server_init(&module, NULL, 0)); /* which wants its finalize */
    ok(PMIx_server_finalize());
    ck_assert_uint_eq(get_u32("hosted", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 3);
    ok(PMIx_server_finalize()); /* and the guest with it */
    ck_assert(!PMIx_Initialized());
    ck_assert_int_eq(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_INIT);
    ck_assert_int_eq(PMIx_Finalize(NULL, 0), PMIX_ERR_INIT);
    ck_assert_int_eq(PMIx_server_finalize(), PMIX_ERR_INIT);
}

PX_TEST_MAIN("client/finalize", NULL, client_end)
