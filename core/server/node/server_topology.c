/* SPDX-License-Identifier: BSD-3-Clause */
/* Topology calls of hosts, which describe processes with it, and of clients without
 * hwloc. */
#include "core/link/required.h"
#include "core/model/nspace.h"
#include "core/model/resources.h"
#include "core/model/topology.h"
#include "core/base/str.h"
#include "core/link/api.h"
#include "core/model/jobinfo.h"
#include "core/model/lookup.h"
#include "core/rt/log.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"
#include "core/types/handle.h"
#include "pmix_deprecated.h"

#include <string.h>
#include <unistd.h>

/* ---- for hosts ------------------------------------------------------------------- */

PX_EXPORT pmix_status_t
PMIx_server_generate_locality_string(const pmix_cpuset_t *cpuset, char **locality)
{
    pmix_topology_t node;
    pmix_status_t rc;

    if (!px_initialized())
        return PMIX_ERR_INIT;
    if (!cpuset || !locality)
        return PMIX_ERR_BAD_PARAM;
    if (!px_source_is_hwloc(cpuset->source)) {
        px_log(
            PX_LOG_WARN, "topology",
            "cannot make a locality: this library does not support the source of the "
            "cpuset (got %s, expected hwloc)",
            cpuset->source ? cpuset->source : "none");
        return PMIX_ERR_NOT_SUPPORTED;
    }
    rc = px_node_topology(&node);
    return rc ? rc : px_locality_text(node.topology, cpuset->bitmap, locality);
}

PX_EXPORT pmix_status_t PMIx_server_generate_cpuset_string(const pmix_cpuset_t *cpuset,
                                                           char **cpuset_string)
{
    PX_AUTOFREE char *list = NULL;
    struct px_opaque o;
    char *text;

    if (!px_initialized())
        return PMIX_ERR_INIT;
    if (!cpuset || !cpuset_string)
        return PMIX_ERR_BAD_PARAM;
    o = px_load_opaque(cpuset);
    pmix_status_t rc = px_handle_text(PX_CPUSET, &o, &list);
    if (rc)
        return rc;
    text = px_strf("hwloc:%s", list);
    if (!text)
        return PMIX_ERR_NOMEM;
    *cpuset_string = text;
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_server_generate_cpuset(const char *cpuset_string,
                                                    pmix_cpuset_t *cpuset)
{
    if (!px_initialized())
        return PMIX_ERR_INIT;
    if (!cpuset_string || !cpuset)
        return PMIX_ERR_BAD_PARAM;
    return px_cpuset_parse(cpuset_string, cpuset);
}

/* ---- for clients ----------------------------------------------------------------- */

/* Finds where a client runs: PMIX_CPUSET of the host, else the kernel's binding. */
static pmix_status_t find_binding(const struct px_peer *peer, pmix_cpuset_t *cpuset)
{
    const struct px_model *m = peer->server->model;
    struct px_nspace *ns = px_nspace_find(m, peer->proc.nspace);
    PX_AUTOFREE char *list = NULL;
    struct px_lookup l;
    pmix_value_t v;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    px_lookup_init(&l, PMIX_CPUSET, peer->proc.rank, NULL, 0);
    if (ns && px_lookup_find(m, ns, &l, &v) == PMIX_SUCCESS) {
        if (px_value_string(&v))
            rc = px_cpuset_parse(px_value_string(&v), cpuset);
        px_type_destruct(PMIX_VALUE, &v);
    }
    if (!rc || !peer->pid)
        return rc;
    rc = px_binding_list(peer->pid, &list);
    return rc ? rc : px_cpuset_parse(list, cpuset);
}

static pmix_status_t answer(struct px_req *req, const pmix_cpuset_t *cpuset,
                            const px_infos *infos)
{
    pmix_device_distance_t *found = NULL;
    pmix_topology_t node;
    size_t n = 0;
    px_writer w;
    pmix_status_t rc = px_node_topology(&node);

    if (!rc)
        rc = px_distances(&node, cpuset, infos->v, infos->n,
                          req->peer->server->node_name, &found, &n);
    if (rc)
        return rc;
    px_reply_begin(req, &w, PMIX_SUCCESS);
    px_pack_size(&w, n);
    px_pack(&w, found, (int32_t)n, PMIX_DEVICE_DIST);
    px_req_reply(req, &w);
    px_type_free_array(PMIX_DEVICE_DIST, found, n);
    return PX_DEFERRED;
}

/* Serves PMIx_Compute_distances. The first request may make the loop wait for the
 * discovery of the topology. A host can avoid that: it passes a topology to
 * PMIx_server_init, or generates a locality before. Only this node's topology is
 * supported, so the client sends none; the reader refuses XML. */
static pmix_status_t on_distances(struct px_server *srv PX_UNUSED, struct px_req *req)
{
    pmix_topology_t topo = {0};
    pmix_cpuset_t cpuset = {0};
    PX_AUTO(px_infos) infos = {0};
    pmix_status_t rc = px_unpack1(&req->in, &topo, PMIX_TOPO);

    if (!rc)
        rc = px_unpack1(&req->in, &cpuset, PMIX_PROC_CPUSET);
    if (!rc)
        rc = px_unpack_infos(&req->in, &infos.v, &infos.n);
    if (!rc)
        rc = px_required_check("PMIx_Compute_distances", NULL, infos.v, infos.n);
    if (!rc && !cpuset.bitmap)
        rc = find_binding(req->peer, &cpuset);
    if (!rc)
        rc = answer(req, &cpuset, &infos);
    px_type_destruct(PMIX_TOPO, &topo);
    px_type_destruct(PMIX_PROC_CPUSET, &cpuset);
    return rc;
}

static const struct px_rpc rpcs[] = {
    {PX_OP_DEVICE_DISTANCES, PX_BY_ANY, PX_OWN, .handler = on_distances},
    {0},
};

/* ---- a topology for the clients -------------------------------------------------- */

/* Returns the file with the shared topology, malloc'd. The file is in the server's
 * folder, which no other user can enter. */
static char *file_of(const struct px_server *srv)
{
    return srv->dir ? px_strf("%s/topology", srv->dir) : NULL;
}

/* Writes the topology, and adds its place to the information of every job. */
static pmix_status_t share(struct px_server *srv)
{
    PX_AUTOFREE char *file = file_of(srv);
    PX_AUTO(px_infos) infos = {0};
    struct px_topo_hints hints;
    pmix_status_t rc = file ? px_topo_share(file, &hints) : PMIX_ERR_NOT_AVAILABLE;

    if (rc)
        return rc;
    const size_t address = hints.shmem_addr, size_b = hints.shmem_size;
    const struct px_fact facts[] = {
        {PMIX_HWLOC_SHMEM_FILE, file, PMIX_STRING},
        {PMIX_HWLOC_SHMEM_ADDR, &address, PMIX_SIZE},
        {PMIX_HWLOC_SHMEM_SIZE, &size_b, PMIX_SIZE},
    };
    rc = px_facts_add(&infos, facts, PX_COUNT(facts));
    return rc ? rc : px_resources_set(srv->model, infos.v, infos.n);
}

static pmix_status_t create(struct px_server *srv, const struct px_server_start *start)
{
    const pmix_info_t *asked = px_info_find(start->info, start->n_info,
                                            PMIX_SERVER_SHARE_TOPOLOGY);
    pmix_status_t rc;

    if (!asked)
        asked = px_info_find(start->info, start->n_info, PMIX_HWLOC_SHARE_TOPO);
    if (!asked || !px_value_truth(&asked->value))
        return PMIX_SUCCESS;
    rc = share(srv);
    if (!rc || rc == PMIX_ERR_NOMEM)
        return rc;
    if (asked->flags & PMIX_INFO_REQD)
        return px_err_set(start->err, rc, "cannot share the topology: %s",
                          PMIx_Error_string(rc));
    px_log(PX_LOG_WARN, "topology",
           "cannot share the topology: %s; each client discovers the topology itself",
           PMIx_Error_string(rc));
    return PMIX_SUCCESS;
}

static void destroy(struct px_server *srv)
{
    PX_AUTOFREE char *file = file_of(srv);

    if (file)
        (void)unlink(file);
}

const struct px_server_part px_topology_part = {
    .name = "topology", .rpcs = rpcs, .create = create, .destroy = destroy};
