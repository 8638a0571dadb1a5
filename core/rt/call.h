/* SPDX-License-Identifier: BSD-3-Clause */
/* px_call: the only blocking door into the loop. */
#ifndef PX_RT_CALL_H
#define PX_RT_CALL_H

#include "core/rt/loop.h"

struct px_call;

/* Runs on the loop; must see to it that px_call_done is called exactly once, now or
 * later. */
typedef void (*px_call_fn)(struct px_call *call, void *args);

/* Posts fn(call, args) and waits until it is done; args live on the caller's stack.
 * Returns the status given to px_call_done; PMIX_ERR_WOULD_BLOCK on the loop thread;
 * PMIX_ERR_INIT if loop is NULL. With external progress it pumps the loop itself while
 * it waits (one pumper at a time). */
pmix_status_t px_call(struct px_loop *loop, px_call_fn fn, void *args);
/* On the loop. call and args are gone once it returns. */
void px_call_done(struct px_call *call, pmix_status_t status);

#endif
