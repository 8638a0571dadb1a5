/* SPDX-License-Identifier: BSD-3-Clause */
/* Private parts of the loop. loop.c decides which thread runs the loop, call.c and
 * listen.c make callers wait, poll.c adapts libevent. */
#ifndef PX_RT_LOOP_IMPL_H
#define PX_RT_LOOP_IMPL_H

#include "core/base/list.h"
#include "core/rt/loop.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <pthread.h>
#include <stdatomic.h>

#define PX_NEVER UINT64_MAX

/* Descriptors that wake the own thread, beside messages. */
enum px_arm {
    PX_ARM_NOT,    /* nothing: a guest leads and handles descriptors */
    PX_ARM_ONCE,   /* the next ready descriptor */
    PX_ARM_ALWAYS, /* every ready descriptor, in a server */
};

/* Timers, sorted by the highest bit in which the due time differs from base_ms. Only
 * slot 0 may have timers that are due before base_ms. A timer moves to a lower slot at
 * most once for each bit, so the nearest due time costs little, however many wait. */
#define PX_TIMER_SLOTS 44 /* for due times of 43 bits */
struct px_timers {
    struct px_list slots[PX_TIMER_SLOTS];
    uint64_t least_ms[PX_TIMER_SLOTS]; /* no timer of the slot is due earlier */
    uint64_t base_ms;                  /* never later than now */
    size_t n;                          /* timers that are set */
    size_t n_steps;                    /* timers put into a slot, for tests */
};

/* The cause that ended a sleep of the own thread. */
enum px_woken {
    PX_WOKEN_BY_TIME,
    PX_WOKEN_BY_MAIL,  /* wake_fd alone: no watched descriptor was ready */
    PX_WOKEN_BY_WATCH, /* a watched descriptor, perhaps wake_fd, too */
};

/* Descriptors and timers. Only the leader uses them. */
struct px_poll {
    struct event_base *base; /* NULL until needed */
    bool is_programs;        /* the base belongs to the program, which runs it */
    bool has_wake, wakes_by_edge;
    struct event wake; /* of wake_fd */
    int wake_fd;       /* an eventfd, written when a mailbox was empty; -1 */
    int sleep_fd;      /* a set of the same descriptors; -1: not made */
    int outer_fd;      /* a set of wake_fd and sleep_fd, for the own thread; -1 */
    enum px_arm armed;
    bool is_mirrored; /* sleep_fd holds all watched descriptors */
    struct px_list watches;
    struct px_timers timers;
    uint64_t due_ms;    /* no timer is due earlier; PX_NEVER */
    bool has_new_timer; /* a timer was set since the last release or visit */
    int n_writers;      /* number of watches for PX_WRITABLE */
};

/* State of child.c. */
struct px_children {
    struct px_list list;
    struct px_timer *poll;      /* for children without a pidfd; made when first
                                 * needed */
    const struct rusage *usage; /* usage of the child being reported; NULL if unknown */
};

struct px_loop {
    struct px_poll poll;
    atomic_bool external; /* never becomes false again */
    pthread_t thread;     /* the own thread, started and joined under lead_lock */
    atomic_bool has_thread;
    bool stopped; /* the own thread must end */
    /* The leader's pthread_self(), or 0. */
    _Atomic(uintptr_t) leader;
    uint64_t turn;       /* see px_loop_turn */
    uint64_t longest_ns; /* of a turn, without its sleep */
    bool guest; /* the leader is a caller, and must not run functions of the program */
    bool wants_thread; /* see px_loop_want_thread */

    /* Mailboxes, newest message first. The second one has messages that run functions
     * of the program. */
    _Atomic(struct px_msg *) inbox[2];
    atomic_uint posting; /* px_post calls that may still touch this structure */
    atomic_uint held;    /* px_loop_hold calls without px_loop_let_go */
    unsigned n_deferred; /* messages of px_loop_defer that have not run */

    /* The lock guards the members below it. */
    pthread_mutex_t lead_lock;
    pthread_cond_t lead_free;
    bool led;
    bool own_sleeps; /* the own thread has begun its first sleep, or will do so first */
    atomic_bool own_rests; /* the own thread of a server sleeps, and callers may lead */
    uint64_t sleeps_until_ms;
    atomic_bool turned_away; /* a guest led when a descriptor woke the own thread */
    unsigned n_visits;       /* threads in px_loop_begin_visit */
    void *visited;           /* the watch or timer that the visit is about */
    uintptr_t programs_self; /* the thread that runs the program's base, or 0 */
    atomic_bool no_guests;   /* see px_loop_let_guests */
    atomic_bool closing;
    atomic_bool no_waitv; /* the kernel cannot wait for two futexes */

    struct px_children children;
    /* Buffer of PX_SCRATCH_B bytes in a mapping of its own. On the heap, the buffer
     * would take half of the memory that malloc requests first. */
    void *scratch;
};

/* ---- loop.c: the leader ---------------------------------------------------------- */

/* Makes this thread the leader unless there is a leader. With lead_lock. */
bool px_lead_take(struct px_loop *loop, bool guest);
/* Gives up the lead, and wakes or starts the own thread if work is left. */
void px_lead_release(struct px_loop *loop);
/* Declares to clang's analysis that this thread leads. */
void px_lead_enter(struct px_loop *loop) PX_ASSERTS_LOOP;
/* True if a caller may lead as a guest now. With lead_lock. */
bool px_lead_is_open(struct px_loop *loop);
/* Makes one pass: waits for an event if wait, reports events, runs messages. */
void px_lead_pass(struct px_loop *loop, bool wait) PX_LOOP_ONLY;
/* Runs the mailboxes, and messages posted meanwhile. */
void px_lead_run_mail(struct px_loop *loop) PX_LOOP_ONLY;
/* True if a mailbox has messages; for_user selects the mailbox. */
bool px_loop_has_mail(struct px_loop *loop, bool for_user);
/* Posts without a wake-up. Returns true if the mailbox was empty. */
bool px_loop_push(struct px_loop *loop, struct px_msg *msg);

/* Takes the lead when the program's base calls an event of ours. Returns object, and
 * the caller must call px_loop_end_visit. Returns NULL if object was freed or the loop
 * ends meanwhile. */
void *px_loop_begin_visit(struct px_loop *loop, void *object);
void px_loop_end_visit(struct px_loop *loop);
/* Cancels a visit of a watch or timer that is about to be freed. */
void px_loop_forget(struct px_loop *loop, const void *object);

/* ---- listen.c -------------------------------------------------------------------- */

/* The latch of a call is a futex. The thread that opens the latch must not use the call
 * afterwards, because the waiter's stack may be gone. A futex wake-up needs only the
 * address. */
enum { PX_CALL_WAITS, PX_CALL_SLEEPS, PX_CALL_DONE };

struct px_call {
    struct px_msg msg;
    struct px_loop *loop;
    px_call_fn fn;
    void *args;
    pmix_status_t status;
    _Atomic int state;
    bool over;     /* px_call_done was called */
    bool is_guest; /* the caller leads */

    /* See px_call_listen. Other threads use these members only while checking is set,
     * and the caller waits for its end. */
    px_call_fn changed;
    const void *word;
    uint32_t seen;
    struct px_msg check;
    _Atomic int checking;
};

bool px_call_is_done(const struct px_call *call);
/* Waits until a listening call is done. */
void px_call_wait_listening(struct px_call *call);

/* ---- poll.c ---------------------------------------------------------------------- */

/* Initialises p. base: the program's, or NULL. Returns PMIX_ERR_OUT_OF_RESOURCE; the
 * caller then needs px_poll_fini, too. */
pmix_status_t px_poll_init(struct px_poll *p, struct event_base *base);
void px_poll_fini(struct px_poll *p);
/* Returns a time (px_clock_ms()) before which no timer is due; PX_NEVER without timers.
 * Never less than p->due_ms. */
uint64_t px_poll_due(struct px_poll *p, uint64_t now_ms);
/* Reports ready descriptors and due timers, and first waits for them if wait. Not for a
 * program's base. */
void px_poll_run(struct px_poll *p, bool wait) PX_LOOP_ONLY;
/* Works like px_poll_run without the program's base, which may be running: reports at
 * most one descriptor and one timer. */
void px_poll_run_beside(struct px_poll *p, bool wait) PX_LOOP_ONLY;
/* Makes sleep_fd and outer_fd, for any thread with lead_lock. The leader fills
 * sleep_fd. May return PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t px_poll_make_sleep(struct px_poll *p);
/* Chooses the descriptors that wake the own thread. With lead_lock. */
void px_poll_arm(struct px_poll *p, enum px_arm how);
/* Adds the watched descriptors to sleep_fd, for the leader. is_mirrored stays false if
 * the kernel has no room. */
void px_poll_fill(struct px_poll *p);
/* Waits for a descriptor of outer_fd, until due_ms. Touches nothing else. */
enum px_woken px_poll_sleep(struct px_poll *p, uint64_t due_ms);

/* ---- child.c --------------------------------------------------------------------- */

/* Frees all children. Reaps ended children without a report. */
void px_children_free(struct px_loop *loop);

#endif
