/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by tests that pack or unpack: codecs, and messages written as text. */
#ifndef PX_WIRE_TEST_H
#define PX_WIRE_TEST_H

#include "core/base/buf.h"
#include "core/wire/codec.h"
#include "gen.h"

/* Every codec: each dialect in both buffer forms. */
extern const char *const all_dialects[];
extern const size_t n_dialects;
static inline struct px_codec codec_of(const char *dialect, bool described)
{
    return (struct px_codec){.dialect = px_dialect_find(dialect),
                             .described = described};
}

/* Returns an empty writer. */
static inline px_writer writer_in(struct px_codec codec)
{
    px_writer w;

    px_writer_init(&w, codec);
    return w;
}

/* Returns a reader of the bytes in b. */
static inline px_reader reader_of(struct px_codec codec, const px_buf *b)
{
    px_reader r;

    px_reader_init(&r, codec, b->data, b->len);
    return r;
}

/* Parses hex bytes and quoted text, like "02 0c \"hello\" 00", into memory of exactly
 * that size. */
px_buf bytes_of(const char *text);

/* Asserts that the writer has these bytes and no error. */
void assert_wrote(const px_writer *w, const char *text);

/* Reads one value with one undescribed operation. After an error the reader must be
 * unchanged. */
pmix_status_t read_bytes(const char *dialect, const px_buf *b, void *dst,
                         pmix_data_type_t type);
pmix_status_t read_text(const char *dialect, const char *text, void *dst,
                        pmix_data_type_t type);

#endif
