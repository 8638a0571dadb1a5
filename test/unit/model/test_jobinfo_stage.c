/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host can get wrong. */
#include "model_test.h"

#include <string.h>

static void bad_map(px_infos *l)
{
    add_str(l, PMIX_NODE_MAP, "pmix[n[1:3-1]]");
}

static void bad_ranks(px_infos *l)
{
    add_str(l, PMIX_NODE_MAP, "n0");
    add_str(l, PMIX_PROC_MAP, "0,0");
}

static void ranks_without_nodes(px_infos *l)
{
    add_str(l, PMIX_PROC_MAP, "0");
}

static void map_of_a_wrong_type(px_infos *l)
{
    add_num(l, PMIX_NODE_MAP, 5, PMIX_UINT32);
}

static void data_without_rank(px_infos *l)
{
    px_infos p = {0};

    add_str(&p, PMIX_CPUSET, "0");
    add_array(l, PMIX_PROC_DATA, &p);
}

static void data_of_every_rank(px_infos *l)
{
    add_proc(l, PMIX_RANK_WILDCARD, NULL);
}

static void data_that_is_no_array(px_infos *l)
{
    add_str(l, PMIX_PROC_DATA, "rank 0");
}

static void node_that_is_no_array(px_infos *l)
{
    add_str(l, PMIX_NODE_INFO_ARRAY, "n0");
}

static void node_with_a_number_for_a_name(px_infos *l)
{
    px_infos p = {0};

    add_num(&p, PMIX_HOSTNAME, 5, PMIX_UINT32);
    add_array(l, PMIX_NODE_INFO_ARRAY, &p);
}

static void app_with_a_bad_number(px_infos *l)
{
    px_infos p = {0};

    add_str(&p, PMIX_APPNUM, "one");
    add_array(l, PMIX_APP_INFO_ARRAY, &p);
}

static void session_with_a_bad_number(px_infos *l)
{
    px_infos p = {0};

    add_str(&p, PMIX_SESSION_ID, "one");
    add_array(l, PMIX_SESSION_INFO_ARRAY, &p);
}

static void job_within_job(px_infos *l)
{
    px_infos inner = {0};
    px_infos outer = {0};

    add_str(&inner, "k", "v");
    add_array(&outer, PMIX_JOB_INFO_ARRAY, &inner);
    add_array(l, PMIX_JOB_INFO_ARRAY, &outer);
}

static void key_without_a_name(px_infos *l)
{
    add_str(l, "", "v");
}

static void compressed_junk(px_infos *l)
{
    pmix_value_t v = {.type = PMIX_COMPRESSED_STRING};

    v.data.bo.bytes = (char *)(uintptr_t) "\1\2\3\4junk";
    v.data.bo.size = 8;
    ok(px_infos_add_value(l, "k", &v));
}

PX_TEST(malformed_information_is_refused_with_a_reason_and_changes_nothing)
{
    static void (*const make[])(px_infos *) = {
        bad_map,
        bad_ranks,
        ranks_without_nodes,
        map_of_a_wrong_type,
        data_without_rank,
        data_of_every_rank,
        data_that_is_no_array,
        node_that_is_no_array,
        node_with_a_number_for_a_name,
        app_with_a_bad_number,
        session_with_a_bad_number,
        job_within_job,
        key_without_a_name,
        compressed_junk,
    };
    struct px_model *m = model_make("vm", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(m, JOB);
    px_infos l = {0};

    mpirun_job(&l);
    must_register(m, ns, &l);
    PX_AUTO(px_buf) before = pack_answer(m, ns, px_codec_default, false);
    for (size_t i = 0; i < PX_COUNT(make); i++) {
        struct px_err err = {0};
        add_str(&l, PMIX_MAPBY, "changed");
        add_num(&l, PMIX_NODE_SIZE, 99, PMIX_UINT32);
        make[i](&l);
        ck_assert_msg(px_jobinfo_register(m, ns, l.v, l.n, &err) != PMIX_SUCCESS, "%zu",
                      i);
        ck_assert_str_ne(err.text, "");
        ck_assert_int_ne(px_jobinfo_register(m, ns, l.v, l.n, NULL), PMIX_SUCCESS);
        px_infos_cleanup(&l);
        PX_AUTO(px_buf) after = pack_answer(m, ns, px_codec_default, false);
        ck_assert_uint_eq(after.len, before.len);
        ck_assert_mem_eq(after.data, before.data, before.len);
    }
    assert_mpirun_gets(m, ns);
    px_model_destroy(m);
}

PX_TEST_MAIN("model/jobinfo_stage", NULL, NULL)
