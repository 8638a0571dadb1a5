/* SPDX-License-Identifier: BSD-3-Clause */
/* pfexec: from a selected component to its operations. The contract is in README.md. */
#ifndef PX_FRAMEWORKS_PFEXEC_H
#define PX_FRAMEWORKS_PFEXEC_H

#include "tenon/pfexec.h"

static inline const struct px_pfexec_ops *px_pfexec_ops(const struct px_module *m)
{
    return (const struct px_pfexec_ops *)m->component->ops;
}

#endif
