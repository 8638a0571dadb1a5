/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for fabric resources (PMIX_ALLOC_FABRIC) in a host's description of a job,
 * and their results. Results are infos as the Standard describes, stored under the name
 * that the request gives. */
#ifndef PX_PNET_REQUEST_H
#define PX_PNET_REQUEST_H

#include "core/base/err.h"
#include "core/types/type.h"
#include "tenon/pnet.h"

enum { PX_FABRIC_KEY_B = 16 };

/* Request for fabric resources. Texts are borrowed from the info; NULL: not given. */
struct px_fabric_request {
    const char *id, *type, *plane;
    uint32_t per_proc, per_node; /* endpoints; 0: not given */
    bool with_key;
    const char *required; /* required key that is unknown here; NULL: none */
};

/* False if the host asks only for variables to forward. */
bool px_fabric_is_wanted(const struct px_pnet_job *job);
/* Reads the next request of a job from info[*at] on, and moves *at behind the request.
 * False: no more requests, or *rc is a failure. A malformed request is
 * PMIX_ERR_BAD_PARAM with a text in err. */
bool px_fabric_request_next(const struct px_pnet_job *job, size_t *at,
                            struct px_fabric_request *r, pmix_status_t *rc,
                            struct px_err *err);

/* Makes a random key. PMIX_ERR_NOT_AVAILABLE: the system has no randomness yet. */
pmix_status_t px_fabric_key_make(uint8_t key[PX_FABRIC_KEY_B], struct px_err *err);

/* -- allocations ------------------------------------------------------------------- */

/* Format of an allocation: an info with the name as key. The value is an array of
 * infos, and the first of these has the name as key too. */

/* Appends an allocation to *out: its text, its type, the values of the request (may be
 * NULL), and key unless NULL. PMIX_ERR_BAD_PARAM, with a text in err, if out has an
 * allocation of that name. */
pmix_status_t px_fabric_answer(px_infos *out, const char *id, const char *type,
                               const char *text, const struct px_fabric_request *r,
                               const uint8_t *key, struct px_err *err);
/* True if the info of another component is an allocation. Sets its parts. */
bool px_fabric_is_answer(const pmix_info_t *info, const pmix_info_t **parts, size_t *n);

#endif
