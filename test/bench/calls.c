/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank of compare.py: what calls take on the clock. Rank 0 prints the rows. */
#include "bench.h"

enum { N_GET = 2000, N_FENCE = 200 };

static pmix_proc_t me;

static void report(const char *row, double start_us, int n)
{
    if (me.rank == 0)
        printf("%s %.3f\n", row, (now_us(CLOCK_MONOTONIC) - start_us) / n);
}

static void get(const char *row, const pmix_proc_t *proc, const char *key)
{
    pmix_value_t *value;
    double start;

    must(row, PMIx_Get(proc, key, NULL, 0, &value)); /* the first may ask the server */
    PMIX_VALUE_RELEASE(value);
    start = now_us(CLOCK_MONOTONIC);
    for (int i = 0; i < N_GET; i++) {
        must(row, PMIx_Get(proc, key, NULL, 0, &value));
        PMIX_VALUE_RELEASE(value);
    }
    report(row, start, N_GET);
}

static void fence(bool collect)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    must("fence", PMIx_Fence(NULL, 0, &info, 1));
    PMIX_INFO_DESTRUCT(&info);
}

int main(void)
{
    double start = now_us(CLOCK_MONOTONIC);
    pmix_value_t value;
    pmix_proc_t job, peer;

    must("init", PMIx_Init(&me, NULL, 0));
    report("init", start, 1);

    PMIX_VALUE_LOAD(&value,
                    "sixty-four bytes, more or less, of an address that peers need",
                    PMIX_STRING);
    start = now_us(CLOCK_MONOTONIC);
    must("put", PMIx_Put(PMIX_GLOBAL, "bench.address", &value));
    must("commit", PMIx_Commit());
    report("put+commit", start, 1);
    PMIX_VALUE_DESTRUCT(&value);
    fence(true);

    PMIX_LOAD_PROCID(&job, me.nspace, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&peer, me.nspace, 1);
    get("get-job", &job, PMIX_JOB_SIZE);
    get("get-peer", &peer, "bench.address");

    start = now_us(CLOCK_MONOTONIC);
    for (int i = 0; i < N_FENCE; i++)
        fence(false);
    report("fence", start, N_FENCE);
    must("finalize", PMIx_Finalize(NULL, 0));
    return EXIT_SUCCESS;
}
