/* SPDX-License-Identifier: BSD-3-Clause */
/* Entry to the model of this process through its gate. */
#include "core/model/reader.h"

#include "core/rt/process.h"

const struct px_model *px_model_enter(void)
{
    const struct px_model *m = NULL;

    if (!px_read_gate_enter(&px_process.model_gate))
        return NULL;
    if (!px_process_on_loop())
        m = px_process.model;
    if (!m)
        px_model_leave();
    return m;
}

const struct px_model *px_model_await(void)
{
    px_read_gate_await(&px_process.model_gate);
    if (px_process.model)
        return px_process.model;
    px_model_leave();
    return NULL;
}

void px_model_leave(void)
{
    px_read_gate_leave(&px_process.model_gate);
}
