/* SPDX-License-Identifier: BSD-3-Clause */
/* Contributions of fabric components to a launch. They are gathered from all
 * components, in place or in child processes. */
#ifndef PX_SERVER_FABRIC_GATHER_H
#define PX_SERVER_FABRIC_GATHER_H

#include "core/base/err.h"
#include "core/types/type.h"

struct px_server;
struct px_share;
struct px_gather;

/* Called at the end of a gather. out has the infos for every node of the job, or none;
 * the callee owns it. On failure out is empty, and err has the line for the log. */
typedef void (*px_gather_fn)(void *arg, px_infos *out, struct px_err *err);

/* Gathers contributions. Calls fn once, from the loop, perhaps before this function
 * returns. */
void px_gather_start(struct px_server *srv, const char *nspace, const pmix_info_t *info,
                     size_t n, px_gather_fn fn, void *arg);
/* Tries apply and envars of other libraries' components (px_share_is_tried) in child
 * processes. A share whose trial does not finish becomes not present. Calls fn like
 * px_gather_start, with an empty out; shares must stay valid until then. */
void px_gather_try(struct px_server *srv, const char *nspace, struct px_share *shares,
                   px_gather_fn fn, void *arg);
/* Cancels the gathers whose fn has this argument, without a call. */
void px_gather_cancel(struct px_server *srv, const void *arg);

/* Ends the gathers of a job: fn gets PMIX_ERR_JOB_CANCELED. nspace NULL: all gathers,
 * as the server ends. */
void px_gather_drop(struct px_server *srv, const char *nspace);

/* Makes components and server forget a job that has ended or whose launch failed. */
void px_pnet_forget(struct px_server *srv, const char *nspace);
/* Checks that all required components are loaded. PMIX_ERR_NOT_AVAILABLE if one is
 * not. */
pmix_status_t px_pnet_check_required(const char *nspace, struct px_err *err);

#endif
