/* SPDX-License-Identifier: BSD-3-Clause */
/* Access to the model from threads other than the loop's. */
#ifndef PX_MODEL_READER_H
#define PX_MODEL_READER_H

#include "core/model/nspace.h"

/* Lets another thread than the loop's read the model until px_model_leave, without a
 * system call. Returns NULL on the loop's thread, while the loop changes the model, or
 * without a model. */
const struct px_model *px_model_enter(void);
/* Works like px_model_enter, but waits while the loop changes the model. The loop
 * thread may call this function outside of changes. Returns NULL without a model. */
const struct px_model *px_model_await(void);
void px_model_leave(void);

#endif
