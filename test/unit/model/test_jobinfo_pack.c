/* SPDX-License-Identifier: BSD-3-Clause */
/* The answer to a client, and what a client makes of it. */
#include "alloc_fail.h"
#include "model_test.h"

#include <string.h>

PX_TEST(clients_get_what_the_host_registered_in_every_dialect)
{
    static const char *const dialects[] = {"v41", "v3", "v4", "v61", "v21"};

    for (unsigned i = 0; i < PX_COUNT(dialects) * 4; i++) {
        struct px_codec c = codec(dialects[i / 4], i & 1);
        px_infos l = {0};

        mpirun_job(&l);
        struct px_model *m = client_of(&l, "vm", "vm", i & 1, c, i & 2);
        assert_mpirun_gets(m, m->own);
        ck_assert(m->own->complete);
        px_model_destroy(m);

        slurm_job(&l, 1);
        m = client_of(&l, "n1", "n1", 3, c, i & 2);
        assert_slurm_gets(m, m->own, 1);
        px_model_destroy(m);
    }
}

PX_TEST(the_answer_lists_what_known_clients_expect_in_their_order)
{
    static const char *const keys[] = {
        PMIX_JOB_SIZE,        PMIX_NUM_NODES,     PMIX_NODE_LIST,
        PMIX_MAX_PROCS,       PMIX_BFROPS_MODULE, PMIX_SESSION_INFO_ARRAY,
        PMIX_NODE_INFO_ARRAY, PMIX_PROC_BLOB,     PMIX_PROC_BLOB,
    };
    static const pmix_data_type_t types[] = {
        PMIX_UINT32,     PMIX_UINT32,      PMIX_STRING,
        PMIX_UINT32,     PMIX_STRING,      PMIX_DATA_ARRAY,
        PMIX_DATA_ARRAY, PMIX_BYTE_OBJECT, PMIX_BYTE_OBJECT,
    };
    struct px_model *m = model_make("vm", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(m, JOB);
    px_infos l = {0};
    px_reader r;

    add_regex(&l, PMIX_NODE_MAP, "pmix[vm]");
    add_regex(&l, PMIX_PROC_MAP, "raw:0,1");
    add_num(&l, PMIX_UNIV_SIZE, 2, PMIX_UINT32);
    must_register(m, ns, &l);
    PX_AUTO(px_buf) bytes = pack_answer(m, ns, px_codec_default, false);

    px_reader_init(&r, px_codec_default, bytes.data, bytes.len);
    for (size_t i = 0; i < PX_COUNT(keys); i++) {
        struct px_kval kv = {0};
        ok(px_unpack_kval(&r, &kv));
        ck_assert_str_eq(kv.key, keys[i]);
        ck_assert_int_eq(kv.value.type, types[i]);
        if (strcmp(kv.key, PMIX_SESSION_INFO_ARRAY) == 0) {
            const pmix_info_t *infos = kv.value.data.darray->array;
            ck_assert_uint_eq(kv.value.data.darray->size, 2);
            ck_assert_str_eq(infos[0].key, PMIX_SESSION_ID);
            ck_assert_uint_eq(infos[0].value.data.uint32, UINT32_MAX);
            ck_assert_str_eq(infos[1].key, PMIX_UNIV_SIZE);
        }
        if (strcmp(kv.key, PMIX_NODE_INFO_ARRAY) == 0) {
            const pmix_info_t *infos = kv.value.data.darray->array;
            static const char *const node_keys[] = {PMIX_HOSTNAME, PMIX_NODEID,
                                                    PMIX_LOCAL_PEERS, PMIX_LOCALLDR,
                                                    PMIX_LOCAL_SIZE};
            ck_assert_uint_eq(kv.value.data.darray->size, PX_COUNT(node_keys));
            for (size_t k = 0; k < PX_COUNT(node_keys); k++)
                ck_assert_str_eq(infos[k].key, node_keys[k]);
        }
        px_kval_fini(&kv);
    }
    ck_assert(px_reader_done(&r));
    px_model_destroy(m);
}

PX_TEST(ranks_outside_the_map_travel_too)
{
    px_infos l = {0};
    px_infos p = {0};

    add_str(&l, PMIX_NODE_MAP, "n0");
    add_str(&l, PMIX_PROC_MAP, "0");
    add_str(&p, PMIX_CPUSET, "7");
    add_proc(&l, 900000, &p);
    struct px_model *m = client_of(&l, "n0", "n0", 0, px_codec_default, false);

    assert_str(m, m->own, 900000, PMIX_CPUSET, "7");
    px_model_destroy(m);
}

PX_TEST(types_a_dialect_lacks_are_left_out_or_become_strings)
{
    struct px_model *server = model_make("n0", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(server, JOB);
    px_infos l = {0};
    px_infos a = {0};
    pmix_device_type_t device = 4;

    add_str(&l, "before", "b");
    ok(px_infos_add(&l, "device", &device, PMIX_DEVTYPE));
    ok(px_infos_add(&a, "device", &device, PMIX_DEVTYPE));
    add_array(&l, "devices", &a);
    add_str(&l, "zbehind", "z");
    must_register(server, ns, &l);

    for (int i = 0; i < 2; i++) {
        struct px_codec c = codec(i ? "v3" : "v41", false);
        struct px_model *m = model_make("n0", JOB, 0);
        PX_AUTO(px_buf) bytes = pack_answer(server, ns, c, false);
        pmix_value_t v;
        ok(read_answer(m, m->own, c, &bytes));
        assert_str(m, m->own, ALL, "before", "b");
        assert_str(m, m->own, ALL, "zbehind", "z");
        ck_assert_int_eq(get(m, m->own, ALL, "device", NULL, &v),
                         i ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS);
        if (i)
            assert_none(m, m->own, ALL, "devices");
        px_model_destroy(m);
    }
    px_model_destroy(server);
}

PX_TEST(packing_and_unpacking_without_memory_fail_cleanly)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");

    struct px_model *server = model_make("n1", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(server, JOB);
    px_infos l = {0};
    pmix_status_t rc;

    slurm_job(&l, 1);
    must_register(server, ns, &l);
    for (unsigned nth = 1;; nth++) {
        px_writer w;
        px_writer_init(&w, px_codec_default);
        px_alloc_fail_at(nth);
        px_jobinfo_pack(server, ns, &w, true);
        bool failed = px_alloc_fail_end();
        ck_assert_int_eq(w.status, failed ? PMIX_ERR_NOMEM : PMIX_SUCCESS);
        px_writer_cleanup(&w);
        if (!failed)
            break;
    }
    PX_AUTO(px_buf) bytes = pack_answer(server, ns, px_codec_default, false);
    for (unsigned nth = 1;; nth++) {
        struct px_model *m = model_make("n1", JOB, 3);
        px_alloc_fail_at(nth);
        rc = read_answer(m, m->own, px_codec_default, &bytes);
        bool failed = px_alloc_fail_end();
        px_model_destroy(m);
        if (!failed)
            break;
        /* Learning one's own application at the end is a lookup that may go without. */
        ck_assert(rc == PMIX_ERR_NOMEM || rc == PMIX_SUCCESS);
    }
    ok(rc);
    px_model_destroy(server);
}

PX_TEST_MAIN("model/jobinfo_pack", NULL, NULL)
