/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of core/wire: messages written as text, and objects of any type made from
 * the type table. */
#ifndef PX_WIRE_TEST_H
#define PX_WIRE_TEST_H

#include "core/base/buf.h"
#include "core/wire/codec.h"

/* Every codec there is: each dialect, both buffer forms. */
extern const char *const all_dialects[];
extern const size_t n_dialects;
struct px_codec codec_of(const char *dialect, bool described);

/* "02 0c \"hello\" 00": hex bytes and quoted text, in fresh memory of exactly that size. */
px_buf bytes_of(const char *text);

/* One operation of one value, undescribed; an error must leave the reader where it stood. */
pmix_status_t read_bytes(const char *dialect, const px_buf *b, void *dst,
                         pmix_data_type_t type);
pmix_status_t read_text(const char *dialect, const char *text, void *dst,
                        pmix_data_type_t type);

/* ---- generated objects -------------------------------------------------------------------- */

struct gen {
    uint64_t state; /* seed */
    const struct px_dialect *dialect;
    unsigned depth; /* of nesting, so far */
    const pmix_data_type_t
        *leave_out; /* types not to use, ending in UNDEF; may be NULL */
};

uint64_t gen_number(struct gen *g);
size_t gen_below(struct gen *g, size_t n);
/* False for types left out, and for those that cannot be packed: unknown to the dialect, or
 * opaque here. */
bool gen_can(const struct gen *g, pmix_data_type_t id);
/* Fills *obj, whatever was there, with what a message can carry without loss: NULLs, empty
 * lists and nested arrays among it. */
void gen_object(struct gen *g, pmix_data_type_t id, void *obj);

#endif
