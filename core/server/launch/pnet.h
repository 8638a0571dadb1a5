/* SPDX-License-Identifier: BSD-3-Clause */
/* Fabric components and the launch. Each fails with a line in err and then nothing
 * stays, neither with the components nor with us. */
#ifndef PX_SERVER_LAUNCH_PNET_H
#define PX_SERVER_LAUNCH_PNET_H

#include "core/server/server.h"

/* info is of px_gather_start on the launching node, among others. */
pmix_status_t px_pnet_apply(struct px_server *srv, const char *nspace,
                            const pmix_info_t *info, size_t n, struct px_err *err);
/* The job is known now: components that have prepared it may have variables of its
 * ranks. If it fails, those are missing. */
pmix_status_t px_pnet_registered(struct px_server *srv, const char *nspace,
                                 struct px_err *err);
#endif
