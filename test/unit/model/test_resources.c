/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds for every job that does not say otherwise. */

#include <string.h>

#include "alloc_fail.h"
#include "model_test.h"

#define CLUSTER PMIX_CLUSTER_ID

static void setup(void)
{
    px_infos l = {0};

    serve("n0");
    slurm_job(&l, 0);
    learn(&l);
}

static pmix_status_t set(const char *key, const char *value)
{
    PX_AUTO(px_infos) l = {0};

    add_str(&l, key, value);
    return px_resources_set(model, l.v, l.n);
}

static pmix_status_t drop(const char *key)
{
    PX_AUTO(px_infos) l = {0};

    add_str(&l, key, "");
    return px_resources_drop(model, l.v, l.n);
}

PX_TEST(every_job_has_them_until_they_are_dropped)
{
    PX_AUTO(px_infos) l = {0};

    assert_none(ALL, CLUSTER);
    ok(set(CLUSTER, "west"));
    assert_str(ALL, CLUSTER, "west");
    add_str(&l, CLUSTER, "west");
    add_str(&l, CLUSTER, "east"); /* the later of two values counts */
    ok(px_resources_set(model, l.v, l.n));
    ck_assert_uint_eq(model->resources.n, 1);
    assert_str(ALL, CLUSTER, "east");
    ok(drop(PMIX_RM_NAME)); /* not there */
    assert_str(ALL, CLUSTER, "east");
    ok(drop(CLUSTER));
    assert_none(ALL, CLUSTER);
}

PX_TEST(what_a_job_says_itself_comes_first)
{
    px_infos own = {0};

    ok(set(CLUSTER, "west"));
    ok(set(PMIX_JOB_SIZE, "many"));
    slurm_job(&own, 0);
    add_str(&own, CLUSTER, "mine");
    learn(&own);
    assert_str(ALL, CLUSTER, "mine");
    assert_num(ALL, PMIX_JOB_SIZE, PMIX_UINT32, 4); /* which the maps say */
}

PX_TEST(clients_are_told_them_with_their_job)
{
    ok(set(CLUSTER, "west"));
    ok(set(PMIX_JOB_SIZE, "many"));
    PX_AUTO(px_buf) answer = pack_answer(px_codec_default, false);
    be("n0", 1);
    ok(read_answer(px_codec_default, &answer));
    assert_str(ALL, CLUSTER, "west");
    assert_num(ALL, PMIX_JOB_SIZE, PMIX_UINT32, 4);
}

PX_TEST(one_bad_key_and_nothing_changes)
{
    PX_AUTO(px_infos) l = {0};
    px_infos node = {0};

    ok(set(CLUSTER, "west"));
    add_str(&l, CLUSTER, "east");
    add_str(&node, PMIX_HOSTNAME, "n0");
    add_array(&l, PMIX_NODE_INFO_ARRAY, &node);
    ck_assert_int_eq(px_resources_set(model, l.v, l.n), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(px_resources_drop(model, l.v, l.n), PMIX_ERR_NOT_SUPPORTED);
    l.v[1].key[0] = '\0';
    ck_assert_int_eq(px_resources_set(model, l.v, l.n), PMIX_ERR_BAD_PARAM);
    memset(l.v[1].key, 'k', sizeof l.v[1].key);
    ck_assert_int_eq(px_resources_drop(model, l.v, l.n), PMIX_ERR_BAD_PARAM);
    assert_str(ALL, CLUSTER, "west");
}

PX_TEST(out_of_memory_changes_nothing)
{
    PX_TEST_NEEDS_ALLOC;
    PX_AUTO(px_infos) l = {0};

    ok(set(CLUSTER, "west"));
    add_str(&l, PMIX_RM_NAME, "rm");
    for (unsigned nth = 1, failed = true; failed; nth++) {
        px_alloc_fail_at(nth);
        pmix_status_t rc = px_resources_set(model, l.v, l.n);
        failed = px_alloc_fail_end();
        ck_assert_int_eq(rc, failed ? PMIX_ERR_NOMEM : PMIX_SUCCESS);
        ck_assert_uint_eq(model->resources.n, failed ? 1 : 2);
    }
    assert_str(ALL, PMIX_RM_NAME, "rm");
    assert_str(ALL, CLUSTER, "west");
}

PX_TEST_MAIN("model/resources", setup, model_teardown)
