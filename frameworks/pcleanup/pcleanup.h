/* SPDX-License-Identifier: BSD-3-Clause */
/* pcleanup: from a selected component to its operations, and sums of what it tells. The contract is in
 * README.md. */
#ifndef PX_FRAMEWORKS_PCLEANUP_H
#define PX_FRAMEWORKS_PCLEANUP_H

#include "tenon/pcleanup.h"

static inline const struct px_pcleanup_ops *px_pcleanup_ops(const struct px_module *m)
{
    return (const struct px_pcleanup_ops *)m->component->ops;
}

static inline void px_pcleanup_add(struct px_pcleanup_totals *all,
                                   const struct px_pcleanup_totals *more)
{
    all->files += more->files;
    all->dirs += more->dirs;
    all->kept += more->kept;
    all->foreign += more->foreign;
    all->failed += more->failed;
}

#endif
