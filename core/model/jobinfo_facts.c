/* SPDX-License-Identifier: BSD-3-Clause */
/* What follows from the maps of a namespace. Computed when asked for, not stored: a
 * million ranks cost what their map costs. */
#include <string.h>

#include "core/base/strv.h"
#include "core/model/jobinfo_impl.h"

const char *const px_rank_facts[] = {PMIX_LOCAL_RANK, PMIX_NODE_RANK, PMIX_APPNUM,
                                     PMIX_HOSTNAME,   PMIX_NODEID,    NULL};
const char *const px_node_facts[] = {PMIX_HOSTNAME, PMIX_NODEID,     PMIX_LOCAL_PEERS,
                                     PMIX_LOCALLDR, PMIX_LOCAL_SIZE, NULL};
const char *const px_job_facts[] = {PMIX_JOB_SIZE, PMIX_NUM_NODES, PMIX_NODE_LIST,
                                    PMIX_MAX_PROCS, NULL};

static pmix_status_t give_u32(pmix_value_t *out, uint32_t n)
{
    memset(out, 0, sizeof(*out));
    out->type = PMIX_UINT32;
    out->data.uint32 = n;
    return PMIX_SUCCESS;
}

static pmix_status_t give_u16(pmix_value_t *out, uint16_t n)
{
    memset(out, 0, sizeof(*out));
    out->type = PMIX_UINT16;
    out->data.uint16 = n;
    return PMIX_SUCCESS;
}

static pmix_status_t give_rank(pmix_value_t *out, pmix_rank_t rank)
{
    memset(out, 0, sizeof(*out));
    out->type = PMIX_PROC_RANK;
    out->data.rank = rank;
    return PMIX_SUCCESS;
}

/* Takes s. */
static pmix_status_t give_string(pmix_value_t *out, char *s)
{
    if (!s)
        return PMIX_ERR_NOMEM;
    memset(out, 0, sizeof(*out));
    out->type = PMIX_STRING;
    out->data.string = s;
    return PMIX_SUCCESS;
}

/* The id the host gave a node, else its place in the map. */
static pmix_status_t give_node_id(const struct px_nspace *ns, uint32_t node,
                                  pmix_value_t *out)
{
    uint32_t id;

    if (px_store_u32(ns, PX_GDS_NODE, node, PMIX_NODEID, &id))
        return give_u32(out, id);
    return ns->map && node < ns->map->n_nodes ? give_u32(out, node)
                                              : PMIX_ERR_NOT_FOUND;
}

pmix_status_t px_rank_fact(const struct px_nspace *ns, pmix_rank_t rank,
                           const char *key, pmix_value_t *out)
{
    const struct px_procmap *map = ns->map;
    uint32_t node = map && rank < map->n_ranks ? map->node_of[rank] : UINT32_MAX;

    if (strcmp(key, PMIX_APPNUM) == 0)
        return !ns->many_apps && (node != UINT32_MAX || rank < ns->job_size)
                   ? give_u32(out, 0)
                   : PMIX_ERR_NOT_FOUND;
    if (node == UINT32_MAX)
        return PMIX_ERR_NOT_FOUND;
    if (strcmp(key, PMIX_HOSTNAME) == 0)
        return give_string(out, strdup(map->nodes[node]));
    if (strcmp(key, PMIX_NODEID) == 0)
        return give_node_id(ns, node, out);
    /* The rank among all jobs of the node is the host's to know; alone there, it is the
     * same. */
    if (strcmp(key, PMIX_LOCAL_RANK) == 0 || strcmp(key, PMIX_NODE_RANK) == 0)
        return give_u16(out, map->local_of[rank]);
    return PMIX_ERR_NOT_FOUND;
}

pmix_status_t px_node_fact(const struct px_nspace *ns, uint32_t node, const char *key,
                           pmix_value_t *out)
{
    const struct px_procmap *map = ns->map;

    if (node >= ns->n_nodes)
        return PMIX_ERR_NOT_FOUND;
    if (strcmp(key, PMIX_HOSTNAME) == 0)
        return ns->node_names[node] ? give_string(out, strdup(ns->node_names[node]))
                                    : PMIX_ERR_NOT_FOUND;
    if (strcmp(key, PMIX_NODEID) == 0)
        return give_node_id(ns, node, out);
    if (!map || node >= map->n_nodes || map->n_ranks == 0)
        return PMIX_ERR_NOT_FOUND;

    const uint32_t *ranks = map->ranks + map->first[node];
    uint32_t n = map->first[node + 1] - map->first[node];
    if (strcmp(key, PMIX_LOCAL_PEERS) == 0)
        return give_string(out, px_procmap_peers(map, node));
    if (strcmp(key, PMIX_LOCAL_SIZE) == 0)
        return give_u32(out, n);
    if (strcmp(key, PMIX_LOCALLDR) == 0 && n > 0) {
        pmix_rank_t lowest = ranks[0];
        for (uint32_t i = 1; i < n; i++)
            if (ranks[i] < lowest)
                lowest = ranks[i];
        return give_rank(out, lowest);
    }
    return PMIX_ERR_NOT_FOUND;
}

pmix_status_t px_job_fact(const struct px_nspace *ns, const char *key,
                          pmix_value_t *out)
{
    if (strcmp(key, PMIX_JOB_SIZE) == 0 || strcmp(key, PMIX_MAX_PROCS) == 0)
        return ns->job_size > 0 ? give_u32(out, ns->job_size) : PMIX_ERR_NOT_FOUND;
    if (!ns->map || ns->map->n_nodes == 0)
        return PMIX_ERR_NOT_FOUND;
    if (strcmp(key, PMIX_NUM_NODES) == 0)
        return give_u32(out, ns->map->n_nodes);
    if (strcmp(key, PMIX_NODE_LIST) == 0)
        return give_string(out, px_strv_join(ns->map->nodes, ','));
    return PMIX_ERR_NOT_FOUND;
}

/* ---- rows ------------------------------------------------------------------------ */

static bool in_list(const char *list, const char *name)
{
    size_t len = strlen(name);

    for (; list && *list; list += strcspn(list, ","), list += *list == ',') {
        size_t n = strcspn(list, ",");
        if (n == len && memcmp(list, name, n) == 0)
            return true;
    }
    return false;
}

bool px_same_host(const char *a, const char *b)
{
    size_t n = strcspn(a, "."), m = strcspn(b, ".");

    return n == m && memcmp(a, b, n) == 0 && (strcmp(a, b) == 0 || !a[n] || !b[m]);
}

uint32_t px_node_by_name(const struct px_nspace *ns, const char *name)
{
    for (uint32_t i = 0; i < ns->n_nodes; i++)
        if (ns->node_names[i] && strcmp(ns->node_names[i], name) == 0)
            return i;
    for (uint32_t i = 0; i < ns->n_nodes; i++) {
        pmix_value_t v;
        if (px_store_fetch(ns, PX_GDS_NODE, i, PMIX_HOSTNAME_ALIASES, NULL, 0, &v))
            continue;
        bool is_alias = in_list(px_value_string(&v), name);
        px_type_destruct(PMIX_VALUE, &v);
        if (is_alias)
            return i;
    }
    for (uint32_t i = 0; i < ns->n_nodes; i++)
        if (ns->node_names[i] && px_same_host(ns->node_names[i], name))
            return i;
    return UINT32_MAX;
}

uint32_t px_node_by_id(const struct px_nspace *ns, uint32_t id)
{
    pmix_value_t v;

    /* Ids are places in nearly every job: look there first. */
    if (id < ns->n_nodes && give_node_id(ns, id, &v) == PMIX_SUCCESS &&
        v.data.uint32 == id)
        return id;
    for (uint32_t i = 0; i < ns->n_nodes; i++)
        if (give_node_id(ns, i, &v) == PMIX_SUCCESS && v.data.uint32 == id)
            return i;
    return UINT32_MAX;
}

pmix_rank_t px_session_row(uint32_t id)
{
    return id == UINT32_MAX ? PMIX_RANK_WILDCARD : id; /* UNDEF would name every row */
}
