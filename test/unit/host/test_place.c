/* SPDX-License-Identifier: BSD-3-Clause */
/* Mapping, ranking and binding, on synthetic nodes. */
#include "core/host/place/place.h"

#include <string.h>

#include "alloc_fail.h"
#include "core/base/str.h"
#include "core/topo/topo.h"
#include "core/types/handle.h"
#include "core/types/type.h"
#include "pmix_deprecated.h"
#include "px_test.h"

PX_TEST_SUITE_NEEDS(px_topo_possible(), "hwloc")

/* ---- scene ----------------------------------------------------------------------- */

enum { MAX_POSITIONS = 32 };

static struct px_place_node node;
static struct px_position *positions;
static struct px_err err;

/* Node of two packages with four cores each and two threads per core. */
static const char usual[] = "package:2 numa:1 l3:1 core:4 pu:2";

static void make_node(const char *synthetic)
{
    pmix_topology_t topo;

    px_topo_drop();
    setenv("HWLOC_SYNTHETIC", synthetic, 1);
    ok(px_topo_load(NULL, &topo));
    node = (struct px_place_node){.topology = topo.topology};
}

static void setup(void)
{
    make_node(usual);
}

static void teardown(void)
{
    px_positions_free(positions, MAX_POSITIONS);
    px_topo_drop();
}

/* Reads and checks a placement such as "map=socket:PE=2 bind=core list=0-3". */
static pmix_status_t read_placement(const char *text, struct px_placement *placement)
{
    static const struct {
        const char *name, *key;
    } keys[] = {{"map", PMIX_MAPBY},
                {"rank", PMIX_RANKBY},
                {"bind", PMIX_BINDTO},
                {"ppr", PMIX_PPR},
                {"mapper", PMIX_MAPPER},
                {"cpus", PMIX_CPUS_PER_PROC},
                {"list", PMIX_CPU_LIST},
                {"noover", PMIX_NO_OVERSUBSCRIBE},
                {"head", PMIX_NO_PROCS_ON_HEAD}};
    static char copy[128]; /* the placement points into this text */
    char *rest, *word;
    pmix_status_t rc = PMIX_SUCCESS;

    *placement = (struct px_placement){0};
    ck_assert(px_str_copy(copy, sizeof(copy), text));
    for (word = strtok_r(copy, " ", &rest); !rc && word;
         word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        pmix_info_t info = {.value.type = PMIX_STRING};
        uint64_t number;
        size_t k = 0;

        *value++ = '\0';
        while (strcmp(keys[k].name, word) != 0)
            ck_assert_uint_lt(++k, PX_COUNT(keys));
        PMIx_Load_key(info.key, keys[k].key);
        info.value.data.string = value;
        if (k == 5 && px_str_to_u64(value, 0, UINT32_MAX, &number)) {
            info.value.type = PMIX_UINT32;
            info.value.data.uint32 = (uint32_t)number;
        } else if (k > 6) {
            info.value.type = PMIX_BOOL;
            info.value.data.flag = strcmp(value, "yes") == 0;
        }
        rc = px_placement_read(placement, &info, &err);
    }
    return rc ? rc : px_placement_check(placement, node.topology, &err);
}

static pmix_status_t place(const char *text, uint32_t n, uint32_t n_more)
{
    struct px_place_app apps[2] = {{.n = n}, {.n = n_more}};
    pmix_status_t rc = read_placement(text, &apps[0].placement);

    px_positions_free(positions, MAX_POSITIONS);
    positions = calloc(MAX_POSITIONS, sizeof(*positions));
    apps[1].placement = apps[0].placement;
    return rc ? rc : px_place(&node, apps, n_more ? 2 : 1, positions, &err);
}

/* Returns the CPUs of each rank, as in "0-1 8-9 -". */
static const char *cpus_of(uint32_t n)
{
    static char text[512];
    size_t at = 0;

    for (uint32_t i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i > 0 ? " " : "",
                               positions[i].cpus ? positions[i].cpus : "-");
    return text;
}

struct row {
    const char *placement;
    uint32_t n, n_more; /* processes of the first and the second application */
    const char *cpus;   /* of each rank; NULL: refused with status */
    pmix_status_t status;
};

static void try_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &rows[i];

        err = (struct px_err){0};
        pmix_status_t rc = place(r->placement, r->n, r->n_more);
        ck_assert_msg(rc == (r->cpus ? PMIX_SUCCESS : r->status), "%s: %s, %s",
                      r->placement, PMIx_Error_string(rc), err.text);
        ck_assert_msg(!rc == !*err.text, "%s: \"%s\"", r->placement, err.text);
        if (r->cpus)
            ck_assert_msg(strcmp(cpus_of(r->n + r->n_more), r->cpus) == 0,
                          "%s of %u+%u: %s, not %s", r->placement, r->n, r->n_more,
                          cpus_of(r->n + r->n_more), r->cpus);
    }
}

/* ---- rules ----------------------------------------------------------------------- */

/* Placements of Open MPI's mpirun 4.1 for the same options (test/integration/mpi.sh compares). */
PX_TEST(processes_go_where_mpirun_puts_them)
{
    static const struct row rows[] = {
        {"map=core bind=core", 4, 0, "0-1 2-3 4-5 6-7", 0},
        {"map=socket bind=socket", 4, 0, "0-7 8-15 0-7 8-15", 0},
        {"map=socket bind=core", 5, 0, "0-1 8-9 2-3 10-11 4-5", 0},
        {"map=socket bind=core", 3, 3, "0-1 8-9 2-3 10-11 4-5 12-13", 0},
        {"map=slot bind=core", 3, 0, "0-1 2-3 4-5", 0},
        {"map=slot bind=socket", 2, 0, "0-7 8-15", 0},
        {"map=node bind=core", 3, 0, "0-1 2-3 4-5", 0},
        {"map=core bind=socket", 4, 0, "0-7 0-7 0-7 0-7", 0},
        {"map=numa bind=l3cache", 3, 0, "0-7 8-15 0-7", 0},
        {"map=hwthread bind=hwthread", 3, 0, "0 1 2", 0},
        {"map=socket bind=hwthread", 3, 0, "0 8 1", 0},
        {"bind=core", 2, 0, "0-1 2-3", 0},
        {"bind=core", 3, 0, "0-1 8-9 2-3", 0},
        {"bind=socket", 2, 0, "0-7 0-7", 0},
        {"bind=hwthread", 2, 0, "0 1", 0},
        {"map=Socket:SPAN bind=CORE", 2, 0, "0-1 8-9", 0},
        /* ranks */
        {"map=core rank=socket bind=core", 5, 0, "0-1 8-9 2-3 4-5 6-7", 0},
        {"map=core rank=socket:fill bind=core", 5, 0, "0-1 2-3 4-5 6-7 8-9", 0},
        {"map=socket rank=core bind=core", 6, 0, "0-1 2-3 4-5 8-9 10-11 12-13", 0},
        {"map=socket rank=slot bind=core", 3, 0, "0-1 8-9 2-3", 0},
        {"map=ppr:4:socket rank=socket bind=core", 6, 0, "0-1 8-9 2-3 10-11 4-5 6-7",
         0},
        {"map=ppr:1:core rank=socket bind=core", 8, 0,
         "0-1 8-9 2-3 10-11 4-5 12-13 6-7 14-15", 0},
        /* processes per object */
        {"map=ppr:2:socket bind=core", 3, 0, "0-1 2-3 8-9", 0},
        {"ppr=2:socket bind=core", 3, 0, "0-1 2-3 8-9", 0},
        {"ppr=1:node bind=socket", 1, 1, "0-7 8-15", 0},
        {"map=ppr:2:socket bind=core", 5, 0, NULL, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES},
        /* CPUs per process */
        {"map=slot:PE=2 bind=core", 4, 0, "0-3 4-7 8-11 12-15", 0},
        {"map=socket:PE=2", 4, 0, "0-3 8-11 4-7 12-15", 0},
        {"cpus=2", 3, 0, "0-3 8-11 4-7", 0},
        {"map=:PE=2", 2, 0, "0-3 8-11", 0},
        {"map=socket:PE=3 bind=hwthread", 3, 0, "0-2 8-10 3-5", 0},
        {"map=ppr:2:socket:PE=2 bind=core", 3, 0, "0-3 4-7 8-11", 0},
        {"map=socket:PE=2 bind=core", 5, 0, NULL, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES},
        {"map=core:PE=2", 2, 0, NULL, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES},
        {"map=socket:PE=2 bind=socket", 2, 0, NULL, PMIX_ERR_BAD_PARAM},
        /* more processes than objects */
        {"map=core bind=core", 9, 0, NULL, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES},
        {"map=core bind=socket", 10, 0, NULL, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES},
        {"map=core bind=core:overload-allowed", 10, 0,
         "0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15 0-1 2-3", 0},
        {"map=core:OVERSUBSCRIBE bind=core", 9, 0, NULL,
         PMIX_ERR_JOB_INSUFFICIENT_RESOURCES},
        {"map=core:NOOVERSUBSCRIBE bind=none", 9, 0, NULL,
         PMIX_ERR_JOB_INSUFFICIENT_RESOURCES}};

    try_rows(rows, PX_COUNT(rows));
}

PX_TEST(processes_go_where_options_place_them)
{
    static const struct row rows[] = {
        /* Without bind=, processes are bound only to an object that they are mapped to. */
        {"map=slot", 2, 0, "- -", 0},
        {"map=node:oversubscribe", 20, 0, "- - - - - - - - - - - - - - - - - - - -", 0},
        {"map=core bind=none", 2, 0, "- -", 0},
        {"map=core", 2, 1, "0-1 2-3 4-5", 0},
        {"map=core", 9, 0, "- - - - - - - - -", 0},
        {"map=socket", 3, 0, "0-7 8-15 0-7", 0},
        {"map=ppr:2:numa", 3, 0, "0-7 0-7 8-15", 0},
        {"bind=node", 2, 0, "0-15 0-15", 0},
        /* lists, of cores or of hardware threads */
        {"list=1,4-5", 2, 0, "2-3,8-11 2-3,8-11", 0},
        {"list=1,4-5 bind=none", 1, 0, "2-3,8-11", 0},
        {"list=1,4-5 bind=cpu-list", 1, 0, "2-3,8-11", 0},
        {"list=1 bind=cpu-list", 2, 0, NULL, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES},
        {"list=1,4-5 bind=core", 3, 0, "2-3 8-9 10-11", 0},
        {"list=1,4-5 map=socket bind=core", 3, 0, NULL,
         PMIX_ERR_JOB_INSUFFICIENT_RESOURCES},
        {"list=4-5 map=socket", 2, 0, "8-11 8-11", 0},
        {"list=1,8 map=:hwtcpus", 1, 0, "1,8", 0},
        {"list=5,0,2 bind=cpu-list:ordered", 2, 1, "10-11 0-1 4-5", 0},
        {"list=5,0 bind=cpu-list:ordered", 2, 1, NULL,
         PMIX_ERR_JOB_INSUFFICIENT_RESOURCES},
        {"list=8", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"noover=yes bind=core", 8, 0, "0-1 8-9 2-3 10-11 4-5 12-13 6-7 14-15", 0},
        {"noover=yes", 5, 4, NULL, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES},
        {"noover=yes map=:hwtcpus", 9, 0, "- - - - - - - - -", 0},
        {"noover=no", 9, 0, "- - - - - - - - -", 0},
        {"mapper=round_robin map=core", 1, 0, "0-1", 0},
        {"mapper=ppr map=ppr:1:core", 1, 0, "0-1", 0}};

    try_rows(rows, PX_COUNT(rows));
}

PX_TEST(what_makes_no_sense_is_refused)
{
    static const struct row rows[] = {
        {"map=foo", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"map=", 1, 0, "-", 0},
        {"map=none", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"map=core:foo", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"map=core:PE=0", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"map=core:PE=x", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"map=core:overload-allowed", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"map=core:", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"rank=foo", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"rank=core:PE=2", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"bind=slot", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"bind=core:PE=2", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"bind=cpu-list", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"bind=core:ordered list=0", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"ppr=2", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"ppr=0:core", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"ppr=1:core,1:node", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"ppr=1:core map=socket", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"mapper=ppr", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"mapper=round_robin ppr=1:core", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"map=core:OVERSUBSCRIBE,NOOVERSUBSCRIBE", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"cpus=0", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"cpus=2 bind=none", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"list=0-x", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"list=0-", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        /* options that make sense elsewhere */
        {"map=rankfile", 1, 0, NULL, PMIX_ERR_NOT_SUPPORTED},
        {"map=seq", 1, 0, NULL, PMIX_ERR_NOT_SUPPORTED},
        {"map=l2cache", 1, 0, NULL, PMIX_ERR_NOT_SUPPORTED},
        {"rank=l1cache", 1, 0, NULL, PMIX_ERR_NOT_SUPPORTED},
        {"bind=board", 1, 0, NULL, PMIX_ERR_NOT_SUPPORTED},
        {"mapper=mindist", 1, 0, NULL, PMIX_ERR_NOT_SUPPORTED},
        {"head=no", 1, 0, "-", 0},
        {"head=yes", 1, 0, NULL, PMIX_ERR_NOT_SUPPORTED}};

    try_rows(rows, PX_COUNT(rows));
}

/* ---- other nodes ----------------------------------------------------------------- */

PX_TEST(only_CPUs_that_may_be_used_are)
{
    static const struct row rows[] = {
        {"map=core bind=core", 3, 0, "3 4-5 14-15", 0},
        {"map=core bind=core", 4, 0, NULL, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES},
        {"map=socket bind=socket", 2, 0, "3-5 14-15", 0},
        {"map=hwthread", 5, 0, "3 4 5 14 15", 0},
        {"list=0", 1, 0, NULL, PMIX_ERR_BAD_PARAM},
        {"noover=yes", 4, 0, NULL, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES}};

    node.usable = "3-5,14-99";
    try_rows(rows, PX_COUNT(rows));
    node.usable = "100";
    fails(place("map=core", 1, 0), JOB_INSUFFICIENT_RESOURCES);
}

PX_TEST(what_others_are_bound_to_comes_last)
{
    static const struct row rows[] = {
        {"map=slot bind=core", 4, 0, "6-7 10-11 12-13 14-15", 0},
        {"map=socket bind=core", 2, 0, "10-11 6-7", 0},
        {"map=core bind=core", 4, 0, "6-7 10-11 12-13 14-15", 0},
        {"map=ppr:1:core", 2, 0, "6-7 10-11", 0},
        {"map=slot bind=socket", 4, 0, "8-15 8-15 0-7 8-15", 0},
        {"map=slot bind=core", 5, 0, NULL, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES},
        {"noover=yes", 3, 0, NULL, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES}};
    char one[] = "8-9", three[] = "0-5", whole[] = "0-15";
    const struct px_position a = {.cpus = one, .n_cpus = 1},
                             b = {.cpus = three, .n_cpus = 3},
                             c = {.cpus = whole, .n_cpus = 1};
    const struct px_position *const taken[] = {&a, &b, &c};

    node.taken = taken;
    node.n_taken = 3;
    node.n_running = 6;
    try_rows(rows, PX_COUNT(rows));
}

PX_TEST(nodes_of_other_shapes_will_do)
{
    static const struct {
        const char *node;
        struct row row;
    } rows[] = {
        {"pu:4", {"bind=hwthread", 2, 0, "0 1", 0}},
        {"pu:4", {"cpus=2", 2, 0, "0-1 2-3", 0}},
        {"pu:4", {"bind=core", 1, 0, NULL, PMIX_ERR_NOT_SUPPORTED}},
        {"core:2 pu:1", {"map=core bind=core", 2, 0, "0 1", 0}},
        {"core:2 pu:1", {"bind=core", 3, 0, NULL, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES}},
        {"package:2 core:2 pu:1(indexes=0,2,1,3)", {"map=core", 2, 1, "0 2 1", 0}},
        {"package:2 core:2 pu:1(indexes=0,2,1,3)", {"list=1-2", 1, 0, "1-2", 0}},
        {"package:2 l2:2 core:2 pu:1", {"map=l2cache bind=core", 5, 0, "0 2 4 6 1", 0}},
        {"package:2 numa:2 core:2 pu:1",
         {"map=package rank=numa bind=core", 4, 0, "0 1 4 5", 0}},
        /* two kinds of memory for the same CPUs */
        {"package:2 [numa] [numa] core:2 pu:1", {"map=numa", 3, 0, "0-1 2-3 0-1", 0}}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        make_node(rows[i].node);
        try_rows(&rows[i].row, 1);
    }
}

PX_TEST(processes_per_object_make_a_number)
{
    static const struct {
        const char *placement;
        uint32_t n;
        pmix_status_t status;
    } rows[] = {{"map=ppr:2:socket", 4, 0},
                {"ppr=1:core", 8, 0},
                {"ppr=3:node", 3, 0},
                {"ppr=1:core list=1,5-6", 3, 0},
                {"ppr=4294967295:hwthread", UINT32_MAX, 0},
                {"ppr=1:core list=9", 0, PMIX_ERR_BAD_PARAM},
                {"map=core", 0, PMIX_ERR_BAD_PARAM}};
    struct px_placement placement;

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        uint32_t n = 0;

        ok(read_placement(rows[i].placement, &placement));
        ck_assert_int_eq(px_place_count(&node, &placement, &n, &err), rows[i].status);
        ck_assert_uint_eq(n, rows[i].n);
    }
    ok(read_placement("ppr=3:node", &placement));
    ok(px_place_count(&(struct px_place_node){0}, &placement, &(uint32_t){0}, &err));
}

/* Any request is carried out in full or refused with a reason. No process is bound to an unusable
 * CPU. */
PX_TEST(whatever_is_asked_for_has_an_answer)
{
    static const char *const nodes[] = {usual, "pu:3", "package:3 l2:2 core:2 pu:2",
                                        "package:1 [numa] [numa] core:5 pu:1"};
    static const char *const words[] = {"slot",     "package", "numa",
                                        "l3cache",  "l2cache", "core",
                                        "hwthread", "none",    "cpu-list"};
    static const char *const maps[] = {"", "", ":PE=2", ":PE=3:hwtcpus", ":span"};
    static const char *const binds[] = {"", ":overload-allowed", ":ordered"};
    static const char *const more[] = {"", "", " list=0,2-3", " noover=yes"};
    static const char *const allowed[] = {NULL, "0-2", "1,5-30"};
    const char *given = getenv("PX_TEST_SEED");
    const unsigned seed = given ? (unsigned)atoi(given) : (unsigned)getpid();
    unsigned n_done = 0;

    srandom(seed);
    for (int i = 0; i < 2000; i++) {
        char text[128];
        size_t r[9];

        for (size_t k = 0; k < PX_COUNT(r); k++)
            r[k] = (size_t)random();
        if (i % 100 == 0)
            make_node(nodes[r[0] % PX_COUNT(nodes)]);
        node.usable = allowed[r[1] % PX_COUNT(allowed)];
        snprintf(text, sizeof(text), "map=%s%s%s rank=%s bind=%s%s%s",
                 r[2] % 4 ? "" : "ppr:2:", words[r[2] % PX_COUNT(words)],
                 maps[r[3] % PX_COUNT(maps)], words[r[4] % 7],
                 words[r[5] % PX_COUNT(words)], binds[r[6] % PX_COUNT(binds)],
                 more[r[7] % PX_COUNT(more)]);
        err = (struct px_err){0};
        const uint32_t n = 1 + (uint32_t)(r[8] % 9);
        pmix_status_t rc = place(text, n, n / 2);
        ck_assert_msg(!rc == !*err.text, "seed %u: %s: %d, \"%s\"", seed, text, rc,
                      err.text);
        ck_assert_msg(!rc || rc == PMIX_ERR_BAD_PARAM || rc == PMIX_ERR_NOT_SUPPORTED ||
                          rc == PMIX_ERR_JOB_INSUFFICIENT_RESOURCES,
                      "seed %u: %s: %d", seed, text, rc);
        n_done += !rc;
        for (uint32_t k = 0; !rc && k < n + n / 2; k++) {
            const char *at = positions[k].cpus;
            uint32_t first, last;

            ck_assert_msg(positions[k].level, "seed %u: %s: rank %u", seed, text, k);
            while (at && *at && px_cpus_take(&at, &first, &last))
                ck_assert_msg(
                    !node.usable ||
                        (node.usable[0] == '0' ? last <= 2 : first == 1 || first >= 5),
                    "seed %u: %s: rank %u on %u", seed, text, k, first);
        }
    }
    ck_assert_uint_gt(n_done, 30); /* 200 seeds gave 66 to 170 */
}

/* ---- reports --------------------------------------------------------------------- */

PX_TEST(the_map_shows_each_rank)
{
    ok(place("map=socket rank=slot bind=core list=0-1,4", 3, 0));
    PX_AUTOFREE char *text = px_place_map(node.topology, positions, 3);
    ck_assert_str_eq(
        text, "rank 0, package 0, bound to CPUs 0-1 [BB/../../..][../../../..]\n"
              "rank 1, package 1, bound to CPUs 8-9 [../../../..][BB/../../..]\n"
              "rank 2, package 0, bound to CPUs 2-3 [../BB/../..][../../../..]\n");
    ck_assert_str_eq(positions[1].locality, "SK1:L31:CR4:HT8-9:NM1");
    ok(place("map=slot", 1, 0));
    PX_AUTOFREE char *none = px_place_map(node.topology, positions, 1);
    ck_assert_str_eq(none, "rank 0, not bound\n");
    PX_AUTOFREE char *unplaced = px_place_map(NULL, NULL, 2);
    ck_assert_str_eq(unplaced, "rank 0, not bound\nrank 1, not bound\n");
}

PX_TEST(a_topology_is_needed_for_what_names_objects)
{
    static const struct {
        const char *placement;
        bool needs;
    } rows[] = {{"map=slot rank=node bind=none mapper=round_robin", false},
                {"map=:oversubscribe noover=no", false},
                {"ppr=2:node", false},
                {"map=core", true},
                {"rank=numa", true},
                {"bind=node", true},
                {"ppr=2:core", true},
                {"cpus=1", true},
                {"list=0", true},
                {"noover=yes", true}};
    struct px_placement placement;

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ok(read_placement(rows[i].placement, &placement));
        ck_assert_msg(px_placement_needs_topology(&placement) == rows[i].needs, "%s",
                      rows[i].placement);
    }
}

PX_TEST(running_out_of_memory_is_reported)
{
    static const char *const placements[] = {"map=core rank=socket bind=core list=0-5",
                                             "list=0,1 bind=cpu-list:ordered",
                                             "map=socket:PE=2"};

    PX_TEST_NEEDS_ALLOC;
    for (size_t i = 0; i < PX_COUNT(placements); i++) {
        struct px_place_app app = {.n = 2};
        struct px_position two[2] = {{0}};

        ok(read_placement(placements[i], &app.placement));
        for (unsigned nth = 0; px_alloc_next(&nth);) {
            pmix_status_t rc = px_place(&node, &app, 1, two, &err);

            px_alloc_check(rc);
        }
        for (int k = 0; k < 2; k++) {
            free(two[k].cpus);
            free(two[k].locality);
        }
    }
    struct px_placement placement;
    uint32_t count;

    ok(read_placement("ppr=1:core list=0-5", &placement));
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        pmix_status_t rc = px_place_count(&node, &placement, &count, &err);

        px_alloc_check(rc);
    }
    ok(place("map=core", 8, 0));
    PX_AUTOFREE char *whole = px_place_map(node.topology, positions, 8);
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        char *map = px_place_map(node.topology, positions, 8);

        px_alloc_fail_end();
        ck_assert(!map || strcmp(map, whole) == 0);
        free(map);
    }
}

PX_TEST_MAIN("host/place", setup, teardown)
