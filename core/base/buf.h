/* SPDX-License-Identifier: BSD-3-Clause */
/* A growable byte buffer. Growth is geometric; a failed growth leaves the buffer
 * unchanged. */
#ifndef PX_BASE_BUF_H
#define PX_BASE_BUF_H

#include "core/base/attr.h"
#include "pmix_common.h"

#include <stdint.h>
#include <string.h>

typedef struct px_buf {
    uint8_t *data; /* plain malloc memory */
    size_t len;
    size_t cap;
} px_buf;

/* Makes room for more bytes after len. */
pmix_status_t px_buf_reserve(px_buf *buf, size_t more);
/* Appends n bytes. bytes must not point into buf; n == 0 does nothing. */
pmix_status_t px_buf_add(px_buf *buf, const void *bytes, size_t n);
/* Appends n bytes, for which there is room. */
static inline void px_buf_put(px_buf *buf, const void *bytes, size_t n)
{
    if (n > 0) /* memcpy does not accept NULL bytes, even for n == 0 */
        memcpy(buf->data + buf->len, bytes, n);
    buf->len += n;
}
/* Moves the content out and leaves an empty buffer. */
px_buf px_buf_take(px_buf *buf);
void px_buf_cleanup(px_buf *buf); /* frees and zeroes */

#endif
