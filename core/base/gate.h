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

/* All zero is an open gate. The low half of state counts readers inside the gate or
 * testing it. The high half counts closes. */
struct px_read_gate {
    atomic_uint state;
    uint64_t changes; /* number of closes; lets the writer detect a change */
};

#define PX_GATE_CLOSED 0x10000u /* one close */

/* Enters the gate and returns true, or returns false if the gate is closed. After true
 * the reader calls px_read_gate_leave. */
static inline bool px_read_gate_enter(struct px_read_gate *gate)
{
    unsigned was = atomic_fetch_add_explicit(&gate->state, 1, memory_order_acquire);

    if (was < PX_GATE_CLOSED)
        return true;
    atomic_fetch_sub_explicit(&gate->state, 1, memory_order_relaxed);
    return false;
}

/* Waits until the gate is open and enters; for readers without another path. The
 * writer's thread must not call this function. */
static inline void px_read_gate_await(struct px_read_gate *gate)
{
    while (!px_read_gate_enter(gate))
        sched_yield();
}

static inline void px_read_gate_leave(struct px_read_gate *gate)
{
    atomic_fetch_sub_explicit(&gate->state, 1, memory_order_release);
}

/* Closes the gate and waits until all readers have left. For the writer's thread only;
 * calls may nest. */
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
        else /* yielding does not help a reader of lower priority */
            nanosleep(&pause, NULL);
    }
}

static inline void px_read_gate_open(struct px_read_gate *gate)
{
    atomic_fetch_sub_explicit(&gate->state, PX_GATE_CLOSED, memory_order_release);
}

#endif
