/* SPDX-License-Identifier: BSD-3-Clause */
/* gds/hash: the datastore in the heap of this process, under the name that other
 * libraries know. A table has its ranks in order. Each rank has a map from key to
 * entry, and a list of entries in the order of arrival. Fetches and walks change
 * nothing. */
#include "tenon/gds.h"

#include "core/base/list.h"
#include "core/base/map.h"
#include "core/base/vec.h"
#include "core/types/type.h"

#include <string.h>

enum { PRIORITY = 10 }; /* stores that peers can read go first */

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
    struct rank_table **ranks; /* sorted by rank, the usual order of arrival */
    size_t n, cap;
};

struct px_gds_ns {
    struct table tables[PX_GDS_N_TABLES];
};

/* ---- life ------------------------------------------------------------------------ */

static pmix_status_t hash_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

/* ---- entries --------------------------------------------------------------------- */

static void entry_free(struct entry *e)
{
    px_list_remove(&e->link);
    px_type_destruct(PMIX_VALUE, &e->value);
    free(e);
}

/* Stores a copy of value, in place of old if that exists. value may be part of old. */
static pmix_status_t entry_put(struct rank_table *r, struct entry *old, const char *key,
                               const pmix_value_t *value)
{
    pmix_value_t copy;
    pmix_status_t rc = px_type_copy(PMIX_VALUE, &copy, value);
    if (rc)
        return rc;

    if (old) {
        px_type_destruct(PMIX_VALUE, &old->value);
        old->value = copy;
        return PMIX_SUCCESS;
    }
    const size_t size = strlen(key) + 1;
    struct entry *e = malloc(sizeof(*e) + size);
    if (!e || px_map_sput(&r->by_key, key, e, NULL)) {
        px_type_destruct(PMIX_VALUE, &copy);
        free(e);
        return PMIX_ERR_NOMEM;
    }
    memcpy(e->key, key, size);
    e->value = copy;
    px_list_append(&r->in_order, &e->link);
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

/* Returns the index of the first rank that is not below rank. Special ranks such as
 * WILDCARD come after all other ranks. */
static size_t table_place(const struct table *t, pmix_rank_t rank)
{
    size_t from = 0, to = t->n;

    if (t->n > 0 && t->ranks[t->n - 1]->rank < rank)
        return t->n;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (t->ranks[middle]->rank < rank)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static struct rank_table *table_find(const struct table *t, pmix_rank_t rank)
{
    size_t at = table_place(t, rank);

    return at < t->n && t->ranks[at]->rank == rank ? t->ranks[at] : NULL;
}

/* Adds a rank with its first value, or adds nothing. */
static pmix_status_t table_add(struct table *t, pmix_rank_t rank, const char *key,
                               const pmix_value_t *value)
{
    struct rank_table *r = calloc(1, sizeof(*r));
    if (!r)
        return PMIX_ERR_NOMEM;

    r->rank = rank;
    px_list_init(&r->in_order);
    pmix_status_t rc = entry_put(r, NULL, key, value);
    size_t at = table_place(t, rank);
    if (!rc && !px_vec_add(&t->ranks, &t->n, &t->cap))
        rc = PMIX_ERR_NOMEM;
    if (rc) {
        rank_free(r);
        return rc;
    }
    memmove(&t->ranks[at + 1], &t->ranks[at], (t->n - 1 - at) * sizeof(*t->ranks));
    t->ranks[at] = r;
    return PMIX_SUCCESS;
}

static void table_clear(struct table *t)
{
    for (size_t i = 0; i < t->n; i++)
        rank_free(t->ranks[i]);
    free(t->ranks);
    *t = (struct table){0};
}

static void table_remove(struct table *t, pmix_rank_t rank)
{
    size_t at = table_place(t, rank);
    if (at == t->n || t->ranks[at]->rank != rank)
        return;

    rank_free(t->ranks[at]);
    t->n--;
    memmove(&t->ranks[at], &t->ranks[at + 1], (t->n - at) * sizeof(*t->ranks));
}

static pmix_status_t table_walk(const struct table *t, px_gds_walk_fn fn, void *arg)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < t->n; i++)
        rc = rank_walk(t->ranks[i], fn, arg);
    return rc;
}

/* ---- operations ------------------------------------------------------------------ */

static pmix_status_t hash_create(void *self PX_UNUSED, const char *nspace PX_UNUSED,
                                 struct px_gds_ns **ns)
{
    *ns = calloc(1, sizeof(**ns));
    return *ns ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
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
    return r ? entry_put(r, e, key, value) : table_add(t, rank, key, value);
}

static const struct entry *find(const struct px_gds_ns *ns, enum px_gds_table table,
                                pmix_rank_t rank, const char *key)
{
    const struct rank_table *r = NULL;

    if (table < PX_GDS_N_TABLES && key)
        r = table_find(&ns->tables[table], rank);
    return r ? px_map_sget(&r->by_key, key) : NULL;
}

static pmix_status_t hash_fetch(void *self PX_UNUSED, struct px_gds_ns *ns,
                                enum px_gds_table table, pmix_rank_t rank,
                                const char *key, const pmix_info_t *quals PX_UNUSED,
                                size_t n_quals PX_UNUSED, pmix_value_t *out)
{
    const struct entry *e = find(ns, table, rank, key);

    if (!e)
        return PMIX_ERR_NOT_FOUND;
    return out ? px_type_copy(PMIX_VALUE, out, &e->value) : PMIX_SUCCESS;
}

static pmix_status_t hash_view(void *self PX_UNUSED, struct px_gds_ns *ns,
                               enum px_gds_table table, pmix_rank_t rank,
                               const char *key, const void **bytes, size_t *n_bytes)
{
    const struct entry *e = find(ns, table, rank, key);

    if (!e || e->value.type != PMIX_BYTE_OBJECT)
        return PMIX_ERR_NOT_FOUND;
    *bytes = e->value.data.bo.bytes;
    *n_bytes = e->value.data.bo.size;
    return PMIX_SUCCESS;
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
    .view = hash_view,
};

PX_COMPONENT(gds, hash) = {
    PX_COMPONENT_HEAD(gds, GDS, hash),
    .version = "1.0",
    .query = hash_query,
    .ops = &ops,
};
