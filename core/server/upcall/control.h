/* SPDX-License-Identifier: BSD-3-Clause */
/* Job control of local processes, for a host without a function for it. Loop thread
 * only. */
#ifndef PX_SERVER_UPCALL_CONTROL_H
#define PX_SERVER_UPCALL_CONTROL_H

#include "pmix_common.h"

struct px_server;
struct px_upcall;

/* Serves a request whose clean-up was taken out: see px_forward.own. */
pmix_status_t px_control(struct px_server *srv, struct px_upcall *u);

#endif
