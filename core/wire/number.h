/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers on the wire, in both encodings:
 *
 *   fixed  big endian of the type's width; size, int, unsigned and pid after a type tag
 *   flex   7 bits a byte, low bits first, bit 7 set on all but the last byte, a ninth byte
 *          carrying 8 bits; signed types zigzag; pid after a type tag
 *
 * A tag stands once before all the numbers of an array, even if there are none.
 *
 * One table (number.c) says which shape each kind of storage takes. Private to core/wire. */
#ifndef PX_WIRE_NUMBER_H
#define PX_WIRE_NUMBER_H

#include "core/wire/codec.h"

#include <string.h>

#define PX_FLEX_MAX_B 9

/* ---- writing: nothing happens once the writer has failed --------------------------------- */

static inline void px_writer_fail(px_writer *w, pmix_status_t status)
{
    if (!w->status)
        w->status = status;
}

/* Room for n more bytes at the end of the buffer, which the caller fills and then adds to
 * buf.len; NULL once the writer has failed. */
uint8_t *px_put_room(px_writer *w, size_t n);
void px_put_raw(px_writer *w, const void *bytes, size_t n);
void px_put_byte(px_writer *w, uint8_t byte);
/* n numbers side by side at src, stored as `kind` says (one of the integer kinds). */
void px_put_numbers(px_writer *w, enum px_store kind, const void *src, size_t n);

static inline void px_put_number(px_writer *w, enum px_store kind, const void *src)
{
    px_put_numbers(w, kind, src, 1);
}

static inline void px_put_type(px_writer *w, pmix_data_type_t type)
{
    px_put_number(w, PX_UINT16, &type);
}

static inline void px_put_size(px_writer *w, size_t n)
{
    px_put_number(w, PX_SIZE, &n);
}

static inline void px_put_i32(px_writer *w, int32_t n)
{
    px_put_number(w, PX_INT32, &n);
}

/* ---- reading ------------------------------------------------------------------------------ */

static inline size_t px_left(const px_reader *r)
{
    return (size_t)(r->end - r->pos);
}

/* n bytes of the message, consumed; NULL if there are not so many. */
static inline const uint8_t *px_get_raw(px_reader *r, size_t n)
{
    const uint8_t *at = r->pos;

    if (n > px_left(r))
        return NULL;
    r->pos += n;
    return at;
}

pmix_status_t px_get_byte(px_reader *r, uint8_t *byte);
bool px_is_number(enum px_store kind);
/* PMIX_ERR_UNPACK_FAILURE if a number does not fit what is stored. */
pmix_status_t px_get_numbers(px_reader *r, enum px_store kind, void *dst, size_t n);

static inline pmix_status_t px_get_number(px_reader *r, enum px_store kind, void *dst)
{
    return px_get_numbers(r, kind, dst, 1);
}

pmix_status_t px_get_type(px_reader *r, pmix_data_type_t *type);
pmix_status_t px_get_size(px_reader *r, size_t *n);
pmix_status_t px_get_i32(px_reader *r, int32_t *n);

#endif
