/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps of nodes and ranks: parsed, generated, and in the forms with an explicit
 * length. */
#include "core/base/buf.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/model/procmap_impl.h"
#include "../wire/wire_test.h"
#include "core/wire/walk.h"
#include "pmix_server.h"
#include "alloc_fail.h"
#include "px_test.h"

#include <string.h>

static uint32_t seed = 1;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

static struct px_procmap *parse(const char *nodes, const char *ranks)
{
    struct px_procmap *map = NULL;
    struct px_err err = {0};

    ck_assert_msg(px_procmap_create(nodes, ranks, &map, &err) == PMIX_SUCCESS,
                  "%s %s: %s", nodes, ranks, err.text);
    return map;
}

static void assert_nodes(const char *text, const char *expected)
{
    struct px_procmap *map = parse(text, NULL);
    PX_AUTOFREE char *names = px_procmap_names(map, NULL);

    ck_assert_str_eq(names, expected);
    px_procmap_destroy(map);
}

/* Checks node and position of a rank. */
static bool is_at(const struct px_procmap *map, uint32_t rank, uint32_t node,
                  uint32_t local)
{
    uint16_t found = (uint16_t)local;

    return px_procmap_node_of(map, rank, &found) == node && found == local;
}

static void assert_place(const struct px_procmap *map, uint32_t rank, uint32_t node,
                         uint32_t local)
{
    ck_assert_msg(is_at(map, rank, node, local), "rank %u", rank);
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
    assert_nodes("pmix[n1[1:8-11]]", "n18,n19,n110,n111");
    assert_nodes("pmix[host-1,host-2]", "host-1,host-2");
    assert_nodes("pmix[]", "");
    assert_nodes("", "");
    assert_nodes(NULL, "");
    assert_nodes("n1,,n2,", "n1,n2");
}

PX_TEST(ranges_and_lists_mix_and_ranks_need_not_be_dense)
{
    static const char *const forms[] = {"0-2,5;3,7", "raw:0-2,5;3,7",
                                        "pmix[0-2,5;3,7]"};

    for (size_t i = 0; i < PX_COUNT(forms); i++) {
        struct px_procmap *map = parse("a,b,c", forms[i]);
        PX_AUTOFREE char *peers = px_procmap_peers(map, 0);
        ck_assert_str_eq(peers, "0,1,2,5");
        ck_assert_uint_eq(map->n_ranks, 8);
        assert_place(map, 5, 0, 3);
        assert_place(map, 7, 1, 1);
        assert_place(map, 4, UINT32_MAX, 0);
        PX_AUTOFREE char *none = px_procmap_peers(map, 2);
        ck_assert_str_eq(none, "");
        px_procmap_destroy(map);
    }
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
        {"a,b", "0,;1"},
        {"a,b", "0,1 ;2"},
        {"pmix[n[1:1;2]]", "0"},
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
    PX_AUTOFREE char *long_name = px_strf("%0600d", 0);
    PX_AUTOFREE char *long_prefix = px_strf("pmix[x%0580d[1:1-1000]]", 0);
    const struct {
        const char *nodes, *ranks;
        pmix_status_t status;
    } rows[] = {
        {"pmix[n[1:0-4294967295]]", "", PMIX_ERR_OUT_OF_RESOURCE},
        {"a", "0-4294967295", PMIX_ERR_OUT_OF_RESOURCE},
        {"a", "4294967294", PMIX_ERR_OUT_OF_RESOURCE},
        {"a", "0-70000", PMIX_ERR_OUT_OF_RESOURCE},
        {"pmix[n[999999:1]]", "", PMIX_ERR_BAD_PARAM},
        {long_name, "", PMIX_ERR_BAD_PARAM},
        {long_prefix, "", PMIX_ERR_BAD_PARAM},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_procmap *map = NULL;
        ck_assert_int_eq(px_procmap_create(rows[i].nodes, rows[i].ranks, &map, NULL),
                         rows[i].status);
        ck_assert_ptr_null(map);
    }
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
                ck_assert(px_procmap_node_of(map, r, NULL) + 1 <= map->n_nodes);
        px_procmap_destroy(map);
        PX_AUTOFREE char *nodes = NULL;
        PX_AUTOFREE char *ranks = NULL;
        ok(px_procmap_pack_nodes(text[0], &nodes));
        ok(px_procmap_pack_ranks(text[1], &ranks));
    }
}

/* ---- the compact form ------------------------------------------------------------ */

enum layout { BLOCK, CYCLIC, BLOCK_CYCLIC, STRIDED, UNEVEN, RANDOM, N_LAYOUTS };

/* Reference for a map: the ranks of each node as given. */
struct naive {
    uint32_t n_nodes, n_ranks, *node_of, *local_of;
    px_buf names, ranks; /* the map as text */
};

static void naive_fini(struct naive *m)
{
    free(m->node_of);
    free(m->local_of);
    px_buf_cleanup(&m->names);
    px_buf_cleanup(&m->ranks);
}

static void add_text(px_buf *text, const char *format, uint32_t n)
{
    char item[64];

    ok(px_buf_add(text, item, (size_t)snprintf(item, sizeof(item), format, n)));
}

static uint32_t node_in(enum layout layout, uint32_t rank, uint32_t nodes,
                        uint32_t each)
{
    switch (layout) {
    case BLOCK:
        return rank / each;
    case CYCLIC:
        return rank % nodes;
    case BLOCK_CYCLIC:
        return rank / 2 % nodes;
    case STRIDED: /* pairs of nodes share a range */
        return rank / (2 * each) * 2 + rank % 2;
    case UNEVEN:
        return rank * 7 % (each + 3) ? rank / each : nodes - 1;
    default:
        return random_below(nodes);
    }
}

static struct naive make_naive(enum layout layout, uint32_t nodes, uint32_t each,
                               const char *name)
{
    struct naive m = {.n_nodes = nodes, .n_ranks = nodes * each};

    m.node_of = calloc(m.n_ranks, sizeof(*m.node_of));
    m.local_of = calloc(m.n_ranks, sizeof(*m.local_of));
    px_buf *lists = calloc(nodes, sizeof(*lists));
    uint32_t *sizes = calloc(nodes, sizeof(*sizes));
    ck_assert(m.node_of && m.local_of && lists && sizes);
    for (uint32_t rank = 0; rank < m.n_ranks; rank++) {
        uint32_t node = node_in(layout, rank, nodes, each);
        node = node < nodes ? node : nodes - 1;
        m.node_of[rank] = node;
        m.local_of[rank] = sizes[node]++;
        add_text(&lists[node], lists[node].len ? ",%u" : "%u", rank);
    }
    for (uint32_t node = 0; node < nodes; node++) {
        add_text(&m.names, name, node);
        ok(px_buf_add(&m.names, ",", 1));
        ok(px_buf_add(&m.ranks, lists[node].data, lists[node].len));
        ok(px_buf_add(&m.ranks, ";", 1));
        px_buf_cleanup(&lists[node]);
    }
    ok(px_buf_add(&m.names, "", 1));
    ok(px_buf_add(&m.ranks, "", 1));
    free(lists);
    free(sizes);
    return m;
}

static void assert_same(const struct px_procmap *map, const struct naive *m,
                        const char *name_form)
{
    uint32_t first, n, seen = 0;
    size_t len;
    PX_AUTOFREE char *list = px_procmap_names(map, &len);
    bool same = map->n_nodes == m->n_nodes && map->n_mapped == m->n_ranks &&
                len + 2 == m->names.len && memcmp(list, m->names.data, len) == 0 &&
                strlen(list) == len;

    for (uint32_t rank = 0; same && rank < m->n_ranks; rank++)
        same = is_at(map, rank, m->node_of[rank], m->local_of[rank]);
    for (uint32_t node = 0; same && node < m->n_nodes; node++) {
        char name[PX_MAX_NODE_NAME + 1], expected[64];
        snprintf(expected, sizeof(expected), name_form, node);
        same = px_procmap_name(map, node, name) == strlen(expected) &&
               strcmp(name, expected) == 0 && px_procmap_find(map, name) == node;
        for (uint32_t i = 0; (n = px_procmap_run(map, node, i, &first)) > 0; i += n)
            for (uint32_t k = 0; same && k < n; k++, seen++)
                same = m->node_of[first + k] == node && m->local_of[first + k] == i + k;
    }
    ck_assert_msg(same && seen == m->n_ranks, "%.60s / %.60s", (char *)m->names.data,
                  (char *)m->ranks.data);
    ck_assert_uint_eq(px_procmap_node_of(map, m->n_ranks, NULL), UINT32_MAX);
    ck_assert_uint_eq(px_procmap_find(map, "n"), UINT32_MAX);
}

PX_TEST(every_layout_answers_as_a_table_of_its_ranks_would)
{
    static const char *const forms[] = {"n%u", "rack-%03u.dom", "%u", "x%u-ib0",
                                        "cn%u.row-7.hall.example"};

    for (unsigned round = 0; round < 120; round++) {
        const char *form = forms[round % PX_COUNT(forms)];
        uint32_t nodes = 1 + random_below(40), each = 1 + random_below(40);
        struct naive m = make_naive(round % N_LAYOUTS, nodes, each, form);
        struct px_procmap *map = parse((char *)m.names.data, (char *)m.ranks.data);
        struct px_procmap *borrowed = NULL;
        size_t n;
        const void *bytes = px_procmap_bytes(map, &n);
        PX_AUTOFREE char *elsewhere = malloc(n + 1); /* at an odd address */

        assert_same(map, &m, form);
        memcpy(elsewhere + 1, bytes, n);
        ok(px_procmap_borrow(elsewhere + 1, n, &borrowed));
        assert_same(borrowed, &m, form);
        ck_assert(px_procmap_same_nodes(map, borrowed));
        px_procmap_destroy(borrowed);
        px_procmap_swap(elsewhere + 1, n, false);
        fails(px_procmap_borrow(elsewhere + 1, n, &borrowed), BAD_PARAM);
        px_procmap_take_order(elsewhere + 1, n);
        ck_assert_mem_eq(elsewhere + 1, bytes, n);
        px_procmap_destroy(map);
        naive_fini(&m);
    }
}

PX_TEST(a_regular_map_takes_no_more_bytes_for_more_ranks)
{
    static const struct {
        enum layout layout;
        uint32_t nodes, each;
        size_t most;
    } rows[] = {
        {BLOCK, 1000, 100, 300},          {CYCLIC, 1000, 100, 300},
        {BLOCK_CYCLIC, 1000, 100, 300},   {STRIDED, 1000, 100, 13 * 100000},
        {BLOCK, 10000, 10, 300},          {CYCLIC, 10000, 10, 300},
        {UNEVEN, 1000, 100, 12 * 100000}, {RANDOM, 1000, 100, 13 * 100000},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct naive m = make_naive(rows[i].layout, rows[i].nodes, rows[i].each,
                                    "node%05u");
        struct px_procmap *map = parse((char *)m.names.data, (char *)m.ranks.data);
        size_t n;
        px_procmap_bytes(map, &n);
        ck_assert_msg(n <= rows[i].most, "row %zu: %zu bytes", i, n);
        assert_same(map, &m, "node%05u");
        px_procmap_destroy(map);
        naive_fini(&m);
    }
}

/* One allocation for the result of either form, and a few while the map grows. */
PX_TEST(making_maps_of_many_nodes_takes_few_allocations)
{
    PX_TEST_NEEDS_ALLOC;
    for (enum layout layout = 0; layout < N_LAYOUTS; layout++) {
        struct naive m = make_naive(layout, 5000, 2, "node%u");
        char *nodes = NULL, *ranks = NULL, *list = NULL;
        struct px_procmap *map = NULL;

        px_alloc_fail_at(0);
        pmix_status_t rc = px_procmap_pack_nodes((char *)m.names.data, &nodes);
        rc = rc ? rc : px_procmap_pack_ranks((char *)m.ranks.data, &ranks);
        unsigned packing = px_alloc_count();
        rc = rc ? rc : px_procmap_create(nodes, ranks, &map, NULL);
        unsigned making = px_alloc_count() - packing;
        list = rc ? NULL : px_procmap_names(map, NULL);
        unsigned listing = px_alloc_count() - packing - making;
        (void)px_alloc_fail_end();
        ok(rc);
        ck_assert_uint_eq(packing, 2);
        ck_assert_uint_le(making, 40);
        ck_assert_uint_eq(listing, 1);
        free(nodes);
        free(ranks);
        free(list);
        px_procmap_destroy(map);
        naive_fini(&m);
    }
}

PX_TEST(a_map_without_memory_is_none)
{
    static char *const more[] = {(char *)"extra"};

    PX_TEST_NEEDS_ALLOC;
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        struct px_procmap *map = NULL, *longer = NULL;
        pmix_status_t rc = px_procmap_create("n[1:1-3],a,b5,b6", "0-2;7;9,12", &map,
                                             NULL);
        if (!rc)
            rc = px_procmap_extend(map, more, 1, &longer);
        px_procmap_destroy(map);
        px_procmap_destroy(longer);
        px_alloc_check(rc);
    }
}

PX_TEST(the_first_row_of_a_name_counts_and_domains_may_be_missing)
{
    static char *const more[] = {(char *)"extra", NULL, (char *)"b2"};
    static const struct {
        const char *name;
        uint32_t node, host;
    } rows[] = {
        {"a1", 0, 0},
        {"b2", 2, 2},
        {"b02", UINT32_MAX, UINT32_MAX},
        {"n9", 4, 4},
        {"n10", 5, 5},
        {"c.dom", 3, 3},
        {"c", UINT32_MAX, 3},
        {"c.org", UINT32_MAX, UINT32_MAX},
        {"a1.dom", UINT32_MAX, 0},
        {"extra", 7, 7},
        {"n11", 6, 6},
        {"n12", UINT32_MAX, UINT32_MAX},
        {"", UINT32_MAX, UINT32_MAX},
    };
    struct px_procmap *map = parse("pmix[a1,a1,b2,c.dom,n[1:9-11]]", "0;1;2");
    struct px_procmap *longer = NULL;
    char name[PX_MAX_NODE_NAME + 1];

    ok(px_procmap_extend(map, more, PX_COUNT(more), &longer));
    ck_assert_uint_eq(longer->n_nodes, 7);
    ck_assert_uint_eq(longer->n_rows, 10);
    ck_assert_uint_eq(px_procmap_name(longer, 8, name), 0);
    ck_assert_uint_eq(px_procmap_name(longer, 9, name), 2);
    assert_place(longer, 2, 2, 0);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_uint_eq(px_procmap_find(longer, rows[i].name), rows[i].node);
        uint32_t host = px_procmap_find(longer, rows[i].name);
        if (host == UINT32_MAX && rows[i].name[0])
            host = px_procmap_find_host(longer, rows[i].name);
        ck_assert_uint_eq(host, rows[i].host);
    }
    PX_AUTOFREE char *names = px_procmap_names(longer, NULL);
    ck_assert_str_eq(names, "a1,a1,b2,c.dom,n9,n10,n11");
    px_procmap_destroy(map);
    px_procmap_destroy(longer);
}

/* ---- generation ----------------------------------------------------------------- */

struct packing {
    const char *list, *packed;
};

static void assert_packs(pmix_status_t (*pack)(const char *, char **),
                         const struct packing *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        PX_AUTOFREE char *out = NULL;
        ok(pack(rows[i].list, &out));
        ck_assert_str_eq(out, rows[i].packed);
    }
}

PX_TEST(lists_pack_to_what_other_implementations_print)
{
    static const struct packing nodes[] = {
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
        {"a1,login,a2", "pmix[a[1:1],login,a[1:2]]"}, /* keeps the order of nodes */
        {"1", "pmix[[1:1]]"},
        {"1,a,02,b3", "pmix[[1:1],a,[2:2],b[1:3]]"},
        {"n1,n2,", "pmix[n[1:1-2]]"},
        {",,", "raw:,,"},
        {"a99999999999,a99999999998", "pmix[a99999999999,a99999999998]"},
    };
    static const struct packing ranks[] = {
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
        {"00,01,2,03;007,9", "pmix[0-3;7,9]"},
        {"0-01,2-5;08-9,10,12-12", "pmix[0-5;8-10,12]"},
        {"0,1,2,3;5-4", "raw:0,1,2,3;5-4"},
        {"0,1,2,3;4,", "raw:0,1,2,3;4,"},
        {"0,1,2,3,;4", "raw:0,1,2,3,;4"},
        {";;0,1,2,3,4,5;", "pmix[;;0-5;]"},
        {"a,b", "raw:a,b"}, /* not a list of ranks */
    };

    assert_packs(px_procmap_pack_nodes, nodes, PX_COUNT(nodes));
    assert_packs(px_procmap_pack_ranks, ranks, PX_COUNT(ranks));
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
        ok(px_procmap_pack_nodes(list, &packed));
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

PX_TEST(a_compressed_map_is_read_and_a_cut_or_spoilt_one_refused)
{
    static const char list[] = "n1,n2,n3,n4,n5,n6,n7,n8,n9";
    PX_AUTO(px_buf) blob = blob_of(list);
    char *text = NULL;

    ok(px_procmap_text(blob.data, blob.len, &text, NULL));
    ck_assert_str_eq(text, list);
    free(text);
    for (size_t n = 5; n < blob.len; n++) {
        PX_AUTOFREE char *exact = malloc(
            n); /* exact size, so that a sanitizer detects reads beyond the end */
        memcpy(exact, blob.data, n);
        ck_assert_int_ne(px_procmap_text(exact, n, &text, NULL), PMIX_SUCCESS);
    }
    for (size_t i = 0; i < blob.len; i++) {
        PX_AUTOFREE char *copy = malloc(blob.len);
        memcpy(copy, blob.data, blob.len);
        copy[i] ^= 0x55;
        if (px_procmap_text(copy, blob.len, &text, NULL) == PMIX_SUCCESS)
            free(text);
    }
}

PX_TEST(text_of_known_length_ends_there_or_at_its_nul)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *text;
    } rows[] = {{"n1,n2\0junk", 10, "n1,n2"}, {"n1,n2", 2, "n1"}, {NULL, 0, ""}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE char *text = NULL;
        ok(px_procmap_text(rows[i].bytes, rows[i].n, &text, NULL));
        ck_assert_str_eq(text, rows[i].text);
    }
}

/* ---- PMIx_Regex2 ----------------------------------------------------------------- */

static void assert_returns(const char *list, const char *type)
{
    pmix_regex2_t regex = PMIX_REGEX2_STATIC_INIT;
    PX_AUTOFREE char *out = NULL;

    ok(PMIx_generate_regex2(list, NULL, 0, &regex));
    ck_assert_str_eq(regex.type, type);
    ck_assert(regex.len <= strlen(list) + 1);
    ok(PMIx_parse_regex2(&regex, NULL, 0, &out));
    ck_assert_str_eq(out, list);
    PMIx_Regex2_destruct(&regex);
    ck_assert_ptr_null(regex.bytes);
}

PX_TEST(lists_come_back_as_they_were)
{
    char list[2000 * 9 + 1];

    for (int i = 0; i < 2000; i++)
        snprintf(list + (i ? 9 * i - 1 : 0), 10, "%snode%04d", i ? "," : "", i);
    assert_returns("", "raw");
    assert_returns("n1", "raw");
    assert_returns("n3,n1,login,n02", "raw");
    assert_returns("0,1,2;3-5;;6", "raw");
    assert_returns(list, "compress");
}

PX_TEST(they_travel_in_values)
{
    PX_AUTO(px_writer) w = writer_in(codec_of("v61", false));
    pmix_value_t value = {.type = PMIX_REGEX2}, out;
    pmix_regex2_t regex;

    ok(PMIx_generate_regex2("n1,n2", NULL, 0, &regex));
    value.data.regex2 = &regex;
    px_pack(&w, &value, 1, PMIX_VALUE);
    ok(w.status);
    px_reader r = reader_of(w.codec, &w.buf);
    ok(px_unpack1(&r, &out, PMIX_VALUE));
    ck_assert_int_eq(PMIx_Value_compare(&value, &out), PMIX_EQUAL);
    /* type, then a size, then so many bytes, as existing servers write it */
    ck_assert_mem_eq(w.buf.data + w.buf.len - 7, "\6n1,n2", 7);
    PMIx_Value_destruct(&out);
    PMIx_Regex2_destruct(&regex);
}

PX_TEST(bytes_that_are_no_list_are_refused_and_a_missing_nul_is_not)
{
    static const struct {
        const char *type, *bytes;
        size_t len;
        pmix_status_t expected;
    } rows[] = {
        {"raw", "n1,n2", 5, PMIX_SUCCESS}, /* ends without a NUL */
        {NULL, "n1", 3, PMIX_ERR_BAD_PARAM},
        {"raw", NULL, 0, PMIX_ERR_BAD_PARAM},
        {"raw", "", 0, PMIX_ERR_BAD_PARAM},
        {"raw", "n1\0n2", 6, PMIX_ERR_BAD_PARAM},
        {"", "n1", 3, PMIX_ERR_NOT_SUPPORTED},
        {"rawer", "n1", 3, PMIX_ERR_NOT_SUPPORTED},
        {"compress", "n1", 3, PMIX_ERR_BAD_PARAM},
        {"compress", "\4\0\0\0zzzzzzzz", 12, PMIX_ERR_BAD_PARAM},
        {"compress", "\377\377\377\377zzzzzzzz", 12, PMIX_ERR_BAD_PARAM},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        /* exact size, so that a sanitizer detects reads beyond the end */
        PX_AUTOFREE uint8_t *exact = rows[i].len ? malloc(rows[i].len) : NULL;
        pmix_regex2_t regex = {(char *)rows[i].type, exact, rows[i].len};
        PX_AUTOFREE char *out = NULL;

        if (exact)
            memcpy(exact, rows[i].bytes, rows[i].len);
        ck_assert_int_eq(PMIx_parse_regex2(&regex, NULL, 0, &out), rows[i].expected);
        ck_assert_pstr_eq(out, rows[i].expected ? NULL : "n1,n2");
    }
}

PX_TEST_MAIN("model/procmap", NULL, NULL)
