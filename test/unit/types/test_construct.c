/* SPDX-License-Identifier: BSD-3-Clause */
/* Empty objects are what the static initializers make. */
#include "alloc_fail.h"
#include "px_test.h"
#include "sample.h"

#include <string.h>

#define SAME(ID, c_type, initializer)                           \
    do {                                                        \
        static const c_type expected = initializer;             \
        union sample object;                                    \
                                                                \
        memset(&object, 0xaa, sizeof(object));                  \
        px_type_construct(PMIX_##ID, &object);                  \
        ck_assert_mem_eq(&object, &expected, sizeof(expected)); \
    } while (0)

PX_TEST(constructed_objects_equal_their_static_initializers)
{
    SAME(PROC, pmix_proc_t, PMIX_PROC_STATIC_INIT);
    SAME(PROC_INFO, pmix_proc_info_t, PMIX_PROC_INFO_STATIC_INIT);
    SAME(NODE_PID, pmix_node_pid_t, PMIX_NODE_PID_STATIC_INIT);
    SAME(VALUE, pmix_value_t, PMIX_VALUE_STATIC_INIT);
    SAME(INFO, pmix_info_t, PMIX_INFO_STATIC_INIT);
    SAME(PDATA, pmix_pdata_t, PMIX_LOOKUP_STATIC_INIT);
    SAME(APP, pmix_app_t, PMIX_APP_STATIC_INIT);
    SAME(QUERY, pmix_query_t, PMIX_QUERY_STATIC_INIT);
    SAME(REGATTR, pmix_regattr_t, PMIX_REGATTR_STATIC_INIT);
    SAME(BYTE_OBJECT, pmix_byte_object_t, PMIX_BYTE_OBJECT_STATIC_INIT);
    SAME(DATA_ARRAY, pmix_data_array_t, PMIX_DATA_ARRAY_STATIC_INIT);
    SAME(DATA_BUFFER, pmix_data_buffer_t, PMIX_DATA_BUFFER_STATIC_INIT);
    SAME(ENVAR, pmix_envar_t, PMIX_ENVAR_STATIC_INIT);
    SAME(COORD, pmix_coord_t, PMIX_COORD_STATIC_INIT);
    SAME(GEOMETRY, pmix_geometry_t, PMIX_GEOMETRY_STATIC_INIT);
    SAME(DEVICE, pmix_device_t, PMIX_DEVICE_STATIC_INIT);
    SAME(DEVICE_DIST, pmix_device_distance_t, PMIX_DEVICE_DIST_STATIC_INIT);
    SAME(ENDPOINT, pmix_endpoint_t, PMIX_ENDPOINT_STATIC_INIT);
    SAME(RESOURCE_UNIT, pmix_resource_unit_t, PMIX_RESOURCE_UNIT_STATIC_INIT);
    SAME(PROC_STATS, pmix_proc_stats_t, PMIX_PROC_STATS_STATIC_INIT);
    SAME(DISK_STATS, pmix_disk_stats_t, PMIX_DISK_STATS_STATIC_INIT);
    SAME(NET_STATS, pmix_net_stats_t, PMIX_NET_STATS_STATIC_INIT);
    SAME(NODE_STATS, pmix_node_stats_t, PMIX_NODE_STATS_STATIC_INIT);
    SAME(PROC_CPUSET, pmix_cpuset_t, PMIX_CPUSET_STATIC_INIT);
    SAME(TOPO, pmix_topology_t, PMIX_TOPOLOGY_STATIC_INIT);
}

PX_TEST(every_element_of_a_created_array_is_constructed)
{
    pmix_proc_t *procs = px_type_create_array(PMIX_PROC, 3);

    ck_assert_ptr_nonnull(procs);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(procs[i].nspace, "");
        ck_assert_uint_eq(procs[i].rank, PMIX_RANK_UNDEF);
    }
    free(procs);
}

PX_TEST(there_is_no_array_of_nothing)
{
    ck_assert_ptr_null(px_type_create_array(PMIX_INFO, 0));
    ck_assert_ptr_null(px_type_create_array(PMIX_UNDEF, 1));
    ck_assert_ptr_null(px_type_create_array(29, 1));
}

PX_TEST(there_is_no_array_larger_than_memory)
{
    PX_TEST_NEEDS_ALLOC;

    ck_assert_ptr_null(px_type_create_array(PMIX_INFO, SIZE_MAX / 2));
}

PX_TEST(null_and_unknown_types_are_left_alone)
{
    int untouched = 1;

    px_type_construct(PMIX_INFO, NULL);
    px_type_construct(29, &untouched);
    ck_assert_int_eq(untouched, 1);
}

PX_TEST_MAIN("types/construct", NULL, NULL)
