/* SPDX-License-Identifier: BSD-3-Clause */
/* Growable arrays and byte buffers. Capacity doubles, so many small additions have
 * linear cost. */
#include "core/base/buf.h"

#include "core/base/vec.h"

#include <string.h>

enum { LARGE_B = 32 << 10 };

/* Rounds a large addition up to a power of two, so that later additions find room.
 * malloc gets and frees such sizes without a system call; odd sizes need one. */
pmix_status_t px_buf_reserve(px_buf *buf, size_t more)
{
    size_t room = LARGE_B;

    if (more >= LARGE_B && more > buf->cap - buf->len && more <= SIZE_MAX / 4 &&
        buf->len <= SIZE_MAX / 4) {
        while (room < buf->len + more)
            room *= 2;
        more = room - buf->len;
    }
    return px_vec_reserve(&buf->data, buf->len, &buf->cap, more) ? PMIX_SUCCESS
                                                                 : PMIX_ERR_NOMEM;
}

pmix_status_t px_buf_add(px_buf *buf, const void *bytes, size_t n)
{
    pmix_status_t rc = n > 0 ? px_buf_reserve(buf, n) : PMIX_SUCCESS;

    if (!rc)
        px_buf_put(buf, bytes, n);
    return rc;
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

/* -- arrays ------------------------------------------------------------------------ */

enum { LEAST_B = 64 };

bool px_vec_reserve_of(void *v, size_t n, size_t *cap, size_t more, size_t size)
{
    size_t wanted = *cap > SIZE_MAX / 2 ? SIZE_MAX : *cap * 2;
    void *array;

    if (more <= *cap - n)
        return true;
    if (more > SIZE_MAX - n)
        return false;
    if (wanted < n + more)
        wanted = n + more;
    if (wanted < LEAST_B / size)
        wanted = LEAST_B / size;
    memcpy(&array, v, sizeof(array)); /* *v may have any pointer type */
    array = reallocarray(array, wanted, size);
    if (!array)
        return false;
    memcpy(v, &array, sizeof(array));
    *cap = wanted;
    return true;
}
