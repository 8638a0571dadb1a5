/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/model/proc_names.h"

#include <string.h>

#include "core/base/str.h"
#include "core/base/vec.h"
#include "core/model/assembly.h"
#include "core/model/lookup.h"

/* ---- clusters -------------------------------------------------------------------- */

void px_nspace_full_name(const struct px_model *m, const char *nspace,
                         pmix_nspace_t out)
{
    const struct px_nspace *ns = px_nspace_find(m, nspace);
    pmix_nspace_t name, cluster = {0};
    struct px_lookup l;
    pmix_value_t v;

    PMIx_Load_nspace(out, nspace);
    px_lookup_init(&l, PMIX_CLUSTER_ID, PMIX_RANK_WILDCARD, NULL, 0);
    if (!ns || strchr(nspace, ':') || px_lookup_find(m, ns, &l, &v))
        return;
    px_str_copy(cluster, sizeof(cluster), px_value_string(&v));
    px_type_destruct(PMIX_VALUE, &v);
    PMIx_Load_nspace(name, nspace);
    if (cluster[0])
        PMIx_Multicluster_nspace_construct(out, cluster, name);
}

struct px_nspace *px_proc_localize(const struct px_model *m, pmix_proc_t *proc)
{
    struct px_nspace *ns = px_nspace_find(m, proc->nspace);
    const char *colon = ns ? NULL : strchr(proc->nspace, ':');
    pmix_nspace_t full;

    if (!colon || !(ns = px_nspace_find(m, colon + 1)))
        return ns;
    px_nspace_full_name(m, colon + 1, full);
    if (strcmp(full, proc->nspace) != 0)
        return NULL;
    memmove(proc->nspace, colon + 1, strlen(colon + 1) + 1);
    return ns;
}

/* ---- names in programs' requests ------------------------------------------------- */

struct procs {
    pmix_proc_t *v;
    size_t n, cap;
    const struct px_assembly **whole; /* assemblies already added completely */
    size_t n_whole, cap_whole;
};

static pmix_status_t add(struct procs *l, const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t *p = px_vec_add(&l->v, &l->n, &l->cap);

    if (!p)
        return PMIX_ERR_NOMEM;
    px_proc_set(p, nspace, rank);
    return PMIX_SUCCESS;
}

static bool has_left(const struct px_assembly *a, pmix_rank_t rank)
{
    return a->presence[rank] == PX_LEFT;
}

/* Adds a run's members that have not left. Adds the wildcard if the run is a whole job
 * and complete. */
static pmix_status_t add_run(const struct px_model *m, const struct px_assembly *a,
                             const struct px_run *run, pmix_rank_t rank,
                             struct procs *l)
{
    const struct px_nspace *job = px_nspace_find(m, run->nspace);
    bool all = job && job->job_size == run->n && run->first == 0;
    pmix_status_t rc = PMIX_SUCCESS;

    for (uint32_t i = 0; all && i < run->n; i++)
        all = !has_left(a, rank + i);
    if (all)
        return add(l, run->nspace, PMIX_RANK_WILDCARD);
    for (uint32_t i = 0; !rc && i < run->n; i++)
        if (!has_left(a, rank + i))
            rc = add(l, run->nspace, run->first + i);
    return rc;
}

static pmix_status_t add_named(const struct px_model *m, const pmix_proc_t *named,
                               struct procs *l)
{
    const struct px_nspace *ns = px_nspace_find(m, named->nspace);
    const struct px_assembly *a = ns ? ns->assembly : NULL;
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_rank_t rank = 0;
    pmix_proc_t member;

    if (!a)
        return add(l, named->nspace, named->rank);
    if (named->rank != PMIX_RANK_WILDCARD)
        return px_assembly_member(a, named->rank, &member) && !has_left(a, named->rank)
                   ? add(l, member.nspace, member.rank)
                   : PMIX_ERR_NOT_FOUND;
    /* An assembly is added once, even if named repeatedly. */
    for (size_t i = 0; i < l->n_whole; i++)
        if (l->whole[i] == a)
            return PMIX_SUCCESS;
    const struct px_assembly **place = px_vec_add(&l->whole, &l->n_whole,
                                                  &l->cap_whole);
    if (!place)
        return PMIX_ERR_NOMEM;
    *place = a;
    for (size_t i = 0; !rc && i < a->n_runs; rank += a->runs[i++].n)
        rc = add_run(m, a, &a->runs[i], rank, l);
    return rc;
}

pmix_status_t px_procs_expand(const struct px_model *m, pmix_proc_t **procs, size_t *n)
{
    struct procs l = {0};
    pmix_status_t rc = PMIX_SUCCESS;
    bool any = false;

    for (size_t i = 0; i < *n; i++) {
        const struct px_nspace *ns = px_proc_localize(m, &(*procs)[i]);
        any |= ns && ns->assembly;
    }
    if (!any)
        return PMIX_SUCCESS;
    for (size_t i = 0; !rc && i < *n; i++)
        rc = add_named(m, &(*procs)[i], &l);
    if (!rc && l.n == 0)
        rc = PMIX_ERR_NOT_FOUND; /* all members have left */
    free(l.whole);
    if (rc) {
        free(l.v);
        return rc;
    }
    free(*procs);
    *procs = l.v;
    *n = l.n;
    return PMIX_SUCCESS;
}

bool px_proc_means(const struct px_model *m, const pmix_proc_t *named,
                   const pmix_proc_t *proc)
{
    pmix_proc_t local = *named;
    pmix_rank_t rank;

    if (px_proc_match(named, proc) || !m)
        return px_proc_match(named, proc);
    const struct px_nspace *ns = px_proc_localize(m, &local);
    if (!ns || !ns->assembly)
        return px_proc_match(&local, proc);
    rank = px_assembly_rank(ns->assembly, proc);
    return rank != PMIX_RANK_INVALID && !has_left(ns->assembly, rank) &&
           (local.rank == PMIX_RANK_WILDCARD || local.rank == rank);
}
