/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps of OpenPMIx, if it is installed, and of Tenon: each library reads the other's
 * maps. test_procmap.c checks that both are identical texts. */
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/model/procmap.h"
#include "core/wire/walk.h"
#include "incumbent.h"
#include "px_test.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

typedef pmix_status_t (*generate_fn)(const char *list, char **out);

/* Functions of OpenPMIx under test. */
static generate_fn regex, ppn;
static pmix_status_t (*add_nspace)(const char *, int, pmix_info_t *, size_t,
                                   pmix_op_cbfunc_t, void *);
static pmix_status_t (*resolve_nodes)(const char *, char **);
static pmix_status_t (*resolve_peers)(const char *, const char *, pmix_proc_t **,
                                      size_t *);

/* Nodes and the ranks on each; make_long_shape fills the last row. */
static const char *shapes[][2] = {
    {"localhost", "0"},
    {"n1", "0,1,2,3"},
    {"n001,n002,n003", "0,1,2,3,4,5;6,7;8"},
    {"n8,n9,n10,n11", "0;1;2;3"},
    {"node07,node08,login", "1,3,5;2,4;0"},
    {"a1x,a2x,b03,b04,c5", "0,1;2,3;4,5;6,7;8,9"},
    {"rack01n1,rack01n2,rack2n1", "0,1,2;3,4,5;6"},
    {"n1.dom,n2.dom", "0;1"},
    {"10.0.0.1,10.0.0.2", "1;0"},
    {"n5,n3,n4", "0;1;2"},
    {NULL, NULL},
};

/* Makes a long list without a pattern. */
static void make_long_shape(void)
{
    static char nodes[9000], ranks[9000];
    size_t n = 0, r = 0;

    for (unsigned i = 0; i < 900; i++) {
        const char *comma = i ? "," : "", *semicolon = i ? ";" : "";
        n += (size_t)snprintf(nodes + n, sizeof(nodes) - n, "%sx%ui%c", comma,
                              i * 7919 % 10007, (char)('a' + i * i % 26));
        r += (size_t)snprintf(ranks + r, sizeof(ranks) - r, "%s%u", semicolon,
                              i * 601 % 900);
    }
    shapes[PX_COUNT(shapes) - 1][0] = nodes;
    shapes[PX_COUNT(shapes) - 1][1] = ranks;
}

static bool begin(void)
{
    static char module[8192]; /* without upcalls */
    pmix_status_t (*init)(void *, pmix_info_t *, size_t) = NULL;
    void *lib = px_test_incumbent();

    if (!lib)
        return false;
    setenv("TMPDIR", px_test_dir(), 1);
    setenv("PMIX_MCA_gds", "hash", 1);
    *(void **)&init = dlsym(lib, "PMIx_server_init");
    *(void **)&regex = dlsym(lib, "PMIx_generate_regex");
    *(void **)&ppn = dlsym(lib, "PMIx_generate_ppn");
    *(void **)&add_nspace = dlsym(lib, "PMIx_server_register_nspace");
    *(void **)&resolve_nodes = dlsym(lib, "PMIx_Resolve_nodes");
    *(void **)&resolve_peers = dlsym(lib, "PMIx_Resolve_peers");
    ok(init(module, NULL, 0));
    make_long_shape();
    return true;
}

static void on_registered(pmix_status_t status, void *cbdata)
{
    *(_Atomic int *)cbdata = status == PMIX_SUCCESS ? 1 : -1;
}

/* Registers a job with these maps in OpenPMIx. */
static void register_with_incumbent(const char *job, const char *nodes,
                                    const char *ranks)
{
    _Atomic int done = 0;
    pmix_info_t info[2];

    PMIx_Info_load(&info[0], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIx_Info_load(&info[1], PMIX_PROC_MAP, ranks, PMIX_REGEX);
    ok(add_nspace(job, 0, info, 2, on_registered, &done));
    while (!done)
        sched_yield();
    ck_assert_int_eq(done, 1);
}

PX_TEST(the_incumbent_understands_our_maps)
{
    PX_TEST_NEEDS(begin(), "another libpmix");
    for (size_t i = 0; i < PX_COUNT(shapes); i++) {
        PX_AUTOFREE char *nodes = NULL, *ranks = NULL, *list = NULL;
        PX_AUTOFREE char *job = px_strf("job-%zu", i);
        PX_AUTO(px_strv) names = px_strv_split(shapes[i][0], ',', false);
        PX_AUTO(px_strv) expected = px_strv_split(shapes[i][1], ';', false);

        ok(px_procmap_pack_nodes(shapes[i][0], &nodes));
        ok(px_procmap_pack_ranks(shapes[i][1], &ranks));
        register_with_incumbent(job, nodes, ranks);
        ok(resolve_nodes(job, &list));
        ck_assert_str_eq(list, shapes[i][0]);
        for (size_t n = 0; names[n]; n++) {
            pmix_proc_t *procs = NULL;
            char text[256] = "";
            size_t n_procs = 0, len = 0;

            ok(resolve_peers(names[n], job, &procs, &n_procs));
            for (size_t p = 0; p < n_procs; p++)
                len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u",
                                        p ? "," : "", procs[p].rank);
            free(procs);
            ck_assert_str_eq(text, expected[n]);
        }
    }
}

/* Returns the text of a map made by OpenPMIx, which may be compressed. */
static char *expand(generate_fn generate, const char *list)
{
    PX_AUTOFREE char *packed = NULL;
    char *text = NULL;

    ok(generate(list, &packed));
    ok(px_procmap_text(packed, px_regex_extent(packed), &text, NULL));
    return text;
}

PX_TEST(we_understand_maps_of_the_incumbent)
{
    PX_TEST_NEEDS(begin(), "another libpmix");
    for (size_t i = 0; i < PX_COUNT(shapes); i++) {
        PX_AUTOFREE char *nodes = expand(regex, shapes[i][0]);
        PX_AUTOFREE char *ranks = expand(ppn, shapes[i][1]);
        PX_AUTO(px_strv) expected = px_strv_split(shapes[i][1], ';', false);
        struct px_procmap *map = NULL;

        ok(px_procmap_create(nodes, ranks, &map, NULL));
        PX_AUTOFREE char *list = px_procmap_names(map, NULL);
        ck_assert_str_eq(list, shapes[i][0]);
        for (uint32_t n = 0; n < map->n_nodes; n++) {
            PX_AUTOFREE char *peers = px_procmap_peers(map, n);
            ck_assert_str_eq(peers, expected[n]);
        }
        px_procmap_destroy(map);
    }
}

PX_TEST_MAIN("model/procmap_incumbent", NULL, NULL)
