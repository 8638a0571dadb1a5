/* SPDX-License-Identifier: BSD-3-Clause */
/* connect: all ranks of a job connect, by wildcard and one by one, and disconnect. */
#include "client.h"

static atomic_int done;
static pmix_status_t result;

static void on_done(pmix_status_t status, void *arg)
{
    (void)arg;
    result = status;
    done = 1;
}

int main(void)
{
    pmix_proc_t all[64];
    size_t n = 0;

    begin();
    for (int i = 0; i < 3; i++) {
        GOOD(PMIx_Connect(&everyone, 1, NULL, 0));
        barrier();
        GOOD(PMIx_Disconnect(&everyone, 1, NULL, 0));
    }
    while (n < job_size && n < 64) {
        all[n] = rank_of((pmix_rank_t)n);
        n++;
    }
    GOOD(PMIx_Connect_nb(all, n, NULL, 0, on_done, NULL));
    CHECK(wait_for(&done, 15));
    GOOD(result);
    done = 0;
    GOOD(PMIx_Disconnect_nb(all, n, NULL, 0, on_done, NULL));
    CHECK(wait_for(&done, 15));
    GOOD(result);
    CHECK(PMIx_Connect(NULL, 0, NULL, 0) != PMIX_SUCCESS);
    barrier();
    return end("connect");
}
