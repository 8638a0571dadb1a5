/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Resolve_peers and PMIx_Resolve_nodes, answered from the data of the jobs. */
#include "core/client/client.h"
#include "core/model/query.h"
#include "core/model/reader.h"

struct resolve_op {
    struct px_api api;
    const char *nspace; /* NULL: all known namespaces */
    px_resolve_fn add;
    struct px_resolved found;
};

/* Adds results of the known namespaces. */
static pmix_status_t add_known(const struct px_model *m, struct resolve_op *op)
{
    return px_resolve(m, &op->found, op->add, op->nspace, NULL, NULL);
}

/* Stores the job that the server returned, and resolves again. */
static void on_job(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_api *api = arg;
    struct resolve_op *op = PX_CONTAINER_OF(api, struct resolve_op, api);

    status = px_client_read_values(api->client, status, reply);
    px_api_done(api, status ? status : add_known(api->client->model, op));
}

/* Asks the server for the job, immediately: a host might wait for a job that never
 * starts. */
static pmix_status_t ask_for_job(struct resolve_op *op)
{
    pmix_info_t now = {.key = PMIX_IMMEDIATE,
                       .value = {.type = PMIX_BOOL, .data.flag = true}};
    const struct px_args job = {.nspace = (char *)op->nspace,
                                .rank = PMIX_RANK_WILDCARD,
                                .info = px_infos_borrow(&now, 1)};

    return px_channel_ask(&op->api.client->channel, &px_request_get, &job, on_job,
                          &op->api);
}

static void on_resolve(struct px_api *api)
{
    struct resolve_op *op = PX_CONTAINER_OF(api, struct resolve_op, api);
    const struct px_model *m = api->client->model;
    const struct px_nspace *ns = op->nspace ? px_nspace_find(m, op->nspace) : NULL;
    pmix_status_t rc = add_known(m, op);

    const bool asks = rc == PMIX_ERR_NOT_FOUND && op->nspace &&
                      (!ns || !ns->complete) && !api->client->standalone;
    if (asks && api->inside)
        rc = PMIX_ERR_WOULD_BLOCK;
    else if (asks && ask_for_job(op) == PMIX_SUCCESS)
        return;
    px_api_done(api, rc);
}

/* Resolves in the caller's thread without a system call, if the local data suffice. */
static pmix_status_t resolve(struct resolve_op *op)
{
    pmix_status_t rc = px_api_check(&op->api);
    const struct px_model *m;
    struct px_gate_count *count;
    bool done = false;

    if (rc)
        return rc;
    m = px_model_enter(&count);
    if (m) {
        done = !add_known(m, op);
        px_read_gate_leave(count);
    }
    if (done)
        return PMIX_SUCCESS;
    px_resolved_cleanup(&op->found);
    op->api.at_once = true;
    return px_api_wait(&op->api);
}

/* ---- peers ----------------------------------------------------------------------- */

PX_EXPORT pmix_status_t PMIx_Resolve_peers(const char *nodename,
                                           const pmix_nspace_t nspace,
                                           pmix_proc_t **procs, size_t *nprocs)
{
    struct resolve_op op = {.api = {.start = on_resolve, .invalid = !procs || !nprocs},
                            .found.node = nodename,
                            .nspace = nspace && nspace[0] ? nspace : NULL,
                            .add = px_resolve_peers};
    pmix_status_t rc = resolve(&op);

    if (!procs || !nprocs || rc == PMIX_ERR_INIT)
        return rc;
    if (rc)
        px_resolved_cleanup(&op.found);
    *procs = op.found.procs;
    *nprocs = op.found.n_procs;
    return rc;
}

/* ---- nodes ----------------------------------------------------------------------- */

PX_EXPORT pmix_status_t PMIx_Resolve_nodes(const pmix_nspace_t nspace, char **nodelist)
{
    struct resolve_op op = {.api = {.start = on_resolve, .invalid = !nodelist},
                            .nspace = nspace && nspace[0] ? nspace : NULL,
                            .add = px_resolve_nodes};
    pmix_status_t rc = resolve(&op);

    if (!nodelist || rc == PMIX_ERR_INIT)
        return rc;
    if (!rc)
        rc = px_buf_add(&op.found.nodes, "", 1);
    *nodelist = rc ? NULL : (char *)px_buf_take(&op.found.nodes).data;
    px_resolved_cleanup(&op.found);
    return rc;
}
