/* SPDX-License-Identifier: BSD-3-Clause */
/* Registration of jobs by hosts, and invalid registrations. */
#include "alloc_fail.h"
#include "core/model/lookup.h"
#include "model_test.h"
#include "pmix_server.h"

#include <string.h>

PX_TEST(jobs_registered_as_mpirun_and_slurm_do_answer_every_get_they_have_seen)
{
    serve("vm");
    mpirun_job(&given);
    learn(&given);
    assert_mpirun_gets();
    for (uint32_t node = 0; node < 2; node++) {
        serve(node ? "n1" : "n0");
        slurm_job(&given, node);
        learn(&given);
        assert_slurm_gets(node);
    }
}

static void assert_realms(void)
{
    assert_num(ALL, PMIX_JOB_SIZE, PMIX_UINT32, 4);
    assert_str(ALL, PMIX_JOBID, "j");
    assert_num(ALL, PMIX_UNIV_SIZE, PMIX_UINT32, 64);
    assert_num(ALL, PMIX_SESSION_ID, PMIX_UINT32, 77);
    assert_num(3, PMIX_APPNUM, PMIX_UINT32, 1);
    assert_num(3, PMIX_NODEID, PMIX_UINT32, 11);
    assert_num(1, PMIX_NODEID, PMIX_UINT32, 0);
    assert_num(ALL, PMIX_AVAIL_PHYS_MEMORY, PMIX_UINT64, 1000);
    assert_str(ALL, PMIX_LOCAL_PEERS, "2,3");

    add_flag(&quals, PMIX_NODE_INFO, true);
    add_num(&quals, PMIX_NODEID, 0, PMIX_UINT32);
    assert_num(ALL, PMIX_AVAIL_PHYS_MEMORY, PMIX_UINT64, 2000);
    px_infos_cleanup(&quals);
    add_flag(&quals, PMIX_APP_INFO, true);
    add_num(&quals, PMIX_APPNUM, 1, PMIX_UINT32);
    assert_num(ALL, PMIX_APPLDR, PMIX_PROC_RANK, 3);
    assert_num(ALL, PMIX_APP_SIZE, PMIX_UINT32, 1);
    px_infos_cleanup(&quals);
}

PX_TEST(arrays_of_each_realm_find_their_place_and_travel)
{
    serve("one.cluster");
    realms_job(&given);
    learn(&given);
    assert_realms();
    for (int i = 0; i < 4; i++) {
        realms_job(&given);
        be_client_of(&given, "n1", "n1", 3, codec_of(i & 1 ? "v3" : "v41", false),
                     i & 2);
        assert_realms();
        ck_assert_uint_eq(model->appnum, 1);
        assert_num(ALL, PMIX_APP_SIZE, PMIX_UINT32,
                   1); /* of the rank's own application */
    }
}

/* ---- types -------------------------------------------------------------------------- */

PX_TEST(numbers_take_the_type_of_the_dictionary_and_flags_without_a_value_are_set)
{
    const pmix_value_t none = {.type = PMIX_UNDEF};

    serve("n0");
    add_num(&given, PMIX_LOCALLDR, 3, PMIX_INT);
    add_num(&given, PMIX_UNIV_SIZE, 12, PMIX_UINT64);
    add_num(&given, PMIX_NODE_SIZE, 4, PMIX_UINT16);
    add_num(&given, PMIX_JOB_SIZE, 4, PMIX_PROC_RANK);
    add_num(&given, PMIX_TDIR_RMCLEAN, 1, PMIX_INT);
    add_num(&given, "vendor.number", 5, PMIX_UINT16);
    ok(px_infos_add_value(&given, "vendor.flag", &none));
    ok(px_infos_add_value(&given, PMIX_SPAWNED, &none));
    add_str(&given, PMIX_MAX_PROCS, "many");
    learn(&given);

    assert_num(ALL, PMIX_LOCALLDR, PMIX_PROC_RANK, 3);
    assert_num(ALL, PMIX_UNIV_SIZE, PMIX_UINT32, 12);
    assert_num(ALL, PMIX_NODE_SIZE, PMIX_UINT32, 4);
    assert_num(ALL, PMIX_JOB_SIZE, PMIX_UINT32, 4);
    assert_flag(ALL, PMIX_TDIR_RMCLEAN, true);
    assert_num(ALL, "vendor.number", PMIX_UINT16, 5);
    assert_flag(ALL, "vendor.flag", true);
    assert_flag(ALL, PMIX_SPAWNED, true);
    assert_str(ALL, PMIX_MAX_PROCS,
               "many"); /* a value that does not fit keeps its type */
}

PX_TEST(numbers_that_do_not_fit_stay_as_given)
{
    static const pmix_value_t big = {.type = PMIX_UINT64, .data.uint64 = 1ull << 40};
    static const pmix_value_t negative = {.type = PMIX_INT, .data.integer = -1};
    pmix_value_t out;

    px_job_value_convert(PMIX_JOB_SIZE, &big, &out);
    ck_assert_int_eq(out.type, PMIX_UINT64);
    ck_assert_uint_eq(out.data.uint64, 1ull << 40);
    px_job_value_convert(PMIX_JOB_SIZE, &negative, &out);
    ck_assert_int_eq(out.type, PMIX_INT);
    px_job_value_convert(PMIX_LOCAL_RANK, &big, &out);
    ck_assert_int_eq(out.type, PMIX_UINT64);
}

PX_TEST(the_dictionary_is_in_order_and_finds_each_of_its_keys)
{
    for (size_t i = 0; i < px_n_job_keys; i++) {
        ck_assert_ptr_eq(px_job_key_find(px_job_keys[i].key), &px_job_keys[i]);
        ck_assert_uint_eq(strlen(px_job_keys[i].key), px_job_keys[i].length);
    }
    ck_assert_ptr_null(px_job_key_find("pmix.zzz"));
}

/* ---- values derived from the maps --------------------------------------------------- */

PX_TEST(what_the_maps_imply_needs_no_more_than_the_maps)
{
    serve("n1");
    add_maps(&given, "pmix[n[1:0-2]]", "raw:0,3;2,1;4-5");
    learn(&given);

    assert_num(ALL, PMIX_JOB_SIZE, PMIX_UINT32, 6);
    assert_num(ALL, PMIX_NUM_NODES, PMIX_UINT32, 3);
    assert_num(ALL, PMIX_MAX_PROCS, PMIX_UINT32, 6);
    assert_str(ALL, PMIX_NODE_LIST, "n0,n1,n2");
    assert_str(ALL, PMIX_LOCAL_PEERS, "2,1");
    assert_num(ALL, PMIX_LOCAL_SIZE, PMIX_UINT32, 2);
    assert_num(ALL, PMIX_LOCALLDR, PMIX_PROC_RANK, 1);
    assert_num(3, PMIX_LOCAL_RANK, PMIX_UINT16, 1);
    assert_num(1, PMIX_NODE_RANK, PMIX_UINT16, 1);
    assert_num(5, PMIX_NODEID, PMIX_UINT32, 2);
    assert_str(5, PMIX_HOSTNAME, "n2");
    assert_num(5, PMIX_APPNUM, PMIX_UINT32, 0);
    assert_none(6, PMIX_HOSTNAME);
    assert_none(6, PMIX_APPNUM);
    ck_assert_uint_eq(ns->job_size, 6);
}

PX_TEST(given_values_win_over_what_would_follow_and_stop_nothing_for_others)
{
    px_infos p = {0};

    serve("n0");
    add_maps(&given, "n0,n1", "0,1;2,3");
    add_num(&given, PMIX_JOB_SIZE, 9, PMIX_INT);
    add_num(&given, PMIX_NUM_NODES, 5, PMIX_UINT32);
    add_num(&given, PMIX_NODEID, 40, PMIX_UINT32);
    add_num(&p, PMIX_LOCAL_RANK, 7, PMIX_INT);
    add_str(&p, PMIX_CPUSET, "0-3");
    add_proc(&given, 1, &p);
    learn(&given);

    assert_num(ALL, PMIX_JOB_SIZE, PMIX_UINT32, 9);
    assert_num(ALL, PMIX_NUM_NODES, PMIX_UINT32, 5);
    assert_num(0, PMIX_NODEID, PMIX_UINT32, 40);
    assert_num(2, PMIX_NODEID, PMIX_UINT32, 1);
    assert_num(1, PMIX_LOCAL_RANK, PMIX_UINT16, 7);
    assert_num(1, PMIX_NODE_RANK, PMIX_UINT16, 1);
    assert_str(1, PMIX_HOSTNAME, "n0");
    assert_str(1, PMIX_CPUSET, "0-3");
    assert_num(3, PMIX_LOCAL_RANK, PMIX_UINT16, 1);
    assert_str(3, PMIX_HOSTNAME, "n1");
}

PX_TEST(no_application_number_is_guessed_for_a_job_of_several)
{
    px_infos p = {0};

    serve("n0");
    add_maps(&given, "n0", "0,1");
    add_num(&given, PMIX_JOB_NUM_APPS, 2, PMIX_UINT32);
    add_num(&p, PMIX_APPNUM, 1, PMIX_UINT32);
    add_proc(&given, 1, &p);
    learn(&given);

    assert_none(0, PMIX_APPNUM);
    assert_num(1, PMIX_APPNUM, PMIX_UINT32, 1);
}

static pmix_status_t count(void *arg, pmix_rank_t rank PX_UNUSED,
                           const char *key PX_UNUSED,
                           const pmix_value_t *value PX_UNUSED)
{
    ++*(int *)arg;
    return PMIX_SUCCESS;
}

PX_TEST(what_follows_from_the_maps_is_not_kept_for_every_rank_and_node)
{
    int n = 0;

    add_maps(&given, "pmix[n[3:0-99]]", "raw:0-999");
    be_client_of(&given, "n000", "n000", 5, px_codec_default, false);

    ok(px_store_walk(&ns->store, PX_GDS_JOB, 5, count, &n));
    ok(px_store_walk(&ns->store, PX_GDS_NODE, PMIX_RANK_UNDEF, count, &n));
    ck_assert_int_eq(n, 0);
    assert_num(999, PMIX_LOCAL_RANK, PMIX_UINT16, 999);
    assert_str(999, PMIX_HOSTNAME, "n000");
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
    serve("n1");
    add_regex2(&given, PMIX_NODE_MAP, "n0,n1");
    add_regex2(&given, PMIX_PROC_MAP, "0,2;1,3");
    learn(&given);
    assert_str(ALL, PMIX_LOCAL_PEERS, "1,3");
    assert_str(2, PMIX_HOSTNAME, "n0");
}

/* ---- the table of nodes, and this node ---------------------------------------------- */

PX_TEST(node_keys_alone_speak_of_this_node_even_outside_the_map)
{
    serve("head");
    add_maps(&given, "n0,n1", "0;1");
    add_num(&given, PMIX_NODE_SIZE, 5, PMIX_UINT32);
    learn(&given);

    assert_num(ALL, PMIX_NODE_SIZE, PMIX_UINT32, 5);
    assert_num(ALL, PMIX_NUM_NODES, PMIX_UINT32, 2);
    assert_str(ALL, PMIX_HOSTNAME, "head");
    assert_none(ALL, PMIX_LOCAL_PEERS);
}

PX_TEST(short_and_full_host_names_are_the_same_node)
{
    serve("n1.cluster.org");
    add_maps(&given, "n0,n1", "0;1");
    learn(&given);
    assert_str(ALL, PMIX_LOCAL_PEERS, "1");
}

PX_TEST(a_client_knows_its_node_by_its_rank_whatever_its_host_is_called)
{
    slurm_job(&given, 1);
    be_client_of(&given, "n1", "container-77", 3, px_codec_default, false);
    assert_slurm_gets(1);
}

PX_TEST(registering_again_adds_and_replaces)
{
    serve("n0");
    add_maps(&given, "n0,n1", "0;1");
    add_num(&given, PMIX_NODE_SIZE, 5, PMIX_UINT32);
    add_str(&given, "a", "old");
    add_str(&given, "b", "kept");
    learn(&given);
    add_str(&given, "a", "new");
    learn(&given);
    assert_str(ALL, "a", "new");
    assert_str(ALL, "b", "kept");
    assert_num(ALL, PMIX_NODE_SIZE, PMIX_UINT32, 5);
    assert_str(1, PMIX_HOSTNAME, "n1");

    add_maps(&given, "n9,n0,n1", "0;1;2");
    learn(&given);
    assert_str(1, PMIX_HOSTNAME, "n0");
    assert_str(ALL, PMIX_LOCAL_PEERS, "1");
    assert_num(ALL, PMIX_JOB_SIZE, PMIX_UINT32, 3);
    assert_none(ALL, PMIX_NODE_SIZE); /* belonged to a node of the old map */
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
    px_writer w = writer_in(px_codec_default);

    put_node(&w, "n1", "2-3");
    put_node(&w, "n0", "0,1");
    put_str(&w, PMIX_NODE_LIST, "n0,n1");
    be_client_of_bytes(&w, "n1", 2);

    assert_num(3, PMIX_NODEID, PMIX_UINT32, 1);
    assert_num(0, PMIX_NODEID, PMIX_UINT32, 0);
    assert_str(ALL, PMIX_LOCAL_PEERS, "2-3");
}

PX_TEST(node_arrays_that_disagree_or_leave_ranks_out_are_kept_but_make_no_map)
{
    for (int disagree = 0; disagree < 2; disagree++) {
        px_writer w = writer_in(px_codec_default);

        put_node(&w, "n1", "0,1");
        if (disagree)
            put_node(&w, "n0", "0,1");
        else
            put_num(&w, PMIX_JOB_SIZE, PMIX_UINT32, 4);
        be_client_of_bytes(&w, "n1", 0);

        ck_assert_uint_eq(ns->map->n_nodes, 0);
        assert_str(ALL, PMIX_LOCAL_PEERS, "0,1");
        assert_none(0, PMIX_HOSTNAME);
        assert_none(ALL, PMIX_NUM_NODES);
    }
}

PX_TEST(unlisted_nodes_are_found_by_name_all_the_same)
{
    px_writer w = writer_in(px_codec_default);

    for (int i = 0; i < 50; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%d", i);
        put_node(&w, name, name + 1);
    }
    be_client_of_bytes(&w, "n7", 7);

    assert_str(49, PMIX_HOSTNAME, "n49");
    assert_num(49, PMIX_NODEID, PMIX_UINT32, 49);
    assert_num(ALL, PMIX_JOB_SIZE, PMIX_UINT32, 50);
}

/* ---- errors ------------------------------------------------------------------------- */

PX_TEST(malformed_information_is_refused_with_a_reason_and_changes_nothing)
{
    static pmix_info_t inner = {.key = "k", .value.type = PMIX_BOOL};
    static pmix_data_array_t array = {.type = PMIX_INFO, .size = 1, .array = &inner};
    static const pmix_value_t junk = {.type = PMIX_COMPRESSED_STRING,
                                      .data.bo = {(char *)"\1\2\3\4junk", 8}},
                              five = {.type = PMIX_UINT32, .data.uint32 = 5},
                              all = {.type = PMIX_PROC_RANK, .data.rank = ALL},
                              nested = {.type = PMIX_DATA_ARRAY, .data.darray = &array};
    static const struct {
        const char *what, *array, *key;
        const char *s;
        const pmix_value_t *v; /* the value, unless a string */
        const char *nodes;     /* node map before it */
    } rows[] = {
        {"a bad map", NULL, PMIX_NODE_MAP, .s = "pmix[n[1:3-1]]"},
        {"a rank twice", NULL, PMIX_PROC_MAP, .s = "0,0", .nodes = "n0"},
        {"ranks without nodes", NULL, PMIX_PROC_MAP, .s = "0"},
        {"a map of a wrong type", NULL, PMIX_NODE_MAP, .v = &five},
        {"data without a rank", PMIX_PROC_DATA, PMIX_CPUSET, .s = "0"},
        {"data of every rank", PMIX_PROC_DATA, PMIX_RANK, .v = &all},
        {"data that are not an array", NULL, PMIX_PROC_DATA, .s = "rank 0"},
        {"a node that is not an array", NULL, PMIX_NODE_INFO_ARRAY, .s = "n0"},
        {"a number for a node's name", PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, .v = &five},
        {"an application's number", PMIX_APP_INFO_ARRAY, PMIX_APPNUM, .s = "one"},
        {"a session's number", PMIX_SESSION_INFO_ARRAY, PMIX_SESSION_ID, .s = "one"},
        {"job within job", PMIX_JOB_INFO_ARRAY, PMIX_JOB_INFO_ARRAY, .v = &nested},
        {"a key without a name", NULL, "", .s = "v"},
        {"compressed junk", NULL, "k", .v = &junk},
    };

    serve("vm");
    mpirun_job(&given);
    learn(&given);
    PX_AUTO(px_buf) before = pack_answer(px_codec_default, false);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        px_infos members = {0};
        px_infos *to = rows[i].array ? &members : &given;
        struct px_err err = {0};

        add_str(&given, PMIX_MAPBY, "changed");
        add_num(&given, PMIX_NODE_SIZE, 99, PMIX_UINT32);
        if (rows[i].nodes)
            add_str(&given, PMIX_NODE_MAP, rows[i].nodes);
        if (rows[i].v)
            ok(px_infos_add_value(to, rows[i].key, rows[i].v));
        else
            add_str(to, rows[i].key, rows[i].s);
        if (rows[i].array)
            add_array(&given, rows[i].array, &members);
        ck_assert_msg(px_jobinfo_register(model, ns, given.v, given.n, &err) !=
                          PMIX_SUCCESS,
                      "%s", rows[i].what);
        ck_assert_str_ne(err.text, "");
        ck_assert_int_ne(px_jobinfo_register(model, ns, given.v, given.n, NULL),
                         PMIX_SUCCESS);
        px_infos_cleanup(&given);
        PX_AUTO(px_buf) after = pack_answer(px_codec_default, false);
        ck_assert_uint_eq(after.len, before.len);
        ck_assert_mem_eq(after.data, before.data, before.len);
    }
    assert_mpirun_gets();
}

PX_TEST(running_out_of_memory_is_survived)
{
    PX_TEST_NEEDS_ALLOC;
    px_infos l = {0}; /* model_teardown would free the infos given */
    pmix_status_t rc = PMIX_SUCCESS;
    bool failed = true;
    int expected =
        0; /* older allocations that teardown frees, the same number each time */

    slurm_job(&l, 1);
    for (unsigned nth = 0; failed || nth == 1; nth++) {
        serve("n1");
        px_alloc_fail_at(nth);
        rc = px_jobinfo_register(model, ns, l.v, l.n, NULL);
        model_teardown();
        int balance = px_alloc_balance();
        failed = px_alloc_fail_end();
        if (nth == 0)
            expected = balance;
        ck_assert_int_eq(balance, expected);
        /* A failed lookup only stores a value that could be derived. */
        ck_assert(rc == PMIX_ERR_NOMEM || rc == PMIX_SUCCESS);
    }
    ok(rc);
    px_infos_cleanup(&l);
}

PX_TEST_MAIN("model/jobinfo_register", NULL, model_teardown)
