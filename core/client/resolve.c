/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of a node, nodes of a job: answered from what is known of the jobs. */
#include "core/base/ranges.h"
#include "core/model/lookup.h"
#include "core/base/strv.h"
#include "core/client/client.h"

#include <string.h>

struct resolve_op {
    struct px_api api;
    const char *node;
    const char *nspace; /* NULL: all that are known */
    pmix_status_t (*add)(struct resolve_op *op, const struct px_nspace *ns);
    pmix_proc_t *procs;
    size_t n_procs;
    px_strv nodes;
};

static pmix_status_t add_one(struct resolve_op *op)
{
    const struct px_nspace *ns = px_nspace_find(px_process.model, op->nspace);

    return ns ? op->add(op, ns) : PMIX_ERR_NOT_FOUND;
}

/* The server may serve a job of which this process has not heard yet. */
static void on_job(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_api *api = arg;
    struct resolve_op *op = PX_CONTAINER_OF(api, struct resolve_op, api);

    status = px_client_read_values(status, reply);
    px_api_done(api, status ? status : add_one(op));
}

/* A host might wait for a job that never comes: only what the server has counts. */
static pmix_status_t ask_for_job(struct resolve_op *op)
{
    pmix_info_t now = {.key = PMIX_IMMEDIATE,
                       .value = {.type = PMIX_BOOL, .data.flag = true}};
    const struct px_args job = {.nspace = (char *)op->nspace,
                                .rank = PMIX_RANK_WILDCARD,
                                .info = px_infos_borrow(&now, 1)};

    return px_channel_ask(px_process.channel, &px_request_get, &job, on_job, &op->api);
}

/* A namespace that add finds nothing of adds nothing. */
static void on_resolve(struct px_api *api)
{
    struct resolve_op *op = PX_CONTAINER_OF(api, struct resolve_op, api);
    struct px_model *m = px_process.model;
    struct px_nspace *ns;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    size_t pos = 0;

    if (op->nspace) {
        ns = px_nspace_find(m, op->nspace);
        rc = add_one(op);
        if (rc == PMIX_ERR_NOT_FOUND && (!ns || !ns->complete) && !m->standalone &&
            ask_for_job(op) == PMIX_SUCCESS)
            return;
    } else {
        while ((ns = px_map_next(&m->nspaces, &pos, NULL, NULL))) {
            pmix_status_t one = op->add(op, ns);

            if (rc == PMIX_ERR_NOT_FOUND || one == PMIX_ERR_NOMEM)
                rc = one;
        }
    }
    px_api_done(api, rc);
}

static pmix_status_t add_peers(struct resolve_op *op, const struct px_nspace *ns)
{
    PX_AUTOFREE uint32_t *ranks = NULL;
    struct px_lookup l;
    pmix_value_t v;
    pmix_proc_t *grown;
    size_t n = 0;
    pmix_status_t rc;

    px_lookup_init(&l, PMIX_LOCAL_PEERS, PMIX_RANK_WILDCARD, NULL, 0);
    l.realm = PX_KEY_NODE;
    l.hostname = op->node;
    rc = px_lookup_find(px_process.model, ns, &l, &v);
    if (rc)
        return rc;
    rc = px_ranges_parse(px_value_string(&v) ? px_value_string(&v) : "", PX_MAX_RANKS,
                         &ranks, &n);
    px_type_destruct(PMIX_VALUE, &v);
    if (rc || n == 0)
        return rc;
    grown = reallocarray(op->procs, op->n_procs + n, sizeof *grown);
    if (!grown)
        return PMIX_ERR_NOMEM;
    op->procs = grown;
    for (size_t i = 0; i < n; i++)
        px_proc_set(&op->procs[op->n_procs++], ns->name, ranks[i]);
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_Resolve_peers(const char *nodename,
                                           const pmix_nspace_t nspace,
                                           pmix_proc_t **procs, size_t *nprocs)
{
    struct resolve_op op = {.api = {.start = on_resolve, .invalid = !procs || !nprocs},
                            .node = nodename,
                            .nspace = nspace && nspace[0] ? nspace : NULL,
                            .add = add_peers};
    pmix_status_t rc = px_api_check(&op.api);

    if (rc)
        return rc;
    rc = px_api_wait(&op.api);
    if (rc) {
        free(px_take(&op.procs));
        op.n_procs = 0;
    }
    *procs = op.procs;
    *nprocs = op.n_procs;
    return rc;
}

static pmix_status_t add_names(px_strv *all, const char *list)
{
    PX_AUTO(px_strv) names = px_strv_split(list, ',', false);
    pmix_status_t rc = !names && strspn(list, ",") != strlen(list) ? PMIX_ERR_NOMEM
                                                                   : PMIX_SUCCESS;

    for (size_t i = 0; !rc && names && names[i]; i++)
        rc = px_strv_append_unique(all, names[i]);
    return rc;
}

static pmix_status_t add_nodes(struct resolve_op *op, const struct px_nspace *ns)
{
    struct px_lookup l;
    pmix_value_t v;
    pmix_status_t rc;

    px_lookup_init(&l, PMIX_NODE_LIST, PMIX_RANK_WILDCARD, NULL, 0);
    rc = px_lookup_find(px_process.model, ns, &l, &v);
    if (rc)
        return rc;
    if (px_value_string(&v))
        rc = add_names(&op->nodes, px_value_string(&v));
    px_type_destruct(PMIX_VALUE, &v);
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Resolve_nodes(const pmix_nspace_t nspace, char **nodelist)
{
    struct resolve_op op = {.api = {.start = on_resolve, .invalid = !nodelist},
                            .nspace = nspace && nspace[0] ? nspace : NULL,
                            .add = add_nodes};
    pmix_status_t rc = px_api_check(&op.api);

    if (rc)
        return rc;
    rc = px_api_wait(&op.api);
    *nodelist = rc ? NULL : px_strv_join(op.nodes, ',');
    px_strv_cleanup(&op.nodes);
    return rc || *nodelist ? rc : PMIX_ERR_NOMEM;
}
