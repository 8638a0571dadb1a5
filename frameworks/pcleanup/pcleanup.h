/* SPDX-License-Identifier: BSD-3-Clause */
/* pcleanup: from a selected component to its operations. The contract is in
 * README.md. */
#ifndef PX_FRAMEWORKS_PCLEANUP_H
#define PX_FRAMEWORKS_PCLEANUP_H

#include "tenon/pcleanup.h"

static inline const struct px_pcleanup_ops *px_pcleanup_ops(const struct px_module *m)
{
    return (const struct px_pcleanup_ops *)m->component->ops;
}

#endif
