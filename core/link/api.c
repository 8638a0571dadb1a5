/* SPDX-License-Identifier: BSD-3-Clause */
/* Common mechanism of all API calls. A blocking call waits for the same operation that
 * a non-blocking call posts. */
#include "core/link/api.h"

#include "core/rt/log.h"

#include <string.h>

/* Time that a server has to answer after the PMIX_TIMEOUT of a request, which the
 * server itself keeps. A server that is stopped does not answer. */
#define GRACE_MS 1000

/* Starts an operation. A call that arrives while the last role ends finds no client
 * state. */
static void start(struct px_api *op)
{
    op->loop = px_process.loop;
    op->client = px_process.client;
    if (!op->client)
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
    return op->function
               ? px_required_check(op->function, NULL, op->args.info.v, op->args.info.n)
               : PMIX_SUCCESS;
}

pmix_status_t px_api_wait(struct px_api *op)
{
    pmix_status_t rc = px_api_check(op);

    if (!rc)
        rc = px_process_call(on_call, op);
    /* px_process_call refuses a call on the loop's thread before the call begins. */
    if (rc != PMIX_ERR_WOULD_BLOCK || !op->at_once || !px_process_on_loop())
        return rc;
    op->inside = true;
    start(op);
    return op->status;
}

/* Frees the arguments and results of a copied operation. Does not free the operation
 * itself. */
static void empty(struct px_api *op)
{
    if (op->request)
        px_args_free(&op->args, op->request->args);
    px_type_free_array(PMIX_INFO, op->results, op->n_results);
}

void px_api_free(void *op)
{
    empty(op);
    free(op);
}

/* Checks op and copies size bytes of it, with the args. */
static pmix_status_t copy_op(const struct px_api *op, size_t size, struct px_api **out)
{
    struct px_api *copy;
    pmix_status_t rc = px_api_check(op);

    if (rc)
        return rc;
    copy = px_process_alloc_msg(size);
    if (!copy)
        return PMIX_ERR_NOMEM;
    memcpy(copy, op, size);
    copy->call = NULL;
    copy->msg.run = on_msg;
    if (copy->request)
        rc = px_args_copy(&copy->args, copy->request->args);
    if (rc)
        free(copy);
    else
        *out = copy;
    return rc;
}

pmix_status_t px_api_post(const struct px_api *op, size_t size)
{
    struct px_api *copy;
    pmix_status_t rc = copy_op(op, size, &copy);

    if (!rc && !px_process_post(&copy->msg)) {
        px_api_free(copy);
        rc = PMIX_ERR_INIT;
    }
    return rc;
}

/* An operation that the caller does not wait for. */
struct leaving {
    struct px_api *op;
    pmix_status_t status; /* of its start */
};

/* Starts the operation. A failure before the request is sent is the caller's. */
static void on_leave(struct px_call *call, void *args)
{
    enum { UNDER_WAY = 1 }; /* other statuses are 0 or negative */
    struct leaving *l = args;
    struct px_api *op = l->op;

    op->inside = true;
    op->status = UNDER_WAY;
    start(op);
    op->inside = false;
    l->status = op->status == UNDER_WAY ? PMIX_SUCCESS : op->status;
    if (op->status != UNDER_WAY)
        px_api_free(op);
    px_call_done(call, PMIX_SUCCESS);
}

static void log_failure(struct px_api *op)
{
    if (op->status)
        px_log(PX_LOG_WARN, "api", "cannot finish %s: %s", op->name,
               PMIx_Error_string(op->status));
}

pmix_status_t px_api_leave(struct px_api *op, size_t size, const char *name)
{
    struct leaving l = {0};

    op->name = name;
    op->finish = log_failure;
    pmix_status_t rc = copy_op(op, size, &l.op);
    if (rc)
        return rc;
    rc = px_process_call(on_leave, &l);
    if (rc)
        px_api_free(l.op); /* the machine stops, and start has not run */
    return rc ? rc : l.status;
}

pmix_status_t px_api_run(struct px_api *op, size_t size, const char *name)
{
    if (!op->cb && !px_process_on_loop())
        return px_api_wait(op);
    op->name = name;
    if (!op->cb)
        op->finish = log_failure;
    return px_api_post(op, size);
}

pmix_status_t px_api_call(struct px_api op)
{
    return px_api_wait(&op);
}

pmix_status_t px_api_call_nb(struct px_api op, pmix_op_cbfunc_t cb, void *cbdata)
{
    op.cb = cb;
    op.cbdata = cbdata;
    return px_api_post(&op, sizeof(op));
}

void px_api_give(struct px_api *op, pmix_info_t **results, size_t *n)
{
    if (results && n) {
        *results = op->results;
        *n = op->n_results;
    } else {
        px_type_free_array(PMIX_INFO, op->results, op->n_results);
    }
}

pmix_status_t px_api_infos(struct px_api op, pmix_info_t **results, size_t *n)
{
    pmix_status_t rc = px_api_check(&op);

    if (rc)
        return rc;
    if (!op.reply)
        op.reply = px_api_infos_reply;
    rc = px_api_wait(&op);
    px_api_give(&op, results, n);
    return rc;
}

static void finish_infos(struct px_api *op)
{
    op->info_cb(op->status, op->results, op->n_results, op->cbdata, px_api_free, op);
}

pmix_status_t px_api_infos_nb(struct px_api op, pmix_info_cbfunc_t cb, void *cbdata)
{
    if (!op.reply)
        op.reply = px_api_infos_reply;
    op.finish = cb ? finish_infos : NULL;
    op.kept = cb;
    op.info_cb = cb;
    op.cbdata = cbdata;
    return px_api_post(&op, sizeof(op));
}

static void on_finish(struct px_msg *msg)
{
    struct px_api *op = PX_CONTAINER_OF(msg, struct px_api, msg);
    bool kept = op->kept;

    if (op->finish)
        op->finish(op);
    else if (op->cb)
        op->cb(op->status, op->cbdata);
    if (kept)
        return;
    empty(op);
    px_process_free_msg(op);
}

void px_api_done(struct px_api *op, pmix_status_t status)
{
    op->status = status;
    px_list_remove(&op->link);
    if (op->inside)
        return;
    if (op->call) {
        px_call_done(op->call, status);
        return;
    }
    op->msg.run = on_finish;
    if (!px_loop_defer(op->loop, &op->msg))
        on_finish(&op->msg);
}

void px_api_send(struct px_api *op)
{
    px_api_send_args(op, &op->args);
}

void px_api_send_args(struct px_api *op, const struct px_args *args)
{
    struct px_channel *up = &op->client->channel;
    uint32_t seconds = px_info_u32(args->info.v, args->info.n, PMIX_TIMEOUT, 0);
    pmix_status_t rc = px_channel_ask(up, op->request, args,
                                      op->reply ? op->reply : px_api_status_reply, op);

    if (rc)
        px_api_done(op, rc);
    else if (seconds)
        px_channel_limit(up, op->loop, seconds * 1000ull + GRACE_MS);
}

void px_api_request(struct px_api *op, px_writer *w, px_reply_fn reply)
{
    pmix_status_t rc = px_channel_request(&op->client->channel, w, reply, op);

    if (rc)
        px_api_done(op, rc);
}

pmix_status_t px_api_answer(pmix_status_t status, px_reader *reply)
{
    pmix_status_t answer;

    if (!status)
        status = px_unpack_status(reply, &answer);
    if (!status && answer == PMIX_OPERATION_SUCCEEDED) /* a host's success */
        return PMIX_SUCCESS;
    return status ? status : answer;
}

void px_api_status_reply(void *op, pmix_status_t status, px_reader *reply)
{
    px_api_done(op, px_api_answer(status, reply));
}

pmix_status_t px_api_read_infos(struct px_api *op, pmix_status_t status,
                                px_reader *reply)
{
    pmix_status_t answer;

    if (!status)
        status = px_unpack_status(reply, &answer);
    if (status)
        return status;
    if (!px_reader_done(reply))
        status = px_unpack_infos(reply, &op->results, &op->n_results);
    return answer ? answer : status;
}

void px_api_infos_reply(void *op, pmix_status_t status, px_reader *reply)
{
    px_api_done(op, px_api_read_infos(op, status, reply));
}
