/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface of a fuzz target. Each target is built with libFuzzer (-Dfuzz=true), and with replay.c: an
 * ordinary test with the seeds and small changes to them. */
#ifndef PX_FUZZ_H
#define PX_FUZZ_H

#include "core/base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs the target on an input. libFuzzer defines the name and the result. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Appends the i-th well-formed input to *out; false after the last. */
bool fuzz_seed(unsigned i, px_buf *out);

/* Returns the input as a text. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = calloc(size + 1, 1);

    if (!text)
        abort();
    if (size)
        memcpy(text, data, size);
    return text;
}

/* Appends the i-th of n texts as a seed. */
static inline bool fuzz_seed_text(const char *const *texts, size_t n, size_t i,
                                  px_buf *out)
{
    return i < n && !px_buf_add(out, texts[i], strlen(texts[i]));
}

/* Aborts if the condition is false, so that libFuzzer keeps the input. assert() may be disabled. */
#define FUZZ_MUST(condition)                                                \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                        \
        }                                                                   \
    } while (0)

#endif
