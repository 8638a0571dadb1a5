/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what has no parts: strings, bytes, times, truth values. Numbers are in number.c, the text and
 * bytes inside of others in text.c. */
#include "core/wire/walk.h"

pmix_status_t px_get_string(px_reader *r, char **s)
{
    const char *text;
    size_t len;
    pmix_status_t rc = px_get_text(r, &text, &len);

    *s = NULL;
    if (!rc && text)
        rc = px_dup_bytes((const uint8_t *)text, len + 1, s);
    return rc;
}

/* Into a char array, which the caller has zeroed. */
static pmix_status_t get_chars(px_reader *r, char *dst, size_t capacity)
{
    const char *text;
    size_t len;
    pmix_status_t rc = px_get_text(r, &text, &len);

    if (rc || !text)
        return rc;
    if (len >= capacity)
        return PMIX_ERR_UNPACK_FAILURE;
    memcpy(dst, text, len);
    return PMIX_SUCCESS;
}

pmix_status_t px_get_view(px_reader *r, const uint8_t **bytes, size_t *n)
{
    pmix_status_t rc = px_get_size(r, n);

    if (rc)
        return rc;
    *bytes = px_get_raw(r, *n);
    return *bytes ? PMIX_SUCCESS : PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
}

static pmix_status_t get_blob(px_reader *r, char **bytes, size_t *size)
{
    const uint8_t *view;
    size_t n;
    pmix_status_t rc = px_get_view(r, &view, &n);

    if (!rc)
        rc = px_dup_bytes(view, n, bytes);
    if (!rc)
        *size = n;
    return rc;
}

static pmix_status_t get_dbuf(px_reader *r, pmix_data_buffer_t *b)
{
    pmix_status_t rc = get_blob(r, &b->base_ptr, &b->bytes_used);

    if (rc || !b->base_ptr)
        return rc;
    b->unpack_ptr = b->base_ptr;
    b->pack_ptr = b->base_ptr + b->bytes_used;
    b->bytes_allocated = b->bytes_used;
    return PMIX_SUCCESS;
}

static pmix_status_t get_timeval(px_reader *r, struct timeval *tv)
{
    int64_t part[2];
    pmix_status_t rc = px_get_number(r, PX_INT64, &part[0]);

    if (!rc)
        rc = px_get_number(r, PX_INT64, &part[1]);
    if (rc)
        return rc;
    tv->tv_sec = (time_t)part[0];
    tv->tv_usec = (suseconds_t)part[1];
    return tv->tv_sec == part[0] && tv->tv_usec == part[1] ? PMIX_SUCCESS
                                                           : PMIX_ERR_UNPACK_FAILURE;
}

static pmix_status_t get_bool(px_reader *r, bool *dst)
{
    uint8_t byte;
    pmix_status_t rc = px_get_byte(r, &byte);

    if (!rc)
        *dst = byte != 0;
    return rc;
}

/* The sender's addresses are of no use: one byte travels for them all, and they are NULL here. */
static pmix_status_t get_pointers(px_reader *r)
{
    uint8_t byte;

    return px_get_byte(r, &byte);
}

pmix_status_t px_get_leaf(px_reader *r, void *dst, enum px_store store)
{
    pmix_byte_object_t *bo = dst;

    switch (store) {
    case PX_NONE:
        return PMIX_SUCCESS;
    case PX_BOOL:
        return get_bool(r, dst);
    case PX_BYTE1:
        return px_get_byte(r, dst);
    case PX_TIMEVAL:
        return get_timeval(r, dst);
    case PX_FLOAT:
    case PX_DOUBLE:
        return px_get_real(r, store, dst);
    case PX_STRING:
        return px_get_string(r, dst);
    case PX_POINTER:
        return get_pointers(r);
    case PX_BYTES:
        return get_blob(r, &bo->bytes, &bo->size);
    case PX_DBUF:
        return get_dbuf(r, dst);
    case PX_NSPACE:
        return get_chars(r, dst, sizeof(pmix_nspace_t));
    case PX_KEY:
        return get_chars(r, dst, sizeof(pmix_key_t));
    case PX_REGEX:
        return px_get_regex(r, dst);
    case PX_CPUSET:
        return px_get_cpuset(r, dst);
    case PX_TOPO:
        return px_get_topology(r, dst);
    default:
        return px_get_number(r, store, dst);
    }
}
