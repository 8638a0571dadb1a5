/* SPDX-License-Identifier: BSD-3-Clause */
/* What a fuzz target consists of. It is built twice: with libFuzzer (-Dfuzz=true), and with
 * replay.c, which feeds it its seeds and everything close to them as an ordinary test. */
#ifndef PX_FUZZ_H
#define PX_FUZZ_H

#include "core/base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name and the result are libFuzzer's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The i-th well-formed input, appended to *out; false if there are no more. */
bool fuzz_seed(unsigned i, px_buf *out);

/* The input as a text. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = calloc(size + 1, 1);

    if (!text)
        abort();
    if (size)
        memcpy(text, data, size);
    return text;
}

/* The i-th of n texts as a seed. */
static inline bool fuzz_seed_text(const char *const *texts, size_t n, size_t i,
                                  px_buf *out)
{
    return i < n && !px_buf_add(out, texts[i], strlen(texts[i]));
}

/* A broken property: libFuzzer keeps the input of a crash. Not assert, which may be off. */
#define FUZZ_MUST(condition)                                                \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                        \
        }                                                                   \
    } while (0)

#endif
