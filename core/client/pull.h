/* SPDX-License-Identifier: BSD-3-Clause */
/* The receivers of pulls: output goes on to the program's function, or to this
 * process's own stdout and stderr, and to files, in the way that was asked for. */
#ifndef PX_CLIENT_PULL_H
#define PX_CLIENT_PULL_H

#include "core/base/err.h"
#include "core/link/iof.h"

/* Makes a receiver; fn NULL: for the own streams. The directives that the receiver
 * carries out are left out of *rest, whose members are borrowed and whose array is not.
 * Any thread. PMIX_ERR_BAD_PARAM: a directive makes no sense, or contradicts another,
 * and err names both. Else as px_pull_prepare. */
pmix_status_t px_pull_create(pmix_iof_cbfunc_t fn, const pmix_info_t *info, size_t n,
                             px_infos *rest, struct px_iof **iof, struct px_err *err);
/* On the loop, before it is added: PMIX_ERR_NOMEM. */
pmix_status_t px_pull_start(struct px_iof *iof);
/* Of one that was never added; any thread. NULL is fine. */
void px_pull_destroy(struct px_iof *iof);
/* Opens the components that write to the own streams. Any thread. PMIX_ERR_WOULD_BLOCK:
 * on the loop, while another thread begins or ends the library. */
pmix_status_t px_pull_prepare(struct px_err *err);
/* One for the output of spawned processes, started. */
struct px_iof *px_pull_unasked(void);

#endif
