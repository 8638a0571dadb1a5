/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances of devices from CPUs: the number of topology levels between a CPU and the
 * smallest object that contains both the CPU and the device's parent. */
#include "core/topo/topo.h"

#include "core/base/str.h"
#include "core/types/handle.h"
#include "core/types/hwloc_api.h"

#include <string.h>
#include <strings.h>

static const struct kind {
    hwloc_obj_osdev_type_t hwloc;
    pmix_device_type_t type;
    const char *scheme; /* prefix of identities made of the node's and the device's
                         * names */
} kinds[] = {
    {HWLOC_OBJ_OSDEV_BLOCK, PMIX_DEVTYPE_BLOCK, "block"},
    {HWLOC_OBJ_OSDEV_GPU, PMIX_DEVTYPE_GPU, "gpu"},
    {HWLOC_OBJ_OSDEV_NETWORK, PMIX_DEVTYPE_NETWORK, "net"},
    {HWLOC_OBJ_OSDEV_OPENFABRICS, PMIX_DEVTYPE_OPENFABRICS, "fab"},
    {HWLOC_OBJ_OSDEV_DMA, PMIX_DEVTYPE_DMA, "dma"},
    {HWLOC_OBJ_OSDEV_COPROC, PMIX_DEVTYPE_COPROC, "coproc"},
};

struct search {
    struct px_hwloc h;
    hwloc_topology_t topology;
    hwloc_const_bitmap_t set;
    const char *host;
    /* wanted devices */
    uint64_t types;
    const pmix_info_t *info;
    size_t n_info;
    bool by_id;
    /* results */
    pmix_device_distance_t *found;
    size_t n;
};

/* ---- wanted devices -------------------------------------------------------------- */

static pmix_status_t read_directives(struct search *s)
{
    uint64_t type;

    for (size_t i = 0; i < s->n_info; i++) {
        const pmix_info_t *info = &s->info[i];

        if (PMIx_Check_key(info->key, PMIX_DEVICE_TYPE)) {
            if (!px_value_to_u64(&info->value, &type))
                return PMIX_ERR_BAD_PARAM;
            s->types |= type;
        } else if (PMIx_Check_key(info->key, PMIX_DEVICE_ID)) {
            if (!px_value_string(&info->value))
                return PMIX_ERR_BAD_PARAM;
            s->by_id = true;
        }
    }
    if (!s->types)
        s->types = UINT64_MAX;
    return PMIX_SUCCESS;
}

static bool is_wanted(const struct search *s, const pmix_device_distance_t *d)
{
    for (size_t i = 0; s->by_id && i < s->n_info; i++) {
        const char *id = px_value_string(&s->info[i].value);

        if (PMIx_Check_key(s->info[i].key, PMIX_DEVICE_ID) &&
            (strcasecmp(id, d->osname) == 0 || strcasecmp(id, d->uuid) == 0))
            return true;
    }
    return !s->by_id;
}

/* ---- devices --------------------------------------------------------------------- */

static const char *attribute(hwloc_obj_t device, const char *name)
{
    for (unsigned i = 0; i < device->infos_count; i++)
        if (strcasecmp(device->infos[i].name, name) == 0)
            return device->infos[i].value;
    return NULL;
}

/* Makes a device's identity in OpenPMIx's form, if the device has the attributes. The
 * schemes for a network device's hardware address are OpenPMIx's. Otherwise uses the
 * node's and the device's names. */
static char *make_uuid(const struct search *s, const struct kind *kind,
                       hwloc_obj_t device)
{
    const char *address = attribute(device, "Address");
    const char *node = attribute(device, "NodeGUID");
    const char *image = attribute(device, "SysImageGUID");
    size_t colons = 0;

    for (const char *c = address; c && *c; c++)
        colons += *c == ':';

    if (kind->type == PMIX_DEVTYPE_NETWORK && (colons == 5 || colons == 19))
        return px_strf("%s://%s", colons == 5 ? "ipv4" : "ipv6", address);
    if (kind->type == PMIX_DEVTYPE_OPENFABRICS && node && image)
        return px_strf("fab://%s::%s", node, image);
    return px_strf("%s://%s::%s", kind->scheme, s->host, device->name);
}

/* ---- distance -------------------------------------------------------------------- */

/* Measures the distances. Sets UINT16_MAX (unknown) if the topology has no CPU of the
 * set. */
static void measure(const struct search *s, hwloc_obj_t device,
                    pmix_device_distance_t *d)
{
    int depth = s->h.topology_get_depth(s->topology) - 1; /* depth of the CPUs */
    unsigned n = s->h.get_nbobjs_by_depth(s->topology, depth);
    hwloc_obj_t anchor = device;
    bool any = false;

    while (!anchor->cpuset && anchor->parent)
        anchor = anchor->parent;
    d->mindist = UINT16_MAX;
    d->maxdist = 0;
    for (unsigned i = 0; anchor->cpuset && i < n; i++) {
        hwloc_obj_t cpu = s->h.get_obj_by_depth(s->topology, depth, i);

        if (!s->h.bitmap_isset(s->set, cpu->os_index))
            continue;
        hwloc_obj_t above = cpu;
        while (above->parent && !s->h.bitmap_isincluded(anchor->cpuset, above->cpuset))
            above = above->parent;
        uint16_t levels = (uint16_t)(depth + 1 - above->depth);
        d->mindist = levels < d->mindist ? levels : d->mindist;
        d->maxdist = levels > d->maxdist ? levels : d->maxdist;
        any = true;
    }
    if (!any)
        d->maxdist = UINT16_MAX;
}

static pmix_status_t add_device(struct search *s, const struct kind *kind,
                                hwloc_obj_t device)
{
    pmix_device_distance_t *d = &s->found[s->n];

    *d = (pmix_device_distance_t){.type = kind->type};
    d->uuid = make_uuid(s, kind, device);
    d->osname = strdup(device->name);
    if (!d->uuid || !d->osname || !is_wanted(s, d)) {
        bool failed = !d->uuid || !d->osname;

        px_type_destruct(PMIX_DEVICE_DIST, d);
        return failed ? PMIX_ERR_NOMEM : PMIX_SUCCESS;
    }
    measure(s, device, d);
    s->n++;
    return PMIX_SUCCESS;
}

static pmix_status_t find_devices(struct search *s)
{
    const int depth = HWLOC_TYPE_DEPTH_OS_DEVICE;
    unsigned n = s->h.get_nbobjs_by_depth(s->topology, depth);
    pmix_status_t rc = PMIX_SUCCESS;

    if (n == 0)
        return PMIX_ERR_NOT_FOUND;
    s->found = calloc(n, sizeof(*s->found));
    if (!s->found)
        return PMIX_ERR_NOMEM;
    for (unsigned i = 0; !rc && i < n; i++) {
        hwloc_obj_t device = s->h.get_obj_by_depth(s->topology, depth, i);

        for (size_t k = 0; !rc && k < PX_COUNT(kinds); k++) {
            /* "card0" and similar are outlets of a GPU that has its own entry. */
            bool is_outlet = kinds[k].type == PMIX_DEVTYPE_GPU && device->name &&
                             strncasecmp(device->name, "card", strlen("card")) == 0;
            if (kinds[k].hwloc == device->attr->osdev.type && device->name &&
                (s->types & kinds[k].type) && !is_outlet)
                rc = add_device(s, &kinds[k], device);
        }
    }
    return !rc && s->n == 0 ? PMIX_ERR_NOT_FOUND : rc;
}

pmix_status_t px_distances(const pmix_topology_t *topo, const pmix_cpuset_t *cpuset,
                           const pmix_info_t *info, size_t n_info, const char *host,
                           pmix_device_distance_t **distances, size_t *n)
{
    struct search s = {.topology = topo->topology,
                       .set = cpuset->bitmap,
                       .host = host,
                       .info = info,
                       .n_info = n_info};

    if (!topo->topology || !cpuset->bitmap)
        return PMIX_ERR_BAD_PARAM;
    if (!px_source_is_hwloc(topo->source) || !px_source_is_hwloc(cpuset->source) ||
        !px_hwloc_open(&s.h) || s.h.topology_abi_check(topo->topology))
        return PMIX_ERR_NOT_SUPPORTED;
    pmix_status_t rc = read_directives(&s);
    if (!rc)
        rc = find_devices(&s);
    if (rc) {
        px_type_free_array(PMIX_DEVICE_DIST, s.found, s.n);
        return rc;
    }
    *distances = s.found;
    *n = s.n;
    return PMIX_SUCCESS;
}
