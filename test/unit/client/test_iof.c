/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding of standard streams, from a client's side. */
#include "core/link/iof.h"

#include "core/client/client.h"
#include "fake_server.h"
#include "px_test.h"

#include <semaphore.h>
#include <string.h>

#define SERVER_ID 4711

static struct {
    uint8_t op;
    size_t n_procs, n_infos, id, n_bytes;
    pmix_proc_t first;
    pmix_iof_channel_t channels;
    char bytes[64];
} seen;
static pmix_status_t answer;
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
    ck_assert_uint_lt(payload->size, sizeof got);
    if (payload->size)
        memcpy(got, payload->bytes, payload->size);
    got[payload->size] = '\0';
    sem_post(&came);
}

static void send_piece(int fd, size_t id, const char *text)
{
    pmix_proc_t source;
    const struct px_args piece = {
        .procs = &source,
        .channels = PMIX_FWD_STDOUT_CHANNEL,
        .id = id,
        .bytes = {.bytes = (char *)(uintptr_t)text, .size = strlen(text)}};
    px_writer w = fake_begin();

    px_proc_set(&source, "job", 1);
    px_pack_args(&w, &piece, px_request_piece.args);
    fake_reply(fd, PX_TAG_IOF, &w);
}

static void read_request(struct fake_req *req)
{
    PX_AUTOFREE pmix_proc_t *procs = NULL;
    PX_AUTO(px_infos) infos = {0};
    pmix_byte_object_t bytes = {0};

    memset(&seen, 0, sizeof seen);
    seen.op = req->op;
    if (req->op != PX_OP_IOF_DEREG)
        ok(px_unpack_procs(&req->in, &procs, &seen.n_procs));
    if (seen.n_procs > 0)
        seen.first = procs[0];
    ok(px_unpack_infos(&req->in, &infos.v, &infos.n));
    infos.cap = seen.n_infos = infos.n;
    if (req->op == PX_OP_IOF_PULL)
        ok(px_unpack1(&req->in, &seen.channels, PMIX_IOF_CHANNEL));
    if (req->op != PX_OP_IOF_PUSH) {
        ok(px_unpack_size(&req->in, &seen.id));
    } else {
        ok(px_unpack_bytes(&req->in, &bytes));
        seen.n_bytes = bytes.size;
        if (bytes.size)
            memcpy(seen.bytes, bytes.bytes, bytes.size);
        free(bytes.bytes);
    }
    ck_assert(px_reader_done(&req->in));
}

static bool serve_streams(int fd, struct fake_req *req)
{
    px_writer w;

    if (req->op == PX_OP_COMMIT) { /* how a test makes the server send */
        send_piece(fd, seen.id, "more");
        fake_status(fd, req->tag, PMIX_SUCCESS);
        return true;
    }
    if (req->op != PX_OP_IOF_PULL && req->op != PX_OP_IOF_PUSH &&
        req->op != PX_OP_IOF_DEREG)
        return false;
    read_request(req);
    if (req->op == PX_OP_IOF_PULL && sends_first)
        send_piece(fd, seen.id, "early");
    if (req->op == PX_OP_IOF_DEREG)
        send_piece(fd, got_id, "late");
    w = fake_begin();
    px_pack_status(&w, answer);
    if (req->op == PX_OP_IOF_PULL && !answer && !tells_no_id)
        px_pack_size(&w, SERVER_ID);
    fake_reply(fd, req->tag, &w);
    return true;
}

static void start(void)
{
    sem_init(&came, 0, 0);
    fake.hook = serve_streams;
    client_begin();
}

static pmix_proc_t everyone(void)
{
    pmix_proc_t p;

    px_proc_set(&p, "job", PMIX_RANK_WILDCARD);
    return p;
}

static pmix_status_t pull(void)
{
    pmix_proc_t p = everyone();

    return PMIx_IOF_pull(&p, 1, NULL, 0,
                         PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL, on_bytes,
                         NULL, NULL);
}

static pmix_info_t flag(const char *key)
{
    pmix_info_t i;

    PMIx_Info_load(&i, key, NULL, PMIX_BOOL);
    return i;
}

/* ---- output ---------------------------------------------------------------------- */

PX_TEST(output_comes_until_it_is_not_wanted_any_more)
{
    pmix_status_t id;

    start();
    id = pull();
    ck_assert_int_gt(id, 0);
    ck_assert_uint_eq(seen.op, PX_OP_IOF_PULL);
    ck_assert_uint_eq(seen.n_procs, 1);
    ck_assert_uint_eq(seen.first.rank, PMIX_RANK_WILDCARD);
    ck_assert_uint_eq(seen.channels, PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL);
    ck_assert_uint_eq(seen.id, (size_t)id);
    ok(PMIx_Commit());
    sem_wait(&came);
    ck_assert_str_eq(got, "more");
    ck_assert_uint_eq(got_id, (size_t)id);
    ok(PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL));
    ck_assert_uint_eq(seen.op, PX_OP_IOF_DEREG);
    ck_assert_uint_eq(seen.id, SERVER_ID);
    ok(PMIx_Fence(NULL, 0, NULL, 0));
    ck_assert_uint_eq(n_pieces, 1); /* what came late was thrown away */
    ck_assert_int_eq(PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL),
                     PMIX_ERR_NOT_FOUND);
}

PX_TEST(bytes_may_come_before_the_answer)
{
    sends_first = true;
    start();
    ck_assert_int_gt(pull(), 0);
    sem_wait(&came);
    ck_assert_str_eq(got, "early");
}

PX_TEST(a_server_that_tells_no_number_knows_ours)
{
    pmix_status_t id;

    tells_no_id = true;
    start();
    id = pull();
    ok(PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL));
    ck_assert_uint_eq(seen.id, (size_t)id);
}

PX_TEST(a_refused_request_leaves_nothing)
{
    answer = PMIX_ERR_NOT_SUPPORTED;
    start();
    ck_assert_int_eq(pull(), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(PMIx_IOF_deregister(seen.id, NULL, 0, NULL, NULL),
                     PMIX_ERR_NOT_FOUND);
}

static pmix_status_t inside_status;
static size_t done_id;

static void on_registered(pmix_status_t status, size_t id, void *cbdata)
{
    ck_assert_ptr_eq(cbdata, &done);
    done_status = status;
    done_id = id;
    inside_status = pull();
    sem_post(&done);
}

PX_TEST(without_waiting_what_was_passed_may_go_at_once)
{
    pmix_proc_t *procs = malloc(sizeof *procs);
    pmix_byte_object_t bo = {.bytes = strdup("hello"), .size = 5};

    start();
    *procs = everyone();
    ok(PMIx_IOF_pull(procs, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_bytes,
                     on_registered, &done));
    memset(procs, 0xee, sizeof *procs);
    ok(await_op());
    ck_assert_int_eq(inside_status, PMIX_ERR_WOULD_BLOCK);
    ck_assert_uint_eq(seen.first.rank, PMIX_RANK_WILDCARD);
    ck_assert_uint_eq(seen.id, done_id);

    *procs = everyone();
    ok(PMIx_IOF_push(procs, 1, &bo, NULL, 0, on_op, &done));
    memset(procs, 0xee, sizeof *procs);
    memset(bo.bytes, 'x', 5);
    free(bo.bytes);
    free(procs);
    sem_wait(&done);
    ck_assert_uint_eq(seen.op, PX_OP_IOF_PUSH);
    ck_assert_uint_eq(seen.n_bytes, 5);
    ck_assert_mem_eq(seen.bytes, "hello", 5);
    ok(PMIx_IOF_deregister(done_id, NULL, 0, on_op, &done));
    ok(await_op());
}

/* ---- input ----------------------------------------------------------------------- */

PX_TEST(input_goes_to_the_server_and_so_does_its_end)
{
    pmix_proc_t p = everyone();
    pmix_byte_object_t bo = {.bytes = (char *)"hello", .size = 5};
    pmix_info_t complete = flag(PMIX_IOF_COMPLETE);

    start();
    ok(PMIx_IOF_push(&p, 1, &bo, NULL, 0, NULL, NULL));
    ck_assert_uint_eq(seen.n_bytes, 5);
    ck_assert_uint_eq(seen.n_procs, 1);
    bo = (pmix_byte_object_t){0};
    ok(PMIx_IOF_push(&p, 1, &bo, NULL, 0, NULL, NULL));
    ck_assert_uint_eq(seen.n_bytes, 0);
    ok(PMIx_IOF_push(NULL, 0, NULL, &complete, 1, NULL, NULL));
    ck_assert_uint_eq(seen.n_infos, 1);
    ck_assert_uint_eq(seen.n_bytes, 0);
    answer = PMIX_ERR_NOT_SUPPORTED;
    ck_assert_int_eq(PMIx_IOF_push(&p, 1, &bo, NULL, 0, NULL, NULL),
                     PMIX_ERR_NOT_SUPPORTED);
}

PX_TEST_MAIN("client/iof", NULL, client_end)
