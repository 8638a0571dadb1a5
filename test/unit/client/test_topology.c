/* SPDX-License-Identifier: BSD-3-Clause */
/* Topology, binding, locality and distances as programs ask for them; in a process that nobody
 * launched, on a node that a file describes. */
#include "core/client/client.h"
#include "core/topo/topo.h"
#include "core/types/handle.h"
#include "fake_server.h"
#include "pmix_server.h"
#include "px_test.h"

#include <sched.h>
#include <string.h>

static bool has_hwloc(void)
{
    pmix_cpuset_t set = {0};
    pmix_status_t rc = px_cpuset_parse("0", &set);

    PMIx_Cpuset_destruct(&set);
    return rc == PMIX_SUCCESS;
}

#define NEEDS_HWLOC() PX_TEST_NEEDS(has_hwloc(), "hwloc")

static void setup(void)
{
    setenv("HWLOC_XMLFILE", DEVICES_XML, 1);
    client_alone(NULL);
}

static void on_distances(pmix_status_t status, pmix_device_distance_t *dist, size_t n,
                         void *cbdata, pmix_release_cbfunc_t release,
                         void *release_data)
{
    size_t *count = cbdata;

    ck_assert_int_eq(status, n ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
    if (n)
        ck_assert_str_eq(dist[0].osname, "eth0");
    *count = n;
    if (release)
        release(release_data);
    sem_post(&done);
}

PX_TEST(nonsense_is_refused)
{
    pmix_topology_t none = {0};
    pmix_cpuset_t set = {0};
    pmix_device_distance_t *dist = NULL;
    char *text;
    size_t n;

    NEEDS_HWLOC();
    const pmix_status_t rcs[] = {
        PMIx_Parse_cpuset_string("hwloc:x", &set),
        PMIx_Compute_distances(&none, NULL, NULL, 0, &dist, &n),
        PMIx_Compute_distances(NULL, &set, NULL, 0, &dist, &n),
        PMIx_server_generate_cpuset_string(&set, &text),
    };

    for (size_t i = 0; i < PX_COUNT(rcs); i++)
        ck_assert_msg(rcs[i] == PMIX_ERR_BAD_PARAM, "row %zu: %d", i, rcs[i]);
    ck_assert_ptr_null(set.bitmap);
    ck_assert_ptr_null(dist);
}

PX_TEST(a_topology_is_lent_until_the_end)
{
    pmix_topology_t a = {0}, b = {.source = strdup("HWLOC")}, c = {0};

    NEEDS_HWLOC();
    ok(PMIx_Load_topology(&a));
    ck_assert_int_eq(strncmp(a.source, "hwloc:", 6), 0);
    ok(PMIx_Load_topology(&b));
    ck_assert_ptr_eq(a.topology, b.topology);
    ck_assert_str_eq(b.source, "HWLOC");
    PMIx_Topology_destruct(&a);
    PMIx_Topology_destruct(&b);
    ok(PMIx_Load_topology(&c));
    ck_assert_int_eq(px_type_compare(PMIX_TOPO, &c, &c), 0);
    PX_AUTOFREE char *xml = NULL;
    struct px_opaque o = px_load_opaque(&c);
    ok(px_handle_text(PX_TOPO, &o, &xml));
    ck_assert_ptr_nonnull(strstr(xml, "hfi1_0"));
    PMIx_Topology_destruct(&c);
}

PX_TEST(only_a_source_that_fits_is_served)
{
    pmix_topology_t other = {.source = strdup("other")};
    pmix_topology_t newer = {.source = strdup("hwloc:99")};
    pmix_cpuset_t set = {.source = strdup("other")};
    char *text = NULL;

    NEEDS_HWLOC();
    ck_assert_int_eq(PMIx_Load_topology(&other), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(PMIx_Load_topology(&newer), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_ptr_null(newer.topology);
    ck_assert_int_eq(PMIx_Get_cpuset(&set, PMIX_CPUBIND_THREAD),
                     PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(PMIx_server_generate_locality_string(&set, &text),
                     PMIX_ERR_NOT_SUPPORTED);
    PMIx_Topology_destruct(&other);
    PMIx_Topology_destruct(&newer);
    PMIx_Cpuset_destruct(&set);
}

PX_TEST(a_binding_can_be_written_and_read)
{
    pmix_cpuset_t set = {0}, again = {0};
    cpu_set_t one;

    NEEDS_HWLOC();
    ck_assert_int_eq(sched_getaffinity(0, sizeof(one), &one), 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &one))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
    ok(PMIx_Get_cpuset(&set, PMIX_CPUBIND_THREAD));
    PX_AUTOFREE char *text = NULL;
    ok(PMIx_server_generate_cpuset_string(&set, &text));
    ck_assert_int_eq(strncmp(text, "hwloc:", 6), 0);
    ck_assert_int_eq(atoi(text + 6), cpu);
    ok(PMIx_server_generate_cpuset(text, &again));
    ck_assert_int_eq(px_type_compare(PMIX_PROC_CPUSET, &set, &again), 0);
    PMIx_Cpuset_destruct(&set);
    PMIx_Cpuset_destruct(&again);
}

PX_TEST(locality_follows_from_cpusets)
{
    PX_AUTOFREE char *a = NULL;
    PX_AUTOFREE char *b = NULL;
    pmix_cpuset_t set = {0};
    pmix_locality_t bits;

    NEEDS_HWLOC();
    ok(PMIx_Parse_cpuset_string("hwloc:0", &set));
    ok(PMIx_server_generate_locality_string(&set, &a));
    PMIx_Cpuset_destruct(&set);
    ok(PMIx_Parse_cpuset_string("1", &set));
    ok(PMIx_server_generate_locality_string(&set, &b));
    PMIx_Cpuset_destruct(&set);
    ok(PMIx_Get_relative_locality(a, b, &bits));
    ck_assert_uint_eq(bits, PMIX_LOCALITY_SHARE_NODE | PMIX_LOCALITY_SHARE_NUMA |
                                PMIX_LOCALITY_SHARE_PACKAGE |
                                PMIX_LOCALITY_SHARE_L3CACHE | PMIX_LOCALITY_SHARE_CORE);
}

PX_TEST(distances_come_at_once_or_by_callback)
{
    pmix_device_type_t type = PMIX_DEVTYPE_NETWORK, none = PMIX_DEVTYPE_DMA;
    pmix_device_distance_t *dist = NULL;
    pmix_cpuset_t set = {0};
    pmix_topology_t topo = {0};
    pmix_info_t info;
    size_t n = 0, later = 0;

    NEEDS_HWLOC();
    PMIx_Info_load(&info, PMIX_DEVICE_TYPE, &type, PMIX_DEVTYPE);
    ok(PMIx_Compute_distances(NULL, NULL, &info, 1, &dist, &n));
    ck_assert_uint_eq(n, 2);
    PMIx_Device_distance_free(dist, n);
    ok(PMIx_Load_topology(&topo));
    ok(PMIx_Parse_cpuset_string("0-1", &set));
    ok(PMIx_Compute_distances_nb(&topo, &set, &info, 1, on_distances, &later));
    PMIx_Topology_destruct(&topo); /* the arguments are done with */
    PMIx_Cpuset_destruct(&set);
    sem_wait(&done);
    ck_assert_uint_eq(later, 2);
    PMIx_Info_load(&info, PMIX_DEVICE_TYPE, &none, PMIX_DEVTYPE);
    ck_assert_int_eq(PMIx_Compute_distances(NULL, NULL, &info, 1, &dist, &n),
                     PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(
        PMIx_Compute_distances_nb(NULL, NULL, &info, 1, on_distances, &later),
        PMIX_ERR_NOT_FOUND);
}

static void on_value(pmix_status_t status, pmix_value_t *value PX_UNUSED, void *cbdata)
{
    pmix_topology_t *topo = cbdata;

    ok(status);
    ok(PMIx_Load_topology(topo));
    sem_post(&done);
}

PX_TEST(a_callback_may_ask_first)
{
    pmix_topology_t topo = {0};
    pmix_proc_t job = {.rank = PMIX_RANK_WILDCARD};

    NEEDS_HWLOC();
    ok(PMIx_Get_nb(&job, PMIX_JOB_SIZE, NULL, 0, on_value, &topo));
    sem_wait(&done);
    ck_assert_ptr_nonnull(topo.topology);
    PMIx_Topology_destruct(&topo);
}

PX_TEST(init_may_be_given_a_topology)
{
    pmix_topology_t given = {0}, copy, topo = {0};
    pmix_info_t info;

    NEEDS_HWLOC();
    ok(PMIx_Load_topology(&given));
    ok(px_type_copy(PMIX_TOPO, &copy, &given));
    PMIx_Topology_destruct(&given);
    client_end();
    setenv("HWLOC_XMLFILE", "/nonexistent", 1);
    PMIx_Info_load(&info, PMIX_TOPOLOGY2, &copy, PMIX_TOPO);
    ok(PMIx_Init(NULL, &info, 1));
    PMIx_Info_destruct(&info);
    ok(PMIx_Load_topology(&topo));
    topo.source[5] = '\0'; /* as that of the copy is compared */
    copy.source[5] = '\0';
    ck_assert_int_eq(px_type_compare(PMIX_TOPO, &topo, &copy), 0);
    PMIx_Topology_destruct(&topo);
    PMIx_Topology_destruct(&copy);
}

PX_TEST_MAIN("client/topology", setup, client_end)
