/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of a whole topology. */
#include "core/topo/topo.h"

#include "core/base/str.h"
#include "core/types/hwloc_api.h"

pmix_status_t px_topo_summary(void *topology, char **signature, uint64_t *memory_mb)
{
    static const struct {
        hwloc_obj_type_t type;
        const char *name;
    } levels[] = {
        {HWLOC_OBJ_NUMANODE, "N"}, {HWLOC_OBJ_PACKAGE, "S"},  {HWLOC_OBJ_L3CACHE, "L3"},
        {HWLOC_OBJ_L2CACHE, "L2"}, {HWLOC_OBJ_L1CACHE, "L1"}, {HWLOC_OBJ_CORE, "C"},
        {HWLOC_OBJ_PU, "H"},
    };
    struct px_hwloc h;
    char *text = NULL;

    if (!px_hwloc_open(&h))
        return PMIX_ERR_NOT_SUPPORTED;
    for (size_t i = 0; i < PX_COUNT(levels); i++) {
        const int depth = h.get_type_depth(topology, levels[i].type);
        const unsigned n = depth == HWLOC_TYPE_DEPTH_UNKNOWN ||
                                   depth == HWLOC_TYPE_DEPTH_MULTIPLE
                               ? 0
                               : h.get_nbobjs_by_depth(topology, depth);
        char *longer = px_strf("%s%s%u%s", text ? text : "", text ? ":" : "", n,
                               levels[i].name);

        free(text);
        text = longer;
        if (!text)
            return PMIX_ERR_NOMEM;
    }
    *signature = text;
    *memory_mb = h.get_obj_by_depth(topology, 0, 0)->total_memory >> 20;
    return PMIX_SUCCESS;
}
