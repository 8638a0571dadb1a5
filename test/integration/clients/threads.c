/* SPDX-License-Identifier: BSD-3-Clause */
/* threads: several threads of each rank use the library at the same time. */
#include "client.h"

#include <pthread.h>

#define THREADS 4
#define ROUNDS  50

static void *work(void *arg)
{
    unsigned t = (unsigned)(size_t)arg;

    for (unsigned i = 0; i < ROUNDS; i++) {
        pmix_proc_t p = rank_of((me.rank + i) % job_size);
        char key[64];
        uint32_t n;

        GOOD(get_u32(&p, "shared", NULL, 0, &n));
        CHECK(n == p.rank + 1);
        snprintf(key, sizeof key, "own.%u.%u", t, i);
        put_u32(PMIX_GLOBAL, key, t * 1000 + i);
        GOOD(PMIx_Commit());
        GOOD(get_u32(&me, key, NULL, 0, &n));
        CHECK(n == t * 1000 + i);
        GOOD(get_u32(&everyone, PMIX_JOB_SIZE, NULL, 0, &n));
        CHECK(n == job_size);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pmix_proc_t next;
    uint32_t n;

    begin();
    put_u32(PMIX_GLOBAL, "shared", me.rank + 1);
    GOOD(PMIx_Commit());
    barrier();
    for (size_t t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, work, (void *)t) == 0);
    for (int i = 0; i < 10; i++)
        barrier();
    for (size_t t = 0; t < THREADS; t++)
        CHECK(pthread_join(threads[t], NULL) == 0);
    barrier();
    next = rank_of((me.rank + 1) % job_size);
    GOOD(get_u32(&next, "own.3.49", NULL, 0, &n));
    CHECK(n == 3049);
    barrier();
    return end("threads");
}
