/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Get_credential and PMIx_Validate_credential served by the library, with the
 * components of psec. Loop thread only. */
#ifndef PX_SERVER_SERVICE_CREDENTIAL_H
#define PX_SERVER_SERVICE_CREDENTIAL_H

#include "core/types/type.h"

struct px_server;
struct px_upcall;

/* Makes a credential that proves the user of the request's process, as the connection
 * proves it. PMIX_SUCCESS: the answer follows by px_upcall_credential_cb, with
 * PMIX_CRED_TYPE. That answer may be PMIX_ERR_NO_PERMISSIONS if the server cannot act
 * for the user; PMIX_ERR_NOT_AVAILABLE if a service is absent; PMIX_ERR_TIMEOUT after
 * PMIX_TIMEOUT seconds, or server_service_timeout. Fails with PMIX_ERR_NOT_SUPPORTED if
 * no component makes a wanted type; PMIX_ERR_BAD_PARAM for a directive of another type;
 * PMIX_ERR_NOMEM. (PMIx Standard 5.0, PMIx_Get_credential) */
pmix_status_t px_credential_issue(struct px_server *srv, struct px_upcall *u);
/* Validates the credential of a request. The answer comes by px_upcall_validation_cb,
 * with PMIX_CRED_TYPE, PMIX_USERID and PMIX_GRPID. Statuses are those of
 * px_credential_issue, and PMIX_ERR_INVALID_CRED. (PMIx Standard 5.0,
 * PMIx_Validate_credential) */
pmix_status_t px_credential_check(struct px_server *srv, struct px_upcall *u);

#endif
