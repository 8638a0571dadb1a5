/* SPDX-License-Identifier: BSD-3-Clause */
/* Making maps, and the form that holds NULs. */
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/model/procmap.h"
#include "core/wire/walk.h"
#include "pmix_server.h"
#include "px_test.h"

#include <stdio.h>
#include <string.h>

static uint32_t seed = 1;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

static void assert_nodes(const char *text, const char *expected)
{
    PX_AUTO(px_strv) names = NULL;

    ok(px_map_expand_nodes(text, &names, NULL));
    PX_AUTOFREE char *joined = px_strv_join(names, ',');
    ck_assert_str_eq(joined, expected);
}

PX_TEST(node_lists_pack_to_what_other_implementations_print)
{
    static const char *const rows[][2] = {
        {"node1,node2,node3", "pmix[node[1:1-3]]"},
        {"node01,node02,node05,node06", "pmix[node[2:1-2,5-6]]"},
        {"n9,n10,n11", "pmix[n[1:9],n[2:10-11]]"},
        {"n1x,n2x,n3x", "pmix[n[1:1-3]x]"},
        {"localhost", "pmix[localhost]"},
        {"host-1,host-2", "pmix[host-1,host-2]"},
        {"a28n01,a99n02,a28n02", "pmix[a[2:28]n01,a[2:99,28]n02]"},
        {"192.168.1.1,192.168.1.2", "pmix[192.168.1.1,192.168.1.2]"},
        {"n1.dom,n2.dom", "pmix[n1.dom,n2.dom]"},
        {"001,002", "pmix[[3:1-2]]"},
        {"1a,2a", "pmix[[1:1-2]a]"},
        {"a3,a2,a1", "pmix[a[1:3,2,1]]"},
        {"0,00", "pmix[[1:0],[2:0]]"},
        {"a1,a1,a1", "pmix[a[1:1,1,1]]"},
        {"n0,n1", "pmix[n[1:0-1]]"},
        {"vm", "pmix[vm]"},
        {"", "raw:"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE char *out = NULL;
        ok(px_map_pack_nodes(rows[i][0], &out));
        ck_assert_str_eq(out, rows[i][1]);
    }
}

PX_TEST(rank_lists_pack_to_what_other_implementations_print)
{
    static const char *const rows[][2] = {
        {"0,1,2,3;4,5,6,7", "pmix[0-3;4-7]"},
        {"0,1,2,3,4,5,6,7,8,9,10,11;12,13", "pmix[0-11;12-13]"},
        {"0", "raw:0"},
        {"0-3;4-7", "raw:0-3;4-7"},
        {"0,2,4;1,3,5", "raw:0,2,4;1,3,5"},
        {"0,1,2;3", "raw:0,1,2;3"},
        {"0,1,2,3;4,5,6", "pmix[0-3;4-6]"},
        {"10,11,12", "raw:10,11,12"},
        {"10,11,12,13", "pmix[10-13]"},
        {"0,1,2,3,4,5,6;;7,8,9", "pmix[0-6;;7-9]"},
        {"", "raw:"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE char *out = NULL;
        ok(px_map_pack_ranks(rows[i][0], &out));
        ck_assert_str_eq(out, rows[i][1]);
    }
}

PX_TEST(packing_keeps_the_order_of_nodes)
{
    PX_AUTOFREE char *out = NULL;

    ok(px_map_pack_nodes("a1,login,a2", &out));
    assert_nodes(out, "a1,login,a2");
}

PX_TEST(numbers_too_long_for_an_int_stay_names)
{
    PX_AUTOFREE char *out = NULL;

    ok(px_map_pack_nodes("a99999999999,a99999999998", &out));
    assert_nodes(out, "a99999999999,a99999999998");
}

PX_TEST(what_is_no_list_of_ranks_passes_through)
{
    PX_AUTOFREE char *out = NULL;

    ok(px_map_pack_ranks("a,b", &out));
    ck_assert_str_eq(out, "raw:a,b");
}

PX_TEST(public_calls_refuse_null)
{
    char *out;

    ck_assert_int_eq(PMIx_generate_regex(NULL, &out), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(PMIx_generate_regex("a", NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(PMIx_generate_ppn(NULL, &out), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(PMIx_generate_ppn("0", NULL), PMIX_ERR_BAD_PARAM);
}

PX_TEST(packed_maps_read_back_as_the_lists_they_were_made_from)
{
    for (unsigned round = 0; round < 300; round++) {
        char list[512] = "";
        uint32_t n = 1 + random_below(12);
        for (uint32_t i = 0; i < n; i++) {
            char name[32];
            static const char *const forms[] = {"%sn%u", "%srack%02ux", "%s%u-a",
                                                "%shead%.0u"};
            snprintf(name, sizeof(name), forms[random_below(4)], i ? "," : "",
                     random_below(20));
            strcat(list, name);
        }
        PX_AUTOFREE char *packed = NULL;
        ok(px_map_pack_nodes(list, &packed));
        assert_nodes(packed, list);
    }
}

static px_buf blob_of(const char *list)
{
    uint8_t *packed;
    size_t n;
    px_buf out = {0};
    char head[64];

    ok(px_deflate(list, strlen(list), &packed, &n));
    int len = snprintf(head, sizeof(head), "blob:%ccomponent=zlib:%csize=%zu:", 0, 0,
                       n);
    ok(px_buf_add(&out, head, (size_t)len + 1));
    ok(px_buf_add(&out, packed, n));
    free(packed);
    return out;
}

PX_TEST(a_compressed_map_of_known_length_is_read)
{
    PX_AUTO(px_buf) blob = blob_of("n1,n2,n3");
    PX_AUTOFREE char *text = NULL;

    ok(px_map_text(blob.data, blob.len, &text, NULL));
    ck_assert_str_eq(text, "n1,n2,n3");
}

PX_TEST(a_cut_or_spoilt_compressed_map_is_refused)
{
    PX_AUTO(px_buf) blob = blob_of("n1,n2,n3,n4,n5,n6,n7,n8,n9");
    char *text = NULL;

    for (size_t n = 5; n < blob.len; n++) {
        PX_AUTOFREE char *exact = malloc(
            n); /* so that a sanitizer sees a read beyond */
        memcpy(exact, blob.data, n);
        ck_assert_int_ne(px_map_text(exact, n, &text, NULL), PMIX_SUCCESS);
    }
    for (size_t i = 0; i < blob.len; i++) {
        PX_AUTOFREE char *copy = malloc(blob.len);
        memcpy(copy, blob.data, blob.len);
        copy[i] ^= 0x55;
        if (px_map_text(copy, blob.len, &text, NULL) == PMIX_SUCCESS)
            free(text);
    }
}

PX_TEST(text_of_known_length_ends_there_or_at_its_nul)
{
    PX_AUTOFREE char *a = NULL;
    PX_AUTOFREE char *b = NULL;
    PX_AUTOFREE char *c = NULL;

    ok(px_map_text("n1,n2\0junk", 10, &a, NULL));
    ck_assert_str_eq(a, "n1,n2");
    ok(px_map_text("n1,n2", 2, &b, NULL));
    ck_assert_str_eq(b, "n1");
    ok(px_map_text(NULL, 0, &c, NULL));
    ck_assert_str_eq(c, "");
}

PX_TEST_MAIN("model/procmap_pack", NULL, NULL)
