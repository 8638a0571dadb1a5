/* SPDX-License-Identifier: BSD-3-Clause */
/* Access to the model from threads other than the loop's. */
#ifndef PX_MODEL_READER_H
#define PX_MODEL_READER_H

#include "core/base/gate.h"
#include "core/model/nspace.h"

/* Lets another thread than the loop's read the model until px_read_gate_leave(*count),
 * without a system call. Returns NULL on the loop's thread, while the loop changes the
 * model, or without a model. */
const struct px_model *px_model_enter(struct px_gate_count **count);
/* Works like px_model_enter, but waits while the loop changes the model. The loop
 * thread may call this function outside of changes. Returns NULL without a model. */
const struct px_model *px_model_await(struct px_gate_count **count);

#endif
