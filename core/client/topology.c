/* SPDX-License-Identifier: BSD-3-Clause */
/* Topology, binding, locality and distances, computed in the caller's thread. A process
 * without hwloc asks its server for distances. */
#include "core/client/client.h"
#include "core/model/topology.h"
#include "core/types/handle.h"

#include <string.h>
#include <strings.h>

PX_EXPORT pmix_status_t PMIx_Load_topology(pmix_topology_t *topo)
{
    pmix_topology_t node;
    pmix_status_t rc;

    if (!px_initialized())
        return PMIX_ERR_INIT;
    if (!topo)
        return PMIX_ERR_BAD_PARAM;
    if (topo->source && !px_source_is_hwloc(topo->source))
        return PMIX_ERR_NOT_SUPPORTED;
    rc = px_node_topology(&node);
    if (rc)
        return rc;
    /* The requested source may be a prefix of ours: "hwloc" accepts any version. */
    if (topo->source && strncasecmp(topo->source, node.source, strlen(topo->source)))
        return PMIX_ERR_NOT_SUPPORTED;
    if (!topo->source && !(topo->source = strdup(node.source)))
        return PMIX_ERR_NOMEM;
    topo->topology = node.topology;
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_Get_cpuset(pmix_cpuset_t *cpuset, pmix_bind_envelope_t ref)
{
    PX_AUTOFREE char *list = NULL;

    if (!px_initialized())
        return PMIX_ERR_INIT;
    if (!cpuset || (ref != PMIX_CPUBIND_PROCESS && ref != PMIX_CPUBIND_THREAD))
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = px_binding_list(ref == PMIX_CPUBIND_PROCESS ? getpid() : 0,
                                       &list);
    return rc ? rc : px_cpuset_parse(list, cpuset);
}

PX_EXPORT pmix_status_t PMIx_Parse_cpuset_string(const char *cpuset_string,
                                                 pmix_cpuset_t *cpuset)
{
    if (!px_initialized())
        return PMIX_ERR_INIT;
    if (!cpuset_string || !cpuset)
        return PMIX_ERR_BAD_PARAM;
    return px_cpuset_parse(cpuset_string, cpuset);
}

PX_EXPORT pmix_status_t PMIx_Get_relative_locality(const char *locality1,
                                                   const char *locality2,
                                                   pmix_locality_t *locality)
{
    if (!px_initialized())
        return PMIX_ERR_INIT;
    if (!locality1 || !locality2 || !locality)
        return PMIX_ERR_BAD_PARAM;
    return px_locality_shared(locality1, locality2, locality);
}

/* ---- distances ------------------------------------------------------------------- */

struct distances_op {
    struct px_api api;
    px_writer request;     /* packed in the caller's thread; empty: no request is
                            * needed */
    pmix_status_t outcome; /* result of the computation in that thread */
    pmix_device_distance_t *found;
    size_t n;
    pmix_device_dist_cbfunc_t cb;
};

static pmix_status_t compute(const pmix_topology_t *topo, const pmix_cpuset_t *cpuset,
                             const pmix_info_t *info, size_t n_info,
                             struct distances_op *op)
{
    pmix_topology_t node;
    pmix_cpuset_t own = {0};
    PX_AUTOFREE char *list = NULL;
    pmix_status_t rc = topo ? PMIX_SUCCESS : px_node_topology(&node);

    if (!rc && !cpuset) {
        rc = px_binding_list(getpid(), &list);
        if (!rc)
            rc = px_cpuset_parse(list, &own);
    }
    if (!rc)
        rc = px_distances(topo ? topo : &node, cpuset ? cpuset : &own, info, n_info,
                          px_process.host, &op->found, &op->n);
    px_type_destruct(PMIX_PROC_CPUSET, &own);
    return rc;
}

static void on_distances(void *arg, pmix_status_t status, px_reader *reply)
{
    struct distances_op *op = arg;

    status = px_api_answer(status, reply);
    if (!status)
        status = px_unpack_size(reply, &op->n);
    if (!status)
        status = px_unpack_array(reply, (void **)&op->found, op->n, PMIX_DEVICE_DIST);
    if (status)
        op->n = 0;
    else if (op->n == 0)
        status = PMIX_ERR_NOT_FOUND;
    px_api_done(&op->api, status);
}

static void on_start(struct px_api *api)
{
    struct distances_op *op = PX_CONTAINER_OF(api, struct distances_op, api);

    if (op->request.buf.len)
        px_api_request(api, &op->request, on_distances);
    else
        px_api_done(api, op->outcome);
}

/* Computes the distances or packs the request in this thread. The choice between both
 * must not block. */
static pmix_status_t prepare(const pmix_topology_t *topo, const pmix_cpuset_t *cpuset,
                             const pmix_info_t *info, size_t n_info,
                             struct distances_op *op)
{
    static const pmix_topology_t its_own; /* an empty topology stands for the server's
                                           * own */
    static const pmix_cpuset_t unknown;   /* an empty cpuset: the server finds our
                                           * binding */
    px_writer *w = &op->request;

    if (topo || px_process.server || px_topo_possible())
        return op->outcome = compute(topo, cpuset, info, n_info, op);
    /* The codec does not change while the process is initialised. */
    px_channel_begin(&px_process.client->channel, w, PX_OP_DEVICE_DISTANCES);
    px_pack(w, &its_own, 1, PMIX_TOPO);
    px_pack(w, cpuset ? cpuset : &unknown, 1, PMIX_PROC_CPUSET);
    px_pack_infos(w, info, n_info);
    return w->status;
}

PX_EXPORT pmix_status_t PMIx_Compute_distances(pmix_topology_t *topo,
                                               pmix_cpuset_t *cpuset,
                                               pmix_info_t info[], size_t ninfo,
                                               pmix_device_distance_t *distances[],
                                               size_t *ndist)
{
    struct distances_op op = {.api = {.function = "PMIx_Compute_distances",
                                      .start = on_start,
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

    px_writer_cleanup(&op->request);
    px_type_free_array(PMIX_DEVICE_DIST, op->found, op->n);
    px_api_free(op);
}

/* Delivers the result. The array lives until the user calls the release function, which
 * may be after this call. */
static void finish(struct px_api *api)
{
    struct distances_op *op = PX_CONTAINER_OF(api, struct distances_op, api);
    bool found = op->found;

    op->cb(api->status, op->found, op->n, api->cbdata, found ? release : NULL,
           found ? op : NULL);
    if (!found)
        release(op);
}

PX_EXPORT pmix_status_t PMIx_Compute_distances_nb(pmix_topology_t *topo,
                                                  pmix_cpuset_t *cpuset,
                                                  pmix_info_t info[], size_t ninfo,
                                                  pmix_device_dist_cbfunc_t cbfunc,
                                                  void *cbdata)
{
    struct distances_op op = {.api = {.function = "PMIx_Compute_distances",
                                      .start = on_start,
                                      .finish = finish,
                                      .kept = true,
                                      .request = &px_request_infos,
                                      .args.info = px_infos_borrow(info, ninfo),
                                      .invalid = !cbfunc,
                                      .cbdata = cbdata},
                              .cb = cbfunc};
    pmix_status_t rc = px_api_check(&op.api);

    if (!rc)
        rc = prepare(topo, cpuset, info, ninfo, &op);
    if (!rc)
        rc = px_api_post(&op.api, sizeof(op));
    if (rc) {
        px_writer_cleanup(&op.request);
        px_type_free_array(PMIX_DEVICE_DIST, op.found, op.n);
    }
    return rc;
}
