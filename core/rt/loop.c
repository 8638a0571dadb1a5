/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop, its mailbox, calls, watches and timers, over a libevent base without locks.
 *
 * Exactly one thread at a time runs the base: the loop's own thread or, with external
 * progress, the one that holds the turn. All others reach it through the mailbox, a
 * lock-free stack with an eventfd that is written only when the stack was empty, so
 * that a burst of messages costs one wake-up. */
#include "core/rt/loop.h"

#include "core/base/clock.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>

struct px_loop {
    struct event_base *base;
    atomic_bool external; /* becomes true only */
    pthread_t thread;     /* unless external */
    /* The thread that runs the loop: its pthread_self(), or 0. */
    _Atomic(uintptr_t) owner;

    /* The mailbox: newest first, turned round by the reader. */
    _Atomic(struct px_msg *) inbox;
    atomic_uint posting; /* px_post calls that may still touch this structure */
    atomic_uint held;    /* px_loop_hold calls not yet undone */
    int wake_fd;         /* an eventfd, written when the inbox was empty */
    struct event mail;

    /* External progress: whose turn it is to run the loop. */
    pthread_mutex_t turn_lock;
    pthread_cond_t turn_over;
    bool pumping;

    struct px_children children;
};

static uintptr_t self(void)
{
    return (uintptr_t)pthread_self();
}

bool px_loop_is_current(const struct px_loop *loop)
{
    /* Relaxed: the only value that matters is the one this thread has written
     * itself. */
    return loop && atomic_load_explicit(&loop->owner, memory_order_relaxed) == self();
}

void px_loop_assert(const struct px_loop *loop)
{
    assert(px_loop_is_current(loop));
    (void)loop;
}

/* ---- mailbox --------------------------------------------------------------------- */

void px_post(struct px_loop *loop, struct px_msg *msg)
{
    struct px_msg *newest = atomic_load_explicit(&loop->inbox, memory_order_relaxed);

    /* As soon as the message is in, it may run and bring about px_loop_destroy, while
     * this thread has the eventfd still to write: destroy waits for posting to reach
     * 0. */
    atomic_fetch_add_explicit(&loop->posting, 1, memory_order_relaxed);
    do {
        msg->next = newest;
    } while (!atomic_compare_exchange_weak_explicit(
        &loop->inbox, &newest, msg, memory_order_release, memory_order_relaxed));
    /* Fails only if 2^64 wake-ups are pending, and one is enough; or for a moment,
     * where something between us and the kernel (a tracer, a sandbox) interrupts it.
     * That wake-up would be the last: the mailbox stays full, and a full one is not
     * told of again. */
    if (!newest)
        (void)PX_RETRY(write(loop->wake_fd, &(uint64_t){1}, sizeof(uint64_t)));
    atomic_fetch_sub_explicit(&loop->posting, 1, memory_order_release);
}

/* Runs what is in the mailbox now, in the order posted; what that posts in turn is left
 * for the next pass, so that messages cannot starve sockets and timers. False if it was
 * empty. */
static PX_LOOP_ONLY bool run_mail(struct px_loop *loop)
{
    struct px_msg *newest = atomic_exchange_explicit(&loop->inbox, NULL,
                                                     memory_order_acquire);
    struct px_msg *oldest = NULL;
    bool any = newest != NULL;

    while (newest) {
        struct px_msg *next = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        struct px_msg *msg = oldest;

        oldest = msg->next; /* run may free msg */
        msg->next = NULL;
        msg->run(msg);
    }
    return any;
}

static void on_mail(evutil_socket_t fd, short what PX_UNUSED, void *arg)
{
    uint64_t n;

    px_loop_assert(arg);
    /* Emptied before the inbox is: a message that comes in between costs a wake-up for
     * nothing, in the other order it would be forgotten. */
    (void)!read(fd, &n, sizeof(n));
    run_mail(arg);
}

/* ---- running --------------------------------------------------------------------- */

static void enter(struct px_loop *loop) PX_ASSERTS_LOOP
{
    atomic_store_explicit(&loop->owner, self(), memory_order_relaxed);
}

static void leave(struct px_loop *loop)
{
    atomic_store_explicit(&loop->owner, 0, memory_order_relaxed);
}

static void *thread_main(void *arg)
{
    struct px_loop *loop = arg;

    enter(loop);
    event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY);
    leave(loop);
    return NULL;
}

/* The turn is taken; turn_lock is not held. */
static void take_turn(struct px_loop *loop, int flags)
{
    enter(loop);
    event_base_loop(loop->base, flags);
    leave(loop);

    pthread_mutex_lock(&loop->turn_lock);
    loop->pumping = false;
    pthread_cond_broadcast(&loop->turn_over);
    pthread_mutex_unlock(&loop->turn_lock);
}

void px_loop_pump(struct px_loop *loop)
{
    if (!loop->external)
        return;
    pthread_mutex_lock(&loop->turn_lock);
    bool mine = !loop->pumping; /* else it is seen to already, perhaps by this thread */
    loop->pumping = true;
    pthread_mutex_unlock(&loop->turn_lock);
    if (mine) /* alone, NONBLOCK goes on while any fd is ready */
        take_turn(loop, EVLOOP_NONBLOCK | EVLOOP_ONCE);
}

/* ---- calls: a message and a latch on the caller's stack -------------------------- */

/* The latch is a futex, because the thread that opens it may not touch it afterwards:
 * the waiter's stack is gone by then, and a futex wake-up needs the address only. */
enum { WAITING, ASLEEP, DONE };

struct px_call {
    struct px_msg msg;
    px_call_fn fn;
    void *args;
    pmix_status_t status;
    _Atomic int state;
};

static void on_call(struct px_msg *msg)
{
    struct px_call *call = PX_CONTAINER_OF(msg, struct px_call, msg);

    call->fn(call, call->args);
}

static bool is_done(const struct px_call *call)
{
    return atomic_load_explicit(&call->state, memory_order_acquire) == DONE;
}

/* External progress: runs the loop, or waits while another thread does, until the call
 * is done. */
static void help(struct px_loop *loop, const struct px_call *call)
{
    pthread_mutex_lock(&loop->turn_lock);
    while (!is_done(call)) {
        if (loop->pumping) {
            pthread_cond_wait(&loop->turn_over, &loop->turn_lock);
            continue;
        }
        loop->pumping = true;
        pthread_mutex_unlock(&loop->turn_lock);
        take_turn(loop, EVLOOP_ONCE);
        pthread_mutex_lock(&loop->turn_lock);
    }
    pthread_mutex_unlock(&loop->turn_lock);
}

pmix_status_t px_call(struct px_loop *loop, px_call_fn fn, void *args)
{
    static const struct timespec look_up = {.tv_sec = 1};
    struct px_call call = {.msg = {.run = on_call}, .fn = fn, .args = args};
    int was = WAITING;

    if (!loop)
        return PMIX_ERR_INIT;
    if (px_loop_is_current(loop))
        return PMIX_ERR_WOULD_BLOCK;
    px_post(loop, &call.msg);
    if (!loop->external) /* if it is not done already */
        atomic_compare_exchange_strong_explicit(
            &call.state, &was, ASLEEP, memory_order_acquire, memory_order_acquire);
    /* The loop's thread may be stopped while this one waits for it, which then takes
     * its part. */
    while (!is_done(&call)) {
        if (loop->external)
            help(loop, &call);
        else
            syscall(SYS_futex, &call.state, FUTEX_WAIT_PRIVATE, ASLEEP, &look_up, NULL,
                    0);
    }
    return call.status;
}

void px_call_done(struct px_call *call, pmix_status_t status)
{
    _Atomic int *state = &call->state;

    call->status = status;
    if (atomic_exchange_explicit(state, DONE, memory_order_acq_rel) == ASLEEP)
        syscall(SYS_futex, state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- life ------------------------------------------------------------------------ */

/* Signals are the host's: none may choose the loop's thread to run its handler in.
 * Those that report a fault of this very thread stay, or crash handlers would not
 * work. */
static pmix_status_t start_thread(struct px_loop *loop)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t all, before;

    sigfillset(&all);
    for (size_t i = 0; i < PX_COUNT(faults); i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int errnum = pthread_create(&loop->thread, NULL, thread_main, loop);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (errnum)
        return PMIX_ERR_OUT_OF_RESOURCE;
    pthread_setname_np(loop->thread, PX_LOOP_THREAD_NAME);
    return PMIX_SUCCESS;
}

static void free_loop(struct px_loop *loop)
{
    if (loop->base) {
        if (event_initialized(&loop->mail))
            event_del(&loop->mail);
        event_base_free(loop->base);
    }
    if (loop->wake_fd >= 0)
        close(loop->wake_fd);
    pthread_cond_destroy(&loop->turn_over);
    pthread_mutex_destroy(&loop->turn_lock);
    free(loop);
}

static pmix_status_t set_up(struct px_loop *loop)
{
    struct event_config *config = event_config_new();

    if (config) {
        event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
        event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV);
        loop->base = event_base_new_with_config(config);
        event_config_free(config);
    }
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!loop->base || loop->wake_fd < 0)
        return PMIX_ERR_OUT_OF_RESOURCE;
    if (event_assign(&loop->mail, loop->base, loop->wake_fd, EV_READ | EV_PERSIST,
                     on_mail, loop) ||
        event_add(&loop->mail, NULL))
        return PMIX_ERR_NOMEM;
    return loop->external ? PMIX_SUCCESS : start_thread(loop);
}

pmix_status_t px_loop_create(bool external, struct px_loop **out)
{
    struct px_loop *loop = calloc(1, sizeof(*loop));

    if (!loop)
        return PMIX_ERR_NOMEM;
    loop->external = external;
    pthread_mutex_init(&loop->turn_lock, NULL);
    pthread_cond_init(&loop->turn_over, NULL);
    px_list_init(&loop->children.list);
    pmix_status_t rc = set_up(loop);
    if (rc) {
        free_loop(loop);
        return rc;
    }
    *out = loop;
    return PMIX_SUCCESS;
}

struct stop {
    struct px_msg msg;
    struct px_loop *loop;
};

static void on_stop(struct px_msg *msg)
{
    event_base_loopbreak(PX_CONTAINER_OF(msg, struct stop, msg)->loop->base);
}

static void end_thread(struct px_loop *loop)
{
    struct stop stop = {.msg = {.run = on_stop}, .loop = loop};

    px_post(loop, &stop.msg);
    pthread_join(loop->thread, NULL);
}

void px_loop_stop_thread(struct px_loop *loop)
{
    if (loop->external)
        return;
    end_thread(loop);
    atomic_store(&loop->external, true);
}

void px_loop_hold(struct px_loop *loop)
{
    atomic_fetch_add_explicit(&loop->held, 1, memory_order_relaxed);
}

void px_loop_let_go(struct px_loop *loop)
{
    atomic_fetch_sub_explicit(&loop->held, 1, memory_order_release);
}

/* ---- watches: either kind may be freed inside its own callback; nothing touches it
 * after  */

/* Two events, so that turning "writable" on and off is one epoll_ctl, not two. */
struct px_watch {
    struct px_loop *loop;
    struct event readable;
    struct event writable;
    unsigned events; /* enum px_watch_events, or-ed: what is watched now */
    px_watch_fn fn;
    void *arg;
};

struct px_timer {
    struct px_loop *loop;
    struct event event;
    uint64_t due_ms; /* of px_clock_ms() */
    px_timer_fn fn;
    void *arg;
};

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
    struct px_watch *w = arg;

    w->fn(w->arg, fd, what & EV_READ ? PX_READABLE : PX_WRITABLE);
}

static pmix_status_t set_events(struct px_watch *w, unsigned events)
{
    struct event *const both[] = {&w->readable, &w->writable};
    static const unsigned bits[] = {PX_READABLE, PX_WRITABLE};

    for (size_t i = 0; i < PX_COUNT(both); i++) {
        if (!((w->events ^ events) & bits[i]))
            continue;
        if (events & bits[i] ? event_add(both[i], NULL) : event_del(both[i]))
            return PMIX_ERROR;
        w->events ^= bits[i];
    }
    return PMIX_SUCCESS;
}

struct px_watch *px_watch_create(struct px_loop *loop, int fd, unsigned events,
                                 px_watch_fn fn, void *arg)
{
    px_loop_assert(loop);
    struct px_watch *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    *w = (struct px_watch){.loop = loop, .fn = fn, .arg = arg};
    event_assign(&w->readable, loop->base, fd, EV_READ | EV_PERSIST, on_ready, w);
    event_assign(&w->writable, loop->base, fd, EV_WRITE | EV_PERSIST, on_ready, w);
    if (set_events(w, events)) {
        px_watch_free(w);
        return NULL;
    }
    return w;
}

void px_watch_set(struct px_watch *w, unsigned events)
{
    px_loop_assert(w->loop);
    /* libevent keeps its record of an fd, so this asks for no memory of ours. */
    (void)set_events(w, events);
}

void px_watch_free(struct px_watch *w)
{
    if (!w)
        return;
    px_loop_assert(w->loop);
    event_del(&w->readable);
    event_del(&w->writable);
    free(w);
}

/* ---- timers ---------------------------------------------------------------------- */

/* libevent's own limit is lower than uint64_t; a longer timer is armed in several
 * turns. */
#define LONGEST_MS (7 * 24 * 3600 * UINT64_C(1000))

static void arm(struct px_timer *t, uint64_t in_ms)
{
    if (in_ms > LONGEST_MS)
        in_ms = LONGEST_MS;
    const struct timeval tv = {
        .tv_sec = (time_t)(in_ms / 1000),
        .tv_usec = (suseconds_t)(in_ms % 1000 * 1000),
    };
    /* The heap of timers may want memory. A timer that is lost is a hang; this one
     * comes at once instead, finds that it is early and is armed again. */
    if (event_add(&t->event, &tv))
        event_active(&t->event, EV_TIMEOUT, 0);
}

/* libevent counts by a coarse clock and from the start of a pass, so it may come a
 * little early; a deadline kept in px_clock_ms() must have passed when its timer
 * fires. */
static void on_time(evutil_socket_t fd PX_UNUSED, short what PX_UNUSED, void *arg)
{
    struct px_timer *t = arg;
    uint64_t now = px_clock_ms();

    if (now < t->due_ms)
        arm(t, t->due_ms - now);
    else
        t->fn(t->arg);
}

struct px_timer *px_timer_create(struct px_loop *loop, px_timer_fn fn, void *arg)
{
    px_loop_assert(loop);
    struct px_timer *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    *t = (struct px_timer){.loop = loop, .fn = fn, .arg = arg};
    evtimer_assign(&t->event, loop->base, on_time, t);
    return t;
}

void px_timer_set(struct px_timer *t, uint64_t in_ms)
{
    px_loop_assert(t->loop);
    uint64_t now = px_clock_ms();
    t->due_ms = in_ms > UINT64_MAX - now ? UINT64_MAX : now + in_ms;
    arm(t, in_ms);
}

void px_timer_clear(struct px_timer *t)
{
    px_loop_assert(t->loop);
    event_del(&t->event);
}

void px_timer_free(struct px_timer *t)
{
    if (!t)
        return;
    px_timer_clear(t);
    free(t);
}

struct px_children *px_loop_children(struct px_loop *loop)
{
    return &loop->children;
}

/* ---- the end --------------------------------------------------------------------- */

/* Runs messages that came while the loop was ended. Callers that still wait are
 * answered here, and may not have left px_call yet. */
static void run_rest(struct px_loop *loop)
{
    enter(loop);
    do {
        while (run_mail(loop))
            ;
        /* Those who wait for a turn look whether they still need one. */
        pthread_mutex_lock(&loop->turn_lock);
        pthread_cond_broadcast(&loop->turn_over);
        pthread_mutex_unlock(&loop->turn_lock);
        sched_yield();
    } while (atomic_load_explicit(&loop->posting, memory_order_acquire) ||
             atomic_load_explicit(&loop->inbox, memory_order_relaxed) ||
             atomic_load_explicit(&loop->held, memory_order_acquire));
    if (loop->children.free_all)
        loop->children.free_all(loop);
    leave(loop);
}

void px_loop_destroy(struct px_loop *loop)
{
    if (!loop)
        return;
    assert(!px_loop_is_current(loop));
    if (loop->external) {
        /* A thread may still be in its last pass of px_loop_pump. None begins
         * another. */
        pthread_mutex_lock(&loop->turn_lock);
        while (loop->pumping)
            pthread_cond_wait(&loop->turn_over, &loop->turn_lock);
        loop->pumping = true;
        pthread_mutex_unlock(&loop->turn_lock);
    } else {
        end_thread(loop);
    }
    run_rest(loop);
    free_loop(loop);
}

void px_loop_abandon(struct px_loop *loop)
{
    /* libevent must not be asked to clean up: the epoll set is still shared with the
     * parent. */
    close(loop->wake_fd);
}
