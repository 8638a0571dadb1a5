/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the server API that run on the loop. */
#ifndef PX_SERVER_OP_H
#define PX_SERVER_OP_H

#include "core/link/api.h"

struct px_server;

/* A call; the first member of each call's own structure. */
struct px_server_op {
    struct px_api api;
    /* Runs on the loop. Its status completes the call; after PX_DEFERRED px_api_done
     * completes the call, now or later. PX_DEFERRED needs a callback of the user, or
     * api.call. */
    pmix_status_t (*run)(struct px_server *srv, const struct px_server_op *op);
    bool calls_host; /* run may call functions of the host */
};

/* Runs op on the loop. Posts it if the user gave a callback, else waits for it. Hosts
 * call from inside their functions, too: op then runs at once, or calls_host makes it
 * PMIX_ERR_WOULD_BLOCK. PMIX_ERR_INIT without a server; PMIX_ERR_BAD_PARAM if sound is
 * false. */
pmix_status_t px_server_submit(struct px_server_op *op, size_t size, bool sound);
/* Returns the result of a public function that takes an optional callback. Success
 * without a callback is PMIX_OPERATION_SUCCEEDED, as hosts expect (adr/0030). */
static inline pmix_status_t px_server_answer(pmix_status_t rc, pmix_op_cbfunc_t cb)
{
    return !rc && !cb ? PMIX_OPERATION_SUCCEEDED : rc;
}

#endif
