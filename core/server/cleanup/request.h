/* SPDX-License-Identifier: BSD-3-Clause */
/* The contents of a request for clean-up. */
#ifndef PX_SERVER_CLEANUP_REQUEST_H
#define PX_SERVER_CLEANUP_REQUEST_H

#include "core/base/list.h"
#include "core/reclaim/rmtree.h"
#include "core/types/type.h"

/* A path of the request. */
struct px_cleanup_want {
    struct px_list link;
    uint8_t kind; /* rmtree.h */
    char path[];  /* as it can be removed: normal, without links on the way */
};

struct px_cleanup_request {
    struct px_list wants; /* px_cleanup_want: those to keep first */
    size_t n, named_b;
    uint8_t flags; /* of its folders */
    uid_t uid;     /* who asks */
    gid_t gid;
};

/* Moves what is about clean-up from infos to taken. Returns whether what is left is to
 * be asked of the host: a directive, or something that is required; not what says how,
 * or may be ignored. */
pmix_status_t px_cleanup_split(px_infos *infos, px_infos *taken, bool *host);

/* PMIX_ERR_BAD_PARAM: a path or a type that is none, or a path that could not be
 * removed as this user; PMIX_ERR_OUT_OF_RESOURCE: too long. *q has to be finished in
 * any case. */
pmix_status_t px_cleanup_request_read(struct px_cleanup_request *q,
                                      const px_infos *infos, uid_t uid, gid_t gid);
void px_cleanup_request_fini(struct px_cleanup_request *q);

#endif
