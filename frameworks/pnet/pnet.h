/* SPDX-License-Identifier: BSD-3-Clause */
/* pnet: from a selected component to its operations. The contract is in README.md. */
#ifndef PX_FRAMEWORKS_PNET_H
#define PX_FRAMEWORKS_PNET_H

#include "tenon/pnet.h"

static inline const struct px_pnet_ops *px_pnet_ops(const struct px_module *m)
{
    return (const struct px_pnet_ops *)m->component->ops;
}

#endif
