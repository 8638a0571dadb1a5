/* SPDX-License-Identifier: BSD-3-Clause */
/* The turns of threads at running the loop, its mailboxes, and calls.
 *
 * Exactly one thread at a time has the turn to run it (adr/0022): the loop's own; or,
 * as a guest, one that waits in px_call, which spares both a wake-up; or, with external
 * progress, any that pumps or waits. All others reach it through the mailboxes,
 * lock-free stacks with an eventfd that is written only when the stack was empty, so
 * that a burst of messages costs one wake-up. */
#include "core/rt/loop_impl.h"

#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

/* Messages that messages have posted are run before descriptors are looked at again, so
 * often. */
#define MAIL_ROUNDS 8

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

/* True if it was empty. */
static bool push(_Atomic(struct px_msg *) *inbox, struct px_msg *msg)
{
    struct px_msg *newest = atomic_load_explicit(inbox, memory_order_relaxed);

    do {
        msg->next = newest;
    } while (!atomic_compare_exchange_weak_explicit(
        inbox, &newest, msg, memory_order_release, memory_order_relaxed));
    return !newest;
}

static bool has_mail(struct px_loop *loop, bool for_user)
{
    return atomic_load_explicit(&loop->inbox[for_user], memory_order_relaxed);
}

/* Fails only if 2^64 wake-ups are pending, and one is enough; or for a moment, where
 * something between us and the kernel (a tracer, a sandbox) interrupts it. That wake-up
 * would be the last: the mailbox stays full, and a full one is not told of again. */
static void wake(struct px_loop *loop)
{
    (void)PX_RETRY(write(loop->wake_fd, &(uint64_t){1}, sizeof(uint64_t)));
}

static void *thread_main(void *arg);

/* With turn_lock. Signals are the host's: none may choose the loop's thread to run its
 * handler in. Those that report a fault of this very thread stay, or crash handlers
 * would not work. */
static pmix_status_t begin_thread(struct px_loop *loop)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    struct epoll_event none = {0};
    sigset_t all, before;

    if (loop->outer_fd < 0)
        loop->outer_fd = epoll_create1(EPOLL_CLOEXEC);
    if (loop->outer_fd < 0 ||
        epoll_ctl(loop->outer_fd, EPOLL_CTL_ADD, loop->poll.fd, &none))
        return PMIX_ERR_OUT_OF_RESOURCE;
    sigfillset(&all);
    for (size_t i = 0; i < PX_COUNT(faults); i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int errnum = pthread_create(&loop->thread, NULL, thread_main, loop);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    loop->has_thread = !errnum;
    if (errnum)
        px_drop_fd(&loop->outer_fd);
    return errnum ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

pmix_status_t px_loop_need_thread(struct px_loop *loop)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (loop->has_thread)
        return PMIX_SUCCESS;
    pthread_mutex_lock(&loop->turn_lock);
    if (!loop->has_thread && !loop->external)
        rc = begin_thread(loop);
    pthread_mutex_unlock(&loop->turn_lock);
    return rc;
}

/* With turn_lock: something is left, and it may be long until the next call. */
static void must_run(struct px_loop *loop)
{
    if (!loop->has_thread && !loop->external && begin_thread(loop))
        atomic_store(&loop->external, true);
}

void px_post(struct px_loop *loop, struct px_msg *msg)
{
    /* As soon as the message is in, it may run and bring about px_loop_destroy, while
     * this thread has the eventfd still to write: destroy waits for posting to reach
     * 0. The thread that has the turn looks into the mailboxes before it waits. */
    atomic_fetch_add_explicit(&loop->posting, 1, memory_order_relaxed);
    bool was_empty = push(&loop->inbox[msg->for_user], msg);
    if (!px_loop_is_current(loop)) {
        if (!loop->has_thread && !loop->external) {
            pthread_mutex_lock(&loop->turn_lock);
            must_run(loop);
            pthread_mutex_unlock(&loop->turn_lock);
        }
        if (was_empty)
            wake(loop);
    }
    atomic_fetch_sub_explicit(&loop->posting, 1, memory_order_release);
}

/* Runs what is in the mailbox now, in the order posted; what that posts in turn is left
 * for the next round. False if it was empty. */
static PX_LOOP_ONLY bool run_inbox(_Atomic(struct px_msg *) *inbox)
{
    struct px_msg *newest = atomic_exchange_explicit(inbox, NULL, memory_order_acquire);
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

static PX_LOOP_ONLY bool run_mail(struct px_loop *loop)
{
    bool any = false;

    if (!loop->guest) {
        any = run_inbox(&loop->inbox[true]);
        loop->n_deferred = 0;
    }
    return run_inbox(&loop->inbox[false]) || any;
}

static PX_LOOP_ONLY void run_rounds(struct px_loop *loop)
{
    for (int i = 0; i < MAIL_ROUNDS && run_mail(loop); i++)
        ;
}

bool px_loop_defer(struct px_loop *loop, struct px_msg *msg)
{
    if (!px_loop_is_current(loop) || !loop->guest)
        return false;
    loop->n_deferred++;
    msg->for_user = true;
    px_post(loop, msg);
    return true;
}

/* ---- turns ----------------------------------------------------------------------- */

/* The loop's own thread may look at the descriptors once, or not. With turn_lock. */
static void arm(struct px_loop *loop, bool on)
{
    struct epoll_event e = {.events = on ? EPOLLIN | EPOLLONESHOT : 0u};

    if (loop->armed == on || loop->outer_fd < 0)
        return;
    (void)epoll_ctl(loop->outer_fd, EPOLL_CTL_MOD, loop->poll.fd, &e);
    loop->armed = on;
}

/* With turn_lock; false if another has the turn. */
static bool take(struct px_loop *loop, bool guest)
{
    if (loop->taken)
        return false;
    loop->taken = true;
    loop->guest = guest;
    atomic_store_explicit(&loop->owner, self(), memory_order_relaxed);
    return true;
}

static void enter(struct px_loop *loop PX_UNUSED) PX_ASSERTS_LOOP
{
    assert(px_loop_is_current(loop));
}

/* With turn_lock. */
static void leave(struct px_loop *loop)
{
    atomic_store_explicit(&loop->owner, 0, memory_order_relaxed);
    loop->taken = false;
    pthread_cond_broadcast(&loop->turn_over);
}

/* The next thread finds what is left. */
static void release(struct px_loop *loop)
{
    pthread_mutex_lock(&loop->turn_lock);
    bool left = has_mail(loop, false) || has_mail(loop, true) ||
                px_poll_due(&loop->poll) < loop->sleeps_until_ms;
    if (left || loop->poll.n_writers)
        must_run(loop);
    leave(loop);
    if (!loop->dozes)
        arm(loop, true);
    if (left)
        wake(loop);
    pthread_mutex_unlock(&loop->turn_lock);
}

static PX_LOOP_ONLY void pass(struct px_loop *loop, bool wait)
{
    bool mail = has_mail(loop, false) || (!loop->guest && has_mail(loop, true));
    uint64_t due = wait && !mail ? px_poll_due(&loop->poll) : 0;

    px_poll_report(&loop->poll, px_poll_wait(&loop->poll, px_poll_timeout(due)));
    run_rounds(loop);
}

/* A pass of the own thread where there are no guests: while it waits others may have
 * the turn. Descriptors that were ready may be gone then, and are looked for again. */
static PX_LOOP_ONLY void doze(struct px_loop *loop)
{
    const bool mail = has_mail(loop, false) || has_mail(loop, true);
    const uint64_t due = mail ? 0 : px_poll_due(&loop->poll);

    pthread_mutex_lock(&loop->turn_lock);
    loop->sleeps_until_ms = due;
    loop->dozes = true;
    loop->lent = false;
    leave(loop);
    pthread_mutex_unlock(&loop->turn_lock);
    int n = px_poll_wait(&loop->poll, px_poll_timeout(due));
    pthread_mutex_lock(&loop->turn_lock);
    loop->dozes = false;
    while (!take(loop, false))
        pthread_cond_wait(&loop->turn_over, &loop->turn_lock);
    pthread_mutex_unlock(&loop->turn_lock);
    px_poll_report(&loop->poll, loop->lent ? 0 : n);
    run_rounds(loop);
}

/* Without guests none waits for the other epoll, which would be told of each event. */
static PX_LOOP_ONLY void serve(struct px_loop *loop)
{
    struct epoll_event none = {0};

    (void)epoll_ctl(loop->outer_fd, EPOLL_CTL_DEL, loop->poll.fd, &none);
    do
        doze(loop);
    while (!loop->stopped &&
           (loop->no_guests ||
            epoll_ctl(loop->outer_fd, EPOLL_CTL_ADD, loop->poll.fd, &none)));
    loop->armed = false;
}

static void *thread_main(void *arg)
{
    struct px_loop *loop = arg;
    struct epoll_event e;

    prctl(PR_SET_NAME, PX_LOOP_THREAD_NAME);
    pthread_mutex_lock(&loop->turn_lock);
    while (!loop->stopped) {
        uint64_t due = PX_NEVER; /* a guest sees to timers, and says what it leaves */

        if (take(loop, false)) {
            pthread_mutex_unlock(&loop->turn_lock);
            enter(loop);
            pass(loop, false);
            if (loop->no_guests && !loop->stopped)
                serve(loop);
            pthread_mutex_lock(&loop->turn_lock);
            leave(loop);
            if (loop->stopped)
                break;
            arm(loop, true);
            due = has_mail(loop, false) || has_mail(loop, true)
                      ? 0
                      : px_poll_due(&loop->poll);
        }
        loop->sleeps_until_ms = due;
        pthread_mutex_unlock(&loop->turn_lock);
        int n = epoll_wait(loop->outer_fd, &e, 1, px_poll_timeout(due));
        pthread_mutex_lock(&loop->turn_lock);
        loop->armed = loop->armed && n <= 0;
    }
    pthread_mutex_unlock(&loop->turn_lock);
    return NULL;
}

void px_loop_pump(struct px_loop *loop)
{
    if (!loop->external)
        return;
    pthread_mutex_lock(&loop->turn_lock);
    bool mine = take(loop, false); /* else it is seen to, perhaps by this thread */
    pthread_mutex_unlock(&loop->turn_lock);
    if (!mine)
        return;
    enter(loop);
    pass(loop, false);
    release(loop);
}

void px_loop_let_guests(struct px_loop *loop, bool allowed)
{
    atomic_store(&loop->no_guests, !allowed);
}

void *px_loop_scratch(struct px_loop *loop)
{
    px_loop_assert(loop);
    return loop->scratch;
}

/* ---- calls: a message and a latch on the caller's stack -------------------------- */

/* The latch is a futex, because the thread that opens it may not touch it afterwards:
 * the waiter's stack is gone by then, and a futex wake-up needs the address only. */
enum { WAITING, ASLEEP, DONE };

struct px_call {
    struct px_msg msg;
    struct px_loop *loop;
    px_call_fn fn;
    void *args;
    pmix_status_t status;
    _Atomic int state;
    bool over;        /* the loop is done with it */
    bool is_at_wheel; /* its own thread runs the loop */

    /* See px_call_listen. Other threads touch it while ringing only, for which this
     * one waits. */
    px_call_fn heard;
    const void *word;
    uint32_t seen;
    struct px_msg bell;
    _Atomic int ringing;
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

/* A message for the user is for the loop's own thread, which must have the turn for
 * it. */
static bool may_be_guest(struct px_loop *loop)
{
    return !loop->no_guests && !loop->closing && !loop->external && !loop->dozes &&
           !has_mail(loop, true);
}

/* Runs the loop, if no other thread does, until the call is done or there is something
 * for the loop's own thread. False: the call is still to be posted. */
static bool drive(struct px_loop *loop, struct px_call *call)
{
    pthread_mutex_lock(&loop->turn_lock);
    bool mine = may_be_guest(loop) && take(loop, true);
    pthread_mutex_unlock(&loop->turn_lock);
    if (!mine)
        return false;
    enter(loop);
    (void)push(&loop->inbox[false], &call->msg);
    call->is_at_wheel = true;
    run_rounds(loop);
    call->is_at_wheel = false;
    if (!is_done(call) && !call->heard) {
        pthread_mutex_lock(&loop->turn_lock);
        arm(loop, false);
        pthread_mutex_unlock(&loop->turn_lock);
    }
    while (!is_done(call) && !call->heard && may_be_guest(loop))
        pass(loop, true);
    release(loop);
    return true;
}

/* In a server whose thread waits: runs the call's function, and nothing else. If that
 * leads to the host's, they can no more take the locks of this thread, which waits,
 * than in another. False: it is still to be posted, behind what was posted before. */
static bool run_here(struct px_loop *loop, struct px_call *call)
{
    pthread_mutex_lock(&loop->turn_lock);
    bool mine = loop->dozes && !has_mail(loop, false) && !has_mail(loop, true) &&
                take(loop, true);
    if (mine)
        loop->lent = true;
    pthread_mutex_unlock(&loop->turn_lock);
    if (!mine)
        return false;
    enter(loop);
    on_call(&call->msg);
    release(loop);
    return true;
}

/* ---- calls that listen ----------------------------------------------------------- */

static void hear(struct px_call *call)
{
    call->word = &call->seen; /* never rings */
    if (!call->over)
        call->heard(call, call->args);
}

static void on_bell(struct px_msg *msg)
{
    struct px_call *call = PX_CONTAINER_OF(msg, struct px_call, bell);

    hear(call);
    atomic_store(&call->ringing, 0);
    syscall(SYS_futex, &call->ringing, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* A pass of the loop, if no other thread runs it; in that it may come about that the
 * call is done. */
static bool visit(struct px_call *call)
{
    struct px_loop *loop = call->loop;
    int asleep = ASLEEP; /* no more */

    pthread_mutex_lock(&loop->turn_lock);
    bool mine = (loop->external || may_be_guest(loop)) && take(loop, !loop->external);
    pthread_mutex_unlock(&loop->turn_lock);
    if (!mine)
        return false;
    enter(loop);
    atomic_compare_exchange_strong(&call->state, &asleep, WAITING);
    if (!atomic_load(&call->ringing))
        hear(call);
    if (!call->over || atomic_load(&call->ringing))
        pass(loop, false);
    release(loop);
    return true;
}

static void heed(struct px_call *call)
{
    static const struct timespec look_up = {.tv_sec = 1};

    if (visit(call))
        return;
    call->bell.run = on_bell;
    atomic_store(&call->ringing, 1);
    px_post(call->loop, &call->bell);
    while (atomic_load(&call->ringing) && !visit(call))
        syscall(SYS_futex, &call->ringing, FUTEX_WAIT_PRIVATE, 1, &look_up, NULL, 0);
}

/* Until one of both words is another. The kernel alone looks at that of the call's: its
 * memory may be gone. */
static bool wait_for_both(struct px_call *call, unsigned ms)
{
#ifdef SYS_futex_waitv /* Linux 5.16 */
    struct futex_waitv on[] = {
        {ASLEEP, (uintptr_t)&call->state, FUTEX_32 | FUTEX_PRIVATE_FLAG, 0},
        {call->seen, (uintptr_t)call->word, FUTEX_32, 0}};
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ns = now.tv_nsec + (int64_t)ms * 1000000;
    int64_t until[] = {now.tv_sec + ns / 1000000000, ns % 1000000000};
    return syscall(SYS_futex_waitv, on, PX_COUNT(on), 0, until, CLOCK_MONOTONIC) >= 0 ||
           errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR || errno == EFAULT;
#else
    (void)call, (void)ms;
    return false;
#endif
}

static void rest(struct px_call *call, unsigned ms)
{
    const struct timespec t = {.tv_sec = ms / 1000,
                               .tv_nsec = (long)(ms % 1000) * 1000000};

    if (call->loop->deaf || !wait_for_both(call, ms)) {
        call->loop->deaf = true;
        syscall(SYS_futex, &call->state, FUTEX_WAIT_PRIVATE, ASLEEP, &t, NULL, 0);
    }
}

/* Without a thread that reads messages meanwhile, this one does from time to time. */
static void listen(struct px_call *call)
{
    enum { FIRST_MS = 8, MOST_MS = 64, WITH_THREAD_MS = 1000 };

    for (unsigned ms = FIRST_MS; !is_done(call); ms = ms < MOST_MS ? 2 * ms : ms) {
        bool has_reader = call->loop->has_thread && !call->loop->external;
        int was = WAITING;

        atomic_compare_exchange_strong(&call->state, &was, ASLEEP);
        rest(call, has_reader ? WITH_THREAD_MS : ms);
        if (!is_done(call))
            heed(call);
    }
}

bool px_call_listen(struct px_call *call, const _Atomic uint32_t *word, uint32_t seen,
                    px_call_fn heard)
{
    px_loop_assert(call->loop);
    if (!call->heard && (!call->is_at_wheel || call->loop->deaf))
        return false;
    call->heard = heard;
    call->word = word;
    call->seen = seen;
    return true;
}

/* External progress: runs the loop, or waits while another thread does, until the call
 * is done. */
static void help(struct px_loop *loop, const struct px_call *call)
{
    pthread_mutex_lock(&loop->turn_lock);
    while (!is_done(call)) {
        if (!take(loop, false)) {
            pthread_cond_wait(&loop->turn_over, &loop->turn_lock);
            continue;
        }
        pthread_mutex_unlock(&loop->turn_lock);
        enter(loop);
        pass(loop, true);
        release(loop);
        pthread_mutex_lock(&loop->turn_lock);
    }
    pthread_mutex_unlock(&loop->turn_lock);
}

static void await(struct px_loop *loop, struct px_call *call)
{
    static const struct timespec look_up = {.tv_sec = 1};
    int was = WAITING;

    if (call->heard)
        listen(call);
    else if (!loop->external) /* if it is not done already */
        atomic_compare_exchange_strong_explicit(
            &call->state, &was, ASLEEP, memory_order_acquire, memory_order_acquire);
    /* The loop's thread may be stopped while this one waits for it, which then takes
     * its part. */
    while (!is_done(call)) {
        if (loop->external)
            help(loop, call);
        else
            syscall(SYS_futex, &call->state, FUTEX_WAIT_PRIVATE, ASLEEP, &look_up, NULL,
                    0);
    }
}

pmix_status_t px_call(struct px_loop *loop, px_call_fn fn, void *args)
{
    struct px_call call = {
        .msg = {.run = on_call}, .loop = loop, .fn = fn, .args = args};
    int cancel;

    if (!loop)
        return PMIX_ERR_INIT;
    if (px_loop_is_current(loop))
        return PMIX_ERR_WOULD_BLOCK;
    /* A thread that were cancelled here would take the turn, and its stack, with it. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (!drive(loop, &call) && !run_here(loop, &call))
        px_post(loop, &call.msg);
    await(loop, &call);
    pthread_setcancelstate(cancel, NULL);
    return call.status;
}

static void end_call(struct px_call *call)
{
    _Atomic int *state = &call->state;

    if (atomic_exchange_explicit(state, DONE, memory_order_acq_rel) == ASLEEP)
        syscall(SYS_futex, state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void on_end(struct px_msg *msg)
{
    end_call(PX_CONTAINER_OF(msg, struct px_call, msg));
}

void px_call_done(struct px_call *call, pmix_status_t status)
{
    call->status = status;
    call->over = true;
    call->msg.run = on_end;
    /* Not before the user's functions whose time came earlier. */
    if (call->loop->n_deferred == 0 || !px_loop_defer(call->loop, &call->msg))
        end_call(call);
}

/* ---- life ------------------------------------------------------------------------ */

static void free_loop(struct px_loop *loop)
{
    px_poll_fini(&loop->poll);
    px_drop_fd(&loop->outer_fd);
    px_drop_fd(&loop->wake_fd);
    pthread_cond_destroy(&loop->turn_over);
    pthread_mutex_destroy(&loop->turn_lock);
    free(loop);
}

static pmix_status_t set_up(struct px_loop *loop, enum px_progress progress)
{
    pmix_status_t rc = px_poll_init(&loop->poll);

    if (rc)
        return rc;
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->wake_fd < 0)
        return PMIX_ERR_OUT_OF_RESOURCE;
    rc = px_poll_wake_by(&loop->poll, loop->wake_fd);
    return rc || progress != PX_PROGRESS_THREAD ? rc : px_loop_need_thread(loop);
}

pmix_status_t px_loop_create(enum px_progress progress, struct px_loop **out)
{
    struct px_loop *loop = malloc(sizeof(*loop));

    if (!loop)
        return PMIX_ERR_NOMEM;
    memset(loop, 0, offsetof(struct px_loop, scratch)); /* some pages stay unused */
    loop->external = progress == PX_PROGRESS_EXTERNAL;
    loop->sleeps_until_ms = PX_NEVER;
    loop->outer_fd = loop->wake_fd = loop->poll.fd = -1;
    pthread_mutex_init(&loop->turn_lock, NULL);
    pthread_cond_init(&loop->turn_over, NULL);
    px_list_init(&loop->children.list);
    pmix_status_t rc = set_up(loop, progress);
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
    PX_CONTAINER_OF(msg, struct stop, msg)->loop->stopped = true;
}

void px_loop_stop_thread(struct px_loop *loop)
{
    /* Only the loop's own thread runs what is for users. */
    struct stop stop = {.msg = {.run = on_stop, .for_user = true}, .loop = loop};

    pthread_mutex_lock(&loop->turn_lock);
    bool ends = loop->has_thread && !loop->external;
    if (!ends) /* then none starts from now on */
        atomic_store(&loop->external, true);
    pthread_mutex_unlock(&loop->turn_lock);
    if (!ends)
        return;
    px_post(loop, &stop.msg);
    pthread_join(loop->thread, NULL);
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
    for (;;) {
        while (run_mail(loop))
            ;
        /* Those who wait for a turn look whether they still need one. */
        pthread_mutex_lock(&loop->turn_lock);
        pthread_cond_broadcast(&loop->turn_over);
        pthread_mutex_unlock(&loop->turn_lock);
        if (!atomic_load_explicit(&loop->posting, memory_order_acquire) &&
            !has_mail(loop, false) && !has_mail(loop, true) &&
            !atomic_load_explicit(&loop->held, memory_order_acquire))
            break;
        sched_yield(); /* where others have a processor, all of them run before */
    }
    if (loop->children.free_all)
        loop->children.free_all(loop);
}

void px_loop_destroy(struct px_loop *loop)
{
    if (!loop)
        return;
    assert(!px_loop_is_current(loop));
    px_loop_stop_thread(loop);
    /* A thread may still have the turn, and be asleep. None takes another. */
    atomic_store(&loop->closing, true);
    pthread_mutex_lock(&loop->turn_lock);
    while (!take(loop, false)) {
        wake(loop);
        pthread_cond_wait(&loop->turn_over, &loop->turn_lock);
    }
    pthread_mutex_unlock(&loop->turn_lock);
    run_rest(loop);
    free_loop(loop);
}

void px_loop_abandon(struct px_loop *loop)
{
    /* The epoll sets are still shared with the parent: they may be closed, and not be
     * changed. */
    px_drop_fd(&loop->outer_fd);
    px_drop_fd(&loop->poll.fd);
    px_drop_fd(&loop->wake_fd);
}
