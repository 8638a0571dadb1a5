/* SPDX-License-Identifier: BSD-3-Clause */
/* timed [MS]: rank 1 enters the first of two fences MS milliseconds after the others. missing LIMIT fence|connect:
 * the last rank never enters a collective with a time limit in seconds. */
#include "client.h"

JOINS(timed)
{
    if (me.rank == 1)
        sleep_ms(argc > 1 ? atoi(argv[1]) : 0);
    put_u32(PMIX_GLOBAL, "timed", me.rank);
    GOOD(PMIx_Commit());
    barrier();
    barrier();
}

/* The last rank waits for a value that rank 0 commits after the time limit. */
JOINS(missing)
{
    const int limit_s = argc > 1 ? atoi(argv[1]) : 1;
    const pmix_info_t info = info_timeout(limit_s);
    const bool connects = argc > 2 && strcmp(argv[2], "connect") == 0;
    uint32_t n;

    put_u32(PMIX_GLOBAL, "before", me.rank);
    GOOD(PMIx_Commit());
    barrier();
    if (me.rank == job_size - 1) {
        GOOD(get_u32(0, "after", NULL, &n));
        return;
    }
    const double start = now_s();
    EXPECT(connects ? PMIx_Connect(&everyone, 1, &info, 1)
                    : PMIx_Fence(&everyone, 1, &info, 1),
           PMIX_ERR_TIMEOUT);
    const double passed = now_s() - start;
    CHECK(passed > limit_s - 1 && passed < limit_s + 1);
    if (me.rank > 0)
        return;
    put_u32(PMIX_GLOBAL, "after", 1);
    GOOD(PMIx_Commit());
}

/* timed_out: a fence with a time limit, and an abort after the limit. */
JOINS(timed_out)
{
    const pmix_info_t info = info_timeout(1);

    EXPECT(PMIx_Fence(&everyone, 1, &info, 1), PMIX_ERR_TIMEOUT);
    PMIx_Abort(99, "timed out", NULL, 0);
}
