/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/strv.h"
#include "core/model/procmap.h"
#include "px_test.h"

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

static struct px_procmap *parse(const char *nodes, const char *ranks)
{
    struct px_procmap *map = NULL;
    struct px_err err = {0};

    ck_assert_msg(px_procmap_create(nodes, ranks, &map, &err) == PMIX_SUCCESS,
                  "%s %s: %s", nodes, ranks, err.text);
    return map;
}

PX_TEST(every_form_of_node_map_expands_in_order)
{
    assert_nodes("n1,n2,n3", "n1,n2,n3");
    assert_nodes("raw:n1,n2", "n1,n2");
    assert_nodes("pmix[node[2:1-2,5-6]]", "node01,node02,node05,node06");
    assert_nodes("pmix[n[1:9],n[2:10-11]]", "n9,n10,n11");
    assert_nodes("pmix[a[2:28]n01,a[2:99,28]n02]", "a28n01,a99n02,a28n02");
    assert_nodes("pmix[[1:1-3]]", "1,2,3");
    assert_nodes("pmix[n[1:9-11]]", "n9,n10,n11");
    assert_nodes("pmix[host-1,host-2]", "host-1,host-2");
    assert_nodes("pmix[]", "");
    assert_nodes("", "");
    assert_nodes(NULL, "");
    assert_nodes("n1,,n2,", "n1,n2");
}

PX_TEST(a_map_knows_node_local_rank_and_peers_of_each_rank)
{
    struct px_procmap *map = parse("pmix[n[1:0-2]]", "raw:0,1,2;3;");

    ck_assert_uint_eq(map->n_nodes, 3);
    ck_assert_uint_eq(map->n_ranks, 4);
    ck_assert_uint_eq(map->node_of[2], 0);
    ck_assert_uint_eq(map->local_of[2], 2);
    ck_assert_uint_eq(map->node_of[3], 1);
    ck_assert_uint_eq(map->local_of[3], 0);
    PX_AUTOFREE char *peers = px_procmap_peers(map, 0);
    ck_assert_str_eq(peers, "0,1,2");
    PX_AUTOFREE char *none = px_procmap_peers(map, 2);
    ck_assert_str_eq(none, "");
    px_procmap_destroy(map);
}

PX_TEST(ranges_and_lists_mix_within_a_node)
{
    static const char *const forms[] = {"0-2,5;3,4", "raw:0-2,5;3,4",
                                        "pmix[0-2,5;3-4]"};

    for (size_t i = 0; i < PX_COUNT(forms); i++) {
        struct px_procmap *map = parse("a,b", forms[i]);
        PX_AUTOFREE char *peers = px_procmap_peers(map, 0);
        ck_assert_str_eq(peers, "0,1,2,5");
        ck_assert_uint_eq(map->local_of[5], 3);
        ck_assert_uint_eq(map->node_of[4], 1);
        px_procmap_destroy(map);
    }
}

PX_TEST(ranks_need_not_begin_at_zero_nor_be_dense)
{
    struct px_procmap *map = parse("a,b,c", ";7;2");

    ck_assert_uint_eq(map->n_ranks, 8);
    ck_assert_uint_eq(map->node_of[7], 1);
    ck_assert_uint_eq(map->node_of[2], 2);
    ck_assert_uint_eq(map->node_of[3], UINT32_MAX);
    px_procmap_destroy(map);
}

PX_TEST(malformed_maps_are_refused_with_a_reason)
{
    static const char *const rows[][2] = {
        {"pmix[n[1:1-3]", "0"},
        {"pmix[", "0"},
        {"pmix[n[1:3-1]]", "0"},
        {"pmix[n[1:]]", "0"},
        {"pmix[n[1:1,]]", "0"},
        {"pmix[n]]", "0"},
        {"pmix[n[[1:1]]", "0"},
        {"a", "0;1"},
        {"a,b", "0;0"},
        {"a,b", "0,1;1"},
        {"a", "x"},
        {"a", "0-"},
        {"a", "pmix[0"},
        {"a", "-1"},
        {NULL, "0"},
        {"", "0"},
        {"blob:", "0"},
        {"a", "blob:"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_procmap *map = NULL;
        struct px_err err = {0};
        ck_assert_msg(px_procmap_create(rows[i][0], rows[i][1], &map, &err) ==
                          PMIX_ERR_BAD_PARAM,
                      "%s %s", rows[i][0], rows[i][1]);
        ck_assert_ptr_null(map);
        ck_assert_str_ne(err.text, "");
    }
}

PX_TEST(what_would_grow_beyond_the_limits_is_refused_early)
{
    char long_name[600];
    struct px_procmap *map = NULL;

    ck_assert_int_eq(px_procmap_create("pmix[n[1:0-4294967295]]", "", &map, NULL),
                     PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_eq(px_procmap_create("a", "0-4294967295", &map, NULL),
                     PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_eq(px_procmap_create("a", "4294967294", &map, NULL),
                     PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_eq(px_procmap_create("a", "0-70000", &map, NULL),
                     PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_eq(px_procmap_create("pmix[n[999999:1]]", "", &map, NULL),
                     PMIX_ERR_BAD_PARAM);
    memset(long_name, 'x', sizeof(long_name));
    long_name[sizeof(long_name) - 1] = '\0';
    ck_assert_int_eq(px_procmap_create(long_name, "", &map, NULL), PMIX_ERR_BAD_PARAM);
    memcpy(long_name, "pmix[", 5);
    memcpy(long_name + sizeof(long_name) - 11, "[1:1-1000]]", 11);
    PX_AUTOFREE char *text = strndup(long_name, sizeof(long_name));
    ck_assert_int_eq(px_procmap_create(text, "", &map, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_ptr_null(map);
}

PX_TEST(a_map_of_many_nodes_is_quickly_made)
{
    struct px_procmap *map = parse("pmix[n[6:0-99999]]", "raw:0-65534");

    ck_assert_uint_eq(map->n_nodes, 100000);
    ck_assert_str_eq(map->nodes[99999], "n099999");
    ck_assert_uint_eq(map->local_of[65534], 65534);
    px_procmap_destroy(map);
}

PX_TEST(random_text_never_breaks_the_parser)
{
    static const char *const pieces[] = {"pmix[", "]",     "[",    "1:", "0-3", ",",
                                         ";",     "n",     "raw:", "-",  "12",  ":",
                                         "x",     "blob:", "pmix", "9"};

    for (unsigned round = 0; round < 5000; round++) {
        char text[2][128] = {"", ""};
        struct px_procmap *map = NULL;
        for (int which = 0; which < 2; which++)
            for (uint32_t i = random_below(12); i > 0; i--)
                strcat(text[which], pieces[random_below(PX_COUNT(pieces))]);
        if (px_procmap_create(text[0], text[1], &map, NULL) == PMIX_SUCCESS)
            for (uint32_t r = 0; r < map->n_ranks; r++)
                ck_assert(map->node_of[r] == UINT32_MAX ||
                          map->node_of[r] < map->n_nodes);
        px_procmap_destroy(map);
        PX_AUTOFREE char *nodes = NULL;
        PX_AUTOFREE char *ranks = NULL;
        ok(px_map_pack_nodes(text[0], &nodes));
        ok(px_map_pack_ranks(text[1], &ranks));
    }
}

PX_TEST(maps_are_made_from_lists_already_apart)
{
    PX_AUTO(px_strv) nodes = px_strv_split("a,b,c", ',', false);
    const char *ranks[] = {"0,3", NULL, "1-2"};
    struct px_procmap *map = NULL;

    ok(px_procmap_from_lists(nodes, ranks, 3, &map, NULL));
    ck_assert_uint_eq(map->node_of[3], 0);
    ck_assert_uint_eq(map->node_of[2], 2);
    ck_assert_uint_eq(map->first[2] - map->first[1], 0);
    px_procmap_destroy(map);
    ranks[1] = "3";
    map = NULL;
    ck_assert_int_eq(px_procmap_from_lists(nodes, ranks, 3, &map, NULL),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_ptr_null(map);
}

PX_TEST_MAIN("model/procmap", NULL, NULL)
