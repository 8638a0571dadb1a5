/* SPDX-License-Identifier: BSD-3-Clause */
/* Inventories: data about a node, which the host passes to other servers. Fabric
 * components contribute parts, encoded like contributions to a launch. hwloc describes
 * the node, in an array as of PMIx_server_register_resources. */
#include "core/link/api.h"
#include "core/link/required.h"
#include "core/model/resources.h"
#include "core/model/topology.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/server/fabric/blob.h"
#include "core/server/fabric/shares.h"
#include "core/server/op.h"
#include "core/server/server.h"
#include "core/wire/requests.h"
#include "frameworks/framework.h"
#include "tenon/pnet.h"

#define INVENTORY_KEY "tenon.pnet.inventory"

static void failed(const struct px_module *m, const char *what, pmix_status_t rc)
{
    px_log(PX_LOG_ERROR, "pnet", "component pnet/%s cannot %s an inventory: %s",
           m->component->name, what, PMIx_Error_string(rc));
}

static pmix_status_t submit(struct px_server_op *op, bool sound)
{
    op->api.invalid = !sound;
    pmix_status_t rc = px_server_here() ? px_api_check(&op->api) : PMIX_ERR_INIT;

    return rc ? rc : px_server_submit(op, sizeof(*op), sound);
}

/* ---- collection on this node ----------------------------------------------------- */

static pmix_status_t add(void *arg, const pmix_info_t *info)
{
    pmix_status_t rc = px_share_try(info, NULL);

    return rc ? rc : px_infos_add_copy(arg, info, 1);
}

/* Adds what hwloc knows of this node. Without hwloc adds nothing. */
static pmix_status_t describe_node(const struct px_server *srv, px_infos *out)
{
    PX_AUTO(px_infos) node = {0};
    PX_AUTOFREE char *signature = NULL;
    pmix_topology_t topo = {0};
    uint64_t memory_mb = 0;

    if (px_node_topology(&topo))
        return PMIX_SUCCESS;
    pmix_status_t rc = px_topo_summary(topo.topology, &signature, &memory_mb);
    if (!rc)
        rc = px_infos_add(&node, PMIX_HOSTNAME, srv->model->hostname, PMIX_STRING);
    if (!rc)
        rc = px_infos_add(&node, PMIX_AVAIL_PHYS_MEMORY, &memory_mb, PMIX_UINT64);
    if (!rc)
        rc = px_infos_add(&node, PMIX_TOPOLOGY_SIGNATURE, signature, PMIX_STRING);
    const pmix_data_array_t array = {
        .type = PMIX_INFO, .size = node.n, .array = node.v};
    return rc ? rc : px_infos_add(out, PMIX_NODE_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
}

/* Collects from one component. An empty share is added, too, as it is information. */
static pmix_status_t collect_from(const struct px_module *m, const px_infos *directives,
                                  px_writer *body)
{
    px_infos share = {0};
    pmix_status_t rc = PX_OPS(pnet, m)->collect_inventory(m->self, directives->v,
                                                          directives->n, add, &share);

    if (!rc) {
        px_blob_add(body, m->component->name, m->component->version, &share);
        rc = body->status;
    }
    px_infos_cleanup(&share);
    if (rc)
        failed(m, "collect", rc);
    return rc;
}

static pmix_status_t collect(struct px_server *srv, const struct px_server_op *op)
{
    struct px_api *api = (struct px_api *)&op->api;
    PX_AUTO(px_infos) found = {0};
    PX_AUTO(px_writer) body;
    pmix_status_t rc = PMIX_SUCCESS;
    size_t n;
    const struct px_module *m = px_modules("pnet", &n);

    px_writer_init(&body, px_codec_default);
    for (size_t i = 0; !rc && i < n; i++)
        if (PX_OPS(pnet, &m[i])->collect_inventory)
            rc = collect_from(&m[i], &api->args.info, &body);
    if (!rc && body.buf.len > 0)
        rc = px_shares_seal(&body, INVENTORY_KEY, &found);
    if (!rc)
        rc = describe_node(srv, &found);
    if (rc)
        return rc;
    api->results = found.v;
    api->n_results = found.n;
    found = (px_infos){0};
    return PMIX_SUCCESS;
}

/* Calls the user. The host frees the results by the release function. */
static void finish_collect(struct px_api *api)
{
    api->info_cb(api->status, api->results, api->n_results, api->cbdata, px_api_free,
                 api);
}

PX_EXPORT pmix_status_t PMIx_server_collect_inventory(pmix_info_t directives[],
                                                      size_t ndirs,
                                                      pmix_info_cbfunc_t cbfunc,
                                                      void *cbdata)
{
    struct px_server_op op = {.run = collect,
                              .api = {.function = "PMIx_server_collect_inventory",
                                      .finish = finish_collect,
                                      .kept = true,
                                      .request = &px_request_infos,
                                      .args.info = px_infos_borrow(directives, ndirs),
                                      .info_cb = cbfunc,
                                      .cbdata = cbdata}};

    return submit(&op, cbfunc);
}

/* ---- delivery of any node's inventory -------------------------------------------- */

/* Shares of each inventory in one call, perhaps of several nodes. */
typedef struct read_all {
    struct px_share **v;
    size_t n;
} read_all;

static void read_all_cleanup(struct read_all *all)
{
    for (size_t i = 0; i < all->n; i++)
        px_shares_free(all->v[i]);
    free(all->v);
}

static pmix_status_t read_inventories(const px_infos *infos, struct read_all *all,
                                      struct px_err *err)
{
    pmix_status_t rc = PMIX_SUCCESS;

    all->v = calloc(infos->n, sizeof(*all->v));
    for (size_t i = 0; all->v && !rc && i < infos->n; i++) {
        if (!PMIx_Check_key(infos->v[i].key, INVENTORY_KEY))
            continue;
        all->v[all->n] = px_shares_create();
        rc = all->v[all->n]
                 ? px_shares_read(all->v[all->n], &infos->v[i].value, NULL, err)
                 : px_err_nomem(err, "keep it");
        all->n++;
    }
    if (!all->v)
        return px_err_nomem(err, "keep it");
    return rc || all->n > 0 || px_info_find(infos->v, infos->n, PMIX_NODE_INFO_ARRAY)
               ? rc
               : px_err_set(err, PMIX_ERR_BAD_PARAM, "missing %s", INVENTORY_KEY);
}

/* Delivers a share to its component. The caller goes on after a failure, and returns
 * the first. */
static pmix_status_t deliver_to(const struct px_share *share,
                                const px_infos *directives)
{
    const struct px_module *m = share->module;

    if (!share->present || !PX_OPS(pnet, m)->deliver_inventory)
        return PMIX_SUCCESS;
    pmix_status_t rc = PX_OPS(pnet, m)->deliver_inventory(
        m->self, share->info, share->n, directives->v, directives->n);
    if (rc)
        failed(m, "take", rc);
    return rc;
}

/* Keeps the descriptions of nodes, where PMIx_Get with PMIX_NODE_INFO finds them. */
static pmix_status_t keep_nodes(struct px_server *srv, const px_infos *infos)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < infos->n; i++)
        if (PMIx_Check_key(infos->v[i].key, PMIX_NODE_INFO_ARRAY))
            rc = px_resources_set(srv->model, &infos->v[i], 1);
    return rc;
}

static pmix_status_t deliver(struct px_server *srv, const struct px_server_op *op)
{
    const px_infos *infos = &op->api.args.info;
    PX_AUTO(read_all) all = {0};
    struct px_err err = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    /* Without a component that takes inventories no share is read. */
    if (px_served_at(offsetof(struct px_pnet_ops, deliver_inventory)))
        rc = read_inventories(infos, &all, &err);
    if (rc) {
        px_log(PX_LOG_ERROR, "pnet", "cannot read an inventory: %s", err.text);
        return rc;
    }
    rc = keep_nodes(srv, infos);
    for (size_t i = 0; i < all.n; i++)
        for (const struct px_share *s = all.v[i]; s->module; s++) {
            pmix_status_t one = deliver_to(s, &op->api.args.more);

            rc = rc ? rc : one;
        }
    return rc;
}

PX_EXPORT pmix_status_t PMIx_server_deliver_inventory(pmix_info_t info[], size_t ninfo,
                                                      pmix_info_t directives[],
                                                      size_t ndirs,
                                                      pmix_op_cbfunc_t cbfunc,
                                                      void *cbdata)
{
    struct px_server_op op = {
        .run = deliver,
        .api = {.request = &px_request_infos,
                .args = {.info = px_infos_borrow(info, ninfo),
                         .more = px_infos_borrow(directives, ndirs)},
                .cb = cbfunc,
                .cbdata = cbdata}};
    pmix_status_t rc = px_server_here() && (directives || !ndirs)
                           ? px_required_check("PMIx_server_deliver_inventory", NULL,
                                               directives, ndirs)
                           : PMIX_SUCCESS;

    if (!rc)
        rc = submit(&op, ninfo > 0 && (directives || !ndirs));
    return px_server_answer(rc, cbfunc);
}
