/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/server/fabric/job.h"

#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/model/nspace.h"

#include <string.h>

static pmix_status_t name_nodes(px_job_view *view, const struct px_procmap *map)
{
    PX_AUTOFREE char *names = px_procmap_names(map, NULL);

    view->nodes = names ? px_strv_split(names, ',', true) : NULL;
    return view->nodes ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

/* Fills node and local rank of each rank, node by node, as each has runs of ranks. */
static pmix_status_t place_ranks(px_job_view *view, const struct px_procmap *map)
{
    const size_t n = map->n_ranks;
    uint32_t *node_of = malloc((2 * n + 1) * sizeof(*node_of)), first, many;

    view->places = node_of;
    if (!node_of)
        return PMIX_ERR_NOMEM;
    memset(node_of, 0xff, 2 * n * sizeof(*node_of));
    for (uint32_t node = 0; node < map->n_nodes; node++) {
        uint32_t local = 0;

        for (; (many = px_procmap_run(map, node, local, &first)) > 0; local += many)
            for (uint32_t i = 0; i < many && first + i < n; i++) {
                node_of[first + i] = node;
                node_of[n + first + i] = local + i;
            }
        if (local > view->job.most_on_a_node)
            view->job.most_on_a_node = local;
    }
    view->job.node_of = node_of;
    view->job.local_of = node_of + n;
    return PMIX_SUCCESS;
}

pmix_status_t px_job_view_of_map(px_job_view *view, const char *host,
                                 const char *nspace, const struct px_procmap *map,
                                 struct px_err *err)
{
    *view = (px_job_view){.job = {.size = sizeof(view->job), .this_node = UINT32_MAX}};
    px_str_copy(view->nspace, sizeof(view->nspace), nspace);
    view->job.nspace = view->nspace;
    if (!map)
        return PMIX_SUCCESS;
    if (name_nodes(view, map) || place_ranks(view, map)) {
        px_job_view_cleanup(view);
        return px_err_nomem(err, "read the maps of job %s", nspace);
    }
    view->job.n_nodes = map->n_nodes;
    view->job.n_procs = map->n_ranks;
    view->job.nodes = (const char *const *)view->nodes;
    view->job.this_node = px_procmap_find(map, host);
    if (view->job.this_node == UINT32_MAX)
        view->job.this_node = px_procmap_find_host(map, host);
    if (view->job.this_node >= map->n_nodes)
        view->job.this_node = UINT32_MAX;
    return PMIX_SUCCESS;
}

/* ---- from the infos of a host ---------------------------------------------------- */

/* Adds the namespace of one object. Refuses any object that does not name one. */
static pmix_status_t add_parent(px_job_view *view, pmix_data_type_t type,
                                const void *object)
{
    const char *nspace = type == PMIX_PROC ? ((const pmix_proc_t *)object)->nspace
                         : type == PMIX_PROC_NSPACE ? (const char *)object
                         : type == PMIX_STRING      ? *(char *const *)object
                                                    : NULL;

    if (!nspace || !nspace[0] || strnlen(nspace, PMIX_MAX_NSLEN + 1) > PMIX_MAX_NSLEN)
        return PMIX_ERR_BAD_PARAM;
    return px_strv_has(view->parents, nspace) ? PMIX_SUCCESS
                                              : px_strv_append(&view->parents, nspace);
}

static pmix_status_t add_parents(px_job_view *view, const pmix_value_t *v)
{
    const pmix_data_array_t *a = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
    const struct px_type *type = px_type_find(a ? a->type : v->type);
    const char *at = a ? a->array : px_value_payload(v);
    pmix_status_t rc = type && at ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;

    for (size_t i = 0; !rc && i < (a ? a->size : 1); i++)
        rc = add_parent(view, type->id, at + i * type->size);
    return rc;
}

static pmix_status_t read_info(px_job_view *view, const pmix_info_t *info, char **nodes,
                               char **ranks, struct px_err *err)
{
    char **to = PMIx_Check_key(info->key, PMIX_NODE_MAP)   ? nodes
                : PMIx_Check_key(info->key, PMIX_PROC_MAP) ? ranks
                                                           : NULL;
    char *text = NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    if (to) {
        rc = px_procmap_of_value(&info->value, &text, err);
    } else if (PMIx_Check_key(info->key, PMIX_PARENT_ID)) {
        rc = add_parents(view, &info->value);
        if (rc)
            px_err_set(err, rc, "%s",
                       rc == PMIX_ERR_NOMEM ? "out of memory"
                                            : "expected the name of a namespace");
    }
    if (rc)
        return px_err_prefix(err, "cannot read %s of job %s", info->key, view->nspace);
    if (to) {
        free(*to);
        *to = text;
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_job_view_of_infos(px_job_view *view, const char *host,
                                   const char *nspace, const pmix_info_t *info,
                                   size_t n, struct px_err *err)
{
    PX_AUTOFREE char *nodes = NULL;
    PX_AUTOFREE char *ranks = NULL;
    PX_AUTO(px_strv) parents = NULL;
    PX_AUTO(px_infos) infos = {0};
    struct px_procmap *map = NULL;
    pmix_status_t rc = px_job_view_of_map(view, host, nspace, NULL, err);

    for (size_t i = 0; !rc && i < n; i++)
        rc = read_info(view, &info[i], &nodes, &ranks, err);
    if (!rc && px_infos_add_copy(&infos, info, n))
        rc = px_err_nomem(err, "copy the infos of job %s", nspace);
    if (!rc && nodes && ranks) {
        rc = px_procmap_create(nodes, ranks, &map, err);
        if (rc)
            px_err_prefix(err, "cannot read the maps of job %s", nspace);
    }
    parents = px_take(&view->parents);
    if (!rc && map)
        rc = px_job_view_of_map(view, host, nspace, map, err);
    px_procmap_destroy(map);
    if (rc)
        return rc;
    view->infos = infos;
    view->parents = px_take(&parents);
    infos = (px_infos){0};
    view->job.info = view->infos.v;
    view->job.n_info = view->infos.n;
    view->job.parents = (const char *const *)view->parents;
    view->job.n_parents = px_strv_count(view->parents);
    return PMIX_SUCCESS;
}

void px_job_view_cleanup(px_job_view *view)
{
    px_strv_free(view->nodes);
    px_strv_free(view->parents);
    free(view->places);
    px_infos_cleanup(&view->infos);
    *view = (px_job_view){0};
}
