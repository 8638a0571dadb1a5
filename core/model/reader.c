/* SPDX-License-Identifier: BSD-3-Clause */
/* Entry to the model of this process through its gate. */
#include "core/model/reader.h"

#include "core/rt/process.h"

const struct px_model *px_model_enter(struct px_gate_count **count)
{
    const struct px_model *m = NULL;

    *count = px_read_gate_enter(&px_process.model_gate);
    if (!*count)
        return NULL;
    if (!px_process_on_loop())
        m = px_process.model;
    if (!m)
        px_read_gate_leave(*count);
    return m;
}

const struct px_model *px_model_await(struct px_gate_count **count)
{
    *count = px_read_gate_await(&px_process.model_gate);
    const struct px_model *m = px_process.model;
    if (!m)
        px_read_gate_leave(*count);
    return m;
}
