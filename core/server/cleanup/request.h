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
    size_t n, named_b;    /* of the request */
    size_t wants_b;
    uint8_t flags; /* of its folders */
    uid_t uid;     /* of the requesting process */
    gid_t gid;
    size_t at_info;      /* where reading goes on */
    const char *at_path; /* in a list of paths; NULL: at the begin of the info */
    bool is_read;
};

/* Moves the clean-up attributes from infos to taken. *host: the rest must go to the
 * host, as it has a directive or a required info. */
pmix_status_t px_cleanup_split(px_infos *infos, px_infos *taken, bool *host);

/* Begins to read a request: checks types and lengths, and no path. PMIX_ERR_BAD_PARAM:
 * an invalid type; PMIX_ERR_OUT_OF_RESOURCE: too long. The caller calls
 * px_cleanup_request_fini in any case. */
pmix_status_t px_cleanup_request_begin(struct px_cleanup_request *q,
                                       const px_infos *infos, uid_t uid, gid_t gid);
/* Reads the next paths of the same infos, at most so many, by system calls for each
 * folder of a path. Sets is_read after the last path. PMIX_ERR_BAD_PARAM: an invalid
 * path, or a path that this user could not remove. */
pmix_status_t px_cleanup_request_read(struct px_cleanup_request *q,
                                      const px_infos *infos, size_t most);
void px_cleanup_request_fini(struct px_cleanup_request *q);

#endif
