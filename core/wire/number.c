/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers on the wire; see number.h. */
#include "core/wire/number.h"

#include "core/types/number.h"

#include <limits.h>

enum { RUN = 32 }; /* numbers per reservation of memory */

/* The encoding of one kind of storage. Tags name the sender's native width. */
struct shape {
    uint8_t memory_b; /* 0: not an integer */
    uint8_t wire_b;   /* width in the fixed encoding */
    bool signed_flex; /* zigzag */
    bool signed_fixed;
    uint8_t tag_flex, tag_fixed; /* type number, 0: untagged */
};

#define PLAIN(b, is_signed)                                   \
    {                                                         \
        .memory_b = b, .wire_b = b, .signed_flex = is_signed, \
        .signed_fixed = is_signed                             \
    }

/* unsigned int is encoded like int, a quirk of every release. */
static const struct shape shapes[] = {
    [PX_INT16] = PLAIN(2, true),
    [PX_INT32] = PLAIN(4, true),
    [PX_INT64] = PLAIN(8, true),
    [PX_UINT16] = PLAIN(2, false),
    [PX_UINT32] = PLAIN(4, false),
    [PX_UINT64] = PLAIN(8, false),
    [PX_INT] = {sizeof(int), 4, true, true, 0, PMIX_INT32},
    [PX_UINT] = {sizeof(unsigned), 4, true, true, 0, PMIX_INT32},
    [PX_SIZE] = {sizeof(size_t), 8, false, false, 0, PMIX_UINT64},
    [PX_PID] = {sizeof(pid_t), 4, false, false, PMIX_UINT32, PMIX_UINT32},
    [PX_TIME] = {sizeof(time_t), 8, false, false, 0, 0},
};

/* Always inline. With constant width and sign the compiler specialises the loops below
 * for each shape. */
#define INLINE static inline __attribute__((always_inline))

/* ---- writing --------------------------------------------------------------------- */

uint8_t *px_put_more_room(px_writer *w, size_t n)
{
    pmix_status_t rc = w->status ? w->status : px_buf_reserve(&w->buf, n);

    w->status = rc;
    return rc ? NULL : w->buf.data + w->buf.len;
}

INLINE uint8_t *encode_flex(uint8_t *out, uint64_t v)
{
    const uint8_t *last = out + PX_FLEX_MAX_B - 1;

    while (v > 0x7f && out < last) {
        *out++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *out++ = (uint8_t)v;
    return out;
}

INLINE uint8_t *encode_fixed(uint8_t *out, uint64_t v, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        out[i] = (uint8_t)(v >> 8 * (width - 1 - i));
    return out + width;
}

INLINE uint64_t zigzag(uint64_t v)
{
    return v << 1 ^ (v >> 63 ? UINT64_MAX : 0);
}

INLINE uint8_t *flex_run(uint8_t *to, const char *at, size_t n, unsigned width,
                         bool is_signed)
{
    for (; n; n--, at += width) {
        uint64_t v = px_load_int(at, width, is_signed);

        to = encode_flex(to, is_signed ? zigzag(v) : v);
    }
    return to;
}

static uint8_t *put_flex(uint8_t *to, const char *at, size_t n, const struct shape *s)
{
    switch (s->memory_b) {
    case 2:
        return s->signed_flex ? flex_run(to, at, n, 2, true)
                              : flex_run(to, at, n, 2, false);
    case 4:
        return s->signed_flex ? flex_run(to, at, n, 4, true)
                              : flex_run(to, at, n, 4, false);
    default:
        return s->signed_flex ? flex_run(to, at, n, 8, true)
                              : flex_run(to, at, n, 8, false);
    }
}

static uint8_t *put_fixed(uint8_t *to, const char *at, size_t n, const struct shape *s)
{
    for (; n; n--, at += s->memory_b)
        to = encode_fixed(to, px_load_int(at, s->memory_b, s->signed_fixed), s->wire_b);
    return to;
}

void px_put_numbers(px_writer *w, enum px_store kind, const void *src, size_t n)
{
    const struct shape *s = &shapes[kind];
    bool flex = w->codec.dialect->encoding == PX_ENC_FLEX;
    uint8_t tag = flex ? s->tag_flex : s->tag_fixed;
    const char *at = src;
    uint8_t *to;

    if (tag && (to = px_put_room(w, 2)))
        w->buf.len +=
            (size_t)((flex ? encode_flex(to, tag) : encode_fixed(to, tag, 2)) - to);
    while (n) { /* reserve the longest form for a few numbers, since most are short */
        size_t run = n < RUN ? n : RUN;

        to = px_put_room(w, run * PX_FLEX_MAX_B);
        if (!to)
            return;
        w->buf.len += (size_t)((flex ? put_flex(to, at, run, s)
                                     : put_fixed(to, at, run, s)) -
                               to);
        at += run * s->memory_b;
        n -= run;
    }
}

/* ---- reading --------------------------------------------------------------------- */

static pmix_status_t decode_flex(px_reader *r, uint64_t *out)
{
    uint64_t v = 0;

    for (unsigned i = 0; r->pos < r->end; i++) {
        uint8_t byte = *r->pos++;

        if (i == PX_FLEX_MAX_B - 1) { /* the last byte has eight data bits */
            *out = v | (uint64_t)byte << 56;
            return PMIX_SUCCESS;
        }
        v |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (!(byte & 0x80)) {
            *out = v;
            return PMIX_SUCCESS;
        }
    }
    return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
}

static pmix_status_t decode_fixed(px_reader *r, unsigned width, bool is_signed,
                                  uint64_t *out)
{
    const uint8_t *at = px_get_raw(r, width);
    uint64_t v = 0;

    if (!at)
        return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    for (unsigned i = 0; i < width; i++)
        v = v << 8 | at[i];
    if (is_signed && width < 8 && v >> (8 * width - 1))
        v |= UINT64_MAX << 8 * width;
    *out = v;
    return PMIX_SUCCESS;
}

/* Reads one untagged number of the given width as 64 bits, sign extended. *negative
 * distinguishes -1 from 2^64-1. */
static pmix_status_t get_bits(px_reader *r, unsigned width, bool is_signed,
                              uint64_t *out, bool *negative)
{
    pmix_status_t rc;

    if (width == 1 || r->codec.dialect->encoding == PX_ENC_FIXED) {
        rc = decode_fixed(r, width, is_signed, out);
    } else {
        rc = decode_flex(r, out);
        if (is_signed)
            *out = *out >> 1 ^ (*out & 1 ? UINT64_MAX : 0);
    }
    *negative = !rc && is_signed && *out >> 63;
    return rc;
}

/* The encoding of the numbers being read, given by their type or by a tag. */
struct coding {
    uint8_t width;
    bool is_signed;
};

static pmix_status_t get_tag(px_reader *r, struct coding *coding)
{
    static const struct coding by_tag[] = {
        [PMIX_INT8] = {1, true},    [PMIX_INT16] = {2, true},
        [PMIX_INT32] = {4, true},   [PMIX_INT64] = {8, true},
        [PMIX_UINT8] = {1, false},  [PMIX_UINT16] = {2, false},
        [PMIX_UINT32] = {4, false}, [PMIX_UINT64] = {8, false},
    };
    pmix_data_type_t tag;
    pmix_status_t rc = px_get_type(r, &tag);

    if (rc)
        return rc;
    if (tag >= PX_COUNT(by_tag) || !by_tag[tag].width)
        return PMIX_ERR_UNPACK_FAILURE;
    *coding = by_tag[tag];
    return PMIX_SUCCESS;
}

/* True if the value fits the store. An unsigned int or a pid may have either sign of 32
 * bits. The largest size means "none", and becomes the largest size of this machine. */
static bool fits(const struct shape *s, enum px_store kind, bool is_signed, uint64_t v,
                 bool negative)
{
    unsigned bits = 8u * s->memory_b;
    bool either = kind == PX_UINT || kind == PX_PID;

    if (kind == PX_SIZE && !negative && v == UINT64_MAX)
        return true;
    if (negative) /* ~v is -v - 1 */
        return (is_signed || either) && ~v >> (bits - 1) == 0;
    if (is_signed && !either)
        return v >> (bits - 1) == 0;
    return bits == 64 || v >> bits == 0;
}

/* Reads untagged numbers in the flexible encoding while each is short and cannot reach
 * the message's end. Returns the number read. The caller reads the next number with
 * get_bits. */
INLINE size_t get_run(px_reader *r, char *to, size_t n, unsigned width, bool is_signed)
{
    const unsigned longest = (8 * width + 6) / 7 < 4 ? (8 * width + 6) / 7 : 4;
    size_t done = 0;

    for (; done < n && px_left(r) >= longest; done++, to += width) {
        const uint8_t *at = r->pos;
        uint64_t v = *at & 0x7f;
        unsigned i = 0;

        while (at[i] & 0x80 && i + 1 < longest) {
            i++;
            v |= (uint64_t)(at[i] & 0x7f) << 7 * i;
        }
        if (at[i] & 0x80)
            break;
        if (is_signed)
            v = v >> 1 ^ (v & 1 ? UINT64_MAX : 0);
        if (width == 2 &&
            (is_signed ? (uint64_t)(int64_t)(int16_t)v : (uint16_t)v) != v)
            break;
        px_store_int(to, width, v);
        r->pos = at + i + 1;
    }
    return done;
}

static size_t get_short(px_reader *r, char *to, size_t n, const struct shape *s)
{
    switch (s->memory_b) {
    case 2:
        return s->signed_flex ? get_run(r, to, n, 2, true)
                              : get_run(r, to, n, 2, false);
    case 4:
        return s->signed_flex ? get_run(r, to, n, 4, true)
                              : get_run(r, to, n, 4, false);
    default:
        return s->signed_flex ? get_run(r, to, n, 8, true)
                              : get_run(r, to, n, 8, false);
    }
}

pmix_status_t px_get_numbers(px_reader *r, enum px_store kind, void *dst, size_t n)
{
    const struct shape *s = &shapes[kind];
    bool flex = r->codec.dialect->encoding == PX_ENC_FLEX;
    bool is_signed = flex ? s->signed_flex : s->signed_fixed;
    bool tagged = flex ? s->tag_flex : s->tag_fixed;
    struct coding coding = {s->wire_b, is_signed};
    pmix_status_t rc = tagged ? get_tag(r, &coding) : PMIX_SUCCESS;
    char *to = dst;

    while (!rc && n) {
        size_t done = flex && !tagged ? get_short(r, to, n, s) : 0;
        bool negative = false;
        uint64_t v = 0;

        to += done * s->memory_b;
        n -= done;
        if (!n)
            break;
        rc = get_bits(r, coding.width, coding.is_signed, &v, &negative);
        if (rc)
            break;
        if (!fits(s, kind, is_signed, v, negative))
            return PMIX_ERR_UNPACK_FAILURE;
        px_store_int(to, s->memory_b, v);
        to += s->memory_b;
        n--;
    }
    return rc;
}
