/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins and ends a role of this process: the machine below, the model, the event handlers. */
#ifndef PX_NOTIFY_ROLES_H
#define PX_NOTIFY_ROLES_H

#include "core/rt/process.h"

/* The process lock is held; not on the loop thread. On failure nothing stays. */
pmix_status_t px_role_begin(enum px_role role, const pmix_info_t *info, size_t n_info,
                            struct px_err *err);
void px_role_end(enum px_role role);

#endif
