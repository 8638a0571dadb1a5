/* SPDX-License-Identifier: BSD-3-Clause */
/* ptl: from a selected component to its operations. The contract is in README.md. */
#ifndef PX_FRAMEWORKS_PTL_H
#define PX_FRAMEWORKS_PTL_H

#include "tenon/ptl.h"

static inline const struct px_ptl_ops *px_ptl_ops(const struct px_module *m)
{
    return (const struct px_ptl_ops *)m->component->ops;
}

#endif
