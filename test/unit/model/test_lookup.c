/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the tables, realms and facts answers a Get. */
#include "model_test.h"
#include "core/model/lookup.h"

#include <string.h>

static struct px_model *model;
static struct px_nspace *ns;
static px_infos q;

static void setup(void)
{
    px_infos l = {0};

    model = model_make("n1", "job", 3);
    ns = model->own;
    slurm_job(&l, 1);
    must_register(model, ns, &l);
}

static void teardown(void)
{
    px_infos_cleanup(&q);
    px_model_destroy(model);
}

static void put(enum px_gds_table table, pmix_rank_t rank, const char *key,
                const char *s)
{
    pmix_value_t v = {.type = PMIX_STRING, .data.string = (char *)(uintptr_t)s};

    ok(px_store_put(&ns->store, table, rank, key, &v));
}

static void assert_found(const struct px_lookup *l, const char *s)
{
    pmix_value_t v;

    ok(px_lookup_find(model, ns, l, &v));
    ck_assert_int_eq(v.type, PMIX_STRING);
    ck_assert_str_eq(v.data.string, s);
    px_type_destruct(PMIX_VALUE, &v);
}

static void assert_missing(const struct px_lookup *l)
{
    pmix_value_t v;

    ck_assert_int_eq(px_lookup_find(model, ns, l, &v), PMIX_ERR_NOT_FOUND);
}

PX_TEST(own_values_come_before_the_hosts_and_those_before_what_others_put)
{
    struct px_lookup l;

    put(PX_GDS_REMOTE, 1, "k", "remote");
    px_lookup_init(&l, "k", 1, NULL, 0);
    assert_missing(&l);
    l.want_remote = true;
    assert_found(&l, "remote");
    put(PX_GDS_LOCAL, 1, "k", "local");
    assert_found(&l, "remote");
    l.want_local = true;
    assert_found(&l, "local");
    put(PX_GDS_JOB, 1, "k", "host");
    assert_found(&l, "host");
    put(PX_GDS_INTERNAL, 1, "k", "own");
    assert_found(&l, "own");
    l.skip_internal = true;
    assert_found(&l, "host");
}

PX_TEST(what_a_program_put_is_found_before_what_would_follow)
{
    put(PX_GDS_REMOTE, 0, PMIX_LOCALITY_STRING, "here");
    assert_str(model, ns, 0, PMIX_LOCALITY_STRING, "here");
    assert_str(model, ns, 0, PMIX_HOSTNAME, "n0");
    put(PX_GDS_REMOTE, 0, PMIX_HOSTNAME, "as-put");
    assert_str(model, ns, 0, PMIX_HOSTNAME, "as-put");
}

PX_TEST(node_keys_without_a_node_are_of_this_node)
{
    assert_str(model, ns, ALL, PMIX_LOCAL_PEERS, "3");
    assert_num(model, ns, ALL, PMIX_NODEID, PMIX_UINT32, 1);
    add_flag(&q, PMIX_NODE_INFO, true);
    pmix_value_t v;
    ok(get(model, ns, ALL, PMIX_LOCAL_SIZE, &q, &v));
    ck_assert_uint_eq(v.data.uint32, 1);
}

static void assert_of_node(const char *peers, uint32_t size)
{
    pmix_value_t v;

    ok(get(model, ns, ALL, PMIX_LOCAL_PEERS, &q, &v));
    ck_assert_str_eq(v.data.string, peers);
    px_type_destruct(PMIX_VALUE, &v);
    ok(get(model, ns, ALL, PMIX_LOCAL_SIZE, &q, &v));
    ck_assert_uint_eq(v.data.uint32, size);
}

PX_TEST(a_node_is_named_by_host_name_or_id)
{
    add_flag(&q, PMIX_NODE_INFO, true);
    add_str(&q, PMIX_HOSTNAME, "n0");
    assert_of_node("0,1,2", 3);
    px_infos_cleanup(&q);

    add_str(&q, PMIX_HOSTNAME, "n0"); /* the name alone says that a node is meant */
    assert_of_node("0,1,2", 3);
    px_infos_cleanup(&q);

    add_str(&q, PMIX_HOSTNAME, "n0.cluster.org");
    assert_of_node("0,1,2", 3);
    px_infos_cleanup(&q);

    add_num(&q, PMIX_NODEID, 0, PMIX_INT);
    assert_of_node("0,1,2", 3);
    px_infos_cleanup(&q);

    add_num(&q, PMIX_NODEID, 1, PMIX_UINT32);
    assert_of_node("3", 1);
    px_infos_cleanup(&q);
}

PX_TEST(an_unknown_node_has_nothing)
{
    pmix_value_t v;

    add_flag(&q, PMIX_NODE_INFO, true);
    add_str(&q, PMIX_HOSTNAME, "n7");
    ck_assert_int_eq(get(model, ns, ALL, PMIX_LOCAL_PEERS, &q, &v), PMIX_ERR_NOT_FOUND);
    px_infos_cleanup(&q);
    add_num(&q, PMIX_NODEID, 7, PMIX_UINT32);
    ck_assert_int_eq(get(model, ns, ALL, PMIX_LOCAL_PEERS, &q, &v), PMIX_ERR_NOT_FOUND);
}

PX_TEST(keys_of_a_rank_are_answered_in_the_node_realm_too)
{
    pmix_value_t v;

    add_flag(&q, PMIX_NODE_INFO, true);
    ok(get(model, ns, 0, PMIX_HOSTNAME, &q, &v));
    ck_assert_str_eq(v.data.string, "n0");
    px_type_destruct(PMIX_VALUE, &v);
    ok(get(model, ns, ALL, PMIX_HOSTNAME, &q, &v));
    ck_assert_str_eq(v.data.string, "n1");
    px_type_destruct(PMIX_VALUE, &v);
}

PX_TEST(an_application_is_ones_own_unless_named)
{
    pmix_value_t v;

    put(PX_GDS_APP, 0, PMIX_WDIR, "/zero");
    put(PX_GDS_APP, 1, PMIX_WDIR, "/one");
    assert_str(model, ns, ALL, PMIX_WDIR, "/zero");
    model->appnum = 1;
    assert_str(model, ns, ALL, PMIX_WDIR, "/one");
    add_flag(&q, PMIX_APP_INFO, true);
    add_num(&q, PMIX_APPNUM, 0, PMIX_UINT32);
    ok(get(model, ns, ALL, PMIX_WDIR, &q, &v));
    ck_assert_str_eq(v.data.string, "/zero");
    px_type_destruct(PMIX_VALUE, &v);
}

PX_TEST(session_values_are_found_by_any_rank)
{
    pmix_value_t v;

    assert_num(model, ns, ALL, PMIX_UNIV_SIZE, PMIX_UINT32, 4);
    assert_num(model, ns, 1, PMIX_UNIV_SIZE, PMIX_UINT32, 4);
    add_flag(&q, PMIX_SESSION_INFO, true);
    ok(get(model, ns, ALL, PMIX_UNIV_SIZE, &q, &v));
    ok(get(model, ns, ALL, PMIX_NUM_NODES, &q, &v));
    ck_assert_uint_eq(v.data.uint32, 2);
    add_num(&q, PMIX_SESSION_ID, 5, PMIX_UINT32);
    ck_assert_int_eq(get(model, ns, ALL, PMIX_UNIV_SIZE, &q, &v), PMIX_ERR_NOT_FOUND);
}

PX_TEST(keys_of_the_job_are_not_those_of_a_rank)
{
    assert_none(model, ns, 1, PMIX_JOB_SIZE);
    assert_none(model, ns, 1, PMIX_LOCAL_PEERS);
    assert_none(model, ns, ALL, PMIX_LOCAL_RANK);
}

PX_TEST(an_undefined_rank_means_whoever_has_the_key)
{
    put(PX_GDS_REMOTE, 3, "port", "1234");
    assert_str(model, ns, PMIX_RANK_UNDEF, "port", "1234");
    assert_num(model, ns, PMIX_RANK_UNDEF, PMIX_JOB_SIZE, PMIX_UINT32, 4);
    assert_str(model, ns, PMIX_RANK_UNDEF, PMIX_LOCAL_PEERS, "3");
    assert_none(model, ns, PMIX_RANK_UNDEF, "no.such.key");
}

PX_TEST(other_special_ranks_have_only_what_the_job_has)
{
    assert_none(model, ns, PMIX_RANK_LOCAL_NODE, PMIX_HOSTNAME "x");
    assert_num(model, ns, PMIX_RANK_LOCAL_NODE, PMIX_JOB_SIZE, PMIX_UINT32, 4);
}

PX_TEST(qualifiers_choose_the_realm)
{
    static const struct {
        const char *info, *key;
        enum px_key_realm realm;
    } rows[] = {
        {PMIX_NODE_INFO, "k", PX_KEY_NODE},
        {PMIX_APP_INFO, "k", PX_KEY_APP},
        {PMIX_SESSION_INFO, "k", PX_KEY_SESSION},
        {PMIX_JOB_INFO, "k", PX_KEY_JOB},
        {PMIX_OPTIONAL, PMIX_LOCAL_PEERS, PX_KEY_JOB},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_lookup l;
        pmix_value_t none = {.type = PMIX_UNDEF}; /* counts as true */
        ok(px_infos_add_value(&q, rows[i].info, &none));
        px_lookup_init(&l, rows[i].key, 0, q.v, q.n);
        ck_assert_int_eq(l.realm, rows[i].realm);
        ck_assert_ptr_null(l.hostname);
        ck_assert_uint_eq(l.node_id, UINT32_MAX);
        ck_assert_uint_eq(l.app, UINT32_MAX);
        ck_assert_uint_eq(l.session, UINT32_MAX);
        px_infos_cleanup(&q);
    }
}

PX_TEST_MAIN("model/lookup", setup, teardown)
