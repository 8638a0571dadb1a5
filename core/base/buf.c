/* SPDX-License-Identifier: BSD-3-Clause */
/* A growable byte buffer: doubling keeps the cost of many small additions linear. */
#include "core/base/buf.h"

#include "core/base/vec.h"

#include <string.h>

pmix_status_t px_buf_reserve(px_buf *buf, size_t more)
{
    return px_vec_reserve(&buf->data, buf->len, &buf->cap, more) ? PMIX_SUCCESS
                                                                 : PMIX_ERR_NOMEM;
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
