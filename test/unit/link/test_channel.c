/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and replies by tag. */
#include "core/link/channel.h"

#include "core/wire/ops.h"
#include "px_test.h"

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
    px_pack(&w, &nothing, 1, 9999); /* packing fails, too */
    ck_assert_int_eq(px_channel_request(&up, &w, on_reply, NULL),
                     PMIX_ERR_UNKNOWN_DATA_TYPE);
    ck_assert_uint_eq(n_sent, 0);
    send_status = PMIX_ERR_LOST_CONNECTION;
    ck_assert_int_eq(request(&up), PMIX_ERR_LOST_CONNECTION);
    px_channel_fail(&up, PMIX_ERR_UNREACH);
    ck_assert_int_eq(n_replies, 0);
}

PX_TEST(a_signal_is_sent_as_it_is_and_waits_for_no_reply)
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

PX_TEST_MAIN("link/channel", NULL, NULL)
