/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups this process has helped to construct, and who is in them: what a server wants
 * to hear when one is destructed. Loop thread only. */
#ifndef PX_MODEL_GROUP_H
#define PX_MODEL_GROUP_H

#include "core/model/nspace.h"

struct px_group {
    struct px_list link; /* in px_model.groups */
    char name[PMIX_MAX_NSLEN + 1];
    pmix_proc_t *procs;
    size_t n_procs;
};

/* Copies procs; one of that name is replaced. PMIX_ERR_NOMEM, and nothing changes. */
pmix_status_t px_group_put(struct px_model *m, const char *name,
                           const pmix_proc_t *procs, size_t n);
struct px_group *px_group_find(const struct px_model *m, const char *name);
/* NULL is fine. */
void px_group_remove(struct px_group *group);
void px_groups_fini(struct px_model *m);

#endif
