/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/gate.h"
#include "px_test.h"

#include <pthread.h>

enum { N_THREADS = 4, N_CHANGES = 2000 };

static struct px_read_gate gate;
static atomic_uint n_inside, n_leaving;
static unsigned pair[2]; /* changed behind the gate, always equal for readers */

PX_TEST(readers_enter_after_as_many_opens_as_closes)
{
    struct px_gate_count *count = px_read_gate_enter(&gate);

    ck_assert_ptr_nonnull(count);
    px_read_gate_leave(count);
    px_read_gate_close(&gate);
    px_read_gate_close(&gate);
    ck_assert_ptr_null(px_read_gate_enter(&gate));
    px_read_gate_open(&gate);
    ck_assert_ptr_null(px_read_gate_enter(&gate));
    px_read_gate_open(&gate);
    ck_assert_ptr_nonnull(count = px_read_gate_enter(&gate));
    px_read_gate_leave(count);
    ck_assert_uint_eq(gate.changes, 2);
}

static void *stay_until_closed(void *arg)
{
    struct px_gate_count *count = px_read_gate_await(&gate);

    *(struct px_gate_count **)arg = count;
    atomic_fetch_add(&n_inside, 1);
    while (!atomic_load(&gate.closes))
        sched_yield();
    atomic_fetch_add(&n_leaving, 1);
    px_read_gate_leave(count);
    return NULL;
}

PX_TEST(close_waits_for_the_readers_of_all_counts)
{
    struct px_gate_count *counts[N_THREADS];
    pthread_t threads[N_THREADS];
    int n_other = 0;

    for (int i = 0; i < N_THREADS; i++)
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, stay_until_closed, &counts[i]), 0);
    while (atomic_load(&n_inside) < N_THREADS)
        sched_yield();
    px_read_gate_close(&gate);
    ck_assert_uint_eq(atomic_load(&n_leaving), N_THREADS);
    px_read_gate_open(&gate);
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
        n_other += counts[i] != counts[0];
    }
    ck_assert_int_gt(n_other, 0);
}

static void *read_pair(void *arg)
{
    while (atomic_load(&n_leaving) == 0) {
        struct px_gate_count *count = px_read_gate_await(&gate);

        *(unsigned *)arg += pair[0] != pair[1];
        px_read_gate_leave(count);
    }
    return NULL;
}

PX_TEST(readers_see_all_of_a_change_or_none)
{
    pthread_t threads[N_THREADS];
    unsigned n_torn[N_THREADS] = {0};

    for (int i = 0; i < N_THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_pair, &n_torn[i]), 0);
    for (int i = 0; i < N_CHANGES; i++) {
        px_read_gate_close(&gate);
        pair[0]++;
        sched_yield();
        pair[1]++;
        px_read_gate_open(&gate);
    }
    atomic_store(&n_leaving, 1);
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_uint_eq(n_torn[i], 0);
    }
}

PX_TEST_MAIN("base/gate", NULL, NULL)
