/* SPDX-License-Identifier: BSD-3-Clause */
/* direct: values fetched on demand, after fences that collected nothing; fences of
 * subsets; a get that comes before its put. */
#include "client.h"

static atomic_int answered;
static pmix_status_t answer;
static uint32_t answer_value;

static void on_value(pmix_status_t status, pmix_value_t *v, void *arg)
{
    (void)arg;
    answer = status;
    if (status == PMIX_SUCCESS && v->type == PMIX_UINT32)
        answer_value = v->data.uint32;
    answered = 1;
}

static void everybodys(const char *key, uint32_t factor)
{
    for (pmix_rank_t r = 0; r < job_size; r++) {
        pmix_proc_t p = rank_of(r);
        uint32_t n;

        GOOD(get_u32(&p, key, NULL, 0, &n));
        CHECK(n == r * factor);
    }
}

/* Without a limit, a get of a rank that has not committed yet waits until it has. */
static void before_the_put(void)
{
    pmix_proc_t last = rank_of(job_size - 1);
    uint32_t n;

    if (me.rank == last.rank)
        sleep_ms(300);
    put_u32(PMIX_GLOBAL, "first", me.rank * 3);
    GOOD(PMIx_Commit());
    GOOD(get_u32(&last, "first", NULL, 0, &n));
    CHECK(n == last.rank * 3);
}

static void nonblocking(void)
{
    pmix_proc_t p = rank_of((me.rank + 1) % job_size);

    GOOD(PMIx_Get_nb(&p, "first", NULL, 0, on_value, NULL));
    CHECK(wait_for(&answered, 10));
    CHECK(answer == PMIX_SUCCESS && answer_value == p.rank * 3);
}

/* {0,1} and the others fence at the same time, then each rank with itself. */
static void subsets(void)
{
    pmix_proc_t set[64];
    size_t n = 0;

    for (pmix_rank_t r = 0; r < job_size && n < 64; r++)
        if ((r < 2) == (me.rank < 2))
            set[n++] = rank_of(r);
    for (int i = 0; i < 5; i++)
        GOOD(PMIx_Fence(set, n, NULL, 0));
    GOOD(PMIx_Fence(&me, 1, NULL, 0));
    GOOD(PMIx_Fence(&everyone, 1, NULL, 0));
}

int main(void)
{
    begin();
    before_the_put();
    barrier();
    everybodys("first", 3);
    nonblocking();
    subsets();
    put_u32(PMIX_GLOBAL, "second", me.rank * 5);
    GOOD(PMIx_Commit());
    barrier();
    everybodys("second", 5);
    for (int i = 0; i < 50; i++)
        barrier();
    return end("direct");
}
