/* SPDX-License-Identifier: BSD-3-Clause */
/* Fence, connect, disconnect: requests with a list of participants and infos. */
#include "core/client/client.h"
#include "core/model/assembly.h"

#include <string.h>

/* Clears cached values of participants, which are stale after a fence. Keeps values
 * that this process serves as a server, because they are the originals. */
static void forget(struct px_model *m, const char *nspace)
{
    struct px_nspace *ns = px_nspace_find(m, nspace);

    if (ns && !ns->hosted)
        px_store_clear(&ns->store, PX_GDS_REMOTE, PMIX_RANK_UNDEF);
}

/* Clears cached values of a namespace. For an assembly clears its members' values as
 * well. */
static void forget_all(struct px_model *m, const char *nspace)
{
    const struct px_nspace *ns = px_nspace_find(m, nspace);
    const struct px_assembly *a = ns ? ns->assembly : NULL;

    for (size_t i = 0; a && i < a->n_runs; i++)
        forget(m, a->runs[i].nspace);
    forget(m, nspace);
}

/* Completes a successful fence. */
static pmix_status_t settle_fence(const struct px_api *op)
{
    const struct px_args *args = &op->args;
    struct px_model *m = op->client->model;

    if (px_info_flag(args->info.v, args->info.n, PMIX_COLLECT_DATA)) {
        if (args->n_procs == 0)
            forget(m, m->self.nspace);
        for (size_t i = 0; i < args->n_procs; i++)
            if (i == 0 || strcmp(args->procs[i].nspace, args->procs[i - 1].nspace) != 0)
                forget_all(m, args->procs[i].nspace);
    }
    return px_client_commit_status(op->client);
}

static void on_reply(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_api *op = arg;

    status = px_api_answer(status, reply);
    /* The rest of a fence reply is for other datastores. Do not read it. */
    if (!status && op->request == &px_request_connect)
        status = px_client_store_jobs(op->client, reply, NULL);
    if (!status && op->request == &px_request_fence)
        status = settle_fence(op);
    px_api_done(op, status);
}

/* Completes a fence without a server, which can only name this process. */
static pmix_status_t alone(const struct px_args *args, const pmix_proc_t *self)
{
    pmix_status_t rc = px_required_check("PMIx_Fence", NULL, args->info.v,
                                         args->info.n);

    if (rc)
        return rc;
    for (size_t i = 0; i < args->n_procs; i++)
        if (!px_proc_match(&args->procs[i], self))
            return PMIX_ERR_NOT_FOUND;
    return PMIX_SUCCESS;
}

/* A blocking collective operation. */
struct blocking_op {
    struct px_api op;
    uint32_t id, turns; /* state of the fence futex when the request was sent */
    uint32_t tag;
};

/* Completes the collective when the server advances the fence futex. The futex stands
 * for this request, because only successful commits are pending besides. Failures
 * arrive as messages. */
static void on_fence_futex(struct px_call *call, void *arg)
{
    struct blocking_op *f = arg;
    const struct px_fence_futex *futex = px_store_fence_futex(
        &f->op.client->model->own->store);

    if (!futex || futex->id != f->id)
        return;
    if (futex->turns == f->turns) {
        (void)px_call_listen(call, &futex->turns, f->turns, on_fence_futex);
        return;
    }
    px_channel_forget(&f->op.client->channel, f->tag);
    px_api_done(&f->op, f->op.request == &px_request_fence ? settle_fence(&f->op)
                                                           : PMIX_SUCCESS);
}

/* Sends the request with the futex's id and waits on the futex (adr/0023). Returns
 * false if the caller must send an ordinary request. */
static bool send_with_futex(struct px_api *op, const struct px_args *args)
{
    struct px_client *client = op->client;
    struct px_channel *up = &client->channel;
    const struct px_stores *store = &client->model->own->store;
    const struct px_fence_futex *futex;
    struct blocking_op *f = PX_CONTAINER_OF(op, struct blocking_op, op);
    px_writer w;

    /* The futex lies in the shared store, where collected data appear. */
    if (!op->call || args->info.n > 1 ||
        (args->info.n && !PMIx_Check_key(args->info.v->key, PMIX_COLLECT_DATA)) ||
        args->n_procs != 1 || args->procs[0].rank != PMIX_RANK_WILDCARD ||
        strcmp(args->procs[0].nspace, client->model->self.nspace) != 0 ||
        up->pending.n_used > client->n_unanswered || store->is_writer ||
        !(futex = px_store_fence_futex(store)))
        return false;
    f->id = futex->id;
    f->turns = futex->turns;
    if (!px_call_listen(op->call, &futex->turns, f->turns, on_fence_futex))
        return false;
    px_channel_begin(up, &w, op->request->op);
    px_pack_args(&w, args, op->request->args);
    px_pack_u32(&w, f->id);
    px_api_request(op, &w, on_reply);
    f->tag = up->last_tag;
    return true;
}

static void on_collect(struct px_api *op)
{
    const struct px_model *m = op->client->model;
    struct px_args args = op->args;
    pmix_proc_t everyone;

    if (op->client->standalone) {
        px_api_done(op, alone(&args, &m->self));
        return;
    }
    px_proc_set(&everyone, m->self.nspace, PMIX_RANK_WILDCARD);
    if (args.n_procs == 0) {
        args.procs = &everyone;
        args.n_procs = 1;
    }
    if (!send_with_futex(op, &args))
        px_api_send_args(op, &args);
}

static struct px_api make(const struct px_request *request, const pmix_proc_t *procs,
                          size_t n_procs, const pmix_info_t *info, size_t n_info)
{
    return (struct px_api){.start = on_collect,
                           .reply = on_reply,
                           .request = request,
                           .args = {.procs = (pmix_proc_t *)procs,
                                    .n_procs = n_procs,
                                    .info = px_infos_borrow(info, n_info)}};
}

static pmix_status_t run_blocking(const struct px_request *request,
                                  const pmix_proc_t *procs, size_t n_procs,
                                  const pmix_info_t *info, size_t n_info)
{
    struct blocking_op m = {.op = make(request, procs, n_procs, info, n_info)};

    return px_api_wait(&m.op);
}

PX_EXPORT pmix_status_t PMIx_Fence(const pmix_proc_t procs[], size_t nprocs,
                                   const pmix_info_t info[], size_t ninfo)
{
    return run_blocking(&px_request_fence, procs, nprocs, info, ninfo);
}

PX_EXPORT pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t nprocs,
                                      const pmix_info_t info[], size_t ninfo,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return px_api_call_nb(make(&px_request_fence, procs, nprocs, info, ninfo), cbfunc,
                          cbdata);
}

PX_EXPORT pmix_status_t PMIx_Connect(const pmix_proc_t procs[], size_t nprocs,
                                     const pmix_info_t info[], size_t ninfo)
{
    return run_blocking(&px_request_connect, procs, nprocs, info, ninfo);
}

PX_EXPORT pmix_status_t PMIx_Connect_nb(const pmix_proc_t procs[], size_t nprocs,
                                        const pmix_info_t info[], size_t ninfo,
                                        pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return px_api_call_nb(make(&px_request_connect, procs, nprocs, info, ninfo), cbfunc,
                          cbdata);
}

PX_EXPORT pmix_status_t PMIx_Disconnect(const pmix_proc_t procs[], size_t nprocs,
                                        const pmix_info_t info[], size_t ninfo)
{
    return run_blocking(&px_request_disconnect, procs, nprocs, info, ninfo);
}

PX_EXPORT pmix_status_t PMIx_Disconnect_nb(const pmix_proc_t procs[], size_t nprocs,
                                           const pmix_info_t info[], size_t ninfo,
                                           pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return px_api_call_nb(make(&px_request_disconnect, procs, nprocs, info, ninfo),
                          cbfunc, cbdata);
}
