/* SPDX-License-Identifier: BSD-3-Clause */
/* Servers spare their clients the discovery, which is hard on a large node: their job
 * information says where the topology is shared, or holds all of it as XML. */
#include "core/model/topology.h"

#include "core/link/api.h"
#include "core/model/jobinfo.h"
#include "core/model/lookup.h"

struct hints {
    pmix_value_t file, addr, size, xml; /* what is not known stays undefined */
};

static void look_up(const char *key, pmix_value_t *out)
{
    const struct px_model *m = px_process.model;
    struct px_lookup l;

    px_lookup_init(&l, key, PMIX_RANK_WILDCARD, NULL, 0);
    if (!m->own || px_lookup_find(m, m->own, &l, out))
        *out = (pmix_value_t){0};
}

static void look_up_all(struct hints *h)
{
    static const char *const xml_keys[] = {PMIX_HWLOC_XML_V2, PMIX_HWLOC_XML_V1,
                                           PMIX_LOCAL_TOPO};

    look_up(PMIX_HWLOC_SHMEM_FILE, &h->file);
    look_up(PMIX_HWLOC_SHMEM_ADDR, &h->addr);
    look_up(PMIX_HWLOC_SHMEM_SIZE, &h->size);
    for (size_t i = 0; !px_value_string(&h->xml) && i < PX_COUNT(xml_keys); i++) {
        px_type_destruct(PMIX_VALUE, &h->xml);
        look_up(xml_keys[i], &h->xml);
    }
}

static pmix_status_t find_hints(struct hints *h)
{
    bool here = false;

    if (!px_initialized() && !px_process_on_loop())
        return PMIX_ERR_INIT;
    px_gate_await(&px_process.model_gate);
    if (px_process.model) {
        here = true;
        look_up_all(h);
    }
    px_gate_leave(&px_process.model_gate);
    return here ? PMIX_SUCCESS : PMIX_ERR_INIT;
}

pmix_status_t px_node_topology(pmix_topology_t *topo)
{
    struct px_topo_hints hints;
    struct hints h = {0};

    if (px_topo_here(topo))
        return PMIX_SUCCESS;
    pmix_status_t rc = find_hints(&h);
    if (!rc) {
        hints.shmem_file = px_value_string(&h.file);
        if (!px_value_to_u64(&h.addr, &hints.shmem_addr) ||
            !px_value_to_u64(&h.size, &hints.shmem_size))
            hints.shmem_file = NULL;
        hints.xml = px_value_string(&h.xml);
        rc = px_topo_load(&hints, topo);
    }
    px_type_destruct(PMIX_VALUE, &h.file);
    px_type_destruct(PMIX_VALUE, &h.addr);
    px_type_destruct(PMIX_VALUE, &h.size);
    px_type_destruct(PMIX_VALUE, &h.xml);
    return rc;
}
