/* SPDX-License-Identifier: BSD-3-Clause */
/* Fabric components and the launch. Each fails with a line in err and then nothing
 * stays, neither with the components nor with us. */
#ifndef PX_SERVER_LAUNCH_PNET_H
#define PX_SERVER_LAUNCH_PNET_H

#include "core/server/server.h"

/* Appends to out what every node of the job has to be given, if there is anything. */
pmix_status_t px_pnet_contribute(struct px_server *srv, const char *nspace,
                                 const pmix_info_t *info, size_t n, px_infos *out,
                                 struct px_err *err);
/* info is of px_pnet_contribute on the launching node, among others. */
pmix_status_t px_pnet_apply(struct px_server *srv, const char *nspace,
                            const pmix_info_t *info, size_t n, struct px_err *err);

#endif
