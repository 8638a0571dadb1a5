/* SPDX-License-Identifier: BSD-3-Clause */
/* This process's own stdin, of any kind, read in chunks on demand. The loop never
 * blocks. Loop thread only. */
#ifndef PX_IOF_IOF_INPUT_H
#define PX_IOF_IOF_INPUT_H

#include "core/base/err.h"
#include "core/rt/loop.h"

#define PX_IOF_CHUNK_B 65536u

struct px_iof_input;

struct px_iof_input_user {
    /* Receives a chunk; an empty chunk is the end, once. The next read follows
     * px_iof_input_go_on. This function may call px_iof_input_go_on and
     * px_iof_input_close. */
    void (*take)(void *arg, const uint8_t *bytes, size_t n);
    /* Called before each read; false cancels the read until px_iof_input_go_on. NULL:
     * always true. */
    bool (*wants)(void *arg);
    void *arg;
};

/* Opens stdin without reading. A terminal is not read while this process is in the
 * background. */
pmix_status_t px_iof_input_open(struct px_loop *loop,
                                const struct px_iof_input_user *user,
                                struct px_iof_input **input, struct px_err *err);
/* Requests one more chunk, which never arrives within the call. Does nothing after the
 * end. */
void px_iof_input_go_on(struct px_iof_input *input);
/* Closes the input. NULL is allowed. */
void px_iof_input_close(struct px_iof_input *input);

#endif
