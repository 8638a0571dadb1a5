/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoding of contributions. The bytes pass through a host, networks and pipes, and may
 * come from another version. Nothing is decoded before the checksum is verified. */
#include "core/server/fabric/blob.h"

#include "core/wire/walk.h"

#include <endian.h>
#include <string.h>

#define LAYOUT         3u
#define DEFLATE_FROM_B 4096u

static uint32_t sum_of(uint8_t deflated, const void *bytes, size_t n)
{
    return px_crc32(px_crc32(0, &deflated, sizeof(deflated)), bytes, n);
}

void px_blob_add(px_writer *body, const char *component, const char *version,
                 const px_infos *share)
{
    PX_AUTO(px_writer) inside;

    px_writer_init(&inside, body->codec);
    px_pack_infos(&inside, share->v, share->n);
    px_pack_str(body, component);
    px_pack_str(body, version ? version : "");
    px_pack_bytes(body, inside.buf.data, inside.buf.len);
    if (inside.status && !body->status)
        body->status = inside.status;
    if (body->buf.len > PX_BLOB_MAX_B && !body->status)
        body->status = PMIX_ERR_OUT_OF_RESOURCE;
}

pmix_status_t px_blob_seal(const px_writer *body, px_writer *blob)
{
    PX_AUTOFREE uint8_t *small = NULL;
    const uint8_t *bytes = body->buf.data;
    size_t n = body->buf.len, small_n;

    if (body->status)
        return body->status;
    if (n >= DEFLATE_FROM_B) {
        const uint32_t plain = htobe32((uint32_t)n);
        pmix_status_t rc = px_deflate(bytes, n, &small, &small_n);

        if (rc)
            return rc;
        memcpy(small, &plain, sizeof(plain)); /* in network order */
        if (small_n < n)
            bytes = small, n = small_n;
    }
    const uint8_t deflated = small && bytes == small;
    px_pack_u32(blob, LAYOUT);
    px_pack_u8(blob, deflated, PMIX_UINT8);
    px_pack_u32(blob, sum_of(deflated, bytes, n));
    px_pack_bytes(blob, bytes, n);
    return blob->status;
}

static pmix_status_t damaged(struct px_err *err)
{
    return px_err_set(err, PMIX_ERR_UNPACK_FAILURE, "the bytes are damaged");
}

pmix_status_t px_blob_open(const void *bytes, size_t n, px_reader *body,
                           uint8_t **plain, struct px_err *err)
{
    uint32_t layout, sum;
    uint8_t deflated;
    px_reader r;

    *plain = NULL;
    px_reader_init(&r, px_codec_default, bytes, bytes ? n : 0);
    if (px_unpack1(&r, &layout, PMIX_UINT32))
        return damaged(err);
    if (layout != LAYOUT)
        return px_err_set(err, PMIX_ERR_UNPACK_FAILURE,
                          "cannot read the bytes: got layout %u, expected %u", layout,
                          LAYOUT);
    if (px_unpack_u8(&r, &deflated, PMIX_UINT8) || px_unpack1(&r, &sum, PMIX_UINT32) ||
        px_unpack_view(&r, body, PMIX_BYTE_OBJECT) || !px_reader_done(&r) ||
        (size_t)(body->end - body->pos) > PX_BLOB_MAX_B ||
        sum_of(deflated, body->pos, (size_t)(body->end - body->pos)) != sum)
        return damaged(err);
    if (!deflated)
        return PMIX_SUCCESS;
    uint32_t length;
    const size_t left = (size_t)(body->end - body->pos);
    if (left < sizeof(length))
        return damaged(err);
    memcpy(&length, body->pos, sizeof(length));
    length = be32toh(length);
    pmix_status_t rc = px_inflate_to(body->pos + sizeof(length), left - sizeof(length),
                                     length, plain);
    if (rc)
        return rc == PMIX_ERR_NOMEM ? px_err_nomem(err, "inflate them") : damaged(err);
    px_reader_init(body, px_codec_default, *plain, length);
    return PMIX_SUCCESS;
}

pmix_status_t px_blob_next(px_reader *body, struct px_blob_share *share)
{
    *share = (struct px_blob_share){0};
    pmix_status_t rc = px_unpack_str(body, &share->component);

    if (!rc)
        rc = px_unpack_str(body, &share->version);
    if (!rc)
        rc = px_unpack_view(body, &share->infos, PMIX_BYTE_OBJECT);
    if (!rc && (!share->component || !share->version))
        rc = PMIX_ERR_UNPACK_FAILURE;
    if (rc)
        px_blob_share_fini(share);
    return rc;
}

void px_blob_share_fini(struct px_blob_share *share)
{
    free(share->component);
    free(share->version);
    *share = (struct px_blob_share){0};
}
