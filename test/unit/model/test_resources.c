/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds for every job that does not say otherwise. */
#include "core/model/resources.h"

#include <string.h>

#include "alloc_fail.h"
#include "model_test.h"

#define CLUSTER PMIX_CLUSTER_ID

static struct px_model *server_with_job(struct px_nspace **ns)
{
    struct px_model *m = model_make("n0", JOB, PMIX_RANK_UNDEF);
    px_infos l = {0};

    slurm_job(&l, 0);
    *ns = nspace_of(m, JOB);
    must_register(m, *ns, &l);
    return m;
}

static pmix_status_t set(struct px_model *m, const char *key, const char *value)
{
    PX_AUTO(px_infos) l = {0};

    add_str(&l, key, value);
    return px_resources_set(m, l.v, l.n);
}

static pmix_status_t drop(struct px_model *m, const char *key)
{
    PX_AUTO(px_infos) l = {0};

    add_str(&l, key, "");
    return px_resources_drop(m, l.v, l.n);
}

PX_TEST(every_job_has_them_until_they_are_dropped)
{
    struct px_nspace *ns;
    struct px_model *m = server_with_job(&ns);

    assert_none(m, ns, ALL, CLUSTER);
    ok(set(m, CLUSTER, "west"));
    assert_str(m, ns, ALL, CLUSTER, "west");
    ok(set(m, CLUSTER, "east"));
    ck_assert_uint_eq(m->resources.n, 1);
    assert_str(m, ns, ALL, CLUSTER, "east");
    ok(drop(m, PMIX_RM_NAME)); /* not there */
    assert_str(m, ns, ALL, CLUSTER, "east");
    ok(drop(m, CLUSTER));
    assert_none(m, ns, ALL, CLUSTER);
    px_model_destroy(m);
}

PX_TEST(what_a_job_says_itself_comes_first)
{
    struct px_nspace *ns;
    struct px_model *m = server_with_job(&ns);
    px_infos own = {0};

    ok(set(m, CLUSTER, "west"));
    ok(set(m, PMIX_JOB_SIZE, "many"));
    slurm_job(&own, 0);
    add_str(&own, CLUSTER, "mine");
    must_register(m, ns, &own);
    assert_str(m, ns, ALL, CLUSTER, "mine");
    assert_num(m, ns, ALL, PMIX_JOB_SIZE, PMIX_UINT32, 4); /* which the maps say */
    px_model_destroy(m);
}

PX_TEST(clients_are_told_them_with_their_job)
{
    struct px_nspace *ns;
    struct px_model *m = server_with_job(&ns), *client;
    PX_AUTO(px_buf) answer = {0};

    ok(set(m, CLUSTER, "west"));
    ok(set(m, PMIX_JOB_SIZE, "many"));
    answer = pack_answer(m, ns, px_codec_default, false);
    client = model_make("n0", JOB, 1);
    ok(read_answer(client, nspace_of(client, JOB), px_codec_default, &answer));
    assert_str(client, nspace_of(client, JOB), ALL, CLUSTER, "west");
    assert_num(client, nspace_of(client, JOB), ALL, PMIX_JOB_SIZE, PMIX_UINT32, 4);
    px_model_destroy(client);
    px_model_destroy(m);
}

PX_TEST(the_later_of_two_values_counts)
{
    struct px_nspace *ns;
    struct px_model *m = server_with_job(&ns);
    PX_AUTO(px_infos) l = {0};

    add_str(&l, CLUSTER, "west");
    add_str(&l, CLUSTER, "east");
    ok(px_resources_set(m, l.v, l.n));
    ck_assert_uint_eq(m->resources.n, 1);
    assert_str(m, ns, ALL, CLUSTER, "east");
    px_model_destroy(m);
}

PX_TEST(one_bad_key_and_nothing_changes)
{
    struct px_nspace *ns;
    struct px_model *m = server_with_job(&ns);
    PX_AUTO(px_infos) l = {0};
    px_infos node = {0};

    ok(set(m, CLUSTER, "west"));
    add_str(&l, CLUSTER, "east");
    add_str(&node, PMIX_HOSTNAME, "n0");
    add_array(&l, PMIX_NODE_INFO_ARRAY, &node);
    ck_assert_int_eq(px_resources_set(m, l.v, l.n), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(px_resources_drop(m, l.v, l.n), PMIX_ERR_NOT_SUPPORTED);
    l.v[1].key[0] = '\0';
    ck_assert_int_eq(px_resources_set(m, l.v, l.n), PMIX_ERR_BAD_PARAM);
    memset(l.v[1].key, 'k', sizeof l.v[1].key);
    ck_assert_int_eq(px_resources_drop(m, l.v, l.n), PMIX_ERR_BAD_PARAM);
    assert_str(m, ns, ALL, CLUSTER, "west");
    px_model_destroy(m);
}

PX_TEST(out_of_memory_changes_nothing)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    struct px_nspace *ns;
    struct px_model *m = server_with_job(&ns);
    PX_AUTO(px_infos) l = {0};
    unsigned nth = 1;

    ok(set(m, CLUSTER, "west"));
    add_str(&l, PMIX_RM_NAME, "rm");
    for (;; nth++) {
        px_alloc_fail_at(nth);
        pmix_status_t rc = px_resources_set(m, l.v, l.n);
        if (!px_alloc_fail_end()) {
            ok(rc);
            break;
        }
        ck_assert_int_eq(rc, PMIX_ERR_NOMEM);
        ck_assert_uint_eq(m->resources.n, 1);
    }
    ck_assert_uint_gt(nth, 2);
    assert_str(m, ns, ALL, PMIX_RM_NAME, "rm");
    assert_str(m, ns, ALL, CLUSTER, "west");
    px_model_destroy(m);
}

PX_TEST_MAIN("model/resources", NULL, NULL)
