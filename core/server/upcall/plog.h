/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Log served by the server itself. Loop thread only. */
#ifndef PX_SERVER_UPCALL_PLOG_H
#define PX_SERVER_UPCALL_PLOG_H

#include "core/types/type.h"

struct px_server;
struct px_upcall;

/* Writes the texts of a request to this process's stdout and stderr, in the order of
 * calls. PMIX_SUCCESS: the answer follows by px_upcall_op_cb, after all was written.
 * That answer is PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS if a channel is not supported;
 * PMIX_ERR_NOT_AVAILABLE if a stream is closed. Fails with PMIX_ERR_NOT_SUPPORTED if no
 * channel, or not all that is required, is supported; PMIX_ERR_BAD_PARAM for a text of
 * another type; PMIX_ERR_NOMEM. Then nothing is written, unless memory runs out between
 * two texts. (PMIx Standard 5.0, PMIx_Log) */
pmix_status_t px_plog(struct px_server *srv, struct px_upcall *u);

#endif
