/* SPDX-License-Identifier: BSD-3-Clause */
/* A gate between one writer and readers in any thread. Readers never wait: if the gate
 * is closed, they take a slower path. The writer waits until all readers have left.
 * Readers look up a value and copy it, so they leave soon. */
#ifndef PX_BASE_GATE_H
#define PX_BASE_GATE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { PX_GATE_COUNTS = 4 };

/* Number of readers that are inside the gate, or test whether the gate is open. */
struct px_gate_count {
    _Alignas(64) atomic_uint n;
};

/* All zero is an open gate. The readers have several counts, because threads that read
 * at the same time would wait for the cache line of a single count. */
struct px_read_gate {
    atomic_uint closes; /* closes without an open */
    uint64_t changes;   /* number of closes; lets the writer detect a change */
    struct px_gate_count counts[PX_GATE_COUNTS];
};

/* Enters the gate and returns the count for px_read_gate_leave, or returns NULL if the
 * gate is closed. Threads choose different counts by their stacks, which usually are an
 * odd number of pages apart: a stack and its guard page. */
static inline struct px_gate_count *px_read_gate_enter(struct px_read_gate *gate)
{
    const uintptr_t page = (uintptr_t)__builtin_frame_address(0) >> 12;
    struct px_gate_count *count = &gate->counts[page % PX_GATE_COUNTS];

    /* These two operations, and the two in px_read_gate_close, are sequentially
     * consistent. So the reader sees the close, or the writer sees the reader. */
    atomic_fetch_add(&count->n, 1);
    if (!atomic_load(&gate->closes))
        return count;
    atomic_fetch_sub_explicit(&count->n, 1, memory_order_release);
    return NULL;
}

/* Waits until the gate is open and enters; for readers without another path. The
 * writer's thread must not call this function. */
static inline struct px_gate_count *px_read_gate_await(struct px_read_gate *gate)
{
    struct px_gate_count *count;

    while (!(count = px_read_gate_enter(gate)))
        sched_yield();
    return count;
}

static inline void px_read_gate_leave(struct px_gate_count *count)
{
    atomic_fetch_sub_explicit(&count->n, 1, memory_order_release);
}

static inline bool px_gate_has_readers(const struct px_read_gate *gate)
{
    unsigned n = 0;

    for (int i = 0; i < PX_GATE_COUNTS; i++)
        n |= atomic_load(&gate->counts[i].n);
    return n != 0;
}

/* Closes the gate and waits until all readers have left. For the writer's thread only;
 * calls may nest. */
static inline void px_read_gate_close(struct px_read_gate *gate)
{
    const struct timespec pause = {.tv_nsec = 50000};

    gate->changes++;
    atomic_fetch_add(&gate->closes, 1);
    for (unsigned tries = 0; px_gate_has_readers(gate); tries++) {
        if (tries < 100)
            sched_yield();
        else /* yielding does not help a reader of lower priority */
            nanosleep(&pause, NULL);
    }
}

static inline void px_read_gate_open(struct px_read_gate *gate)
{
    const unsigned closes = atomic_load_explicit(&gate->closes, memory_order_relaxed);

    /* Only the writer's thread changes closes. */
    atomic_store_explicit(&gate->closes, closes - 1, memory_order_release);
}

#endif
