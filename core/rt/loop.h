/* SPDX-License-Identifier: BSD-3-Clause */
/* The event loop: one thread at a time, which owns all mutable state, and the mailboxes
 * into it. */
#ifndef PX_RT_LOOP_H
#define PX_RT_LOOP_H

#include "core/base/attr.h"
#include "core/base/list.h"
#include "pmix_common.h"
#include "tenon/services.h"

#include <stdbool.h>
#include <stdint.h>

struct px_loop;

struct event_base;

/* The thread that runs the loop while none waits in px_call. */
enum px_progress {
    PX_PROGRESS_THREAD,   /* a thread of the loop's own */
    PX_PROGRESS_LAZY,     /* the same, begun when there is something to do: adr/0021 */
    PX_PROGRESS_EXTERNAL, /* px_loop_pump (PMIx_Progress) */
};
/* base: a libevent base that the program runs, and that runs the loop with its own
 * events; progress is external then. The base stays the program's, and must outlive the
 * loop. NULL: the loop makes one. PMIX_ERR_OUT_OF_RESOURCE, PMIX_ERR_NOMEM. */
pmix_status_t px_loop_create(enum px_progress progress, struct event_base *base,
                             struct px_loop **loop);
/* Starts the loop's own thread if it has not started, as something may happen from now
 * on that must not wait for a call. PMIX_ERR_OUT_OF_RESOURCE. Any thread. */
pmix_status_t px_loop_need_thread(struct px_loop *loop);
/* Runs what is still in the mailbox, ends the thread, frees, as soon as it is not held.
 * Not on the loop thread. */
void px_loop_destroy(struct px_loop *loop);
/* For a thread that waits in px_call while another may destroy the loop: it is not
 * freed before it is let go. Any thread. */
void px_loop_hold(struct px_loop *loop);
void px_loop_let_go(struct px_loop *loop);
/* Ends the loop's own thread, after what has been posted before; progress is external
 * from then on, also for threads that wait already. Nothing if there is no thread. Not
 * on the loop thread; one call at a time. */
void px_loop_stop_thread(struct px_loop *loop);
#define PX_LOOP_THREAD_NAME "tenon-loop"
/* False for NULL. */
bool px_loop_is_current(const struct px_loop *loop);
/* For the first line of a function that something other than a direct call leads to. */
void px_loop_assert(const struct px_loop *loop) PX_ASSERTS_LOOP;
/* One pass without blocking; for external progress. Any thread, one at a time. */
void px_loop_pump(struct px_loop *loop);

/* A message into the loop: embed it, set run, post it. Posted messages run in order,
 * those for the user among themselves. Any thread, the one that runs the loop too (it
 * then runs later, never inside the caller). */
struct px_msg {
    struct px_msg *next;
    void (*run)(struct px_msg *msg);
    bool for_user; /* run calls functions of the program's: not in its own threads */
};
void px_post(struct px_loop *loop, struct px_msg *msg);

/* A thread that waits in px_call runs the loop as a guest, and calls none of the
 * program's functions, as the program may hold locks. Before one is called: true in a
 * guest, if msg, which then does it, has been posted; false elsewhere, also for
 * NULL. */
bool px_loop_defer(struct px_loop *loop, struct px_msg *msg);
/* Whether there may be guests (there may, at first): where the loop calls functions of
 * the program's at any point, as a server does, there may not. Any thread. */
void px_loop_let_guests(struct px_loop *loop, bool allowed);

/* Calls: the only blocking door into the loop. */
struct px_call;

/* Runs on the loop; must see to it that px_call_done is called exactly once, now or
 * later. */
typedef void (*px_call_fn)(struct px_call *call, void *args);

/* Posts fn(call, args) and waits until it is done; args live on the caller's stack.
 * Returns the status given to px_call_done; PMIX_ERR_WOULD_BLOCK on the loop thread;
 * PMIX_ERR_INIT if loop is NULL. It runs the loop itself while it waits, as a guest or
 * with external progress, unless another thread does. */
pmix_status_t px_call(struct px_loop *loop, px_call_fn fn, void *args);
/* On the loop: has the caller wait for a word that another process writes, beside what
 * comes by descriptors. When the word differs from seen, or after some time,
 * changed(call, args) runs on the loop, and may listen again. The memory may go
 * meanwhile. Returns false if the caller does not lead, or the kernel has no way. */
bool px_call_listen(struct px_call *call, const _Atomic uint32_t *word, uint32_t seen,
                    px_call_fn changed);
/* On the loop. call and args are gone once it returns. */
void px_call_done(struct px_call *call, pmix_status_t status);

/* PX_SCRATCH_B bytes for the time of a callback: stacks of guests may be small. */
#define PX_SCRATCH_B (64u * 1024u)
void *px_loop_scratch(struct px_loop *loop);

/* In a forked child, where the loop's thread does not exist: closes what can be closed
 * without disturbing the parent. The memory must stay. */
void px_loop_abandon(struct px_loop *loop);

/* Watches and timers as in tenon/services.h; loop thread only. Watches and timers
 * must be freed before the loop is destroyed, and may be freed inside their own
 * callback. A watch that is both readable and writable gets two calls. */
struct px_watch *px_watch_create(struct px_loop *loop, int fd, unsigned events,
                                 px_watch_fn fn, void *arg);
/* PMIX_ERR_OUT_OF_RESOURCE: the kernel has no room, and it is as it was. To watch for
 * less succeeds. */
pmix_status_t px_watch_set(struct px_watch *watch, unsigned events);
void px_watch_free(struct px_watch *watch);

struct px_timer *px_timer_create(struct px_loop *loop, px_timer_fn fn, void *arg);
void px_timer_set(struct px_timer *timer, uint64_t in_ms);
void px_timer_clear(struct px_timer *timer);
void px_timer_free(struct px_timer *timer);

/* For child.c, whose they are. */
struct px_children {
    struct px_list list;
    void (*free_all)(struct px_loop *loop); /* NULL: there never were any */
    struct px_timer *poll;      /* for those without a pidfd; made when first needed */
    const struct rusage *usage; /* of the one that is being reported; NULL: not known */
};
struct px_children *px_loop_children(struct px_loop *loop);

#endif
