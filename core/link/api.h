/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame of every API call, blocking or not. */
#ifndef PX_LINK_API_H
#define PX_LINK_API_H

#include "core/link/client_state.h"
#include "core/link/required.h"
#include "core/rt/process.h"

/* True after the first successful PMIx_Init or PMIx_server_init and before the last
 * finalize. False in a child forked in between. Any thread. */
static inline bool px_initialized(void)
{
    return atomic_load(&px_process.init_count) > 0 && px_process_is_mine();
}

/* A pending API call, blocking or not; the first member of each call's own structure.
 * start, reply and finish have defaults. A request of a table with a status as its
 * answer needs none of them. */
struct px_api {
    struct px_msg msg;
    struct px_list link;      /* in px_client.fences, until the call is done */
    struct px_loop *loop;     /* set before start runs */
    struct px_client *client; /* set before start runs */
    struct px_call *call;     /* the waiting thread's call; NULL: posted */
    /* Runs on the loop; leads to px_api_done, now or later. NULL: px_api_send. */
    void (*start)(struct px_api *op);
    px_reply_fn reply; /* NULL: px_api_status_reply */
    /* Passes the result of a posted call to the user's callback. */
    void (*finish)(struct px_api *op);
    pmix_op_cbfunc_t cb; /* user's callback of a call whose only result is a status,
                          * without finish */
    pmix_info_cbfunc_t info_cb;
    void *cbdata;     /* user's argument for its callback */
    const char *name; /* name of the function, for px_api_run */
    bool kept;        /* finish passes op on; px_api_free frees it later */
    bool invalid;     /* the caller's arguments are invalid: PMIX_ERR_BAD_PARAM */
    /* In a callback, start ends the call before start returns, and calls no function of
     * the program. px_api_wait then runs the call there, too. */
    bool at_once;
    bool inside; /* runs in a callback, by at_once */
    pmix_status_t status;
    const struct px_request *request; /* the request's table; NULL: op borrows
                                       * nothing */
    /* Name of a call whose args.info no other party reads (px_required_check). NULL for
     * other calls. */
    const char *function;
    struct px_args args;
    pmix_info_t *results;
    size_t n_results;
};

/* Checks op, as px_api_wait and px_api_post do first. Returns PMIX_ERR_INIT before
 * init, PMIX_ERR_BAD_PARAM if op is invalid or px_args_sound refuses its args. Returns
 * PMIX_ERR_NOT_SUPPORTED for a required attribute that op->function does not
 * support. */
pmix_status_t px_api_check(const struct px_api *op);
/* Runs op, which lives on the caller's stack, and waits. Returns the status of
 * px_api_done. Returns PMIX_ERR_WOULD_BLOCK on the loop thread, unless op->at_once. */
pmix_status_t px_api_wait(struct px_api *op);
/* Copies op (size bytes) with its args, and runs the copy later. Copy and results are
 * freed after finish. Returns PMIX_ERR_NOMEM. */
pmix_status_t px_api_post(const struct px_api *op, size_t size);
void px_api_free(void *op);
/* Runs a call, which waits for its status if op->cb is NULL. In a callback, where
 * waiting would deadlock, the call is posted instead. The function then returns
 * PMIX_SUCCESS, and a failure is logged with the function's name. */
pmix_status_t px_api_run(struct px_api *op, size_t size, const char *name);
/* Starts a copy of op in the caller's thread, and returns after the request is sent, or
 * the error if the request cannot be sent. Later failures are logged. Not on the
 * loop. */
pmix_status_t px_api_leave(struct px_api *op, size_t size, const char *name);
/* Run a call whose only result is a status: px_api_call waits, px_api_call_nb posts the
 * call for the user's cb. */
pmix_status_t px_api_call(struct px_api op);
pmix_status_t px_api_call_nb(struct px_api op, pmix_op_cbfunc_t cb, void *cbdata);
/* Run a call whose result has infos. The caller gets them also with an error (a partial
 * result); NULL drops them. cb may be NULL; its user may keep the infos until calling
 * the release function. */
pmix_status_t px_api_infos(struct px_api op, pmix_info_t **results, size_t *n);
pmix_status_t px_api_infos_nb(struct px_api op, pmix_info_cbfunc_t cb, void *cbdata);
/* Gives the results of a call that has waited to the caller; NULL drops them. */
void px_api_give(struct px_api *op, pmix_info_t **results, size_t *n);
void px_api_done(struct px_api *op, pmix_status_t status);

/* Sends the message that op->request makes of op->args, or of args. On failure op is
 * done with the status. op->reply runs with op as its argument. */
void px_api_send(struct px_api *op);
void px_api_send_args(struct px_api *op, const struct px_args *args);
/* Sends a message that the caller has packed. */
void px_api_request(struct px_api *op, px_writer *w, px_reply_fn reply);
/* Returns the status at the beginning of a reply. Returns status without a reply,
 * or an error if the reply is malformed. */
pmix_status_t px_api_answer(pmix_status_t status, px_reader *reply);
/* Handle replies with a status, and replies with a status and optional infos.
 * px_api_read_infos reads these infos into the results. */
void px_api_status_reply(void *op, pmix_status_t status, px_reader *reply);
void px_api_infos_reply(void *op, pmix_status_t status, px_reader *reply);
pmix_status_t px_api_read_infos(struct px_api *op, pmix_status_t status,
                                px_reader *reply);

#endif
