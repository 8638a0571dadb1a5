/* SPDX-License-Identifier: BSD-3-Clause */
/* psec: credentials of connecting processes, whose component the wire names, and of
 * programs. Contract in frameworks/psec/README.md. */
#ifndef TENON_PSEC_H
#define TENON_PSEC_H

#include "tenon/ptl.h"

#define PX_PSEC_ABI 1u

enum px_psec_flag {
    /* create, issue and inspect may wait, so they run in child processes. The component
     * serves programs, and connections of tools on other machines. */
    PX_PSEC_WAITS = 1,
};

struct px_psec_ops {
    /* Makes a new credential of this process, malloc'd. Any thread. */
    pmix_status_t (*create)(void *self, uint8_t **cred, size_t *n);
    /* Returns PMIX_SUCCESS if the credential is that of uid and gid, and agrees with
     * the ids that the kernel attests; otherwise PMIX_ERR_INVALID_CRED. gid (gid_t)-1:
     * any. */
    pmix_status_t (*validate)(void *self, const uint8_t *cred, size_t n, uid_t uid,
                              gid_t gid, const struct px_ptl_peer *peer);

    /* Members below serve PMIx_Get_credential and PMIx_Validate_credential; NULL: no
     * such credentials. Loop thread; with PX_PSEC_WAITS a child process, for a program
     * with the ids of its user. */
    /* Makes a credential that proves these ids to other processes, malloc'd. */
    pmix_status_t (*issue)(void *self, uid_t uid, gid_t gid, uint8_t **cred, size_t *n);
    /* Sets the ids that a credential proves. PMIX_ERR_INVALID_CRED: not a valid
     * credential of this component. PMIX_ERR_NOT_AVAILABLE: the service is absent. */
    pmix_status_t (*inspect)(void *self, const uint8_t *cred, size_t n, uid_t *uid,
                             gid_t *gid);
    uintptr_t flags; /* enum px_psec_flag, or-ed */
};

#endif
