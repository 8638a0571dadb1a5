/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers on the wire, in both encodings:
 *
 *   fixed  big endian in the type's width; size, int, unsigned and pid follow a tag
 *   flex   7 bits a byte, low bits first; bit 7 is set in all but the last byte;
 *          a ninth byte has 8 bits; signed types are zigzag; pid follows a tag
 *
 * A tag precedes all numbers of an array, also of an empty array. A table in number.c
 * gives the shape of each kind of storage. Private to core/wire. */
#ifndef PX_WIRE_NUMBER_H
#define PX_WIRE_NUMBER_H

#include "core/wire/codec.h"

#include <string.h>

#define PX_FLEX_MAX_B 9
#define PX_SIZE_MAX_B (2 + PX_FLEX_MAX_B) /* tag and number */

/* ---- writing: does nothing after the writer has failed --------------------------- */

static inline void px_writer_fail(px_writer *w, pmix_status_t status)
{
    if (!w->status)
        w->status = status;
}

/* Grows the buffer for px_put_room. */
uint8_t *px_put_more_room(px_writer *w, size_t n);

/* Returns room for n bytes at the end of the buffer, or NULL after a failure. The
 * caller fills the room and adds n to buf.len. */
static inline uint8_t *px_put_room(px_writer *w, size_t n)
{
    if (!w->status && w->buf.cap - w->buf.len >= n)
        return w->buf.data + w->buf.len;
    return px_put_more_room(w, n);
}

static inline void px_put_raw(px_writer *w, const void *bytes, size_t n)
{
    uint8_t *to = n ? px_put_room(w, n) : NULL;

    if (to) {
        memcpy(to, bytes, n);
        w->buf.len += n;
    }
}

static inline void px_put_byte(px_writer *w, uint8_t byte)
{
    uint8_t *to = px_put_room(w, 1);

    if (to) {
        *to = byte;
        w->buf.len++;
    }
}

/* Writes n adjacent numbers at src, stored as kind, an integer kind. */
void px_put_numbers(px_writer *w, enum px_store kind, const void *src, size_t n);

/* Writes a number of an untagged kind whose flexible form is v. Most numbers inside
 * structures take one byte. */
static inline void px_put_coded(px_writer *w, enum px_store kind, const void *src,
                                uint64_t v)
{
    if (v < 0x80 && w->codec.dialect->encoding == PX_ENC_FLEX)
        px_put_byte(w, (uint8_t)v);
    else
        px_put_numbers(w, kind, src, 1);
}

/* Writes one number. With a constant kind the compiler removes the switch. */
static inline void px_put_number(px_writer *w, enum px_store kind, const void *src)
{
    uint32_t u32;
    int32_t i32;

    switch (kind) {
    case PX_UINT32:
        memcpy(&u32, src, sizeof(u32));
        px_put_coded(w, kind, src, u32);
        break;
    case PX_INT32:
        memcpy(&i32, src, sizeof(i32));
        px_put_coded(w, kind, src, i32 < 0 ? UINT64_MAX : (uint64_t)i32 << 1);
        break;
    default:
        px_put_numbers(w, kind, src, 1);
        break;
    }
}

static inline void px_put_type(px_writer *w, pmix_data_type_t type)
{
    px_put_coded(w, PX_UINT16, &type, type);
}

static inline void px_put_size(px_writer *w, size_t n)
{
    px_put_coded(w, PX_SIZE, &n, n);
}

static inline void px_put_i32(px_writer *w, int32_t n)
{
    px_put_coded(w, PX_INT32, &n, n < 0 ? UINT64_MAX : (uint64_t)n << 1);
}

/* ---- reading --------------------------------------------------------------------- */

static inline size_t px_left(const px_reader *r)
{
    return (size_t)(r->end - r->pos);
}

/* Consumes and returns n bytes of the message. NULL if fewer are left. */
static inline const uint8_t *px_get_raw(px_reader *r, size_t n)
{
    const uint8_t *at = r->pos;

    if (n > px_left(r))
        return NULL;
    r->pos += n;
    return at;
}

static inline pmix_status_t px_get_byte(px_reader *r, uint8_t *byte)
{
    if (r->pos == r->end)
        return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    *byte = *r->pos++;
    return PMIX_SUCCESS;
}

static inline bool px_is_number(enum px_store kind)
{
    return (kind >= PX_INT16 && kind <= PX_TIME);
}

/* Reads n numbers. PMIX_ERR_UNPACK_FAILURE if a number does not fit the kind. */
pmix_status_t px_get_numbers(px_reader *r, enum px_store kind, void *dst, size_t n);

static inline pmix_status_t px_get_number(px_reader *r, enum px_store kind, void *dst)
{
    return px_get_numbers(r, kind, dst, 1);
}

/* Consumes the next number if it takes one byte in the flexible encoding. Otherwise
 * returns false. */
static inline bool px_get_coded(px_reader *r, uint8_t *byte)
{
    if (r->codec.dialect->encoding != PX_ENC_FLEX || r->pos == r->end ||
        *r->pos >= 0x80)
        return false;
    *byte = *r->pos++;
    return true;
}

static inline pmix_status_t px_get_type(px_reader *r, pmix_data_type_t *type)
{
    uint8_t byte;

    if (!px_get_coded(r, &byte))
        return px_get_number(r, PX_UINT16, type);
    *type = byte;
    return PMIX_SUCCESS;
}

static inline pmix_status_t px_get_size(px_reader *r, size_t *n)
{
    uint8_t byte;

    if (!px_get_coded(r, &byte))
        return px_get_number(r, PX_SIZE, n);
    *n = byte;
    return PMIX_SUCCESS;
}

static inline pmix_status_t px_get_i32(px_reader *r, int32_t *n)
{
    uint8_t byte;

    if (!px_get_coded(r, &byte))
        return px_get_number(r, PX_INT32, n);
    *n = byte >> 1 ^ -(byte & 1);
    return PMIX_SUCCESS;
}

#endif
