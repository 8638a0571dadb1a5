/* SPDX-License-Identifier: BSD-3-Clause */
/* Servers spare their clients the discovery, which all at once are hard on a large
 * node: they put into the job's information where the topology is shared, or all of it
 * as XML. */
#include "core/model/topology.h"

#include "core/link/api.h"
#include "core/model/jobinfo.h"
#include "core/model/lookup.h"

struct hints_op {
    struct px_api api;
    pmix_value_t file, addr, size, xml;
};

/* What is not known stays undefined. */
static void look_up(const char *key, pmix_value_t *out)
{
    const struct px_model *m = px_process.model;
    struct px_lookup l;

    px_lookup_init(&l, key, PMIX_RANK_WILDCARD, NULL, 0);
    if (!m->own || px_lookup_find(m, m->own, &l, out))
        *out = (pmix_value_t){0};
}

static void look_up_all(struct hints_op *op)
{
    static const char *const xml_keys[] = {PMIX_HWLOC_XML_V2, PMIX_HWLOC_XML_V1,
                                           PMIX_LOCAL_TOPO};

    look_up(PMIX_HWLOC_SHMEM_FILE, &op->file);
    look_up(PMIX_HWLOC_SHMEM_ADDR, &op->addr);
    look_up(PMIX_HWLOC_SHMEM_SIZE, &op->size);
    for (size_t i = 0; !px_value_string(&op->xml) && i < PX_COUNT(xml_keys); i++) {
        px_type_destruct(PMIX_VALUE, &op->xml);
        look_up(xml_keys[i], &op->xml);
    }
}

static void on_hints(struct px_api *api)
{
    look_up_all(PX_CONTAINER_OF(api, struct hints_op, api));
    px_api_done(api, PMIX_SUCCESS);
}

/* On the loop thread itself nobody needs to wait for it. */
static pmix_status_t find_hints(struct hints_op *op)
{
    if (!px_process_on_loop())
        return px_api_wait(&op->api);
    if (!px_process.model)
        return PMIX_ERR_INIT;
    look_up_all(op);
    return PMIX_SUCCESS;
}

pmix_status_t px_node_topology(pmix_topology_t *topo)
{
    struct hints_op op = {.api = {.start = on_hints}};
    struct px_topo_hints hints;

    if (px_topo_here(topo))
        return PMIX_SUCCESS;
    pmix_status_t rc = find_hints(&op);
    if (!rc) {
        hints.shmem_file = px_value_string(&op.file);
        if (!px_value_to_u64(&op.addr, &hints.shmem_addr) ||
            !px_value_to_u64(&op.size, &hints.shmem_size))
            hints.shmem_file = NULL;
        hints.xml = px_value_string(&op.xml);
        rc = px_topo_load(&hints, topo);
    }
    px_type_destruct(PMIX_VALUE, &op.file);
    px_type_destruct(PMIX_VALUE, &op.addr);
    px_type_destruct(PMIX_VALUE, &op.size);
    px_type_destruct(PMIX_VALUE, &op.xml);
    return rc;
}
