/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversion between bytes and types in any dialect. A writer keeps its first error and
 * then does nothing, so callers pack a whole message and check once. A reader never
 * trusts a length. */
#ifndef PX_WIRE_CODEC_H
#define PX_WIRE_CODEC_H

#include "core/base/buf.h"
#include "core/types/type.h"

enum px_encoding { PX_ENC_FIXED, PX_ENC_FLEX };

struct px_dialect {
    const char *name; /* "v41" */
    enum px_encoding encoding;
    uint64_t types[2]; /* one bit per known data type number */
};

/* Returns the dialect v21, v3, v4, v41, v51 or v61, or NULL for any other name. */
const struct px_dialect *px_dialect_find(const char *name);
static inline bool px_dialect_knows(const struct px_dialect *d, pmix_data_type_t id)
{
    return id / 64u < PX_COUNT(d->types) && (d->types[id / 64u] >> (id % 64u) & 1u);
}

/* The encoding that both ends of a connection agreed on. */
struct px_codec {
    const struct px_dialect *dialect;
    bool described; /* fully described buffers */
};

/* Returns the codec with every type that any release packs in this encoding. For
 * messages newer than the dialect: peers that support such a message also support its
 * types. */
struct px_codec px_codec_newest(struct px_codec codec);

/* The default encoding: v41, not described. */
extern const struct px_codec px_codec_default;

typedef struct px_writer {
    struct px_codec codec;
    px_buf buf;
    pmix_status_t status; /* first error, or PMIX_SUCCESS */
    unsigned depth;       /* nesting; depths that readers refuse are not packed */
} px_writer;

void px_writer_init(px_writer *w, struct px_codec codec);
void px_writer_cleanup(px_writer *w);

/* Packs one operation of n values of one type. A type that the dialect lacks gives
 * PMIX_ERR_UNKNOWN_DATA_TYPE. Inside a value, the writer replaces types that the
 * dialect lacks: compressed data becomes plain, a namespace becomes a string.
 * PMIX_ERR_BAD_PARAM: NULL instead of an object or elements, unterminated names, or
 * nesting that readers refuse. PMIX_ERR_NOT_SUPPORTED: a cpuset or topology of another
 * source than hwloc, or hwloc is missing; unpacking also returns this. */
void px_pack(px_writer *w, const void *src, int32_t n, pmix_data_type_t type);
/* Packs a value without count and tag, as inside structures. */
void px_pack_bare(px_writer *w, const void *src, pmix_data_type_t type);

/* A buffer whose contents are being packed: offsets of its size and of its bytes. */
struct px_pack_nest {
    size_t size_at, from;
};

/* Short forms. Each packs one operation of one value unless its comment differs. */
void px_pack_op(px_writer *w, uint8_t op);
void px_pack_u8(px_writer *w, uint8_t v, pmix_data_type_t type);
void px_pack_u32(px_writer *w, uint32_t v);
void px_pack_rank(px_writer *w, pmix_rank_t v);
void px_pack_size(px_writer *w, size_t v);
void px_pack_status(px_writer *w, pmix_status_t v);
void px_pack_str(px_writer *w, const char *v);
void px_pack_bytes(px_writer *w, const void *bytes, size_t n); /* BYTE_OBJECT */
void px_pack_bytes_head(px_writer *w, size_t n); /* head only; n bytes follow */
/* Begins a value of type BUFFER (26): kind byte, size, bytes. The caller packs the
 * content next, and then calls px_pack_buffer_end. */
struct px_pack_nest px_pack_buffer_begin(px_writer *w);
void px_pack_buffer_end(px_writer *w, struct px_pack_nest nest);
void px_pack_kval(px_writer *w, const char *key, const pmix_value_t *value);
/* Pack SIZE n, then INFO[n] or PROC[n] as one operation if n > 0. */
void px_pack_infos(px_writer *w, const pmix_info_t *info, size_t n);
void px_pack_procs(px_writer *w, const pmix_proc_t *procs, size_t n);
/* Packs the head of px_pack_infos. Then n infos follow, by px_pack_bare or as
 * arrays. */
void px_pack_infos_head(px_writer *w, size_t n);
/* Packs an info whose value is an array, without its n elements. They follow one by
 * one, by px_pack_bare. */
void px_pack_array_head(px_writer *w, const char *key, pmix_data_type_t type, size_t n);

typedef struct px_reader {
    struct px_codec codec;
    const uint8_t *pos, *end; /* borrowed */
    unsigned depth; /* nesting of values and data arrays, up to PX_MAX_DEPTH */
    /* Remaining bytes to allocate, initially PX_MAX_DECODED_B. Each string counts a
     * constant. */
    size_t budget;
    /* Remaining infos, elements that own memory, and processes, in arrays of any level.
     * Initially not limited. */
    size_t infos, items, procs;
    /* True if the message may contain topologies, which need a trusted sender
     * (core/types/handle.h). Initially false; then topologies give
     * PMIX_ERR_NOT_SUPPORTED. */
    bool trusted;
} px_reader;

void px_reader_init(px_reader *r, struct px_codec codec, const void *bytes, size_t n);
/* Limits the reader to what a server decodes of a peer's request: PX_MAX_REQUEST_INFOS,
 * PX_MAX_REQUEST_ITEMS, PX_MAX_REQUEST_PROCS and PX_MAX_REQUEST_B. Readers of nested
 * buffers have the same limits. */
void px_reader_limit(px_reader *r);
bool px_reader_done(const px_reader *r);

/* Reads one operation of at most *n values into dst and sets *n to the number read. The
 * caller destructs the values. On error nothing needs destruction and the reader stays
 * where it was. PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER: at or beyond the end.
 * PMIX_ERR_UNPACK_INADEQUATE_SPACE: the sender packed more than *n.
 * PMIX_ERR_PACK_MISMATCH: wrong tag. PMIX_ERR_UNKNOWN_DATA_TYPE: the dialect lacks the
 * type. PMIX_ERR_OUT_OF_RESOURCE: a limit of the reader is exceeded, which arrays check
 * before their elements. PMIX_ERR_UNPACK_FAILURE: value out of range, bad length or too
 * deep nesting. A NULL key or namespace becomes "", a pointer becomes NULL, and an info
 * owns its value. */
pmix_status_t px_unpack(px_reader *r, void *dst, int32_t *n, pmix_data_type_t type);
pmix_status_t px_unpack1(px_reader *r, void *dst, pmix_data_type_t type);
pmix_status_t px_unpack_bare(px_reader *r, void *dst, pmix_data_type_t type);

pmix_status_t px_unpack_u8(px_reader *r, uint8_t *v, pmix_data_type_t type);
pmix_status_t px_unpack_size(px_reader *r, size_t *v);
pmix_status_t px_unpack_status(px_reader *r, pmix_status_t *v);
pmix_status_t px_unpack_rank(px_reader *r, pmix_rank_t *v);
pmix_status_t px_unpack_str(px_reader *r, char **v); /* malloc'd or NULL */
pmix_status_t px_unpack_bytes(px_reader *r, pmix_byte_object_t *v); /* malloc'd copy */
/* Sets *inside to a view of the bytes of one BYTE_OBJECT or BUFFER operation. */
pmix_status_t px_unpack_view(px_reader *r, px_reader *inside, pmix_data_type_t type);
/* Reads one operation of exactly n values into new malloc memory. n == 0 reads
 * nothing. */
pmix_status_t px_unpack_array(px_reader *r, void **dst, size_t n,
                              pmix_data_type_t type);
pmix_status_t px_unpack_infos(px_reader *r, pmix_info_t **info, size_t *n);
pmix_status_t px_unpack_procs(px_reader *r, pmix_proc_t **procs, size_t *n);

struct px_kval { /* key is malloc'd */
    char *key;
    pmix_value_t value;
};

pmix_status_t px_unpack_kval(px_reader *r, struct px_kval *kv);
/* Reads like px_unpack_kval, but key, text and bytes stay in r's own bytes. The caller
 * destructs the value unless *is_view. */
pmix_status_t px_view_kval(px_reader *r, const char **key, pmix_value_t *value,
                           bool *is_view);
void px_kval_fini(struct px_kval *kv);

static inline bool px_value_is_compressed(const pmix_value_t *v)
{
    return v->type == PMIX_COMPRESSED_STRING || v->type == PMIX_COMPRESSED_BYTE_OBJECT;
}

/* Replaces compressed strings and byte objects by plain ones. Other values do not
 * change. */
pmix_status_t px_value_inflate(pmix_value_t *v);

#endif
