/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents of clean-up requests. */
#ifndef PX_SERVER_CLEANUP_REQUEST_H
#define PX_SERVER_CLEANUP_REQUEST_H

#include "core/base/list.h"
#include "core/reclaim/rmtree.h"
#include "core/types/type.h"

/* A path of a request. */
struct px_cleanup_want {
    struct px_list link;
    uint8_t kind; /* rmtree.h */
    char path[];  /* normal, without links: ready to be removed */
};

struct px_cleanup_request {
    struct px_list wants; /* px_cleanup_want: paths to keep first */
    size_t n, named_b;
    uint8_t flags; /* of its folders */
    uid_t uid;     /* of the requesting process */
    gid_t gid;
};

/* Moves the clean-up attributes from infos to taken. *host: the rest must go to the
 * host, as it has a directive or a required info. */
pmix_status_t px_cleanup_split(px_infos *infos, px_infos *taken, bool *host);

/* Reads a request. PMIX_ERR_BAD_PARAM: an invalid path or type, or a path that this
 * user could not remove; PMIX_ERR_OUT_OF_RESOURCE: too long. The caller calls
 * px_cleanup_request_fini in any case. */
pmix_status_t px_cleanup_request_read(struct px_cleanup_request *q,
                                      const px_infos *infos, uid_t uid, gid_t gid);
void px_cleanup_request_fini(struct px_cleanup_request *q);

#endif
