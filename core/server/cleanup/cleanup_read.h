/* SPDX-License-Identifier: BSD-3-Clause */
/* What a request for clean-up says. */
#ifndef PX_SERVER_CLEANUP_CLEANUP_READ_H
#define PX_SERVER_CLEANUP_CLEANUP_READ_H

#include "core/base/list.h"
#include "core/base/map.h"
#include "core/reclaim/rmtree.h"
#include "core/types/type.h"

/* A path of the request. */
struct px_cleanup_want {
    struct px_list link;
    uint8_t kind; /* rmtree.h */
    char path[];  /* normal */
};

struct px_cleanup_wants {
    struct px_list list; /* px_cleanup_want: each once, those to keep first */
    size_t n, n_dirs;
    uint8_t flags;  /* of its folders */
    size_t n_taken; /* infos that were about clean-up */
    struct px_map seen;
    size_t n_named, named_b;
};

/* Takes out of infos what is about clean-up, also on failure. PMIX_ERR_BAD_PARAM: a path or a type that
 * is none, directives without a folder; PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES within the request;
 * PMIX_ERR_OUT_OF_RESOURCE: too long. *q has to be finished in any case. */
pmix_status_t px_cleanup_wants_read(struct px_cleanup_wants *q, px_infos *infos);
void px_cleanup_wants_fini(struct px_cleanup_wants *q);

/* What makes two entries the same: user, group, path, and whether it is a folder to remove. out has
 * PX_CLEANUP_KEY_B bytes; returns how many are used. */
#define PX_CLEANUP_KEY_B (sizeof(uid_t) + sizeof(gid_t) + 1 + PX_RM_MAX_PATH)
size_t px_cleanup_key(uid_t uid, gid_t gid, uint8_t kind, const char *path,
                      uint8_t *out);

#endif
