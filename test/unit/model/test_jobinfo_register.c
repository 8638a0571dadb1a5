/* SPDX-License-Identifier: BSD-3-Clause */
/* Registration as real hosts do it. */
#include "alloc_fail.h"
#include "model_test.h"

#include <string.h>

static void assert_realms(const struct px_model *m, const struct px_nspace *ns)
{
    px_infos q = {0};
    pmix_value_t v;

    assert_num(m, ns, ALL, PMIX_JOB_SIZE, PMIX_UINT32, 4);
    assert_str(m, ns, ALL, PMIX_JOBID, "j");
    assert_num(m, ns, ALL, PMIX_UNIV_SIZE, PMIX_UINT32, 64);
    assert_num(m, ns, ALL, PMIX_SESSION_ID, PMIX_UINT32, 77);
    assert_num(m, ns, 3, PMIX_APPNUM, PMIX_UINT32, 1);
    assert_num(m, ns, 3, PMIX_NODEID, PMIX_UINT32, 11);
    assert_num(m, ns, 1, PMIX_NODEID, PMIX_UINT32, 0);
    assert_num(m, ns, ALL, PMIX_AVAIL_PHYS_MEMORY, PMIX_UINT64, 1000);
    assert_str(m, ns, ALL, PMIX_LOCAL_PEERS, "2,3");

    add_flag(&q, PMIX_NODE_INFO, true);
    add_num(&q, PMIX_NODEID, 0, PMIX_UINT32);
    ok(get(m, ns, ALL, PMIX_AVAIL_PHYS_MEMORY, &q, &v));
    ck_assert_uint_eq(v.data.uint64, 2000);
    px_infos_cleanup(&q);
    add_flag(&q, PMIX_APP_INFO, true);
    add_num(&q, PMIX_APPNUM, 1, PMIX_UINT32);
    ok(get(m, ns, ALL, PMIX_APPLDR, &q, &v));
    ck_assert_int_eq(v.type, PMIX_PROC_RANK);
    ck_assert_uint_eq(v.data.rank, 3);
    ok(get(m, ns, ALL, PMIX_APP_SIZE, &q, &v));
    ck_assert_uint_eq(v.data.uint32, 1);
    px_infos_cleanup(&q);
}

/* Registers while the nth allocation fails. Keeps in *balance what a model that was made
 * before, and freed within, gives back too much: the same each time if nothing leaks. */
static bool register_failing(const px_infos *l, unsigned nth, pmix_status_t *rc,
                             int *balance)
{
    struct px_model *m = model_make("n1", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(m, JOB);

    px_alloc_fail_at(nth);
    *rc = px_jobinfo_register(m, ns, l->v, l->n, NULL);
    px_model_destroy(m);
    *balance = px_alloc_balance();
    return px_alloc_fail_end();
}

PX_TEST(a_job_registered_as_mpirun_does_answers_every_get_it_has_seen)
{
    struct px_model *m = model_make("vm", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(m, JOB);
    px_infos l = {0};

    mpirun_job(&l);
    must_register(m, ns, &l);

    assert_mpirun_gets(m, ns);
    px_model_destroy(m);
}

PX_TEST(a_job_registered_as_slurm_does_answers_every_get_it_has_seen)
{
    for (uint32_t node = 0; node < 2; node++) {
        struct px_model *m = model_make(node ? "n1" : "n0", "", PMIX_RANK_UNDEF);
        struct px_nspace *ns = nspace_of(m, JOB);
        px_infos l = {0};

        slurm_job(&l, node);
        must_register(m, ns, &l);
        assert_slurm_gets(m, ns, node);
        px_model_destroy(m);
    }
}

PX_TEST(arrays_of_each_realm_find_their_place_and_travel)
{
    struct px_model *m = model_make("one.cluster", "", PMIX_RANK_UNDEF);
    struct px_nspace *ns = nspace_of(m, JOB);
    px_infos l = {0};

    realms_job(&l);
    must_register(m, ns, &l);
    assert_realms(m, ns);
    px_model_destroy(m);
    for (int i = 0; i < 4; i++) {
        realms_job(&l);
        m = client_of(&l, "n1", "n1", 3, codec(i & 1 ? "v3" : "v41", false), i & 2);
        assert_realms(m, m->own);
        ck_assert_uint_eq(m->appnum, 1);
        assert_num(m, m->own, ALL, PMIX_APP_SIZE, PMIX_UINT32, 1); /* of its own */
        px_model_destroy(m);
    }
}

PX_TEST(running_out_of_memory_is_survived)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");

    px_infos l = {0};
    pmix_status_t rc = PMIX_SUCCESS;
    int balance, expected;

    slurm_job(&l, 1);
    register_failing(&l, 0, &rc, &expected);
    ok(rc);
    for (unsigned nth = 1; register_failing(&l, nth, &rc, &balance); nth++) {
        /* Not to know that a value would follow anyway costs only its room. */
        ck_assert(rc == PMIX_ERR_NOMEM || rc == PMIX_SUCCESS);
        ck_assert_int_eq(balance, expected);
    }
    ok(rc);
    px_infos_cleanup(&l);
}

PX_TEST_MAIN("model/jobinfo_register", NULL, NULL)
