/* SPDX-License-Identifier: BSD-3-Clause */
/* The entries that processes have published, and the lookups that wait for more. Loop
 * thread only. */
#ifndef PX_HOST_PUBS_H
#define PX_HOST_PUBS_H

#include "core/base/list.h"
#include "core/types/type.h"
#include "pmix_callbacks.h"

/* Bounds on what can be published through one server. */
#define PX_MAX_PUBS   8192u
#define PX_MAX_PUBS_B (64u * 1024u * 1024u)

struct px_loop;

struct px_pubs {
    struct px_loop *loop; /* for deadlines */
    struct px_list pubs;
    struct px_list waiters;
    size_t n_pubs, size_b;
};

void px_pubs_init(struct px_pubs *p, struct px_loop *loop);
/* Lookups that wait are answered with PMIX_ERR_LOST_CONNECTION. */
void px_pubs_fini(struct px_pubs *p);

/* These take the arguments of a host's functions of these names (pmix_server.h),
 * PMIX_USERID among the infos. All or nothing. */
pmix_status_t px_pubs_publish(struct px_pubs *p, const pmix_proc_t *owner,
                              const pmix_info_t *info, size_t n);
/* PMIX_SUCCESS, and cb has been called or will be; or an error, and it will not. */
pmix_status_t px_pubs_lookup(struct px_pubs *p, const pmix_proc_t *asker,
                             char *const *keys, const pmix_info_t *info, size_t n,
                             pmix_lookup_cbfunc_t cb, void *cbdata);
/* keys NULL: everything of this owner. */
void px_pubs_unpublish(struct px_pubs *p, const pmix_proc_t *owner, char *const *keys,
                       const pmix_info_t *info, size_t n);

/* A process has ended, or with rank PMIX_RANK_WILDCARD its job: the entries that end
 * with it are removed, and its lookups answered. */
void px_pubs_gone(struct px_pubs *p, const pmix_proc_t *proc);

#endif
