/* SPDX-License-Identifier: BSD-3-Clause */
/* Event loop: one thread at a time owns all mutable state. Other threads post messages
 * to its mailboxes. */
#ifndef PX_RT_LOOP_H
#define PX_RT_LOOP_H

#include "core/base/attr.h"
#include "pmix_common.h"
#include "tenon/services.h"

#include <stdbool.h>
#include <stdint.h>

struct px_loop;

struct event_base;

/* Choice of the thread that runs the loop while no thread waits in px_call. */
enum px_progress {
    PX_PROGRESS_THREAD,   /* the loop's own thread */
    PX_PROGRESS_LAZY,     /* the loop's own thread, started when needed (adr/0021) */
    PX_PROGRESS_EXTERNAL, /* callers of px_loop_pump (PMIx_Progress) */
};
/* Creates a loop. base: a libevent base that the program runs with its own events;
 * progress is then external. The program owns the base, which must outlive the loop.
 * NULL: the loop makes a base. Returns PMIX_ERR_OUT_OF_RESOURCE or PMIX_ERR_NOMEM. */
pmix_status_t px_loop_create(enum px_progress progress, struct event_base *base,
                             struct px_loop **loop);
/* Starts the loop's own thread unless it runs, for events that must not wait for a
 * call. Returns PMIX_ERR_OUT_OF_RESOURCE. Any thread. */
pmix_status_t px_loop_need_thread(struct px_loop *loop);
/* Starts the loop's own thread before the present call waits, while the server works on
 * what this process has sent. px_loop_need_thread returns the result later. Loop thread
 * only. */
void px_loop_want_thread(struct px_loop *loop);
/* Runs the remaining messages, ends the thread, and frees the loop when it is not held.
 * Not on the loop thread. */
void px_loop_destroy(struct px_loop *loop);
/* Delays px_loop_destroy until px_loop_let_go, for a thread that waits in px_call. Any
 * thread. */
void px_loop_hold(struct px_loop *loop);
void px_loop_let_go(struct px_loop *loop);
/* Ends the loop's own thread after earlier messages. Progress is external from then on,
 * also for waiting threads. Does nothing without a thread. Not on the loop thread; one
 * call at a time. */
void px_loop_stop_thread(struct px_loop *loop);
/* True if only the program's threads run the loop. Any thread. */
bool px_loop_is_external(const struct px_loop *loop);
#define PX_LOOP_THREAD_NAME "tenon-loop"
/* True if this thread runs the loop. loop may be NULL: false. */
bool px_loop_is_current(const struct px_loop *loop);
/* Asserts the loop thread, in the first line of functions that are called through a
 * pointer. */
void px_loop_assert(const struct px_loop *loop) PX_ASSERTS_LOOP;
/* Makes one pass without blocking, for external progress. Any thread, one at a time. */
void px_loop_pump(struct px_loop *loop);

/* Returns the number of the present turn. In each turn the loop checks all descriptors
 * and timers, then runs messages. Loop thread only. */
uint64_t px_loop_turn(const struct px_loop *loop);
/* Returns the time of the longest turn of the loop's own thread, or of PMIx_Progress.
 * Loop thread only. */
uint64_t px_loop_longest_ns(const struct px_loop *loop);

/* A message to the loop: embed the struct, set run, post it. Messages run in order;
 * messages for_user have an order of their own. Any thread may post. On the loop's
 * thread run is called later, never inside px_post. */
struct px_msg {
    struct px_msg *next;
    void (*run)(struct px_msg *msg);
    bool for_user; /* run calls functions of the program, never in the program's
                    * threads */
};
void px_post(struct px_loop *loop, struct px_msg *msg);

/* Posts msg and returns true if the leader is a guest. Call this before a function of
 * the program; msg then calls that function. A guest, a thread waiting in px_call, must
 * not do so, because the program may hold locks. Returns false elsewhere, also if loop
 * is NULL. */
bool px_loop_defer(struct px_loop *loop, struct px_msg *msg);
/* Allows or forbids guests; allowed at first. A server's loop calls functions of the
 * program at any time, so it forbids guests. Any thread. */
void px_loop_let_guests(struct px_loop *loop, bool allowed);

/* A call: the only blocking entry to the loop. */
struct px_call;

/* Runs on the loop; ensures exactly one px_call_done, now or later. */
typedef void (*px_call_fn)(struct px_call *call, void *args);

/* Posts fn(call, args) and waits until the call is done; args live on the caller's
 * stack. Returns the status of px_call_done, PMIX_ERR_WOULD_BLOCK on the loop thread,
 * PMIX_ERR_INIT if loop is NULL. The waiting thread runs the loop, as a guest or with
 * external progress, unless another thread leads. */
pmix_status_t px_call(struct px_loop *loop, px_call_fn fn, void *args);
/* Makes the caller wait also for a word that another process writes. On the loop. When
 * the word differs from seen, or after some time, changed(call, args) runs on the loop,
 * and may listen again. The word's memory may go meanwhile. Returns false if the caller
 * does not lead, or the kernel lacks the function. */
bool px_call_listen(struct px_call *call, const _Atomic uint32_t *word, uint32_t seen,
                    px_call_fn changed);
/* Completes a call. On the loop. call and args are invalid afterwards. */
void px_call_done(struct px_call *call, pmix_status_t status);
/* Completes a call when all messages for_user posted so far have run, if the loop has
 * its own thread. Otherwise works like px_call_done. */
void px_call_done_last(struct px_call *call, pmix_status_t status);

/* Buffer of PX_SCRATCH_B bytes for the duration of a callback: guests' stacks may be
 * small. */
#define PX_SCRATCH_B (64u * 1024u)
void *px_loop_scratch(struct px_loop *loop);

/* Closes descriptors in a forked child without disturbing the parent. The loop's thread
 * does not exist there. The memory must stay. */
void px_loop_abandon(struct px_loop *loop);

/* Watches and timers of tenon/services.h; loop thread only. They must be freed before
 * the loop, and may be freed inside their own callback. A watch that is both readable
 * and writable gets two calls. */
struct px_watch *px_watch_create(struct px_loop *loop, int fd, unsigned events,
                                 px_watch_fn fn, void *arg);
/* Changes the watched events. Returns PMIX_ERR_OUT_OF_RESOURCE, without a change, if
 * the kernel has no room. Watching less always succeeds. */
pmix_status_t px_watch_set(struct px_watch *watch, unsigned events);
void px_watch_free(struct px_watch *watch);

struct px_timer *px_timer_create(struct px_loop *loop, px_timer_fn fn, void *arg);
void px_timer_set(struct px_timer *timer, uint64_t in_ms);
void px_timer_clear(struct px_timer *timer);
void px_timer_free(struct px_timer *timer);

#endif
