/* SPDX-License-Identifier: BSD-3-Clause */
/* Topology from the server's hints. Discovery is slow on a large node, so the job
 * information names shared memory with the topology, or contains it as XML. */
#include "core/model/topology.h"

#include "core/link/api.h"
#include "core/model/lookup.h"
#include "core/model/reader.h"

enum { FILE_NAME, ADDRESS, SIZE, XML, N_HINTS };

/* Reads the hints; missing hints stay undefined. */
static void look_up(const struct px_model *m, pmix_value_t hints[N_HINTS])
{
    static const struct {
        const char *key;
        int hint; /* the first key with a string counts */
    } rows[] = {
        {PMIX_HWLOC_SHMEM_FILE, FILE_NAME}, {PMIX_HWLOC_SHMEM_ADDR, ADDRESS},
        {PMIX_HWLOC_SHMEM_SIZE, SIZE},      {PMIX_HWLOC_XML_V2, XML},
        {PMIX_HWLOC_XML_V1, XML},           {PMIX_LOCAL_TOPO, XML},
    };

    for (size_t i = 0; m->own && i < PX_COUNT(rows); i++) {
        pmix_value_t *v = &hints[rows[i].hint];
        struct px_lookup l;

        if (px_value_string(v))
            continue;
        px_type_destruct(PMIX_VALUE, v);
        px_lookup_init(&l, rows[i].key, PMIX_RANK_WILDCARD, NULL, 0);
        if (px_lookup_find(m, m->own, &l, v))
            *v = (pmix_value_t){0};
    }
}

pmix_status_t px_node_topology(pmix_topology_t *topo)
{
    pmix_value_t found[N_HINTS] = {0};
    struct px_topo_hints hints = {0};
    const struct px_model *m;
    struct px_gate_count *count;
    pmix_status_t rc = PMIX_ERR_INIT;

    if (px_topo_here(topo))
        return PMIX_SUCCESS;
    if (!px_initialized() && !px_process_on_loop())
        return PMIX_ERR_INIT;
    m = px_model_await(&count);
    if (m) {
        look_up(m, found);
        px_read_gate_leave(count);
        hints.xml = px_value_string(&found[XML]);
        if (px_value_to_u64(&found[ADDRESS], &hints.shmem_addr) &&
            px_value_to_u64(&found[SIZE], &hints.shmem_size))
            hints.shmem_file = px_value_string(&found[FILE_NAME]);
        rc = px_topo_load(&hints, topo);
    }
    for (size_t i = 0; i < N_HINTS; i++)
        px_type_destruct(PMIX_VALUE, &found[i]);
    return rc;
}
