/* SPDX-License-Identifier: BSD-3-Clause */
/* Compressed data: the plain length as u32 in host order, then a zlib stream. The
 * length is untrusted. It is checked against the maximum of the stream's size before
 * memory is allocated, and inflating stops at the length. */
#include "core/wire/walk.h"

#include <zlib.h>

#define HEAD_B       sizeof(uint32_t)
#define ZLIB_RATIO   1032u /* deflate's maximum ratio */
#define ZLIB_SLACK_B 64u

uint32_t px_crc32(uint32_t before, const void *bytes, size_t n)
{
    return (uint32_t)crc32_z(before, bytes, n);
}

pmix_status_t px_deflate(const void *bytes, size_t n, uint8_t **out, size_t *out_n)
{
    uLongf len;
    uint32_t plain = (uint32_t)n;
    PX_AUTOFREE uint8_t *to = NULL;

    if (n > PX_MAX_INFLATED_B)
        return PMIX_ERR_BAD_PARAM;
    len = compressBound((uLong)n);
    to = malloc(HEAD_B + len);
    if (!to ||
        compress2(to + HEAD_B, &len, bytes, (uLong)n, Z_DEFAULT_COMPRESSION) != Z_OK)
        return PMIX_ERR_NOMEM;
    memcpy(to, &plain, HEAD_B);
    *out_n = HEAD_B + len;
    *out = px_take(&to);
    return PMIX_SUCCESS;
}

/* Inflates exactly n bytes into `to`. Bytes after the stream are ignored, because some
 * senders pad it. */
static bool inflate_into(uint8_t *to, size_t n, const uint8_t *from, size_t from_n)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)from,
                  .avail_in = (uInt)from_n,
                  .next_out = to,
                  .avail_out = (uInt)n};
    int rc;

    if (inflateInit(&z) != Z_OK)
        return false;
    rc = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    return rc == Z_STREAM_END && z.avail_out == 0;
}

pmix_status_t px_inflate_to(const void *stream, size_t n, uint32_t plain, uint8_t **out)
{
    PX_AUTOFREE uint8_t *to = NULL;

    if (n > UINT32_MAX || plain > PX_MAX_INFLATED_B ||
        plain / ZLIB_RATIO > n + ZLIB_SLACK_B)
        return PMIX_ERR_UNPACK_FAILURE;
    to = malloc((size_t)plain + 1);
    if (!to)
        return PMIX_ERR_NOMEM;
    if (!inflate_into(to, plain, stream, n))
        return PMIX_ERR_UNPACK_FAILURE;
    to[plain] = '\0';
    *out = px_take(&to);
    return PMIX_SUCCESS;
}

pmix_status_t px_inflate(const void *bytes, size_t n, uint8_t **out, size_t *out_n)
{
    uint32_t plain;

    if (!bytes || n < HEAD_B)
        return PMIX_ERR_UNPACK_FAILURE;
    memcpy(&plain, bytes, HEAD_B);
    pmix_status_t rc = px_inflate_to((const uint8_t *)bytes + HEAD_B, n - HEAD_B, plain,
                                     out);
    if (!rc)
        *out_n = plain;
    return rc;
}

pmix_status_t px_inflate_value(const pmix_value_t *v, pmix_value_t *out)
{
    uint8_t *plain;
    size_t n;
    pmix_status_t rc = px_inflate(v->data.bo.bytes, v->data.bo.size, &plain, &n);

    if (rc)
        return rc;
    memset(out, 0, sizeof(*out));
    if (v->type == PMIX_COMPRESSED_STRING) {
        out->type = PMIX_STRING;
        out->data.string = (char *)plain;
    } else {
        out->type = PMIX_BYTE_OBJECT;
        out->data.bo.bytes = (char *)plain;
        out->data.bo.size = n;
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_value_inflate(pmix_value_t *v)
{
    pmix_value_t plain;
    pmix_status_t rc;

    if (!px_value_is_compressed(v))
        return PMIX_SUCCESS;
    rc = px_inflate_value(v, &plain);
    if (rc)
        return rc;
    px_type_destruct(PMIX_VALUE, v);
    *v = plain;
    return PMIX_SUCCESS;
}
