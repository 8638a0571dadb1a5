/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for fabric resources (PMIX_ALLOC_FABRIC) among what a host says of a job,
 * and what answers them: infos as the Standard wants them stored under the name that
 * the request gives. */
#ifndef PX_PNET_REQUEST_H
#define PX_PNET_REQUEST_H

#include "core/base/err.h"
#include "core/types/type.h"
#include "tenon/pnet.h"

enum { PX_FABRIC_KEY_B = 16 };

/* Texts are borrowed from the info; NULL: not said. */
struct px_fabric_request {
    const char *id, *type, *plane;
    uint32_t per_proc, per_node; /* endpoints; 0: not said */
    bool with_key;
    const char *required; /* a key that is marked so, and is none of these */
};

/* False: the host asks for variables to forward, and nothing else. */
bool px_fabric_is_wanted(const struct px_pnet_job *job);
/* True: the next request of a job from info[*at] on; *at is behind it. False: there is
 * none, or *rc is a failure; PMIX_ERR_BAD_PARAM, with a line in err, for one that is
 * malformed. */
bool px_fabric_request_next(const struct px_pnet_job *job, size_t *at,
                            struct px_fabric_request *r, pmix_status_t *rc,
                            struct px_err *err);

/* A new one that no process can guess. PMIX_ERR_NOT_AVAILABLE: the system has no
 * randomness yet. */
pmix_status_t px_fabric_key_make(uint8_t key[PX_FABRIC_KEY_B], struct px_err *err);

/* -- allocations ------------------------------------------------------------------- */

/* Infos whose key is the name, and whose value is an array of infos, of which the first
 * has that key, too. */

/* Appends one to *out: what it is as text, its type, what the request (may be NULL) has
 * asked for, and key, unless that is NULL. PMIX_ERR_BAD_PARAM, with a line in err, if
 * out has one of that name. */
pmix_status_t px_fabric_answer(px_infos *out, const char *id, const char *type,
                               const char *text, const struct px_fabric_request *r,
                               const uint8_t *key, struct px_err *err);
/* Whether a stranger's info is one; its parts. */
bool px_fabric_is_answer(const pmix_info_t *info, const pmix_info_t **parts, size_t *n);

#endif
