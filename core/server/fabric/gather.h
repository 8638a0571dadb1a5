/* SPDX-License-Identifier: BSD-3-Clause */
/* Contributions of fabric components to a launch, gathered from all of them: in place,
 * or in a child process of each that may have to wait. */
#ifndef PX_SERVER_FABRIC_GATHER_H
#define PX_SERVER_FABRIC_GATHER_H

#include "core/base/err.h"
#include "core/types/type.h"

struct px_server;
struct px_share;
struct px_gather;

/* out has what every node of the job is to be given, if there is anything; it is the
 * callee's. On failure it is empty, and err has the line for the log. */
typedef void (*px_gather_fn)(void *arg, pmix_status_t status, px_infos *out,
                             const struct px_err *err);

/* Calls fn once, from the loop and perhaps before this returns. If it is still to come,
 * *g is what px_gather_cancel takes until then, else NULL. A failure here is one that
 * fn does not hear of. */
pmix_status_t px_gather_start(struct px_server *srv, const char *nspace,
                              const pmix_info_t *info, size_t n, px_gather_fn fn,
                              void *arg, struct px_gather **g, struct px_err *err);
/* Tries, in child processes, apply and envars of components that are not of this
 * library (px_shares_is_tried), and marks the shares of those that do not come to an
 * end as not present. shares stays until fn is called, which then gets an empty out.
 * Status, calls of fn and *g as above. */
pmix_status_t px_gather_try(struct px_server *srv, const char *nspace,
                            struct px_share *shares, px_gather_fn fn, void *arg,
                            struct px_gather **g, struct px_err *err);
/* fn is not called any more. NULL is fine. */
void px_gather_cancel(struct px_gather *g);

/* Jobs whose gathering ends without them: fn hears PMIX_ERR_JOB_CANCELED. nspace NULL:
 * all, for the server ends. */
void px_gather_drop(struct px_server *srv, const char *nspace);

/* The job is over, or its launch has failed. */
void px_pnet_forget(struct px_server *srv, const char *nspace);
/* PMIX_ERR_NOT_AVAILABLE: a component that no job is to go without is not there. */
pmix_status_t px_pnet_check_required(const char *nspace, struct px_err *err);

#endif
