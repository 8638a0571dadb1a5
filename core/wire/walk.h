/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that pack.c and unpack.c share with message.c, text.c and compress.c.
 * Private to core/wire. */
#ifndef PX_WIRE_CODEC_IMPL_H
#define PX_WIRE_CODEC_IMPL_H

#include "core/wire/number.h"
#include "core/wire/ops.h"

/* ---- operations ------------------------------------------------------------------ */

/* The head of one operation of n values: count, with tags if the buffer is
 * described. */
void px_put_head(px_writer *w, int32_t n, pmix_data_type_t type);
/* Reads it; n is not negative, and so many can be in what is left.
 * PMIX_ERR_UNKNOWN_DATA_TYPE if the type has no values, there is no such type or the
 * dialect lacks it. */
pmix_status_t px_get_head(px_reader *r, int32_t *n, const struct px_type **t,
                          pmix_data_type_t type);
/* Likewise for an operation that must hold exactly one value. */
pmix_status_t px_get_head1(px_reader *r, pmix_data_type_t type);

/* ---- the walk (unpack.c): bare objects of any type ------------------------------- */

/* Into memory that need not be zeroed; an error leaves nothing to destruct. */
pmix_status_t px_get_elements(px_reader *r, void *array, size_t n,
                              const struct px_type *t);
/* n elements as fresh memory that grows while they come; n == 0 gives NULL. */
pmix_status_t px_get_array(px_reader *r, void **out, size_t n, const struct px_type *t);

/* The row of a member that is a structure; of others only the store matters. */
static inline const struct px_type *px_field_struct(const struct px_field *f)
{
    return f->store == PX_STRUCT ? px_type_find(f->type) : NULL;
}

/* ---- members, bare --------------------------------------------------------------- */

void px_put_blob(px_writer *w, const void *bytes, size_t n); /* SIZE n, n bytes */

pmix_status_t px_get_string(px_reader *r, char **s); /* malloc'd or NULL */
/* SIZE n, then a view of n bytes. */
pmix_status_t px_get_view(px_reader *r, const uint8_t **bytes, size_t *n);

/* ---- handles (handle.c) ---------------------------------------------------------- */

void px_put_cpuset(px_writer *w, const pmix_cpuset_t *set);
void px_put_topology(px_writer *w, const pmix_topology_t *topo);
/* Into zeroed memory; a NULL string leaves it so. */
pmix_status_t px_get_cpuset(px_reader *r, pmix_cpuset_t *set);
pmix_status_t px_get_topology(px_reader *r, pmix_topology_t *topo);

/* ---- text and bytes (text.c) ----------------------------------------------------- */

/* A STRING of n bytes, the NUL included; none for NULL. */
void px_put_text(px_writer *w, const char *s, size_t n);
void px_put_string(px_writer *w, const char *s);
/* The text inside a STRING without copying: *s is NULL for a NULL string, else it
 * points into the message and ends at *len, which is a NUL. */
pmix_status_t px_get_text(px_reader *r, const char **s, size_t *len);
pmix_status_t px_get_bytes(px_reader *r, void *dst, size_t n); /* copied */
/* n bytes as fresh memory; NULL for none. */
pmix_status_t px_dup_bytes(const uint8_t *bytes, size_t n, char **out);

/* FLOAT and DOUBLE travel as "%f" text, always with a point, whatever the locale. */
void px_put_real(px_writer *w, double v);
pmix_status_t px_get_real(px_reader *r, enum px_store kind, void *dst);
/* A REGEX has no length of its own: it is NUL-terminated text, or a blob that tells its
 * length in its heading. */
void px_put_regex(px_writer *w, const pmix_byte_object_t *regex);
pmix_status_t px_get_regex(px_reader *r, pmix_byte_object_t *regex);
/* Length of the regex at the start of bytes[0..max), NUL of the text form included; 0
 * if it does not end there. */
size_t px_regex_len(const char *bytes, size_t max);
/* The same of a regex of our own making, which is trusted to end. */
size_t px_regex_extent(const char *regex);

/* ---- compression ----------------------------------------------------------------- */

/* *out owns the plain form of a compressed value. PMIX_ERR_UNPACK_FAILURE if it is
 * damaged or would grow beyond PX_MAX_INFLATED_B. */
pmix_status_t px_inflate_value(const pmix_value_t *v, pmix_value_t *out);
/* u32 length in host order, then a zlib stream; malloc'd, with a NUL after the
 * inflated. */
pmix_status_t px_deflate(const void *bytes, size_t n, uint8_t **out, size_t *out_n);
pmix_status_t px_inflate(const void *bytes, size_t n, uint8_t **out, size_t *out_n);
/* The same of a stream without a head, of this plain length. */
pmix_status_t px_inflate_to(const void *stream, size_t n, uint32_t plain,
                            uint8_t **out);
/* CRC-32 of bytes that follow those whose sum is before; 0: the first ones. */
uint32_t px_crc32(uint32_t before, const void *bytes, size_t n);

#endif
