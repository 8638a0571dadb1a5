/* SPDX-License-Identifier: BSD-3-Clause */
/* gds/hash: the datastore in this process's own heap, and the form of it that foreign
 * libraries know by name. Per namespace and table each rank has a map from key to entry
 * for finding, and a list of entries in the order they came for walking. Fetching only
 * reads. */
#include "tenon/gds.h"

#include "core/base/list.h"
#include "core/base/map.h"
#include "core/types/type.h"

#include <string.h>

enum { PRIORITY = 10 }; /* gives way to any store that peers can read for themselves */

struct entry {
    struct px_list link;
    pmix_value_t value;
    char key[];
};

struct rank_table {
    pmix_rank_t rank;
    struct px_map by_key;
    struct px_list in_order;
};

struct table {
    struct px_map by_rank;
    struct rank_table **ranks; /* the same, for walking */
    size_t n, cap;
    bool is_sorted; /* ranks, by rank; data mostly arrives so */
};

struct px_gds_ns {
    struct table tables[PX_GDS_N_TABLES];
};

/* ---- life ------------------------------------------------------------------------ */

static pmix_status_t hash_open(const struct px_services *services PX_UNUSED,
                               const void *conf PX_UNUSED, void **self)
{
    *self = NULL; /* all state is the namespaces' */
    return PMIX_SUCCESS;
}

static pmix_status_t hash_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

static void hash_close(void *self PX_UNUSED)
{
}

/* ---- entries --------------------------------------------------------------------- */

static void entry_free(struct entry *e)
{
    px_list_remove(&e->link);
    px_type_destruct(PMIX_VALUE, &e->value);
    free(e);
}

static pmix_status_t entry_create(const char *key, const pmix_value_t *value,
                                  struct entry **out)
{
    size_t size = strlen(key) + 1;
    struct entry *e = calloc(1, sizeof(*e) + size);
    if (!e)
        return PMIX_ERR_NOMEM;

    memcpy(e->key, key, size);
    pmix_status_t rc = px_type_copy(PMIX_VALUE, &e->value, value);
    if (rc) {
        free(e);
        return rc;
    }
    *out = e;
    return PMIX_SUCCESS;
}

/* The new copy comes first: value may be the very one that is replaced. */
static pmix_status_t entry_replace(struct entry *e, const pmix_value_t *value)
{
    pmix_value_t copy;
    pmix_status_t rc = px_type_copy(PMIX_VALUE, &copy, value);
    if (rc)
        return rc;

    px_type_destruct(PMIX_VALUE, &e->value);
    e->value = copy;
    return PMIX_SUCCESS;
}

/* ---- ranks --------------------------------------------------------------------- */

static void rank_free(struct rank_table *r)
{
    PX_LIST_EACH (&r->in_order, struct entry, e, link)
        entry_free(e);
    px_map_fini(&r->by_key);
    free(r);
}

static pmix_status_t rank_add(struct rank_table *r, const char *key,
                              const pmix_value_t *value)
{
    struct entry *e;
    pmix_status_t rc = entry_create(key, value, &e);
    if (rc)
        return rc;

    rc = px_map_sput(&r->by_key, key, e, NULL);
    if (rc) {
        entry_free(e);
        return rc;
    }
    px_list_append(&r->in_order, &e->link);
    return PMIX_SUCCESS;
}

static pmix_status_t rank_create(pmix_rank_t rank, struct rank_table **out)
{
    struct rank_table *r = calloc(1, sizeof(*r));
    if (!r)
        return PMIX_ERR_NOMEM;

    r->rank = rank;
    px_list_init(&r->in_order);
    *out = r;
    return PMIX_SUCCESS;
}

static pmix_status_t rank_walk(const struct rank_table *r, px_gds_walk_fn fn, void *arg)
{
    pmix_status_t rc = PMIX_SUCCESS;

    PX_LIST_EACH (&r->in_order, struct entry, e, link) {
        rc = fn(arg, r->rank, e->key, &e->value);
        if (rc)
            break;
    }
    return rc;
}

/* ---- tables ---------------------------------------------------------------------- */

static struct rank_table *table_find(const struct table *t, pmix_rank_t rank)
{
    return px_map_get(&t->by_rank, &rank, sizeof(rank));
}

static pmix_status_t table_grow(struct table *t)
{
    size_t cap = t->cap ? 2 * t->cap : 4;
    struct rank_table **ranks = reallocarray(t->ranks, cap,
                                             sizeof(struct rank_table *));
    if (!ranks)
        return PMIX_ERR_NOMEM;

    t->ranks = ranks;
    t->cap = cap;
    return PMIX_SUCCESS;
}

static pmix_status_t table_add(struct table *t, struct rank_table *r)
{
    pmix_status_t rc = t->n == t->cap ? table_grow(t) : PMIX_SUCCESS;

    if (!rc)
        rc = px_map_put(&t->by_rank, &r->rank, sizeof(r->rank), r, NULL);
    if (rc)
        return rc;
    t->is_sorted = t->n == 0 || (t->is_sorted && t->ranks[t->n - 1]->rank < r->rank);
    t->ranks[t->n++] = r;
    return PMIX_SUCCESS;
}

/* A rank appears in the table with its first value or not at all. */
static pmix_status_t table_add_first(struct table *t, pmix_rank_t rank, const char *key,
                                     const pmix_value_t *value)
{
    struct rank_table *r;
    pmix_status_t rc = rank_create(rank, &r);
    if (rc)
        return rc;

    rc = rank_add(r, key, value);
    if (!rc)
        rc = table_add(t, r);
    if (rc)
        rank_free(r);
    return rc;
}

static void table_clear(struct table *t)
{
    for (size_t i = 0; i < t->n; i++)
        rank_free(t->ranks[i]);
    free(t->ranks);
    px_map_fini(&t->by_rank);
    *t = (struct table){0};
}

static void table_remove(struct table *t, pmix_rank_t rank)
{
    struct rank_table *r = px_map_remove(&t->by_rank, &rank, sizeof(rank));
    size_t i = 0;
    if (!r)
        return;

    while (t->ranks[i] != r)
        i++;
    memmove(&t->ranks[i], &t->ranks[i + 1],
            (t->n - i - 1) * sizeof(struct rank_table *));
    t->n--;
    rank_free(r);
}

static int compare_ranks(const void *a, const void *b)
{
    pmix_rank_t x = (*(struct rank_table *const *)a)->rank;
    pmix_rank_t y = (*(struct rank_table *const *)b)->rank;

    return x < y ? -1 : x > y;
}

/* As numbers, special ranks such as WILDCARD come after all true ones. */
static pmix_status_t table_walk(struct table *t, px_gds_walk_fn fn, void *arg)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (!t->is_sorted && t->n > 0)
        qsort(t->ranks, t->n, sizeof(struct rank_table *), compare_ranks);
    t->is_sorted = true;
    for (size_t i = 0; !rc && i < t->n; i++)
        rc = rank_walk(t->ranks[i], fn, arg);
    return rc;
}

/* ---- operations ------------------------------------------------------------------ */

static pmix_status_t hash_create(void *self PX_UNUSED, const char *nspace PX_UNUSED,
                                 struct px_gds_ns **ns)
{
    struct px_gds_ns *made = calloc(1, sizeof(*made));
    if (!made)
        return PMIX_ERR_NOMEM;

    *ns = made;
    return PMIX_SUCCESS;
}

static void hash_destroy(void *self PX_UNUSED, struct px_gds_ns *ns)
{
    if (!ns)
        return;
    for (size_t i = 0; i < PX_GDS_N_TABLES; i++)
        table_clear(&ns->tables[i]);
    free(ns);
}

static pmix_status_t hash_store(void *self PX_UNUSED, struct px_gds_ns *ns,
                                enum px_gds_table table, pmix_rank_t rank,
                                const char *key, const pmix_value_t *value)
{
    if (table >= PX_GDS_N_TABLES || rank == PMIX_RANK_UNDEF || !key || !*key || !value)
        return PMIX_ERR_BAD_PARAM;

    struct table *t = &ns->tables[table];
    struct rank_table *r = table_find(t, rank);
    struct entry *e = r ? px_map_sget(&r->by_key, key) : NULL;
    if (value->type == PMIX_UNDEF) {
        if (e) {
            px_map_sremove(&r->by_key, key);
            entry_free(e);
        }
        return PMIX_SUCCESS;
    }
    if (e)
        return entry_replace(e, value);
    return r ? rank_add(r, key, value) : table_add_first(t, rank, key, value);
}

static pmix_status_t hash_fetch(void *self PX_UNUSED, struct px_gds_ns *ns,
                                enum px_gds_table table, pmix_rank_t rank,
                                const char *key, const pmix_info_t *quals PX_UNUSED,
                                size_t n_quals PX_UNUSED, pmix_value_t *out)
{
    if (table >= PX_GDS_N_TABLES || !key)
        return PMIX_ERR_NOT_FOUND;
    const struct rank_table *r = table_find(&ns->tables[table], rank);
    const struct entry *e = r ? px_map_sget(&r->by_key, key) : NULL;
    if (!e)
        return PMIX_ERR_NOT_FOUND;
    return out ? px_type_copy(PMIX_VALUE, out, &e->value) : PMIX_SUCCESS;
}

static pmix_status_t hash_walk(void *self PX_UNUSED, struct px_gds_ns *ns,
                               enum px_gds_table table, pmix_rank_t rank,
                               px_gds_walk_fn fn, void *arg)
{
    if (table >= PX_GDS_N_TABLES)
        return PMIX_ERR_BAD_PARAM;
    if (rank == PMIX_RANK_UNDEF)
        return table_walk(&ns->tables[table], fn, arg);
    const struct rank_table *r = table_find(&ns->tables[table], rank);
    return r ? rank_walk(r, fn, arg) : PMIX_SUCCESS;
}

static void hash_clear(void *self PX_UNUSED, struct px_gds_ns *ns,
                       enum px_gds_table table, pmix_rank_t rank)
{
    if (table >= PX_GDS_N_TABLES)
        return;
    if (rank == PMIX_RANK_UNDEF)
        table_clear(&ns->tables[table]);
    else
        table_remove(&ns->tables[table], rank);
}

static const struct px_gds_ops ops = {
    .create = hash_create,
    .destroy = hash_destroy,
    .store = hash_store,
    .fetch = hash_fetch,
    .walk = hash_walk,
    .clear = hash_clear,
};

PX_COMPONENT(gds, hash) = {
    PX_COMPONENT_HEAD(gds, GDS, hash),
    .version = "1.0",
    .open = hash_open,
    .query = hash_query,
    .close = hash_close,
    .ops = &ops,
};
