/* SPDX-License-Identifier: BSD-3-Clause */
/* The type table: complete, with the sizes of the public structures, and members in
 * wire order. */
#include "core/types/type.h"
#include "px_test.h"

#include <string.h>

/* Types of the same size, terminated by 0; structures by their C type. */
static const struct {
    size_t size;
    pmix_data_type_t ids[20];
} sizes[] = {
    {1,
     {PMIX_BOOL, PMIX_BYTE, PMIX_INT8, PMIX_UINT8, PMIX_PERSIST, PMIX_SCOPE,
      PMIX_DATA_RANGE, PMIX_COMMAND, PMIX_PROC_STATE, PMIX_ALLOC_DIRECTIVE,
      PMIX_JOB_STATE, PMIX_LINK_STATE, PMIX_RESBLOCK_DIRECTIVE, PMIX_ALLOC_INHERIT}},
    {2,
     {PMIX_INT16, PMIX_UINT16, PMIX_DATA_TYPE, PMIX_IOF_CHANNEL, PMIX_LOCTYPE,
      PMIX_STOR_ACCESS_TYPE}},
    {4,
     {PMIX_INT32, PMIX_UINT32, PMIX_FLOAT, PMIX_STATUS, PMIX_INFO_DIRECTIVES,
      PMIX_PROC_RANK}},
    {8,
     {PMIX_INT64, PMIX_UINT64, PMIX_DOUBLE, PMIX_DEVTYPE, PMIX_STOR_MEDIUM,
      PMIX_STOR_ACCESS, PMIX_STOR_PERSIST}},
    {sizeof(int), {PMIX_INT, PMIX_UINT}},
    {sizeof(size_t), {PMIX_SIZE}},
    {sizeof(pid_t), {PMIX_PID}},
    {sizeof(time_t), {PMIX_TIME}},
    {sizeof(struct timeval), {PMIX_TIMEVAL}},
    {sizeof(void *), {PMIX_STRING, PMIX_POINTER}},
    {sizeof(pmix_byte_object_t),
     {PMIX_BYTE_OBJECT, PMIX_COMPRESSED_STRING, PMIX_COMPRESSED_BYTE_OBJECT,
      PMIX_REGEX}},
    {sizeof(pmix_value_t), {PMIX_VALUE}},
    {sizeof(pmix_nspace_t), {PMIX_PROC_NSPACE}},
    {sizeof(pmix_proc_t), {PMIX_PROC}},
    {sizeof(pmix_app_t), {PMIX_APP}},
    {sizeof(pmix_info_t), {PMIX_INFO}},
    {sizeof(pmix_pdata_t), {PMIX_PDATA}},
    {sizeof(pmix_proc_info_t), {PMIX_PROC_INFO}},
    {sizeof(pmix_data_array_t), {PMIX_DATA_ARRAY}},
    {sizeof(pmix_query_t), {PMIX_QUERY}},
    {sizeof(pmix_envar_t), {PMIX_ENVAR}},
    {sizeof(pmix_coord_t), {PMIX_COORD}},
    {sizeof(pmix_regattr_t), {PMIX_REGATTR}},
    {sizeof(pmix_cpuset_t), {PMIX_PROC_CPUSET}},
    {sizeof(pmix_geometry_t), {PMIX_GEOMETRY}},
    {sizeof(pmix_device_distance_t), {PMIX_DEVICE_DIST}},
    {sizeof(pmix_endpoint_t), {PMIX_ENDPOINT}},
    {sizeof(pmix_topology_t), {PMIX_TOPO}},
    {sizeof(pmix_proc_stats_t), {PMIX_PROC_STATS}},
    {sizeof(pmix_disk_stats_t), {PMIX_DISK_STATS}},
    {sizeof(pmix_net_stats_t), {PMIX_NET_STATS}},
    {sizeof(pmix_node_stats_t), {PMIX_NODE_STATS}},
    {sizeof(pmix_data_buffer_t), {PMIX_DATA_BUFFER}},
    {sizeof(pmix_device_t), {PMIX_DEVICE}},
    {sizeof(pmix_resource_unit_t), {PMIX_RESOURCE_UNIT}},
    {sizeof(pmix_node_pid_t), {PMIX_NODE_PID}},
    {sizeof(pmix_regex2_t), {PMIX_REGEX2}},
};

/* Members in wire order; members after the bar do not travel. */
static const struct {
    pmix_data_type_t id;
    const char *members;
} orders[] = {
    {PMIX_PROC, "nspace rank"},
    {PMIX_APP, "cmd argv env cwd maxprocs info"},
    {PMIX_INFO, "key flags value"},
    {PMIX_PDATA, "proc key value"},
    {PMIX_PROC_INFO, "proc hostname executable_name pid state | exit_code"},
    {PMIX_QUERY, "keys qualifiers"},
    {PMIX_ENVAR, "envar value separator"},
    {PMIX_COORD, "view coord"},
    {PMIX_REGATTR, "name string type description"},
    {PMIX_GEOMETRY, "fabric uuid osname coordinates"},
    {PMIX_DEVICE_DIST, "uuid osname type mindist maxdist"},
    {PMIX_ENDPOINT, "uuid osname endpt"},
    {PMIX_PROC_STATS, "node proc pid cmd state time priority num_threads pss vsize rss "
                      "processor sample_time | percent_cpu peak_vsize"},
    {PMIX_DISK_STATS, "disk num_reads_completed num_reads_merged num_sectors_read "
                      "milliseconds_reading num_writes_completed num_writes_merged "
                      "num_sectors_written milliseconds_writing num_ios_in_progress "
                      "milliseconds_io weighted_milliseconds_io"},
    {PMIX_NET_STATS, "net_interface num_bytes_recvd num_packets_recvd num_recv_errs "
                     "num_bytes_sent num_packets_sent num_send_errs"},
    {PMIX_NODE_STATS, "node la la5 la15 total_mem free_mem buffers cached swap_cached "
                      "swap_total swap_free mapped sample_time diskstats netstats"},
    {PMIX_DEVICE, "uuid osname type"},
    {PMIX_RESOURCE_UNIT, "type count"},
    {PMIX_NODE_PID, "hostname nodeid pid"},
    {PMIX_REGEX2, "type bytes"},
};

PX_TEST(sizes_equal_those_of_the_public_types)
{
    unsigned n = 1; /* PMIX_UNDEF has no row here */

    for (size_t i = 0; i < PX_COUNT(sizes); i++)
        for (const pmix_data_type_t *id = sizes[i].ids; *id; id++, n++) {
            const struct px_type *t = px_type_find(*id);

            ck_assert_msg(t && t->id == *id && t->size == sizes[i].size, "type %u",
                          *id);
        }
    for (pmix_data_type_t id = 0; id <= 75; id++)
        n -= px_type_find(id) != NULL;
    ck_assert_uint_eq(n, 0);
}

PX_TEST(every_number_to_75_has_a_row_except_holes_and_deprecated_ones)
{
    for (pmix_data_type_t id = 0; id <= 75; id++) {
        bool absent = id == 26 || id == 28 || id == 29 || id == 44;

        ck_assert_msg(!px_type_find(id) == absent, "type %u", id);
    }
}

PX_TEST(numbers_beyond_the_table_have_no_type)
{
    static const pmix_data_type_t beyond[] = {76, 77, 255, 256, 500, 501, UINT16_MAX};

    for (size_t i = 0; i < PX_COUNT(beyond); i++)
        ck_assert_ptr_null(px_type_find(beyond[i]));
}

PX_TEST(undef_stores_nothing_and_a_value_may_be_it)
{
    const struct px_type *t = px_type_find(PMIX_UNDEF);

    ck_assert_uint_eq(t->store, PX_NONE);
    ck_assert_uint_eq(t->size, 0);
    ck_assert_uint_eq(t->in_value, PX_VALUE_INLINE);
}

PX_TEST(structures_travel_in_the_order_of_the_protocol)
{
    for (size_t i = 0; i < PX_COUNT(orders); i++) {
        const struct px_type *t = px_type_find(orders[i].id);
        char members[512] = "";

        for (int f = 0; f < t->n_fields + t->n_local; f++) {
            if (f)
                strcat(members, f == t->n_fields ? " | " : " ");
            strcat(members, t->fields[f].name);
        }
        ck_assert_str_eq(members, orders[i].members);
    }
}

PX_TEST(only_structures_have_fields)
{
    size_t n_structures = 0;

    for (pmix_data_type_t id = 0; id <= 75; id++) {
        const struct px_type *t = px_type_find(id);

        if (t && t->store == PX_STRUCT) {
            ck_assert_uint_gt(t->n_fields, 0);
            n_structures++;
        } else if (t) {
            ck_assert_ptr_null(t->fields);
        }
    }
    ck_assert_uint_eq(n_structures, PX_COUNT(orders));
}

static bool owns_memory(const struct px_field *f)
{
    return f->many != PX_ONE || (f->store != PX_KEY && !px_type_find(f->type)->flat);
}

PX_TEST(a_structure_is_flat_when_all_its_members_are)
{
    for (size_t i = 0; i < PX_COUNT(orders); i++) {
        const struct px_type *t = px_type_find(orders[i].id);
        bool flat = true;

        for (int f = 0; f < t->n_fields + t->n_local; f++) {
            flat = flat && !owns_memory(&t->fields[f]);
            ck_assert(f < t->n_fields || !owns_memory(&t->fields[f]));
        }
        ck_assert_msg(t->flat == flat, "%s", t->name);
    }
}

/* A count, an empty key and a length of zero take one byte each. */
PX_TEST(least_size_on_the_wire_is_the_sum_of_the_members)
{
    for (size_t i = 0; i < PX_COUNT(orders); i++) {
        const struct px_type *t = px_type_find(orders[i].id);
        unsigned least = 0;

        for (int f = 0; f < t->n_fields; f++)
            least += t->fields[f].many == PX_ONE
                         ? px_type_find(t->fields[f].type)->min_wire
                         : 1;
        ck_assert_msg(t->min_wire == least, "%s: %u", t->name, least);
    }
}

static const pmix_data_type_t by_pointer[] = {
    PMIX_PROC,       PMIX_PROC_INFO,     PMIX_DATA_ARRAY,  PMIX_COORD,
    PMIX_REGATTR,    PMIX_PROC_CPUSET,   PMIX_GEOMETRY,    PMIX_DEVICE_DIST,
    PMIX_ENDPOINT,   PMIX_TOPO,          PMIX_PROC_NSPACE, PMIX_PROC_STATS,
    PMIX_DISK_STATS, PMIX_NET_STATS,     PMIX_NODE_STATS,  PMIX_DATA_BUFFER,
    PMIX_DEVICE,     PMIX_RESOURCE_UNIT, PMIX_NODE_PID,    PMIX_REGEX2,
};

static const pmix_data_type_t in_no_value[] = {
    PMIX_VALUE,           PMIX_APP,       PMIX_INFO,
    PMIX_PDATA,           PMIX_QUERY,     PMIX_COMMAND,
    PMIX_INFO_DIRECTIVES, PMIX_DATA_TYPE, PMIX_IOF_CHANNEL,
};

static bool is_among(pmix_data_type_t id, const pmix_data_type_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i] == id)
            return true;
    }
    return false;
}

PX_TEST(the_table_has_the_member_of_a_value_and_its_storage)
{
    for (pmix_data_type_t id = 0; id <= 75; id++) {
        const struct px_type *t = px_type_find(id);

        if (!t)
            continue;
        if (is_among(id, by_pointer, PX_COUNT(by_pointer)))
            ck_assert_msg(t->in_value == PX_VALUE_POINTER, "%s", t->name);
        else if (is_among(id, in_no_value, PX_COUNT(in_no_value)))
            ck_assert_msg(t->in_value == PX_VALUE_NO, "%s", t->name);
        else
            ck_assert_msg(t->in_value == PX_VALUE_INLINE &&
                              t->size <= sizeof(((pmix_value_t *)0)->data),
                          "%s", t->name);
    }
}

PX_TEST_MAIN("types/registry", NULL, NULL)
