/* SPDX-License-Identifier: BSD-3-Clause */
/* Application of staged job information to a namespace: the map, the node table, then
 * the values. All checks precede the first change. */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/strv.h"
#include "core/base/vec.h"
#include "core/model/assembly.h"
#include "core/model/jobinfo_impl.h"

/* The namespace after the change. */
struct plan {
    struct px_procmap *map;        /* NULL keeps the present map */
    const struct px_procmap *base; /* the new or present map; NULL if none */
    char **more;                   /* names (or NULL) of rows behind the rows of base */
    size_t n_more, cap_more;
    bool same_rows;        /* present rows keep their meaning */
    struct px_map by_name; /* name -> row + 1, for names that base lacks */
    struct px_map by_id;   /* id -> row + 1, for staged nodes */
    uint32_t *row_of;      /* row of each staged node */
    uint32_t this_node;
};

static void plan_fini(struct plan *p)
{
    px_procmap_destroy(p->map);
    for (uint32_t i = 0; i < p->n_more; i++)
        free(p->more[i]);
    free(p->more);
    free(p->row_of);
    px_map_fini(&p->by_name);
    px_map_fini(&p->by_id);
}

static pmix_status_t no_memory(struct px_stage *s)
{
    return px_err_nomem(s->err, "store job information");
}

/* ---- the map --------------------------------------------------------------------- */

static const pmix_value_t *staged(const struct px_stage *s, const char *key)
{
    const pmix_value_t *v = NULL;

    for (size_t i = 0; i < s->n_entries; i++)
        if (s->entries[i].table == PX_GDS_JOB &&
            s->entries[i].rank == PMIX_RANK_WILDCARD &&
            strcmp(s->entries[i].key, key) == 0)
            v = &s->entries[i].value;
    return v;
}

static uint32_t mapped_ranks(const struct px_procmap *map)
{
    return map ? map->n_mapped : 0;
}

/* Returns the given job size, staged or stored; 0 if not given. */
static uint32_t given_job_size(const struct px_stage *s, const struct px_nspace *ns)
{
    const pmix_value_t *v = staged(s, PMIX_JOB_SIZE);
    uint32_t n = 0;

    bool known = v ? px_value_to_u32(v, &n)
                   : px_store_u32(&ns->store, PX_GDS_JOB, PMIX_RANK_WILDCARD,
                                  PMIX_JOB_SIZE, &n);
    return known ? n : 0;
}

/* Two lists whose nth fields belong together. */
typedef struct lists {
    px_buf names, ranks;
} lists;

static void lists_cleanup(struct lists *l)
{
    px_buf_cleanup(&l->names);
    px_buf_cleanup(&l->ranks);
}

static pmix_status_t add_lists(struct lists *l, const char *name, const char *ranks)
{
    const char *text = ranks ? ranks : "";
    pmix_status_t rc = px_buf_add(&l->names, name, strlen(name));

    if (!rc)
        rc = px_buf_add(&l->names, ",", 1);
    if (!rc)
        rc = px_buf_add(&l->ranks, text, strlen(text));
    return rc ? rc : px_buf_add(&l->ranks, ";", 1);
}

/* Collects names and ranks of nodes. The node list gives the order, because a server's
 * arrays may be unordered. Nodes missing in that list follow. The lists stay empty if
 * no node has ranks. */
static pmix_status_t collect_lists(const struct px_stage *s, struct lists *l)
{
    const pmix_value_t *list = staged(s, PMIX_NODE_LIST);
    struct px_map ranks_of = {0};
    struct px_procmap *names = NULL;
    char text[PX_MAX_NODE_NAME + 1];
    pmix_status_t rc = PMIX_SUCCESS;

    if (list && px_value_string(list))
        rc = px_procmap_create(px_value_string(list), NULL, &names, NULL);
    for (size_t i = 0; !rc && i < s->n_nodes; i++) {
        const struct px_stage_node *node = &s->nodes[i];
        if (node->name && node->ranks && !strchr(node->name, ',') &&
            !strchr(node->ranks, ';'))
            rc = px_map_sput(&ranks_of, node->name, (void *)(uintptr_t)node->ranks,
                             NULL);
    }
    bool any = ranks_of.n_used > 0;
    for (uint32_t i = 0; !rc && any && names && px_procmap_name(names, i, text); i++)
        rc = add_lists(l, text, px_map_sremove(&ranks_of, text));
    for (size_t i = 0; !rc && any && i < s->n_nodes; i++) {
        const char *name = s->nodes[i].name;
        const char *ranks = name ? px_map_sremove(&ranks_of, name) : NULL;
        if (ranks)
            rc = add_lists(l, name, ranks);
    }
    px_procmap_destroy(names);
    px_map_fini(&ranks_of);
    if (!rc && any)
        rc = px_buf_add(&l->names, "", 1);
    return rc || !any ? rc : px_buf_add(&l->ranks, "", 1);
}

/* Makes a map from lists of ranks, if the lists agree and cover the job. Otherwise *out
 * stays unchanged. */
static pmix_status_t map_from_lists(struct px_stage *s, const struct px_nspace *ns,
                                    struct px_procmap **out)
{
    PX_AUTO(lists) l = {0};
    struct px_procmap *map = NULL;
    pmix_status_t rc = collect_lists(s, &l);

    if (!rc && l.names.len > 0)
        rc = px_procmap_create((const char *)l.names.data, (const char *)l.ranks.data,
                               &map, NULL);
    if (map && mapped_ranks(map) >= given_job_size(s, ns) &&
        mapped_ranks(map) >= mapped_ranks(ns->map))
        *out = map;
    else
        px_procmap_destroy(map);
    return rc == PMIX_ERR_NOMEM ? no_memory(s) : PMIX_SUCCESS;
}

/* ---- the node table -------------------------------------------------------------- */

static pmix_status_t index_row(struct px_map *map, const void *key, size_t len,
                               uint32_t row)
{
    if (px_map_get(map, key, len))
        return PMIX_SUCCESS; /* the first row with a name counts */
    return px_map_put(map, key, len, (void *)((uintptr_t)row + 1), NULL);
}

static uint32_t n_rows(const struct plan *p)
{
    return (p->base ? p->base->n_rows : 0) + (uint32_t)p->n_more;
}

static pmix_status_t add_row(struct plan *p, const char *name, uint32_t *row)
{
    char **more = px_vec_add(&p->more, &p->n_more, &p->cap_more);

    if (!more)
        return PMIX_ERR_NOMEM;
    *row = n_rows(p) - 1;
    *more = name ? strdup(name) : NULL;
    if (!name)
        return PMIX_SUCCESS;
    return *more ? index_row(&p->by_name, name, strlen(name), *row) : PMIX_ERR_NOMEM;
}

/* Plans the rows that exist before the staged nodes. */
static pmix_status_t plan_rows(struct px_nspace *ns, struct plan *p)
{
    char name[PX_MAX_NODE_NAME + 1];
    pmix_status_t rc = PMIX_SUCCESS;

    p->base = p->map ? p->map : ns->map;
    p->same_rows = !p->map || (ns->map && px_procmap_same_nodes(ns->map, p->map));
    for (uint32_t i = n_rows(p); !rc && p->same_rows && i < px_node_rows(ns); i++)
        rc = add_row(p, px_node_name(ns, i, name) ? name : NULL, &(uint32_t){0});
    return rc;
}

static uint32_t find_row(const struct px_map *map, const void *key, size_t len)
{
    return (uint32_t)((uintptr_t)px_map_get(map, key, len) - 1); /* UINT32_MAX if not
                                                                  * found */
}

static uint32_t row_of_name(const struct plan *p, const char *name)
{
    uint32_t row = p->base ? px_procmap_find(p->base, name) : UINT32_MAX;

    return row == UINT32_MAX ? find_row(&p->by_name, name, strlen(name)) : row;
}

static uint32_t row_of_id(const struct px_nspace *ns, const struct plan *p, uint32_t id)
{
    uint32_t row = find_row(&p->by_id, &id, sizeof(id));

    if (row == UINT32_MAX && p->same_rows)
        row = px_node_by_id(ns, id);
    return row == UINT32_MAX && p->base && id < p->base->n_nodes ? id : row;
}

/* Plans rows for nodes with a name, then for nodes with only an id. */
static pmix_status_t plan_nodes(const struct px_stage *s, const struct px_nspace *ns,
                                struct plan *p)
{
    p->row_of = malloc((s->n_nodes + 1) * sizeof(*p->row_of));
    if (!p->row_of)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; i < s->n_nodes; i++) {
        const struct px_stage_node *node = &s->nodes[i];
        p->row_of[i] = UINT32_MAX;
        if (!node->name)
            continue;
        p->row_of[i] = row_of_name(p, node->name);
        if (p->row_of[i] == UINT32_MAX && add_row(p, node->name, &p->row_of[i]))
            return PMIX_ERR_NOMEM;
        if (node->id != UINT32_MAX &&
            index_row(&p->by_id, &node->id, sizeof(node->id), p->row_of[i]))
            return PMIX_ERR_NOMEM;
    }
    for (size_t i = 0; i < s->n_nodes; i++) {
        const struct px_stage_node *node = &s->nodes[i];
        if (node->name || node->is_this || node->id == UINT32_MAX)
            continue;
        p->row_of[i] = row_of_id(ns, p, node->id);
        if (p->row_of[i] == UINT32_MAX &&
            (add_row(p, NULL, &p->row_of[i]) ||
             index_row(&p->by_id, &node->id, sizeof(node->id), p->row_of[i])))
            return PMIX_ERR_NOMEM;
    }
    return PMIX_SUCCESS;
}

/* ---- this node ------------------------------------------------------------------- */

static uint32_t row_of_alias(const struct px_stage *s, const struct plan *p,
                             const char *host)
{
    for (size_t i = 0; i < s->n_entries; i++) {
        const struct px_stage_entry *e = &s->entries[i];
        if (e->table != PX_GDS_NODE || strcmp(e->key, PMIX_HOSTNAME_ALIASES) != 0)
            continue;
        PX_AUTO(px_strv) names = px_strv_split(px_value_string(&e->value), ',', false);
        if (px_strv_has(names, host) && p->row_of[e->rank] != UINT32_MAX)
            return p->row_of[e->rank];
    }
    return UINT32_MAX;
}

static uint32_t row_of_host(const struct px_stage *s, const struct plan *p,
                            const char *host)
{
    uint32_t row = host[0] ? row_of_name(p, host) : UINT32_MAX;

    if (row == UINT32_MAX && host[0])
        row = row_of_alias(s, p, host);
    if (row == UINT32_MAX && host[0] && p->base)
        row = px_procmap_find_host(p->base, host);
    for (uint32_t i = 0; row == UINT32_MAX && host[0] && i < p->n_more; i++)
        if (p->more[i] && px_same_host(p->more[i], host))
            row = n_rows(p) - (uint32_t)p->n_more + i;
    return row;
}

/* Finds the row of this node. A process uses its own rank. A server uses its host name,
 * or the host's keys for the unnamed node. */
static uint32_t find_this(const struct px_stage *s, const struct px_model *m,
                          const struct px_nspace *ns, const struct plan *p)
{
    const struct px_stage_node *lone = NULL;
    char name[PX_MAX_NODE_NAME + 1];
    uint32_t row = ns == m->own && p->base
                       ? px_procmap_node_of(p->base, m->self.rank, NULL)
                       : UINT32_MAX;

    if (row != UINT32_MAX)
        return row;
    for (size_t i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].is_this &&
            (!lone || s->nodes[i].name || s->nodes[i].id != UINT32_MAX))
            lone = &s->nodes[i];
    if (lone && lone->name)
        return row_of_name(p, lone->name);
    row = row_of_host(s, p, m->hostname);
    if (row == UINT32_MAX && m->own && m->own != ns &&
        px_node_name(m->own, m->own->this_node, name))
        row = row_of_host(s, p, name);
    if (row == UINT32_MAX && lone && lone->id != UINT32_MAX)
        row = row_of_id(ns, p, lone->id);
    if (row == UINT32_MAX && n_rows(p) == 1)
        row = 0;
    return row == UINT32_MAX && p->same_rows ? ns->this_node : row;
}

static pmix_status_t plan_this(const struct px_stage *s, const struct px_model *m,
                               const struct px_nspace *ns, struct plan *p)
{
    p->this_node = find_this(s, m, ns, p);
    for (size_t i = 0; i < s->n_nodes; i++) {
        if (!s->nodes[i].is_this || p->row_of[i] != UINT32_MAX)
            continue;
        /* This node is not among the job's nodes, but has values. */
        if (p->this_node == UINT32_MAX &&
            add_row(p, m->hostname[0] ? m->hostname : NULL, &p->this_node))
            return PMIX_ERR_NOMEM;
        p->row_of[i] = p->this_node;
    }
    return PMIX_SUCCESS;
}

/* Adds the new rows to the map. */
static pmix_status_t plan_map(struct plan *p)
{
    struct px_procmap *map;

    if (p->n_more == 0)
        return PMIX_SUCCESS;
    pmix_status_t rc = px_procmap_extend(p->base, p->more, p->n_more, &map);
    if (rc)
        return rc;
    px_procmap_destroy(p->map);
    p->map = map;
    return PMIX_SUCCESS;
}

/* ---- taking effect --------------------------------------------------------------- */

static void take_plan(struct px_nspace *ns, struct plan *p)
{
    if (!p->same_rows)
        px_store_clear(&ns->store, PX_GDS_NODE, PMIX_RANK_UNDEF);
    if (p->map) {
        px_procmap_destroy(ns->map);
        ns->map = px_take(&p->map);
    }
    ns->this_node = p->this_node;
}

/* True if the map implies the value, so that storing it for every rank and node is
 * useless. */
static bool follows(const struct px_nspace *ns, enum px_gds_table table, uint32_t row,
                    const struct px_stage_entry *e)
{
    pmix_value_t fact;
    bool same;

    if (px_store_has(&ns->store, table, row, e->key) ||
        px_fact(ns, table, row, px_job_key_find(e->key), &fact) != PMIX_SUCCESS)
        return false;
    same = fact.type == e->value.type &&
           px_type_compare(PMIX_VALUE, &fact, &e->value) == 0;
    px_type_destruct(PMIX_VALUE, &fact);
    return same;
}

static pmix_status_t store(struct px_nspace *ns, const struct plan *p,
                           const struct px_stage_entry *e)
{
    const bool is_node = e->table == PX_GDS_NODE;
    uint32_t row = is_node ? p->row_of[e->rank] : e->rank;

    if (e->table == PX_GDS_SESSION)
        row = px_session_row(row == PMIX_RANK_INVALID ? ns->session : row);
    if ((is_node || (e->table == PX_GDS_JOB && row != PMIX_RANK_WILDCARD)) &&
        follows(ns, e->table, row, e))
        return PMIX_SUCCESS;
    pmix_status_t rc = px_store_put(&ns->store, e->table, row, e->key, &e->value);
    return rc || !is_node || strcmp(e->key, PMIX_NODEID) != 0
               ? rc
               : px_node_note_id(ns, row, &e->value);
}

/* Stores the ranks' values last: their facts depend on the other values. */
static pmix_status_t store_all(const struct px_stage *s, struct px_nspace *ns,
                               const struct plan *p)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (int ranks = 0; ranks < 2; ranks++)
        for (size_t i = 0; !rc && i < s->n_entries; i++) {
            const struct px_stage_entry *e = &s->entries[i];
            if (ranks == (e->table == PX_GDS_JOB && e->rank != PMIX_RANK_WILDCARD))
                rc = store(ns, p, e);
        }
    return rc;
}

/* Creates an assembly once; its members do not change later. */
static pmix_status_t make_assembly(struct px_stage *s, const struct px_nspace *ns,
                                   struct px_assembly **out)
{
    const pmix_value_t *runs = ns->assembly ? NULL : staged(s, PX_ASSEMBLY_RUNS);

    if (runs && !(*out = px_assembly_create(runs)))
        return px_err_set(s->err, PMIX_ERR_BAD_PARAM, "%s does not name members",
                          PX_ASSEMBLY_RUNS);
    return PMIX_SUCCESS;
}

pmix_status_t px_stage_apply(struct px_stage *s, const struct px_model *m,
                             struct px_nspace *ns, bool rebuild_map)
{
    __attribute__((cleanup(plan_fini))) struct plan p = {0};
    PX_AUTOFREE struct px_assembly *assembly = NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    if (s->map)
        p.map = px_take(&s->map);
    else if (s->node_map || s->proc_map)
        rc = px_procmap_create(s->node_map, s->proc_map, &p.map, s->err);
    else if (rebuild_map)
        rc = map_from_lists(s, ns, &p.map);
    if (!rc)
        rc = make_assembly(s, ns, &assembly);
    if (rc)
        return rc;
    bool same_nodes = s->in_place && !p.map && s->n_nodes == 0;
    if (!same_nodes && (plan_rows(ns, &p) || plan_nodes(s, ns, &p) ||
                        plan_this(s, m, ns, &p) || plan_map(&p)))
        return no_memory(s);

    px_read_gate_close(m->gate);
    if (!same_nodes)
        take_plan(ns, &p);
    if (s->has_session)
        ns->session = s->session;
    if (s->many_apps)
        ns->many_apps = true;
    if (assembly)
        ns->assembly = px_take(&assembly);
    uint32_t size = given_job_size(s, ns);
    if (size == 0)
        size = mapped_ranks(ns->map);
    if (size > 0)
        ns->job_size = size;
    rc = store_all(s, ns, &p);
    px_jobinfo_note(ns);
    px_read_gate_open(m->gate);
    return rc ? px_err_set(s->err, rc, "the datastore refuses job information") : rc;
}
