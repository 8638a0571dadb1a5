/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading pack operations: a count, tags in described buffers, then the values. An operation that
 * fails leaves the reader where it stood. */
#include "core/wire/walk.h"

void px_reader_init(px_reader *r, struct px_codec codec, const void *bytes, size_t n)
{
    static const uint8_t nothing[1];

    r->codec = codec;
    r->pos = bytes ? bytes : nothing;
    r->end = r->pos + (bytes ? n : 0);
    r->depth = 0;
    r->budget = PX_MAX_DECODED_B;
    r->trusted = false;
}

bool px_reader_done(const px_reader *r)
{
    return r->pos == r->end;
}

static pmix_status_t get_tag(px_reader *r, pmix_data_type_t expected)
{
    pmix_data_type_t tag;
    pmix_status_t rc = r->codec.described ? px_get_type(r, &tag) : PMIX_SUCCESS;

    return rc || !r->codec.described || tag == expected ? rc : PMIX_ERR_PACK_MISMATCH;
}

static pmix_status_t get_count(px_reader *r, int32_t *n)
{
    pmix_status_t rc = get_tag(r, PMIX_INT32);

    if (!rc)
        rc = px_get_i32(r, n);
    return !rc && *n < 0 ? PMIX_ERR_UNPACK_FAILURE : rc;
}

pmix_status_t px_get_op_type(const px_reader *r, pmix_data_type_t id,
                             const struct px_type **t)
{
    pmix_status_t rc = px_get_known(r, id, t);

    return !rc && (*t)->store == PX_NONE ? PMIX_ERR_UNKNOWN_DATA_TYPE : rc;
}

pmix_status_t px_get_head(px_reader *r, int32_t *n, pmix_data_type_t type)
{
    pmix_status_t rc = get_count(r, n);

    return rc ? rc : get_tag(r, type);
}

pmix_status_t px_get_head1(px_reader *r, pmix_data_type_t type)
{
    int32_t n;
    pmix_status_t rc = px_get_head(r, &n, type);

    if (rc)
        return rc;
    return n > 1    ? PMIX_ERR_UNPACK_INADEQUATE_SPACE
           : n == 1 ? PMIX_SUCCESS
                    : PMIX_ERR_UNPACK_FAILURE;
}

static pmix_status_t unpack_some(px_reader *r, void *dst, int32_t *n,
                                 pmix_data_type_t type)
{
    const struct px_type *t;
    int32_t found;
    pmix_status_t rc = px_get_op_type(r, type, &t);

    if (!rc)
        rc = px_get_head(r, &found, type);
    if (rc)
        return rc;
    if (found > *n)
        return PMIX_ERR_UNPACK_INADEQUATE_SPACE;
    if (!px_get_plausible(r, (size_t)found, t))
        return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    rc = px_get_elements(r, dst, (size_t)found, t);
    if (!rc)
        *n = found;
    return rc;
}

pmix_status_t px_unpack(px_reader *r, void *dst, int32_t *n, pmix_data_type_t type)
{
    const uint8_t *start = r->pos;
    pmix_status_t rc = unpack_some(r, dst, n, type);

    if (rc)
        r->pos = start;
    return rc;
}

pmix_status_t px_unpack1(px_reader *r, void *dst, pmix_data_type_t type)
{
    const uint8_t *start = r->pos;
    int32_t n = 1;
    pmix_status_t rc = px_unpack(r, dst, &n, type);

    if (!rc && n == 0) {
        r->pos = start;
        rc = PMIX_ERR_UNPACK_FAILURE;
    }
    return rc;
}

pmix_status_t px_unpack_bare(px_reader *r, void *dst, pmix_data_type_t type)
{
    const uint8_t *start = r->pos;
    const struct px_type *t;
    pmix_status_t rc = px_get_known(r, type, &t);

    if (!rc)
        rc = px_get_object(r, dst, t);
    if (rc)
        r->pos = start;
    return rc;
}

pmix_status_t px_unpack_array(px_reader *r, void **dst, size_t n, pmix_data_type_t type)
{
    const uint8_t *start = r->pos;
    const struct px_type *t;
    int32_t found;
    pmix_status_t rc = px_get_op_type(r, type, &t);

    if (!rc && n) {
        rc = px_get_head(r, &found, type);
        if (!rc && (size_t)found != n)
            rc = (size_t)found > n ? PMIX_ERR_UNPACK_INADEQUATE_SPACE
                                   : PMIX_ERR_UNPACK_FAILURE;
    }
    if (!rc)
        rc = px_get_array(r, dst, n, t);
    if (rc) {
        *dst = NULL;
        r->pos = start;
    }
    return rc;
}
