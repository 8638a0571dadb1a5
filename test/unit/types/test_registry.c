/* SPDX-License-Identifier: BSD-3-Clause */
/* The type table: complete, and members in wire order. */
#include "core/types/type.h"
#include "px_test.h"

#include <string.h>

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

PX_TEST(every_number_to_75_has_a_row_except_holes_and_deprecated_ones)
{
    for (unsigned id = 0; id <= UINT16_MAX; id++) {
        bool absent = id == 26 || id == 28 || id == 29 || id == 44 || id > 75;

        ck_assert_msg(!px_type_find((pmix_data_type_t)id) == absent, "type %u", id);
    }
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

PX_TEST(an_inline_type_fits_into_a_value)
{
    for (pmix_data_type_t id = 0; id <= 75; id++) {
        const struct px_type *t = px_type_find(id);

        ck_assert(!t || t->in_value != PX_VALUE_INLINE ||
                  t->size <= sizeof(((pmix_value_t *)0)->data));
    }
}

PX_TEST_MAIN("types/registry", NULL, NULL)
