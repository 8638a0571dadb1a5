/* SPDX-License-Identifier: BSD-3-Clause */
/* px_call: a message and a latch on the caller's stack. The latch is a futex, because
 * whoever opens it may not touch it afterwards: the waiter's stack is gone by then, and
 * a futex wake-up needs the address only. */
#include "core/rt/call.h"

#include "core/rt/loop_impl.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

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

/* The loop's thread may be stopped while somebody waits for it: then he takes its part. */
static void await_done(struct px_loop *loop, _Atomic int *state)
{
    static const struct timespec look_up = {.tv_sec = 1};
    int was = WAITING;

    if (!atomic_compare_exchange_strong_explicit(
            state, &was, ASLEEP, memory_order_acquire, memory_order_acquire))
        return; /* done already */
    while (atomic_load_explicit(state, memory_order_acquire) != DONE) {
        if (loop->external) {
            px_loop_help(loop, state, DONE);
            return;
        }
        syscall(SYS_futex, state, FUTEX_WAIT_PRIVATE, ASLEEP, &look_up, NULL, 0);
    }
}

pmix_status_t px_call(struct px_loop *loop, px_call_fn fn, void *args)
{
    struct px_call call = {.msg = {.run = on_call}, .fn = fn, .args = args};

    if (!loop)
        return PMIX_ERR_INIT;
    if (px_loop_is_current(loop))
        return PMIX_ERR_WOULD_BLOCK;
    px_post(loop, &call.msg);
    if (loop->external)
        px_loop_help(loop, &call.state, DONE);
    else
        await_done(loop, &call.state);
    return call.status;
}

void px_call_done(struct px_call *call, pmix_status_t status)
{
    _Atomic int *state = &call->state;

    call->status = status;
    if (atomic_exchange_explicit(state, DONE, memory_order_acq_rel) == ASLEEP)
        syscall(SYS_futex, state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
