/* SPDX-License-Identifier: BSD-3-Clause */
#include "model_test.h"

#include <string.h>

PX_TEST(what_the_maps_imply_needs_no_more_than_the_maps)
{
    struct px_model *m = model_make("n1", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(m, JOB);
    px_infos l = {0};

    add_str(&l, PMIX_NODE_MAP, "pmix[n[1:0-2]]");
    add_str(&l, PMIX_PROC_MAP, "raw:0,3;2,1;4-5");
    must_register(m, ns, &l);

    assert_num(m, ns, ALL, PMIX_JOB_SIZE, PMIX_UINT32, 6);
    assert_num(m, ns, ALL, PMIX_NUM_NODES, PMIX_UINT32, 3);
    assert_num(m, ns, ALL, PMIX_MAX_PROCS, PMIX_UINT32, 6);
    assert_str(m, ns, ALL, PMIX_NODE_LIST, "n0,n1,n2");
    assert_str(m, ns, ALL, PMIX_LOCAL_PEERS, "2,1");
    assert_num(m, ns, ALL, PMIX_LOCAL_SIZE, PMIX_UINT32, 2);
    assert_num(m, ns, ALL, PMIX_LOCALLDR, PMIX_PROC_RANK, 1);
    assert_num(m, ns, 3, PMIX_LOCAL_RANK, PMIX_UINT16, 1);
    assert_num(m, ns, 1, PMIX_NODE_RANK, PMIX_UINT16, 1);
    assert_num(m, ns, 5, PMIX_NODEID, PMIX_UINT32, 2);
    assert_str(m, ns, 5, PMIX_HOSTNAME, "n2");
    assert_num(m, ns, 5, PMIX_APPNUM, PMIX_UINT32, 0);
    assert_none(m, ns, 6, PMIX_HOSTNAME);
    assert_none(m, ns, 6, PMIX_APPNUM);
    ck_assert_uint_eq(ns->job_size, 6);
    px_model_destroy(m);
}

PX_TEST(data_of_some_ranks_stops_nothing_for_the_others)
{
    struct px_model *m = model_make("n0", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(m, JOB);
    px_infos l = {0};
    px_infos p = {0};

    add_str(&l, PMIX_NODE_MAP, "n0,n1");
    add_str(&l, PMIX_PROC_MAP, "0,1;2,3");
    add_num(&p, PMIX_LOCAL_RANK, 7, PMIX_INT);
    add_str(&p, PMIX_CPUSET, "0-3");
    add_proc(&l, 1, &p);
    must_register(m, ns, &l);

    assert_num(m, ns, 1, PMIX_LOCAL_RANK, PMIX_UINT16, 7);
    assert_num(m, ns, 1, PMIX_NODE_RANK, PMIX_UINT16, 1);
    assert_str(m, ns, 1, PMIX_HOSTNAME, "n0");
    assert_str(m, ns, 1, PMIX_CPUSET, "0-3");
    assert_num(m, ns, 3, PMIX_LOCAL_RANK, PMIX_UINT16, 1);
    assert_str(m, ns, 3, PMIX_HOSTNAME, "n1");
    px_model_destroy(m);
}

PX_TEST(a_given_value_wins_over_what_would_follow)
{
    struct px_model *m = model_make("n0", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(m, JOB);
    px_infos l = {0};

    add_str(&l, PMIX_NODE_MAP, "n0,n1");
    add_str(&l, PMIX_PROC_MAP, "0;1");
    add_num(&l, PMIX_JOB_SIZE, 9, PMIX_INT);
    add_num(&l, PMIX_NUM_NODES, 5, PMIX_UINT32);
    add_num(&l, PMIX_NODEID, 40, PMIX_UINT32);
    must_register(m, ns, &l);

    assert_num(m, ns, ALL, PMIX_JOB_SIZE, PMIX_UINT32, 9);
    assert_num(m, ns, ALL, PMIX_NUM_NODES, PMIX_UINT32, 5);
    assert_num(m, ns, 0, PMIX_NODEID, PMIX_UINT32, 40);
    assert_num(m, ns, 1, PMIX_NODEID, PMIX_UINT32, 1);
    px_model_destroy(m);
}

PX_TEST(no_application_number_is_guessed_for_a_job_of_several)
{
    struct px_model *m = model_make("n0", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(m, JOB);
    px_infos l = {0};
    px_infos p = {0};

    add_str(&l, PMIX_NODE_MAP, "n0");
    add_str(&l, PMIX_PROC_MAP, "0,1");
    add_num(&l, PMIX_JOB_NUM_APPS, 2, PMIX_UINT32);
    add_num(&p, PMIX_APPNUM, 1, PMIX_UINT32);
    add_proc(&l, 1, &p);
    must_register(m, ns, &l);

    assert_none(m, ns, 0, PMIX_APPNUM);
    assert_num(m, ns, 1, PMIX_APPNUM, PMIX_UINT32, 1);
    px_model_destroy(m);
}

PX_TEST_MAIN("model/jobinfo_facts", NULL, NULL)
