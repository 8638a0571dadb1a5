/* SPDX-License-Identifier: BSD-3-Clause */
/* Defaults that hold for every job without values of its own. */

#include <string.h>

#include "alloc_fail.h"
#include "core/model/resources.h"
#include "model_test.h"

#define CLUSTER PMIX_CLUSTER_ID

static void setup(void)
{
    serve("n0");
    slurm_job(&given, 0);
    learn(&given);
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
    ck_assert_uint_eq(model->resources.v[0].values.n, 1);
    assert_str(ALL, CLUSTER, "east");
    ok(drop(PMIX_RM_NAME)); /* absent */
    assert_str(ALL, CLUSTER, "east");
    ok(drop(CLUSTER));
    assert_none(ALL, CLUSTER);
}

PX_TEST(values_of_the_job_come_first)
{
    px_infos own = {0};

    ok(set(CLUSTER, "west"));
    ok(set(PMIX_JOB_SIZE, "many"));
    slurm_job(&own, 0);
    add_str(&own, CLUSTER, "mine");
    learn(&own);
    assert_str(ALL, CLUSTER, "mine");
    assert_num(ALL, PMIX_JOB_SIZE, PMIX_UINT32, 4); /* derived from the maps */
}

PX_TEST(clients_get_them_with_their_job)
{
    ok(set(CLUSTER, "west"));
    ok(set(PMIX_JOB_SIZE, "many"));
    PX_AUTO(px_buf) answer = pack_answer(px_codec_default, false);
    be("n0", 1);
    ok(read_answer(px_codec_default, &answer));
    assert_str(ALL, CLUSTER, "west");
    assert_num(ALL, PMIX_JOB_SIZE, PMIX_UINT32, 4);
}

/* A value of a realm: its array, the member with its id, and the result of a Get. The
 * job has nodes n0 and n1, and no session. */
static const struct realm {
    const char *array, *id_key, *name; /* name: key of the member; NULL: id */
    uint32_t id;
    const char *ask; /* names the realm in a Get; NULL: no qualifier */
} realms[] = {
    {PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, "n0", 0, PMIX_NODE_INFO},
    {PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, "n1", 0, PMIX_NODE_INFO},
    {PMIX_NODE_INFO_ARRAY, PMIX_HOSTNAME, "away", 0, PMIX_NODE_INFO},
    {PMIX_NODE_INFO_ARRAY, PMIX_NODEID, NULL, 1, PMIX_NODE_INFO},
    {PMIX_APP_INFO_ARRAY, PMIX_APPNUM, NULL, 0, PMIX_APP_INFO},
    {PMIX_SESSION_INFO_ARRAY, PMIX_SESSION_ID, NULL, UINT32_MAX, PMIX_SESSION_INFO},
    {PMIX_SESSION_INFO_ARRAY, PMIX_SESSION_ID, NULL, 7, PMIX_SESSION_INFO},
    {PMIX_JOB_INFO_ARRAY, PMIX_NSPACE, JOB, 0, NULL},
    {PMIX_PROC_INFO_ARRAY, PMIX_RANK, NULL, 1, NULL},
};

static void add_id(px_infos *l, const struct realm *r)
{
    if (r->name)
        add_str(l, r->id_key, r->name);
    else
        add_num(l, r->id_key, r->id, PMIX_UINT32);
}

static void add_realm(px_infos *l, const struct realm *r, const char *value)
{
    px_infos members = {0};

    add_str(&members, "site.key", value);
    add_str(&members, PMIX_RM_NAME, "rm");
    add_id(&members, r);
    add_array(l, r->array, &members);
}

static void assert_realm(const struct realm *r, const char *value)
{
    px_infos_cleanup(&quals);
    if (r->ask)
        add_flag(&quals, r->ask, true);
    if (r->ask)
        add_id(&quals, r);
    const bool is_proc = strcmp(r->array, PMIX_PROC_INFO_ARRAY) == 0;
    if (value)
        assert_str(is_proc ? r->id : ALL, "site.key", value);
    else
        assert_none(is_proc ? r->id : ALL, "site.key");
    px_infos_cleanup(&quals);
}

PX_TEST(arrays_are_found_at_their_realm)
{
    static const enum px_job_form forms[] = {PX_JOB_BLOBS, PX_JOB_ARRAYS,
                                             PX_JOB_COMPACT};

    for (size_t i = 0; i < PX_COUNT(realms); i++) {
        PX_AUTO(px_infos) l = {0};

        setup();
        assert_realm(&realms[i], NULL);
        add_realm(&l, &realms[i], "far");
        ok(px_resources_set(model, l.v, l.n));
        assert_realm(&realms[i], "far");
        for (size_t k = 0; realms[i].ask && k < PX_COUNT(realms);
             k++) /* in no other realm */
            if (strcmp(realms[k].array, realms[i].array) != 0)
                assert_realm(&realms[k], NULL);
        for (size_t f = 0; f < PX_COUNT(forms); f++) {
            PX_AUTO(px_buf) answer = pack_answer(px_codec_default, forms[f]);
            struct px_model *server = model;
            struct px_nspace *server_ns = ns;
            model = NULL;
            be("n0", 1);
            ok(read_answer(px_codec_default, &answer));
            assert_realm(&realms[i], "far");
            px_model_destroy(model);
            model = server;
            ns = server_ns;
        }
        ok(px_resources_drop(model, l.v, l.n));
        assert_realm(&realms[i], NULL);
    }
}

PX_TEST(an_array_adds_to_its_row)
{
    px_infos node = {0}, session = {0};

    add_str(&node, PMIX_HOSTNAME, "n0");
    add_str(&node, "node.key", "of n0");
    add_num(&node, PMIX_LOCAL_SIZE, 99, PMIX_UINT32); /* the job has 3 */
    add_str(&session, CLUSTER, "west");
    add_array(&session, PMIX_NODE_INFO_ARRAY, &node);
    add_array(&given, PMIX_SESSION_INFO_ARRAY, &session);
    add_realm(&given, &realms[0], "n0");
    ok(px_resources_set(model, given.v, given.n));
    px_infos_cleanup(&given);
    add_str(&given, PMIX_NODE_INFO_ARRAY, "no array drops all nodes");
    for (int i = 0; i < 2; i++) {
        assert_str(ALL, CLUSTER, "west");
        assert_str(0, CLUSTER, "west"); /* holds for every rank of every session */
        assert_num(ALL, PMIX_LOCAL_SIZE, PMIX_UINT32, 3);
        assert_realm(&realms[0], i ? NULL : "n0");
        add_flag(&quals, PMIX_NODE_INFO, true);
        if (i)
            assert_none(ALL, "node.key");
        else
            assert_str(ALL, "node.key", "of n0");
        ok(px_resources_drop(model, given.v, given.n));
        px_infos_cleanup(&quals);
    }
    px_infos_cleanup(&given);
}

/* A rank's value for one job counts before the value for each job, and after the value of the job
 * itself. */
PX_TEST(a_process_of_one_job_comes_before_that_of_each_job)
{
    static const struct {
        const char *job, *value;
    } rows[] = {{NULL, "each"}, {JOB, "mine"}, {"other", "other"}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) l = {0};
        px_infos job = {0}, proc = {0};

        add_num(&proc, PMIX_RANK, 2, PMIX_PROC_RANK);
        add_str(&proc, "site.key", rows[i].value);
        add_str(&proc, PMIX_HOSTNAME, "nowhere"); /* the map knows the node */
        if (rows[i].job)
            add_str(&job, PMIX_NSPACE, rows[i].job);
        add_array(rows[i].job ? &job : &l, PMIX_PROC_INFO_ARRAY, &proc);
        if (rows[i].job)
            add_array(&l, PMIX_JOB_INFO_ARRAY, &job);
        ok(px_resources_set(model, l.v, l.n));
        assert_str(2, "site.key", i ? "mine" : "each");
        assert_none(1, "site.key");
    }
    PX_AUTO(px_buf) answer = pack_answer(px_codec_default, PX_JOB_COMPACT);
    px_model_destroy(model);
    model = NULL;
    be("n0", 1);
    ok(read_answer(px_codec_default, &answer));
    assert_str(2, "site.key", "mine");
    assert_none(1, "site.key");
}

PX_TEST(one_bad_key_and_nothing_changes)
{
    static const struct {
        const char *key, *member;
        pmix_status_t status;
    } rows[] = {
        {"", NULL, PMIX_ERR_BAD_PARAM},
        {PMIX_NODE_INFO_ARRAY, "", PMIX_ERR_BAD_PARAM},
        {PMIX_APP_INFO_ARRAY, PMIX_APPNUM, PMIX_ERR_BAD_PARAM}, /* id is a text */
        {PMIX_JOB_INFO_ARRAY, NULL, PMIX_ERR_BAD_PARAM},
        {PMIX_PROC_INFO_ARRAY, "k", PMIX_ERR_BAD_PARAM}, /* without a rank */
        {PMIX_PROC_INFO_ARRAY, PMIX_RANK, PMIX_ERR_BAD_PARAM},
        {PMIX_GROUP_INFO_ARRAY, NULL, PMIX_ERR_NOT_SUPPORTED},
    };

    ok(set(CLUSTER, "west"));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) l = {0};
        px_infos members = {0};

        add_str(&l, CLUSTER, "east");
        add_str(&members, rows[i].member ? rows[i].member : "", "v");
        if (rows[i].member)
            add_array(&l, rows[i].key, &members);
        else
            add_str(&l, rows[i].key, "v");
        px_infos_cleanup(&members);
        ck_assert_int_eq(px_resources_set(model, l.v, l.n), rows[i].status);
        ck_assert_int_eq(px_resources_drop(model, l.v, l.n), rows[i].status);
        memset(l.v[0].key, 'k', sizeof(l.v[0].key));
        ck_assert_int_eq(px_resources_drop(model, l.v, l.n), PMIX_ERR_BAD_PARAM);
        assert_str(ALL, CLUSTER, "west");
    }
}

PX_TEST(out_of_memory_changes_nothing)
{
    PX_TEST_NEEDS_ALLOC;
    PX_AUTO(px_infos) l = {0};

    ok(set(CLUSTER, "west"));
    add_str(&l, PMIX_RM_NAME, "rm");
    add_realm(&l, &realms[1], "far");
    for (unsigned nth = 1, failed = true; failed; nth++) {
        px_alloc_fail_at(nth);
        pmix_status_t rc = px_resources_set(model, l.v, l.n);
        failed = px_alloc_fail_end();
        ck_assert_int_eq(rc, failed ? PMIX_ERR_NOMEM : PMIX_SUCCESS);
        ck_assert_uint_eq(model->resources.v[0].values.n, failed ? 1 : 2);
        ck_assert_uint_eq(model->resources.n, failed ? 1 : 2);
    }
    assert_str(ALL, PMIX_RM_NAME, "rm");
    assert_str(ALL, CLUSTER, "west");
}

PX_TEST_MAIN("model/resources", setup, model_teardown)
