/* SPDX-License-Identifier: BSD-3-Clause */
/* Information from the host that holds for every job, and information about whole jobs
 * for the host. */
#include "core/model/nspace.h"
#include "core/model/resources.h"

#include "core/server/collective/collective.h"
#include "core/server/op.h"
#include "core/server/peer/share.h"
#include "core/server/server.h"
#include "core/wire/requests.h"

#include <string.h>

struct resources_op {
    struct px_server_op op;
    pmix_status_t (*change)(struct px_model *m, const pmix_info_t *info, size_t n);
};

static pmix_status_t run(struct px_server *srv, const struct px_server_op *op)
{
    const px_infos *info = &op->api.args.info;

    return PX_CONTAINER_OF(op, struct resources_op, op)
        ->change(srv->model, info->v, info->n);
}

static pmix_status_t submit(struct resources_op op, const pmix_info_t *info, size_t n,
                            pmix_op_cbfunc_t cb, void *cbdata)
{
    op.op = (struct px_server_op){.run = run,
                                  .api = {.request = &px_request_infos,
                                          .args.info = px_infos_borrow(info, n),
                                          .cb = cb,
                                          .cbdata = cbdata}};
    return px_server_answer(px_server_submit(&op.op, sizeof(op), n > 0), cb);
}

PX_EXPORT pmix_status_t PMIx_server_register_resources(pmix_info_t info[], size_t ninfo,
                                                       pmix_op_cbfunc_t cbfunc,
                                                       void *cbdata)
{
    return submit((struct resources_op){.change = px_resources_set}, info, ninfo,
                  cbfunc, cbdata);
}

PX_EXPORT pmix_status_t PMIx_server_deregister_resources(pmix_info_t info[],
                                                         size_t ninfo,
                                                         pmix_op_cbfunc_t cbfunc,
                                                         void *cbdata)
{
    return submit((struct resources_op){.change = px_resources_drop}, info, ninfo,
                  cbfunc, cbdata);
}

/* ---- job information, for a host to carry to another server ---------------------- */

struct collect_op {
    struct px_server_op op;
    const pmix_proc_t *procs;
    size_t n_procs;
    px_writer *w;
};

static bool named_before(const pmix_proc_t *procs, size_t i)
{
    for (size_t k = i; k-- > 0;) /* mostly right before */
        if (strcmp(procs[k].nspace, procs[i].nspace) == 0)
            return true;
    return false;
}

static pmix_status_t collect(struct px_server *srv, const struct px_server_op *o)
{
    const struct collect_op *op = PX_CONTAINER_OF(o, struct collect_op, op);
    bool any = false;

    for (size_t i = 0; i < op->n_procs; i++) {
        const struct px_nspace *ns = px_nspace_find(srv->model, op->procs[i].nspace);

        if (!ns || !ns->complete || named_before(op->procs, i))
            continue;
        px_peer_pack_named(srv->self, ns, op->w);
        any = true;
    }
    return any ? op->w->status : PMIX_ERR_NOT_FOUND;
}

PX_EXPORT pmix_status_t PMIx_server_collect_job_info(pmix_proc_t *procs, size_t nprocs,
                                                     pmix_data_buffer_t *dbuf)
{
    PX_AUTO(px_writer) w;
    struct collect_op op = {
        .op.run = collect, .procs = procs, .n_procs = nprocs, .w = &w};

    px_writer_init(&w, px_codec_default);
    pmix_status_t rc = px_server_submit(&op.op, sizeof(op),
                                        procs && nprocs > 0 && dbuf);
    if (rc)
        return rc;
    px_buf packed = px_buf_take(&w.buf);
    pmix_byte_object_t payload = {.bytes = (char *)packed.data, .size = packed.len};
    rc = PMIx_Data_load(dbuf, &payload);
    free(payload.bytes); /* NULL if it was taken */
    return rc;
}
