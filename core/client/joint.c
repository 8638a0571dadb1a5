/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Connect_nspace and PMIx_Disconnect_nspace (RFC 0003). The requests equal those
 * of PMIx_Connect and PMIx_Disconnect. */
#include "core/client/client.h"
#include "core/model/assembly.h"
#include "pmix_connect.h"

#include <string.h>

struct joint_op {
    struct px_api api;
    pmix_nspace_t nspace; /* name of the new namespace */
    pmix_rank_t rank;
    pmix_connect_cbfunc_t cb;
};

static void on_connected(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_api *api = arg;
    struct joint_op *op = PX_CONTAINER_OF(api, struct joint_op, api);
    struct px_nspace *ns = NULL;
    bool xchg_only = px_info_flag(api->args.info.v, api->args.info.n,
                                  PMIX_CONNECT_XCHG_ONLY);

    op->rank = PMIX_RANK_INVALID;
    status = px_api_answer(status, reply);
    if (!status)
        status = px_client_store_jobs(api->client, reply, &ns);
    if (!status && !xchg_only) {
        if (ns && ns->assembly)
            op->rank = px_assembly_rank(ns->assembly, &api->client->model->self);
        if (op->rank == PMIX_RANK_INVALID)
            status = PMIX_ERR_NOT_SUPPORTED; /* the server only performed an ordinary
                                              * connect */
        else
            PMIx_Load_nspace(op->nspace, ns->name);
    }
    px_api_done(api, status);
}

/* Sends the request. Fails without a server, which this operation needs. */
static void on_connect(struct px_api *api)
{
    if (api->client->standalone)
        px_api_done(api, PMIX_ERR_NOT_SUPPORTED);
    else
        px_api_send(api);
}

/* Fills op. infos holds the operation's infos and a directive for the server; the
 * caller frees infos. */
static pmix_status_t make(struct joint_op *op, const pmix_proc_t *procs, size_t n_procs,
                          const pmix_info_t *info, size_t n_info, px_infos *infos)
{
    pmix_status_t rc;

    op->rank = PMIX_RANK_INVALID;
    op->api.start = on_connect;
    op->api.reply = on_connected;
    op->api.request = &px_request_connect;
    op->api.args.procs = (pmix_proc_t *)procs;
    op->api.args.n_procs = n_procs;
    op->api.args.info = px_infos_borrow(info, n_info);
    rc = px_api_check(&op->api);
    if (!rc)
        rc = px_infos_add_copy(infos, info, n_info);
    if (!rc)
        rc = px_infos_add(infos, PX_CONNECT_MAKES, NULL, PMIX_BOOL);
    op->api.args.info = *infos;
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Connect_nspace(const pmix_proc_t procs[], size_t nprocs,
                                            const pmix_info_t info[], size_t ninfo,
                                            char nspace[], pmix_rank_t *newrank)
{
    PX_AUTO(px_infos) infos = {0};
    struct joint_op op = {0};
    pmix_status_t rc = make(&op, procs, nprocs, info, ninfo, &infos);

    if (!rc)
        rc = px_api_wait(&op.api);
    if (!rc && nspace)
        PMIx_Load_nspace(nspace, op.nspace);
    if (!rc && newrank)
        *newrank = op.rank;
    return rc;
}

static void finish_connect(struct px_api *api)
{
    struct joint_op *op = PX_CONTAINER_OF(api, struct joint_op, api);

    op->cb(api->status, op->nspace, (int)op->rank, api->cbdata);
}

PX_EXPORT pmix_status_t PMIx_Connect_nspace_nb(const pmix_proc_t procs[], size_t nprocs,
                                               const pmix_info_t info[], size_t ninfo,
                                               pmix_connect_cbfunc_t cbfunc,
                                               void *cbdata)
{
    PX_AUTO(px_infos) infos = {0};
    struct joint_op op = {
        .api = {.finish = finish_connect, .invalid = !cbfunc, .cbdata = cbdata},
        .cb = cbfunc};
    pmix_status_t rc = make(&op, procs, nprocs, info, ninfo, &infos);

    return rc ? rc : px_api_post(&op.api, sizeof(op));
}

/* ---- leaving --------------------------------------------------------------------- */

static struct px_nspace *nspace_left(const struct px_api *api)
{
    struct px_nspace *ns = px_nspace_find(api->client->model,
                                          api->args.procs[0].nspace);

    return ns && ns->assembly ? ns : NULL;
}

static void on_left(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_api *api = arg;

    status = px_api_answer(status, reply);
    if (!status)
        px_nspace_remove(api->client->model, nspace_left(api));
    px_api_done(api, status);
}

static void on_leave(struct px_api *api)
{
    const struct px_nspace *ns = nspace_left(api);

    if (ns &&
        px_assembly_rank(ns->assembly, &api->client->model->self) != PMIX_RANK_INVALID)
        px_api_send(api);
    else
        px_api_done(api, PMIX_ERR_NOT_FOUND);
}

/* Makes a leave request. all: storage for the namespace's name, must live as long as
 * the call. */
static struct px_api make_leave(const char *nspace, const pmix_info_t *info, size_t n,
                                pmix_proc_t *all)
{
    bool sound = nspace && nspace[0] &&
                 strnlen(nspace, PMIX_MAX_NSLEN + 1) <= PMIX_MAX_NSLEN;

    px_proc_set(all, sound ? nspace : "", PMIX_RANK_WILDCARD);
    return (struct px_api){
        .start = on_leave,
        .reply = on_left,
        .request = &px_request_disconnect,
        .args = {.procs = all, .n_procs = 1, .info = px_infos_borrow(info, n)},
        .invalid = !sound};
}

PX_EXPORT pmix_status_t PMIx_Disconnect_nspace(const char nspace[],
                                               const pmix_info_t info[], size_t ninfo)
{
    pmix_proc_t all;

    return px_api_call(make_leave(nspace, info, ninfo, &all));
}

PX_EXPORT pmix_status_t PMIx_Disconnect_nspace_nb(const char nspace[],
                                                  const pmix_info_t info[],
                                                  size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                                  void *cbdata)
{
    pmix_proc_t all;

    return px_api_call_nb(make_leave(nspace, info, ninfo, &all), cbfunc, cbdata);
}
