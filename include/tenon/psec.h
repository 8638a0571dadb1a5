/* SPDX-License-Identifier: BSD-3-Clause */
/* psec: credentials at connect time. The component's name is what travels. Contract in
 * frameworks/psec/README.md. */
#ifndef TENON_PSEC_H
#define TENON_PSEC_H

#include "tenon/ptl.h"

#define PX_PSEC_ABI 1u

struct px_psec_ops {
    /* A fresh credential of this process in malloc memory. Any thread. */
    pmix_status_t (*create)(void *self, uint8_t **cred, size_t *n);
    /* PMIX_SUCCESS if the credential is that of uid and gid and does not contradict
     * what the kernel attests; PMIX_ERR_INVALID_CRED otherwise. gid (gid_t)-1: any. */
    pmix_status_t (*validate)(void *self, const uint8_t *cred, size_t n, uid_t uid,
                              gid_t gid, const struct px_ptl_peer *peer);
};

#endif
