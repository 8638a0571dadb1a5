/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures: construct, destruct and free accept NULL; create returns NULL for a count of 0, or out of
 * memory; and a second destruct has no effect. */
#include "rows.h"

#include <stdlib.h>

/* A count that does not fit into memory. The product with a size overflows, too. */
#define TOO_MANY (SIZE_MAX / 2)

#define CONTENTS(Type, c_type)                 \
    {                                          \
        c_type object;                         \
        memset(&object, 0xa5, sizeof(object)); \
        RUNS(PMIx_##Type##_construct(NULL))    \
        RUNS(PMIx_##Type##_construct(&object)) \
        RUNS(PMIx_##Type##_destruct(NULL))     \
        RUNS(PMIx_##Type##_destruct(&object))  \
        RUNS(PMIx_##Type##_destruct(&object))  \
    }

#define FREE(Type)                    \
    RUNS(PMIx_##Type##_free(NULL, 0)) \
    RUNS(PMIx_##Type##_free(NULL, 1)) \
    RUNS(PMIx_##Type##_free(NULL, SIZE_MAX))

#define FAMILY(Type, c_type)                             \
    CONTENTS(Type, c_type)                               \
    FREE(Type)                                           \
    IS(NULL, PMIx_##Type##_create(0))                    \
    IS(NULL, PMIx_##Type##_create(TOO_MANY))             \
    IS(NULL, PMIx_##Type##_create(SIZE_MAX))             \
    RUNS(PMIx_##Type##_free(PMIx_##Type##_create(1), 1)) \
    RUNS(PMIx_##Type##_free(PMIx_##Type##_create(3), 0))

static void families(void)
{
    FAMILY(App, pmix_app_t)
    FAMILY(Byte_object, pmix_byte_object_t)
    FAMILY(Cpuset, pmix_cpuset_t)
    FAMILY(Device, pmix_device_t)
    FAMILY(Device_distance, pmix_device_distance_t)
    FAMILY(Disk_stats, pmix_disk_stats_t)
    FAMILY(Endpoint, pmix_endpoint_t)
    FAMILY(Envar, pmix_envar_t)
    FAMILY(Geometry, pmix_geometry_t)
    FAMILY(Info, pmix_info_t)
    FAMILY(Net_stats, pmix_net_stats_t)
    FAMILY(Node_pid, pmix_node_pid_t)
    FAMILY(Node_stats, pmix_node_stats_t)
    FAMILY(Pdata, pmix_pdata_t)
    FAMILY(Proc, pmix_proc_t)
    FAMILY(Proc_info, pmix_proc_info_t)
    FAMILY(Proc_stats, pmix_proc_stats_t)
    FAMILY(Query, pmix_query_t)
    FAMILY(Regattr, pmix_regattr_t)
    FAMILY(Regex2, pmix_regex2_t)
    FAMILY(Resource_unit, pmix_resource_unit_t)
    FAMILY(Topology, pmix_topology_t)
    FAMILY(Value, pmix_value_t)
}

/* Tests structures with other conventions. */
static void others(void)
{
    pmix_data_array_t array;
    pmix_app_t app;
    pmix_query_t query;

    CONTENTS(Coord, pmix_coord_t)
    FREE(Coord)
    IS(NULL, PMIx_Coord_create(0, 0))
    IS(NULL, PMIx_Coord_create(3, 0))
    IS(NULL, PMIx_Coord_create(TOO_MANY, 1))
    IS(NULL, PMIx_Coord_create(1, TOO_MANY))
    RUNS(PMIx_Coord_free(PMIx_Coord_create(0, 2), 2))
    CONTENTS(Data_buffer, pmix_data_buffer_t)
    RUNS(PMIx_Data_buffer_release(NULL))
    RUNS(PMIx_Data_buffer_release(PMIx_Data_buffer_create()))
    RUNS(PMIx_Fabric_construct(NULL))
    RUNS(PMIx_App_release(NULL))
    RUNS(PMIx_App_release(PMIx_App_create(1)))
    RUNS(PMIx_Query_release(NULL))
    RUNS(PMIx_Query_release(PMIx_Query_create(1)))
    RUNS(PMIx_App_info_create(NULL, 1))
    PMIx_App_construct(&app);
    RUNS(PMIx_App_info_create(&app, TOO_MANY))
    SO(!app.info && app.ninfo == 0)
    RUNS(PMIx_App_info_create(&app, 0))
    SO(!app.info && app.ninfo == 0)
    RUNS(PMIx_Query_qualifiers_create(NULL, 1))
    PMIx_Query_construct(&query);
    RUNS(PMIx_Query_qualifiers_create(&query, TOO_MANY))
    SO(!query.qualifiers && query.nqual == 0)

    RUNS(PMIx_Data_array_init(NULL, PMIX_INT))
    RUNS(PMIx_Data_array_construct(NULL, 1, PMIX_INT))
    RUNS(PMIx_Data_array_destruct(NULL))
    RUNS(PMIx_Data_array_free(NULL))
    RUNS(PMIx_Data_array_construct(&array, TOO_MANY, PMIX_INFO))
    SO(!array.array && array.size == 0)
    RUNS(PMIx_Data_array_construct(&array, 0, PMIX_INFO))
    SO(!array.array && array.size == 0)
    for (size_t i = 0; i < N_NO_TYPES; i++) {
        RUNS(PMIx_Data_array_construct(&array, 3, no_types[i]))
        SO(!array.array && array.size == 0)
        RUNS(PMIx_Data_array_destruct(&array))
        RUNS(PMIx_Data_array_init(&array, no_types[i]))
        RUNS(PMIx_Data_array_destruct(&array))
        RUNS(PMIx_Data_array_free(PMIx_Data_array_create(3, no_types[i])))
    }
    /* a size without elements, and elements of an unknown type: only the memory is freed */
    array = (pmix_data_array_t){.type = PMIX_INFO, .size = 7};
    RUNS(PMIx_Data_array_destruct(&array))
    array = (pmix_data_array_t){.type = 9999, .size = 7, .array = malloc(7)};
    RUNS(PMIx_Data_array_destruct(&array))
    SO(!array.array)
}

void rows_of_life(void)
{
    families();
    others();
}
