/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding of standard streams: output of others to here, input from here to others. */
#include "core/model/iof.h"

#include "core/client/client.h"
#include "core/rt/log.h"

struct iof_op {
    struct px_api api;
    const pmix_proc_t *procs; /* sources, or targets */
    size_t n_procs;
    const pmix_info_t *info;
    size_t n_info;
    const pmix_byte_object_t *bytes; /* NULL: none */
    pmix_iof_channel_t channels;
    pmix_iof_cbfunc_t fn;
    size_t id;
    pmix_hdlr_reg_cbfunc_t reg_cb;
};

static const struct px_arg args[] = {
    PX_ARGS(struct iof_op, procs, n_procs, PMIX_PROC),
    PX_ARGS(struct iof_op, info, n_info, PMIX_INFO),
    PX_ARG(struct iof_op, bytes, PMIX_BYTE_OBJECT),
    PX_ARGS_END,
};

/* ---- pull ----------------------------------------------------------------------------------- */

static pmix_status_t read_pulled(struct px_iof *iof, px_reader *reply)
{
    pmix_status_t answer, rc = px_unpack_status(reply, &answer);

    if (rc || answer)
        return rc ? rc : answer;
    /* A server that does not tell knows it by our number. */
    iof->server_id = iof->id;
    iof->registered = true;
    return px_reader_done(reply) ? PMIX_SUCCESS
                                 : px_unpack_size(reply, &iof->server_id);
}

static void on_pulled(void *arg, pmix_status_t status, px_reader *reply)
{
    struct iof_op *op = arg;
    struct px_iof *iof = px_iof_find(px_process.model, op->id);

    if (!status)
        status = read_pulled(iof, reply);
    if (status)
        px_iof_remove(iof);
    px_api_done(&op->api, status);
}

static void finish_pull(struct px_api *api)
{
    struct iof_op *op = PX_CONTAINER_OF(api, struct iof_op, api);

    op->reg_cb(api->status, op->id, api->cbdata);
}

/* The handler is in place before the server may send the first bytes, which is before it
 * answers. */
static void on_pull(struct px_api *api)
{
    struct iof_op *op = PX_CONTAINER_OF(api, struct iof_op, api);
    struct px_iof *iof;
    px_writer w;
    pmix_status_t rc = px_iof_add(px_process.model, op->fn, &iof);

    if (rc) {
        px_api_done(api, rc);
        return;
    }
    op->id = iof->id;
    iof->server = px_process.channel->server;
    px_channel_begin(px_process.channel, &w, PX_OP_IOF_PULL);
    px_pack_procs(&w, op->procs, op->n_procs);
    px_pack_infos(&w, op->info, op->n_info);
    px_pack(&w, &op->channels, 1, PMIX_IOF_CHANNEL);
    px_pack_size(&w, iof->id);
    rc = px_channel_request(px_process.channel, &w, on_pulled, op);
    px_writer_cleanup(&w);
    if (rc) {
        px_iof_remove(iof);
        px_api_done(api, rc);
    }
}

PX_EXPORT pmix_status_t PMIx_IOF_pull(const pmix_proc_t procs[], size_t nprocs,
                                      const pmix_info_t directives[], size_t ndirs,
                                      pmix_iof_channel_t channel,
                                      pmix_iof_cbfunc_t cbfunc,
                                      pmix_hdlr_reg_cbfunc_t regcbfunc, void *regcbdata)
{
    struct iof_op op = {.api = {.start = on_pull,
                                .finish = finish_pull,
                                .args = args,
                                .cbdata = regcbdata},
                        .procs = procs,
                        .n_procs = nprocs,
                        .info = directives,
                        .n_info = ndirs,
                        .channels = channel,
                        .fn = cbfunc,
                        .reg_cb = regcbfunc};
    pmix_status_t rc = px_api_check(op.procs, op.n_procs, op.info, op.n_info);

    if (!rc && (nprocs == 0 || channel == PMIX_FWD_NO_CHANNELS))
        rc = PMIX_ERR_BAD_PARAM;
    /* Input is pushed; and nothing here writes to this process's own streams yet. */
    if (!rc && ((channel & PMIX_FWD_STDIN_CHANNEL) || !cbfunc))
        rc = PMIX_ERR_NOT_SUPPORTED;
    if (rc)
        return rc;
    if (regcbfunc)
        return px_api_post(&op.api, sizeof op);
    rc = px_api_wait(&op.api);
    return rc ? rc : (pmix_status_t)op.id;
}

/* ---- deregister ----------------------------------------------------------------------------- */

/* NULL: it has gone, and with it what was asked of it. */
static struct px_channel *uplink_to(const pmix_proc_t *server)
{
    struct px_channel *up = px_process.channel;
    struct px_link *link;

    if (px_proc_same(&up->server, server))
        return up;
    link = px_process.client ? px_link_find(server) : NULL;
    return link ? px_link_uplink(link) : NULL;
}

/* What still arrives is thrown away from now on. */
static void on_deregister(struct px_api *api)
{
    struct iof_op *op = PX_CONTAINER_OF(api, struct iof_op, api);
    struct px_iof *iof = px_iof_find(px_process.model, op->id);
    struct px_channel *up;
    pmix_status_t rc;
    px_writer w;

    if (!iof || !iof->registered) {
        px_api_done(api, PMIX_ERR_NOT_FOUND);
        return;
    }
    up = uplink_to(&iof->server);
    if (!up) {
        px_iof_remove(iof);
        px_api_done(api, PMIX_SUCCESS);
        return;
    }
    px_channel_begin(up, &w, PX_OP_IOF_DEREG);
    px_pack_infos(&w, op->info, op->n_info);
    px_pack_size(&w, iof->server_id);
    px_iof_remove(iof);
    rc = px_channel_request(up, &w, px_api_status_reply, api);
    px_writer_cleanup(&w);
    if (rc)
        px_api_done(api, rc);
}

static pmix_status_t wait_or_post(const struct iof_op *op)
{
    struct iof_op mine = *op;

    return op->api.cb ? px_api_post(&mine.api, sizeof mine) : px_api_wait(&mine.api);
}

PX_EXPORT pmix_status_t PMIx_IOF_deregister(size_t iofhdlr,
                                            const pmix_info_t directives[],
                                            size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                            void *cbdata)
{
    struct iof_op op = {
        .api = {.start = on_deregister, .args = args, .cb = cbfunc, .cbdata = cbdata},
        .id = iofhdlr,
        .info = directives,
        .n_info = ndirs};
    pmix_status_t rc = px_api_check(op.procs, op.n_procs, op.info, op.n_info);

    return rc ? rc : wait_or_post(&op);
}

/* ---- push ----------------------------------------------------------------------------------- */

static void on_push(struct px_api *api)
{
    struct iof_op *op = PX_CONTAINER_OF(api, struct iof_op, api);
    px_writer w;

    px_channel_begin(px_process.channel, &w, PX_OP_IOF_PUSH);
    px_pack_procs(&w, op->procs, op->n_procs);
    px_pack_infos(&w, op->info, op->n_info);
    px_pack_bytes(&w, op->bytes ? op->bytes->bytes : NULL,
                  op->bytes ? op->bytes->size : 0);
    px_api_request(api, &w, px_api_status_reply);
}

PX_EXPORT pmix_status_t PMIx_IOF_push(const pmix_proc_t targets[], size_t ntargets,
                                      pmix_byte_object_t *bo,
                                      const pmix_info_t directives[], size_t ndirs,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct iof_op op = {
        .api = {.start = on_push, .args = args, .cb = cbfunc, .cbdata = cbdata},
        .procs = targets,
        .n_procs = ntargets,
        .info = directives,
        .n_info = ndirs,
        .bytes = bo};
    pmix_status_t rc = px_api_check(op.procs, op.n_procs, op.info, op.n_info);

    if (rc)
        return rc;
    if (bo && bo->size && !bo->bytes)
        return PMIX_ERR_BAD_PARAM;
    /* Nothing here reads this process's own input yet. */
    if (px_info_flag(directives, ndirs, PMIX_IOF_PUSH_STDIN))
        return PMIX_ERR_NOT_SUPPORTED;
    if (!bo && !px_info_flag(directives, ndirs, PMIX_IOF_COMPLETE))
        return PMIX_ERR_BAD_PARAM;
    return wait_or_post(&op);
}

/* ---- what comes ----------------------------------------------------------------------------- */

void px_client_on_iof(px_reader *r)
{
    pmix_status_t rc = px_iof_receive(px_process.model, r);

    if (rc)
        px_log(rc == PMIX_ERR_NOT_FOUND ? PX_LOG_DEBUG : PX_LOG_WARN, "client",
               "forwarded output dropped: %s", PMIx_Error_string(rc));
}
