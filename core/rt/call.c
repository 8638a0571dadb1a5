/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls: a message and a latch on the caller's stack. The caller leads while it waits,
 * if no other thread leads. */
#include "core/os/os.h"
#include "core/rt/loop_impl.h"

enum { LOOK_UP_MS = 1000 };

static void on_call(struct px_msg *msg)
{
    struct px_call *call = PX_CONTAINER_OF(msg, struct px_call, msg);

    call->fn(call, call->args);
}

bool px_call_is_done(const struct px_call *call)
{
    return atomic_load_explicit(&call->state, memory_order_acquire) == PX_CALL_DONE;
}

/* Leads as a guest, if no other thread leads, until the call is done or a message needs
 * the own thread. Returns false if the caller must still post the call. */
static bool drive(struct px_loop *loop, struct px_call *call)
{
    pthread_mutex_lock(&loop->lead_lock);
    bool mine = px_lead_is_open(loop) && px_lead_take(loop, true);
    pthread_mutex_unlock(&loop->lead_lock);
    if (!mine)
        return false;
    px_lead_enter(loop);
    (void)px_loop_push(loop, &call->msg);
    call->is_guest = true;
    px_lead_run_mail(loop);
    call->is_guest = false;
    if (loop->wants_thread)
        (void)px_loop_need_thread(loop);
    loop->wants_thread = false;
    /* The own thread was woken in vain. Without this pass the release would wake that
     * thread again, and the next call would already lead. */
    if (px_call_is_done(call) && loop->turned_away)
        px_lead_pass(loop, false);
    if (!px_call_is_done(call) && !call->changed) {
        pthread_mutex_lock(&loop->lead_lock);
        px_poll_arm(&loop->poll, PX_ARM_NOT);
        pthread_mutex_unlock(&loop->lead_lock);
    }
    while (!px_call_is_done(call) && !call->changed && px_lead_is_open(loop))
        px_lead_pass(loop, true);
    px_lead_release(loop);
    return true;
}

/* Runs only the call's function, in a server whose own thread rests. A function of the
 * host may then run in this thread. Its locks cannot block more than in another thread,
 * for which this one would wait. Returns false if the caller must still post the call,
 * behind earlier messages. */
static bool run_here(struct px_loop *loop, struct px_call *call)
{
    pthread_mutex_lock(&loop->lead_lock);
    bool mine = loop->own_rests && !px_loop_has_mail(loop, false) &&
                !px_loop_has_mail(loop, true) && px_lead_take(loop, true);
    pthread_mutex_unlock(&loop->lead_lock);
    if (!mine)
        return false;
    px_lead_enter(loop);
    on_call(&call->msg);
    px_lead_release(loop);
    return true;
}

static void sleep_on(struct px_call *call)
{
    px_os_futex_wait(&call->state, PX_CALL_SLEEPS, LOOK_UP_MS);
}

/* Leads with external progress, or waits while another thread leads, until the call is
 * done. */
static void help(struct px_loop *loop, const struct px_call *call)
{
    pthread_mutex_lock(&loop->lead_lock);
    while (!px_call_is_done(call)) {
        if (!px_lead_take(loop, false)) {
            pthread_cond_wait(&loop->lead_free, &loop->lead_lock);
            continue;
        }
        pthread_mutex_unlock(&loop->lead_lock);
        px_lead_enter(loop);
        px_lead_pass(loop, true);
        px_lead_release(loop);
        pthread_mutex_lock(&loop->lead_lock);
    }
    pthread_mutex_unlock(&loop->lead_lock);
}

/* True if another thread runs the program's base, which runs the call. */
static bool is_run_elsewhere(struct px_loop *loop)
{
    pthread_mutex_lock(&loop->lead_lock);
    bool is = loop->programs_self && loop->programs_self != (uintptr_t)pthread_self();
    pthread_mutex_unlock(&loop->lead_lock);
    return is;
}

static void await(struct px_loop *loop, struct px_call *call)
{
    const bool is_elsewhere = loop->external && is_run_elsewhere(loop);
    int was = PX_CALL_WAITS;

    if (call->changed)
        px_call_wait_listening(call);
    else if (!loop->external || is_elsewhere) /* fails if the call is done already */
        atomic_compare_exchange_strong_explicit(&call->state, &was, PX_CALL_SLEEPS,
                                                memory_order_acquire,
                                                memory_order_acquire);
    if (is_elsewhere) /* for a second, in case that thread has left its base */
        sleep_on(call);
    /* The own thread may be stopped while this thread waits. This thread then leads
     * instead. */
    while (!px_call_is_done(call)) {
        if (loop->external)
            help(loop, call);
        else
            sleep_on(call);
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
    /* A cancelled thread would take the lead, and its stack, with it. */
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

    if (atomic_exchange_explicit(state, PX_CALL_DONE, memory_order_acq_rel) ==
        PX_CALL_SLEEPS)
        px_os_futex_wake(state, false);
}

static void on_end(struct px_msg *msg)
{
    end_call(PX_CONTAINER_OF(msg, struct px_call, msg));
}

static void finish(struct px_call *call, pmix_status_t status, bool last)
{
    call->status = status;
    call->over = true;
    call->msg.run = on_end;
    if (last) {
        call->msg.for_user = true;
        px_post(call->loop, &call->msg);
    } else if (call->loop->n_deferred == 0 || !px_loop_defer(call->loop, &call->msg)) {
        end_call(call); /* no function of the program was deferred earlier */
    }
}

void px_call_done(struct px_call *call, pmix_status_t status)
{
    finish(call, status, false);
}

void px_call_done_last(struct px_call *call, pmix_status_t status)
{
    /* A loop without its own thread may need the caller to run the messages. A caller
     * that waits for these messages would then wait forever. */
    finish(call, status, call->loop->has_thread && px_loop_has_mail(call->loop, true));
}
