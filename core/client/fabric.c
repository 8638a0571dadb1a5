/* SPDX-License-Identifier: BSD-3-Clause */
/* Fabrics: what the host tells of one is kept in the caller's object. */
#include "core/client/ask.h"

struct fabric_op {
    struct px_ask ask;
    pmix_fabric_t *fabric; /* the caller's, filled in on the loop */
    const pmix_info_t *info;
    size_t n_info;
    bool is_update;
};

static const struct px_arg args[] = {
    PX_ARGS(struct fabric_op, info, n_info, PMIX_INFO),
    PX_ARGS_END,
};

static void drop_infos(pmix_fabric_t *f)
{
    px_type_free_array(PMIX_INFO, f->info, f->ninfo);
    f->info = NULL;
    f->ninfo = 0;
}

/* What stood in a fabric before it was registered is nobody's: perhaps it was never set. */
static void take_results(struct fabric_op *op)
{
    pmix_fabric_t *f = op->fabric;
    const pmix_info_t *index = px_info_find(op->ask.results, op->ask.n_results,
                                            PMIX_FABRIC_INDEX);
    uint64_t n;

    if (op->is_update)
        drop_infos(f);
    f->info = op->ask.results;
    f->ninfo = op->ask.n_results;
    if (index && px_value_to_u64(&index->value, &n))
        f->index = n;
    op->ask.results = NULL;
    op->ask.n_results = 0;
}

static void on_told(void *arg, pmix_status_t status, px_reader *reply)
{
    struct fabric_op *op = arg;

    if (!status)
        status = px_ask_read(reply, &op->ask.results, &op->ask.n_results);
    if (!status)
        take_results(op);
    else
        px_type_free_array(PMIX_INFO, op->ask.results, op->ask.n_results);
    px_api_done(&op->ask.api, status);
}

static void on_fabric(struct px_api *api)
{
    struct fabric_op *op = PX_CONTAINER_OF(api, struct fabric_op, ask.api);
    px_writer w;

    px_channel_begin(px_process.channel, &w,
                     op->is_update ? PX_OP_FABRIC_UPDATE : PX_OP_FABRIC_REGISTER);
    if (op->is_update)
        px_pack_size(&w, op->fabric->index);
    else
        px_pack_infos(&w, op->info, op->n_info);
    px_api_request(api, &w, on_told);
}

static pmix_status_t check(const struct fabric_op *op)
{
    pmix_status_t rc = px_api_check(NULL, 0, op->info, op->n_info);

    return !rc && !op->fabric ? PMIX_ERR_BAD_PARAM : rc;
}

static pmix_status_t do_and_wait(struct fabric_op *op)
{
    pmix_status_t rc = check(op);

    op->ask.api.start = on_fabric;
    return rc ? rc : px_api_wait(&op->ask.api);
}

static pmix_status_t post(struct fabric_op *op, pmix_op_cbfunc_t cb, void *cbdata)
{
    pmix_status_t rc = check(op);

    op->ask.api = (struct px_api){
        .start = on_fabric, .args = args, .cb = cb, .cbdata = cbdata};
    return rc ? rc : px_api_post(&op->ask.api, sizeof *op);
}

PX_EXPORT void PMIx_Fabric_construct(pmix_fabric_t *fabric)
{
    if (fabric)
        *fabric = (pmix_fabric_t)PMIX_FABRIC_STATIC_INIT;
}

PX_EXPORT pmix_status_t PMIx_Fabric_register(pmix_fabric_t *fabric,
                                             const pmix_info_t info[], size_t ninfo)
{
    struct fabric_op op = {.fabric = fabric, .info = info, .n_info = ninfo};

    return do_and_wait(&op);
}

PX_EXPORT pmix_status_t PMIx_Fabric_register_nb(pmix_fabric_t *fabric,
                                                const pmix_info_t info[], size_t ninfo,
                                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct fabric_op op = {.fabric = fabric, .info = info, .n_info = ninfo};

    return post(&op, cbfunc, cbdata);
}

PX_EXPORT pmix_status_t PMIx_Fabric_update(pmix_fabric_t *fabric)
{
    struct fabric_op op = {.fabric = fabric, .is_update = true};

    return do_and_wait(&op);
}

PX_EXPORT pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t *fabric,
                                              pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct fabric_op op = {.fabric = fabric, .is_update = true};

    return post(&op, cbfunc, cbdata);
}

PX_EXPORT pmix_status_t PMIx_Fabric_deregister(pmix_fabric_t *fabric)
{
    const struct fabric_op op = {.fabric = fabric};
    pmix_status_t rc = check(&op);

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
