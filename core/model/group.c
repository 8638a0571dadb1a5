/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of groups and their members. */
#include "core/model/group.h"

#include <string.h>

#include "core/base/str.h"

struct px_group *px_group_find(const struct px_model *m, const char *name)
{
    PX_LIST_EACH (&m->groups, struct px_group, g, link)
        if (strcmp(g->name, name) == 0)
            return g;
    return NULL;
}

void px_group_remove(struct px_group *group)
{
    if (!group)
        return;
    px_list_remove(&group->link);
    free(group->procs);
    free(group);
}

pmix_status_t px_group_put(struct px_model *m, const char *name,
                           const pmix_proc_t *procs, size_t n)
{
    struct px_group *g = calloc(1, sizeof *g);
    pmix_status_t rc;

    if (!g)
        return PMIX_ERR_NOMEM;
    rc = px_type_copy_array(PMIX_PROC, (void **)&g->procs, procs, n);
    if (rc) {
        free(g);
        return rc;
    }
    px_str_copy(g->name, sizeof g->name, name);
    g->n_procs = n;
    px_group_remove(px_group_find(m, name));
    px_list_append(&m->groups, &g->link);
    return PMIX_SUCCESS;
}

void px_groups_fini(struct px_model *m)
{
    PX_LIST_EACH (&m->groups, struct px_group, g, link)
        px_group_remove(g);
}
