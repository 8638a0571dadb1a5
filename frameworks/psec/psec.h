/* SPDX-License-Identifier: BSD-3-Clause */
/* psec: from a selected component to its operations. The contract is in README.md. */
#ifndef PX_FRAMEWORKS_PSEC_H
#define PX_FRAMEWORKS_PSEC_H

#include "tenon/psec.h"

static inline const struct px_psec_ops *px_psec_ops(const struct px_module *m)
{
    return (const struct px_psec_ops *)m->component->ops;
}

#endif
