/* SPDX-License-Identifier: BSD-3-Clause */
/* The reply to a client and the model that the client builds from it; replies of other
 * servers, and hostile ones. */
#include "core/base/str.h"
#include "alloc_fail.h"
#include "core/model/resources.h"
#include "model_test.h"

#include <malloc.h>
#include <string.h>

PX_TEST(clients_get_what_the_host_registered_in_every_dialect)
{
    static const char *const dialects[] = {"v41", "v3", "v4", "v61", "v21"};

    for (unsigned i = 0; i < PX_COUNT(dialects) * 6; i++) {
        struct px_codec c = codec_of(dialects[i / 6], i & 1);
        enum px_job_form form = i / 2 % 3;

        mpirun_job(&given);
        be_client_of(&given, "vm", "vm", i & 1, c, form);
        assert_mpirun_gets();
        ck_assert(ns->complete);

        slurm_job(&given, 1);
        be_client_of(&given, "n1", "n1", 3, c, form);
        assert_slurm_gets(1);
    }
}

PX_TEST(the_answer_lists_what_known_clients_expect_in_their_order)
{
    static const struct {
        const char *key;
        pmix_data_type_t type;
        const char *members[6];
    } rows[] = {
        {PMIX_JOB_SIZE, PMIX_UINT32, {NULL}},
        {PMIX_NUM_NODES, PMIX_UINT32, {NULL}},
        {PMIX_NODE_LIST, PMIX_STRING, {NULL}},
        {PMIX_MAX_PROCS, PMIX_UINT32, {NULL}},
        {PMIX_BFROPS_MODULE, PMIX_STRING, {NULL}},
        {PMIX_SESSION_INFO_ARRAY, PMIX_DATA_ARRAY, {PMIX_SESSION_ID, PMIX_UNIV_SIZE}},
        {PMIX_NODE_INFO_ARRAY,
         PMIX_DATA_ARRAY,
         {PMIX_HOSTNAME, PMIX_NODEID, PMIX_LOCAL_PEERS, PMIX_LOCALLDR,
          PMIX_LOCAL_SIZE}},
        {PMIX_PROC_BLOB, PMIX_BYTE_OBJECT, {NULL}},
        {PMIX_PROC_BLOB, PMIX_BYTE_OBJECT, {NULL}},
    };
    static const struct {
        const char *key, *text;
    } maps[] = {{PMIX_NODE_MAP, "pmix[vm]"}, {PMIX_PROC_MAP, "raw:0,1"}};

    serve("vm");
    for (size_t i = 0; i < PX_COUNT(maps); i++) {
        const pmix_value_t regex = {
            .type = PMIX_REGEX,
            .data.bo = {(char *)(uintptr_t)maps[i].text, strlen(maps[i].text) + 1}};
        ok(px_infos_add_value(&given, maps[i].key, &regex));
    }
    add_num(&given, PMIX_UNIV_SIZE, 2, PMIX_UINT32);
    learn(&given);
    PX_AUTO(px_buf) bytes = pack_answer(px_codec_default, false);

    px_reader r = reader_of(px_codec_default, &bytes);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_kval kv = {0};
        const pmix_info_t *infos;
        size_t n = 0, k = 0;

        ok(px_unpack_kval(&r, &kv));
        ck_assert_str_eq(kv.key, rows[i].key);
        ck_assert_int_eq(kv.value.type, rows[i].type);
        px_value_infos(&kv.value, &infos, &n);
        for (; rows[i].members[k]; k++)
            ck_assert(k < n && strcmp(infos[k].key, rows[i].members[k]) == 0);
        ck_assert_uint_eq(n, k);
        if (strcmp(kv.key, PMIX_SESSION_INFO_ARRAY) == 0)
            ck_assert_uint_eq(infos[0].value.data.uint32, UINT32_MAX);
        px_kval_fini(&kv);
    }
    ck_assert(px_reader_done(&r));
}

PX_TEST(ranks_outside_the_map_travel_too)
{
    px_infos p = {0};

    add_maps(&given, "n0", "0");
    add_str(&p, PMIX_CPUSET, "7");
    add_proc(&given, 900000, &p);
    be_client_of(&given, "n0", "n0", 0, px_codec_default, false);

    assert_str(900000, PMIX_CPUSET, "7");
}

/* The size of a Tenon client's model does not grow either. */
PX_TEST(a_compact_answer_does_not_grow_with_the_ranks_of_a_job)
{
    for (uint32_t nodes = 10; nodes <= 10000; nodes *= 10) {
        px_infos node = {0};
        PX_AUTOFREE char *names = px_strf("pmix[n[5:0-%u]]", nodes - 1);
        PX_AUTO(px_buf) ranks = {0};

        for (uint32_t i = 0; i < nodes; i++) {
            PX_AUTOFREE char *field = px_strf("%u-%u;", i * 100, i * 100 + 99);
            ok(px_buf_add(&ranks, field, strlen(field) + (i == nodes - 1)));
        }
        add_maps(&given, names, (char *)ranks.data);
        add_str(&node, PMIX_HOSTNAME, "n00003");
        add_num(&node, PMIX_NODE_SIZE, 7, PMIX_UINT32);
        add_array(&given, PMIX_NODE_INFO_ARRAY, &node);
        serve("n00002");
        learn(&given);
        PX_AUTO(px_buf) bytes = pack_answer(px_codec_default, PX_JOB_COMPACT);
        ck_assert_uint_lt(bytes.len, 700);
        be("n00004", 407);
        size_t before = mallinfo2().uordblks;
        ok(read_answer(px_codec_default, &bytes));
        ck_assert_uint_lt(mallinfo2().uordblks - before, 16384);
        assert_num(407, PMIX_LOCAL_RANK, PMIX_UINT16, 7);
        PX_AUTOFREE char *last = px_strf("n%05u", nodes - 1);
        assert_str(nodes * 100 - 1, PMIX_HOSTNAME, last);
        assert_num(ALL, PMIX_JOB_SIZE, PMIX_UINT32, nodes * 100);
        add_str(&quals, PMIX_HOSTNAME, "n00003");
        assert_num(ALL, PMIX_NODE_SIZE, PMIX_UINT32, 7);
        px_infos_cleanup(&quals);
    }
}

PX_TEST(types_a_dialect_lacks_are_left_out_or_become_strings)
{
    for (int old = 0; old < 2; old++) {
        const pmix_device_type_t device = 4;
        px_infos a = {0};
        pmix_value_t v;

        add_str(&given, "before", "b");
        ok(px_infos_add(&given, "device", &device, PMIX_DEVTYPE));
        ok(px_infos_add(&a, "device", &device, PMIX_DEVTYPE));
        add_array(&given, "devices", &a);
        add_str(&given, "zbehind", "z");
        be_client_of(&given, "n0", "n0", 0, codec_of(old ? "v3" : "v41", false), false);
        assert_str(ALL, "before", "b");
        assert_str(ALL, "zbehind", "z");
        ck_assert_int_eq(get(ALL, "device", &v),
                         old ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS);
        if (old)
            assert_none(ALL, "devices");
    }
}

PX_TEST(packing_and_unpacking_without_memory_fail_cleanly)
{
    PX_TEST_NEEDS_ALLOC;
    pmix_status_t rc = PMIX_SUCCESS;

    serve("n1");
    slurm_job(&given, 1);
    learn(&given);
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        px_writer w = writer_in(px_codec_default);
        px_jobinfo_pack(model, ns, &w, PX_JOB_ARRAYS);
        rc = w.status;
        px_writer_cleanup(&w);
        px_alloc_check(rc);
    }
    PX_AUTO(px_buf) bytes = pack_answer(px_codec_default, false);
    bool failed = true;
    for (unsigned nth = 1; failed; nth++) {
        be("n1", 3);
        px_alloc_fail_at(nth);
        rc = read_answer(px_codec_default, &bytes);
        failed = px_alloc_fail_end();
        /* The final lookup of the own application may fail without an error. */
        ck_assert(rc == PMIX_ERR_NOMEM || rc == PMIX_SUCCESS);
    }
    ok(rc);
}

/* True if the reply kept for further clients equals a new one. */
static bool answers_the_same(struct px_codec c)
{
    PX_AUTO(px_buf) fresh = pack_answer(c, false);
    PX_AUTO(px_writer) w = writer_in(c);

    px_pack_str(&w, "before");
    size_t n = w.buf.len;
    px_jobinfo_pack_again(model, ns, &w, PX_JOB_BLOBS);
    ok(w.status);
    return w.buf.len - n == fresh.len &&
           memcmp(w.buf.data + n, fresh.data, fresh.len) == 0;
}

PX_TEST(clients_of_a_job_get_one_answer_until_something_changes)
{
    pmix_value_t v = {.type = PMIX_STRING, .data.string = (char *)(uintptr_t) "value"};
    pmix_info_t resource = {.key = "resource", .value = v};

    serve("n1");
    for (int change = 0; change < 7; change++) {
        if (change == 0 || change == 5)
            slurm_job(&given, change == 0);
        if (change == 0 || change == 5)
            learn(&given);
        else if (change == 1)
            ok(px_store_put(&ns->store, PX_GDS_JOB, ALL, "job", &v));
        else if (change == 2)
            ok(px_store_put(&ns->store, PX_GDS_JOB, 2, "rank", &v));
        else if (change == 4)
            ok(px_resources_set(model, &resource, 1));
        else if (change == 6)
            ns = nspace_of(model, "another");
        struct px_codec c = change == 3 ? codec_of("v3", true) : px_codec_default;
        ck_assert_msg(answers_the_same(c), "change %d", change);
        ck_assert_msg(answers_the_same(c), "change %d", change);
        model->last_packed.bytes.data[0] ^= 1; /* a visible change of the kept reply */
        ck_assert_msg(!answers_the_same(c), "change %d: packed again", change);
    }
    bool failed = px_alloc_can_fail();
    for (unsigned nth = 1; failed; nth++) {
        PX_AUTO(px_writer) w = writer_in(px_codec_default);

        ok(px_store_put(&ns->store, PX_GDS_JOB, ALL, "job", &v));
        px_alloc_fail_at(nth);
        px_jobinfo_pack_again(model, ns, &w, PX_JOB_BLOBS);
        failed = px_alloc_fail_end();
        ck_assert(!w.status || w.status == PMIX_ERR_NOMEM);
        ck_assert(answers_the_same(px_codec_default));
    }
}

/* ---- other servers ------------------------------------------------------------------ */

PX_TEST(the_answer_of_an_old_server_is_understood)
{
    px_writer w = writer_in(px_codec_default), body;
    px_infos a = {0};

    be_client_of_bytes(&w, "n1", 0); /* an empty reply is complete */
    ck_assert(ns->complete);
    w = writer_in(codec_of("v3", false));
    body = writer_in(w.codec);
    px_pack_size(&body, 2);
    put_str(&body, "n0", "0,1");
    put_str(&body, "n1", "2");
    put_blob(&w, PMIX_MAP_BLOB, &body);
    put_num(&w, PMIX_UNIV_SIZE, PMIX_UINT32, 12);
    put_num(&w, PMIX_LOCAL_SIZE, PMIX_UINT32, 1);
    put_str(&w, PMIX_LOCAL_PEERS, "2");
    put_num(&w, PMIX_APP_SIZE, PMIX_UINT32, 3);
    add_str(&a, PMIX_LOCAL_PEERS, "0,1");
    add_num(&a, PMIX_LOCALLDR, 0, PMIX_PROC_RANK);
    put_array(&w, "n0", &a);
    body = writer_in(w.codec);
    px_pack_rank(&body, 2);
    put_num(&body, PMIX_LOCAL_RANK, PMIX_UINT16, 0);
    put_str(&body, PMIX_CPUSET, "3");
    put_blob(&w, PMIX_PROC_BLOB, &body);
    be_client_of_bytes(&w, "n1", 2);

    assert_num(ALL, PMIX_UNIV_SIZE, PMIX_UINT32, 12);
    assert_str(ALL, PMIX_LOCAL_PEERS, "2");
    assert_num(ALL, PMIX_LOCAL_SIZE, PMIX_UINT32, 1);
    assert_num(ALL, PMIX_APP_SIZE, PMIX_UINT32, 3);
    assert_num(ALL, PMIX_JOB_SIZE, PMIX_UINT32, 3);
    assert_str(1, PMIX_HOSTNAME, "n0");
    assert_str(2, PMIX_HOSTNAME, "n1");
    assert_str(2, PMIX_CPUSET, "3");
    add_flag(&quals, PMIX_NODE_INFO, true);
    add_str(&quals, PMIX_HOSTNAME, "n0");
    assert_num(ALL, PMIX_LOCALLDR, PMIX_PROC_RANK, 0);
}

PX_TEST(a_user_array_under_a_plain_key_is_no_node)
{
    px_writer w = writer_in(px_codec_default);
    px_infos a = {0};
    pmix_value_t v;

    add_str(&a, "colour", "red");
    put_array(&w, "my.settings", &a);
    be_client_of_bytes(&w, "n1", 0);

    ck_assert(ns->complete);
    ok(get(ALL, "my.settings", &v));
    ck_assert_int_eq(v.type, PMIX_DATA_ARRAY);
    px_type_destruct(PMIX_VALUE, &v);
}

PX_TEST(qualified_values_give_their_value)
{
    px_writer w = writer_in(px_codec_default), body = writer_in(w.codec);
    px_infos a = {0};

    add_str(&a, "k", "v");
    add_flag(&a, "some.qualifier", true);
    put_array(&w, PMIX_QUALIFIED_VALUE, &a);
    px_pack_rank(&body, 1);
    add_str(&a, "k", "v1");
    put_array(&body, PMIX_QUALIFIED_VALUE, &a);
    put_blob(&w, PMIX_PROC_BLOB, &body);
    be_client_of_bytes(&w, "n1", 0);

    assert_str(ALL, "k", "v");
    assert_str(1, "k", "v1");
}

/* ---- hostile replies ---------------------------------------------------------------- */

static px_buf sample_answer(struct px_codec c, bool as_arrays)
{
    serve("n1");
    realms_job(&given);
    learn(&given);
    return pack_answer(c, as_arrays);
}

static void try_bytes(const px_buf *bytes, size_t n, struct px_codec c)
{
    PX_AUTO(px_buf) exact = {.data = malloc(n + !n),
                             .len = n}; /* exact size, for sanitizers */

    be("n1", 3);
    memcpy(exact.data, bytes->data, n);
    if (read_answer(c, &exact) != PMIX_SUCCESS)
        ck_assert(!ns->complete);
}

PX_TEST(an_answer_cut_anywhere_or_with_spoilt_bytes_is_survived)
{
    uint32_t seed = 7;

    for (int i = 0; i < 8; i++) {
        struct px_codec c = codec_of(i & 1 ? "v3" : "v41", i & 4);
        PX_AUTO(px_buf) bytes = sample_answer(c, i & 2);

        for (size_t n = 0; n < bytes.len; n++)
            try_bytes(&bytes, n, c);
        for (unsigned round = 0; i < 4 && round < 3000; round++) {
            PX_AUTO(px_buf) copy = {0};
            ok(px_buf_add(&copy, bytes.data, bytes.len));
            for (unsigned k = 0; k < 1 + round % 4; k++) {
                seed = seed * 1664525 + 1013904223;
                copy.data[(seed >> 8) % copy.len] = (uint8_t)(seed >> 4);
            }
            try_bytes(&copy, copy.len, c);
        }
    }
}

PX_TEST(blobs_with_bad_contents_are_refused)
{
    be("n1", 0);
    for (int i = 0; i < 4; i++) {
        px_writer w = writer_in(px_codec_default), body = writer_in(w.codec);

        if (i == 0)
            put_str(&w, PMIX_PROC_BLOB, "no bytes");
        if (i == 1)
            px_pack_rank(&body, PMIX_RANK_WILDCARD);
        if (i == 2)
            px_pack_size(&body, SIZE_MAX);
        if (i > 0)
            put_blob(&w, i == 1 || i == 3 ? PMIX_PROC_BLOB : PMIX_MAP_BLOB, &body);
        ok(w.status);
        ck_assert_int_ne(read_answer(w.codec, &w.buf), PMIX_SUCCESS);
        ck_assert(!ns->complete);
        px_writer_cleanup(&w);
        px_writer_cleanup(&body);
    }
}

PX_TEST_MAIN("model/jobinfo_travel", NULL, model_teardown)
