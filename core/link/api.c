/* SPDX-License-Identifier: BSD-3-Clause */
/* One mechanism for every API call: blocking ones wait for the same operation that
 * the others leave behind. */
#include "core/link/api.h"

#include <string.h>

/* A call that arrives while the last role ends finds no channel any more. */
static void start(struct px_api *op)
{
    if (!px_process.channel)
        px_api_done(op, PMIX_ERR_INIT);
    else if (op->start)
        op->start(op);
    else
        px_api_send(op);
}

static void on_call(struct px_call *call, void *args)
{
    struct px_api *op = args;

    op->call = call;
    start(op);
}

static void on_msg(struct px_msg *msg)
{
    start(PX_CONTAINER_OF(msg, struct px_api, msg));
}

pmix_status_t px_api_check(const struct px_api *op)
{
    if (!px_initialized())
        return PMIX_ERR_INIT;
    if (op->invalid || (op->request && !px_args_sound(&op->args, op->request->args)))
        return PMIX_ERR_BAD_PARAM;
    return PMIX_SUCCESS;
}

pmix_status_t px_api_wait(struct px_api *op)
{
    pmix_status_t rc = px_api_check(op);

    return rc ? rc : px_process_call(on_call, op);
}

static void free_args(struct px_api *op)
{
    if (op->request)
        px_args_free(&op->args, op->request->args);
}

pmix_status_t px_api_post(const struct px_api *op, size_t size)
{
    struct px_api *copy;
    pmix_status_t rc = px_api_check(op);

    if (rc)
        return rc;
    copy = malloc(size);
    if (!copy)
        return PMIX_ERR_NOMEM;
    memcpy(copy, op, size);
    copy->call = NULL;
    copy->msg.run = on_msg;
    if (copy->request)
        rc = px_args_copy(&copy->args, copy->request->args);
    if (!rc && !px_process_post(&copy->msg)) {
        free_args(copy);
        rc = PMIX_ERR_INIT;
    }
    if (rc)
        free(copy);
    return rc;
}

pmix_status_t px_api_call(struct px_api op)
{
    return px_api_wait(&op);
}

pmix_status_t px_api_call_nb(struct px_api op, pmix_op_cbfunc_t cb, void *cbdata)
{
    op.cb = cb;
    op.cbdata = cbdata;
    return px_api_post(&op, sizeof op);
}

void px_api_done(struct px_api *op, pmix_status_t status)
{
    op->status = status;
    if (op->call) {
        px_call_done(op->call, status);
        return;
    }
    if (op->finish)
        op->finish(op);
    else if (op->cb)
        op->cb(status, op->cbdata);
    free_args(op);
    free(op);
}

void px_api_send(struct px_api *op)
{
    px_writer w;

    px_channel_begin(px_process.channel, &w, op->request->op);
    px_pack_args(&w, &op->args, op->request->args);
    px_api_request(op, &w, op->reply ? op->reply : px_api_status_reply);
}

void px_api_request(struct px_api *op, px_writer *w, px_reply_fn reply)
{
    pmix_status_t rc = px_channel_request(px_process.channel, w, reply, op);

    px_writer_cleanup(w);
    if (rc)
        px_api_done(op, rc);
}

pmix_status_t px_api_answer(pmix_status_t status, px_reader *reply)
{
    pmix_status_t answer;

    if (!status)
        status = px_unpack_status(reply, &answer);
    return status ? status : answer;
}

void px_api_status_reply(void *op, pmix_status_t status, px_reader *reply)
{
    px_api_done(op, px_api_answer(status, reply));
}
