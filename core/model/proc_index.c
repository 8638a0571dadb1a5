/* SPDX-License-Identifier: BSD-3-Clause */
/* The index has the local name of each named process, and of the present member for
 * which a rank of an assembly stands. So a question is a few look-ups, however many
 * processes are named. */
#include "core/model/proc_index.h"

#include <string.h>

#include "core/base/vec.h"
#include "core/model/assembly.h"

/* Sets up to this size are compared one by one. */
#define FEW 8

/* Any rank of a namespace, as the key of a namespace that has named processes. */
#define ANY_RANK PMIX_RANK_UNDEF

void px_proc_index_fini(struct px_proc_index *s)
{
    if (s->n == 0)
        return;
    px_map_fini(&s->index);
    px_map_fini(&s->whole);
    free(s->wild);
    *s = (struct px_proc_index){0};
}

/* ---- the index ------------------------------------------------------------------- */

struct key {
    pmix_rank_t rank;
    char nspace[PMIX_MAX_NSLEN + 1];
};

static size_t key_of(struct key *k, const char *nspace, pmix_rank_t rank)
{
    size_t len = strnlen(nspace, PMIX_MAX_NSLEN);

    k->rank = rank;
    memcpy(k->nspace, nspace, len);
    return offsetof(struct key, nspace) + len;
}

static pmix_status_t put(struct px_proc_index *s, const char *nspace, pmix_rank_t rank)
{
    struct key k;
    size_t len = key_of(&k, nspace, rank);

    return px_map_put(&s->index, &k, len, s, NULL); /* any value */
}

static bool is_in(struct px_proc_index *s, const char *nspace, pmix_rank_t rank)
{
    struct key k;
    size_t len = key_of(&k, nspace, rank);

    s->n_steps++;
    return px_map_get(&s->index, &k, len);
}

static const struct px_assembly *assembly_of(const struct px_proc_index *s,
                                             const pmix_proc_t *proc)
{
    const struct px_nspace *ns = s->model ? px_nspace_find(s->model, proc->nspace)
                                          : NULL;

    return ns ? ns->assembly : NULL;
}

static pmix_proc_t local_name(const struct px_proc_index *s, const pmix_proc_t *proc)
{
    pmix_proc_t local = *proc;

    if (s->model)
        px_proc_localize(s->model, &local);
    return local;
}

/* Finds the member that a rank stands for. False if the member has left. */
static bool present_member(const struct px_assembly *a, pmix_rank_t rank,
                           pmix_proc_t *member)
{
    return px_assembly_member(a, rank, member) && a->presence[rank] != PX_LEFT;
}

static bool is_present(const struct px_assembly *a, const pmix_proc_t *proc)
{
    pmix_rank_t rank = px_assembly_rank(a, proc);

    return rank != PMIX_RANK_INVALID && a->presence[rank] != PX_LEFT;
}

static pmix_status_t add_wild(struct px_proc_index *s, const struct px_assembly *a)
{
    const struct px_assembly **place = px_vec_add(&s->wild, &s->n_wild, &s->cap_wild);

    if (place)
        *place = a;
    return place ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static pmix_status_t add(struct px_proc_index *s, const pmix_proc_t *named)
{
    pmix_proc_t local = local_name(s, named), member;
    const struct px_assembly *a = assembly_of(s, &local);
    bool fresh = local.rank == PMIX_RANK_WILDCARD && a &&
                 !is_in(s, local.nspace, PMIX_RANK_WILDCARD);
    pmix_status_t rc = put(s, local.nspace, local.rank);

    if (!rc)
        rc = put(s, local.nspace, ANY_RANK);
    if (!rc && fresh)
        rc = add_wild(s, a);
    if (!rc && a && present_member(a, local.rank, &member))
        rc = put(s, member.nspace, member.rank);
    return rc;
}

/* Makes the index unless the set is small. Returns false if there is none. */
static bool has_index(struct px_proc_index *s)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (s->n <= FEW || s->indexed)
        return s->indexed;
    for (size_t i = 0; !rc && i < s->n; i++)
        rc = add(s, &s->procs[i]);
    s->n_steps += s->n;
    s->indexed = !rc;
    return s->indexed;
}

/* ---- questions ------------------------------------------------------------------- */

static bool has_local(struct px_proc_index *s, const pmix_proc_t *local)
{
    if (is_in(s, local->nspace, local->rank) ||
        is_in(s, local->nspace, PMIX_RANK_WILDCARD))
        return true;
    if (local->rank == PMIX_RANK_WILDCARD && is_in(s, local->nspace, ANY_RANK))
        return true;
    for (size_t i = 0; i < s->n_wild; i++) {
        s->n_steps += s->wild[i]->n_runs;
        if (is_present(s->wild[i], local))
            return true;
    }
    return false;
}

/* True if the set names a present member of the assembly. Answers once per set. */
static bool names_member(struct px_proc_index *s, const char *nspace,
                         const struct px_assembly *a)
{
    void *const yes = s, *const no = &s->whole;
    const void *known = px_map_sget(&s->whole, nspace);
    bool found = false;

    if (known)
        return known == yes;
    for (size_t i = 0; i < s->n && !found; i++)
        found = is_present(a, &s->procs[i]);
    s->n_steps += s->n * a->n_runs;
    (void)px_map_sput(&s->whole, nspace, found ? yes : no, NULL);
    return found;
}

static bool compare_each(struct px_proc_index *s, const pmix_proc_t *proc,
                         bool both_ways)
{
    bool hit = false;

    for (size_t i = 0; i < s->n && !hit; i++) {
        s->n_steps++;
        hit = px_proc_means(s->model, &s->procs[i], proc) ||
              (both_ways && px_proc_means(s->model, proc, &s->procs[i]));
    }
    return hit;
}

bool px_proc_index_has(struct px_proc_index *s, const pmix_proc_t *proc)
{
    if (!has_index(s))
        return compare_each(s, proc, false);
    pmix_proc_t local = local_name(s, proc);
    return has_local(s, &local);
}

bool px_proc_index_meets(struct px_proc_index *s, const pmix_proc_t *proc)
{
    const struct px_assembly *a;
    pmix_proc_t local, member;

    if (!has_index(s))
        return compare_each(s, proc, true);
    local = local_name(s, proc);
    if (has_local(s, &local))
        return true;
    a = assembly_of(s, &local);
    if (!a)
        return false;
    if (local.rank == PMIX_RANK_WILDCARD)
        return names_member(s, local.nspace, a);
    return present_member(a, local.rank, &member) &&
           is_in(s, member.nspace, member.rank);
}
