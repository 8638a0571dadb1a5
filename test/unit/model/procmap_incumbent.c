/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps of the other implementation, if it is installed, and ours: each side understands
 * what the other made. That they are the same to the letter is in test_procmap.c. */
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/model/procmap.h"
#include "core/wire/walk.h"
#include "px_test.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>

typedef pmix_status_t (*generate_fn)(const char *list, char **out);

/* By its whole path: the bare name could find ours. PX_TEST_INCUMBENT names another. */
static void *load_incumbent(void)
{
    static const char *const paths[] = {"/usr/lib/x86_64-linux-gnu/libpmix.so.2",
                                        "/usr/lib/aarch64-linux-gnu/libpmix.so.2",
                                        "/usr/lib64/libpmix.so.2",
                                        "/usr/lib/libpmix.so.2"};
    const char *named = getenv("PX_TEST_INCUMBENT");
    void *lib = named ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : NULL;
    const char *(*version)(void) = NULL;

    for (size_t i = 0; !lib && i < PX_COUNT(paths); i++)
        lib = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
    if (lib)
        *(void **)&version = dlsym(lib, "PMIx_Get_version");
    return version && strstr(version(), "OpenPMIx") ? lib : NULL;
}

/* Its calls that are wanted here. */
struct incumbent {
    pmix_status_t (*init)(void *, pmix_info_t *, size_t);
    generate_fn regex, ppn;
    pmix_status_t (*add_nspace)(const char *, int, pmix_info_t *, size_t,
                                pmix_op_cbfunc_t, void *);
    pmix_status_t (*nodes)(const char *, char **);
    pmix_status_t (*peers)(const char *, const char *, pmix_proc_t **, size_t *);
};

/* In a process of its own: the incumbent starts threads and stays loaded. */
static int run_incumbent(void *lib, bool (*check)(const struct incumbent *))
{
    static char module[8192]; /* no upcalls */
    struct incumbent in = {0};
    int result = 2;

    setenv("TMPDIR", px_test_dir(), 1);
    setenv("PMIX_MCA_gds", "hash", 1);
    *(void **)&in.init = dlsym(lib, "PMIx_server_init");
    *(void **)&in.regex = dlsym(lib, "PMIx_generate_regex");
    *(void **)&in.ppn = dlsym(lib, "PMIx_generate_ppn");
    *(void **)&in.add_nspace = dlsym(lib, "PMIx_server_register_nspace");
    *(void **)&in.nodes = dlsym(lib, "PMIx_Resolve_nodes");
    *(void **)&in.peers = dlsym(lib, "PMIx_Resolve_peers");
    if (in.init(module, NULL, 0) == PMIX_SUCCESS)
        result = check(&in) ? 0 : 1;
    fflush(stdout);
    return result;
}

static void assert_with_incumbent(bool (*check)(const struct incumbent *))
{
    int status = -1;

    px_test_dir(); /* of the test, which removes it, not of the child */
    pid_t pid = fork();

    if (pid == 0) {
        void *lib = load_incumbent();
        _exit(lib ? run_incumbent(lib, check) : 77);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    PX_TEST_NEEDS(WIFEXITED(status) && WEXITSTATUS(status) != 77, "another libpmix");
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

/* Nodes, and the ranks on each; the last is made below. */
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

/* Without a pattern. */
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

static void on_registered(pmix_status_t status, void *cbdata)
{
    *(_Atomic int *)cbdata = status == PMIX_SUCCESS ? 1 : -1;
}

/* Registers a job of these maps with the incumbent. */
static bool tell_incumbent(const struct incumbent *in, const char *job,
                           const char *nodes, const char *ranks)
{
    _Atomic int done = 0;
    pmix_info_t info[2];

    PMIx_Info_load(&info[0], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIx_Info_load(&info[1], PMIX_PROC_MAP, ranks, PMIX_REGEX);
    if (in->add_nspace(job, 0, info, 2, on_registered, &done))
        return false;
    while (!done)
        sched_yield();
    return done > 0;
}

/* What the incumbent makes of the job's maps is what they were made from. */
static bool incumbent_has(const struct incumbent *in, const char *job,
                          const char *const shape[2])
{
    PX_AUTO(px_strv) nodes = px_strv_split(shape[0], ',', false);
    PX_AUTO(px_strv) ranks = px_strv_split(shape[1], ';', false);
    PX_AUTOFREE char *list = NULL;

    if (in->nodes(job, &list) || strcmp(list, shape[0]) != 0) {
        printf("%s: nodes are %s\n", shape[0], list);
        return false;
    }
    for (size_t i = 0; nodes[i]; i++) {
        pmix_proc_t *procs = NULL;
        char text[256] = "";
        size_t n = 0, len = 0;

        if (in->peers(nodes[i], job, &procs, &n))
            return false;
        for (size_t p = 0; p < n; p++)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u",
                                    p ? "," : "", procs[p].rank);
        free(procs);
        if (strcmp(text, ranks[i]) != 0) {
            printf("%s: ranks on %s are %s\n", shape[1], nodes[i], text);
            return false;
        }
    }
    return true;
}

static bool understands_ours(const struct incumbent *in)
{
    bool good = true;

    make_long_shape();
    for (size_t i = 0; i < PX_COUNT(shapes); i++) {
        PX_AUTOFREE char *nodes = NULL;
        PX_AUTOFREE char *ranks = NULL;
        PX_AUTOFREE char *job = px_strf("job-%zu", i);

        good = px_map_pack_nodes(shapes[i][0], &nodes) == PMIX_SUCCESS &&
               px_map_pack_ranks(shapes[i][1], &ranks) == PMIX_SUCCESS &&
               tell_incumbent(in, job, nodes, ranks) &&
               incumbent_has(in, job, shapes[i]) && good;
    }
    return good;
}

PX_TEST(the_incumbent_understands_our_maps)
{
    assert_with_incumbent(understands_ours);
}

/* Text of a map as the incumbent made it, compressed or not. */
static char *expand(generate_fn generate, const char *list)
{
    PX_AUTOFREE char *packed = NULL;
    char *text = NULL;

    if (generate(list, &packed))
        return NULL;
    px_map_text(packed, px_regex_extent(packed), &text, NULL);
    return text;
}

static bool understands_theirs(const struct incumbent *in)
{
    bool good = true;

    make_long_shape();
    for (size_t i = 0; i < PX_COUNT(shapes); i++) {
        PX_AUTOFREE char *nodes = expand(in->regex, shapes[i][0]);
        PX_AUTOFREE char *ranks = expand(in->ppn, shapes[i][1]);
        PX_AUTO(px_strv) expected = px_strv_split(shapes[i][1], ';', false);
        struct px_procmap *map = NULL;

        if (!nodes || !ranks || px_procmap_create(nodes, ranks, &map, NULL))
            return false;
        PX_AUTOFREE char *list = px_strv_join(map->nodes, ',');
        good = strcmp(list, shapes[i][0]) == 0 && good;
        for (uint32_t n = 0; n < map->n_nodes; n++) {
            PX_AUTOFREE char *peers = px_procmap_peers(map, n);
            good = strcmp(peers, expected[n]) == 0 && good;
        }
        px_procmap_destroy(map);
    }
    return good;
}

PX_TEST(we_understand_maps_of_the_incumbent)
{
    assert_with_incumbent(understands_theirs);
}

PX_TEST_MAIN("model/procmap_incumbent", NULL, NULL)
