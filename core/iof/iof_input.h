/* SPDX-License-Identifier: BSD-3-Clause */
/* This process's own stdin, of whatever kind, read chunk by chunk as there is use for
 * it; the loop never blocks. Loop thread only. */
#ifndef PX_IOF_IOF_INPUT_H
#define PX_IOF_IOF_INPUT_H

#include "core/base/err.h"
#include "core/rt/loop.h"

#define PX_IOF_CHUNK_B 65536u

struct px_iof_input;

struct px_iof_input_user {
    /* A chunk has come; no bytes are the end, once. No more is read before
     * px_iof_input_go_on, which may be called within, as may px_iof_input_close. */
    void (*take)(void *arg, const uint8_t *bytes, size_t n);
    /* Asked before each read; false is as if it had not gone on. NULL: always. */
    bool (*wants)(void *arg);
    void *arg;
};

/* Nothing is read yet. From a terminal nothing is while this process is in the
 * background. */
pmix_status_t px_iof_input_open(struct px_loop *loop,
                                const struct px_iof_input_user *user,
                                struct px_iof_input **input, struct px_err *err);
/* One more chunk, never within. Nothing after the end. */
void px_iof_input_go_on(struct px_iof_input *input);
/* NULL is fine. */
void px_iof_input_close(struct px_iof_input *input);

#endif
