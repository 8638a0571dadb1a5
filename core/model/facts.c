/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts that follow from the maps, and rows of tables. Facts are computed on request,
 * not stored: a million ranks cost as much as their map. */
#include "core/model/lookup.h"

#include <string.h>

#include "core/base/ranges.h"
#include "core/base/strv.h"
#include "core/model/assembly.h"

/* ---- facts ----------------------------------------------------------------------- */

/* Other libraries' clients get the facts of these lists with the job. They ask for the
 * others: the text of a map may be large, and a common value is the same for each
 * rank. */
static const char *const rank_facts[] = {
    PMIX_LOCAL_RANK, PMIX_NODE_RANK, PMIX_APPNUM, PMIX_HOSTNAME,
    PMIX_NODEID,     PMIX_PARENT_ID, NULL};
static const char *const node_facts[] = {
    PMIX_HOSTNAME, PMIX_NODEID, PMIX_LOCAL_PEERS, PMIX_LOCALLDR, PMIX_LOCAL_SIZE, NULL};
static const char *const job_facts[] = {PMIX_JOB_SIZE, PMIX_NUM_NODES, PMIX_NODE_LIST,
                                        PMIX_MAX_PROCS, NULL};

const char *const *px_facts(enum px_gds_table table, pmix_rank_t rank)
{
    return table == PX_GDS_NODE         ? node_facts
           : rank == PMIX_RANK_WILDCARD ? job_facts
                                        : rank_facts;
}

static pmix_status_t give_u32(pmix_value_t *out, uint32_t n)
{
    return px_value_borrow(out, &n, PMIX_UINT32);
}

/* Returns a string value and takes s. */
static pmix_status_t give_string(pmix_value_t *out, char *s)
{
    return s ? px_value_borrow(out, s, PMIX_STRING) : PMIX_ERR_NOMEM;
}

static pmix_status_t give_name(const struct px_nspace *ns, uint32_t node,
                               pmix_value_t *out)
{
    char name[PX_MAX_NODE_NAME + 1], *copy;
    size_t n = ns->map ? px_procmap_name(ns->map, node, name) : 0;

    if (n == 0)
        return PMIX_ERR_NOT_FOUND;
    copy = malloc(n + 1);
    if (copy)
        memcpy(copy, name, n + 1);
    return give_string(out, copy);
}

bool px_node_id(const struct px_nspace *ns, uint32_t node, uint32_t *id)
{
    if (px_store_u32(&ns->store, PX_GDS_NODE, node, PMIX_NODEID, id))
        return true;
    *id = node;
    return ns->map && node < ns->map->n_nodes;
}

static pmix_status_t give_node_id(const struct px_nspace *ns, uint32_t node,
                                  pmix_value_t *out)
{
    uint32_t id;

    return px_node_id(ns, node, &id) ? give_u32(out, id) : PMIX_ERR_NOT_FOUND;
}

/* Returns a value that the host gives once, for every rank without its own. */
static pmix_status_t give_common(const struct px_nspace *ns, pmix_rank_t rank,
                                 const char *key, pmix_value_t *out)
{
    return ns->job_size == 0 || rank < ns->job_size
               ? px_store_fetch(&ns->store, PX_GDS_JOB, PMIX_RANK_WILDCARD, key, NULL,
                                0, out)
               : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t give_cpuset(const struct px_nspace *ns, pmix_rank_t rank,
                                 pmix_value_t *out)
{
    pmix_status_t rc = px_store_fetch(&ns->store, PX_GDS_JOB, rank, PMIX_CPUSET, NULL,
                                      0, out);

    return rc == PMIX_ERR_NOT_FOUND ? give_common(ns, rank, PMIX_CPUSET, out) : rc;
}

/* Returns the CPUs of the ranks on a node, in the order of PMIX_LOCAL_PEERS. */
static pmix_status_t give_local_cpusets(const struct px_nspace *ns, uint32_t node,
                                        pmix_value_t *out)
{
    const uint32_t size = px_procmap_size(ns->map, node);
    PX_AUTO(px_strv) texts = NULL;
    pmix_data_array_t array = {.type = PMIX_STRING, .size = size};
    uint32_t first, n, at = 0;
    pmix_status_t rc = size > 0 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;

    texts = calloc((size_t)size + 1, sizeof(*texts));
    if (!texts)
        return PMIX_ERR_NOMEM;
    while (!rc && at < size && (n = px_procmap_run(ns->map, node, at, &first)) > 0)
        for (uint32_t k = 0; !rc && k < n && at < size; k++) {
            pmix_value_t v;

            rc = give_cpuset(ns, first + k, &v);
            if (!rc && v.type != PMIX_STRING) {
                px_type_destruct(PMIX_VALUE, &v);
                rc = PMIX_ERR_NOT_FOUND;
            }
            if (!rc)
                texts[at++] = v.data.string;
        }
    array.size = at;
    array.array = texts;
    return rc ? rc : PMIx_Value_load(out, &array, PMIX_DATA_ARRAY);
}

static pmix_status_t rank_fact(const struct px_nspace *ns, pmix_rank_t rank,
                               enum px_key_means key, const char *text,
                               pmix_value_t *out)
{
    uint16_t local = 0;
    uint32_t node = ns->map ? px_procmap_node_of(ns->map, rank, &local) : UINT32_MAX;
    pmix_proc_t member;

    if (key == PX_KEY_NSPACE)
        return give_string(out, strdup(ns->name));
    if (key == PX_KEY_COMMON)
        return give_common(ns, rank, text, out);
    if (key == PX_KEY_PROCID)
        return ns->assembly && px_assembly_member(ns->assembly, rank, &member)
                   ? PMIx_Value_load(out, &member, PMIX_PROC)
                   : PMIX_ERR_NOT_FOUND;
    if (key == PX_KEY_APPNUM)
        return !ns->many_apps && (node != UINT32_MAX || rank < ns->job_size)
                   ? give_u32(out, 0)
                   : PMIX_ERR_NOT_FOUND;
    if (node == UINT32_MAX)
        return PMIX_ERR_NOT_FOUND;
    switch (key) {
    case PX_KEY_HOSTNAME:
        return give_name(ns, node, out);
    case PX_KEY_NODEID:
        return give_node_id(ns, node, out);
    case PX_KEY_LOCAL_RANK:
        return px_value_borrow(out, &local, PMIX_UINT16);
    default:
        return PMIX_ERR_NOT_FOUND;
    }
}

PX_NOINLINE static pmix_status_t node_fact(const struct px_nspace *ns, uint32_t node,
                                           enum px_key_means key, pmix_value_t *out)
{
    const struct px_procmap *map = ns->map;
    pmix_rank_t lowest;

    if (node >= px_node_rows(ns))
        return PMIX_ERR_NOT_FOUND;
    if (key == PX_KEY_HOSTNAME)
        return give_name(ns, node, out);
    if (key == PX_KEY_NODEID)
        return give_node_id(ns, node, out);
    if (!map || node >= map->n_nodes || map->n_ranks == 0)
        return PMIX_ERR_NOT_FOUND;

    switch (key) {
    case PX_KEY_LOCAL_CPUSETS:
        return give_local_cpusets(ns, node, out);
    case PX_KEY_LOCAL_PEERS:
        return give_string(out, px_procmap_peers(map, node));
    case PX_KEY_LOCAL_SIZE:
        return give_u32(out, px_procmap_size(map, node));
    case PX_KEY_LOCALLDR:
        lowest = px_procmap_lowest(map, node);
        return lowest == UINT32_MAX ? PMIX_ERR_NOT_FOUND
                                    : px_value_borrow(out, &lowest, PMIX_PROC_RANK);
    default:
        return PMIX_ERR_NOT_FOUND;
    }
}

static pmix_status_t give_members(const struct px_nspace *ns, pmix_value_t *out)
{
    uint32_t n = ns->assembly->size;
    PX_AUTOFREE pmix_proc_t *procs = calloc(n, sizeof(*procs));
    pmix_data_array_t array = {.type = PMIX_PROC, .size = n, .array = procs};

    if (!procs)
        return PMIX_ERR_NOMEM;
    for (pmix_rank_t rank = 0; rank < n; rank++)
        (void)px_assembly_member(ns->assembly, rank, &procs[rank]);
    return PMIx_Value_load(out, &array, PMIX_DATA_ARRAY);
}

/* Writes the map as text. */
static pmix_status_t map_fact(const struct px_nspace *ns, enum px_key_means key,
                              pmix_value_t *out)
{
    PX_AUTOFREE char *list = NULL;
    char *text = NULL;

    switch (key) {
    case PX_KEY_ANL_MAP: /* the notation cannot leave a rank out */
        return ns->map->n_mapped == ns->map->n_ranks
                   ? give_string(out, px_procmap_vector(ns->map))
                   : PMIX_ERR_NOT_FOUND;
    case PX_KEY_PROC_MAP_RAW:
        return give_string(out, px_procmap_all_peers(ns->map));
    case PX_KEY_NODE_MAP:
        list = px_node_list(ns, &(size_t){0});
        return list && !px_procmap_pack_nodes(list, &text) ? give_string(out, text)
                                                           : PMIX_ERR_NOMEM;
    case PX_KEY_PROC_MAP:
        list = px_procmap_all_peers(ns->map);
        return list && !px_procmap_pack_ranks(list, &text) ? give_string(out, text)
                                                           : PMIX_ERR_NOMEM;
    default:
        return PMIX_ERR_NOT_FOUND;
    }
}

PX_NOINLINE static pmix_status_t job_fact(const struct px_nspace *ns,
                                          enum px_key_means key, pmix_value_t *out)
{
    bool has_nodes = ns->map && ns->map->n_nodes > 0;

    if (key == PX_KEY_JOB_SIZE && ns->job_size > 0)
        return give_u32(out, ns->job_size);
    if (key == PX_KEY_MEMBERS && ns->assembly)
        return give_members(ns, out);
    if (key == PX_KEY_NUM_NODES && has_nodes)
        return give_u32(out, ns->map->n_nodes);
    if (key == PX_KEY_NODE_LIST && has_nodes)
        return give_string(out, px_node_list(ns, &(size_t){0}));
    if (key == PX_KEY_NSPACE)
        return give_string(out, strdup(ns->name));
    return has_nodes ? map_fact(ns, key, out) : PMIX_ERR_NOT_FOUND;
}

/* Returns PMIX_ERR_NOT_FOUND for a lost namespace: a given value, now unreadable, might
 * contradict the fact. */
pmix_status_t px_fact(const struct px_nspace *ns, enum px_gds_table table,
                      pmix_rank_t rank, const struct px_job_key *known,
                      pmix_value_t *out)
{
    const enum px_key_means key = px_known_means(known);

    if (key == PX_KEY_NONE || px_nspace_is_lost(ns))
        return PMIX_ERR_NOT_FOUND;
    return table == PX_GDS_NODE         ? node_fact(ns, rank, key, out)
           : rank == PMIX_RANK_WILDCARD ? job_fact(ns, key, out)
                                        : rank_fact(ns, rank, key, known->key, out);
}

/* ---- rows ------------------------------------------------------------------------ */

bool px_same_host(const char *a, const char *b)
{
    size_t n = strcspn(a, "."), m = strcspn(b, ".");

    return n == m && memcmp(a, b, n) == 0 && (strcmp(a, b) == 0 || !a[n] || !b[m]);
}

uint32_t px_node_rows(const struct px_nspace *ns)
{
    return ns->map ? ns->map->n_rows : 0;
}

bool px_node_name(const struct px_nspace *ns, uint32_t row,
                  char name[PX_MAX_NODE_NAME + 1])
{
    return ns->map && px_procmap_name(ns->map, row, name) > 0;
}

char *px_node_list(const struct px_nspace *ns, size_t *len)
{
    const void *shared;

    if (!ns->in_place || px_nspace_is_lost(ns) ||
        px_store_view(&ns->store, PX_STORE_NODES, &shared, len))
        return px_procmap_names(ns->map, len);
    char *text = malloc(*len + 1);
    if (text)
        text[*len] = '\0';
    return text ? memcpy(text, shared, *len) : NULL;
}

struct alias {
    const char *name;
    pmix_rank_t row;
};

static pmix_status_t match_alias(void *arg, pmix_rank_t row, const char *key,
                                 const pmix_value_t *value)
{
    struct alias *alias = arg;

    if (row >= alias->row || strcmp(key, PMIX_HOSTNAME_ALIASES) != 0)
        return PMIX_SUCCESS;
    PX_AUTO(px_strv) names = px_strv_split(px_value_string(value), ',', false);
    if (px_strv_has(names, alias->name))
        alias->row = row;
    return PMIX_SUCCESS;
}

uint32_t px_node_by_name(const struct px_nspace *ns, const char *name)
{
    struct alias alias = {.name = name, .row = UINT32_MAX};

    if (!ns->map)
        return UINT32_MAX;
    uint32_t row = px_procmap_find(ns->map, name);
    if (row == UINT32_MAX) {
        (void)px_store_walk(&ns->store, PX_GDS_NODE, PMIX_RANK_UNDEF, match_alias,
                            &alias);
        row = alias.row;
    }
    return row == UINT32_MAX ? px_procmap_find_host(ns->map, name) : row;
}

/* Stores the row under "id:<id>" in the node table, with rank WILDCARD. */
pmix_status_t px_node_note_id(struct px_nspace *ns, uint32_t row,
                              const pmix_value_t *id)
{
    char key[sizeof("id:4294967295")] = "id:";
    pmix_value_t v;
    uint32_t n;

    if (!px_value_to_u32(id, &n) || n == row)
        return PMIX_SUCCESS;
    px_number_put(key + 3, n);
    px_value_borrow(&v, &row, PMIX_UINT32);
    return px_store_put(&ns->store, PX_GDS_NODE, PMIX_RANK_WILDCARD, key, &v);
}

uint32_t px_node_by_id(const struct px_nspace *ns, uint32_t id)
{
    char key[sizeof("id:4294967295")] = "id:";
    uint32_t n = px_node_rows(ns), row, found;

    /* Ids equal rows in nearly every job, so try that row first. */
    if (id < n && px_node_id(ns, id, &found) && found == id)
        return id;
    px_number_put(key + 3, id);
    if (!px_store_u32(&ns->store, PX_GDS_NODE, PMIX_RANK_WILDCARD, key, &row) ||
        row >= n || !px_node_id(ns, row, &found) || found != id)
        return UINT32_MAX; /* the row may have a new id */
    return row;
}

pmix_rank_t px_session_row(uint32_t id)
{
    return id == UINT32_MAX ? PMIX_RANK_WILDCARD : id; /* UNDEF would mean every row */
}
