/* SPDX-License-Identifier: BSD-3-Clause */
/* A gate between one writer and readers in any thread. Readers never wait: they find
 * the gate open, or closed and go another way. The writer waits for those inside, who
 * look something up and copy it. */
#ifndef PX_BASE_GATE_H
#define PX_BASE_GATE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* All zero is an open gate. Low half: readers that are inside, or just looking; high
 * half: how often it is closed. */
struct px_read_gate {
    atomic_uint state;
    uint64_t changes; /* the writer's: grows with each, so that it sees if any came */
};

#define PX_GATE_CLOSED 0x10000u /* once */

/* True: inside, until px_read_gate_leave. */
static inline bool px_read_gate_enter(struct px_read_gate *gate)
{
    unsigned was = atomic_fetch_add_explicit(&gate->state, 1, memory_order_acquire);

    if (was < PX_GATE_CLOSED)
        return true;
    atomic_fetch_sub_explicit(&gate->state, 1, memory_order_relaxed);
    return false;
}

/* For readers with no other way: enters as soon as it is open. Not the writer. */
static inline void px_read_gate_await(struct px_read_gate *gate)
{
    while (!px_read_gate_enter(gate))
        sched_yield();
}

static inline void px_read_gate_leave(struct px_read_gate *gate)
{
    atomic_fetch_sub_explicit(&gate->state, 1, memory_order_release);
}

/* The writer's thread; may be nested. Returns once all readers have left. */
static inline void px_read_gate_close(struct px_read_gate *gate)
{
    const struct timespec pause = {.tv_nsec = 50000};

    gate->changes++;
    atomic_fetch_add_explicit(&gate->state, PX_GATE_CLOSED, memory_order_acquire);
    for (unsigned tries = 0;
         atomic_load_explicit(&gate->state, memory_order_acquire) % PX_GATE_CLOSED;
         tries++) {
        if (tries < 100)
            sched_yield();
        else /* yielding does nothing for a reader of lower priority */
            nanosleep(&pause, NULL);
    }
}

static inline void px_read_gate_open(struct px_read_gate *gate)
{
    atomic_fetch_sub_explicit(&gate->state, PX_GATE_CLOSED, memory_order_release);
}

#endif
