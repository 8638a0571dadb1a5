/* SPDX-License-Identifier: BSD-3-Clause */
/* gds: from a selected component to its operations. The contract is in README.md. */
#ifndef PX_FRAMEWORKS_GDS_H
#define PX_FRAMEWORKS_GDS_H

#include "tenon/gds.h"

static inline const struct px_gds_ops *px_gds_ops(const struct px_module *m)
{
    return (const struct px_gds_ops *)m->component->ops;
}

#endif
