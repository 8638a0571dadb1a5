/* SPDX-License-Identifier: BSD-3-Clause */
/* limits: gets that must not wait, gets and fences that may wait so long and no
 * longer. */
#include "client.h"

static void missing_keys(void)
{
    pmix_proc_t next = rank_of((me.rank + 1) % job_size);
    pmix_info_t optional = info_bool(PMIX_OPTIONAL),
                immediate = info_bool(PMIX_IMMEDIATE);
    pmix_info_t timeout = info_timeout(1), any = {.key = PMIX_OPTIONAL};
    uint32_t n;
    double start;

    CHECK(get_u32(&next, "no.such.key", &optional, 1, &n) == PMIX_ERR_NOT_FOUND);
    CHECK(get_u32(&me, "no.such.key", &optional, 1, &n) == PMIX_ERR_NOT_FOUND);
    any.value.type = PMIX_UNDEF; /* Open MPI writes "true" so */
    CHECK(get_u32(&next, "no.such.key", &any, 1, &n) == PMIX_ERR_NOT_FOUND);
    CHECK(get_u32(&everyone, "pmix.no.such.key", &optional, 1, &n) ==
          PMIX_ERR_NOT_FOUND);
    start = now_s();
    CHECK(get_u32(&next, "no.such.key", &immediate, 1, &n) != PMIX_SUCCESS);
    CHECK(now_s() - start < 5);
    start = now_s();
    CHECK(get_u32(&next, "no.such.key", &timeout, 1, &n) != PMIX_SUCCESS);
    CHECK(now_s() - start < 8);
}

/* A rank with the value already there is not kept waiting by the limit. */
static void present_keys(void)
{
    pmix_proc_t next = rank_of((me.rank + 1) % job_size);
    pmix_info_t timeout = info_timeout(30), immediate = info_bool(PMIX_IMMEDIATE);
    double start = now_s();
    uint32_t n;

    GOOD(get_u32(&next, "there", &timeout, 1, &n));
    CHECK(n == next.rank);
    GOOD(get_u32(&next, "there", &immediate, 1, &n));
    CHECK(n == next.rank && now_s() - start < 5);
}

/* Rank 0 stays away from a fence that has a limit of one second. */
static void fence_in_time(void)
{
    pmix_info_t timeout = info_timeout(1);
    double start = now_s();

    if (me.rank == 0) {
        sleep_ms(2000);
        return;
    }
    EXPECT(PMIx_Fence(NULL, 0, &timeout, 1), PMIX_ERR_TIMEOUT);
    CHECK(now_s() - start > 0.8 && now_s() - start < 1.9);
}

int main(void)
{
    pmix_proc_t nobody;
    uint32_t n;

    begin();
    put_u32(PMIX_GLOBAL, "there", me.rank);
    GOOD(PMIx_Commit());
    GOOD(fence_with_data());
    present_keys();
    missing_keys();
    nobody = rank_of(job_size + 5);
    CHECK(get_u32(&nobody, "there", NULL, 0, &n) != PMIX_SUCCESS);
    barrier();
    if (strict())
        fence_in_time();
    return end("limits");
}
