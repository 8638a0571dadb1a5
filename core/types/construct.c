/* SPDX-License-Identifier: BSD-3-Clause */
/* Empty objects, as PMIX_*_STATIC_INIT has them: all zero, except where zero would name
 * a process or a node, or claim a distance. */
#include "core/types/walk.h"

static void construct_fields(const struct px_type *t, void *obj)
{
    for (size_t i = 0; i < px_type_fields(t); i++) {
        const struct px_field *f = &t->fields[i];

        if (f->type == PMIX_PROC_RANK || f->type == PMIX_PROC)
            px_type_construct(f->type, px_at_mut(obj, f->offset));
    }
}

void px_type_construct(pmix_data_type_t id, void *obj)
{
    const struct px_type *t = px_type_find(id);

    if (!t || !obj)
        return;
    memset(obj, 0, t->size);
    switch (id) {
    case PMIX_PROC_RANK:
        *(pmix_rank_t *)obj = PMIX_RANK_UNDEF;
        break;
    case PMIX_NODE_PID:
        ((pmix_node_pid_t *)obj)->nodeid = UINT32_MAX;
        break;
    case PMIX_DEVICE_DIST:
        ((pmix_device_distance_t *)obj)->mindist = UINT16_MAX;
        ((pmix_device_distance_t *)obj)->maxdist = UINT16_MAX;
        break;
    default:
        construct_fields(t, obj);
    }
}

void *px_type_create_array(pmix_data_type_t id, size_t n)
{
    const struct px_type *t = px_type_find(id);

    if (!t || t->store == PX_NONE || n == 0)
        return NULL;
    void *array = calloc(n, t->size);
    for (size_t i = 0; array && i < n; i++)
        px_type_construct(id, px_at_mut(array, i * t->size));
    return array;
}
