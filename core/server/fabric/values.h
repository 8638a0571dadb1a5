/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that fabric components have for the processes of a job. Components are asked
 * when the job is registered and their contribution is applied, in any order. They are
 * asked again after each change of either. The functions fail with a line in err;
 * values that were put before stay. */
#ifndef PX_SERVER_FABRIC_VALUES_H
#define PX_SERVER_FABRIC_VALUES_H

#include "core/server/fabric/shares.h"

struct px_nspace;
struct px_server;

pmix_status_t px_values_applied(struct px_server *srv, const char *nspace,
                                const struct px_share *shares, struct px_err *err);
pmix_status_t px_values_registered(struct px_server *srv, struct px_nspace *ns,
                                   struct px_err *err);
/* Forgets a contribution. */
void px_values_drop(struct px_server *srv, const char *nspace);

#endif
