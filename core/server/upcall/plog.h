/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Log served by the server itself. Loop thread only. */
#ifndef PX_SERVER_UPCALL_PLOG_H
#define PX_SERVER_UPCALL_PLOG_H

#include "core/types/type.h"

struct px_server;
struct px_upcall;

/* Writes the texts of a request to this process's own stdout and stderr, in the order
 * of calls. Answers as a host's function does: PMIX_SUCCESS means that the answer
 * follows by px_upcall_op_cb, once all is written. The answer is PMIX_SUCCESS;
 * PMIX_ERR_PARTIAL_SUCCESS if a channel is not served; PMIX_ERR_NOT_AVAILABLE if a
 * stream is closed; PMIX_ERR_NOT_SUPPORTED if no channel is served, or not all that are
 * required, or not a directive that is required; PMIX_ERR_BAD_PARAM for a text of
 * another type; PMIX_ERR_NOMEM. After the last three nothing is written, unless memory
 * ends between two texts. (PMIx Standard 5.0, PMIx_Log) */
pmix_status_t px_plog(struct px_server *srv, struct px_upcall *u);

#endif
