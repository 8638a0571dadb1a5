/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/server/nspaces/identity.h"

#include "core/base/map.h"
#include "core/base/vec.h"
#include "core/model/assembly.h"
#include "core/model/lookup.h"
#include "core/model/nspace.h"
#include "core/model/proc_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_GENERATIONS 16384 /* generations of one job; programs choose the ids */

/* ---- the members ---------------------------------------------------------------- */

static int by_full_name(const void *a, const void *b)
{
    const struct px_full_run *x = a, *y = b;
    int order = strcmp(x->full, y->full);

    return order ? order : (x->first > y->first) - (x->first < y->first);
}

static void mix(uint64_t *hash, const void *data, size_t n) /* FNV-1a */
{
    for (const uint8_t *p = data; n > 0; p++, n--)
        *hash = (*hash ^ *p) * 1099511628211u;
}

static void mix_u32(uint64_t *hash, uint32_t n)
{
    const uint8_t bytes[] = {n >> 24, n >> 16 & 0xff, n >> 8 & 0xff, n & 0xff};

    mix(hash, bytes, sizeof(bytes));
}

static pmix_status_t add_run(px_identity *id, const pmix_proc_t *p)
{
    const struct px_nspace *ns = px_nspace_find(id->model, p->nspace);
    struct px_full_run *run = id->n_runs > 0 ? &id->runs[id->n_runs - 1] : NULL;

    if (p->rank == PMIX_RANK_WILDCARD ? !ns || ns->job_size == 0
                                      : p->rank >= PMIX_RANK_VALID)
        return PMIX_ERR_NOT_FOUND;
    if (run && p->rank == run->first + run->n && strcmp(run->nspace, p->nspace) == 0) {
        run->n++;
        return PMIX_SUCCESS;
    }
    run = px_vec_add(&id->runs, &id->n_runs, &id->cap_runs);
    if (!run)
        return PMIX_ERR_NOMEM;
    px_nspace_full_name(id->model, p->nspace, run->full);
    run->nspace = p->nspace;
    run->first = p->rank == PMIX_RANK_WILDCARD ? 0 : p->rank;
    run->n = p->rank == PMIX_RANK_WILDCARD ? ns->job_size : 1;
    return PMIX_SUCCESS;
}

pmix_status_t px_identity_find(px_identity *id, const struct px_model *m,
                               const struct px_joint *j)
{
    pmix_status_t rc = PMIX_SUCCESS;

    id->model = m;
    for (size_t i = 0; !rc && i < j->n_procs; i++)
        rc = add_run(id, &j->procs[i]);
    if (rc)
        return rc;
    if (!j->in_order)
        qsort(id->runs, id->n_runs, sizeof(*id->runs), by_full_name);
    id->hash = 14695981039346656037u;
    for (size_t i = 0; i < id->n_runs; i++) {
        mix(&id->hash, id->runs[i].full, strlen(id->runs[i].full) + 1);
        mix_u32(&id->hash, id->runs[i].first);
        mix_u32(&id->hash, id->runs[i].n);
    }
    mix(&id->hash, j->id, strlen(j->id));
    return PMIX_SUCCESS;
}

void px_identity_cleanup(px_identity *id)
{
    free(id->runs);
}

void px_identity_name(const px_identity *id, uint32_t generation, pmix_nspace_t name)
{
    char text[64];

    snprintf(text, sizeof(text), "connected-%016" PRIx64 "-%u", id->hash, generation);
    PMIx_Load_nspace(name, text);
}

/* ---- for clients ------------------------------------------------------- */

static pmix_status_t add_members(const px_identity *id, px_infos *infos)
{
    PX_AUTOFREE pmix_proc_t *ends = calloc(id->n_runs * 2, sizeof(*ends));
    pmix_data_array_t array = {PMIX_PROC, id->n_runs * 2, ends};
    uint64_t size = 0;
    uint32_t n;
    pmix_status_t rc;

    if (!ends)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; i < id->n_runs; i++) {
        const struct px_full_run *run = &id->runs[i];

        px_proc_set(&ends[i * 2], run->nspace, run->first);
        px_proc_set(&ends[i * 2 + 1], run->nspace, run->first + run->n - 1);
        size += run->n;
    }
    if (size > PX_MAX_RANKS)
        return PMIX_ERR_OUT_OF_RESOURCE;
    n = (uint32_t)size;
    rc = px_infos_add(infos, PMIX_JOB_SIZE, &n, PMIX_UINT32);
    return rc ? rc : px_infos_add(infos, PX_ASSEMBLY_RUNS, &array, PMIX_DATA_ARRAY);
}

/* Nodes, and the ranks on each, as text. */
struct where {
    struct px_map index; /* node name -> index + 1 */
    px_buf names, *ranks;
    size_t n_nodes, cap_nodes;
};

/* Appends to a list. The buffer ends with a NUL. */
static pmix_status_t add_text(px_buf *list, const char *text, char separator)
{
    if (list->len > 0)
        list->data[list->len - 1] = (uint8_t)separator;
    return px_buf_add(list, text, strlen(text) + 1);
}

static pmix_status_t place(struct where *w, const char *node, pmix_rank_t rank)
{
    uintptr_t at = (uintptr_t)px_map_sget(&w->index, node);
    char text[16];
    pmix_status_t rc = PMIX_SUCCESS;

    if (!at) {
        if (!px_vec_add(&w->ranks, &w->n_nodes, &w->cap_nodes))
            return PMIX_ERR_NOMEM;
        at = w->n_nodes;
        rc = px_map_sput(&w->index, node, (void *)at, NULL);
        if (!rc)
            rc = add_text(&w->names, node, ',');
    }
    snprintf(text, sizeof(text), "%u", rank);
    return rc ? rc : add_text(&w->ranks[at - 1], text, ',');
}

/* Places all members on their nodes. PMIX_ERR_NOT_FOUND: a member's node is unknown. */
static pmix_status_t place_all(struct where *w, const px_identity *id)
{
    pmix_rank_t rank = 0;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < id->n_runs; i++) {
        const struct px_full_run *run = &id->runs[i];
        const struct px_nspace *ns = px_nspace_find(id->model, run->nspace);
        char name[PX_MAX_NODE_NAME + 1];

        for (pmix_rank_t r = run->first; !rc && r < run->first + run->n; r++)
            rc = ns && ns->map &&
                         px_node_name(ns, px_procmap_node_of(ns->map, r, NULL), name)
                     ? place(w, name, rank++)
                     : PMIX_ERR_NOT_FOUND;
    }
    return rc;
}

static pmix_status_t add_places(const px_identity *id, px_infos *infos)
{
    struct where w = {0};
    px_buf ranks = {0};
    pmix_status_t rc = place_all(&w, id);

    for (size_t i = 0; !rc && i < w.n_nodes; i++)
        rc = add_text(&ranks, (const char *)w.ranks[i].data, ';');
    if (!rc)
        rc = px_infos_add(infos, PMIX_NODE_MAP, w.names.data, PMIX_STRING);
    if (!rc)
        rc = px_infos_add(infos, PMIX_PROC_MAP, ranks.data, PMIX_STRING);
    for (size_t i = 0; i < w.n_nodes; i++)
        px_buf_cleanup(&w.ranks[i]);
    free(w.ranks);
    px_buf_cleanup(&w.names);
    px_buf_cleanup(&ranks);
    px_map_fini(&w.index);
    return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
}

pmix_status_t px_identity_describe(const px_identity *id, px_infos *infos)
{
    pmix_status_t rc = add_members(id, infos);

    return rc ? rc : add_places(id, infos);
}

/* ---- generations ----------------------------------------------------------------- */

struct generation {
    struct px_list link;
    uint64_t hash;
    uint32_t n;
    char nspace[]; /* a job of this node; the generation ends with it */
};

static struct generation *find(const struct px_list *generations, const px_identity *id)
{
    PX_LIST_EACH (generations, struct generation, g, link)
        if (g->hash == id->hash)
            return g;
    return NULL;
}

static const char *local_job(const px_identity *id)
{
    for (size_t i = 0; i < id->n_runs; i++) {
        const struct px_nspace *ns = px_nspace_find(id->model, id->runs[i].nspace);

        if (ns && !px_list_empty(&ns->locals))
            return id->runs[i].nspace;
    }
    return id->runs[0].nspace;
}

uint32_t px_generation_last(const struct px_list *generations, const px_identity *id)
{
    const struct generation *g = find(generations, id);

    return g ? g->n : 0;
}

pmix_status_t px_generation_next(struct px_list *generations, const px_identity *id,
                                 uint32_t *n)
{
    struct generation *g = find(generations, id);
    const char *job = local_job(id);
    size_t n_same = 0;

    if (!g) {
        PX_LIST_EACH (generations, struct generation, o, link)
            n_same += strcmp(o->nspace, job) == 0;
        if (n_same >= MAX_GENERATIONS)
            return PMIX_ERR_OUT_OF_RESOURCE;
        g = calloc(1, sizeof(*g) + strlen(job) + 1);
        if (!g)
            return PMIX_ERR_NOMEM;
        memcpy(g->nspace, job, strlen(job));
        g->hash = id->hash;
        px_list_append(generations, &g->link);
    }
    *n = ++g->n;
    return PMIX_SUCCESS;
}

void px_generations_forget(struct px_list *generations, const char *nspace)
{
    PX_LIST_EACH (generations, struct generation, g, link) {
        if (nspace && strcmp(g->nspace, nspace) != 0)
            continue;
        px_list_remove(&g->link);
        free(g);
    }
}
