/* SPDX-License-Identifier: BSD-3-Clause */
/* Fabric components and the launch. Each fails with a line in err and then nothing
 * stays, neither with the components nor with us. */
#ifndef PX_SERVER_FABRIC_APPLY_H
#define PX_SERVER_FABRIC_APPLY_H

#include "core/base/err.h"
#include "core/types/type.h"

struct px_pnet_apply;
struct px_server;

/* err has the line for the log. */
typedef void (*px_pnet_applied_fn)(void *arg, pmix_status_t status,
                                   const struct px_err *err);

/* Applies what px_gather_start on the launching node has put into info, among others,
 * after a trial of components that are not of this library. Calls fn once, from the
 * loop and perhaps before this returns; info stays until then. *out is not NULL if fn
 * is still to be called. A failure here is one that fn is not called for. */
pmix_status_t px_pnet_apply(struct px_server *srv, const char *nspace,
                            const pmix_info_t *info, size_t n, px_pnet_applied_fn fn,
                            void *arg, struct px_pnet_apply **out, struct px_err *err);
/* Applies at once, without a trial: for a caller that cannot wait. */
pmix_status_t px_pnet_apply_untried(struct px_server *srv, const char *nspace,
                                    const pmix_info_t *info, size_t n,
                                    struct px_err *err);
/* The job is known now: components that have prepared it may have variables of its
 * ranks. If it fails, those are missing. */
pmix_status_t px_pnet_registered(struct px_server *srv, const char *nspace,
                                 struct px_err *err);
#endif
