/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of gds: walks keep the order, and clearing takes what it should. */
#include "contract_gds.h"

#include <string.h>

/* ---- walking --------------------------------------------------------------------- */

START_TEST(walks_a_rank_in_the_order_first_stored)
{
    gds_ns = gds_create("job");
    gds_put(PX_GDS_JOB, 0, "zebra", 1);
    gds_put(PX_GDS_JOB, 1, "other", 9);
    gds_put(PX_GDS_JOB, 0, "ape", 2);
    gds_put(PX_GDS_JOB, 0, "mole", 3);
    gds_put(PX_GDS_JOB, 0, "zebra", 4);

    gds_expect_walk(PX_GDS_JOB, 0, "0/zebra=4 0/ape=2 0/mole=3 ");
    gds_expect_walk(PX_GDS_JOB, 1, "1/other=9 ");
    gds_expect_walk(PX_GDS_JOB, 2, "");
    gds_expect_walk(PX_GDS_LOCAL, 0, "");
    gds_destroy(gds_ns);
}
END_TEST

START_TEST(deleted_and_stored_again_comes_last)
{
    gds_ns = gds_create("job");
    gds_put(PX_GDS_JOB, 0, "a", 1);
    gds_put(PX_GDS_JOB, 0, "b", 2);
    gds_discard(PX_GDS_JOB, 0, "a");
    gds_put(PX_GDS_JOB, 0, "a", 3);

    gds_expect_walk(PX_GDS_JOB, 0, "0/b=2 0/a=3 ");
    gds_destroy(gds_ns);
}
END_TEST

START_TEST(walks_all_ranks_ascending_and_wildcard_last)
{
    gds_ns = gds_create("job");
    gds_put(PX_GDS_JOB, PMIX_RANK_WILDCARD, "size", 3);
    gds_put(PX_GDS_JOB, 2, "b", 2);
    gds_put(PX_GDS_JOB, 0, "z", 0);
    gds_put(PX_GDS_JOB, 1000000, "c", 4);
    gds_put(PX_GDS_JOB, 2, "a", 3);
    gds_expect_walk(PX_GDS_JOB, PMIX_RANK_UNDEF,
                    "0/z=0 2/b=2 2/a=3 1000000/c=4 */size=3 ");

    gds_put(PX_GDS_JOB, 1, "y", 5);
    gds_expect_walk(PX_GDS_JOB, PMIX_RANK_UNDEF,
                    "0/z=0 1/y=5 2/b=2 2/a=3 1000000/c=4 */size=3 ");
    gds_expect_walk(PX_GDS_JOB, PMIX_RANK_WILDCARD, "*/size=3 ");
    gds_destroy(gds_ns);
}
END_TEST

START_TEST(a_walk_stops_when_it_is_told_to)
{
    struct account one = {.stop_at = 2};
    struct account all = {.stop_at = 3};

    gds_ns = gds_create("job");
    for (uint32_t i = 0; i < 4; i++) {
        gds_put(PX_GDS_JOB, i / 2, i % 2 ? "odd" : "even", i);
    }
    ck_assert_int_eq(
        gds_ops()->walk(contract.self, gds_ns, PX_GDS_JOB, 0, gds_note, &one),
        PMIX_ERR_EMPTY);
    ck_assert_str_eq(one.text, "0/even=0 ");
    ck_assert_int_eq(gds_ops()->walk(contract.self, gds_ns, PX_GDS_JOB, PMIX_RANK_UNDEF,
                                     gds_note, &all),
                     PMIX_ERR_EMPTY);
    ck_assert_str_eq(all.text, "0/even=0 0/odd=1 ");
    ck_assert_uint_eq(all.n, 3);
    gds_destroy(gds_ns);
}
END_TEST

/* ---- clearing -------------------------------------------------------------------- */

START_TEST(clears_one_rank_of_one_table)
{
    gds_ns = gds_create("job");
    gds_ops()->clear(contract.self, gds_ns, PX_GDS_LOCAL, 5); /* nothing is there */
    for (uint32_t rank = 0; rank < 4; rank++) {
        gds_put(PX_GDS_LOCAL, rank, "a", rank);
        gds_put(PX_GDS_REMOTE, rank, "a", rank);
    }

    gds_ops()->clear(contract.self, gds_ns, PX_GDS_LOCAL, 1);

    gds_expect_walk(PX_GDS_LOCAL, PMIX_RANK_UNDEF, "0/a=0 2/a=2 3/a=3 ");
    gds_expect_walk(PX_GDS_REMOTE, PMIX_RANK_UNDEF, "0/a=0 1/a=1 2/a=2 3/a=3 ");
    gds_put(PX_GDS_LOCAL, 1, "b", 7);
    gds_expect_walk(PX_GDS_LOCAL, PMIX_RANK_UNDEF, "0/a=0 1/b=7 2/a=2 3/a=3 ");
    gds_destroy(gds_ns);
}
END_TEST

START_TEST(clears_all_ranks_of_one_table)
{
    gds_ns = gds_create("job");
    gds_put(PX_GDS_LOCAL, 0, "a", 1);
    gds_put(PX_GDS_LOCAL, 1, "a", 1);
    gds_put(PX_GDS_LOCAL, PMIX_RANK_WILDCARD, "a", 1);
    gds_put(PX_GDS_JOB, 0, "a", 2);

    gds_ops()->clear(contract.self, gds_ns, PX_GDS_LOCAL, PMIX_RANK_UNDEF);

    gds_expect_walk(PX_GDS_LOCAL, PMIX_RANK_UNDEF, "");
    ck_assert_ptr_null(gds_find(PX_GDS_LOCAL, 0, "a"));
    gds_expect_walk(PX_GDS_JOB, PMIX_RANK_UNDEF, "0/a=2 ");
    gds_put(PX_GDS_LOCAL, 4, "b", 3);
    gds_expect_walk(PX_GDS_LOCAL, PMIX_RANK_UNDEF, "4/b=3 ");
    gds_destroy(gds_ns);
}
END_TEST

size_t gds_walk_tests(const TTest **tests)
{
    const TTest *const own[] = {
        walks_a_rank_in_the_order_first_stored,
        deleted_and_stored_again_comes_last,
        walks_all_ranks_ascending_and_wildcard_last,
        a_walk_stops_when_it_is_told_to,
        clears_one_rank_of_one_table,
        clears_all_ranks_of_one_table,
    };

    memcpy(tests, own, sizeof(own));
    return PX_COUNT(own);
}
