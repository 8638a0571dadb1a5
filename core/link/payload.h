/* SPDX-License-Identifier: BSD-3-Clause */
/* A payload that frames of several connections share. Loop thread only. */
#ifndef PX_LINK_PAYLOAD_H
#define PX_LINK_PAYLOAD_H

#include "core/base/buf.h"

#include <stdlib.h>

struct px_payload {
    unsigned refs;
    px_buf bytes;
};

/* Takes the bytes. Returns NULL without memory; the bytes then stay the caller's. */
static inline struct px_payload *px_payload_take(px_buf *bytes)
{
    struct px_payload *p = malloc(sizeof(*p));

    if (p)
        *p = (struct px_payload){.refs = 1, .bytes = px_buf_take(bytes)};
    return p;
}

static inline struct px_payload *px_payload_ref(struct px_payload *p)
{
    p->refs++;
    return p;
}

/* Frees the payload with the last reference. p may be NULL. */
static inline void px_payload_unref(struct px_payload *p)
{
    if (!p || --p->refs > 0)
        return;
    px_buf_cleanup(&p->bytes);
    free(p);
}

#endif
