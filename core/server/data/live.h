/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that change while a job runs: the server computes them for each request. Loop
 * thread only. */
#ifndef PX_SERVER_DATA_LIVE_H
#define PX_SERVER_DATA_LIVE_H

#include "core/types/type.h"

struct px_req;

/* Computes the value of a live key (px_key_is_live) for a process. The caller destructs
 * *out. Charges the memory of the value to the request. PMIX_ERR_NOT_FOUND;
 * PMIX_ERR_OUT_OF_RESOURCE; PMIX_ERR_NOMEM. */
pmix_status_t px_live_find(struct px_req *req, const pmix_proc_t *proc, const char *key,
                           pmix_value_t *out);

#endif
