/* SPDX-License-Identifier: BSD-3-Clause */
/* Fabrics: the caller's object keeps the host's description of one. */
#include "core/client/info_call.h"

struct fabric_op {
    struct px_info_call call;
    pmix_fabric_t *fabric; /* the caller's, filled in on the loop */
};

static void drop_infos(pmix_fabric_t *f)
{
    px_type_free_array(PMIX_INFO, f->info, f->ninfo);
    f->info = NULL;
    f->ninfo = 0;
}

static bool is_update(const struct fabric_op *op)
{
    return op->call.api.request == &px_request_fabric_update;
}

/* A fabric that is being registered owns nothing yet: its members were perhaps never
 * set. */
static void take_results(struct fabric_op *op)
{
    pmix_fabric_t *f = op->fabric;
    struct px_info_call *c = &op->call;
    const pmix_info_t *index = px_info_find(c->results, c->n_results,
                                            PMIX_FABRIC_INDEX);
    uint64_t n;

    if (is_update(op))
        drop_infos(f);
    f->info = c->results;
    f->ninfo = c->n_results;
    if (index && px_value_to_u64(&index->value, &n))
        f->index = n;
}

static void on_reply(void *arg, pmix_status_t status, px_reader *reply)
{
    struct fabric_op *op = arg;

    status = px_info_call_read(&op->call, status, reply);
    if (status)
        px_type_free_array(PMIX_INFO, op->call.results, op->call.n_results);
    else
        take_results(op);
    px_api_done(&op->call.api, status);
}

/* The index is read on the loop: a registration that is under way sets it. */
static void on_update(struct px_api *api)
{
    api->args.id = PX_CONTAINER_OF(api, struct fabric_op, call.api)->fabric->index;
    px_api_send(api);
}

static struct fabric_op make_register(pmix_fabric_t *fabric, const pmix_info_t *info,
                                      size_t n_info)
{
    return (struct fabric_op){.call.api = {.reply = on_reply,
                                           .request = &px_request_fabric_register,
                                           .args.info = px_infos_borrow(info, n_info),
                                           .invalid = !fabric},
                              .fabric = fabric};
}

static struct fabric_op make_update(pmix_fabric_t *fabric)
{
    return (struct fabric_op){.call.api = {.start = on_update,
                                           .reply = on_reply,
                                           .request = &px_request_fabric_update,
                                           .invalid = !fabric},
                              .fabric = fabric};
}

static pmix_status_t post(struct fabric_op op, pmix_op_cbfunc_t cb, void *cbdata)
{
    op.call.api.cb = cb;
    op.call.api.cbdata = cbdata;
    return px_api_post(&op.call.api, sizeof op);
}

PX_EXPORT void PMIx_Fabric_construct(pmix_fabric_t *fabric)
{
    if (fabric)
        *fabric = (pmix_fabric_t)PMIX_FABRIC_STATIC_INIT;
}

PX_EXPORT pmix_status_t PMIx_Fabric_register(pmix_fabric_t *fabric,
                                             const pmix_info_t info[], size_t ninfo)
{
    struct fabric_op op = make_register(fabric, info, ninfo);

    return px_api_wait(&op.call.api);
}

PX_EXPORT pmix_status_t PMIx_Fabric_register_nb(pmix_fabric_t *fabric,
                                                const pmix_info_t info[], size_t ninfo,
                                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return post(make_register(fabric, info, ninfo), cbfunc, cbdata);
}

PX_EXPORT pmix_status_t PMIx_Fabric_update(pmix_fabric_t *fabric)
{
    struct fabric_op op = make_update(fabric);

    return px_api_wait(&op.call.api);
}

PX_EXPORT pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t *fabric,
                                              pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return post(make_update(fabric), cbfunc, cbdata);
}

PX_EXPORT pmix_status_t PMIx_Fabric_deregister(pmix_fabric_t *fabric)
{
    const struct px_api op = {.invalid = !fabric};
    pmix_status_t rc = px_api_check(&op);

    if (rc)
        return rc;
    drop_infos(fabric);
    fabric->index = SIZE_MAX;
    fabric->module = NULL;
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_Fabric_deregister_nb(pmix_fabric_t *fabric,
                                                  pmix_op_cbfunc_t cbfunc PX_UNUSED,
                                                  void *cbdata PX_UNUSED)
{
    pmix_status_t rc = PMIx_Fabric_deregister(fabric);

    return rc ? rc : PMIX_OPERATION_SUCCEEDED;
}
