/* SPDX-License-Identifier: BSD-3-Clause */
/* Tags of requests. The tests of clients and servers cover replies. */
#include "core/link/channel.h"

#include "core/wire/ops.h"
#include "px_test.h"

static uint32_t sent_tag;
static size_t n_sent;
static pmix_status_t send_status;
static int n_replies;

static pmix_status_t fake_send(void *ctx PX_UNUSED, uint32_t tag, px_buf *payload)
{
    px_buf_cleanup(payload);
    sent_tag = tag;
    n_sent++;
    return send_status;
}

static void on_reply(void *arg PX_UNUSED, pmix_status_t status PX_UNUSED,
                     px_reader *r PX_UNUSED)
{
    n_replies++;
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

PX_TEST(a_request_that_can_not_be_sent_leaves_nothing_pending)
{
    struct px_channel up = channel();
    px_writer w;
    int nothing = 0;

    px_channel_begin(&up, &w, PX_OP_GET);
    px_pack(&w, &nothing, 1, 9999); /* packing fails, too */
    fails(px_channel_request(&up, &w, on_reply, NULL), UNKNOWN_DATA_TYPE);
    ck_assert_uint_eq(n_sent, 0);
    send_status = PMIX_ERR_LOST_CONNECTION;
    fails(request(&up), LOST_CONNECTION);
    px_channel_fail(&up, PMIX_ERR_UNREACH);
    ck_assert_int_eq(n_replies, 0);
}

PX_TEST_MAIN("link/channel", NULL, NULL)
