/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding between clients and the host: requests and notifications to the host, input on its way
 * to the host, and pulls of the server's own process. */
#include "core/base/clock.h"
#include "core/server/host.h"
#include "core/server/server.h"
#include "iof_scene.h"
#include "pmix_tool.h"

#include <semaphore.h>
#include <string.h>

/* ---- the host ------------------------------------------------------------------------------------ */

static uint32_t given_u32(const char *key)
{
    return px_info_u32(host.given.v, host.given.n, key, 9999);
}

PX_TEST(the_host_gets_each_pull_and_its_end)
{
    iof_start();
    size_t id = iof_pull(one, 2, OUT, 1);
    ck_assert_uint_eq(host_calls("iof_pull"), 1);
    ck_assert_int_eq(host.code, OUT);
    ck_assert_uint_eq(host.n_procs, 1);
    ck_assert_uint_eq(host.procs[0].rank, 2);
    ck_assert_uint_eq(given_u32(PMIX_USERID), geteuid());
    ck_assert_uint_eq(given_u32(PMIX_GRPID), getegid());
    fails(iof_stop(two, id), BAD_PARAM); /* a pull of another client */
    ok(scene_write(2, OUT, "out"));
    scene_read(one, 2, OUT, 1, "out");
    ok(iof_stop(one, id));
    ck_assert_uint_eq(host_calls("iof_pull"), 2);
    ck_assert_int_eq(host.code, PMIX_FWD_NO_CHANNELS);
    ck_assert_uint_eq(host.procs[0].rank, 2);
    ck_assert(px_info_flag(host.given.v, host.given.n, PMIX_IOF_STOP));
    fails(iof_stop(one, id), BAD_PARAM);
    id = iof_pull(one, 2, ERR, 0); /* old clients use the server's id of a pull */
    ok(scene_write(2, OUT, "late"));
    ok(scene_write(2, ERR, "err"));
    scene_read(one, 2, ERR, id, "err");
}

PX_TEST(processes_may_be_named_in_any_order_and_twice)
{
    const pmix_proc_t names[] = {raw_proc("zz", 0), raw_proc("job", 2),
                                 raw_proc("aa", 7), raw_proc("job", 2),
                                 raw_proc("job", 1)};

    iof_start();
    ok(raw_request(one, scene_pull_of(names, PX_COUNT(names), OUT, 5, NULL), NULL));
    for (pmix_rank_t r = 1; r <= 2; r++) {
        ok(scene_write(r, OUT, "x"));
        scene_read(one, r, OUT, 5, "x");
    }
    ok(scene_write(PMIX_RANK_WILDCARD, OUT, "of all"));
    scene_read(one, PMIX_RANK_WILDCARD, OUT, 5, "of all");
    ck_assert(raw_quiet(one));
}

PX_TEST(a_host_may_drop_the_job_while_it_is_notified_of_the_end)
{
    iof_start();
    (void)iof_pull(one, PMIX_RANK_WILDCARD, OUT, 1);
    (void)iof_pull(one, 2, ERR, 2);
    (void)iof_pull(two, PMIX_RANK_WILDCARD, OUT, 3);
    host.within = raw_drop_it;
    close(one);
    host_await("iof_pull", 6); /* the ends of all three pulls */
    ck_assert(raw_closed(two));
    fails(scene_write(2, OUT, "late"), NOT_FOUND);
}

PX_TEST(requests_have_a_limit)
{
    iof_start();
    for (size_t i = 1; i <= 1024; i++)
        (void)iof_pull(one, 2, OUT, i);
    fails(iof_pull_status(one, 2, OUT), OUT_OF_RESOURCE);
}

PX_TEST(output_of_other_users_is_not_to_be_had)
{
    pmix_proc_t p = raw_proc("theirs", PMIX_RANK_WILDCARD);
    pmix_byte_object_t bo = {.bytes = (char *)"x", .size = 1};

    PX_TEST_NEEDS_ROOT;
    iof_start();
    raw_add_job("ours", 1, 0, 1234);
    int fd = raw_client_as(1234, "ours", 0);
    for (int known = 0; known < 2; known++) {
        if (known)
            raw_add_job("theirs", 1, 0, 4321);
        /* Only the host can judge an unknown job. For a known job its user counts. */
        ck_assert_int_eq(raw_request(fd, scene_pull_of(&p, 1, OUT, 0, NULL), NULL),
                         known ? PMIX_ERR_NO_PERMISSIONS : PMIX_SUCCESS);
    }
    p.rank = 0;
    at_once(PMIx_server_IOF_deliver(&p, OUT, &bo, NULL, 0, NULL, NULL));
    ck_assert(raw_quiet(fd));
}

/* ---- damaged requests ------------------------------------------------------------------------------ */

/* Sends a request without processes. */
static pmix_status_t ask_empty(int fd, uint8_t op)
{
    px_writer w = raw_begin(op);

    px_pack_procs(&w, NULL, 0);
    px_pack_infos(&w, NULL, 0);
    return raw_request(fd, w, NULL);
}

PX_TEST(damaged_requests_are_refused)
{
    iof_start();
    fails(iof_pull_status(one, 2, PMIX_FWD_NO_CHANNELS), BAD_PARAM);
    fails(iof_pull_status(one, 2, PMIX_FWD_STDIN_CHANNEL), NOT_SUPPORTED);
    fails(ask_empty(one, PX_OP_IOF_PULL), BAD_PARAM);
    ck_assert_uint_eq(host_calls("iof_pull"), 0);
}

PX_TEST(a_host_without_the_slots_supports_nothing)
{
    static const pmix_server_module_t none;

    raw_start(&none, 1, 0);
    fails(iof_pull_status(one, 0, OUT), NOT_SUPPORTED);
    fails(iof_stop(one, 1), NOT_SUPPORTED);
    fails(ask_empty(one, PX_OP_IOF_PUSH), NOT_SUPPORTED);
}

/* ---- input --------------------------------------------------------------------------------------------- */

static pmix_status_t push(int fd, const char *text)
{
    static const px_infos none;

    return iof_push(fd, text, &none);
}

PX_TEST(input_is_the_hosts_to_pass_on)
{
    iof_start();
    ok(push(two, "hello"));
    ck_assert_uint_eq(host.proc.rank, 1);
    ck_assert_uint_eq(host.procs[0].rank, 2);
    ck_assert_str_eq(host.text, "hello");
    ck_assert_uint_eq(given_u32(PMIX_USERID), geteuid());
    ok(push(two, ""));
    ck_assert_uint_eq(host.n_data, 0);
    ok(push(two, NULL)); /* a missing object also means no bytes */
    ck_assert_uint_eq(host.n_data, 0);
    host.status = PMIX_ERR_IOF_FAILURE;
    fails(push(two, "x"), IOF_FAILURE);
}

/* The host answers late. It gets one piece at a time from each process for each target, in order. */
PX_TEST(the_host_gets_the_next_piece_when_it_has_taken_the_last)
{
    static const struct {
        int who;
        pmix_rank_t target;
        const char *text;
    } pushes[] = {{1, 2, "a"},
                  {1, 2, "b"},
                  {1, 2, ""},
                  {1, 1, "other target"},
                  {0, 2, "other process"}};
    px_infos none = {0};

    iof_start();
    host.how = HOST_HELD;
    for (uint32_t i = 0; i < PX_COUNT(pushes); i++)
        raw_send(pushes[i].who ? two : one, 500 + i,
                 iof_make_push(pushes[i].target, pushes[i].text, strlen(pushes[i].text),
                               &none));
    host_await("push_stdin", 3);
    ck_assert(raw_quiet(two) && raw_quiet(one));
    ck_assert_uint_eq(host_calls("push_stdin"), 3);
    ck_assert(host_answer(PMIX_SUCCESS));
    ok(raw_status(two, 500));
    host_await("push_stdin", 4);
    ck_assert_str_eq(host.text, "b");
    ck_assert(host_answer(PMIX_ERR_IOF_FAILURE) && host_answer(PMIX_SUCCESS));
    ok(raw_status(one, 504));
    ck_assert(host_answer(PMIX_ERR_IOF_FAILURE)); /* to the second piece */
    host_await("push_stdin", 5);
    ck_assert_uint_eq(host.n_data, 0);
}

static const struct {
    const char *drop;
    uint32_t size_b;
    size_t first_refused,
        n_refused; /* of eight pieces, behind a piece that the host has */
} pushes[] = {
    {NULL, 4 * IOF_CHUNK_B, 8, 0},
    {NULL, 2 * IOF_CHUNK_B, 4, 4},
    {PMIX_IOF_DROP_OLDEST, 4 * IOF_CHUNK_B, 0, 4},
    {PMIX_IOF_DROP_NEWEST, 4 * IOF_CHUNK_B, 4, 4},
    {PMIX_IOF_DROP_NEWEST, 1, 1, 7},
};

PX_TEST_LOOP(input_that_waits_is_bounded, PX_COUNT(pushes))
{
    PX_AUTO(px_infos) infos = iof_cache(pushes[_i].drop, pushes[_i].size_b);
    size_t n_refused = 0;

    iof_start();
    host.how = HOST_HELD;
    for (uint32_t i = 0; i < 10; i++) /* the end of the input is always accepted */
        raw_send(two, 500 + i,
                 iof_make_push(2, iof_chunk, i < 9 ? IOF_CHUNK_B : 0, &infos));
    host_await("push_stdin", 1);
    raw_on_loop(NULL, NULL);
    for (size_t i = 0; i < 8; i++)
        if (i >= pushes[_i].first_refused &&
            i < pushes[_i].first_refused + pushes[_i].n_refused) {
            n_refused++;
            fails(raw_status(two, 501 + (uint32_t)i), OUT_OF_RESOURCE);
        }
    ck_assert_uint_eq(n_refused, pushes[_i].n_refused);
    for (unsigned n = 1; n <= 10 - n_refused; n++) {
        host_await("push_stdin", n);
        ck_assert_uint_eq(host.n_data, n == 10 - n_refused ? 0 : IOF_CHUNK_B);
        ck_assert(host_answer(PMIX_SUCCESS));
    }
    ok(raw_status(two, 509));
    ck_assert(raw_quiet(two));
}

/* Pieces of a byte behind one that the host has, or pieces for different targets. */
PX_TEST(pieces_and_queues_of_a_process_are_limited)
{
    static const struct {
        const char *drop;
        bool to_others; /* each piece has a target of its own */
        uint32_t n_accepted;
        uint32_t first_refused; /* after piece n_accepted */
    } rows[] = {{NULL, false, 1025, 1025},
                {PMIX_IOF_DROP_NEWEST, false, 1025, 1025},
                {PMIX_IOF_DROP_OLDEST, false, 1025, 1},
                {NULL, true, 1024, 1024}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) infos = iof_cache(rows[i].drop, 0);

        iof_start();
        host.how = HOST_HELD;
        for (uint32_t k = 0; k <= rows[i].n_accepted; k++)
            raw_send(two, 1000 + k,
                     iof_make_push(rows[i].to_others ? k : 2, "x", 1, &infos));
        fails(raw_status(two, 1000 + rows[i].first_refused), OUT_OF_RESOURCE);
        for (int end = 0; !rows[i].to_others && end < 2; end++)
            raw_send(two, 500, iof_make_push(2, "", 0, &infos));
        if (!rows[i].to_others)
            fails(raw_status(two, 500), OUT_OF_RESOURCE); /* the second one */
        ck_assert(raw_quiet(two));
        while (host_answer(PMIX_SUCCESS))
            raw_on_loop(NULL, NULL);
        ok(push(two, "x"));
        raw_server_stop();
    }
}

/* Without another call of the host, until the process leaves. */
PX_TEST(input_that_the_host_does_not_support_is_refused_at_once)
{
    px_infos none = {0};

    iof_start();
    host.how = HOST_HELD;
    for (uint32_t k = 0; k < 3; k++)
        raw_send(two, 500 + k, iof_make_push(2, "x", 1, &none));
    host_await("push_stdin", 1);
    ck_assert(raw_quiet(two));
    ck_assert(host_answer(PMIX_ERR_NOT_SUPPORTED));
    for (uint32_t k = 0; k < 3; k++)
        fails(raw_status(two, 500 + k), NOT_SUPPORTED);
    fails(push(two, "x"), NOT_SUPPORTED);
    ck_assert_uint_eq(host_calls("push_stdin"), 1);
    host.how = HOST_DONE;
    ok(push(one, "x"));
    close(two);
    raw_await_gone(1);
    two = raw_client(1);
    ok(push(two, "x"));
    ck_assert_uint_eq(host_calls("push_stdin"), 3);
}

PX_TEST(input_goes_on_when_its_process_has_gone_and_ends_with_the_server)
{
    px_infos none = {0};

    iof_start();
    host.how = HOST_HELD;
    for (uint32_t i = 0; i < 4; i++)
        raw_send(one, 500 + i, iof_make_push(2, "x", 1, &none));
    host_await("push_stdin", 1);
    ck_assert(raw_quiet(one));
    close(one);
    raw_await_gone(0);
    ck_assert(host_answer(PMIX_SUCCESS));
    host_await("push_stdin", 2);
    raw_server_stop(); /* two of them still wait */
}

/* ---- the end of input, which a built-in host does not learn itself ------------------------ */

static void do_nothing(void *self PX_UNUSED)
{
}

static void tool_left(void *self PX_UNUSED, const pmix_proc_t *tool PX_UNUSED)
{
}

static void be_builtin(void *arg PX_UNUSED)
{
    static const struct px_builtin_host builtin = {.destroy = do_nothing,
                                                   .tool_left = tool_left};

    px_process.server->host = &builtin;
}

/* Expects the end of the input after both processes that feed rank 2 have left. */
PX_TEST_LOOP(the_last_process_that_feeds_input_ends_it, 2)
{
    px_infos none = {0};
    PX_AUTO(px_infos) complete = {0};

    iof_start();
    raw_on_loop(be_builtin, NULL);
    ok(push(one, "a"));
    ok(push(two, "b"));
    ok(push(two, "c"));
    ok(px_infos_add(&complete, PMIX_IOF_COMPLETE, NULL, PMIX_BOOL));
    ok(iof_push(three, "all", &complete)); /* feeds no more */
    close(three);
    raw_await_gone(2);
    close(_i ? one : two);
    raw_await_gone(_i ? 0 : 1);
    raw_on_loop(NULL, NULL);
    ck_assert_uint_eq(host_calls("push_stdin"), 4); /* the other one still feeds */
    raw_send(_i ? two : one, 500, iof_make_push(2, "d", 1, &none));
    ok(raw_status(_i ? two : one, 500));
    close(_i ? two : one);
    raw_await_gone(_i ? 1 : 0);
    host_await("push_stdin", 6);
    ck_assert_uint_eq(host.n_data, 0);
    ck_assert_uint_eq(host.procs[0].rank, 2);
    ck_assert_uint_eq(host.proc.rank, _i ? 1 : 0);
}

static pmix_status_t flow(const pmix_proc_t *source, pmix_iof_channel_t channel,
                          bool xoff)
{
    return PMIx_server_IOF_flow_control(source, channel, xoff, NULL, 0, NULL, NULL);
}

PX_TEST_LOOP(a_host_may_stop_those_who_feed_input, 2)
{
    pmix_proc_t source = raw_proc("job", 1);
    const pmix_proc_t *whom = _i ? &source : NULL;
    pmix_info_t info = {.key = "k"};
    px_infos none = {0};

    iof_start();
    ok(flow(whom, PMIX_FWD_STDIN_CHANNEL, true));
    raw_send(two, 500, iof_make_push(2, "later", 5, &none));
    ck_assert(raw_quiet(two));
    ck_assert_uint_eq(host_calls("push_stdin"), 0);
    if (whom)
        ok(push(one, "now"));
    ok(PMIx_server_IOF_flow_control(whom, PMIX_FWD_STDIN_CHANNEL, false, &info, 1, NULL,
                                    NULL));
    ok(raw_status(two, 500));
    ck_assert_str_eq(host.text, "later");
    fails(flow(whom, OUT, true), NOT_SUPPORTED);
}

/* ---- pulls of this process --------------------------------------------------------------------------- */

static sem_t came, done;
static char got[32];
static pmix_status_t done_status, inside_status = 1;

static void on_bytes(size_t id PX_UNUSED, pmix_iof_channel_t channel PX_UNUSED,
                     pmix_proc_t *source PX_UNUSED, pmix_byte_object_t *payload,
                     pmix_info_t info[] PX_UNUSED, size_t n_info PX_UNUSED)
{
    snprintf(got, sizeof(got), "%.*s", (int)payload->size, payload->bytes);
    if (inside_status == 1)
        inside_status = scene_write(1, OUT, "inside");
    sem_post(&came);
}

static void on_done(pmix_status_t status, void *cbdata)
{
    ck_assert_ptr_eq(cbdata, &done);
    done_status = status;
    sem_post(&done);
}

PX_TEST(the_server_process_may_ask_too_until_it_ends)
{
    pmix_proc_t p = raw_proc("job", PMIX_RANK_WILDCARD);
    pmix_byte_object_t bo = {.bytes = strdup("later"), .size = 5};

    sem_init(&came, 0, 0);
    sem_init(&done, 0, 0);
    iof_start();
    pmix_status_t id = PMIx_IOF_pull(&p, 1, NULL, 0, OUT, on_bytes, NULL, NULL);
    ck_assert_int_gt(id, 0);
    ok(scene_write(2, OUT, "hello"));
    sem_wait(&came);
    sem_wait(&came);
    ok(inside_status);
    ck_assert_str_eq(got, "inside");
    p.rank = 1;
    ok(PMIx_server_IOF_deliver(&p, OUT, &bo, NULL, 0, on_done, &done));
    memset(bo.bytes, 'x', 5);
    free(bo.bytes);
    sem_wait(&done);
    ok(done_status);
    sem_wait(&came);
    ck_assert_str_eq(got, "later");
    ok(PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL));
    ck_assert_int_gt(PMIx_IOF_pull(&p, 1, NULL, 0, OUT, on_bytes, NULL, NULL), 0);
}

/* Callbacks of this process take time, too. The pieces that wait for a callback are bounded. */
PX_TEST(the_server_process_holds_up_a_host_that_is_faster)
{
    pmix_proc_t p = raw_proc("job", PMIX_RANK_WILDCARD);
    struct iof_filled inside = {0};

    sem_init(&came, 0, 0);
    inside_status = 0;
    iof_start();
    ck_assert_int_gt(PMIx_IOF_pull(&p, 1, NULL, 0, OUT, on_bytes, NULL, NULL), 0);
    raw_on_loop(iof_fill, &inside);
    fails(inside.status, OUT_OF_RESOURCE);
    for (unsigned i = 0; i < inside.n; i++)
        sem_wait(&came);
    ok(scene_write(2, OUT, "more"));
    sem_wait(&came);
    ck_assert_str_eq(got, "more");
}

PX_TEST_MAIN("server/iof_host", NULL, host_end)
