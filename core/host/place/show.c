/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/place/place.h"

#include <stdio.h>

#include "core/types/handle.h"
#include "core/types/hwloc_api.h"

static const struct {
    const char *name;
    hwloc_obj_type_t type;
} levels[] = {
    [PX_UNIT_UNSAID] = {"node", HWLOC_OBJ_MACHINE},
    [PX_UNIT_NODE] = {"node", HWLOC_OBJ_MACHINE},
    [PX_UNIT_PACKAGE] = {"package", HWLOC_OBJ_PACKAGE},
    [PX_UNIT_NUMA] = {"numa", HWLOC_OBJ_NUMANODE},
    [PX_UNIT_L3] = {"l3cache", HWLOC_OBJ_L3CACHE},
    [PX_UNIT_L2] = {"l2cache", HWLOC_OBJ_L2CACHE},
    [PX_UNIT_L1] = {"l1cache", HWLOC_OBJ_L1CACHE},
    [PX_UNIT_CORE] = {"core", HWLOC_OBJ_CORE},
    [PX_UNIT_HWTHREAD] = {"hwthread", HWLOC_OBJ_PU},
    [PX_UNIT_LIST] = {"cpu-list", HWLOC_OBJ_MACHINE},
    [PX_UNIT_NONE] = {"none", HWLOC_OBJ_MACHINE},
};

const char *px_unit_name(enum px_unit level)
{
    return levels[level].name;
}

int px_unit_depth(const struct px_hwloc *h, void *topology, enum px_unit level)
{
    return h->get_type_depth(topology, levels[level].type);
}

static hwloc_obj_t above(hwloc_obj_t obj, hwloc_obj_type_t type)
{
    while (obj && obj->type != type)
        obj = obj->parent;
    return obj;
}

/* Draws the CPUs in the order of the topology, independent of OS indexes. */
static void draw(FILE *f, const struct px_hwloc *h, hwloc_topology_t topology,
                 hwloc_const_bitmap_t cpus)
{
    int depth = h->topology_get_depth(topology) - 1;
    unsigned n = h->get_nbobjs_by_depth(topology, depth);
    hwloc_obj_t before = NULL;

    fputc('[', f);
    for (unsigned i = 0; i < n; i++) {
        hwloc_obj_t thread = h->get_obj_by_depth(topology, depth, i);
        hwloc_obj_t core = above(thread, HWLOC_OBJ_CORE);

        if (before &&
            above(before, HWLOC_OBJ_PACKAGE) != above(thread, HWLOC_OBJ_PACKAGE))
            fputs("][", f);
        else if (before && (!core || above(before, HWLOC_OBJ_CORE) != core))
            fputc('/', f);
        fputc(h->bitmap_isset(cpus, thread->os_index) ? 'B' : '.', f);
        before = thread;
    }
    fputc(']', f);
}

/* Writes the position of a process. False: out of memory. */
static bool put_position(FILE *f, const struct px_hwloc *h, void *topology,
                         const struct px_position *position)
{
    void *cpus;

    if (position->level > PX_UNIT_NODE)
        fprintf(f, ", %s %u", px_unit_name(position->level), position->number);
    if (!position->cpus)
        return fputs(", not bound\n", f) >= 0;
    if (px_handle_parse(PX_CPUSET, position->cpus, &cpus))
        return false;
    fprintf(f, ", bound to CPUs %s ", position->cpus);
    draw(f, h, topology, cpus);
    h->bitmap_free(cpus);
    return fputc('\n', f) >= 0;
}

char *px_place_map(void *topology, const struct px_position *positions, uint32_t n)
{
    const struct px_position nowhere = {0};
    struct px_hwloc h;
    char *text = NULL;
    size_t size;
    bool known = topology && px_hwloc_open(&h);
    FILE *f = open_memstream(&text, &size);
    bool good = f;

    for (uint32_t r = 0; good && r < n; r++)
        good = fprintf(f, "rank %u", r) >= 0 &&
               put_position(f, &h, topology,
                            known && positions ? &positions[r] : &nowhere);
    good = good && !ferror(f);
    if (f && fclose(f))
        good = false;
    if (!good)
        free(px_take(&text));
    return text;
}
