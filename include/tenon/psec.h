/* SPDX-License-Identifier: BSD-3-Clause */
/* psec: credentials at connect time. The wire carries the component's name. Contract in
 * frameworks/psec/README.md. */
#ifndef TENON_PSEC_H
#define TENON_PSEC_H

#include "tenon/ptl.h"

#define PX_PSEC_ABI 1u

struct px_psec_ops {
    /* Makes a new credential of this process, malloc'd. Any thread. */
    pmix_status_t (*create)(void *self, uint8_t **cred, size_t *n);
    /* Returns PMIX_SUCCESS if the credential is that of uid and gid, and agrees with
     * the ids that the kernel attests; otherwise PMIX_ERR_INVALID_CRED. gid (gid_t)-1:
     * any. */
    pmix_status_t (*validate)(void *self, const uint8_t *cred, size_t n, uid_t uid,
                              gid_t gid, const struct px_ptl_peer *peer);
};

#endif
