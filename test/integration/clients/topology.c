/* SPDX-License-Identifier: BSD-3-Clause */
/* topology: what a program asks about its node, of a library with hwloc; "none": of one without,
 * whose server then computes the distances. */
#include "client.h"

#include <pmix_server.h>

static void with_hwloc(void)
{
    pmix_topology_t topo = PMIX_TOPOLOGY_STATIC_INIT, mine = PMIX_TOPOLOGY_STATIC_INIT;
    pmix_cpuset_t set = PMIX_CPUSET_STATIC_INIT, again = PMIX_CPUSET_STATIC_INIT;
    pmix_locality_t shared = PMIX_LOCALITY_UNKNOWN;
    char *where = NULL, *cpus = NULL;

    GOOD(PMIx_Load_topology(&topo));
    CHECK(strncmp(topo.source, "hwloc", 5) == 0 && topo.topology);
    mine.source = strdup("hwloc");
    GOOD(PMIx_Load_topology(&mine));
    CHECK(mine.topology == topo.topology);
    PMIx_Topology_destruct(&mine); /* the node's stays */
    GOOD(PMIx_Get_cpuset(&set, PMIX_CPUBIND_PROCESS));
    GOOD(PMIx_server_generate_cpuset_string(&set, &cpus));
    GOOD(PMIx_Parse_cpuset_string(cpus, &again));
    GOOD(PMIx_server_generate_locality_string(&again, &where));
    CHECK(where);
    GOOD(PMIx_Get_relative_locality(where, where, &shared));
    CHECK(shared & PMIX_LOCALITY_SHARE_NODE && shared & PMIX_LOCALITY_SHARE_HWTHREAD);
    PMIx_Topology_destruct(&topo);
    PMIx_Cpuset_destruct(&set);
    PMIx_Cpuset_destruct(&again);
    free(where);
    free(cpus);
}

static void without_hwloc(void)
{
    pmix_topology_t topo = PMIX_TOPOLOGY_STATIC_INIT;
    pmix_cpuset_t set = PMIX_CPUSET_STATIC_INIT;
    pmix_locality_t shared = PMIX_LOCALITY_UNKNOWN;

    CHECK(PMIx_Load_topology(&topo) == PMIX_ERR_NOT_SUPPORTED);
    CHECK(PMIx_Get_cpuset(&set, PMIX_CPUBIND_PROCESS) == PMIX_ERR_NOT_SUPPORTED);
    CHECK(!topo.source && !set.source);
    GOOD(PMIx_Get_relative_locality("CR0:HT0", "CR0:HT1", &shared));
    CHECK(shared == (PMIX_LOCALITY_SHARE_NODE | PMIX_LOCALITY_SHARE_CORE));
}

/* The node is one that a file describes: its networks are two. */
static void distances(void)
{
    pmix_device_type_t type = PMIX_DEVTYPE_NETWORK;
    pmix_device_distance_t *found = NULL;
    pmix_info_t info;
    size_t n = 0;

    PMIX_INFO_LOAD(&info, PMIX_DEVICE_TYPE, &type, PMIX_DEVTYPE);
    GOOD(PMIx_Compute_distances(NULL, NULL, &info, 1, &found, &n));
    CHECK(n == 2 && strcmp(found[0].osname, "eth0") == 0);
    CHECK(found[0].mindist < UINT16_MAX && found[0].mindist <= found[0].maxdist);
    for (size_t i = 0; i < n; i++) {
        free(found[i].uuid);
        free(found[i].osname);
    }
    free(found);
    type = PMIX_DEVTYPE_DMA;
    PMIX_INFO_LOAD(&info, PMIX_DEVICE_TYPE, &type, PMIX_DEVTYPE);
    CHECK(PMIx_Compute_distances(NULL, NULL, &info, 1, &found, &n) ==
          PMIX_ERR_NOT_FOUND);
}

int main(int argc, char **argv)
{
    begin();
    if (argc > 1 && strcmp(argv[1], "none") == 0)
        without_hwloc();
    else
        with_hwloc();
    distances();
    end("topology");
    return 0;
}
