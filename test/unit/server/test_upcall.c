/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's answers: inside the upcall, from a thread, late, by the return value, twice, after
 * the end, or never. */
#include "core/server/upcall.h"

#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

static void setup(void)
{
    raw_server_start(&host_module, 2);
}

static void send_publish(int fd, uint32_t tag)
{
    pmix_info_t info;
    uint32_t one = 1;
    px_writer w;

    PMIx_Info_load(&info, "colour", &one, PMIX_UINT32);
    raw_begin(&w, PX_OP_PUBLISH);
    px_pack_u32(&w, 0);
    px_pack_infos(&w, &info, 1);
    raw_send(fd, tag, &w);
}

PX_TEST(however_the_host_answers_its_status_is_the_reply)
{
    static const struct {
        enum host_how how;
        pmix_status_t status, reply;
    } rows[] = {
        {HOST_INSIDE, PMIX_SUCCESS, PMIX_SUCCESS},
        {HOST_INSIDE, PMIX_ERR_DUPLICATE_KEY, PMIX_ERR_DUPLICATE_KEY},
        {HOST_INSIDE, PMIX_OPERATION_SUCCEEDED, PMIX_SUCCESS},
        {HOST_THREAD, PMIX_SUCCESS, PMIX_SUCCESS},
        {HOST_THREAD, PMIX_ERR_NO_PERMISSIONS, PMIX_ERR_NO_PERMISSIONS},
        {HOST_DONE, PMIX_SUCCESS, PMIX_SUCCESS},
        {HOST_ERROR, PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_NOT_SUPPORTED},
        {HOST_ERROR, PMIX_ERR_TIMEOUT, PMIX_ERR_TIMEOUT},
    };
    int fd = raw_client(0);

    for (uint32_t i = 0; i < PX_COUNT(rows); i++) {
        host.how = rows[i].how;
        host.status = rows[i].status;
        send_publish(fd, 200 + i);
        ck_assert_int_eq(raw_status(fd, 200 + i), rows[i].reply);
        ck_assert(raw_quiet(fd));
    }
}

PX_TEST(a_held_answer_keeps_only_its_own_request_waiting)
{
    int fd = raw_client(0);

    host.how = HOST_HELD;
    send_publish(fd, 200);
    host_await("publish", 1);
    ck_assert(raw_quiet(fd));
    ok(raw_commit(fd, "key", 1));

    ck_assert(host_answer(PMIX_ERR_TIMEOUT));
    ck_assert_int_eq(raw_status(fd, 200), PMIX_ERR_TIMEOUT);
    ck_assert(host.args_lived);
}

PX_TEST(a_host_that_calls_back_and_returns_an_error_counts_once)
{
    int fd = raw_client(0);

    host.how = HOST_BOTH;
    host.status = PMIX_SUCCESS;
    for (uint32_t i = 0; i < 3; i++) {
        send_publish(fd, 200 + i);
        ok(raw_status(fd, 200 + i));
        ck_assert(raw_quiet(fd));
    }
}

PX_TEST(a_host_that_never_answers_does_not_keep_the_server_from_ending)
{
    int fd = raw_client(0);

    host.how = HOST_HELD;
    send_publish(fd, 200);
    host_await("publish", 1);
    raw_server_stop();

    ck_assert_int_eq(raw_status(fd, 200), PMIX_ERR_LOST_CONNECTION);
    ck_assert(raw_closed(fd));
    ck_assert(host_answer(PMIX_SUCCESS)); /* the memory was kept for it */
    ck_assert(host.args_lived);
}

PX_TEST(an_answer_for_an_earlier_server_does_not_reach_the_next)
{
    int fd = raw_client(0);

    host.how = HOST_HELD;
    send_publish(fd, 200);
    host_await("publish", 1);
    raw_server_stop();
    close(fd);
    setup();
    fd = raw_client(0);

    ck_assert(host_answer(PMIX_SUCCESS));
    ck_assert(raw_quiet(fd));
}

PX_TEST(an_answer_for_a_client_that_has_gone_is_dropped)
{
    int fd = raw_client(0), other = raw_client(1);

    host.how = HOST_HELD;
    send_publish(fd, 200);
    host_await("publish", 1);
    close(fd);
    ck_assert(raw_quiet(other));

    ck_assert(host_answer(PMIX_SUCCESS));
    ck_assert(host.args_lived);
    ck_assert(raw_quiet(other));
}

static void deregister_job(void)
{
    pmix_nspace_t job = "job";

    PMIx_server_deregister_nspace(job, NULL, NULL);
}

PX_TEST(a_host_may_deregister_the_job_from_within_an_upcall)
{
    static const enum host_how hows[] = {HOST_INSIDE, HOST_HELD, HOST_DONE};

    for (size_t i = 0; i < PX_COUNT(hows); i++) {
        int fd = raw_client(0);

        host.how = hows[i];
        host.within = deregister_job;
        send_publish(fd, 200);
        ck_assert(raw_closed(fd));
        close(fd);
        host.within = NULL;
        raw_add_job("job", 2, 0, geteuid());
    }
    ck_assert(host_answer(PMIX_SUCCESS));
}

PX_TEST(results_are_copied_and_released_once)
{
    int fd = raw_client(0);
    pmix_info_t *infos = NULL;
    size_t n = 0;
    px_writer w;
    px_reader r;

    host.how = HOST_THREAD;
    ok(px_infos_add(&host.infos, "pmix.test", "value", PMIX_STRING));
    raw_begin(&w, PX_OP_JOB_CONTROL);
    px_pack_procs(&w, NULL, 0);
    px_pack_infos(&w, NULL, 0);
    ok(raw_request(fd, &w, &r));

    ok(px_unpack_infos(&r, &infos, &n));
    ck_assert_uint_eq(n, 1);
    ck_assert_str_eq(infos[0].value.data.string, "value");
    ck_assert(raw_quiet(fd)); /* released on the loop: hosts may hold a lock it takes */
    ck_assert_uint_eq(host.released, 1);
    px_type_free_array(PMIX_INFO, infos, n);
}

/* ---- the server's own calls ------------------------------------------------------------- */

static void *publish(void *arg)
{
    pmix_info_t info;
    uint32_t one = 1;

    PMIx_Info_load(&info, "colour", &one, PMIX_UINT32);
    *(pmix_status_t *)arg = PMIx_Publish(&info, 1);
    return NULL;
}

PX_TEST(a_call_of_the_server_itself_goes_to_its_host_too)
{
    pmix_status_t status = 0;

    host.how = HOST_INSIDE;
    host.status = PMIX_ERR_DUPLICATE_KEY;
    publish(&status);

    ck_assert_int_eq(status, PMIX_ERR_DUPLICATE_KEY);
    ck_assert(px_proc_same(&host.proc, &px_process.model->self));
}

PX_TEST(ending_the_server_ends_the_calls_it_made_itself)
{
    pmix_status_t status = PMIX_SUCCESS;
    pthread_t thread;

    host.how = HOST_HELD;
    ck_assert_int_eq(pthread_create(&thread, NULL, publish, &status), 0);
    host_await("publish", 1);
    raw_server_stop();
    pthread_join(thread, NULL);

    ck_assert_int_eq(status, PMIX_ERR_LOST_CONNECTION);
}

static void *answer_now(void *arg)
{
    while (!__atomic_load_n((int *)arg, __ATOMIC_ACQUIRE))
        sched_yield();
    ck_assert(host_answer(PMIX_SUCCESS));
    return NULL;
}

PX_TEST(an_answer_may_come_while_the_server_ends)
{
    for (int i = 0; i < 50; i++) {
        int fd = raw_client(0), go = 0;
        pthread_t thread;

        host.how = HOST_HELD;
        send_publish(fd, 200);
        host_await("publish", (unsigned)i + 1);
        ck_assert_int_eq(pthread_create(&thread, NULL, answer_now, &go), 0);
        __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
        raw_server_stop();
        pthread_join(thread, NULL);
        close(fd);
        setup();
    }
}

static void on_never(void *arg PX_UNUSED, const struct px_upcall *answer PX_UNUSED)
{
    ck_abort_msg("this upcall was dropped");
}

static void make_and_drop(void *arg PX_UNUSED)
{
    struct px_upcall *u = px_upcall_new(on_never, NULL);

    ck_assert_ptr_nonnull(u);
    px_upcall_drop(u);
    px_upcall_drop(NULL);
}

PX_TEST(an_upcall_that_was_dropped_is_never_answered)
{
    raw_on_loop(make_and_drop, NULL);
}

PX_TEST_MAIN("server/upcall", setup, host_end)
