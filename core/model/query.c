/* SPDX-License-Identifier: BSD-3-Clause */
/* Look-ups for queries, and the peers and nodes of jobs. */
#include "core/model/query.h"

#include "core/base/ranges.h"
#include "core/model/jobinfo.h"
#include "core/model/lookup.h"

#include <string.h>

/* ---- queries --------------------------------------------------------------------- */

pmix_status_t px_query_target(const pmix_query_t *q, const pmix_proc_t *asker,
                              pmix_proc_t *target)
{
    const pmix_info_t *proc, *nspace, *rank;
    const char *name;

    *target = *asker;
    target->rank = PMIX_RANK_WILDCARD;
    if (q->nqual == 0)
        return PMIX_SUCCESS;
    proc = px_info_find(q->qualifiers, q->nqual, PMIX_PROCID);
    nspace = px_info_find(q->qualifiers, q->nqual, PMIX_NSPACE);
    rank = px_info_find(q->qualifiers, q->nqual, PMIX_RANK);
    name = nspace ? px_value_string(&nspace->value) : NULL;
    if (proc) {
        if (nspace || rank || proc->value.type != PMIX_PROC || !proc->value.data.proc)
            return PMIX_ERR_BAD_PARAM;
        *target = *proc->value.data.proc;
        return PMIX_SUCCESS;
    }
    if (nspace &&
        (name ? strlen(name) > PMIX_MAX_NSLEN : nspace->value.type != PMIX_STRING))
        return PMIX_ERR_BAD_PARAM;
    if (rank && !px_value_to_u32(&rank->value, &target->rank))
        return PMIX_ERR_BAD_PARAM;
    if (name && name[0])
        px_proc_set(target, name, target->rank);
    return PMIX_SUCCESS;
}

pmix_status_t px_lookup_query(const struct px_model *m, const struct px_nspace *ns,
                              pmix_rank_t rank, const pmix_query_t *q, const char *key,
                              bool local, bool remote, pmix_value_t *out)
{
    struct px_lookup l;

    if (!ns || rank == PMIX_RANK_UNDEF)
        return PMIX_ERR_NOT_FOUND;
    px_lookup_init(&l, key, rank, q->qualifiers, q->nqual);
    l.want_local = local;
    l.want_remote = remote;
    l.skip_internal = true;
    return px_lookup_find(m, ns, &l, out);
}

/* ---- refreshed values ------------------------------------------------------------ */

/* True if the value at a place differs from the answer. */
static bool is_old(const struct px_nspace *ns, const struct px_place *at,
                   const pmix_info_t *answer)
{
    pmix_value_t cached, value;
    bool differs;

    px_job_value_convert(answer->key, &answer->value, &value);
    if (px_store_fetch(&ns->store, at->table, at->row, answer->key, NULL, 0, &cached) &&
        px_fact(ns, at->table, at->row, px_job_key_find(answer->key), &cached))
        return false;
    differs = cached.type == value.type &&
              px_type_compare(PMIX_VALUE, &cached, &value) != 0;
    px_type_destruct(PMIX_VALUE, &cached);
    return differs;
}

/* Adds the name of a row to the array that registers values of the row. */
static pmix_status_t add_name(const struct px_nspace *ns, const struct px_place *at,
                              px_infos *array)
{
    char name[PX_MAX_NODE_NAME + 1];
    uint32_t id = at->id;

    switch (at->table) {
    case PX_GDS_NODE:
        if (px_node_name(ns, at->row, name))
            return px_infos_add(array, PMIX_HOSTNAME, name, PMIX_STRING);
        return px_node_id(ns, at->row, &id)
                   ? px_infos_add(array, PMIX_NODEID, &id, PMIX_UINT32)
                   : PMIX_ERR_NOT_FOUND;
    case PX_GDS_APP:
        return px_infos_add(array, PMIX_APPNUM, &id, PMIX_UINT32);
    case PX_GDS_SESSION: /* the default session has no number */
        return id == UINT32_MAX
                   ? PMIX_SUCCESS
                   : px_infos_add(array, PMIX_SESSION_ID, &id, PMIX_UINT32);
    default:
        return px_infos_add(array, PMIX_RANK, &id, PMIX_PROC_RANK);
    }
}

/* Registers the answer as the value at a place. */
static pmix_status_t replace(struct px_model *m, struct px_nspace *ns,
                             const struct px_place *at, const pmix_info_t *answer)
{
    static const char *const arrays[] = {[PX_GDS_JOB] = PMIX_PROC_DATA,
                                         [PX_GDS_NODE] = PMIX_NODE_INFO_ARRAY,
                                         [PX_GDS_APP] = PMIX_APP_INFO_ARRAY,
                                         [PX_GDS_SESSION] = PMIX_SESSION_INFO_ARRAY};
    PX_AUTO(px_infos) array = {0}, infos = {0};
    pmix_status_t rc;

    if (at->table == PX_GDS_JOB && at->row == PMIX_RANK_WILDCARD)
        return px_jobinfo_register(m, ns, answer, 1, NULL);
    rc = add_name(ns, at, &array);
    if (!rc && px_info_find(array.v, array.n, answer->key))
        rc = PMIX_ERR_BAD_PARAM; /* an answer cannot change the name of its row */
    if (!rc)
        rc = px_infos_add_value(&array, answer->key, &answer->value);
    if (!rc)
        rc = px_infos_add_array(&infos, arrays[at->table], &array);
    return rc ? rc : px_jobinfo_register(m, ns, infos.v, infos.n, NULL);
}

/* Finds the place of the value that a query refreshes. False for a value that the host
 * has not registered, and for a live key. */
static bool find_old(const struct px_model *m, const struct px_nspace *ns,
                     const pmix_proc_t *asker, const pmix_proc_t *target,
                     const pmix_query_t *q, const pmix_info_t *answer,
                     struct px_place *at)
{
    struct px_lookup l;

    px_lookup_init(&l, answer->key, target->rank, q->qualifiers, q->nqual);
    /* A client means its own application. */
    if (l.realm == PX_KEY_APP && target->rank == PMIX_RANK_WILDCARD &&
        strcmp(asker->nspace, ns->name) == 0)
        l.rank = asker->rank;
    return !px_key_is_live(px_job_key_find(answer->key)) &&
           px_lookup_place(m, ns, &l, at) && is_old(ns, at, answer);
}

size_t px_query_count(const pmix_query_t *queries, size_t n, const char *key)
{
    size_t n_keys = 0;

    for (size_t i = 0; i < n; i++)
        for (char **k = queries[i].keys; k && *k; k++)
            n_keys += strcmp(*k, key) == 0;
    return n_keys;
}

bool px_query_refresh(struct px_model *m, const pmix_proc_t *asker,
                      const pmix_query_t *queries, size_t n, const pmix_info_t *answers,
                      size_t n_answers)
{
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        pmix_proc_t target;
        const bool refresh = px_query_flag(&queries[i], PMIX_QUERY_REFRESH_CACHE);
        struct px_nspace *ns = refresh && !px_query_target(&queries[i], asker, &target)
                                   ? px_nspace_find(m, target.nspace)
                                   : NULL;

        for (char **key = ns ? queries[i].keys : NULL; key && *key; key++) {
            const pmix_info_t *answer = px_query_count(queries, n, *key) == 1
                                            ? px_info_find(answers, n_answers, *key)
                                            : NULL;
            struct px_place at;

            if (answer && find_old(m, ns, asker, &target, &queries[i], answer, &at))
                any |= !replace(m, ns, &at, answer);
        }
    }
    return any;
}

/* ---- peers and nodes ------------------------------------------------------------- */

static pmix_status_t add_range(struct px_resolved *r, const struct px_nspace *ns,
                               pmix_rank_t first, size_t n)
{
    pmix_proc_t *grown = reallocarray(r->procs, r->n_procs + n, sizeof(*grown));

    if (!grown)
        return PMIX_ERR_NOMEM;
    r->procs = grown;
    grown += r->n_procs;
    px_proc_set(&grown[0], ns->name, first);
    for (size_t i = 1; i < n; i *= 2) /* doubles the copied size, for speed */
        memcpy(&grown[i], grown, (n - i < i ? n - i : i) * sizeof(*grown));
    for (size_t i = 1; i < n; i++)
        grown[i].rank = first + (pmix_rank_t)i;
    r->n_procs += n;
    return PMIX_SUCCESS;
}

static pmix_status_t add_list(struct px_resolved *r, const struct px_nspace *ns,
                              const char *list)
{
    PX_AUTOFREE uint32_t *ranks = NULL;
    size_t n = 0;
    pmix_status_t rc = px_ranges_parse(list ? list : "", PX_MAX_RANKS, &ranks, &n);

    for (size_t i = 0, end; !rc && i < n; i = end) {
        for (end = i + 1; end < n && ranks[end] == ranks[end - 1] + 1;)
            end++;
        rc = add_range(r, ns, ranks[i], end - i);
    }
    return rc;
}

/* Adds the peers on a node, from the host's list, otherwise from the process map. */
pmix_status_t px_resolve_peers(const struct px_model *m PX_UNUSED,
                               struct px_resolved *r, const struct px_nspace *ns)
{
    uint32_t row = r->node ? px_node_by_name(ns, r->node) : ns->this_node;
    uint32_t first, n;
    pmix_value_t v;
    pmix_status_t rc = row == UINT32_MAX
                           ? PMIX_ERR_NOT_FOUND
                           : px_store_fetch(&ns->store, PX_GDS_NODE, row,
                                            PMIX_LOCAL_PEERS, NULL, 0, &v);

    if (!rc) {
        rc = add_list(r, ns, px_value_string(&v));
        px_type_destruct(PMIX_VALUE, &v);
    } else if (rc == PMIX_ERR_NOT_FOUND && row != UINT32_MAX && ns->map &&
               row < ns->map->n_nodes && ns->map->n_ranks > 0) {
        rc = PMIX_SUCCESS;
        for (uint32_t i = 0; !rc && (n = px_procmap_run(ns->map, row, i, &first)) > 0;
             i += n)
            rc = add_range(r, ns, first, n);
    }
    return rc;
}

static pmix_status_t add_names(struct px_resolved *r, const char *list)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t len; !rc && *list; list += len + (list[len] == ',')) {
        len = strcspn(list, ",");
        if (len == 0 || px_map_get(&r->seen, list, len))
            continue;
        rc = px_map_put(&r->seen, list, len, r, NULL);
        if (!rc && r->nodes.len > 0)
            rc = px_buf_add(&r->nodes, ",", 1);
        if (!rc)
            rc = px_buf_add(&r->nodes, list, len);
    }
    return rc;
}

/* Adds the nodes of a job. The result for a single job is the list of its map. */
pmix_status_t px_resolve_nodes(const struct px_model *m, struct px_resolved *r,
                               const struct px_nspace *ns)
{
    bool is_mapped = ns->map && ns->map->n_nodes > 0;
    size_t n = 0;
    PX_AUTOFREE char *names = is_mapped ? px_node_list(ns, &n) : NULL;
    struct px_lookup l;
    pmix_value_t v;
    pmix_status_t rc;

    if (is_mapped && !names)
        return PMIX_ERR_NOMEM;
    if (is_mapped && r->alone) {
        r->nodes = (px_buf){.data = (uint8_t *)px_take(&names), .len = n, .cap = n + 1};
        return PMIX_SUCCESS;
    }
    if (is_mapped)
        return add_names(r, names);
    px_lookup_init(&l, PMIX_NODE_LIST, PMIX_RANK_WILDCARD, NULL, 0);
    rc = px_lookup_find(m, ns, &l, &v);
    if (rc)
        return rc;
    rc = px_value_string(&v) ? add_names(r, px_value_string(&v)) : rc;
    px_type_destruct(PMIX_VALUE, &v);
    return rc;
}

pmix_status_t px_resolve(const struct px_model *m, struct px_resolved *r,
                         px_resolve_fn fn, const char *nspace,
                         bool (*may)(void *arg, const char *nspace), void *arg)
{
    const struct px_nspace *ns = nspace ? px_nspace_find(m, nspace) : NULL;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    size_t pos = 0;

    r->alone = nspace;
    if (ns)
        rc = fn(m, r, ns);
    while (!nspace && (ns = px_map_next(&m->nspaces, &pos, NULL, NULL))) {
        if (may && !may(arg, ns->name))
            continue;
        pmix_status_t one = fn(m, r, ns);

        if (rc == PMIX_ERR_NOT_FOUND || one == PMIX_ERR_NOMEM)
            rc = one;
    }
    return rc;
}

void px_resolved_cleanup(struct px_resolved *r)
{
    free(px_take(&r->procs));
    r->n_procs = 0;
    px_buf_cleanup(&r->nodes);
    px_map_fini(&r->seen);
}
