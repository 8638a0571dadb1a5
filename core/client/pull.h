/* SPDX-License-Identifier: BSD-3-Clause */
/* The receivers of pulls: output goes on to the program's function. */
#ifndef PX_CLIENT_PULL_H
#define PX_CLIENT_PULL_H

#include "core/link/iof.h"
#include "pmix_tool.h"

/* Pieces go to fn. Any thread. PMIX_ERR_NOMEM. */
pmix_status_t px_pull_create(pmix_iof_cbfunc_t fn, struct px_iof **iof);
/* Of one that was never added; any thread. NULL is fine. */
void px_pull_destroy(struct px_iof *iof);

#endif
