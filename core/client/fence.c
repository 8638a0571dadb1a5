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
    struct px_client *client = op->client;

    status = px_api_answer(status, reply);
    /* The rest of a fence reply is for other datastores. Do not read it. */
    if (!status && op->request == &px_request_connect)
        status = px_client_store_jobs(op->client, reply, NULL);
    if (!status && op->request == &px_request_fence)
        status = settle_fence(op);
    px_api_done(op, status);
    px_client_get_again(client);
}

bool px_client_is_fencing(const struct px_client *client, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&client->fences, const struct px_api, op, link) {
        const struct px_args *args = &op->args;
        bool named = args->n_procs == 0 &&
                     strcmp(proc->nspace, client->model->self.nspace) == 0;

        for (size_t i = 0; !named && i < args->n_procs; i++)
            named = px_proc_match(&args->procs[i], proc);
        if (named)
            return true;
    }
    return false;
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

/* Completes the collective when the server advances the fence futex. The futex stands
 * for this request, because only successful commits are pending besides. Failures
 * arrive as messages. */
static void on_fence_futex(struct px_call *call, void *arg)
{
    struct px_blocking_op *f = arg;
    const struct px_fence_futex *futex = px_store_fence_futex(
        &f->op.client->model->own->store);
    uint64_t number;
    bool has_number;

    if (!futex || futex->id != f->id)
        return;
    if (futex->turns == f->turns) {
        (void)px_call_listen(call, &futex->turns, f->turns, on_fence_futex);
        return;
    }
    has_number = px_fence_futex_number(futex, f->turns + 1, &number);
    px_channel_forget(&f->op.client->channel, f->tag);
    f->woken(&f->op, has_number, number);
}

/* True if the arguments name all ranks of this process's job. */
static bool is_whole_job(const struct px_nspace *own, const struct px_args *args)
{
    const bool is_any = args->n_procs == 1 && args->procs->rank == PMIX_RANK_WILDCARD;

    if (!is_any && args->n_procs != own->job_size)
        return false;
    for (size_t i = 0; i < args->n_procs; i++)
        if ((!is_any && args->procs[i].rank != i) ||
            strcmp(args->procs[i].nspace, own->name) != 0)
            return false;
    return true;
}

bool px_client_sleep(struct px_api *op, const struct px_args *args, px_reply_fn reply)
{
    struct px_client *client = op->client;
    struct px_channel *up = &client->channel;
    const struct px_nspace *own = client->model->own;
    const struct px_fence_futex *futex;
    struct px_blocking_op *f = PX_CONTAINER_OF(op, struct px_blocking_op, op);
    px_writer w;

    /* The futex lies in the shared store, where collected data appear. */
    if (!op->call || !own || !is_whole_job(own, args) ||
        up->pending.n_used > client->n_unanswered || own->store.is_writer ||
        !(futex = px_store_fence_futex(&own->store)))
        return false;
    f->id = futex->id;
    f->turns = futex->turns;
    if (!px_call_listen(op->call, &futex->turns, f->turns, on_fence_futex))
        return false;
    px_channel_begin(up, &w, op->request->op);
    px_pack_args(&w, args, op->request->args);
    px_pack_u32(&w, f->id);
    px_api_request(op, &w, reply);
    f->tag = up->last_tag;
    return true;
}

static void on_woken(struct px_api *op, bool has_number PX_UNUSED,
                     uint64_t number PX_UNUSED)
{
    px_api_done(op, op->request == &px_request_fence ? settle_fence(op) : PMIX_SUCCESS);
}

/* True if the request has no directive besides the collection of data. */
static bool is_plain(const px_infos *l)
{
    return l->n == 0 || (l->n == 1 && PMIx_Check_key(l->v->key, PMIX_COLLECT_DATA));
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
    if (!op->call && op->request == &px_request_fence)
        px_list_append(&op->client->fences, &op->link);
    if (!is_plain(&args.info) || !px_client_sleep(op, &args, on_reply))
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
    struct px_blocking_op m = {.op = make(request, procs, n_procs, info, n_info),
                               .woken = on_woken};

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
