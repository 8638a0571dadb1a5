/* SPDX-License-Identifier: BSD-3-Clause */
/* Output that a server forwards, and input that it is given. */
#include "core/client/client.h"
#include "fake_server.h"
#include "px_test.h"

#include <string.h>

#define SERVER_ID 4711

static bool tells_no_id, sends_first;
static sem_t came;
static char got[64];
static size_t got_id;
static unsigned n_pieces;

static void on_bytes(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
                     pmix_byte_object_t *payload, pmix_info_t info[] PX_UNUSED,
                     size_t n_info PX_UNUSED)
{
    ck_assert_uint_eq(channel, PMIX_FWD_STDOUT_CHANNEL);
    ck_assert_str_eq(source->nspace, "job");
    got_id = id;
    n_pieces++;
    snprintf(got, sizeof got, "%.*s", (int)payload->size, payload->bytes);
    sem_post(&came);
}

static void send_piece(int fd, size_t id, const char *text)
{
    pmix_proc_t source = rank(1);
    const struct px_args piece = {
        .procs = &source,
        .channels = PMIX_FWD_STDOUT_CHANNEL,
        .id = id,
        .bytes = {.bytes = (char *)(uintptr_t)text, .size = strlen(text)}};
    px_writer w = fake_begin();

    px_pack_args(&w, &piece, px_request_piece.args);
    fake_reply(fd, PX_TAG_IOF, &w);
}

static bool send_pieces(int fd, struct fake_req *req)
{
    if (req->op == PX_OP_COMMIT) /* how a test makes the server send */
        send_piece(fd, fake.heard.id, "more");
    if (req->op == PX_OP_IOF_PULL && sends_first)
        send_piece(fd, fake.heard.id, "early");
    if (req->op == PX_OP_IOF_DEREG)
        send_piece(fd, got_id, "late");
    return false;
}

static void add_id(px_writer *w, const struct fake_req *req)
{
    if (req->op == PX_OP_IOF_PULL && !fake.answer && !tells_no_id)
        px_pack_size(w, SERVER_ID);
}

static void start_streams(void)
{
    sem_init(&came, 0, 0);
    fake.add = add_id;
    client_of_hook(send_pieces);
}

static pmix_status_t pull(void)
{
    pmix_proc_t p = rank(PMIX_RANK_WILDCARD);

    return PMIx_IOF_pull(&p, 1, NULL, 0,
                         PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL, on_bytes,
                         NULL, NULL);
}

static pmix_status_t deregister(pmix_status_t id)
{
    return PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL);
}

PX_TEST(output_comes_until_it_is_not_wanted_any_more)
{
    pmix_status_t id;

    start_streams();
    id = pull();
    ck_assert_int_gt(id, 0);
    ck_assert_uint_eq(fake.heard_op, PX_OP_IOF_PULL);
    ck_assert_uint_eq(fake.heard.n_procs, 1);
    ck_assert_uint_eq(fake.heard.procs[0].rank, PMIX_RANK_WILDCARD);
    ck_assert_uint_eq(fake.heard.channels,
                      PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL);
    ck_assert_uint_eq(fake.heard.id, (size_t)id);
    ok(PMIx_Commit());
    sem_wait(&came);
    ck_assert_str_eq(got, "more");
    ck_assert_uint_eq(got_id, (size_t)id);
    ok(deregister(id));
    ck_assert_uint_eq(fake.heard_op, PX_OP_IOF_DEREG);
    ck_assert_uint_eq(fake.heard.id, SERVER_ID);
    ok(PMIx_Fence(NULL, 0, NULL, 0));
    ck_assert_uint_eq(n_pieces, 1); /* what came late was thrown away */
    fails(deregister(id), BAD_PARAM);
}

PX_TEST(bytes_may_come_before_the_answer_and_a_server_may_know_our_number)
{
    pmix_status_t id;

    sends_first = tells_no_id = true;
    start_streams();
    id = pull();
    ck_assert_int_gt(id, 0);
    sem_wait(&came);
    ck_assert_str_eq(got, "early");
    ok(deregister(id));
    ck_assert_uint_eq(fake.heard.id, (size_t)id);
}

PX_TEST(a_refused_request_leaves_nothing)
{
    fake.answer = PMIX_ERR_NOT_SUPPORTED;
    start_streams();
    ck_assert_int_eq(pull(), PMIX_ERR_NOT_SUPPORTED);
    fails(deregister((pmix_status_t)fake.heard.id), BAD_PARAM);
}

static pmix_status_t inside_status;
static size_t done_id;

static void on_registered(pmix_status_t status, size_t id, void *cbdata)
{
    done_id = id;
    inside_status = pull();
    on_op(status, cbdata);
}

PX_TEST(streams_without_waiting_take_copies)
{
    pmix_proc_t *procs = malloc(sizeof *procs);
    pmix_byte_object_t bo = {.bytes = strdup("hello"), .size = 5};

    start_streams();
    *procs = rank(PMIX_RANK_WILDCARD);
    ok(PMIx_IOF_pull(procs, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_bytes,
                     on_registered, &done));
    memset(procs, 0xee, sizeof *procs);
    ok(await_op());
    ck_assert_int_eq(inside_status, PMIX_ERR_WOULD_BLOCK);
    ck_assert_uint_eq(fake.heard.procs[0].rank, PMIX_RANK_WILDCARD);
    ck_assert_uint_eq(fake.heard.id, done_id);

    *procs = rank(PMIX_RANK_WILDCARD);
    ok(PMIx_IOF_push(procs, 1, &bo, NULL, 0, on_op, &done));
    memset(procs, 0xee, sizeof *procs);
    memset(bo.bytes, 'x', 5);
    free(bo.bytes);
    free(procs);
    ok(await_op());
    ck_assert_uint_eq(fake.heard_op, PX_OP_IOF_PUSH);
    ck_assert_uint_eq(fake.heard.bytes.size, 5);
    ck_assert_mem_eq(fake.heard.bytes.bytes, "hello", 5);
    finished(PMIx_IOF_deregister(done_id, NULL, 0, on_op, &done), PMIX_SUCCESS);
}

PX_TEST(input_goes_to_the_server_and_so_does_its_end)
{
    pmix_proc_t p = rank(PMIX_RANK_WILDCARD);
    pmix_byte_object_t bo = {.bytes = (char *)"hello", .size = 5};
    pmix_info_t complete = flag(PMIX_IOF_COMPLETE);

    start_streams();
    ok(PMIx_IOF_push(&p, 1, &bo, NULL, 0, NULL, NULL));
    ck_assert_uint_eq(fake.heard.bytes.size, 5);
    ck_assert_uint_eq(fake.heard.n_procs, 1);
    bo = (pmix_byte_object_t){0};
    ok(PMIx_IOF_push(&p, 1, &bo, NULL, 0, NULL, NULL));
    ck_assert_uint_eq(fake.heard.bytes.size, 0);
    ok(PMIx_IOF_push(NULL, 0, NULL, &complete, 1, NULL, NULL));
    ck_assert_uint_eq(fake.heard.info.n, 1);
    ck_assert_uint_eq(fake.heard.bytes.size, 0);
    fake.answer = PMIX_ERR_NOT_SUPPORTED;
    ck_assert_int_eq(PMIx_IOF_push(&p, 1, &bo, NULL, 0, NULL, NULL),
                     PMIX_ERR_NOT_SUPPORTED);
}

PX_TEST_MAIN("client/streams", NULL, client_end)
