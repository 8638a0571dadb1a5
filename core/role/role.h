/* SPDX-License-Identifier: BSD-3-Clause */
/* Begin and end of this process's roles. The caller holds the process lock and is not
 * the loop thread. */
#ifndef PX_ROLE_ROLE_H
#define PX_ROLE_ROLE_H

#include "core/base/err.h"
#include "core/rt/process.h"
#include "pmix_common.h"

/* Begins a role. The first role reads parameters, starts the loop (info may have
 * PMIX_EXTERNAL_PROGRESS), makes the model and the event handlers. Every role opens the
 * frameworks it needs. On failure nothing remains. Returns PMIX_ERR_BAD_PARAM for a bad
 * parameter value or a missing component, PMIX_ERR_NOT_FOUND if a framework has no
 * component. The caller logs err. */
pmix_status_t px_role_begin(enum px_role role, const pmix_info_t *info, size_t n_info,
                            struct px_err *err);
/* Ends a role and closes the components that only this role needed. The last role stops
 * the loop and frees everything, so that a later role starts afresh. Callers first
 * remove their data from px_process. */
void px_role_end(enum px_role role);

/* Connects this process to its own server (px_client.own), which gives the process its
 * name and answers the API calls. On the loop. Returns PMIX_ERR_NOMEM. */
pmix_status_t px_role_serve_self(struct px_client *client);

#endif
