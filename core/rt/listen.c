/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that listen: the caller waits for a word that another process writes, beside
 * the latch of the call. */
#include "core/os/os.h"
#include "core/rt/loop_impl.h"

enum { LOOK_UP_MS = 1000 };

/* Runs call->changed, unless the call is over. The function may listen again. */
static void report(struct px_call *call)
{
    call->word = &call->seen; /* never differs */
    if (!call->over)
        call->changed(call, call->args);
}

static void on_check(struct px_msg *msg)
{
    struct px_call *call = PX_CONTAINER_OF(msg, struct px_call, check);

    report(call);
    atomic_store(&call->checking, 0);
    px_os_futex_wake(&call->checking, false);
}

/* Makes a pass, which may end the call. Returns false if another thread leads. */
static bool visit(struct px_call *call)
{
    struct px_loop *loop = call->loop;
    int asleep = PX_CALL_SLEEPS; /* not asleep any more */

    pthread_mutex_lock(&loop->lead_lock);
    bool mine = (loop->external || px_lead_is_open(loop)) &&
                px_lead_take(loop, !loop->external);
    pthread_mutex_unlock(&loop->lead_lock);
    if (!mine)
        return false;
    px_lead_enter(loop);
    atomic_compare_exchange_strong(&call->state, &asleep, PX_CALL_WAITS);
    if (!atomic_load(&call->checking))
        report(call);
    if (!call->over || atomic_load(&call->checking))
        px_lead_pass(loop, false);
    px_lead_release(loop);
    return true;
}

/* Has the loop check the word: in this thread, or by a message to the leader. */
static void check(struct px_call *call)
{
    if (visit(call))
        return;
    call->check.run = on_check;
    atomic_store(&call->checking, 1);
    px_post(call->loop, &call->check);
    while (atomic_load(&call->checking) && !visit(call))
        px_os_futex_wait(&call->checking, 1, LOOK_UP_MS);
}

/* Waits until the word or the latch changes. The kernel alone reads the word, as its
 * memory may be gone. */
static void sleep_for(struct px_call *call, unsigned ms)
{
    if (call->loop->no_waitv || !px_os_futex_wait_both(&call->state, PX_CALL_SLEEPS,
                                                       call->word, call->seen, ms)) {
        call->loop->no_waitv = true;
        px_os_futex_wait(&call->state, PX_CALL_SLEEPS, ms);
    }
}

/* Waits until the call is done. The caller reads messages from time to time if no own
 * thread does. */
void px_call_wait_listening(struct px_call *call)
{
    enum { FIRST_MS = 8, MOST_MS = 64, WITH_THREAD_MS = 1000 };

    for (unsigned ms = FIRST_MS; !px_call_is_done(call);
         ms = ms < MOST_MS ? 2 * ms : ms) {
        bool has_reader = call->loop->has_thread && !call->loop->external;
        int was = PX_CALL_WAITS;

        atomic_compare_exchange_strong(&call->state, &was, PX_CALL_SLEEPS);
        sleep_for(call, has_reader ? WITH_THREAD_MS : ms);
        if (!px_call_is_done(call))
            check(call);
    }
}

bool px_call_listen(struct px_call *call, const _Atomic uint32_t *word, uint32_t seen,
                    px_call_fn changed)
{
    px_loop_assert(call->loop);
    if (!call->changed && (!call->is_guest || call->loop->no_waitv))
        return false;
    call->changed = changed;
    call->word = word;
    call->seen = seen;
    return true;
}
