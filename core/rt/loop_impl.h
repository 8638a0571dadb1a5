/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a loop: loop.c decides which thread runs the loop, call.c and listen.c
 * have callers wait, poll.c adapts libevent. */
#ifndef PX_RT_LOOP_IMPL_H
#define PX_RT_LOOP_IMPL_H

#include "core/rt/loop.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <pthread.h>
#include <stdatomic.h>

#define PX_NEVER UINT64_MAX

/* Descriptors and timers. The leader alone touches them. */
struct px_poll {
    struct event_base *base; /* NULL until it is needed */
    bool is_programs;        /* the base belongs to the program, which runs it */
    bool has_wake, wakes_by_edge;
    struct event wake; /* of wake_fd */
    int wake_fd;
    int sleep_fd;     /* an epoll set of the same descriptors; -1: not made */
    bool is_mirrored; /* sleep_fd holds all that is watched */
    struct px_list watches, timers;
    uint64_t due_ms; /* no timer is due before; PX_NEVER */
    int n_writers;   /* watches of descriptors that are to be written to */
};

/* Descriptors that wake the own thread, beside messages. */
enum px_arm {
    PX_ARM_NOT,    /* nothing: a guest leads and sees to descriptors */
    PX_ARM_ONCE,   /* the next descriptor that is ready */
    PX_ARM_ALWAYS, /* every one, in a server */
};

struct px_loop {
    struct px_poll poll;
    atomic_bool external; /* becomes true only */
    pthread_t thread;     /* the own one, begun and joined under lead_lock */
    atomic_bool has_thread;
    bool stopped; /* the own thread is to end */
    /* The leader's pthread_self(), or 0. */
    _Atomic(uintptr_t) leader;
    bool guest; /* the leader is a caller, and runs no function of the program's */

    /* The mailboxes, newest message first. The second one has the messages that run
     * functions of the program's. */
    _Atomic(struct px_msg *) inbox[2];
    atomic_uint posting; /* px_post calls that may still touch this structure */
    atomic_uint held;    /* px_loop_hold calls not yet undone */
    int wake_fd;         /* an eventfd, written when an inbox was empty */
    unsigned n_deferred; /* messages of px_loop_defer that have not run */

    /* The lock guards the members below it. */
    pthread_mutex_t lead_lock;
    pthread_cond_t lead_free;
    bool led;
    bool own_rests; /* the own thread of a server sleeps, and callers may lead */
    /* An epoll set of wake_fd and poll.sleep_fd, on which the own thread sleeps. */
    int outer_fd;
    enum px_arm armed;
    uint64_t sleeps_until_ms;
    unsigned n_visits;       /* threads in px_loop_begin_visit */
    void *visited;           /* the watch or timer that the visit is about */
    uintptr_t programs_self; /* the thread that runs the program's base, or 0 */
    atomic_bool no_guests;   /* see px_loop_let_guests */
    atomic_bool closing;
    atomic_bool no_waitv; /* the kernel cannot wait for two futexes */

    struct px_children children;
    uint8_t scratch[PX_SCRATCH_B]; /* the last member, as it is not zeroed */
};

/* ---- loop.c: the leader ---------------------------------------------------------- */

/* Makes this thread the leader unless there is another. With lead_lock. */
bool px_lead_take(struct px_loop *loop, bool guest);
/* Gives up the lead and sees to what is left. */
void px_lead_release(struct px_loop *loop);
/* Fact for clang: this thread leads. */
void px_lead_enter(struct px_loop *loop) PX_ASSERTS_LOOP;
/* True if a caller may lead as a guest now. With lead_lock. */
bool px_lead_is_open(struct px_loop *loop);
/* With lead_lock. */
void px_lead_arm(struct px_loop *loop, enum px_arm how);
/* One pass: waits for something to happen if wait, reports it, runs messages. */
void px_lead_pass(struct px_loop *loop, bool wait) PX_LOOP_ONLY;
/* Runs the mailboxes, and what their messages post. */
void px_lead_run_mail(struct px_loop *loop) PX_LOOP_ONLY;
/* True if a mailbox, of the program's functions or not, has messages. */
bool px_loop_has_mail(struct px_loop *loop, bool for_user);
/* Posts without a wake-up. Returns true if the mailbox was empty. */
bool px_loop_push(struct px_loop *loop, struct px_msg *msg);

/* The program's base calls an event of ours: takes the lead. Returns object, NULL if
 * object was freed or the loop ends meanwhile. px_loop_end_visit is due in the first
 * case. */
void *px_loop_begin_visit(struct px_loop *loop, void *object);
void px_loop_end_visit(struct px_loop *loop);
/* A watch or timer is about to be freed. */
void px_loop_forget(struct px_loop *loop, const void *object);

/* ---- listen.c -------------------------------------------------------------------- */

/* The latch of a call is a futex. The thread that opens it may not touch it afterwards,
 * as the waiter's stack is gone by then, and a futex wake-up needs the address only. */
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

    /* See px_call_listen. Other threads touch these members only while checking is set,
     * and the caller waits for that. */
    px_call_fn changed;
    const void *word;
    uint32_t seen;
    struct px_msg check;
    _Atomic int checking;
};

bool px_call_is_done(const struct px_call *call);
/* Waits until a call that listens is done. */
void px_call_wait_listening(struct px_call *call);

/* ---- poll.c ---------------------------------------------------------------------- */

/* base: the program's, or NULL. PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t px_poll_init(struct px_poll *p, int wake_fd, struct event_base *base);
void px_poll_fini(struct px_poll *p);
/* Returns a time, of px_clock_ms(), before which no timer is due; PX_NEVER. */
uint64_t px_poll_due(struct px_poll *p);
/* Reports what is ready and due, after a wait for it if wait. Not for a program's
 * base. */
void px_poll_run(struct px_poll *p, bool wait) PX_LOOP_ONLY;
/* The same without the program's base, which may be running now: at most one of
 * each. */
void px_poll_run_beside(struct px_poll *p, bool wait) PX_LOOP_ONLY;
/* Makes sleep_fd, empty, for any thread with lead_lock. PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t px_poll_mirror(struct px_poll *p);
/* Adds to sleep_fd what is watched, for the leader. is_mirrored stays false if the
 * kernel has no room. */
void px_poll_fill(struct px_poll *p);
/* Waits for one of an epoll set, until due_ms. Touches nothing else. Returns true if
 * one is ready. */
bool px_poll_sleep(int epoll_fd, uint64_t due_ms);

#endif
