/* SPDX-License-Identifier: BSD-3-Clause */
/* What other servers send, and what a hostile one could. */
#include "model_test.h"

#include <string.h>

static px_buf sample_answer(struct px_codec c, bool as_arrays)
{
    struct px_model *server = model_make("n1", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(server, JOB);
    px_infos l = {0};

    realms_job(&l);
    must_register(server, ns, &l);
    px_buf bytes = pack_answer(server, ns, c, as_arrays);
    px_model_destroy(server);
    return bytes;
}

static void try_bytes(const px_buf *bytes, size_t n, struct px_codec c)
{
    struct px_model *m = model_make("n1", JOB, 3);
    px_buf exact = {.data = malloc(n ? n : 1),
                    .len = n}; /* a sanitizer sees reads beyond */

    memcpy(exact.data, bytes->data, n);
    if (read_answer(m, m->own, c, &exact) != PMIX_SUCCESS)
        ck_assert(!m->own->complete);
    free(exact.data);
    px_model_destroy(m);
}

PX_TEST(the_answer_of_an_old_server_is_understood)
{
    px_writer w, body;
    px_infos a = {0};

    px_writer_init(&w, codec("v3", false));
    px_writer_init(&body, w.codec);
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
    px_writer_init(&body, w.codec);
    px_pack_rank(&body, 2);
    put_num(&body, PMIX_LOCAL_RANK, PMIX_UINT16, 0);
    put_str(&body, PMIX_CPUSET, "3");
    put_blob(&w, PMIX_PROC_BLOB, &body);
    struct px_model *m = client_of_bytes(&w, "n1", 2);

    assert_num(m, m->own, ALL, PMIX_UNIV_SIZE, PMIX_UINT32, 12);
    assert_str(m, m->own, ALL, PMIX_LOCAL_PEERS, "2");
    assert_num(m, m->own, ALL, PMIX_LOCAL_SIZE, PMIX_UINT32, 1);
    assert_num(m, m->own, ALL, PMIX_APP_SIZE, PMIX_UINT32, 3);
    assert_num(m, m->own, ALL, PMIX_JOB_SIZE, PMIX_UINT32, 3);
    assert_str(m, m->own, 1, PMIX_HOSTNAME, "n0");
    assert_str(m, m->own, 2, PMIX_HOSTNAME, "n1");
    assert_str(m, m->own, 2, PMIX_CPUSET, "3");
    add_flag(&a, PMIX_NODE_INFO, true);
    add_str(&a, PMIX_HOSTNAME, "n0");
    pmix_value_t v;
    ok(get(m, m->own, ALL, PMIX_LOCALLDR, &a, &v));
    ck_assert_uint_eq(v.data.rank, 0);
    px_infos_cleanup(&a);
    px_model_destroy(m);
}

PX_TEST(a_user_array_under_a_plain_key_is_no_node)
{
    px_writer w;
    px_infos a = {0};
    pmix_value_t v;

    px_writer_init(&w, px_codec_default);
    add_str(&a, "colour", "red");
    put_array(&w, "my.settings", &a);
    struct px_model *m = client_of_bytes(&w, "n1", 0);

    ok(get(m, m->own, ALL, "my.settings", NULL, &v));
    ck_assert_int_eq(v.type, PMIX_DATA_ARRAY);
    px_type_destruct(PMIX_VALUE, &v);
    px_model_destroy(m);
}

PX_TEST(qualified_values_give_their_value)
{
    px_writer w, body;
    px_infos a = {0};

    px_writer_init(&w, px_codec_default);
    add_str(&a, "k", "v");
    add_flag(&a, "some.qualifier", true);
    put_array(&w, PMIX_QUALIFIED_VALUE, &a);
    px_writer_init(&body, w.codec);
    px_pack_rank(&body, 1);
    add_str(&a, "k", "v1");
    put_array(&body, PMIX_QUALIFIED_VALUE, &a);
    put_blob(&w, PMIX_PROC_BLOB, &body);
    struct px_model *m = client_of_bytes(&w, "n1", 0);

    assert_str(m, m->own, ALL, "k", "v");
    assert_str(m, m->own, 1, "k", "v1");
    px_model_destroy(m);
}

PX_TEST(an_empty_answer_is_a_complete_one)
{
    px_writer w;

    px_writer_init(&w, px_codec_default);
    struct px_model *m = client_of_bytes(&w, "n1", 0);
    ck_assert(m->own->complete);
    px_model_destroy(m);
}

PX_TEST(an_answer_cut_anywhere_is_survived)
{
    for (int i = 0; i < 8; i++) {
        struct px_codec c = codec(i & 1 ? "v3" : "v41", i & 4);
        PX_AUTO(px_buf) bytes = sample_answer(c, i & 2);
        for (size_t n = 0; n < bytes.len; n++)
            try_bytes(&bytes, n, c);
    }
}

PX_TEST(an_answer_with_spoilt_bytes_is_survived)
{
    uint32_t seed = 7;

    for (int i = 0; i < 4; i++) {
        struct px_codec c = codec(i & 1 ? "v3" : "v41", false);
        PX_AUTO(px_buf) bytes = sample_answer(c, i & 2);
        for (unsigned round = 0; round < 3000; round++) {
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
    struct px_model *m = model_make("n1", JOB, 0);
    px_writer w, body;

    for (int i = 0; i < 4; i++) {
        px_writer_init(&w, px_codec_default);
        px_writer_init(&body, px_codec_default);
        if (i == 0)
            put_str(&w, PMIX_PROC_BLOB, "no bytes");
        if (i == 1)
            px_pack_rank(&body, PMIX_RANK_WILDCARD);
        if (i == 2)
            px_pack_size(&body, SIZE_MAX);
        if (i > 0)
            put_blob(&w, i == 1 || i == 3 ? PMIX_PROC_BLOB : PMIX_MAP_BLOB, &body);
        ok(w.status);
        ck_assert_int_ne(read_answer(m, m->own, w.codec, &w.buf), PMIX_SUCCESS);
        ck_assert(!m->own->complete);
        px_writer_cleanup(&w);
        px_writer_cleanup(&body);
    }
    px_model_destroy(m);
}

PX_TEST_MAIN("model/jobinfo_unpack", NULL, NULL)
