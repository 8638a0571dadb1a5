/* SPDX-License-Identifier: BSD-3-Clause */
/* The receivers of pulls: output goes on to the program's function, or to this
 * process's own stdout and stderr, and to files, in the way that was asked for. */
#ifndef PX_CLIENT_PULL_H
#define PX_CLIENT_PULL_H

#include "core/base/err.h"
#include "core/link/iof.h"

/* fn NULL: the own streams. The directives that it works off itself are left out of
 * *rest, whose members are borrowed and whose array is not. Any thread; the loop's gets
 * PMIX_ERR_WOULD_BLOCK if components have to be opened. PMIX_ERR_BAD_PARAM: a directive
 * makes no sense, or contradicts another, as err says. */
pmix_status_t px_pull_create(pmix_iof_cbfunc_t fn, const pmix_info_t *info, size_t n,
                             px_infos *rest, struct px_iof **iof, struct px_err *err);
/* On the loop, before it is added: PMIX_ERR_NOMEM. */
pmix_status_t px_pull_start(struct px_iof *iof);
/* Of one that was never added; any thread. NULL is fine. */
void px_pull_destroy(struct px_iof *iof);
/* Opens what it takes to write to the own streams. Any thread but the loop's. */
pmix_status_t px_pull_prepare(struct px_err *err);
/* One for the output of spawned processes, started. */
struct px_iof *px_pull_unasked(void);

#endif
