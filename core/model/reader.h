/* SPDX-License-Identifier: BSD-3-Clause */
/* Readers of the model in threads other than the loop's. */
#ifndef PX_MODEL_READER_H
#define PX_MODEL_READER_H

#include "core/model/nspace.h"

/* Lets a thread other than the loop's read the model of this process until
 * px_model_leave. NULL: the loop is changing the model, there is no model, or this is
 * the loop's thread. No system call. */
const struct px_model *px_model_enter(void);
/* Waits while the loop changes the model; the loop thread may call, too, but not inside
 * a change. NULL: there is no model. */
const struct px_model *px_model_await(void);
void px_model_leave(void);

#endif
