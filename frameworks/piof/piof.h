/* SPDX-License-Identifier: BSD-3-Clause */
/* piof: from a selected component to its operations. The contract is in README.md. */
#ifndef PX_FRAMEWORKS_PIOF_H
#define PX_FRAMEWORKS_PIOF_H

#include "tenon/piof.h"

static inline const struct px_piof_ops *px_piof_ops(const struct px_module *m)
{
    return (const struct px_piof_ops *)m->component->ops;
}

#endif
