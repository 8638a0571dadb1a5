/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a loop: loop.c says who runs it and when, poll.c what it waits for. */
#ifndef PX_RT_LOOP_IMPL_H
#define PX_RT_LOOP_IMPL_H

#include "core/rt/loop.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>

#define PX_NEVER UINT64_MAX

/* Of the thread that runs the loop. */
struct px_poll {
    int fd; /* an epoll, which is readable if one of its descriptors is ready */
    struct epoll_event ready[64];
    int n_ready, at;          /* ready[at] is being reported */
    struct px_timer **timers; /* a heap: none is due before timers[(i - 1) / 2] */
    size_t n_timers;
    size_t n_made, room; /* timers that exist, and places for them in the heap */
    int n_writers;       /* watches of descriptors that are to be written to */
};

struct px_loop {
    struct px_poll poll;
    atomic_bool external; /* becomes true only */
    pthread_t thread;     /* if there is one: begun, and ended under turn_lock */
    atomic_bool has_thread;
    bool stopped; /* the thread is to end */
    /* The thread that runs the loop: its pthread_self(), or 0. */
    _Atomic(uintptr_t) owner;
    bool guest; /* it only waits in px_call */

    /* The mailboxes, newest first, turned round by the reader; the second is of those
     * messages that are the user's. */
    _Atomic(struct px_msg *) inbox[2];
    atomic_uint posting; /* px_post calls that may still touch this structure */
    atomic_uint held;    /* px_loop_hold calls not yet undone */
    int wake_fd;         /* an eventfd, written when an inbox was empty */
    unsigned n_deferred; /* by px_loop_defer, and not yet run */

    /* The turn to run the loop; the lock is for what follows. */
    pthread_mutex_t turn_lock;
    pthread_cond_t turn_over;
    bool taken;
    bool dozes; /* the own thread waits without it, in a server */
    bool lent;  /* and another had it meanwhile */
    /* The loop's own thread, while it has no turn, waits for this epoll, which holds
     * the other, until then. It is armed for one report at a time. */
    int outer_fd;
    bool armed;
    uint64_t sleeps_until_ms;
    atomic_bool no_guests; /* see px_loop_let_guests */
    atomic_bool closing;
    atomic_bool deaf; /* the kernel cannot wait for two words */

    struct px_children children;
    uint8_t scratch[PX_SCRATCH_B]; /* the last, not zeroed */
};

/* PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t px_poll_init(struct px_poll *p);
void px_poll_fini(struct px_poll *p);
/* Has fd end a wait; what is written to it need not be read. */
pmix_status_t px_poll_wake_by(struct px_poll *p, int fd);
/* When the next timer is due, in px_clock_ms(); PX_NEVER. */
uint64_t px_poll_due(const struct px_poll *p);
/* For epoll_wait: until then, or for ever. */
int px_poll_timeout(uint64_t due_ms);
/* How many descriptors are ready, of which px_poll_report then calls those concerned,
 * and those whose timer is due. Waits without touching anything but p->ready. */
int px_poll_wait(struct px_poll *p, int timeout_ms);
void px_poll_report(struct px_poll *p, int n) PX_LOOP_ONLY;

#endif
