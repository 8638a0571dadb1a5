/* SPDX-License-Identifier: BSD-3-Clause */
/* Fabric components in a launch. Each function fails with a line in err. After a
 * failure neither the components nor the server keep anything of the job. */
#ifndef PX_SERVER_FABRIC_APPLY_H
#define PX_SERVER_FABRIC_APPLY_H

#include "core/server/host.h"

/* Applies the contributions that px_gather_start on the launching node put into info.
 * Components of other libraries are tried first. Calls fn once, from the loop, perhaps
 * before this function returns; info stays valid until then. */
void px_pnet_apply(struct px_server *srv, const char *nspace, const pmix_info_t *info,
                   size_t n, px_server_setup_fn fn, void *arg);
/* Applies at once, without a trial, for a caller that cannot wait. */
pmix_status_t px_pnet_apply_untried(struct px_server *srv, const char *nspace,
                                    const pmix_info_t *info, size_t n,
                                    struct px_err *err);
/* Adds the variables that components have for a registered job which they prepared.
 * After a failure those variables are missing. */
pmix_status_t px_pnet_registered(struct px_server *srv, const char *nspace,
                                 struct px_err *err);
#endif
