/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Resolve_peers and PMIx_Resolve_nodes, answered from the data of the jobs. */
#include "core/base/ranges.h"
#include "core/model/lookup.h"
#include "core/model/reader.h"
#include "core/base/strv.h"
#include "core/client/client.h"

#include <string.h>

struct resolve_op {
    struct px_api api;
    const struct px_model *model; /* valid while add runs */
    const char *node;
    const char *nspace; /* NULL: all known namespaces */
    pmix_status_t (*add)(struct resolve_op *op, const struct px_nspace *ns);
    pmix_proc_t *procs;
    size_t n_procs;
    px_buf nodes;       /* names of nodes, separated by commas */
    struct px_map seen; /* names already in nodes */
};

static void forget(struct resolve_op *op)
{
    free(px_take(&op->procs));
    op->n_procs = 0;
    px_buf_cleanup(&op->nodes);
    px_map_fini(&op->seen);
}

/* Adds results of the known namespaces. A namespace without results adds nothing. */
static pmix_status_t add_known(const struct px_model *m, struct resolve_op *op)
{
    const struct px_nspace *ns = op->nspace ? px_nspace_find(m, op->nspace) : NULL;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    size_t pos = 0;

    op->model = m;
    if (ns)
        rc = op->add(op, ns);
    while (!op->nspace && (ns = px_map_next(&m->nspaces, &pos, NULL, NULL))) {
        pmix_status_t one = op->add(op, ns);

        if (rc == PMIX_ERR_NOT_FOUND || one == PMIX_ERR_NOMEM)
            rc = one;
    }
    return rc;
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

    if (rc == PMIX_ERR_NOT_FOUND && op->nspace && (!ns || !ns->complete) &&
        !api->client->standalone && ask_for_job(op) == PMIX_SUCCESS)
        return;
    px_api_done(api, rc);
}

/* Resolves in the caller's thread without a system call, if the local data suffice. */
static pmix_status_t resolve(struct resolve_op *op)
{
    pmix_status_t rc = px_api_check(&op->api);
    const struct px_model *m;
    bool done = false;

    if (rc)
        return rc;
    m = px_model_enter();
    if (m) {
        done = !add_known(m, op);
        px_model_leave();
    }
    if (done)
        return PMIX_SUCCESS;
    forget(op);
    return px_api_wait(&op->api);
}

/* ---- peers ----------------------------------------------------------------------- */

static pmix_status_t add_range(struct resolve_op *op, const struct px_nspace *ns,
                               pmix_rank_t first, size_t n)
{
    pmix_proc_t *grown = reallocarray(op->procs, op->n_procs + n, sizeof(*grown));

    if (!grown)
        return PMIX_ERR_NOMEM;
    op->procs = grown;
    grown += op->n_procs;
    px_proc_set(&grown[0], ns->name, first);
    for (size_t i = 1; i < n; i *= 2) /* doubles the copied size, for speed */
        memcpy(&grown[i], grown, (n - i < i ? n - i : i) * sizeof(*grown));
    for (size_t i = 1; i < n; i++)
        grown[i].rank = first + (pmix_rank_t)i;
    op->n_procs += n;
    return PMIX_SUCCESS;
}

static pmix_status_t add_list(struct resolve_op *op, const struct px_nspace *ns,
                              const char *list)
{
    PX_AUTOFREE uint32_t *ranks = NULL;
    size_t n = 0;
    pmix_status_t rc = px_ranges_parse(list ? list : "", PX_MAX_RANKS, &ranks, &n);

    for (size_t i = 0, end; !rc && i < n; i = end) {
        for (end = i + 1; end < n && ranks[end] == ranks[end - 1] + 1;)
            end++;
        rc = add_range(op, ns, ranks[i], end - i);
    }
    return rc;
}

/* Adds the peers on a node, from the host's list, otherwise from the process map. */
static pmix_status_t add_peers(struct resolve_op *op, const struct px_nspace *ns)
{
    uint32_t row = op->node ? px_node_by_name(ns, op->node) : ns->this_node;
    uint32_t first, n;
    pmix_value_t v;
    pmix_status_t rc = row == UINT32_MAX
                           ? PMIX_ERR_NOT_FOUND
                           : px_store_fetch(&ns->store, PX_GDS_NODE, row,
                                            PMIX_LOCAL_PEERS, NULL, 0, &v);

    if (!rc) {
        rc = add_list(op, ns, px_value_string(&v));
        px_type_destruct(PMIX_VALUE, &v);
    } else if (rc == PMIX_ERR_NOT_FOUND && row != UINT32_MAX && ns->map &&
               row < ns->map->n_nodes && ns->map->n_ranks > 0) {
        rc = PMIX_SUCCESS;
        for (uint32_t i = 0; !rc && (n = px_procmap_run(ns->map, row, i, &first)) > 0;
             i += n)
            rc = add_range(op, ns, first, n);
    }
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Resolve_peers(const char *nodename,
                                           const pmix_nspace_t nspace,
                                           pmix_proc_t **procs, size_t *nprocs)
{
    struct resolve_op op = {.api = {.start = on_resolve, .invalid = !procs || !nprocs},
                            .node = nodename,
                            .nspace = nspace && nspace[0] ? nspace : NULL,
                            .add = add_peers};
    pmix_status_t rc = resolve(&op);

    if (!procs || !nprocs || rc == PMIX_ERR_INIT)
        return rc;
    if (rc)
        forget(&op);
    *procs = op.procs;
    *nprocs = op.n_procs;
    return rc;
}

/* ---- nodes ----------------------------------------------------------------------- */

static pmix_status_t add_names(struct resolve_op *op, const char *list)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t len; !rc && *list; list += len + (list[len] == ',')) {
        len = strcspn(list, ",");
        if (len == 0 || px_map_get(&op->seen, list, len))
            continue;
        rc = px_map_put(&op->seen, list, len, op, NULL);
        if (!rc && op->nodes.len > 0)
            rc = px_buf_add(&op->nodes, ",", 1);
        if (!rc)
            rc = px_buf_add(&op->nodes, list, len);
    }
    return rc;
}

/* Adds the nodes of a job. The result for a single job is the list of its map. */
static pmix_status_t add_nodes(struct resolve_op *op, const struct px_nspace *ns)
{
    bool is_mapped = ns->map && ns->map->n_nodes > 0;
    size_t n = 0;
    PX_AUTOFREE char *names = is_mapped ? px_node_list(ns, &n) : NULL;
    struct px_lookup l;
    pmix_value_t v;
    pmix_status_t rc;

    if (is_mapped && !names)
        return PMIX_ERR_NOMEM;
    if (is_mapped && op->nspace) {
        op->nodes = (px_buf){
            .data = (uint8_t *)px_take(&names), .len = n, .cap = n + 1};
        return PMIX_SUCCESS;
    }
    if (is_mapped)
        return add_names(op, names);
    px_lookup_init(&l, PMIX_NODE_LIST, PMIX_RANK_WILDCARD, NULL, 0);
    rc = px_lookup_find(op->model, ns, &l, &v);
    if (rc)
        return rc;
    rc = px_value_string(&v) ? add_names(op, px_value_string(&v)) : rc;
    px_type_destruct(PMIX_VALUE, &v);
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Resolve_nodes(const pmix_nspace_t nspace, char **nodelist)
{
    struct resolve_op op = {.api = {.start = on_resolve, .invalid = !nodelist},
                            .nspace = nspace && nspace[0] ? nspace : NULL,
                            .add = add_nodes};
    pmix_status_t rc = resolve(&op);

    if (!nodelist || rc == PMIX_ERR_INIT)
        return rc;
    if (!rc)
        rc = px_buf_add(&op.nodes, "", 1);
    *nodelist = rc ? NULL : (char *)px_buf_take(&op.nodes).data;
    forget(&op);
    return rc;
}
