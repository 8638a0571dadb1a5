/* SPDX-License-Identifier: BSD-3-Clause */
/* Information that holds for every job, from the host; and that about whole jobs, for
 * it. */
#include "core/model/nspace.h"

#include "core/link/api.h"
#include "core/server/collective/collective.h"

#include <string.h>

struct resources_op {
    struct px_api api;
    pmix_status_t (*run)(struct px_model *m, const pmix_info_t *info, size_t n);
};

static void on_resources(struct px_api *api)
{
    const struct resources_op *op = PX_CONTAINER_OF(api, struct resources_op, api);

    const px_infos *info = &api->args.info;

    px_api_done(api, px_process.server ? op->run(px_process.model, info->v, info->n)
                                       : PMIX_ERR_INIT);
}

static pmix_status_t submit(pmix_status_t (*run)(struct px_model *m,
                                                 const pmix_info_t *info, size_t n),
                            const pmix_info_t *info, size_t n, pmix_op_cbfunc_t cb,
                            void *cbdata)
{
    struct resources_op op = {.api = {.start = on_resources,
                                      .request = &px_request_infos,
                                      .args.info = px_infos_borrow(info, n),
                                      .invalid = n == 0,
                                      .cb = cb,
                                      .cbdata = cbdata},
                              .run = run};

    if (!px_server_here())
        return PMIX_ERR_INIT;
    return cb ? px_api_post(&op.api, sizeof op) : px_api_wait(&op.api);
}

PX_EXPORT pmix_status_t PMIx_server_register_resources(pmix_info_t info[], size_t ninfo,
                                                       pmix_op_cbfunc_t cbfunc,
                                                       void *cbdata)
{
    return submit(px_resources_set, info, ninfo, cbfunc, cbdata);
}

PX_EXPORT pmix_status_t PMIx_server_deregister_resources(pmix_info_t info[],
                                                         size_t ninfo,
                                                         pmix_op_cbfunc_t cbfunc,
                                                         void *cbdata)
{
    return submit(px_resources_drop, info, ninfo, cbfunc, cbdata);
}

/* ---- job information, for a host to carry to another server ---------------------- */

struct collect_op {
    struct px_api api;
    const pmix_proc_t *procs;
    size_t n_procs;
    px_writer w;
};

/* Most often right before. */
static bool named_before(const pmix_proc_t *procs, size_t i)
{
    if (i > 0 && strcmp(procs[i - 1].nspace, procs[i].nspace) == 0)
        return true;
    for (size_t k = 0; k < i; k++)
        if (strcmp(procs[k].nspace, procs[i].nspace) == 0)
            return true;
    return false;
}

static void on_collect(struct px_api *api)
{
    struct collect_op *op = PX_CONTAINER_OF(api, struct collect_op, api);
    bool any = false;

    if (!px_process.server) {
        px_api_done(api, PMIX_ERR_INIT);
        return;
    }
    for (size_t i = 0; i < op->n_procs; i++) {
        const struct px_nspace *ns = px_nspace_find(px_process.model,
                                                    op->procs[i].nspace);

        if (!ns || !ns->complete || named_before(op->procs, i))
            continue;
        px_collective_pack_job(ns, &op->w);
        any = true;
    }
    px_api_done(api, any ? op->w.status : PMIX_ERR_NOT_FOUND);
}

PX_EXPORT pmix_status_t PMIx_server_collect_job_info(pmix_proc_t *procs, size_t nprocs,
                                                     pmix_data_buffer_t *dbuf)
{
    struct collect_op op = {
        .api = {.start = on_collect}, .procs = procs, .n_procs = nprocs};
    pmix_byte_object_t payload;
    pmix_status_t rc;

    if (!px_server_here())
        return PMIX_ERR_INIT;
    if (!procs || nprocs == 0 || !dbuf)
        return PMIX_ERR_BAD_PARAM;
    px_writer_init(&op.w, px_codec_default);
    rc = px_api_wait(&op.api);
    if (!rc) {
        px_buf packed = px_buf_take(&op.w.buf);

        payload = (pmix_byte_object_t){.bytes = (char *)packed.data,
                                       .size = packed.len};
        rc = PMIx_Data_load(dbuf, &payload);
        free(payload.bytes); /* if it was not taken */
    }
    px_writer_cleanup(&op.w);
    return rc;
}
