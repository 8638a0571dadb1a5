/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins and ends the roles of this process. The process lock must be held; not on the
 * loop thread. */
#ifndef PX_ROLE_ROLE_H
#define PX_ROLE_ROLE_H

#include "core/base/err.h"
#include "core/rt/process.h"
#include "pmix_common.h"

/* First role: reads parameters, starts the loop (info may carry
 * PMIX_EXTERNAL_PROGRESS), makes the model and the event handlers. Each: opens the
 * frameworks it needs. On failure nothing stays. PMIX_ERR_BAD_PARAM: a parameter has a
 * bad value or selects a component that does not exist; PMIX_ERR_NOT_FOUND: a framework
 * is left without a component; PMIX_ERR_WOULD_BLOCK: on the loop thread. Nothing else
 * logs err. */
pmix_status_t px_role_begin(enum px_role role, const pmix_info_t *info, size_t n_info,
                            struct px_err *err);
/* Last role: closes components, stops the loop, frees everything, so that a later role
 * starts afresh. Others: closes what only this role needed. Clients, servers and tools
 * first take out of px_process what they put into it. */
void px_role_end(enum px_role role);

/* On the loop: gives this process the name of the server in it (px_client.own), which
 * then answers the API calls. PMIX_ERR_NOMEM. */
pmix_status_t px_role_serve_self(struct px_client *client);

#endif
