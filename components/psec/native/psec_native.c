/* SPDX-License-Identifier: BSD-3-Clause */
/* psec/native: the effective user and group id, as all PMIx libraries send them: four
 * bytes each, in host order. The credential alone proves nothing. The server compares
 * it with the ids that the kernel reports for the connection. */
#include "tenon/psec.h"

#include "core/base/attr.h"

#include <string.h>

enum { PRIORITY = 10 }; /* components with proof go first */

struct claim {
    uint32_t uid;
    uint32_t gid;
};

_Static_assert(sizeof(struct claim) == 8, "this structure is what travels");

static pmix_status_t native_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

static pmix_status_t native_create(void *self PX_UNUSED, uint8_t **cred, size_t *n)
{
    struct claim *claim = malloc(sizeof(*claim));
    if (!claim)
        return PMIX_ERR_NOMEM;

    claim->uid = geteuid();
    claim->gid = getegid();
    *cred = (uint8_t *)claim;
    *n = sizeof(*claim);
    return PMIX_SUCCESS;
}

static pmix_status_t native_validate(void *self PX_UNUSED, const uint8_t *cred,
                                     size_t n, uid_t uid, gid_t gid,
                                     const struct px_ptl_peer *peer)
{
    struct claim claim;

    if (n != sizeof(claim))
        return PMIX_ERR_INVALID_CRED;
    memcpy(&claim, cred, sizeof(claim)); /* a packet may not be aligned */
    if (claim.uid != uid || (gid != (gid_t)-1 && claim.gid != gid))
        return PMIX_ERR_INVALID_CRED;
    if (peer && peer->has_uid && peer->uid != claim.uid)
        return PMIX_ERR_INVALID_CRED;
    if (peer && peer->has_gid && peer->gid != claim.gid)
        return PMIX_ERR_INVALID_CRED;
    return PMIX_SUCCESS;
}

static const struct px_psec_ops ops = {
    .create = native_create,
    .validate = native_validate,
};

PX_COMPONENT(psec, native) = {
    PX_COMPONENT_HEAD(psec, PSEC, native),
    .version = "1.0",
    .query = native_query,
    .ops = &ops,
};
