/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame of every API call, blocking or not. */
#ifndef PX_LINK_API_H
#define PX_LINK_API_H

#include "core/link/client_state.h"
#include "core/link/required.h"
#include "core/rt/process.h"

/* True once PMIx_Init or PMIx_server_init has succeeded and before the last
 * finalize; not in a child forked in between. Any thread. */
static inline bool px_initialized(void)
{
    return atomic_load(&px_process.init_count) > 0 && px_process_is_mine();
}

/* One API call under way, blocking or not; the first member of each call's own
 * structure. The frame does what start, reply and finish are not given for: a
 * message of a table that is answered with a status needs none of them. */
struct px_api {
    struct px_msg msg;
    struct px_loop *loop;     /* set before start runs */
    struct px_client *client; /* set before start runs */
    struct px_call *call;     /* a thread waits; NULL: posted */
    /* On the loop; leads to px_api_done, now or later. NULL: px_api_send. */
    void (*start)(struct px_api *op);
    px_reply_fn reply; /* NULL: px_api_status_reply */
    /* Posted: hands the result to the user's callback. */
    void (*finish)(struct px_api *op);
    pmix_op_cbfunc_t cb; /* without a finish: the user's, for nothing but a status */
    pmix_info_cbfunc_t info_cb;
    void *cbdata;     /* the user's, for those or for what finish calls */
    const char *name; /* of px_api_run: the function */
    bool kept;        /* finish hands op on, to be freed by px_api_free */
    bool invalid;     /* the caller's arguments make no sense: PMIX_ERR_BAD_PARAM */
    const struct px_request *request; /* its table; NULL: borrows nothing */
    /* Name of a call whose args.info no other party reads (px_required_check). NULL for
     * the others. */
    const char *function;
    struct px_args args;
    pmix_status_t status;
    pmix_info_t *results;
    size_t n_results;
};

/* The check that px_api_wait and px_api_post begin with: PMIX_ERR_INIT before init,
 * PMIX_ERR_BAD_PARAM if op is invalid or has args that px_args_sound refuses,
 * PMIX_ERR_NOT_SUPPORTED for a required attribute that op->function does not honour. */
pmix_status_t px_api_check(const struct px_api *op);
/* Runs op, which lives on the caller's stack, and waits. PMIX_ERR_WOULD_BLOCK on the
 * loop thread, else the status of px_api_done. */
pmix_status_t px_api_wait(struct px_api *op);
/* Copies op (size bytes) with its args, and runs it later; the copies and the results
 * are freed after finish. PMIX_ERR_NOMEM. */
pmix_status_t px_api_post(const struct px_api *op, size_t size);
void px_api_free(void *op);
/* Runs a call that waits for its status if op->cb is NULL. In a callback, where a wait
 * would never end, such a call is posted: PMIX_SUCCESS, and a failure is logged with
 * the name of the function. */
pmix_status_t px_api_run(struct px_api *op, size_t size, const char *name);
/* Starts a copy of op in the thread of the caller, and returns when the request is
 * on its way. A failure that comes later is logged. Not on the loop. */
pmix_status_t px_api_leave(struct px_api *op, size_t size, const char *name);
/* Both of a call whose only result is a status: waits, or posts it for the user's
 * cb. */
pmix_status_t px_api_call(struct px_api op);
pmix_status_t px_api_call_nb(struct px_api op, pmix_op_cbfunc_t cb, void *cbdata);
/* Both of a call that is answered with infos, too. They go to the caller, also with an
 * error (a partial answer), or nowhere if there is no place for them; or to cb, which
 * may be NULL, and whose user may keep them until calling the release function. */
pmix_status_t px_api_infos(struct px_api op, pmix_info_t **results, size_t *n);
pmix_status_t px_api_infos_nb(struct px_api op, pmix_info_cbfunc_t cb, void *cbdata);
void px_api_done(struct px_api *op, pmix_status_t status);

/* Sends the message that op->request and op->args, or these args, make. If that fails
 * op is done with the status. op->reply runs with op as argument. */
void px_api_send(struct px_api *op);
void px_api_send_args(struct px_api *op, const struct px_args *args);
/* The same of a message written by hand. */
void px_api_request(struct px_api *op, px_writer *w, px_reply_fn reply);
/* For replies that begin with a status: the server's, unless it cannot be read or
 * there is no reply (status). */
pmix_status_t px_api_answer(pmix_status_t status, px_reader *reply);
/* The reply whose whole content is a status; the one that goes on with infos, which
 * may be left out; and what reads these into the results. */
void px_api_status_reply(void *op, pmix_status_t status, px_reader *reply);
void px_api_infos_reply(void *op, pmix_status_t status, px_reader *reply);
pmix_status_t px_api_read_infos(struct px_api *op, pmix_status_t status,
                                px_reader *reply);

#endif
