/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding of standard streams: who is sent whose output, and input for the host. */
#include "core/link/iof.h"

#include "core/rt/process.h"
#include "fake_host.h"
#include "pmix_tool.h"
#include "px_test.h"
#include "raw.h"

#include <semaphore.h>
#include <string.h>

#define OUT PMIX_FWD_STDOUT_CHANNEL
#define ERR PMIX_FWD_STDERR_CHANNEL

static void setup(void)
{
    raw_server_start(&host_module, 3);
}

static px_writer pull_message(pmix_rank_t rank, pmix_iof_channel_t channels)
{
    pmix_proc_t p = raw_proc("job", rank);
    px_writer w;

    raw_begin(&w, PX_OP_IOF_PULL);
    px_pack_procs(&w, &p, 1);
    px_pack_infos(&w, NULL, 0);
    px_pack(&w, &channels, 1, PMIX_IOF_CHANNEL);
    return w;
}

/* The server's number of the request; id is the client's. */
static size_t pull(int fd, pmix_rank_t rank, pmix_iof_channel_t channels, size_t id)
{
    px_writer w = pull_message(rank, channels);
    size_t server_id = SIZE_MAX;
    px_reader r;

    px_pack_size(&w, id);
    ok(raw_request(fd, &w, &r));
    ok(px_unpack_size(&r, &server_id));
    return server_id;
}

static pmix_status_t stop_pull(int fd, size_t server_id)
{
    px_writer w;

    raw_begin(&w, PX_OP_IOF_DEREG);
    px_pack_infos(&w, NULL, 0);
    px_pack_size(&w, server_id);
    return raw_request(fd, &w, NULL);
}

static pmix_status_t deliver(pmix_rank_t rank, pmix_iof_channel_t channel,
                             const char *text)
{
    pmix_proc_t source = raw_proc("job", rank);
    pmix_byte_object_t bo = {.bytes = (char *)(uintptr_t)text, .size = strlen(text)};

    return PMIx_server_IOF_deliver(&source, channel, &bo, NULL, 0, NULL, NULL);
}

/* The next piece that comes for this client. */
static void expect(int fd, pmix_rank_t rank, pmix_iof_channel_t channel, size_t id,
                   const char *text)
{
    pmix_iof_channel_t got_channel;
    pmix_byte_object_t bytes = {0};
    PX_AUTO(px_infos) infos = {0};
    pmix_proc_t source;
    px_reader r;
    size_t got_id;

    ck_assert(raw_recv(fd, PX_TAG_IOF, &r));
    ok(px_unpack1(&r, &source, PMIX_PROC));
    ok(px_unpack1(&r, &got_channel, PMIX_IOF_CHANNEL));
    ok(px_unpack_size(&r, &got_id));
    ok(px_unpack_infos(&r, &infos.v, &infos.n));
    ok(px_unpack_bytes(&r, &bytes));
    ck_assert(px_reader_done(&r));
    ck_assert_uint_eq(source.rank, rank);
    ck_assert_uint_eq(got_channel, channel);
    ck_assert_uint_eq(got_id, id);
    ck_assert_uint_eq(bytes.size, strlen(text));
    if (bytes.size)
        ck_assert_mem_eq(bytes.bytes, text, bytes.size);
    free(bytes.bytes);
}

/* ---- output ------------------------------------------------------------------------------------ */

PX_TEST(each_gets_what_he_asked_for_and_no_more)
{
    int all = raw_client(0), one = raw_client(1);

    (void)pull(all, PMIX_RANK_WILDCARD, OUT | ERR, 70);
    (void)pull(one, 2, ERR, 71);
    ok(deliver(2, OUT, "out"));
    ok(deliver(2, ERR, "err"));
    ok(deliver(1, ERR, "other"));
    expect(all, 2, OUT, 70, "out");
    expect(all, 2, ERR, 70, "err");
    expect(all, 1, ERR, 70, "other");
    expect(one, 2, ERR, 71, "err");
    ck_assert(raw_quiet(all));
    ck_assert(raw_quiet(one));
}

PX_TEST(the_host_is_told_who_wants_what)
{
    int fd = raw_client(0);
    size_t id = pull(fd, 2, OUT, 1);

    ck_assert_uint_eq(host_calls("iof_pull"), 1);
    ck_assert_int_eq(host.code, OUT);
    ck_assert_uint_eq(host.n_procs, 1);
    ck_assert_uint_eq(host.procs[0].rank, 2);
    ck_assert_uint_eq(px_info_u32(host.given.v, host.given.n, PMIX_USERID, 9999),
                      geteuid());
    ck_assert_uint_eq(px_info_u32(host.given.v, host.given.n, PMIX_GRPID, 9999),
                      getegid());
    ok(stop_pull(fd, id));
    ck_assert_uint_eq(host_calls("iof_pull"), 2);
    ck_assert_int_eq(host.code, PMIX_FWD_NO_CHANNELS);
    ck_assert_uint_eq(host.procs[0].rank, 2);
    ck_assert(px_info_flag(host.given.v, host.given.n, PMIX_IOF_STOP));
    ck_assert_int_eq(stop_pull(fd, id), PMIX_ERR_NOT_FOUND);
    ok(deliver(2, OUT, "late"));
    ck_assert(raw_quiet(fd));
}

PX_TEST(old_clients_know_a_request_by_the_servers_number)
{
    int fd = raw_client(0);
    px_writer w = pull_message(2, OUT);
    size_t id;
    px_reader r;

    ok(raw_request(fd, &w, &r));
    ok(px_unpack_size(&r, &id));
    ok(deliver(2, OUT, "out"));
    expect(fd, 2, OUT, id, "out");
}

PX_TEST(nobody_stops_the_requests_of_another)
{
    int mine = raw_client(0), other = raw_client(1);
    size_t id = pull(mine, 2, OUT, 5);

    ck_assert_int_eq(stop_pull(other, id), PMIX_ERR_NOT_FOUND);
    ok(deliver(2, OUT, "out"));
    expect(mine, 2, OUT, 5, "out");
}

PX_TEST(what_a_process_wrote_does_not_come_back_to_it)
{
    int fd = raw_client(0);

    (void)pull(fd, PMIX_RANK_WILDCARD, OUT, 5);
    ok(deliver(0, OUT, "own"));
    ck_assert(raw_quiet(fd));
}

PX_TEST(no_bytes_are_the_end_and_are_told)
{
    int fd = raw_client(0);

    (void)pull(fd, 2, OUT, 5);
    ok(deliver(2, OUT, ""));
    expect(fd, 2, OUT, 5, "");
}

PX_TEST(a_host_that_refuses_ends_the_request)
{
    int fd = raw_client(0);
    px_writer w = pull_message(2, OUT);

    host.how = HOST_ERROR;
    host.status = PMIX_ERR_NO_PERMISSIONS;
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NO_PERMISSIONS);
    ok(deliver(2, OUT, "out"));
    ck_assert(raw_quiet(fd));
}

PX_TEST(bytes_come_before_the_host_has_agreed)
{
    int fd = raw_client(0);
    px_writer w = pull_message(2, OUT);

    host.how = HOST_HELD;
    px_pack_size(&w, 8);
    raw_send(fd, 700, &w);
    host_await("iof_pull", 1);
    ok(deliver(2, OUT, "early"));
    expect(fd, 2, OUT, 8, "early");
    ck_assert(host_answer(PMIX_SUCCESS));
    ok(raw_status(fd, 700));
}

PX_TEST(whoever_leaves_asks_no_more)
{
    int lost = raw_client(0), leaves = raw_client(1), stays = raw_client(2);

    (void)pull(lost, PMIX_RANK_WILDCARD, OUT, 1);
    (void)pull(leaves, PMIX_RANK_WILDCARD, OUT, 2);
    (void)pull(stays, PMIX_RANK_WILDCARD, OUT, 3);
    close(lost);
    raw_await_gone(0);
    ok(raw_finalize(leaves));
    host_await("iof_pull", 5); /* both stops */
    ck_assert_int_eq(host.code, PMIX_FWD_NO_CHANNELS);
    ok(deliver(0, OUT, "last"));
    expect(stays, 0, OUT, 3, "last");
}

PX_TEST(one_who_leaves_while_the_host_thinks_is_forgotten)
{
    int fd = raw_client(0);
    px_writer w = pull_message(2, OUT);

    host.how = HOST_HELD;
    px_pack_size(&w, 8);
    raw_send(fd, 700, &w);
    host_await("iof_pull", 1);
    close(fd);
    raw_await_gone(0);
    ck_assert(host_answer(PMIX_SUCCESS));
    ok(deliver(2, OUT, "late"));
}

static void drop_job(void)
{
    static const pmix_nspace_t job = "job";

    PMIx_server_deregister_nspace(job, NULL, NULL);
}

PX_TEST(a_host_may_drop_the_job_while_it_is_told_of_the_end)
{
    int lost = raw_client(0), other = raw_client(1);

    (void)pull(lost, PMIX_RANK_WILDCARD, OUT, 1);
    (void)pull(lost, 2, ERR, 2);
    (void)pull(other, PMIX_RANK_WILDCARD, OUT, 3);
    host.within = drop_job;
    close(lost);
    host_await("iof_pull", 6); /* the ends of all three */
    ck_assert(raw_closed(other));
    ok(deliver(2, OUT, "late"));
}

PX_TEST(requests_have_a_limit)
{
    int fd = raw_client(0);
    px_writer w;

    for (size_t i = 0; i < 1024; i++)
        (void)pull(fd, 2, OUT, i);
    w = pull_message(2, OUT);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_OUT_OF_RESOURCE);
}

PX_TEST(a_reader_too_slow_misses_what_others_get)
{
    static char chunk[1024 * 1024];
    int slow = raw_client(0), quick = raw_client(1);
    pmix_proc_t source = raw_proc("job", 2);
    pmix_byte_object_t bo = {.bytes = chunk, .size = sizeof chunk};
    pmix_status_t rc = PMIX_SUCCESS;
    int n = 0;

    (void)pull(slow, 2, OUT, 1);
    for (; !rc && n < 64; n++)
        rc = PMIx_server_IOF_deliver(&source, OUT, &bo, NULL, 0, NULL, NULL);
    ck_assert_int_eq(rc, PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_gt(n, 16);
    (void)pull(quick, 2, OUT, 2);
    ck_assert_int_eq(deliver(2, OUT, "short"), PMIX_ERR_OUT_OF_RESOURCE);
    expect(quick, 2, OUT, 2, "short");
}

PX_TEST(output_of_other_users_is_not_to_be_had)
{
    int fd;
    px_writer w;
    pmix_proc_t p = raw_proc("theirs", PMIX_RANK_WILDCARD);
    pmix_iof_channel_t channel = OUT;
    pmix_byte_object_t bo = {.bytes = (char *)"x", .size = 1};

    PX_TEST_NEEDS(geteuid() == 0, "root");
    raw_add_job("ours", 1, 0, 1234);
    fd = raw_client_as(1234, "ours", 0);
    for (int known = 0; known < 2; known++) {
        if (known)
            raw_add_job("theirs", 1, 0, 4321);
        raw_begin(&w, PX_OP_IOF_PULL);
        px_pack_procs(&w, &p, 1);
        px_pack_infos(&w, NULL, 0);
        px_pack(&w, &channel, 1, PMIX_IOF_CHANNEL);
        px_pack_size(&w, 1);
        /* Before the job is known only the host can tell; then it counts whose it is. */
        ck_assert_int_eq(raw_request(fd, &w, NULL),
                         known ? PMIX_ERR_NO_PERMISSIONS : PMIX_SUCCESS);
    }
    p.rank = 0;
    ok(PMIx_server_IOF_deliver(&p, OUT, &bo, NULL, 0, NULL, NULL));
    ck_assert(raw_quiet(fd));
}

/* ---- damaged requests ------------------------------------------------------------------------------ */

PX_TEST(damaged_requests_are_refused)
{
    int fd = raw_client(0);
    px_writer w, whole = pull_message(2, OUT);

    for (size_t n = 1; n < whole.buf.len; n++) {
        px_writer_init(&w, px_codec_default);
        ok(px_buf_add(&w.buf, whole.buf.data, n));
        ck_assert_int_lt(raw_request(fd, &w, NULL), 0);
    }
    px_writer_cleanup(&whole);
    w = pull_message(2, PMIX_FWD_NO_CHANNELS);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_BAD_PARAM);
    w = pull_message(2, PMIX_FWD_STDIN_CHANNEL);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_SUPPORTED);
    raw_begin(&w, PX_OP_IOF_PULL);
    px_pack_procs(&w, NULL, 0);
    px_pack_infos(&w, NULL, 0);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_uint_eq(host_calls("iof_pull"), 0);
}

PX_TEST(a_host_without_the_slots_supports_nothing)
{
    static const pmix_server_module_t none;
    px_writer w;
    int fd;

    raw_server_stop();
    raw_server_start(&none, 1);
    fd = raw_client(0);
    w = pull_message(0, OUT);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(stop_pull(fd, 1), PMIX_ERR_NOT_SUPPORTED);
    raw_begin(&w, PX_OP_IOF_PUSH);
    px_pack_procs(&w, NULL, 0);
    px_pack_infos(&w, NULL, 0);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_SUPPORTED);
}

/* ---- input ------------------------------------------------------------------------------------- */

static pmix_status_t push(int fd, const char *text)
{
    pmix_proc_t target = raw_proc("job", 2);
    px_writer w;

    raw_begin(&w, PX_OP_IOF_PUSH);
    px_pack_procs(&w, &target, 1);
    px_pack_infos(&w, NULL, 0);
    if (text)
        px_pack_bytes(&w, text, strlen(text));
    return raw_request(fd, &w, NULL);
}

PX_TEST(input_is_the_hosts_to_pass_on)
{
    int fd = raw_client(1);

    ok(push(fd, "hello"));
    ck_assert_uint_eq(host.proc.rank, 1);
    ck_assert_uint_eq(host.procs[0].rank, 2);
    ck_assert_str_eq(host.text, "hello");
    ck_assert_uint_eq(px_info_u32(host.given.v, host.given.n, PMIX_USERID, 9999),
                      geteuid());
    ok(push(fd, ""));
    ck_assert_uint_eq(host.n_data, 0);
    ok(push(fd, NULL)); /* left out: nothing, too */
    ck_assert_uint_eq(host.n_data, 0);
    host.status = PMIX_ERR_IOF_FAILURE;
    ck_assert_int_eq(push(fd, "x"), PMIX_ERR_IOF_FAILURE);
}

/* ---- this process itself ----------------------------------------------------------------------------- */

static sem_t came, done;
static char got[32];
static pmix_status_t done_status, inside_status;

static void on_bytes(size_t id PX_UNUSED, pmix_iof_channel_t channel PX_UNUSED,
                     pmix_proc_t *source PX_UNUSED, pmix_byte_object_t *payload,
                     pmix_info_t info[] PX_UNUSED, size_t n_info PX_UNUSED)
{
    snprintf(got, sizeof got, "%.*s", (int)payload->size, payload->bytes);
    inside_status = deliver(2, OUT, "never");
    sem_post(&came);
}

static void on_done(pmix_status_t status, void *cbdata)
{
    ck_assert_ptr_eq(cbdata, &done);
    done_status = status;
    sem_post(&done);
}

PX_TEST(the_server_process_may_ask_too)
{
    pmix_proc_t p = raw_proc("job", PMIX_RANK_WILDCARD);
    pmix_byte_object_t bo = {.bytes = strdup("later"), .size = 5};
    pmix_status_t id;

    sem_init(&came, 0, 0);
    sem_init(&done, 0, 0);
    id = PMIx_IOF_pull(&p, 1, NULL, 0, OUT, on_bytes, NULL, NULL);
    ck_assert_int_gt(id, 0);
    ok(deliver(2, OUT, "hello"));
    sem_wait(&came);
    ck_assert_str_eq(got, "hello");
    ck_assert_int_eq(inside_status, PMIX_ERR_WOULD_BLOCK);

    p.rank = 1;
    ok(PMIx_server_IOF_deliver(&p, OUT, &bo, NULL, 0, on_done, &done));
    memset(bo.bytes, 'x', 5);
    free(bo.bytes);
    sem_wait(&done);
    ok(done_status);
    sem_wait(&came);
    ck_assert_str_eq(got, "later");
    ok(PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL));
}

PX_TEST(the_last_request_ends_with_the_server)
{
    pmix_proc_t p = raw_proc("job", PMIX_RANK_WILDCARD);

    sem_init(&came, 0, 0);
    ck_assert_int_gt(PMIx_IOF_pull(&p, 1, NULL, 0, OUT, on_bytes, NULL, NULL), 0);
}

PX_TEST(output_of_no_channel_and_flow_control_are_refused)
{
    pmix_proc_t p = raw_proc("job", 0);
    pmix_byte_object_t bo = {.bytes = (char *)"x", .size = 1};
    pmix_info_t info = {.key = "k"};

    ck_assert_int_eq(PMIx_server_IOF_deliver(&p, 0, &bo, NULL, 0, NULL, NULL),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(PMIx_server_IOF_deliver(&p, OUT, NULL, NULL, 0, NULL, NULL),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDIN_CHANNEL, true,
                                                  &info, 1, NULL, NULL),
                     PMIX_ERR_NOT_SUPPORTED);
}

PX_TEST_MAIN("server/iof", setup, host_end)
