/* SPDX-License-Identifier: BSD-3-Clause */
/* A growable byte buffer: doubling keeps the cost of many small additions linear. */
#include "core/base/buf.h"

#include <string.h>

enum { MIN_CAP = 64 };

pmix_status_t px_buf_reserve(px_buf *buf, size_t more)
{
    if (more <= buf->cap - buf->len)
        return PMIX_SUCCESS;
    if (more > SIZE_MAX - buf->len)
        return PMIX_ERR_NOMEM;

    size_t cap = buf->cap > SIZE_MAX / 2 ? SIZE_MAX : buf->cap * 2;
    if (cap < buf->len + more)
        cap = buf->len + more;
    if (cap < MIN_CAP)
        cap = MIN_CAP;

    uint8_t *data = realloc(buf->data, cap);
    if (!data)
        return PMIX_ERR_NOMEM;
    buf->data = data;
    buf->cap = cap;
    return PMIX_SUCCESS;
}

pmix_status_t px_buf_add(px_buf *buf, const void *bytes, size_t n)
{
    if (n == 0) /* bytes may be NULL then, which memcpy would not have */
        return PMIX_SUCCESS;
    pmix_status_t rc = px_buf_reserve(buf, n);
    if (rc)
        return rc;
    memcpy(buf->data + buf->len, bytes, n);
    buf->len += n;
    return PMIX_SUCCESS;
}

px_buf px_buf_take(px_buf *buf)
{
    px_buf taken = *buf;

    *buf = (px_buf){0};
    return taken;
}

void px_buf_cleanup(px_buf *buf)
{
    free(buf->data);
    *buf = (px_buf){0};
}
