/* SPDX-License-Identifier: BSD-3-Clause */
/* The dialects: two number encodings, and the data types of each dialect. Each set is
 * defined by its difference from the previous set. */
#include "core/wire/codec.h"

#include <string.h>

/* Bits of type numbers lo..hi in word w (64 numbers per word). */
#define BELOW(n, w)                       \
    ((n) <= 64 * (w)         ? 0          \
     : (n) >= 64 * ((w) + 1) ? UINT64_MAX \
                             : (UINT64_C(1) << ((n) % 64)) - 1)
#define SPAN(lo, hi, w) (BELOW((hi) + 1, w) & ~BELOW(lo, w))

/* COMPRESSED_STRING has a number in v21 and v3, but their readers refuse the type
 * inside a value, its only place. Without the type here, the packer sends plain
 * text. */
#define TYPES_V21(w) \
    (SPAN(PMIX_UNDEF, 44, w) & ~SPAN(PMIX_COMPRESSED_STRING, PMIX_COMPRESSED_STRING, w))
#define TYPES_V3(w) (TYPES_V21(w) | SPAN(PMIX_IOF_CHANNEL, PMIX_ENVAR, w))
#define TYPES_V4(w)                                                          \
    (TYPES_V3(w) | SPAN(PMIX_COMPRESSED_STRING, PMIX_COMPRESSED_STRING, w) | \
     SPAN(PMIX_COORD, PMIX_COMPRESSED_BYTE_OBJECT, w))
#define TYPES_V41(w) (TYPES_V4(w) | SPAN(PMIX_PROC_NSPACE, PMIX_STOR_ACCESS_TYPE, w))
#define TYPES_V51(w)                                               \
    ((TYPES_V41(w) & ~SPAN(PMIX_PROC_STATS, PMIX_NODE_STATS, w)) | \
     SPAN(PMIX_DEVICE, PMIX_RESOURCE_UNIT, w))
#define TYPES_V61(w) (TYPES_V51(w) | SPAN(PMIX_NODE_PID, PMIX_ALLOC_INHERIT, w))

#define ROW(name, encoding, types) \
    {                              \
        name, encoding,            \
        {                          \
            types(0), types(1)     \
        }                          \
    }

static const struct px_dialect dialects[] = {
    ROW("v41", PX_ENC_FLEX, TYPES_V41), /* the default comes first */
    ROW("v3", PX_ENC_FIXED, TYPES_V3),   ROW("v4", PX_ENC_FLEX, TYPES_V4),
    ROW("v51", PX_ENC_FLEX, TYPES_V51),  ROW("v61", PX_ENC_FLEX, TYPES_V61),
    ROW("v21", PX_ENC_FIXED, TYPES_V21),
};

const struct px_codec px_codec_default = {.dialect = &dialects[0], .described = false};

const struct px_dialect *px_dialect_find(const char *name)
{
    for (size_t i = 0; name && i < PX_COUNT(dialects); i++)
        if (strcmp(dialects[i].name, name) == 0)
            return &dialects[i];
    return NULL;
}

struct px_codec px_codec_newest(struct px_codec codec)
{
    codec.dialect = px_dialect_find(codec.dialect->encoding == PX_ENC_FLEX ? "v61"
                                                                           : "v3");
    return codec;
}
