/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/frame.h"
#include "px_test.h"

#include <string.h>

PX_TEST(the_header_is_big_endian)
{
    uint8_t out[PX_FRAME_HEADER_B];
    struct px_frame f = {.pindex = 1, .tag = 101, .nbytes = 0x010203};

    memset(out, 0xff, sizeof(out));
    px_frame_encode(out, &f);

    ck_assert_mem_eq(out, "\0\0\0\1\0\0\0\x65\0\1\2\3\0\0\0\0", sizeof(out));
}

PX_TEST(a_header_reads_back)
{
    uint8_t out[PX_FRAME_HEADER_B];
    struct px_frame back,
        f = {.pindex = -1, .tag = UINT32_MAX, .nbytes = PX_MAX_FRAME_B};

    px_frame_encode(out, &f);

    ok(px_frame_decode(out, &back));
    ck_assert_int_eq(back.pindex, -1);
    ck_assert_uint_eq(back.tag, UINT32_MAX);
    ck_assert_uint_eq(back.nbytes, PX_MAX_FRAME_B);
}

PX_TEST(padding_is_ignored)
{
    struct px_frame f;

    ok(px_frame_decode((const uint8_t *)"\0\0\0\0\0\0\0\1\0\0\0\0garb", &f));
    ck_assert_uint_eq(f.tag, PX_TAG_HEARTBEAT);
    ck_assert_uint_eq(f.nbytes, 0);
}

PX_TEST(a_payload_beyond_the_limit_is_refused)
{
    uint8_t out[PX_FRAME_HEADER_B];
    struct px_frame back, f = {.nbytes = PX_MAX_FRAME_B + 1};

    px_frame_encode(out, &f);
    fails(px_frame_decode(out, &back), BAD_PARAM);
    memset(out, 0xff, sizeof(out));
    fails(px_frame_decode(out, &back), BAD_PARAM);
}

PX_TEST_MAIN("wire/frame", NULL, NULL)
