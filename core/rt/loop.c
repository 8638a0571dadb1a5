/* SPDX-License-Identifier: BSD-3-Clause */
/* The leader of the loop, and the mailboxes.
 *
 * One thread at a time leads: it alone runs the loop and owns all mutable state
 * (leader and followers; adr/0022). The others post messages to the mailboxes, which
 * are lock-free stacks with an eventfd. A post writes the eventfd only if the stack was
 * empty, so a burst of messages costs one wake-up.
 *
 * process      | may lead               | the own thread sleeps on | wakes by
 * -------------|------------------------|--------------------------|------------------
 * client, tool | a caller, as a guest   | outer_fd: wake_fd, and   | a release that
 *              | until its call ends;   | sleep_fd while no guest  | leaves messages or
 *              | else the own thread    | leads (armed)            | a nearer timer
 * server       | the own thread; while  | outer_fd: wake_fd, and   | a post
 *              | it rests a caller, for | sleep_fd always          |
 *              | one function           | (own_rests)              |
 * external     | the thread that calls  | there is none            | -
 *              | PMIx_Progress or waits |                          |
 * a program's  | the thread that runs   | there is none            | -
 * base         | the base, for a visit; |                          |
 *              | a caller, beside it    |                          |
 *
 * A lazy client is external until px_loop_need_thread begins the own thread. */
#include "core/base/clock.h"
#include "core/os/os.h"
#include "core/rt/loop_impl.h"
#include "core/rt/process.h"

#include <assert.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

/* Rounds of messages that messages have posted, before descriptors are checked
 * again. */
#define MAIL_ROUNDS 8

static uintptr_t self(void)
{
    return (uintptr_t)pthread_self();
}

bool px_loop_is_current(const struct px_loop *loop)
{
    /* Relaxed: this thread compares with a value that it has written itself. */
    return loop && atomic_load_explicit(&loop->leader, memory_order_relaxed) == self();
}

void px_loop_assert(const struct px_loop *loop)
{
    assert(px_loop_is_current(loop));
    (void)loop;
}

/* ---- mailbox --------------------------------------------------------------------- */

bool px_loop_push(struct px_loop *loop, struct px_msg *msg)
{
    _Atomic(struct px_msg *) *inbox = &loop->inbox[msg->for_user];
    struct px_msg *newest = atomic_load_explicit(inbox, memory_order_relaxed);

    do {
        msg->next = newest;
    } while (!atomic_compare_exchange_weak_explicit(
        inbox, &newest, msg, memory_order_release, memory_order_relaxed));
    return !newest;
}

bool px_loop_has_mail(struct px_loop *loop, bool for_user)
{
    return atomic_load_explicit(&loop->inbox[for_user], memory_order_relaxed);
}

static bool has_any_mail(struct px_loop *loop)
{
    return px_loop_has_mail(loop, false) || px_loop_has_mail(loop, true);
}

/* Wakes the leader or the own thread. The write fails if 2^64 wake-ups are pending; one
 * is enough. A tracer or sandbox may interrupt the write. It is then repeated, because
 * a non-empty mailbox causes no other wake-up. */
static void wake(struct px_loop *loop)
{
    (void)PX_RETRY(write(loop->poll.wake_fd, &(uint64_t){1}, sizeof(uint64_t)));
}

static void *thread_main(void *arg);

/* Starts the own thread. With lead_lock. If this thread leads, it prepares the first
 * sleep, and the own thread sleeps at once. The own thread blocks signals, which belong
 * to the host. It does not block its own faults, because crash handlers need these
 * signals. */
static pmix_status_t begin_thread(struct px_loop *loop)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t all, before;

    if (px_poll_make_sleep(&loop->poll))
        return PMIX_ERR_OUT_OF_RESOURCE;
    if (px_loop_is_current(loop)) {
        px_poll_fill(&loop->poll);
        loop->own_sleeps = loop->poll.is_mirrored;
    }
    sigfillset(&all);
    for (size_t i = 0; i < PX_COUNT(faults); i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int errnum = pthread_create(&loop->thread, NULL, thread_main, loop);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    loop->has_thread = !errnum;
    if (errnum)
        loop->own_sleeps = false;
    return errnum ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

pmix_status_t px_loop_need_thread(struct px_loop *loop)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (loop->has_thread)
        return PMIX_SUCCESS;
    pthread_mutex_lock(&loop->lead_lock);
    if (!loop->has_thread && !loop->external)
        rc = begin_thread(loop);
    pthread_mutex_unlock(&loop->lead_lock);
    return rc;
}

void px_loop_want_thread(struct px_loop *loop)
{
    px_loop_assert(loop);
    loop->wants_thread = true;
}

bool px_loop_is_external(const struct px_loop *loop)
{
    return loop->external;
}

/* Starts the own thread, because work is left and the next call may be late. With
 * lead_lock. */
static void must_run(struct px_loop *loop)
{
    if (!loop->has_thread && !loop->external && begin_thread(loop))
        atomic_store(&loop->external, true);
}

void px_post(struct px_loop *loop, struct px_msg *msg)
{
    /* The message may run at once and lead to px_loop_destroy before this thread writes
     * the eventfd. So px_loop_destroy waits until posting is 0. The leader checks the
     * mailboxes before it waits. */
    atomic_fetch_add_explicit(&loop->posting, 1, memory_order_relaxed);
    bool was_empty = px_loop_push(loop, msg);
    if (!px_loop_is_current(loop)) {
        if (!loop->has_thread && !loop->external) {
            pthread_mutex_lock(&loop->lead_lock);
            must_run(loop);
            pthread_mutex_unlock(&loop->lead_lock);
        }
        if (was_empty)
            wake(loop);
    }
    atomic_fetch_sub_explicit(&loop->posting, 1, memory_order_release);
}

/* Runs the messages of a mailbox in the order posted. Messages that these post wait for
 * the next round. Returns false if the mailbox was empty. */
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

void px_lead_run_mail(struct px_loop *loop)
{
    for (int i = 0; i < MAIL_ROUNDS && run_mail(loop); i++)
        ;
    loop->turn++;
}

uint64_t px_loop_turn(const struct px_loop *loop)
{
    return loop->turn;
}

uint64_t px_loop_longest_ns(const struct px_loop *loop)
{
    return loop->longest_ns;
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

/* ---- the lead -------------------------------------------------------------------- */

bool px_lead_take(struct px_loop *loop, bool guest)
{
    if (loop->led)
        return false;
    loop->led = true;
    loop->guest = guest;
    atomic_store_explicit(&loop->leader, self(), memory_order_relaxed);
    return true;
}

void px_lead_enter(struct px_loop *loop PX_UNUSED)
{
    assert(px_loop_is_current(loop));
}

bool px_lead_is_open(struct px_loop *loop)
{
    /* A message for the program needs the own thread as leader. */
    return !loop->no_guests && !loop->closing && !loop->external && !loop->own_rests &&
           !px_loop_has_mail(loop, true);
}

/* Ends the lead. With lead_lock. */
static void leave(struct px_loop *loop)
{
    atomic_store_explicit(&loop->leader, 0, memory_order_relaxed);
    atomic_store_explicit(&loop->turned_away, false, memory_order_relaxed);
    loop->led = false;
    pthread_cond_broadcast(&loop->lead_free);
}

/* True if the thread that sleeps does not know the nearest timer. A program's base
 * knows the timers that were set before its last wake-up. */
static bool has_news(struct px_loop *loop)
{
    const bool is_new = loop->poll.has_new_timer;
    const uint64_t known_ms = loop->sleeps_until_ms;

    loop->poll.has_new_timer = false;
    if (loop->external)
        return is_new;
    /* The first comparison spares most calls the clock. */
    return loop->poll.due_ms < known_ms &&
           px_poll_due(&loop->poll, px_clock_ms()) < known_ms;
}

void px_lead_release(struct px_loop *loop)
{
    pthread_mutex_lock(&loop->lead_lock);
    bool left = has_news(loop) || has_any_mail(loop);
    if (left || loop->poll.n_writers)
        must_run(loop);
    left |= loop->own_sleeps && !loop->poll.is_mirrored;
    leave(loop);
    if (!loop->own_rests)
        px_poll_arm(&loop->poll, PX_ARM_ONCE);
    if (left)
        wake(loop);
    pthread_mutex_unlock(&loop->lead_lock);
}

void px_lead_pass(struct px_loop *loop, bool wait)
{
    bool mail = px_loop_has_mail(loop, false) ||
                (!loop->guest && px_loop_has_mail(loop, true));

    if (loop->poll.is_programs)
        px_poll_run_beside(&loop->poll, wait && !mail);
    else
        px_poll_run(&loop->poll, wait && !mail);
    px_lead_run_mail(loop);
}

#define NS_PER_MS 1000000u

/* Makes a pass without a sleep, and measures the time. mail_only: runs the messages
 * only, unless a timer is due. Returns the time at the end in milliseconds. */
static PX_LOOP_ONLY uint64_t timed_pass(struct px_loop *loop, bool mail_only)
{
    const uint64_t began = px_clock_ns(), now_ms = began / NS_PER_MS;

    if (mail_only && px_poll_due(&loop->poll, now_ms) > now_ms)
        px_lead_run_mail(loop);
    else
        px_lead_pass(loop, false);
    const uint64_t ended = px_clock_ns();
    if (ended - began > loop->longest_ns)
        loop->longest_ns = ended - began;
    return ended / NS_PER_MS;
}

/* Takes the lead for the own thread, which waits for the lead only in a server. With
 * lead_lock. Returns false if a guest leads. */
static bool take_for_own(struct px_loop *loop)
{
    while (!px_lead_take(loop, false)) {
        if (!loop->no_guests)
            return false;
        pthread_cond_wait(&loop->lead_free, &loop->lead_lock);
    }
    return true;
}

/* Makes a pass of the own thread after a sleep. With lead_lock. Returns the time of the
 * next wake-up. */
static uint64_t own_pass(struct px_loop *loop, enum px_woken by)
{
    enum { RETRY_MS = 100 }; /* after the kernel had no room for the set */
    uint64_t now_ms, due;

    if (!take_for_own(loop)) {
        /* A guest handles timers, and wakes this thread if work is left. */
        if (by == PX_WOKEN_BY_WATCH)
            atomic_store_explicit(&loop->turned_away, true, memory_order_relaxed);
        return PX_NEVER;
    }
    pthread_mutex_unlock(&loop->lead_lock);
    px_lead_enter(loop);
    px_poll_fill(&loop->poll);
    now_ms = timed_pass(loop, by == PX_WOKEN_BY_MAIL && loop->poll.is_mirrored);
    due = has_any_mail(loop) ? 0 : px_poll_due(&loop->poll, now_ms);
    if (!loop->poll.is_mirrored && due > now_ms + RETRY_MS)
        due = now_ms + RETRY_MS;
    pthread_mutex_lock(&loop->lead_lock);
    leave(loop);
    px_poll_arm(&loop->poll, loop->no_guests ? PX_ARM_ALWAYS : PX_ARM_ONCE);
    return due;
}

/* Makes a turn of the own thread after a sleep. Returns false if the thread must end;
 * otherwise *due becomes the time of the next wake-up. */
static bool own_turn(struct px_loop *loop, enum px_woken by, uint64_t *due)
{
    pthread_mutex_lock(&loop->lead_lock);
    loop->own_rests = false;
    if (by == PX_WOKEN_BY_WATCH && loop->poll.armed == PX_ARM_ONCE)
        loop->poll.armed = PX_ARM_NOT;
    *due = own_pass(loop, by);
    const bool goes_on = !loop->stopped;

    if (goes_on) {
        loop->sleeps_until_ms = *due;
        loop->own_rests = loop->poll.armed == PX_ARM_ALWAYS;
        loop->own_sleeps = true;
    }
    pthread_mutex_unlock(&loop->lead_lock);
    return goes_on;
}

static void *thread_main(void *arg)
{
    struct px_loop *loop = arg;
    uint64_t due = PX_NEVER;

    px_os_name_thread(PX_LOOP_THREAD_NAME);
    /* The first sleep reports ready descriptors, so the first turn skips them. */
    bool goes_on = loop->own_sleeps || own_turn(loop, PX_WOKEN_BY_MAIL, &due);
    while (goes_on)
        goes_on = own_turn(loop, px_poll_sleep(&loop->poll, due), &due);
    return NULL;
}

void px_loop_pump(struct px_loop *loop)
{
    if (!loop->external)
        return;
    pthread_mutex_lock(&loop->lead_lock);
    bool mine = px_lead_take(loop,
                             false); /* false: another thread leads, or a caller of this
                                      * function */
    pthread_mutex_unlock(&loop->lead_lock);
    if (!mine)
        return;
    px_lead_enter(loop);
    (void)timed_pass(loop, false);
    px_lead_release(loop);
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

/* ---- visits from the program's base ---------------------------------------------- */

void *px_loop_begin_visit(struct px_loop *loop, void *object)
{
    pthread_mutex_lock(&loop->lead_lock);
    loop->n_visits++;
    loop->visited = object;
    loop->programs_self = self();
    while (!loop->closing && !px_lead_take(loop, false))
        pthread_cond_wait(&loop->lead_free, &loop->lead_lock);
    object = loop->closing ? NULL : loop->visited;
    loop->visited = NULL;
    loop->n_visits--;
    if (!object && !loop->closing)
        leave(loop);
    pthread_cond_broadcast(&loop->lead_free);
    pthread_mutex_unlock(&loop->lead_lock);
    return object;
}

void px_loop_end_visit(struct px_loop *loop)
{
    px_lead_enter(loop);
    px_lead_run_mail(loop);
    loop->poll.has_new_timer = false; /* the base looks for the nearest timer now */
    px_lead_release(loop);
}

void px_loop_forget(struct px_loop *loop, const void *object)
{
    if (!loop->poll.is_programs)
        return;
    pthread_mutex_lock(&loop->lead_lock);
    if (loop->visited == object)
        loop->visited = NULL;
    pthread_mutex_unlock(&loop->lead_lock);
}

/* ---- life ------------------------------------------------------------------------ */

/* Returns the buffer that an ended loop has left, or maps a new buffer. Returns NULL if
 * the kernel refuses the mapping. */
static void *take_scratch(void)
{
    void *scratch = atomic_exchange(&px_process.scratch, NULL);

    if (!scratch)
        scratch = mmap(NULL, PX_SCRATCH_B, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return scratch == MAP_FAILED ? NULL : scratch;
}

/* Keeps the buffer of an ended loop for the next loop. Unmaps a buffer that was kept
 * before. */
static void give_scratch(void *scratch)
{
    scratch = atomic_exchange(&px_process.scratch, scratch);
    if (scratch)
        munmap(scratch, PX_SCRATCH_B);
}

static void free_loop(struct px_loop *loop)
{
    px_poll_fini(&loop->poll);
    pthread_cond_destroy(&loop->lead_free);
    pthread_mutex_destroy(&loop->lead_lock);
    give_scratch(loop->scratch);
    free(loop);
}

pmix_status_t px_loop_create(enum px_progress progress, struct event_base *base,
                             struct px_loop **out)
{
    struct px_loop *loop = calloc(1, sizeof(*loop));

    if (!loop || !(loop->scratch = take_scratch())) {
        free(loop);
        return PMIX_ERR_NOMEM;
    }
    loop->external = base || progress == PX_PROGRESS_EXTERNAL;
    loop->sleeps_until_ms = PX_NEVER;
    pthread_mutex_init(&loop->lead_lock, NULL);
    pthread_cond_init(&loop->lead_free, NULL);
    px_list_init(&loop->children.list);
    pmix_status_t rc = px_poll_init(&loop->poll, base);
    if (!rc && progress == PX_PROGRESS_THREAD)
        rc = px_loop_need_thread(loop);
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
    /* Only the own thread runs messages for the program. */
    struct stop stop = {.msg = {.run = on_stop, .for_user = true}, .loop = loop};

    pthread_mutex_lock(&loop->lead_lock);
    bool ends = loop->has_thread && !loop->external;
    if (!ends) /* prevents a later start */
        atomic_store(&loop->external, true);
    pthread_mutex_unlock(&loop->lead_lock);
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

/* Runs messages that arrived during the end of the loop. Their callers may still be in
 * px_call. */
static void run_rest(struct px_loop *loop)
{
    px_lead_enter(loop);
    for (;;) {
        while (run_mail(loop))
            ;
        /* Threads that wait for the lead check whether they still need it. */
        pthread_mutex_lock(&loop->lead_lock);
        pthread_cond_broadcast(&loop->lead_free);
        bool visits = loop->n_visits > 0;
        pthread_mutex_unlock(&loop->lead_lock);
        if (!visits && !atomic_load_explicit(&loop->posting, memory_order_acquire) &&
            !has_any_mail(loop) &&
            !atomic_load_explicit(&loop->held, memory_order_acquire))
            break;
        sched_yield(); /* lets the other threads finish */
    }
    px_children_free(loop);
}

void px_loop_destroy(struct px_loop *loop)
{
    if (!loop)
        return;
    assert(!px_loop_is_current(loop));
    px_loop_stop_thread(loop);
    /* A thread may still lead and sleep. No thread leads after it. */
    atomic_store(&loop->closing, true);
    pthread_mutex_lock(&loop->lead_lock);
    while (!px_lead_take(loop, false)) {
        wake(loop);
        pthread_cond_wait(&loop->lead_free, &loop->lead_lock);
    }
    pthread_mutex_unlock(&loop->lead_lock);
    run_rest(loop);
    free_loop(loop);
}

void px_loop_abandon(struct px_loop *loop)
{
    /* The sets are shared with the parent: close them, but do not change them.
     * libevent's own descriptors stay open, because freeing its base would change its
     * set. */
    px_drop_fd(&loop->poll.outer_fd);
    px_drop_fd(&loop->poll.sleep_fd);
    px_drop_fd(&loop->poll.wake_fd);
}
