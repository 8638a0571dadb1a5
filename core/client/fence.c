/* SPDX-License-Identifier: BSD-3-Clause */
/* Fence, connect, disconnect: one request with a list of participants and infos each. */
#include "core/client/client.h"

#include <string.h>

struct collect_op {
    struct px_api api;
    uint8_t command;
    const pmix_proc_t *procs;
    size_t n_procs;
    const pmix_info_t *info;
    size_t n_info;
};

static const struct px_arg args[] = {
    PX_ARGS(struct collect_op, procs, n_procs, PMIX_PROC),
    PX_ARGS(struct collect_op, info, n_info, PMIX_INFO),
    PX_ARGS_END,
};

/* What the participants had committed before is stale now. Not what this process serves, if it
 * is a server too: that is the data itself. */
static void forget(const char *nspace)
{
    struct px_nspace *ns = px_nspace_find(px_process.model, nspace);

    if (ns && !ns->hosted)
        px_store_clear(ns, PX_GDS_REMOTE, PMIX_RANK_UNDEF);
}

static void forget_peers(const struct collect_op *op)
{
    if (op->n_procs == 0)
        forget(px_process.model->self.nspace);
    for (size_t i = 0; i < op->n_procs; i++) {
        if (i == 0 || strcmp(op->procs[i].nspace, op->procs[i - 1].nspace) != 0)
            forget(op->procs[i].nspace);
    }
}

pmix_status_t px_client_store_jobs(px_reader *reply)
{
    pmix_status_t rc = PMIX_SUCCESS;

    while (!rc && !px_reader_done(reply)) {
        px_reader job;

        rc = px_unpack_view(reply, &job, PMIX_BYTE_OBJECT);
        if (!rc)
            rc = px_client_store_job(&job);
    }
    return rc;
}

static void on_reply(void *arg, pmix_status_t status, px_reader *reply)
{
    struct collect_op *op = arg;
    pmix_status_t answer = px_api_answer(status, reply);

    /* A fence reply may go on with what another datastore wants: not ours to read. */
    if (!answer && op->command == PX_OP_CONNECT)
        answer = px_client_store_jobs(reply);
    if (!answer && op->command == PX_OP_FENCE &&
        px_info_flag(op->info, op->n_info, PMIX_COLLECT_DATA))
        forget_peers(op);
    px_api_done(&op->api, answer);
}

static void on_collect(struct px_api *api)
{
    struct collect_op *op = PX_CONTAINER_OF(api, struct collect_op, api);
    struct px_model *m = px_process.model;
    pmix_proc_t everyone;
    px_writer w;

    if (m->standalone) { /* alone, everybody is here */
        px_api_done(api, PMIX_SUCCESS);
        return;
    }
    px_proc_set(&everyone, m->self.nspace, PMIX_RANK_WILDCARD);
    px_channel_begin(&m->channel, &w, op->command);
    if (op->n_procs > 0)
        px_pack_procs(&w, op->procs, op->n_procs);
    else
        px_pack_procs(&w, &everyone, 1);
    px_pack_infos(&w, op->info, op->n_info);
    px_api_request(api, &w, on_reply);
}

static pmix_status_t check(const struct collect_op *op)
{
    bool needs_procs = op->command != PX_OP_FENCE;
    pmix_status_t rc = px_api_check(op->procs, op->n_procs, op->info, op->n_info);

    return !rc && needs_procs && op->n_procs == 0 ? PMIX_ERR_BAD_PARAM : rc;
}

static struct collect_op make(uint8_t command, const pmix_proc_t *procs, size_t n_procs,
                              const pmix_info_t *info, size_t n_info)
{
    return (struct collect_op){.api = {.start = on_collect, .args = args},
                               .command = command,
                               .procs = procs,
                               .n_procs = n_procs,
                               .info = info,
                               .n_info = n_info};
}

static pmix_status_t do_and_wait(struct collect_op op)
{
    pmix_status_t rc = check(&op);

    return rc ? rc : px_api_wait(&op.api);
}

static pmix_status_t post(struct collect_op op, pmix_op_cbfunc_t cb, void *cbdata)
{
    pmix_status_t rc = check(&op);

    op.api.cb = cb;
    op.api.cbdata = cbdata;
    return rc ? rc : px_api_post(&op.api, sizeof op);
}

PX_EXPORT pmix_status_t PMIx_Fence(const pmix_proc_t procs[], size_t nprocs,
                                   const pmix_info_t info[], size_t ninfo)
{
    return do_and_wait(make(PX_OP_FENCE, procs, nprocs, info, ninfo));
}

PX_EXPORT pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t nprocs,
                                      const pmix_info_t info[], size_t ninfo,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return post(make(PX_OP_FENCE, procs, nprocs, info, ninfo), cbfunc, cbdata);
}

PX_EXPORT pmix_status_t PMIx_Connect(const pmix_proc_t procs[], size_t nprocs,
                                     const pmix_info_t info[], size_t ninfo)
{
    return do_and_wait(make(PX_OP_CONNECT, procs, nprocs, info, ninfo));
}

PX_EXPORT pmix_status_t PMIx_Connect_nb(const pmix_proc_t procs[], size_t nprocs,
                                        const pmix_info_t info[], size_t ninfo,
                                        pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return post(make(PX_OP_CONNECT, procs, nprocs, info, ninfo), cbfunc, cbdata);
}

PX_EXPORT pmix_status_t PMIx_Disconnect(const pmix_proc_t procs[], size_t nprocs,
                                        const pmix_info_t info[], size_t ninfo)
{
    return do_and_wait(make(PX_OP_DISCONNECT, procs, nprocs, info, ninfo));
}

PX_EXPORT pmix_status_t PMIx_Disconnect_nb(const pmix_proc_t procs[], size_t nprocs,
                                           const pmix_info_t info[], size_t ninfo,
                                           pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return post(make(PX_OP_DISCONNECT, procs, nprocs, info, ninfo), cbfunc, cbdata);
}
