/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes <-> types in any dialect. A writer collects the first error and goes quiet, so
 * that a message is packed in a row of calls and checked once; a reader never trusts a
 * length. */
#ifndef PX_WIRE_CODEC_H
#define PX_WIRE_CODEC_H

#include "core/base/buf.h"
#include "core/types/type.h"

enum px_encoding { PX_ENC_FIXED, PX_ENC_FLEX };

struct px_dialect {
    const char *name; /* "v41" */
    enum px_encoding encoding;
    uint64_t types[2]; /* bit per data type number it knows */
};

/* v21 v3 v4 v41 v51 v61; NULL for any other name. */
const struct px_dialect *px_dialect_find(const char *name);
static inline bool px_dialect_knows(const struct px_dialect *d, pmix_data_type_t id)
{
    return id / 64u < PX_COUNT(d->types) && (d->types[id / 64u] >> (id % 64u) & 1u);
}

/* The encoding that a connection agreed on. */
struct px_codec {
    const struct px_dialect *dialect;
    bool described; /* fully described buffers */
};

/* The same encoding with every type that any release packs with it: for messages newer
 * than the dialect, which who knows them at all can read. */
struct px_codec px_codec_newest(struct px_codec codec);

/* The encoding that this library speaks unless told otherwise: v41, not described. */
extern const struct px_codec px_codec_default;

typedef struct px_writer {
    struct px_codec codec;
    px_buf buf;
    pmix_status_t status; /* first error; PMIX_SUCCESS while all is well */
    unsigned depth;       /* of nesting: what a reader would refuse is not packed */
} px_writer;

void px_writer_init(px_writer *w, struct px_codec codec);
void px_writer_cleanup(px_writer *w);

/* One pack operation of n values of one type. A type the dialect does not know is
 * PMIX_ERR_UNKNOWN_DATA_TYPE, but inside a value compressed data is sent plain and a
 * namespace as a string to a dialect that lacks their types. PMIX_ERR_BAD_PARAM for
 * NULL where an object or elements must be, names that do not end, and nesting no
 * reader accepts. PMIX_ERR_NOT_SUPPORTED for a cpuset or topology that is not hwloc's,
 * and without hwloc; here as in unpacking. */
void px_pack(px_writer *w, const void *src, int32_t n, pmix_data_type_t type);
/* Values without count or tag, as inside structures. */
void px_pack_bare(px_writer *w, const void *src, pmix_data_type_t type);

/* Short forms, each one operation of one value unless said otherwise. */
void px_pack_op(px_writer *w, uint8_t op);
void px_pack_u8(px_writer *w, uint8_t v, pmix_data_type_t type);
void px_pack_u32(px_writer *w, uint32_t v);
void px_pack_rank(px_writer *w, pmix_rank_t v);
void px_pack_size(px_writer *w, size_t v);
void px_pack_status(px_writer *w, pmix_status_t v);
void px_pack_str(px_writer *w, const char *v);
void px_pack_bytes(px_writer *w, const void *bytes, size_t n); /* BYTE_OBJECT */
void px_pack_bytes_head(px_writer *w, size_t n); /* of one whose n bytes follow */
/* BUFFER (26): type byte, size, bytes; body was packed with the same codec. */
void px_pack_buffer(px_writer *w, const px_buf *body);
void px_pack_kval(px_writer *w, const char *key, const pmix_value_t *value);
/* SIZE n, then INFO[n] as one operation if n > 0; likewise procs ("infos",
 * "procs?"). */
void px_pack_infos(px_writer *w, const pmix_info_t *info, size_t n);
void px_pack_procs(px_writer *w, const pmix_proc_t *procs, size_t n);

typedef struct px_reader {
    struct px_codec codec;
    const uint8_t *pos, *end; /* borrowed */
    unsigned depth; /* of values and data arrays, each counts one of PX_MAX_DEPTH */
    /* Bytes it may still allocate, of strings a constant each, at first
     * PX_MAX_DECODED_B. */
    size_t budget;
    /* It may hold topologies (core/types/handle.h says why that takes trust). Not so at
     * first: they are PMIX_ERR_NOT_SUPPORTED then. */
    bool trusted;
} px_reader;

void px_reader_init(px_reader *r, struct px_codec codec, const void *bytes, size_t n);
bool px_reader_done(const px_reader *r);

/* Reads one operation of at most *n values into dst (room for *n), sets *n to the
 * number read. The caller destructs the values read. On error nothing is left to
 * destruct. PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER at or beyond the end,
 * PMIX_ERR_UNPACK_INADEQUATE_SPACE if the sender packed more than *n,
 * PMIX_ERR_PACK_MISMATCH on a wrong tag, PMIX_ERR_UNKNOWN_DATA_TYPE,
 * PMIX_ERR_UNPACK_FAILURE for a value out of range, a bad length, too deep nesting. A
 * failed call leaves the reader where it stood. In a NULL key or namespace's place
 * stands "", in a pointer's place NULL, and an info that was read owns its value. */
pmix_status_t px_unpack(px_reader *r, void *dst, int32_t *n, pmix_data_type_t type);
pmix_status_t px_unpack1(px_reader *r, void *dst, pmix_data_type_t type);
pmix_status_t px_unpack_bare(px_reader *r, void *dst, pmix_data_type_t type);

pmix_status_t px_unpack_u8(px_reader *r, uint8_t *v, pmix_data_type_t type);
pmix_status_t px_unpack_size(px_reader *r, size_t *v);
pmix_status_t px_unpack_status(px_reader *r, pmix_status_t *v);
pmix_status_t px_unpack_rank(px_reader *r, pmix_rank_t *v);
pmix_status_t px_unpack_str(px_reader *r, char **v); /* malloc'd or NULL */
pmix_status_t px_unpack_bytes(px_reader *r, pmix_byte_object_t *v); /* malloc'd copy */
/* A view into the reader's own bytes of one BYTE_OBJECT or BUFFER operation. */
pmix_status_t px_unpack_view(px_reader *r, px_reader *inside, pmix_data_type_t type);
/* One operation of exactly n values into fresh malloc memory; n == 0 reads nothing. */
pmix_status_t px_unpack_array(px_reader *r, void **dst, size_t n,
                              pmix_data_type_t type);
pmix_status_t px_unpack_infos(px_reader *r, pmix_info_t **info, size_t *n);
pmix_status_t px_unpack_procs(px_reader *r, pmix_proc_t **procs, size_t *n);

struct px_kval { /* key is malloc'd */
    char *key;
    pmix_value_t value;
};

pmix_status_t px_unpack_kval(px_reader *r, struct px_kval *kv);
/* The same, but for text and bytes, which like the key stay in r's own bytes. The
 * caller destructs the value if not *is_view. */
pmix_status_t px_view_kval(px_reader *r, const char **key, pmix_value_t *value,
                           bool *is_view);
void px_kval_fini(struct px_kval *kv);

static inline bool px_value_is_compressed(const pmix_value_t *v)
{
    return v->type == PMIX_COMPRESSED_STRING || v->type == PMIX_COMPRESSED_BYTE_OBJECT;
}

/* Compressed strings and byte objects become plain ones; other values stay as they
 * are. */
pmix_status_t px_value_inflate(pmix_value_t *v);

#endif
