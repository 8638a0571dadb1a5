/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines in a buffer of fixed size: when it is full of what nobody has taken yet, its
 * source is not read any more, which is all the back-pressure that is needed. */
#include "core/host/lines.h"

#include <string.h>

pmix_status_t px_lines_init(px_lines *l)
{
    *l = (px_lines){.bytes = malloc(PX_LINE_MAX_B)};
    return l->bytes ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

void px_lines_cleanup(px_lines *l)
{
    free(l->bytes);
    *l = (px_lines){0};
}

size_t px_lines_room(const px_lines *l, uint8_t **to)
{
    *to = l->bytes + l->len;
    return PX_LINE_MAX_B - l->len;
}

void px_lines_added(px_lines *l, size_t n)
{
    const uint8_t *newline = memrchr(l->bytes + l->len, '\n', n);

    l->len += n;
    if (newline)
        l->ready = (size_t)(newline - l->bytes) + 1;
    else if (l->ready == 0 && l->len == PX_LINE_MAX_B)
        l->ready = l->len;
}

void px_lines_end(px_lines *l)
{
    l->ready = l->len;
}

void px_lines_taken(px_lines *l, size_t n)
{
    l->len -= n;
    l->ready -= n;
    memmove(l->bytes, l->bytes + n, l->len);
}
