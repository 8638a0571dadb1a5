/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances to devices: computed in the caller's thread, or asked of the server by a
 * process that has no hwloc. */
#include "core/client/client.h"
#include "core/model/topology.h"
#include "core/wire/ops.h"

struct distances_op {
    struct px_api api;
    px_writer request;     /* packed in the caller's thread; empty: it is all done */
    pmix_status_t outcome; /* of what was done there */
    pmix_device_distance_t *found;
    size_t n;
    pmix_device_dist_cbfunc_t cb;
};

static pmix_status_t own_binding(pmix_cpuset_t *cpuset)
{
    PX_AUTOFREE char *list = NULL;
    pmix_status_t rc = px_binding_list(getpid(), &list);

    return rc ? rc : px_cpuset_parse(list, cpuset);
}

static pmix_status_t compute(const pmix_topology_t *topo, const pmix_cpuset_t *cpuset,
                             const pmix_info_t *info, size_t n_info,
                             struct distances_op *op)
{
    pmix_topology_t node;
    pmix_cpuset_t own = {0};
    pmix_status_t rc = topo ? PMIX_SUCCESS : px_node_topology(&node);

    if (!rc && !cpuset)
        rc = own_binding(&own);
    if (!rc)
        rc = px_distances(topo ? topo : &node, cpuset ? cpuset : &own, info, n_info,
                          px_process.host, &op->found, &op->n);
    px_type_destruct(PMIX_PROC_CPUSET, &own);
    return rc;
}

/* ---- asking the server ----------------------------------------------------------- */

/* Its own topology is meant, so none is sent; and no cpuset is how it is told to
 * find out where we run. */
static pmix_status_t pack_request(const pmix_cpuset_t *cpuset, const pmix_info_t *info,
                                  size_t n_info, px_writer *w)
{
    static const pmix_topology_t its_own;
    static const pmix_cpuset_t unknown;

    px_pack(w, &its_own, 1, PMIX_TOPO);
    px_pack(w, cpuset ? cpuset : &unknown, 1, PMIX_PROC_CPUSET);
    px_pack_infos(w, info, n_info);
    return w->status;
}

static pmix_status_t read_reply(struct distances_op *op, px_reader *reply)
{
    pmix_status_t answer, rc = px_unpack_status(reply, &answer);

    if (!rc)
        rc = answer;
    if (!rc)
        rc = px_unpack_size(reply, &op->n);
    if (!rc)
        rc = px_unpack_array(reply, (void **)&op->found, op->n, PMIX_DEVICE_DIST);
    if (rc)
        op->n = 0;
    return rc ? rc : op->n ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

static void on_reply(void *arg, pmix_status_t status, px_reader *reply)
{
    struct distances_op *op = arg;

    px_api_done(&op->api, status ? status : read_reply(op, reply));
}

static void on_start(struct px_api *api)
{
    struct distances_op *op = PX_CONTAINER_OF(api, struct distances_op, api);
    struct px_channel *up = px_process.channel;
    const px_buf *packed = &op->request.buf;
    px_writer w;

    if (packed->len == 0) {
        px_api_done(api, op->outcome);
        return;
    }
    px_channel_begin(up, &w, PX_OP_DEVICE_DISTANCES);
    if (px_buf_add(&w.buf, packed->data, packed->len))
        w.status = PMIX_ERR_NOMEM;
    px_writer_cleanup(&op->request);
    px_api_request(api, &w, on_reply);
}

/* ---- the calls ------------------------------------------------------------------- */

/* Does in this thread all that can be done: everything, or the request. The choice
 * must not depend on anything that has to be waited for. */
static pmix_status_t prepare(const pmix_topology_t *topo, const pmix_cpuset_t *cpuset,
                             const pmix_info_t *info, size_t n_info,
                             struct distances_op *op)
{
    if (topo || px_process.server || px_topo_possible())
        return op->outcome = compute(topo, cpuset, info, n_info, op);
    /* The codec is settled once and for all while the process is initialised. */
    px_writer_init(&op->request, px_process.channel->codec);
    pmix_status_t rc = pack_request(cpuset, info, n_info, &op->request);
    if (rc)
        px_writer_cleanup(&op->request);
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Compute_distances(pmix_topology_t *topo,
                                               pmix_cpuset_t *cpuset,
                                               pmix_info_t info[], size_t ninfo,
                                               pmix_device_distance_t *distances[],
                                               size_t *ndist)
{
    struct distances_op op = {.api = {.start = on_start,
                                      .request = &px_request_infos,
                                      .args.info = px_infos_borrow(info, ninfo),
                                      .invalid = !distances || !ndist}};
    pmix_status_t rc = px_api_check(&op.api);

    if (!rc)
        rc = prepare(topo, cpuset, info, ninfo, &op);
    if (!rc && op.request.buf.len)
        rc = px_api_wait(&op.api);
    px_writer_cleanup(&op.request);
    if (rc)
        return rc;
    *distances = op.found;
    *ndist = op.n;
    return PMIX_SUCCESS;
}

static void release(void *cbdata)
{
    struct distances_op *op = cbdata;

    px_type_free_array(PMIX_DEVICE_DIST, op->found, op->n);
    free(op);
}

/* The user may keep the array until the release function is called, which outlives
 * the call. */
static void finish(struct px_api *api)
{
    struct distances_op *op = PX_CONTAINER_OF(api, struct distances_op, api);
    struct distances_op *kept = op->found ? malloc(sizeof *kept) : NULL;

    px_writer_cleanup(&op->request);
    if (kept) {
        *kept = *op;
        op->cb(api->status, op->found, op->n, api->cbdata, release, kept);
        return;
    }
    op->cb(op->found ? PMIX_ERR_NOMEM : api->status, NULL, 0, api->cbdata, NULL, NULL);
    px_type_free_array(PMIX_DEVICE_DIST, op->found, op->n);
}

PX_EXPORT pmix_status_t PMIx_Compute_distances_nb(pmix_topology_t *topo,
                                                  pmix_cpuset_t *cpuset,
                                                  pmix_info_t info[], size_t ninfo,
                                                  pmix_device_dist_cbfunc_t cbfunc,
                                                  void *cbdata)
{
    struct distances_op op = {.api = {.start = on_start,
                                      .finish = finish,
                                      .request = &px_request_infos,
                                      .args.info = px_infos_borrow(info, ninfo),
                                      .invalid = !cbfunc,
                                      .cbdata = cbdata},
                              .cb = cbfunc};
    pmix_status_t rc = px_api_check(&op.api);

    if (!rc)
        rc = prepare(topo, cpuset, info, ninfo, &op);
    if (!rc)
        rc = px_api_post(&op.api, sizeof op);
    if (rc) {
        px_writer_cleanup(&op.request);
        px_type_free_array(PMIX_DEVICE_DIST, op.found, op.n);
    }
    return rc;
}
