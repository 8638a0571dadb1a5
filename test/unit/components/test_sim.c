/* SPDX-License-Identifier: BSD-3-Clause */
/* pnet/sim: the required format of descriptions, and the values derived from them. */
#include "contrib/examples/fabric-sim/fabric.h"
#include "core/base/str.h"
#include "core/types/type.h"
#include "px_test.h"
#include "tenon/pnet.h"

#include <string.h>
#include <unistd.h>

extern const struct px_component px_pnet_sim_component;

/* ---- the component under test ------------------------------------------------------ */

static char last_log[512];
static void *sim;

static void __attribute__((format(printf, 3, 4)))
on_log(const struct px_services *services PX_UNUSED, enum px_log_level level PX_UNUSED,
       const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(last_log, sizeof(last_log), fmt, args);
    va_end(args);
}

static const struct px_services services = {.size = sizeof(services), .log = on_log};

static const struct px_pnet_ops *ops(void)
{
    return px_pnet_sim_component.ops;
}

static const char *write_file(const char *text)
{
    const char *path = px_test_path("fabric.json");
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
    return path;
}

/* Opens the component with a description; NULL: an unusable file, which query
 * reports. */
static bool open_sim(const char *text, struct px_query *answer)
{
    static struct {
        const char *file;
    } conf;

    *answer = (struct px_query){0};
    last_log[0] = '\0';
    conf.file = text ? write_file(text) : NULL;
    ok(px_pnet_sim_component.open(&services, &conf, &sim));
    return px_pnet_sim_component.query(sim, answer) == PMIX_SUCCESS;
}

static void start(const char *text)
{
    struct px_query answer;

    ck_assert_msg(open_sim(text, &answer), "%s", last_log);
    ck_assert_str_eq(last_log, "");
}

static void stop(void)
{
    if (sim)
        px_pnet_sim_component.close(px_take(&sim));
}

static pmix_status_t on_add(void *arg, const pmix_info_t *info)
{
    return px_infos_add_copy(arg, info, 1);
}

#define PLANE  "\"name\":\"f\",\"planes\":[{\"name\":\"p\"}]"
#define NIC    "{\"name\":\"s0\",\"plane\":\"p\"}"
#define NODES  "\"nodes\":[{\"names\":\"n[0-9]\",\"nics\":[" NIC "]}]"
#define FABRIC "{" PLANE "," NODES "}"

/* ---- descriptions ------------------------------------------------------------------ */

static const struct {
    const char *text, *problem;
} bad_texts[] = {
    {"", "line 1, column 0: '[' or '{' expected near end of file"},
    {"{\n\"name\": }", "line 2, column 9: unexpected token near '}'"},
    {"{\"name\":\"a\",\"name\":\"b\"}",
     "line 1, column 18: duplicate object key near '\"name\"'"},
    {"[]", "the whole: expected an object"},
    {"{" PLANE "}", "nodes: expected a list of 1 to 1048576"},
    {"{\"nodes\":[]}", "name: expected a text of at most 63 bytes without spaces"},
    {"{\"name\":\"a b\"}", "name: expected a text of at most 63 bytes without spaces"},
    {"{\"name\":\"f\",\"colour\":1}", "colour: expected no member of that name"},
    {"{\"name\":\"f\",\"planes\":{}}", "planes: expected a list of 1 to 64"},
    {"{\"name\":\"f\",\"planes\":[1]}", "planes[0]: expected an object"},
    {"{\"name\":\"f\",\"planes\":[{\"name\":\"p\"},{\"name\":\"p\"}]}",
     "planes[1].name: expected one that no other plane has"},
    {"{\"name\":\"f\",\"planes\":[{\"name\":\"p\",\"speed\":\"fast\"}]}",
     "planes[0].speed: expected a number from 1 to 4294967295"},
    {"{\"name\":\"f\",\"planes\":[{\"name\":\"p\",\"mtu\":0}]}",
     "planes[0].mtu: expected a number from 1 to 4294967295"},
    {"{" PLANE ",\"shape\":[0]," NODES "}",
     "shape: expected numbers from 1, whose product is below 2^32"},
    {"{" PLANE ",\"shape\":[1.5]," NODES "}",
     "shape: expected numbers from 0 to 1048576"},
    {"{" PLANE ",\"shape\":[3,3]," NODES "}",
     "nodes[0].nics[0].at: expected a place from where all 10 nodes are in the shape"},
    {"{" PLANE ",\"nodes\":[{\"names\":\"n[3-1]\",\"nics\":[" NIC "]}]}",
     "nodes[0].names: expected a name or names like n[0-9,20-29]"},
    {"{" PLANE ",\"nodes\":[{\"names\":\"n[0-5,5]\",\"nics\":[" NIC "]}]}",
     "nodes[0].names: expected a name or names like n[0-9,20-29]"},
    {"{" PLANE ",\"nodes\":[{\"names\":\"n[0-2000000]\",\"nics\":[" NIC "]}]}",
     "nodes[0].names: expected a name or names like n[0-9,20-29]"},
    {"{" PLANE ",\"nodes\":[{\"names\":\"n[0-1]2\",\"nics\":[" NIC "]}]}",
     "nodes[0].names: expected a name or names like n[0-9,20-29]"},
    {"{" PLANE ",\"nodes\":[{\"names\":\"n\",\"nics\":[" NIC "]},"
     "{\"names\":\"n\",\"nics\":[" NIC "]}]}",
     "nodes[1].names: expected one that no other node has"},
    {"{" PLANE ",\"nodes\":[{\"names\":\"n\",\"nics\":[]}]}",
     "nodes[0].nics: expected a list of 1 to 16"},
    {"{" PLANE ",\"nodes\":[{\"names\":\"n\",\"nics\":[" NIC "," NIC "]}]}",
     "nodes[0].nics[1].name: expected one that no other of the node has"},
    {"{" PLANE
     ",\"nodes\":[{\"names\":\"n\",\"nics\":[{\"name\":\"s\",\"plane\":\"q\"}]}]}",
     "nodes[0].nics[0].plane: expected the name of a plane"},
    {"{" PLANE ",\"nodes\":[{\"names\":\"n\",\"nics\":[{\"name\":\"s\",\"plane\":\"p\","
     "\"switch\":\"x\"}]}]}",
     "nodes[0].nics[0].switch: expected switches that one row of \"switches\" names"},
    {"{" PLANE ",\"switches\":[{\"names\":\"l\",\"links\":[{\"to\":\"x\"}]}]," NODES
     "}",
     "switches[0].links[0].to: expected switches that one row of \"switches\" names"},
    {"{" PLANE ",\"switches\":[{\"names\":\"l[0-1024]\"}]," NODES "}",
     "switches[0].names: expected at most 1024 switches in all"},
    {"{" PLANE ",\"nodes\":[{\"names\":\"n[0-9]\",\"nics\":[" NIC "]},"
     "{\"names\":\"m\",\"first\":9,\"nics\":[" NIC "]}]}",
     "nodes[1].first: expected a number from 10 to 4293918719"},
};

PX_TEST_LOOP(a_bad_description_is_reported_with_its_place, PX_COUNT(bad_texts))
{
    struct px_query answer;
    char wanted[600];

    ck_assert(!open_sim(bad_texts[_i].text, &answer));
    snprintf(wanted, sizeof(wanted), "cannot use %s: %s", px_test_path("fabric.json"),
             bad_texts[_i].problem);
    ck_assert_str_eq(last_log, wanted);
    ck_assert_str_eq(answer.reason, "pnet_sim_file cannot be used");
}

PX_TEST(without_a_file_it_declines)
{
    struct px_query answer;

    ck_assert(!open_sim(NULL, &answer));
    ck_assert_str_eq(answer.reason, "pnet_sim_file is not set");
    ck_assert_str_eq(last_log, "");
}

PX_TEST(what_is_no_regular_file_is_not_read)
{
    struct {
        const char *file;
    } conf = {px_test_dir()};
    struct px_query answer = {0};

    ok(px_pnet_sim_component.open(&services, &conf, &sim));
    ck_assert_int_ne(px_pnet_sim_component.query(sim, &answer), PMIX_SUCCESS);
    ck_assert_ptr_nonnull(
        strstr(last_log, "expected a regular file of at most 1024 KiB"));
}

static struct sim_fabric *parse(const char *text)
{
    struct sim_error error = {0};
    struct sim_fabric *f = NULL;

    ck_assert_msg(!sim_fabric_parse(text, strlen(text), &f, &error), "%s", error.text);
    return f;
}

static const struct {
    const char *names, *name;
    int64_t i; /* -1: absent */
} namings[] = {
    {"n[0-9]", "n0", 0},
    {"n[0-9]", "n9", 9},
    {"n[0-9]", "n10", -1},
    {"n[0-9]", "n", -1},
    {"n[0-9]", "n07", -1},
    {"n[0-9]", "n7x", -1},
    {"n[0-9]", "m7", -1},
    {"n[0-9]", "", -1},
    {"n[001-100]", "n001", 0},
    {"n[001-100]", "n100", 99},
    {"n[001-100]", "n1", -1},
    {"n[001-100]", "n0001", -1},
    {"n[2,5-7].x", "n2.x", 0},
    {"n[2,5-7].x", "n6.x", 2},
    {"n[2,5-7].x", "n3.x", -1},
    {"n[2,5-7].x", "n6", -1},
    {"n[8-12]", "n99999999999", -1},
    {"login", "login", 0},
    {"login", "login1", -1},
};

PX_TEST(names_are_found_and_written_the_same)
{
    char text[300], again[SIM_MAX_NAME + 1];

    for (size_t i = 0; i < PX_COUNT(namings); i++) {
        snprintf(text, sizeof(text),
                 "{" PLANE ",\"nodes\":[{\"names\":\"%s\",\"nics\":[" NIC "]}]}",
                 namings[i].names);
        struct sim_fabric *f = parse(text);
        struct sim_node node = sim_fabric_find(f, namings[i].name);

        ck_assert_msg(!node.group == (namings[i].i < 0), "%s in %s", namings[i].name,
                      namings[i].names);
        if (node.group) {
            ck_assert_int_eq(node.i, namings[i].i);
            sim_names_put(&node.group->names, node.i, again);
            ck_assert_str_eq(again, namings[i].name);
        }
        sim_fabric_free(f);
    }
}

/* ---- costs ------------------------------------------------------------------------- */

#define COSTED(links, nodes)                                                               \
    "{\"name\":\"f\",\"planes\":[{\"name\":\"p\",\"speed\":100},"                          \
    "{\"name\":\"q\",\"speed\":50}],\"switches\":[{\"names\":\"l[0-1]\",\"links\":[" links \
    "]},{\"names\":\"s\"},{\"names\":\"t\"}],\"nodes\":[" nodes "]}"
#define NODE(names, plane, at)                                                       \
    "{\"names\":\"" names "\",\"nics\":[{\"name\":\"s0\",\"plane\":\"" plane "\"" at \
    "}]}"
#define AT(s) ",\"switch\":\"" s "\""
#define NONE  UINT16_MAX

static const struct {
    const char *text;
    uint32_t plane, n;
    uint16_t costs[16]; /* matrix of n times n devices */
} matrices[] = {
    /* two nodes per leaf: through one switch, or over the spine */
    {COSTED("{\"to\":\"s\",\"speed\":100}", NODE("n[0-3]", "p", AT("l[0-1]"))),
     UINT32_MAX,
     4,
     {0, 2, 4, 4, 2, 0, 4, 4, 4, 4, 0, 2, 4, 4, 2, 0}},
    /* faster links between switches make the device links relatively expensive */
    {COSTED("{\"to\":\"s\",\"speed\":400}", NODE("n[0-1]", "p", AT("l[0-1]"))),
     UINT32_MAX,
     2,
     {0, 10, 10, 0}},
    {COSTED("{\"to\":\"s\",\"speed\":30}", NODE("n[0-1]", "p", AT("l[0-1]"))),
     UINT32_MAX,
     2,
     {0, 10, 10, 0}},
    /* the cheapest path, independent of the order of links */
    {COSTED("{\"to\":\"s\",\"speed\":10},{\"to\":\"l[0-1]\",\"speed\":100}",
            NODE("n[0-1]", "p", AT("l[0-1]"))),
     UINT32_MAX,
     2,
     {0, 3, 3, 0}},
    /* without a path, without a switch */
    {COSTED("", NODE("n[0-1]", "p", AT("l[0-1]")) "," NODE("x", "p", "")),
     UINT32_MAX,
     3,
     {0, NONE, NONE, NONE, 0, NONE, NONE, NONE, 0}},
    /* of one plane only */
    {COSTED("{\"to\":\"s\",\"speed\":100}",
            NODE("a", "p", AT("s")) "," NODE("b", "q", AT("s")) "," NODE("c", "p",
                                                                         AT("s"))),
     0,
     2,
     {0, 2, 2, 0}},
    {COSTED("{\"to\":\"s\",\"speed\":1}",
            NODE("a", "p", AT("s")) "," NODE("b", "q", AT("s"))),
     UINT32_MAX,
     2,
     {0, 3, 3, 0}},
};

PX_TEST_LOOP(costs_are_links_by_their_speed, PX_COUNT(matrices))
{
    struct sim_fabric *f = parse(matrices[_i].text);
    PX_AUTOFREE uint16_t *costs = NULL;
    uint32_t n;

    ok(sim_costs(f, matrices[_i].plane, &costs, &n));
    ck_assert_uint_eq(n, matrices[_i].n);
    for (uint32_t i = 0; i < n * n; i++)
        ck_assert_msg(costs[i] == matrices[_i].costs[i], "%u: %u, expected %u", i,
                      costs[i], matrices[_i].costs[i]);
    sim_fabric_free(f);
}

PX_TEST(a_matrix_that_is_too_large_is_refused)
{
    struct sim_fabric *f = parse("{" PLANE
                                 ",\"nodes\":[" NODE("n[0-1024]", "p", "") "]}");
    uint16_t *costs;
    uint32_t n;

    fails(sim_costs(f, UINT32_MAX, &costs, &n), OUT_OF_RESOURCE);
    sim_fabric_free(f);
}

/* ---- a job ------------------------------------------------------------------------- */

/* Two planes; nodes m have one of them and begin in the middle of the shape. */
static const char two_groups[] =
    "{\"name\":\"f\",\"vendor\":\"v\",\"shape\":[2,3],\"planes\":[{\"name\":\"p\"},{\"name\":\"q\"}],"
    "\"switches\":[{\"names\":\"l\"}],\"nodes\":["
    "{\"names\":\"n[0-3]\",\"nics\":[{\"name\":\"s0\",\"plane\":\"p\",\"switch\":\"l\"},"
    "{\"name\":\"s1\",\"plane\":\"q\"}]},"
    "{\"names\":\"m[0-1]\",\"nics\":[{\"name\":\"s0\",\"plane\":\"q\",\"at\":[1,0]}]}]}";

struct values {
    px_infos job;
    px_infos ranks[8];
};

static pmix_status_t on_put(void *arg, pmix_rank_t rank, const pmix_info_t *info)
{
    struct values *v = arg;

    if (rank != PMIX_RANK_WILDCARD && rank >= PX_COUNT(v->ranks))
        ck_abort_msg("a value for rank %u", rank); /* ck_assert would allocate */
    return px_infos_add_copy(rank == PMIX_RANK_WILDCARD ? &v->job : &v->ranks[rank],
                             info, 1);
}

static void values_free(struct values *v)
{
    px_infos_cleanup(&v->job);
    for (size_t i = 0; i < PX_COUNT(v->ranks); i++)
        px_infos_cleanup(&v->ranks[i]);
}

/* Ranks 0 and 2 on n2, 1 on m1, 3 on a node outside of the fabric, 4 without a node. */
static const char *const nodes[] = {"n2", "elsewhere", "m1"};
static const uint32_t node_of[] = {0, 2, 0, 1, UINT32_MAX};
static const uint32_t local_of[] = {0, 0, 1, 0, UINT32_MAX};
static const struct px_pnet_job a_job = {.size = sizeof(a_job),
                                         .nspace = "job",
                                         .n_nodes = 3,
                                         .n_procs = 5,
                                         .nodes = nodes,
                                         .node_of = node_of,
                                         .local_of = local_of,
                                         .most_on_a_node = 2,
                                         .this_node = 2};

static void launch(const struct px_pnet_job *job)
{
    PX_AUTO(px_infos) share = {0};

    ok(ops()->gather(sim, job, on_add, &share));
    ok(ops()->apply(sim, job->nspace, share.v, share.n));
}

static void is_endpoint(const px_infos *rank, size_t i, const char *uuid,
                        const uint8_t wanted[12])
{
    const pmix_endpoint_t *e = rank->v[0].value.data.darray->array;

    ck_assert_str_eq(e[i].uuid, uuid);
    ck_assert_str_eq(e[i].osname, uuid + strlen(uuid) - 2);
    ck_assert_uint_eq(e[i].endpt.size, 12);
    ck_assert_mem_eq(e[i].endpt.bytes, wanted, 12);
}

static const pmix_info_t *in_node(const struct values *v, const char *host,
                                  const char *key)
{
    const pmix_info_t *info;
    size_t n;

    for (size_t i = 0; i < v->job.n; i++)
        if (PMIx_Check_key(v->job.v[i].key, PMIX_NODE_INFO_ARRAY) &&
            px_value_infos(&v->job.v[i].value, &info, &n) &&
            strcmp(px_info_str(info, n, PMIX_HOSTNAME), host) == 0)
            return px_info_find(info, n, key);
    return NULL;
}

PX_TEST(addresses_follow_from_the_maps)
{
    struct values v = {0};

    start(two_groups);
    launch(&a_job);
    ok(ops()->values(sim, &a_job, on_put, &v));
    for (int rank = 0; rank < 5; rank++)
        ck_assert_uint_eq(v.ranks[rank].n, rank < 3);
    ck_assert_uint_eq(v.ranks[0].v[0].value.data.darray->size, 2);
    is_endpoint(&v.ranks[0], 0, "sim://n2::s0",
                (uint8_t[]){0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0});
    is_endpoint(&v.ranks[2], 1, "sim://n2::s1",
                (uint8_t[]){0, 0, 0, 2, 0, 1, 0, 1, 0, 0, 0, 1});
    is_endpoint(&v.ranks[1], 0, "sim://m1::s0",
                (uint8_t[]){0, 0, 0, 5, 0, 1, 0, 0, 0, 0, 0, 0});
    ck_assert_str_eq(px_info_str(v.job.v, v.job.n, PMIX_FABRIC_IDENTIFIER), "f");
    ck_assert_str_eq(px_info_str(v.job.v, v.job.n, PMIX_FABRIC_SHAPE_STRING), "2x3");
    const pmix_info_t *at = in_node(&v, "m1", PMIX_FABRIC_COORDINATES);
    const pmix_geometry_t *g = at->value.data.darray->array;
    ck_assert_uint_eq(g->coordinates->dims, 2);
    ck_assert_uint_eq(g->coordinates->coord[0], 1);
    ck_assert_uint_eq(g->coordinates->coord[1], 1);
    ck_assert_ptr_nonnull(in_node(&v, "m1", PMIX_FABRIC_DEVICES)); /* of this node */
    ck_assert_ptr_null(in_node(&v, "n2", PMIX_FABRIC_DEVICES));
    values_free(&v);
    ops()->forget(sim, "job");
    fails(ops()->values(sim, &a_job, on_put, &v), NOT_FOUND);
}

PX_TEST(a_job_gets_what_it_needs_of_the_fabric)
{
    static const char *const of_m[] = {"m0"};
    struct px_pnet_job job = a_job;
    PX_AUTO(px_infos) share = {0}, none = {0};

    start(two_groups);
    job.n_nodes = 1;
    job.nodes = of_m;
    ok(ops()->gather(sim, &job, on_add, &share));
    ck_assert_uint_eq(share.n, 1);
    ck_assert_str_eq(
        share.v[0].value.data.string,
        "{\"name\":\"f\",\"vendor\":\"v\",\"shape\":[2,3],\"planes\":[{\"name\":\"p\"},"
        "{\"name\":\"q\"}],\"nodes\":[{\"names\":\"m[0-1]\",\"nics\":[{\"name\":\"s0\","
        "\"plane\":\"q\",\"at\":[1,0]}],\"first\":4}]}");
    job.nodes = &nodes[1]; /* the node outside of the fabric */
    ok(ops()->gather(sim, &job, on_add, &none));
    ck_assert_uint_eq(none.n, 0);
}

PX_TEST(an_unusable_fabric_is_refused_and_reported)
{
    pmix_info_t info = {.key = "tenon.sim.fabric",
                        .value = {.type = PMIX_STRING, .data.string = (char *)"{}"}};

    start(FABRIC);
    launch(&a_job); /* none of the job's nodes is in it */
    fails(ops()->apply(sim, "job", &info, 1), BAD_PARAM);
    ck_assert_str_eq(last_log,
                     "cannot use the fabric of job job: name: expected a text of "
                     "at most 63 bytes without spaces");
    info.value.data.string = NULL;
    fails(ops()->apply(sim, "job", &info, 1), BAD_PARAM);
    ok(ops()->envars(sim, "job", NULL, NULL)); /* the previous job is still stored */
}

/* ---- fabrics ----------------------------------------------------------------------- */

static pmix_status_t try_register(const char *key, const char *value, px_infos *out)
{
    pmix_info_t info;

    ok(PMIx_Info_load(&info, key, value, PMIX_STRING));
    pmix_status_t rc = ops()->register_fabric(sim, &info, 1, on_add, out);
    PMIx_Info_destruct(&info);
    return rc;
}

static size_t size_in(const px_infos *l, const char *key)
{
    uint64_t n = 0;
    const pmix_info_t *info = px_info_find(l->v, l->n, key);

    ck_assert_msg(info && px_value_to_u64(&info->value, &n), "no %s", key);
    return n;
}

static const struct {
    const char *key, *value;
    size_t n_devices; /* 0: not found */
} fabrics[] = {
    {PMIX_FABRIC_IDENTIFIER, "f", 10}, {PMIX_FABRIC_IDENTIFIER, "g", 0},
    {PMIX_FABRIC_PLANE, "p", 4},       {PMIX_FABRIC_PLANE, "q", 6},
    {PMIX_FABRIC_PLANE, "r", 0},       {PMIX_FABRIC_VENDOR, "v", 10},
    {PMIX_FABRIC_VENDOR, "w", 0},
};

PX_TEST_LOOP(fabrics_are_found_by_name_vendor_and_plane, PX_COUNT(fabrics))
{
    const size_t n = fabrics[_i].n_devices;
    PX_AUTO(px_infos) out = {0};
    const pmix_info_t *devices;
    size_t n_devices;

    start(two_groups);
    pmix_status_t rc = try_register(fabrics[_i].key, fabrics[_i].value, &out);
    ck_assert_int_eq(rc, n ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
    if (n == 0)
        return;
    ck_assert_uint_eq(size_in(&out, PMIX_FABRIC_NUM_DEVICES), n);
    const pmix_info_t *costs = px_info_find(out.v, out.n, PMIX_FABRIC_COST_MATRIX);
    ck_assert_int_eq(costs->value.type, PMIX_POINTER);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(((uint16_t *)costs->value.data.ptr)[i * n + i], 0);
    const pmix_info_t *list = px_info_find(out.v, out.n, PMIX_FABRIC_DEVICES);
    ck_assert(px_value_infos(&list->value, &devices, &n_devices));
    ck_assert_uint_eq(n_devices, n);
}

PX_TEST(an_update_reads_the_file_anew_if_it_has_changed)
{
    PX_AUTO(px_infos) first = {0}, same = {0}, more = {0}, worse = {0};

    start(FABRIC);
    ok(try_register(PMIX_FABRIC_PLANE, "p", &first));
    const size_t number = size_in(&first, PMIX_FABRIC_INDEX);
    const pmix_info_t *costs = px_info_find(first.v, first.n, PMIX_FABRIC_COST_MATRIX);
    ok(ops()->update_fabric(sim, number, on_add, &same));
    ck_assert_ptr_eq(
        px_info_find(same.v, same.n, PMIX_FABRIC_COST_MATRIX)->value.data.ptr,
        costs->value.data.ptr);
    write_file("{" PLANE ","
               "\"nodes\":[" NODE("n[0-99]", "p", "") "]}");
    ok(ops()->update_fabric(sim, number, on_add, &more));
    ck_assert_uint_eq(size_in(&more, PMIX_FABRIC_NUM_DEVICES), 100);
    ck_assert_uint_eq(*(uint16_t *)costs->value.data.ptr, 0); /* the old value stays */
    write_file("{");
    fails(ops()->update_fabric(sim, number, on_add, &worse), BAD_PARAM);
    ck_assert_ptr_nonnull(strstr(last_log, "line 1"));
    ok(try_register(PMIX_FABRIC_PLANE, "p", &worse)); /* unchanged */
    ck_assert_uint_eq(size_in(&worse, PMIX_FABRIC_NUM_DEVICES), 100);
    ops()->deregister_fabric(sim, number);
    fails(ops()->update_fabric(sim, number, on_add, &worse), NOT_FOUND);
    ops()->deregister_fabric(sim, number);
}

/* ---- inventory --------------------------------------------------------------------- */

static const char *describe_this_node(void)
{
    static char text[400];
    char host[SIM_MAX_NAME + 1] = "";

    gethostname(host, sizeof(host) - 1);
    snprintf(text, sizeof(text),
             "{" PLANE ",\"nodes\":[{\"names\":\"%s\",\"nics\":[" NIC "]}]}", host);
    return text;
}

static pmix_link_state_t state_in(const px_infos *l)
{
    const pmix_info_t *device = NULL, *facts = NULL;
    size_t n;

    ck_assert(px_value_infos(&px_info_find(l->v, l->n, PMIX_FABRIC_DEVICES)->value,
                             &device, &n));
    ck_assert(px_value_infos(&device->value, &facts, &n));
    return px_info_find(facts, n, PMIX_FABRIC_DEVICE_STATE)->value.data.linkstate;
}

PX_TEST(an_inventory_shows_what_works)
{
    PX_AUTO(px_infos) here = {0}, before = {0}, after = {0};

    start(describe_this_node());
    ok(ops()->collect_inventory(sim, NULL, 0, on_add, &here));
    ck_assert_uint_eq(state_in(&here), PMIX_LINK_UP);
    stop();
    start(describe_this_node()); /* inventory of a node, delivered to a scheduler */
    ok(try_register(PMIX_FABRIC_PLANE, "p", &before));
    ck_assert_uint_eq(state_in(&before), PMIX_LINK_STATE_UNKNOWN);
    ok(ops()->deliver_inventory(sim, here.v, here.n, NULL, 0));
    ok(try_register(PMIX_FABRIC_PLANE, "p", &after));
    ck_assert_uint_eq(state_in(&after), PMIX_LINK_UP);
}

PX_TEST(an_inventory_of_something_else_is_refused)
{
    PX_AUTO(px_infos) here = {0};

    start(describe_this_node());
    ok(ops()->collect_inventory(sim, NULL, 0, on_add, &here));
    ok(ops()->deliver_inventory(sim, NULL, 0, NULL,
                                0)); /* from a node without an inventory */
    fails(ops()->deliver_inventory(sim, here.v, 1, NULL, 0), BAD_PARAM);
    pmix_value_t *v = &here.v[1].value;
    v->data.darray->type = PMIX_BYTE;
    fails(ops()->deliver_inventory(sim, here.v, 2, NULL, 0), BAD_PARAM);
    v->data.darray->type = PMIX_INFO;
    stop();
    start(FABRIC); /* without this host */
    fails(ops()->deliver_inventory(sim, here.v, 2, NULL, 0), BAD_PARAM);
}

PX_TEST_MAIN("components/sim", NULL, stop)
