/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and replies by tag; forwarded output: its message, and its receivers of this process. */
#include "core/link/channel.h"

#include "alloc_fail.h"
#include "core/link/iof.h"
#include "core/wire/ops.h"
#include "px_test.h"

#include <string.h>

static uint32_t sent_tag;
static size_t n_sent;
static pmix_status_t send_status;
static int n_replies;
static pmix_status_t reply_status;
static pmix_status_t reply_content;

static pmix_status_t fake_send(void *ctx PX_UNUSED, uint32_t tag, px_buf *payload)
{
    px_buf_cleanup(payload);
    sent_tag = tag;
    n_sent++;
    return send_status;
}

static void on_reply(void *arg PX_UNUSED, pmix_status_t status, px_reader *r)
{
    n_replies++;
    reply_status = status;
    if (r)
        ok(px_unpack_status(r, &reply_content));
}

static struct px_channel channel(void)
{
    return (struct px_channel){.send = fake_send, .codec = px_codec_default};
}

static pmix_status_t request(struct px_channel *up)
{
    px_writer w;

    px_channel_begin(up, &w, PX_OP_COMMIT);
    return px_channel_request(up, &w, on_reply, NULL);
}

static pmix_status_t answer(struct px_channel *up, uint32_t tag, pmix_status_t status)
{
    PX_AUTO(px_writer) w;

    px_writer_init(&w, px_codec_default);
    px_pack_status(&w, status);
    return px_channel_reply(up, tag, w.buf.data, w.buf.len);
}

PX_TEST(tags_begin_at_101_wrap_into_the_dynamic_range_and_skip_those_in_use)
{
    struct px_channel up = channel();

    ok(request(&up));
    ck_assert_uint_eq(sent_tag, 101);
    up.last_tag = UINT32_MAX;
    ok(request(&up));
    ck_assert_uint_eq(sent_tag, 102);
    px_channel_fail(&up, PMIX_ERR_UNREACH);
}

PX_TEST(a_reply_reaches_its_request_once)
{
    struct px_channel up = channel();

    ok(request(&up));
    ok(answer(&up, sent_tag, PMIX_ERR_NOT_FOUND));
    ck_assert_int_eq(answer(&up, sent_tag, PMIX_SUCCESS), PMIX_ERR_NOT_FOUND);

    ck_assert_int_eq(n_replies, 1);
    ok(reply_status);
    ck_assert_int_eq(reply_content, PMIX_ERR_NOT_FOUND);
    px_map_fini(&up.pending);
}

PX_TEST(losing_the_server_fails_what_is_pending_and_what_comes)
{
    struct px_channel up = channel();

    ok(request(&up));
    ok(request(&up));
    px_channel_fail(&up, PMIX_ERR_LOST_CONNECTION);

    ck_assert_int_eq(n_replies, 2);
    ck_assert_int_eq(reply_status, PMIX_ERR_LOST_CONNECTION);
    ck_assert_int_eq(request(&up), PMIX_ERR_UNREACH);
}

PX_TEST(a_request_that_can_not_be_sent_leaves_nothing_pending)
{
    struct px_channel up = channel();
    px_writer w;
    int nothing = 0;

    px_channel_begin(&up, &w, PX_OP_GET);
    px_pack(&w, &nothing, 1, 9999); /* nor can it be packed */
    ck_assert_int_eq(px_channel_request(&up, &w, on_reply, NULL),
                     PMIX_ERR_UNKNOWN_DATA_TYPE);
    ck_assert_uint_eq(n_sent, 0);
    send_status = PMIX_ERR_LOST_CONNECTION;
    ck_assert_int_eq(request(&up), PMIX_ERR_LOST_CONNECTION);
    px_channel_fail(&up, PMIX_ERR_UNREACH);
    ck_assert_int_eq(n_replies, 0);
}

PX_TEST(a_signal_is_sent_as_it_is_and_waits_for_nobody)
{
    struct px_channel up = channel();

    ok(px_channel_signal(&up, PX_TAG_HEARTBEAT));
    ck_assert_uint_eq(sent_tag, PX_TAG_HEARTBEAT);
    ck_assert_uint_eq(n_sent, 1);
    px_channel_fail(&up, PMIX_ERR_LOST_CONNECTION);
    ck_assert_int_eq(n_replies, 0);
    ck_assert_int_eq(px_channel_signal(&up, PX_TAG_HEARTBEAT), PMIX_ERR_UNREACH);
    ck_assert_uint_eq(n_sent, 1);
}

/* ---- forwarded output ------------------------------------------------------------ */

#define JOB "job"

static struct px_iofs iofs;

static void setup(void)
{
    px_iofs_init(&iofs);
}

static void teardown(void)
{
    px_iofs_fini(&iofs);
}

static size_t got_id, got_n, n_calls, got_infos;
static pmix_iof_channel_t got_channel;
static pmix_proc_t got_source;
static char got_bytes[64];
static unsigned n_room;

static void take(struct px_iof *iof, struct px_args *piece)
{
    n_calls++;
    got_id = iof->id;
    got_channel = piece->channels;
    got_source = *piece->procs;
    got_n = piece->bytes.size;
    got_infos = piece->info.n;
    ck_assert_uint_le(piece->bytes.size, sizeof got_bytes);
    if (piece->bytes.size)
        memcpy(got_bytes, piece->bytes.bytes, piece->bytes.size);
}

static void ignore(struct px_iof *iof PX_UNUSED)
{
}

static void destroy(struct px_iof *iof)
{
    free(iof);
}

static struct px_iof *make(void)
{
    static const struct px_iof_ops ops = {
        .take = take, .flush = ignore, .end = ignore, .destroy = destroy};
    struct px_iof *iof = calloc(1, sizeof *iof);

    iof->ops = &ops;
    iof->limit_b = 10;
    return iof;
}

static struct px_iof *add(void)
{
    struct px_iof *iof = make();

    px_iof_add(&iofs, iof);
    return iof;
}

static void on_room(struct px_iofs *of)
{
    ck_assert_ptr_eq(of, &iofs);
    n_room++;
}

static px_buf message(struct px_codec c, size_t id, const void *bytes, size_t n)
{
    pmix_proc_t source;
    pmix_info_t info = {.key = PMIX_IOF_COMPLETE, .value = {.type = PMIX_BOOL}};
    const struct px_args piece = {
        .procs = &source,
        .channels = PMIX_FWD_STDERR_CHANNEL,
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
    return px_iof_receive(&iofs, &r);
}

PX_TEST(bytes_reach_the_one_who_asked_for_them_in_every_dialect)
{
    static const char *const dialects[] = {"v3", "v41", "v61"};
    struct px_iof *first = add(), *second = add();

    ck_assert_uint_ne(first->id, second->id);
    for (size_t i = 0; i < PX_COUNT(dialects); i++) {
        struct px_codec c = {.dialect = px_dialect_find(dialects[i])};
        PX_AUTO(px_buf) b = message(c, second->id, "hello", 5);

        n_calls = 0;
        ok(receive(c, b.data, b.len));
        ck_assert_uint_eq(n_calls, 1);
        ck_assert_uint_eq(got_id, second->id);
        ck_assert_uint_eq(got_channel, PMIX_FWD_STDERR_CHANNEL);
        ck_assert_str_eq(got_source.nspace, JOB);
        ck_assert_uint_eq(got_source.rank, 3);
        ck_assert_uint_eq(got_infos, 1);
        ck_assert_uint_eq(got_n, 5);
        ck_assert_mem_eq(got_bytes, "hello", 5);
        PX_AUTO(px_buf) end = message(c, second->id, NULL, 0); /* of the stream */
        ok(receive(c, end.data, end.len));
        ck_assert_uint_eq(got_n, 0);
    }
}

PX_TEST(one_who_has_gone_gets_nothing_and_his_number_is_not_used_again)
{
    PX_AUTO(px_buf) b = {0};
    struct px_iof *iof = add();
    size_t id = iof->id;

    b = message(px_codec_default, id, "x", 1);
    ck_assert_ptr_eq(px_iof_find(&iofs, id), iof);
    px_iof_end(iof);
    ck_assert_ptr_null(px_iof_find(&iofs, id));
    ck_assert_uint_ne(add()->id, id);
    iofs.make_unasked = make;
    ck_assert_int_eq(receive(px_codec_default, b.data, b.len), PMIX_ERR_NOT_FOUND);
    ck_assert_uint_eq(n_calls, 0);
}

/* Servers number output of spawned processes as they please. */
PX_TEST(output_that_no_pull_asked_for_has_one_receiver)
{
    static const size_t ids[] = {0, 7, SIZE_MAX};

    add();
    for (size_t i = 0; i < PX_COUNT(ids); i++) {
        PX_AUTO(px_buf) b = message(px_codec_default, ids[i], "x", 1);

        iofs.make_unasked = NULL;
        if (i == 0)
            ck_assert_int_eq(receive(px_codec_default, b.data, b.len),
                             PMIX_ERR_NOT_FOUND);
        iofs.make_unasked = make;
        ok(receive(px_codec_default, b.data, b.len));
        ck_assert_uint_eq(got_id, PX_IOF_UNASKED);
        ck_assert_uint_eq(n_calls, i + 1);
    }
}

PX_TEST(a_receiver_without_room_stops_its_server_and_no_other)
{
    struct px_iof *iof = add();
    pmix_proc_t other;

    px_proc_set(&iof->server, "server", 0);
    px_proc_set(&other, "server", 1);
    iofs.client_goes_on = on_room;
    px_iof_hold(iof, 10);
    ck_assert(!px_iofs_full(&iofs, &iof->server));
    px_iof_hold(iof, 2);
    ck_assert(px_iofs_full(&iofs, &iof->server));
    ck_assert(!px_iofs_full(&iofs, &other));
    px_iof_hold(iof, -1);
    ck_assert_uint_eq(n_room, 0);
    px_iof_hold(iof, -1);
    ck_assert_uint_eq(n_room, 1);
    ck_assert(!px_iofs_full(&iofs, &iof->server));
    px_iof_hold(iof, 1);
    px_iof_end(iof); /* and what comes for it is thrown away */
    ck_assert_uint_eq(n_room, 2);
    ck_assert(!px_iofs_full(&iofs, &iof->server));
}

PX_TEST(a_damaged_message_reaches_nobody)
{
    PX_AUTO(px_buf) b = message(px_codec_default, add()->id, "hello", 5);

    for (size_t n = 0; n < b.len; n++)
        ck_assert_int_lt(receive(px_codec_default, b.data, n), 0);
    ck_assert_uint_eq(n_calls, 0);
}

PX_TEST_MAIN("link/channel", setup, teardown)
