/* SPDX-License-Identifier: BSD-3-Clause */
/* Topology, binding, locality. All of it happens in the caller's thread. */
#include "core/client/client.h"
#include "core/model/topology.h"
#include "core/types/handle.h"

#include <string.h>
#include <strings.h>

/* The source wanted may be the beginning of ours: "hwloc" takes any version. */
static bool is_suitable(const char *wanted, const char *have)
{
    return px_source_is_hwloc(wanted) && strncasecmp(wanted, have, strlen(wanted)) == 0;
}

PX_EXPORT pmix_status_t PMIx_Load_topology(pmix_topology_t *topo)
{
    pmix_topology_t node;
    pmix_status_t rc;

    if (!px_initialized())
        return PMIX_ERR_INIT;
    if (!topo)
        return PMIX_ERR_BAD_PARAM;
    if (topo->source && !px_source_is_hwloc(topo->source))
        return PMIX_ERR_NOT_SUPPORTED;
    rc = px_node_topology(&node);
    if (rc)
        return rc;
    if (topo->source && !is_suitable(topo->source, node.source))
        return PMIX_ERR_NOT_SUPPORTED;
    if (!topo->source && !(topo->source = strdup(node.source)))
        return PMIX_ERR_NOMEM;
    topo->topology = node.topology;
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_Get_cpuset(pmix_cpuset_t *cpuset, pmix_bind_envelope_t ref)
{
    PX_AUTOFREE char *list = NULL;

    if (!px_initialized())
        return PMIX_ERR_INIT;
    if (!cpuset || (ref != PMIX_CPUBIND_PROCESS && ref != PMIX_CPUBIND_THREAD))
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = px_binding_list(ref == PMIX_CPUBIND_PROCESS ? getpid() : 0,
                                       &list);
    return rc ? rc : px_cpuset_parse(list, cpuset);
}

PX_EXPORT pmix_status_t PMIx_Parse_cpuset_string(const char *cpuset_string,
                                                 pmix_cpuset_t *cpuset)
{
    if (!px_initialized())
        return PMIX_ERR_INIT;
    if (!cpuset_string || !cpuset)
        return PMIX_ERR_BAD_PARAM;
    return px_cpuset_parse(cpuset_string, cpuset);
}

PX_EXPORT pmix_status_t PMIx_Get_relative_locality(const char *locality1,
                                                   const char *locality2,
                                                   pmix_locality_t *locality)
{
    if (!px_initialized())
        return PMIX_ERR_INIT;
    if (!locality1 || !locality2 || !locality)
        return PMIX_ERR_BAD_PARAM;
    return px_locality_shared(locality1, locality2, locality);
}
