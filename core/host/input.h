/* SPDX-License-Identifier: BSD-3-Clause */
/* This process's stdin, for the one process that is to have it. Loop thread only. */
#ifndef PX_HOST_INPUT_H
#define PX_HOST_INPUT_H

#include "core/base/err.h"
#include "core/rt/loop.h"

struct px_input;

/* *fd is what the new process gets as its stdin; *input, which may be NULL, what keeps
 * it going meanwhile. The caller closes *fd after the start unless it is 0. */
pmix_status_t px_input_open(struct px_loop *loop, struct px_input **input, int *fd,
                            struct px_err *err);
/* The process has ended, or was never started. NULL is fine. */
void px_input_close(struct px_input *input);

#endif
