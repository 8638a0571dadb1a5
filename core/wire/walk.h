/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that pack.c and unpack.c share with message.c, text.c and compress.c.
 * Private to core/wire. */
#ifndef PX_WIRE_CODEC_IMPL_H
#define PX_WIRE_CODEC_IMPL_H

#include "core/wire/number.h"
#include "core/wire/ops.h"

/* ---- operations ------------------------------------------------------------------ */

/* Writes the head of an operation of n values: a count, with tags in described
 * buffers. */
void px_put_head(px_writer *w, int32_t n, pmix_data_type_t type);
/* Reads the head. *n is not negative, and *n values can be in the remaining bytes.
 * Returns PMIX_ERR_UNKNOWN_DATA_TYPE if the type is unknown, has no values or is not in
 * the dialect. */
pmix_status_t px_get_head(px_reader *r, int32_t *n, const struct px_type **t,
                          pmix_data_type_t type);
/* Reads the head of an operation that must have exactly one value. */
pmix_status_t px_get_head1(px_reader *r, pmix_data_type_t type);

/* ---- the walk (unpack.c): bare objects of any type ------------------------------- */

/* Reads n elements into array, which need not be zeroed. On error nothing needs
 * destruction. */
pmix_status_t px_get_elements(px_reader *r, void *array, size_t n,
                              const struct px_type *t);
/* Reads n elements into new memory that grows as they arrive. n == 0 gives NULL. */
pmix_status_t px_get_array(px_reader *r, void **out, size_t n, const struct px_type *t);

/* Returns the row of a member's structure type. NULL for other members, whose store
 * suffices. */
static inline const struct px_type *px_field_struct(const struct px_field *f)
{
    return f->store == PX_STRUCT ? px_type_find(f->type) : NULL;
}

/* ---- members, bare --------------------------------------------------------------- */

void px_put_blob(px_writer *w, const void *bytes, size_t n); /* SIZE n, n bytes */

/* Reads SIZE n and returns a view of n bytes. */
pmix_status_t px_get_view(px_reader *r, const uint8_t **bytes, size_t *n);

/* ---- handles (handle.c) ---------------------------------------------------------- */

void px_put_cpuset(px_writer *w, const pmix_cpuset_t *set);
void px_put_topology(px_writer *w, const pmix_topology_t *topo);
/* Read into zeroed memory. A NULL string leaves the memory zeroed. */
pmix_status_t px_get_cpuset(px_reader *r, pmix_cpuset_t *set);
pmix_status_t px_get_topology(px_reader *r, pmix_topology_t *topo);

/* ---- text and bytes (text.c) ----------------------------------------------------- */

/* Write a STRING of n bytes, including the NUL. NULL has no bytes. */
void px_put_text(px_writer *w, const char *s, size_t n);
void px_put_string(px_writer *w, const char *s);
/* Returns a STRING's text without a copy. *s is NULL for a NULL string. Otherwise *s
 * points into the message, and (*s)[*len] is a NUL. */
pmix_status_t px_get_text(px_reader *r, const char **s, size_t *len);
pmix_status_t px_get_bytes(px_reader *r, void *dst, size_t n); /* copies n bytes */
/* Copies n bytes into new memory; NULL for n == 0. */
pmix_status_t px_dup_bytes(const uint8_t *bytes, size_t n, char **out);

/* Writes FLOAT and DOUBLE as "%f" text with a point in any locale. */
void px_put_real(px_writer *w, double v);
pmix_status_t px_get_real(px_reader *r, enum px_store kind, void *dst);
/* Writes a REGEX, which has no length field: NUL-terminated text, or a blob whose
 * heading contains its length. */
void px_put_regex(px_writer *w, const pmix_byte_object_t *regex);
pmix_status_t px_get_regex(px_reader *r, pmix_byte_object_t *regex);
/* Returns the length of a regex made by this library, without a bound. */
size_t px_regex_extent(const char *regex);

/* ---- compression ----------------------------------------------------------------- */

/* Inflates a compressed value into *out, which owns its data. PMIX_ERR_UNPACK_FAILURE
 * if the value is damaged or exceeds PX_MAX_INFLATED_B. */
pmix_status_t px_inflate_value(const pmix_value_t *v, pmix_value_t *out);
/* Convert to and from a u32 length in host order and a zlib stream. Results are
 * malloc'd; inflated data has a NUL behind it. */
pmix_status_t px_deflate(const void *bytes, size_t n, uint8_t **out, size_t *out_n);
pmix_status_t px_inflate(const void *bytes, size_t n, uint8_t **out, size_t *out_n);
/* Inflates a stream without the length field, of the given plain length. */
pmix_status_t px_inflate_to(const void *stream, size_t n, uint32_t plain,
                            uint8_t **out);
/* Continues a CRC-32 from before, which is 0 for the first bytes. */
uint32_t px_crc32(uint32_t before, const void *bytes, size_t n);

#endif
