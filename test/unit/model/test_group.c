/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups and who is in them. */
#include "core/model/group.h"

#include "alloc_fail.h"
#include "model_test.h"

static pmix_proc_t member(pmix_rank_t rank)
{
    pmix_proc_t p;

    px_proc_set(&p, JOB, rank);
    return p;
}

START_TEST(members_are_copied_and_replaced)
{
    struct px_model *m = model_make("n0", JOB, 0);
    pmix_proc_t procs[2] = {member(0), member(1)};
    const struct px_group *g;

    ck_assert_ptr_null(px_group_find(m, "sea"));
    ok(px_group_put(m, "sea", procs, 2));
    ok(px_group_put(m, "ice", procs, 1));
    procs[1].rank = 7;
    g = px_group_find(m, "sea");
    ck_assert_uint_eq(g->n_procs, 2);
    ck_assert_uint_eq(g->procs[1].rank, 1);
    ok(px_group_put(m, "sea", procs + 1, 1));
    g = px_group_find(m, "sea");
    ck_assert_uint_eq(g->n_procs, 1);
    ck_assert_uint_eq(g->procs[0].rank, 7);
    px_model_destroy(m);
}
END_TEST

START_TEST(a_removed_group_is_gone_and_others_stay)
{
    struct px_model *m = model_make("n0", JOB, 0);
    pmix_proc_t p = member(0);

    ok(px_group_put(m, "sea", &p, 1));
    ok(px_group_put(m, "ice", &p, 1));
    px_group_remove(px_group_find(m, "sea"));
    px_group_remove(px_group_find(m, "sea")); /* NULL by now */
    ck_assert_ptr_null(px_group_find(m, "sea"));
    ck_assert_ptr_nonnull(px_group_find(m, "ice"));
    px_model_destroy(m);
}
END_TEST

START_TEST(out_of_memory_keeps_the_old_members)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    struct px_model *m = model_make("n0", JOB, 0);
    pmix_proc_t procs[2] = {member(0), member(1)};

    ok(px_group_put(m, "sea", procs, 2));
    for (unsigned nth = 1; nth <= 2; nth++) {
        px_alloc_fail_at(nth);
        pmix_status_t rc = px_group_put(m, "sea", procs, 1);
        ck_assert(px_alloc_fail_end());
        ck_assert_int_eq(rc, PMIX_ERR_NOMEM);
        ck_assert_uint_eq(px_group_find(m, "sea")->n_procs, 2);
    }
    px_model_destroy(m);
}
END_TEST

PX_TEST_MAIN("model/group", members_are_copied_and_replaced,
             a_removed_group_is_gone_and_others_stay,
             out_of_memory_keeps_the_old_members)
