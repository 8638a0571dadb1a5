/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame header: i32 index, u32 tag, u32 length, u32 of padding that readers ignore. */
#include "core/wire/frame.h"

static void put_u32(uint8_t *to, uint32_t v)
{
    to[0] = (uint8_t)(v >> 24);
    to[1] = (uint8_t)(v >> 16);
    to[2] = (uint8_t)(v >> 8);
    to[3] = (uint8_t)v;
}

static uint32_t get_u32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

void px_frame_encode(uint8_t out[PX_FRAME_HEADER_B], const struct px_frame *f)
{
    put_u32(out, (uint32_t)f->pindex);
    put_u32(out + 4, f->tag);
    put_u32(out + 8, f->nbytes);
    put_u32(out + 12, 0);
}

pmix_status_t px_frame_decode(const uint8_t in[PX_FRAME_HEADER_B], struct px_frame *f)
{
    uint32_t nbytes = get_u32(in + 8);

    if (nbytes > PX_MAX_FRAME_B)
        return PMIX_ERR_BAD_PARAM;
    f->pindex = (int32_t)get_u32(in);
    f->tag = get_u32(in + 4);
    f->nbytes = nbytes;
    return PMIX_SUCCESS;
}
