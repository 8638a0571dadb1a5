/* SPDX-License-Identifier: BSD-3-Clause */
/* Output that a server forwards, and input for the server. */
#include "core/base/fd.h"
#include "core/client/client.h"
#include "fake_server.h"
#include "px_test.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>

#define SERVER_ID 4711

static bool omits_id, sends_first;
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
    snprintf(got, sizeof(got), "%.*s", (int)payload->size, payload->bytes);
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

    fake_send_piece(fd, &piece);
}

static bool send_pieces(int fd, struct fake_req *req)
{
    if (req->op == PX_OP_COMMIT) { /* a commit makes the server send */
        fake_raw(fd, PX_TAG_IOF, "", 0);
        send_piece(fd, fake.received.id, "more");
    }
    if (req->op == PX_OP_IOF_PULL && sends_first)
        send_piece(fd, fake.received.id, "early");
    if (req->op == PX_OP_IOF_DEREG)
        send_piece(fd, got_id, "late");
    return false;
}

static void add_id(px_writer *w, const struct fake_req *req)
{
    if (req->op == PX_OP_IOF_PULL && !fake.answer && !omits_id)
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

PX_TEST(output_comes_until_deregistration)
{
    pmix_status_t id;

    start_streams();
    id = pull();
    ck_assert_int_gt(id, 0);
    ck_assert_uint_eq(fake.received_op, PX_OP_IOF_PULL);
    ck_assert_uint_eq(fake.received.n_procs, 1);
    ck_assert_uint_eq(fake.received.procs[0].rank, PMIX_RANK_WILDCARD);
    ck_assert_uint_eq(fake.received.channels,
                      PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL);
    ck_assert_uint_eq(fake.received.id, (size_t)id);
    ok(PMIx_Commit());
    sem_wait(&came);
    ck_assert_str_eq(got, "more");
    ck_assert_uint_eq(got_id, (size_t)id);
    ok(deregister(id));
    ck_assert_uint_eq(fake.received_op, PX_OP_IOF_DEREG);
    ck_assert_uint_eq(fake.received.id, SERVER_ID);
    ok(PMIx_Fence(NULL, 0, NULL, 0));
    ck_assert_uint_eq(n_pieces, 1); /* the late piece was discarded */
    fails(deregister(id), BAD_PARAM);
    ck_assert_int_gt(pull(), id); /* the id is not used again */
}

PX_TEST(output_may_come_before_the_reply_and_the_reply_may_lack_an_id)
{
    pmix_status_t id;

    sends_first = omits_id = true;
    start_streams();
    id = pull();
    ck_assert_int_gt(id, 0);
    sem_wait(&came);
    ck_assert_str_eq(got, "early");
    ok(deregister(id));
    ck_assert_uint_eq(fake.received.id, (size_t)id);
}

PX_TEST(a_refused_request_leaves_nothing)
{
    fake.answer = PMIX_ERR_NOT_SUPPORTED;
    start_streams();
    fails(pull(), NOT_SUPPORTED);
    fails(deregister((pmix_status_t)fake.received.id), BAD_PARAM);
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
    pmix_proc_t *procs = malloc(sizeof(*procs));
    pmix_byte_object_t bo = {.bytes = strdup("hello"), .size = 5};

    start_streams();
    *procs = rank(PMIX_RANK_WILDCARD);
    ok(PMIx_IOF_pull(procs, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_bytes,
                     on_registered, &done));
    memset(procs, 0xee, sizeof(*procs));
    ok(await_op());
    ck_assert_int_eq(inside_status, PMIX_ERR_WOULD_BLOCK);
    ck_assert_uint_eq(fake.received.procs[0].rank, PMIX_RANK_WILDCARD);
    ck_assert_uint_eq(fake.received.id, done_id);

    *procs = rank(PMIX_RANK_WILDCARD);
    ok(PMIx_IOF_push(procs, 1, &bo, NULL, 0, on_op, &done));
    memset(procs, 0xee, sizeof(*procs));
    memset(bo.bytes, 'x', 5);
    free(bo.bytes);
    free(procs);
    ok(await_op());
    ck_assert_uint_eq(fake.received_op, PX_OP_IOF_PUSH);
    ck_assert_uint_eq(fake.received.bytes.size, 5);
    ck_assert_mem_eq(fake.received.bytes.bytes, "hello", 5);
    finished(PMIx_IOF_deregister(done_id, NULL, 0, on_op, &done), PMIX_SUCCESS);
}

PX_TEST(input_goes_to_the_server_and_so_does_its_end)
{
    pmix_proc_t p = rank(PMIX_RANK_WILDCARD);
    pmix_byte_object_t bo = {.bytes = (char *)"hello", .size = 5};
    pmix_info_t complete = flag(PMIX_IOF_COMPLETE);

    start_streams();
    ok(PMIx_IOF_push(&p, 1, &bo, NULL, 0, NULL, NULL));
    ck_assert_uint_eq(fake.received.bytes.size, 5);
    ck_assert_uint_eq(fake.received.n_procs, 1);
    bo = (pmix_byte_object_t){0};
    ok(PMIx_IOF_push(&p, 1, &bo, NULL, 0, NULL, NULL));
    ck_assert_uint_eq(fake.received.bytes.size, 0);
    ok(PMIx_IOF_push(NULL, 0, NULL, &complete, 1, NULL, NULL));
    ck_assert_uint_eq(fake.received.info.n, 1);
    ck_assert_uint_eq(fake.received.bytes.size, 0);
    fake.answer = PMIX_ERR_NOT_SUPPORTED;
    fails(PMIx_IOF_push(&p, 1, &bo, NULL, 0, NULL, NULL), NOT_SUPPORTED);
}

/* ---- invalid arguments ----------------------------------------------------------- */

PX_TEST(bad_pulls_and_pushes_are_refused_before_anything_is_sent)
{
    pmix_proc_t p = rank(1);
    pmix_byte_object_t bo = {.bytes = (char *)"hello", .size = 5}, none = {0};
    pmix_info_t own[] = {flag(PMIX_IOF_PUSH_STDIN), flag(PMIX_IOF_COMPLETE)};
    pmix_info_t drop[] = {flag(PMIX_IOF_DROP_OLDEST), flag(PMIX_IOF_DROP_NEWEST)};

    start_streams();
    fails(PMIx_IOF_push(NULL, 0, &bo, NULL, 0, NULL, NULL), BAD_PARAM);
    fails(PMIx_IOF_push(NULL, 0, NULL, own, 1, NULL, NULL), BAD_PARAM);
    fails(PMIx_IOF_push(&p, 1, &bo, own, 1, NULL, NULL), BAD_PARAM);
    fails(PMIx_IOF_push(&p, 1, &none, own, 2, on_op, &done), BAD_PARAM);
    fails(PMIx_IOF_push(&p, 1, &bo, drop, 2, NULL, NULL), BAD_PARAM);
    fails(PMIx_IOF_push(&p, 1, NULL, drop, 1, NULL, NULL), BAD_PARAM);
    for (int i = 0; i < 2; i++) { /* input from stdin is never gathered */
        pmix_info_t gathers[] = {
            own[0], flag(i ? PMIX_IOF_BUFFERING_TIME : PMIX_IOF_BUFFERING_SIZE)};

        PMIx_Info_required(&gathers[1]);
        fails(PMIx_IOF_push(&p, 1, NULL, gathers, 2, NULL, NULL), NOT_SUPPORTED);
    }
    fails(PMIx_IOF_pull(&p, 1, NULL, 0, PMIX_FWD_STDIN_CHANNEL, on_bytes, NULL, NULL),
          NOT_SUPPORTED);
    ck_assert_uint_eq(fake.n_ops[PX_OP_IOF_PUSH] + fake.n_ops[PX_OP_IOF_PULL], 0);
    /* PMIX_FWD_ALL_CHANNELS means all channels of output. */
    ck_assert_int_gt(
        PMIx_IOF_pull(&p, 1, NULL, 0, PMIX_FWD_ALL_CHANNELS, on_bytes, NULL, NULL), 0);
    ck_assert_uint_eq(fake.received.channels,
                      PMIX_FWD_ALL_CHANNELS & ~PMIX_FWD_STDIN_CHANNEL);
}

PX_TEST(operation_succeeded_of_a_host_is_a_success)
{
    pmix_proc_t p = rank(1);
    pmix_byte_object_t bo = {.bytes = (char *)"hello", .size = 5};
    pmix_status_t id;

    fake.answer = PMIX_OPERATION_SUCCEEDED;
    omits_id = true;
    start_streams();
    id = pull();
    ck_assert_int_gt(id, 0);
    ok(PMIx_IOF_push(&p, 1, &bo, NULL, 0, NULL, NULL));
    finished(PMIx_IOF_push(&p, 1, &bo, NULL, 0, on_op, &done), PMIX_SUCCESS);
    ok(deregister(id));
}

/* ---- our own stdin --------------------------------------------------------------- */

enum { INPUT_B = 64 * 1024 * 1024, INPUT_SHORT_B = 3 * 1024 * 1024 + 17 };

static size_t input_b, arrived_b, chunks, refuse_at;
static bool holds; /* sends no replies to chunks */
static uint32_t held_tag;
static size_t n_completed; /* targets of the last complete input */
static sem_t arrived;      /* posted for a chunk without success, and for the end */

static uint8_t byte_at(size_t i)
{
    return (uint8_t)(i * 2654435761u >> 24);
}

static bool take_input(int fd, struct fake_req *req)
{
    struct px_args a = {0};
    px_reader in = req->in;

    if (req->op != PX_OP_IOF_PUSH)
        return false;
    ok(px_unpack_args(&in, &a, px_request_iof_push.args));
    ck_assert_uint_le(a.bytes.size, 65536);
    if (px_info_flag(a.info.v, a.info.n, PMIX_IOF_COMPLETE)) {
        ck_assert_uint_eq(a.bytes.size, 0);
        n_completed = a.n_procs;
        fake_status(fd, held_tag, PMIX_SUCCESS);
        fake_status(fd, req->tag, PMIX_SUCCESS);
        px_args_cleanup(&a);
        return true;
    }
    held_tag = req->tag;
    ck_assert_uint_eq(a.info.n, 1);
    ck_assert(px_info_find(a.info.v, a.info.n, PMIX_IOF_DROP_OLDEST));
    for (size_t i = 0; i < a.bytes.size; i++)
        if ((uint8_t)a.bytes.bytes[i] != byte_at(arrived_b + i))
            ck_abort_msg("byte %zu", arrived_b + i);
    arrived_b += a.bytes.size;
    chunks++;
    if (chunks == refuse_at)
        fake_status(fd, req->tag, PMIX_ERR_NO_PERMISSIONS);
    else if (!holds)
        fake_status(fd, req->tag, PMIX_SUCCESS);
    if (holds || chunks == refuse_at || a.bytes.size == 0)
        sem_post(&arrived);
    px_args_cleanup(&a);
    return true;
}

static void *write_input(void *fd)
{
    static uint8_t block[100003];
    int to = *(int *)fd;

    for (size_t at = 0, n; at < input_b; at += n) {
        n = input_b - at < sizeof(block) ? input_b - at : sizeof(block);
        for (size_t i = 0; i < n; i++)
            block[i] = byte_at(at + i);
        if (px_fd_write_all(to, block, n, 0))
            break; /* the reader is gone */
    }
    close(to);
    return NULL;
}

static int input_to;

/* Replaces this process's stdin by a pipe, or by a file whose offset is behind other bytes,
 * with input_b bytes of input. host/input has other kinds of files. */
static void have_stdin(bool is_file, pthread_t *writer)
{
    int ends[2] = {-1, -1};

    if (is_file) {
        ends[0] = open(px_test_path("input"), O_RDWR | O_CREAT, 0600);
        ck_assert_int_eq(write(ends[0], "before", 6), 6);
        ends[1] = dup(ends[0]);
    } else {
        ok(pipe(ends));
    }
    input_to = ends[1];
    ck_assert_int_eq(dup2(ends[0], 0), 0);
    close(ends[0]);
    ok(pthread_create(writer, NULL, write_input, &input_to));
    if (is_file) {
        pthread_join(*writer, NULL);
        ck_assert_int_eq(lseek(0, 6, SEEK_SET), 6);
    }
}

static pmix_status_t push_stdin(pmix_op_cbfunc_t cb)
{
    pmix_proc_t p = rank(PMIX_RANK_WILDCARD);
    pmix_info_t how[] = {flag(PMIX_IOF_PUSH_STDIN), flag(PMIX_IOF_DROP_OLDEST)};

    return PMIx_IOF_push(&p, 1, NULL, how, 2, cb, &done);
}

static void start_input(bool is_file, pthread_t *writer)
{
    sem_init(&arrived, 0, 0);
    client_of_hook(take_input);
    have_stdin(is_file, writer);
}

PX_TEST_LOOP(our_own_stdin_is_pushed_to_its_end, 2)
{
    pthread_t writer;

    input_b = _i ? INPUT_SHORT_B : INPUT_B;
    start_input(_i, &writer);
    if (_i)
        ok(push_stdin(NULL));
    else
        finished(push_stdin(on_op), PMIX_SUCCESS);
    sem_wait(&arrived);
    ck_assert_uint_eq(arrived_b, input_b);
    if (!_i)
        pthread_join(writer, NULL);
    client_end();
}

/* Only one chunk is unacknowledged, and the rest stays unread until the client ends. */
PX_TEST(our_own_stdin_is_pushed_once_and_a_chunk_at_a_time)
{
    pthread_t writer;
    int left = 0;

    input_b = INPUT_SHORT_B;
    holds = true;
    start_input(false, &writer);
    ok(push_stdin(NULL));
    sem_wait(&arrived);
    fails(push_stdin(NULL), RESOURCE_BUSY);
    finished(push_stdin(on_op), PMIX_ERR_RESOURCE_BUSY);
    ck_assert_uint_eq(chunks, 1);
    while (left < 32768) /* the writer fills the pipe again */
        ck_assert_int_eq(ioctl(0, FIONREAD, &left), 0);
    ck_assert_uint_eq(chunks, 1);
    client_end();
    close(0);
    pthread_join(writer, NULL);
}

PX_TEST(our_own_stdin_ends_at_iof_complete)
{
    pmix_info_t complete = flag(PMIX_IOF_COMPLETE);
    pthread_t writer;

    input_b = INPUT_SHORT_B;
    holds = true;
    start_input(false, &writer);
    ok(push_stdin(NULL));
    sem_wait(&arrived);
    ok(PMIx_IOF_push(NULL, 0, NULL, &complete, 1, NULL, NULL));
    ck_assert_uint_eq(n_completed, 1); /* the target of the input */
    ck_assert_uint_eq(chunks, 1);
    holds = false;
    ok(push_stdin(NULL)); /* the rest */
    sem_wait(&arrived);
    ck_assert_uint_eq(arrived_b, input_b);
    pthread_join(writer, NULL);
}

PX_TEST(a_refusal_of_the_server_ends_the_push)
{
    pthread_t writer;

    input_b = INPUT_SHORT_B;
    refuse_at = 2;
    start_input(false, &writer);
    ok(push_stdin(NULL));
    sem_wait(&arrived);
    /* The next push begins at the end of the first. */
    while (push_stdin(NULL) == PMIX_ERR_RESOURCE_BUSY)
        ;
    sem_wait(&arrived);
    ck_assert_uint_eq(arrived_b, input_b);
    pthread_join(writer, NULL);
}

PX_TEST_MAIN("client/streams", NULL, client_end)
