/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which tables, realms and facts answer a Get. */
#include "model_test.h"
#include "core/model/lookup.h"

#include <string.h>

static void setup(void)
{
    be("n1", 3);
    slurm_job(&given, 1);
    learn(&given);
}

static void put(enum px_gds_table table, pmix_rank_t rank, const char *key,
                const char *s)
{
    pmix_value_t v = {.type = PMIX_STRING, .data.string = (char *)(uintptr_t)s};

    ok(px_store_put(&ns->store, table, rank, key, &v));
}

static void assert_found(struct px_lookup *l, const char *s)
{
    pmix_value_t v;

    ok(px_lookup_find(model, ns, l, &v));
    ck_assert_int_eq(v.type, PMIX_STRING);
    ck_assert_str_eq(v.data.string, s);
    px_type_destruct(PMIX_VALUE, &v);
}

PX_TEST(own_values_come_before_the_hosts_and_those_before_what_others_put)
{
    struct px_lookup l;
    pmix_value_t v;

    put(PX_GDS_REMOTE, 1, "k", "remote");
    px_lookup_init(&l, "k", 1, NULL, 0);
    ck_assert_int_eq(px_lookup_find(model, ns, &l, &v), PMIX_ERR_NOT_FOUND);
    l.want_remote = true;
    assert_found(&l, "remote");
    put(PX_GDS_LOCAL, 1, "k", "local");
    assert_found(&l, "remote");
    l.want_local = true;
    assert_found(&l, "local");
    put(PX_GDS_JOB, 1, "k", "host");
    assert_found(&l, "host");
    put(PX_GDS_INTERNAL, 1, "k", "own");
    assert_found(&l, "own");
    l.skip_internal = true;
    assert_found(&l, "host");
}

/* Like in OpenPMIx, a process cannot move another process. */
PX_TEST(what_follows_from_the_maps_is_not_what_a_process_commits)
{
    put(PX_GDS_REMOTE, 0, PMIX_LOCALITY_STRING, "here");
    assert_str(0, PMIX_LOCALITY_STRING, "here");
    assert_str(0, PMIX_HOSTNAME, "n0");
    put(PX_GDS_REMOTE, 0, PMIX_HOSTNAME, "as-committed");
    assert_str(0, PMIX_HOSTNAME, "n0");
    put(PX_GDS_JOB, 0, PMIX_HOSTNAME, "as-given");
    assert_str(0, PMIX_HOSTNAME, "as-given");
}

PX_TEST(node_keys_are_of_this_node_or_of_one_named_by_host_name_or_id)
{
    static const struct {
        bool realm; /* a node name alone selects the node realm */
        const char *host;
        int id;
        const char *peers; /* NULL: none */
        uint32_t size;
    } rows[] = {
        {false, NULL, -1, "3", 1},    {true, NULL, -1, "3", 1},
        {true, "n0", -1, "0,1,2", 3}, {false, "n0", -1, "0,1,2", 3},
        {true, NULL, 0, "0,1,2", 3},  {false, "n0.cluster.org", -1, "0,1,2", 3},
        {false, NULL, 1, "3", 1},     {true, "n7", -1, NULL, 0},
        {true, NULL, 7, NULL, 0},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        if (rows[i].realm)
            add_flag(&quals, PMIX_NODE_INFO, true);
        if (rows[i].host)
            add_str(&quals, PMIX_HOSTNAME, rows[i].host);
        if (rows[i].id >= 0)
            add_num(&quals, PMIX_NODEID, (uint32_t)rows[i].id,
                    i % 2 ? PMIX_INT : PMIX_UINT32);
        if (rows[i].peers) {
            assert_str(ALL, PMIX_LOCAL_PEERS, rows[i].peers);
            assert_num(ALL, PMIX_LOCAL_SIZE, PMIX_UINT32, rows[i].size);
        } else {
            assert_none(ALL, PMIX_LOCAL_PEERS);
        }
        px_infos_cleanup(&quals);
    }
}

PX_TEST(keys_of_a_rank_are_answered_in_the_node_realm_too)
{
    assert_num(ALL, PMIX_NODEID, PMIX_UINT32, 1);
    add_flag(&quals, PMIX_NODE_INFO, true);
    assert_str(0, PMIX_HOSTNAME, "n0");
    assert_str(ALL, PMIX_HOSTNAME, "n1");
}

PX_TEST(an_application_is_ones_own_unless_named)
{
    put(PX_GDS_APP, 0, PMIX_WDIR, "/zero");
    put(PX_GDS_APP, 1, PMIX_WDIR, "/one");
    assert_str(ALL, PMIX_WDIR, "/zero");
    model->appnum = 1;
    assert_str(ALL, PMIX_WDIR, "/one");
    add_flag(&quals, PMIX_APP_INFO, true);
    add_num(&quals, PMIX_APPNUM, 0, PMIX_UINT32);
    assert_str(ALL, PMIX_WDIR, "/zero");
}

PX_TEST(session_values_are_found_by_any_rank)
{
    assert_num(ALL, PMIX_UNIV_SIZE, PMIX_UINT32, 4);
    assert_num(1, PMIX_UNIV_SIZE, PMIX_UINT32, 4);
    add_flag(&quals, PMIX_SESSION_INFO, true);
    assert_num(ALL, PMIX_UNIV_SIZE, PMIX_UINT32, 4);
    assert_num(ALL, PMIX_NUM_NODES, PMIX_UINT32, 2);
    add_num(&quals, PMIX_SESSION_ID, 5, PMIX_UINT32);
    assert_none(ALL, PMIX_UNIV_SIZE);
}

PX_TEST(keys_of_the_job_are_not_those_of_a_rank)
{
    assert_none(1, PMIX_JOB_SIZE);
    assert_none(ALL, PMIX_LOCAL_RANK);
}

PX_TEST(the_job_realm_is_that_of_a_rank_too)
{
    add_flag(&quals, PMIX_JOB_INFO, true);
    assert_num(1, PMIX_JOB_SIZE, PMIX_UINT32, 4);
    assert_num(1, PMIX_NUM_NODES, PMIX_UINT32, 2);
}

PX_TEST(keys_of_nodes_and_applications_are_those_of_a_rank)
{
    put(PX_GDS_APP, 0, PMIX_WDIR, "/zero");
    put(PX_GDS_APP, 1, PMIX_WDIR, "/one");
    put(PX_GDS_JOB, 2, PMIX_APPNUM, "1");
    assert_str(1, PMIX_LOCAL_PEERS, "0,1,2");
    assert_str(3, PMIX_LOCAL_PEERS, "3");
    assert_str(1, PMIX_WDIR, "/zero");
    assert_none(7, PMIX_LOCAL_PEERS);
    assert_none(7, PMIX_WDIR);
}

PX_TEST(a_rank_without_a_value_has_the_common_one)
{
    put(PX_GDS_JOB, ALL, PMIX_CPUSET, "hwloc:0-7");
    put(PX_GDS_JOB, 1, PMIX_CPUSET, "hwloc:1");
    assert_str(0, PMIX_CPUSET, "hwloc:0-7");
    assert_str(1, PMIX_CPUSET, "hwloc:1");
    assert_none(7, PMIX_CPUSET);
}

PX_TEST(maps_are_answered_as_text)
{
    static const struct {
        const char *nodes, *ranks, *vector, *packed;
    } rows[] = {
        {"n0,n1", "0,1,2;3", "(vector,(0,1,3),(1,1,1))", "pmix[n[1:0-1]]"},
        {"n0,n1,n2", "0,1;2,3;4,5", "(vector,(0,3,2))", "pmix[n[1:0-2]]"},
        {"a,b", "0,2;1,3", "(vector,(0,2,1),(0,2,1))", "pmix[a,b]"},
        {"a,b", "2,3;0,1", "(vector,(1,1,2),(0,1,2))", "pmix[a,b]"},
        {"a,b", "1;2", NULL, "pmix[a,b]"}, /* no rank 0 */
    };

    px_store_clear(&ns->store, PX_GDS_JOB, ALL); /* Slurm gives PMIX_ANL_MAP */
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        px_procmap_destroy(ns->map);
        ok(px_procmap_create(rows[i].nodes, rows[i].ranks, &ns->map, NULL));
        assert_str(ALL, PMIX_NODE_MAP_RAW, rows[i].nodes);
        assert_str(ALL, PMIX_NODE_MAP, rows[i].packed);
        assert_str(ALL, PMIX_PROC_MAP_RAW, rows[i].ranks);
        if (rows[i].vector)
            assert_str(ALL, PMIX_ANL_MAP, rows[i].vector);
        else
            assert_none(ALL, PMIX_ANL_MAP);
    }
    assert_str(2, PMIX_NSPACE, ns->name);
    assert_str(ALL, PMIX_NSPACE, ns->name);
}

PX_TEST(an_undefined_rank_means_whoever_has_the_key)
{
    put(PX_GDS_REMOTE, 3, "port", "1234");
    assert_str(PMIX_RANK_UNDEF, "port", "1234");
    assert_num(PMIX_RANK_UNDEF, PMIX_JOB_SIZE, PMIX_UINT32, 4);
    assert_str(PMIX_RANK_UNDEF, PMIX_LOCAL_PEERS, "3");
    assert_none(PMIX_RANK_UNDEF, "no.such.key");
}

PX_TEST(other_special_ranks_have_only_what_the_job_has)
{
    assert_none(PMIX_RANK_LOCAL_NODE, PMIX_HOSTNAME "x");
    assert_num(PMIX_RANK_LOCAL_NODE, PMIX_JOB_SIZE, PMIX_UINT32, 4);
}

PX_TEST(qualifiers_choose_the_realm)
{
    static const struct {
        const char *info, *key;
        enum px_key_realm realm;
    } rows[] = {
        {PMIX_NODE_INFO, "k", PX_KEY_NODE},
        {PMIX_APP_INFO, "k", PX_KEY_APP},
        {PMIX_SESSION_INFO, "k", PX_KEY_SESSION},
        {PMIX_JOB_INFO, "k", PX_KEY_JOB},
        {PMIX_OPTIONAL, PMIX_LOCAL_PEERS, PX_KEY_JOB},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_lookup l;
        pmix_value_t none = {.type = PMIX_UNDEF}; /* counts as true */
        ok(px_infos_add_value(&quals, rows[i].info, &none));
        px_lookup_init(&l, rows[i].key, 0, quals.v, quals.n);
        ck_assert_int_eq(l.realm, rows[i].realm);
        ck_assert_ptr_null(l.hostname);
        ck_assert_uint_eq(l.node_id, UINT32_MAX);
        ck_assert_uint_eq(l.app, UINT32_MAX);
        ck_assert_uint_eq(l.session, UINT32_MAX);
        px_infos_cleanup(&quals);
    }
}

PX_TEST_MAIN("model/lookup", setup, model_teardown)
