/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_IOF_pull and PMIx_IOF_deregister: receive output of other processes. */
#include "core/client/client.h"
#include "core/rt/log.h"

/* ---- pull ------------------------------------------------------------------------ */

struct pull_op {
    struct px_api api;
    struct px_iof_receiver *receiver; /* NULL once the receivers own it */
    pmix_hdlr_reg_cbfunc_t reg_cb;
};

static void on_pulled(void *arg, pmix_status_t status, px_reader *reply)
{
    struct pull_op *op = arg;
    struct px_iof_receiver *r = px_iof_receivers_find(op->api.client->receivers,
                                                      op->api.args.id);

    status = px_api_answer(status, reply);
    if (!r) { /* the process is finalizing */
        px_api_done(&op->api, PMIX_ERR_INIT);
        return;
    }
    r->server_id = r->id; /* default, if the reply has no number */
    r->registered = true;
    if (!status && !px_reader_done(reply))
        status = px_unpack_size(reply, &r->server_id);
    if (status)
        px_iof_receiver_end(r);
    px_api_done(&op->api, status);
}

static void finish_pull(struct px_api *api)
{
    struct pull_op *op = PX_CONTAINER_OF(api, struct pull_op, api);

    px_iof_receiver_destroy(op->receiver);
    op->reg_cb(api->status, op->api.args.id, api->cbdata);
}

/* Adds the receiver before asking: the server may send output before its answer. */
static void on_pull(struct px_api *api)
{
    struct pull_op *op = PX_CONTAINER_OF(api, struct pull_op, api);
    struct px_channel *up = &api->client->channel;
    pmix_status_t rc = px_loop_need_thread(api->loop);

    if (!rc)
        rc = px_iof_receiver_start(op->receiver);
    if (!rc) {
        struct px_iof_receiver *r = px_take(&op->receiver);

        px_iof_receivers_add(api->client->receivers, r);
        api->args.id = r->id;
        r->server = up->server;
        rc = px_channel_ask(up, api->request, &api->args, on_pulled, op);
        if (rc)
            px_iof_receiver_end(r);
    }
    if (rc)
        px_api_done(api, rc);
}

PX_EXPORT pmix_status_t PMIx_IOF_pull(const pmix_proc_t procs[], size_t nprocs,
                                      const pmix_info_t directives[], size_t ndirs,
                                      pmix_iof_channel_t channel,
                                      pmix_iof_cbfunc_t cbfunc,
                                      pmix_hdlr_reg_cbfunc_t regcbfunc, void *regcbdata)
{
    /* All channels means all output channels; input is pushed. */
    if (channel == PMIX_FWD_ALL_CHANNELS)
        channel &= (pmix_iof_channel_t)~PMIX_FWD_STDIN_CHANNEL;
    struct pull_op op = {
        .api = {.start = on_pull,
                .finish = finish_pull,
                .request = &px_request_iof_pull,
                .args = {.procs = (pmix_proc_t *)procs,
                         .n_procs = nprocs,
                         .channels = channel,
                         .info = px_infos_borrow(directives, ndirs)},
                .invalid = nprocs == 0 || channel == PMIX_FWD_NO_CHANNELS,
                .cbdata = regcbdata},
        .reg_cb = regcbfunc};
    pmix_status_t rc = px_api_check(&op.api);

    struct px_err err = {0};

    if (!rc && (channel & PMIX_FWD_STDIN_CHANNEL))
        rc = PMIX_ERR_NOT_SUPPORTED;
    if (!rc)
        rc = px_iof_receiver_create(cbfunc, directives, ndirs, &op.api.args.info,
                                    &op.receiver, &err);
    if (err.text[0])
        px_log(PX_LOG_ERROR, "iof", "PMIx_IOF_pull: %s", err.text);
    if (rc)
        return rc;
    rc = regcbfunc ? px_api_post(&op.api, sizeof(op)) : px_api_wait(&op.api);
    free(op.api.args.info.v); /* the infos themselves are borrowed */
    if (rc || !regcbfunc)
        px_iof_receiver_destroy(op.receiver);
    return rc || regcbfunc ? rc : (pmix_status_t)op.api.args.id;
}

/* ---- deregister ------------------------------------------------------------------ */

struct dereg_op {
    struct px_api api;
    unsigned waits_for; /* pending steps: the server's answer and the receiver's end */
    pmix_status_t status;
};

static void step(struct dereg_op *op)
{
    if (--op->waits_for == 0)
        px_api_done(&op->api, op->status);
}

static void on_deregistered(void *arg, pmix_status_t status, px_reader *reply)
{
    struct dereg_op *op = arg;

    op->status = px_api_answer(status, reply);
    step(op);
}

static void on_gone(void *arg)
{
    step(arg);
}

/* Ends the receiver: output that arrives later is discarded. */
static void on_deregister(struct px_api *api)
{
    struct dereg_op *op = PX_CONTAINER_OF(api, struct dereg_op, api);
    struct px_iof_receiver *r = px_iof_receivers_find(api->client->receivers,
                                                      api->args.id);
    struct px_args args = api->args;
    struct px_channel *up;

    if (!r || !r->registered) {
        px_api_done(api, PMIX_ERR_BAD_PARAM);
        return;
    }
    args.id = r->server_id;
    up = px_uplink_way_to(api->client, &r->server);
    op->waits_for = 2;
    r->gone = on_gone;
    r->gone_arg = op;
    px_iof_receiver_end(r);
    /* A server that has gone keeps no requests. */
    if (up)
        op->status = px_channel_ask(up, api->request, &args, on_deregistered, op);
    if (op->status || !up)
        step(op);
}

PX_EXPORT pmix_status_t PMIx_IOF_deregister(size_t iofhdlr,
                                            const pmix_info_t directives[],
                                            size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                            void *cbdata)
{
    struct dereg_op op = {
        .api = {.function = "PMIx_IOF_deregister",
                .start = on_deregister,
                .request = &px_request_iof_dereg,
                .args = {.id = iofhdlr, .info = px_infos_borrow(directives, ndirs)},
                .cb = cbfunc,
                .cbdata = cbdata}};

    return px_api_run(&op.api, sizeof(op), "PMIx_IOF_deregister");
}
