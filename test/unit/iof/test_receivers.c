/* SPDX-License-Identifier: BSD-3-Clause */
/* Receivers of forwarded output: messages, the choice of the receiver, and stopping and
 * resuming of producers. */
#include "core/link/client_state.h"
#include "core/iof/receivers/receivers.h"

#include <string.h>
#include <unistd.h>

#include "core/role/role.h"
#include "px_test.h"

#define JOB "job"
#define OUT PMIX_FWD_STDOUT_CHANNEL
#define ERR PMIX_FWD_STDERR_CHANNEL

static int out; /* read end of this process's stdout */

static void setup(void)
{
    struct px_err err = {0};
    int ends[2];

    ok(pipe(ends));
    ck_assert_int_eq(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
    close(ends[1]);
    out = ends[0];
    px_process_lock();
    ck_assert_msg(px_role_begin(PX_ROLE_TOOL, NULL, 0, &err) == PMIX_SUCCESS, "%s",
                  err.text);
    ok(px_loop_need_thread(px_process.loop));
    px_loop_let_guests(px_process.loop, false); /* guests would defer function calls */
    px_process_unlock();
}

static void teardown(void)
{
    px_process_lock();
    px_role_end(PX_ROLE_TOOL);
    px_process_unlock();
}

static void run_act(struct px_call *call, void *act)
{
    (*(void (**)(void))act)();
    px_call_done(call, PMIX_SUCCESS);
}

/* Runs the body of a test and all messages of its receivers on the loop. */
static void on_loop(void (*act)(void))
{
    ok(px_call(px_process.loop, run_act, &act));
}

static size_t got_id, got_n, n_calls, got_infos;
static pmix_iof_channel_t got_channel;
static pmix_proc_t got_source;
static char got_bytes[64];

static void on_piece(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
                     pmix_byte_object_t *payload, pmix_info_t info[] PX_UNUSED,
                     size_t n_info)
{
    n_calls++;
    got_id = id;
    got_channel = channel;
    got_source = *source;
    got_n = payload->size;
    got_infos = n_info;
    ck_assert_uint_le(payload->size, sizeof(got_bytes));
    if (payload->size)
        memcpy(got_bytes, payload->bytes, payload->size);
}

static struct px_iof_receiver *add(void)
{
    struct px_iof_receiver *r = NULL;
    px_infos rest = {0};

    ok(px_iof_receiver_create(on_piece, NULL, 0, &rest, &r, NULL));
    r->limit_b = 10;
    ok(px_iof_receiver_start(r));
    px_iof_receivers_add(px_process.client->receivers, r);
    return r;
}

static px_buf message(struct px_codec c, pmix_iof_channel_t channel, size_t id,
                      const void *bytes, size_t n)
{
    pmix_proc_t source;
    pmix_info_t info = {.key = PMIX_IOF_COMPLETE, .value = {.type = PMIX_BOOL}};
    const struct px_args piece = {
        .procs = &source,
        .channels = channel,
        .id = id,
        .info = {.v = &info, .n = 1},
        .bytes = {.bytes = (char *)(uintptr_t)bytes, .size = n}};
    px_writer w;

    px_proc_set(&source, JOB, 3);
    px_writer_init(&w, c);
    px_pack_args(&w, &piece, px_request_piece.args);
    ok(w.status);
    return px_buf_take(&w.buf);
}

static pmix_status_t receive(struct px_codec c, const void *bytes, size_t n)
{
    px_reader r;

    px_reader_init(&r, c, bytes, n);
    return px_iof_receive(px_process.client->receivers, &r);
}

static void receive_in_every_dialect(void)
{
    static const char *const dialects[] = {"v3", "v41", "v61"};
    struct px_iof_receiver *first = add(), *second = add();

    ck_assert_uint_ne(first->id, second->id);
    for (size_t i = 0; i < PX_COUNT(dialects); i++) {
        struct px_codec c = {.dialect = px_dialect_find(dialects[i])};
        PX_AUTO(px_buf) b = message(c, ERR, second->id, "hello", 5);

        n_calls = 0;
        ok(receive(c, b.data, b.len));
        ck_assert_uint_eq(n_calls, 1);
        ck_assert_uint_eq(got_id, second->id);
        ck_assert_uint_eq(got_channel, ERR);
        ck_assert_str_eq(got_source.nspace, JOB);
        ck_assert_uint_eq(got_source.rank, 3);
        ck_assert_uint_eq(got_infos, 1);
        ck_assert_uint_eq(got_n, 5);
        ck_assert_mem_eq(got_bytes, "hello", 5);
        PX_AUTO(px_buf) end = message(c, ERR, second->id, NULL,
                                      0); /* id of the stream */
        ok(receive(c, end.data, end.len));
        ck_assert_uint_eq(got_n, 0);
    }
}

PX_TEST(bytes_reach_the_one_who_asked_for_them_in_every_dialect)
{
    on_loop(receive_in_every_dialect);
}

static void receive_after_the_end(void)
{
    PX_AUTO(px_buf) b = {0};
    struct px_iof_receiver *r = add();
    size_t id = r->id;

    b = message(px_codec_default, ERR, id, "x", 1);
    ck_assert_ptr_eq(px_iof_receivers_find(px_process.client->receivers, id), r);
    px_iof_receiver_end(r);
    ck_assert_ptr_null(px_iof_receivers_find(px_process.client->receivers, id));
    ck_assert_uint_ne(add()->id, id);
    px_process.client->receivers->shows_unasked = true;
    ck_assert_int_eq(receive(px_codec_default, b.data, b.len), PMIX_ERR_NOT_FOUND);
    ck_assert_uint_eq(n_calls, 0);
}

PX_TEST(one_who_has_gone_gets_nothing_and_his_number_is_not_used_again)
{
    on_loop(receive_after_the_end);
}

static void receive_unasked(void)
{
    static const size_t ids[] = {0, 7, SIZE_MAX};
    const struct px_iof_receiver *unasked = NULL;
    char text[4] = "";

    add();
    for (size_t i = 0; i < PX_COUNT(ids); i++) {
        PX_AUTO(px_buf) b = message(px_codec_default, OUT, ids[i], "x\n", 2);

        px_process.client->receivers->shows_unasked = false;
        if (i == 0)
            ck_assert_int_eq(receive(px_codec_default, b.data, b.len),
                             PMIX_ERR_NOT_FOUND);
        px_process.client->receivers->shows_unasked = true;
        ok(receive(px_codec_default, b.data, b.len));
        ck_assert_int_eq(read(out, text, sizeof(text)), 2);
        ck_assert_str_eq(text, "x\n");
        if (i == 0)
            unasked = px_iof_receivers_find(px_process.client->receivers,
                                            PX_IOF_UNASKED);
        ck_assert_ptr_nonnull(unasked);
        ck_assert_ptr_eq(
            px_iof_receivers_find(px_process.client->receivers, PX_IOF_UNASKED),
            unasked);
    }
    ck_assert_uint_eq(n_calls, 0);
}

/* Servers number the output of spawned processes in their own way. */
PX_TEST(output_that_no_pull_asked_for_has_one_receiver)
{
    on_loop(receive_unasked);
}

static void on_room(void *n)
{
    ++*(unsigned *)n;
}

static void fill_and_drain(void)
{
    unsigned n_resumed[2] = {0};
    struct px_iof_producer producers[2];
    struct px_iof_receiver *r = add();

    for (pmix_rank_t i = 0; i < 2; i++) {
        producers[i] = (struct px_iof_producer){.resume = on_room,
                                                .arg = &n_resumed[i]};
        px_proc_set(&producers[i].server, "server", i);
        px_iof_producer_attach(&producers[i], px_process.client->receivers);
    }
    r->server = producers[0].server;
    px_iof_receiver_hold(r, 10);
    ck_assert(!px_iof_producer_is_stopped(&producers[0]));
    px_iof_receiver_hold(r, 2);
    ck_assert(px_iof_producer_is_stopped(&producers[0]));
    ck_assert(!px_iof_producer_is_stopped(&producers[1]));
    px_iof_receiver_hold(r, -1);
    ck_assert_uint_eq(n_resumed[0], 0);
    px_iof_receiver_hold(r, -1);
    ck_assert_uint_eq(n_resumed[0], 1);
    ck_assert(!px_iof_producer_is_stopped(&producers[0]));
    px_iof_receiver_hold(r, 1);
    px_iof_receiver_end(r); /* discards later output */
    ck_assert_uint_eq(n_resumed[0], 2);
    ck_assert(!px_iof_producer_is_stopped(&producers[0]));
    px_iof_producer_detach(&producers[0]);
    px_iof_receivers_resume(px_process.client->receivers);
    ck_assert_uint_eq(n_resumed[0], 2);
    px_iof_producer_detach(&producers[1]);
}

PX_TEST(a_receiver_without_room_stops_its_server_and_no_other)
{
    on_loop(fill_and_drain);
}

static void receive_damaged(void)
{
    PX_AUTO(px_buf) b = message(px_codec_default, ERR, add()->id, "hello", 5);

    for (size_t n = 0; n < b.len; n++)
        ck_assert_int_lt(receive(px_codec_default, b.data, n), 0);
    ck_assert_uint_eq(n_calls, 0);
}

PX_TEST(a_damaged_message_reaches_no_receiver)
{
    on_loop(receive_damaged);
}

PX_TEST_MAIN("iof/receivers", setup, teardown)
