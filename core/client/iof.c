/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding of standard streams: output of others to here, input to them. */
#include "core/client/client.h"
#include "core/link/iof.h"

struct pull_op {
    struct px_api api;
    pmix_iof_cbfunc_t fn;
    pmix_hdlr_reg_cbfunc_t reg_cb;
};

/* ---- pull ------------------------------------------------------------------------ */

static void on_pulled(void *arg, pmix_status_t status, px_reader *reply)
{
    struct pull_op *op = arg;
    struct px_iof *iof = px_iof_find(&px_process.model->iofs, op->api.args.id);

    status = px_api_answer(status, reply);
    iof->server_id = iof->id; /* of a server that does not tell its own */
    iof->registered = true;
    if (!status && !px_reader_done(reply))
        status = px_unpack_size(reply, &iof->server_id);
    if (status)
        px_iof_remove(iof);
    px_api_done(&op->api, status);
}

static void finish_pull(struct px_api *api)
{
    struct pull_op *op = PX_CONTAINER_OF(api, struct pull_op, api);

    op->reg_cb(api->status, op->api.args.id, api->cbdata);
}

/* The handler is in place before the server may send the first bytes, which is before
 * it answers. */
static void on_pull(struct px_api *api)
{
    struct pull_op *op = PX_CONTAINER_OF(api, struct pull_op, api);
    struct px_iof *iof = NULL;
    pmix_status_t rc = px_loop_need_thread(px_process.loop);

    if (!rc)
        rc = px_iof_add(&px_process.model->iofs, op->fn, &iof);

    if (!rc) {
        api->args.id = iof->id;
        iof->server = px_process.channel->server;
        rc = px_channel_ask(px_process.channel, api->request, &api->args, on_pulled,
                            op);
        if (rc)
            px_iof_remove(iof);
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
    struct pull_op op = {
        .api = {.start = on_pull,
                .finish = finish_pull,
                .request = &px_request_iof_pull,
                .args = {.procs = (pmix_proc_t *)procs,
                         .n_procs = nprocs,
                         .info = px_infos_borrow(directives, ndirs),
                         .channels = channel},
                .invalid = nprocs == 0 || channel == PMIX_FWD_NO_CHANNELS,
                .cbdata = regcbdata},
        .fn = cbfunc,
        .reg_cb = regcbfunc};
    pmix_status_t rc = px_api_check(&op.api);

    /* Input is pushed; and nothing here writes to this process's own streams yet. */
    if (!rc && ((channel & PMIX_FWD_STDIN_CHANNEL) || !cbfunc))
        rc = PMIX_ERR_NOT_SUPPORTED;
    if (rc)
        return rc;
    if (regcbfunc)
        return px_api_post(&op.api, sizeof op);
    rc = px_api_wait(&op.api);
    return rc ? rc : (pmix_status_t)op.api.args.id;
}

/* ---- deregister ------------------------------------------------------------------ */

/* Output that still arrives is thrown away from now on. */
static void on_deregister(struct px_api *api)
{
    struct px_iof *iof = px_iof_find(&px_process.model->iofs, api->args.id);
    struct px_channel *up = px_process.channel;
    struct px_args args = api->args;
    struct px_link *link;
    pmix_status_t rc = PMIX_SUCCESS;

    if (!iof || !iof->registered) {
        px_api_done(api, PMIX_ERR_BAD_PARAM);
        return;
    }
    if (!px_proc_same(&up->server, &iof->server)) {
        link = px_process.client ? px_link_find(&iof->server) : NULL;
        up = link ? px_link_channel(link) : NULL;
    }
    args.id = iof->server_id;
    px_iof_remove(iof);
    if (up)
        rc = px_channel_ask(up, api->request, &args, px_api_status_reply, api);
    /* A server that has gone took with it what was asked of it. */
    if (rc || !up)
        px_api_done(api, rc);
}

static pmix_status_t wait_or_post(struct px_api *op)
{
    return op->cb ? px_api_post(op, sizeof *op) : px_api_wait(op);
}

PX_EXPORT pmix_status_t PMIx_IOF_deregister(size_t iofhdlr,
                                            const pmix_info_t directives[],
                                            size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                            void *cbdata)
{
    struct px_api op = {
        .start = on_deregister,
        .request = &px_request_iof_dereg,
        .args = {.id = iofhdlr, .info = px_infos_borrow(directives, ndirs)},
        .cb = cbfunc,
        .cbdata = cbdata};

    return wait_or_post(&op);
}

/* ---- push ------------------------------------------------------------------------ */

PX_EXPORT pmix_status_t PMIx_IOF_push(const pmix_proc_t targets[], size_t ntargets,
                                      pmix_byte_object_t *bo,
                                      const pmix_info_t directives[], size_t ndirs,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct px_api op = {.request = &px_request_iof_push,
                        .args = {.procs = (pmix_proc_t *)targets,
                                 .n_procs = ntargets,
                                 .info = px_infos_borrow(directives, ndirs),
                                 .bytes = bo ? *bo : (pmix_byte_object_t){0}},
                        .cb = cbfunc,
                        .cbdata = cbdata};
    pmix_status_t rc = px_api_check(&op);

    if (rc)
        return rc;
    /* Nothing here reads this process's own input yet. */
    if (px_info_flag(directives, ndirs, PMIX_IOF_PUSH_STDIN))
        return PMIX_ERR_NOT_SUPPORTED;
    if (!bo && !px_info_flag(directives, ndirs, PMIX_IOF_COMPLETE))
        return PMIX_ERR_BAD_PARAM;
    return wait_or_post(&op);
}
