/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Log served by the library, with the components of plog. Loop thread only. */
#ifndef PX_SERVER_SERVICE_LOG_H
#define PX_SERVER_SERVICE_LOG_H

#include "core/types/type.h"

struct px_server;
struct px_upcall;

/* Passes the texts of a request to their channels, in the order of calls. PMIX_SUCCESS:
 * the answer follows by px_upcall_op_cb, after each channel has taken its texts. That
 * answer is PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS if no component has one of the
 * channels; PMIX_ERR_NOT_AVAILABLE if a stream is closed or a service absent;
 * PMIX_ERR_TIMEOUT if a service does not answer; PMIX_ERR_NO_PERMISSIONS if the server
 * cannot become the user that a service should see. With PMIX_LOG_ONCE it is the status
 * of the last channel tried. Fails with PMIX_ERR_NOT_SUPPORTED if no component has any
 * channel, or one that is required; PMIX_ERR_BAD_PARAM for a text, priority or time of
 * another type; PMIX_ERR_OUT_OF_RESOURCE for a text that is too long to format;
 * PMIX_ERR_NOMEM. Then nothing is written, unless memory runs out between two texts.
 * (PMIx Standard 5.0, PMIx_Log) */
pmix_status_t px_log_serve(struct px_server *srv, struct px_upcall *u);

#endif
