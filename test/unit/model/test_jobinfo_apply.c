/* SPDX-License-Identifier: BSD-3-Clause */
/* The map, the table of nodes, and which of them is this one. */
#include "model_test.h"
#include "pmix_server.h"

#include <string.h>

static pmix_status_t count(void *arg, pmix_rank_t rank PX_UNUSED,
                           const char *key PX_UNUSED,
                           const pmix_value_t *value PX_UNUSED)
{
    ++*(int *)arg;
    return PMIX_SUCCESS;
}

PX_TEST(what_follows_from_the_maps_is_not_kept_for_every_rank)
{
    px_infos l = {0};
    int n = 0;

    add_str(&l, PMIX_NODE_MAP, "pmix[n[3:0-99]]");
    add_str(&l, PMIX_PROC_MAP, "raw:0-999");
    struct px_model *m = client_of(&l, "n000", "n000", 5, px_codec_default, false);

    ok(px_store_walk(&m->own->store, PX_GDS_JOB, 5, count, &n));
    ck_assert_int_eq(n, 0);
    assert_num(m, m->own, 999, PMIX_LOCAL_RANK, PMIX_UINT16, 999);
    assert_str(m, m->own, 999, PMIX_HOSTNAME, "n000");
    px_model_destroy(m);
}

PX_TEST(node_keys_alone_speak_of_this_node_even_outside_the_map)
{
    struct px_model *m = model_make("head", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(m, JOB);
    px_infos l = {0};

    add_str(&l, PMIX_NODE_MAP, "n0,n1");
    add_str(&l, PMIX_PROC_MAP, "0;1");
    add_num(&l, PMIX_NODE_SIZE, 5, PMIX_UINT32);
    must_register(m, ns, &l);

    assert_num(m, ns, ALL, PMIX_NODE_SIZE, PMIX_UINT32, 5);
    assert_num(m, ns, ALL, PMIX_NUM_NODES, PMIX_UINT32, 2);
    assert_str(m, ns, ALL, PMIX_HOSTNAME, "head");
    assert_none(m, ns, ALL, PMIX_LOCAL_PEERS);
    px_model_destroy(m);
}

PX_TEST(short_and_full_host_names_are_the_same_node)
{
    struct px_model *m = model_make("n1.cluster.org", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(m, JOB);
    px_infos l = {0};

    add_str(&l, PMIX_NODE_MAP, "n0,n1");
    add_str(&l, PMIX_PROC_MAP, "0;1");
    must_register(m, ns, &l);

    assert_str(m, ns, ALL, PMIX_LOCAL_PEERS, "1");
    px_model_destroy(m);
}

PX_TEST(a_client_knows_its_node_by_its_rank_whatever_its_host_is_called)
{
    px_infos l = {0};

    slurm_job(&l, 1);
    struct px_model *m = client_of(&l, "n1", "container-77", 3, px_codec_default,
                                   false);

    assert_slurm_gets(m, m->own, 1);
    px_model_destroy(m);
}

PX_TEST(registering_again_adds_and_replaces)
{
    struct px_model *m = model_make("n0", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(m, JOB);
    px_infos l = {0};

    add_str(&l, PMIX_NODE_MAP, "n0,n1");
    add_str(&l, PMIX_PROC_MAP, "0;1");
    add_num(&l, PMIX_NODE_SIZE, 5, PMIX_UINT32);
    add_str(&l, "a", "old");
    add_str(&l, "b", "kept");
    must_register(m, ns, &l);
    add_str(&l, "a", "new");
    must_register(m, ns, &l);
    assert_str(m, ns, ALL, "a", "new");
    assert_str(m, ns, ALL, "b", "kept");
    assert_num(m, ns, ALL, PMIX_NODE_SIZE, PMIX_UINT32, 5);
    assert_str(m, ns, 1, PMIX_HOSTNAME, "n1");

    add_str(&l, PMIX_NODE_MAP, "n9,n0,n1");
    add_str(&l, PMIX_PROC_MAP, "0;1;2");
    must_register(m, ns, &l);
    assert_str(m, ns, 1, PMIX_HOSTNAME, "n0");
    assert_str(m, ns, ALL, PMIX_LOCAL_PEERS, "1");
    assert_num(m, ns, ALL, PMIX_JOB_SIZE, PMIX_UINT32, 3);
    assert_none(m, ns, ALL, PMIX_NODE_SIZE); /* belonged to a row of the old map */
    px_model_destroy(m);
}

static void add_regex2(px_infos *l, const char *key, const char *list)
{
    pmix_regex2_t regex;

    ok(PMIx_generate_regex2(list, NULL, 0, &regex));
    ok(px_infos_add(l, key, &regex, PMIX_REGEX2));
    PMIx_Regex2_destruct(&regex);
}

PX_TEST(maps_may_come_as_regex2)
{
    struct px_model *m = model_make("n1", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(m, JOB);
    px_infos l = {0};

    add_regex2(&l, PMIX_NODE_MAP, "n0,n1");
    add_regex2(&l, PMIX_PROC_MAP, "0,2;1,3");
    must_register(m, ns, &l);
    assert_str(m, ns, ALL, PMIX_LOCAL_PEERS, "1,3");
    assert_str(m, ns, 2, PMIX_HOSTNAME, "n0");
    px_model_destroy(m);
}

static void put_node(px_writer *w, const char *name, const char *ranks)
{
    px_infos node = {0};

    add_str(&node, PMIX_HOSTNAME, name);
    add_str(&node, PMIX_LOCAL_PEERS, ranks);
    put_array(w, PMIX_NODE_INFO_ARRAY, &node);
}

PX_TEST(node_arrays_out_of_order_follow_the_node_list)
{
    px_writer w;

    px_writer_init(&w, px_codec_default);
    put_node(&w, "n1", "2-3");
    put_node(&w, "n0", "0,1");
    put_str(&w, PMIX_NODE_LIST, "n0,n1");
    struct px_model *m = client_of_bytes(&w, "n1", 2);

    assert_num(m, m->own, 3, PMIX_NODEID, PMIX_UINT32, 1);
    assert_num(m, m->own, 0, PMIX_NODEID, PMIX_UINT32, 0);
    assert_str(m, m->own, ALL, PMIX_LOCAL_PEERS, "2-3");
    px_model_destroy(m);
}

PX_TEST(node_arrays_that_contradict_each_other_are_kept_but_make_no_map)
{
    px_writer w;

    px_writer_init(&w, px_codec_default);
    put_node(&w, "n1", "0,1");
    put_node(&w, "n0", "0,1");
    struct px_model *m = client_of_bytes(&w, "n1", 0);

    ck_assert_ptr_null(m->own->map);
    assert_str(m, m->own, ALL, PMIX_LOCAL_PEERS, "0,1");
    assert_none(m, m->own, 0, PMIX_HOSTNAME);
    px_model_destroy(m);
}

PX_TEST(arrays_of_some_nodes_make_no_map_of_the_job)
{
    px_writer w;

    px_writer_init(&w, px_codec_default);
    put_num(&w, PMIX_JOB_SIZE, PMIX_UINT32, 4);
    put_node(&w, "n1", "0,1");
    struct px_model *m = client_of_bytes(&w, "n1", 0);

    ck_assert_ptr_null(m->own->map);
    assert_str(m, m->own, ALL, PMIX_LOCAL_PEERS, "0,1");
    assert_none(m, m->own, ALL, PMIX_NUM_NODES);
    px_model_destroy(m);
}

PX_TEST(nodes_nobody_listed_are_found_by_name_all_the_same)
{
    px_writer w;

    px_writer_init(&w, px_codec_default);
    for (int i = 0; i < 50; i++) {
        char name[16], ranks[16];
        snprintf(name, sizeof(name), "n%d", i);
        snprintf(ranks, sizeof(ranks), "%d", i);
        put_node(&w, name, ranks);
    }
    struct px_model *m = client_of_bytes(&w, "n7", 7);

    assert_str(m, m->own, 49, PMIX_HOSTNAME, "n49");
    assert_num(m, m->own, 49, PMIX_NODEID, PMIX_UINT32, 49);
    assert_num(m, m->own, ALL, PMIX_JOB_SIZE, PMIX_UINT32, 50);
    px_model_destroy(m);
}

PX_TEST_MAIN("model/jobinfo_apply", NULL, NULL)
