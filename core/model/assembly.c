/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of assemblies, kept as runs: a whole job costs a few bytes. */
#include "core/model/assembly.h"

#include <string.h>

#include "core/model/procmap.h"

static uint32_t ranks_in(const pmix_proc_t *ends)
{
    return ends[1].rank - ends[0].rank + 1;
}

/* Returns the number of ranks, or 0 if the ends are invalid. */
static uint32_t count(const pmix_proc_t *ends, size_t n)
{
    uint64_t size = 0;

    for (size_t i = 0; i + 1 < n; i += 2) {
        if (ends[i].rank > ends[i + 1].rank || ends[i + 1].rank >= PX_MAX_RANKS)
            return 0;
        size += ranks_in(&ends[i]);
    }
    return n % 2 || size > PX_MAX_RANKS ? 0 : (uint32_t)size;
}

struct px_assembly *px_assembly_create(const pmix_value_t *runs)
{
    const pmix_data_array_t *array = runs->type == PMIX_DATA_ARRAY ? runs->data.darray
                                                                   : NULL;
    const pmix_proc_t *ends = array ? array->array : NULL;
    size_t n = ends && array->type == PMIX_PROC ? array->size : 0;
    uint32_t size = count(ends, n);
    struct px_assembly *a = size > 0 ? calloc(1, sizeof(*a) +
                                                     n / 2 * sizeof(a->runs[0]) + size)
                                     : NULL;

    if (!a)
        return NULL;
    a->size = size;
    a->n_runs = n / 2;
    a->presence = (uint8_t *)&a->runs[a->n_runs];
    for (size_t i = 0; i < a->n_runs; i++) {
        PMIx_Load_nspace(a->runs[i].nspace, ends[i * 2].nspace);
        a->runs[i].first = ends[i * 2].rank;
        a->runs[i].n = ranks_in(&ends[i * 2]);
    }
    return a;
}

bool px_assembly_member(const struct px_assembly *a, pmix_rank_t rank, pmix_proc_t *out)
{
    const struct px_run *run = a ? a->runs : NULL;

    if (!a || rank >= a->size)
        return false;
    for (; rank >= run->n; run++)
        rank -= run->n;
    px_proc_set(out, run->nspace, run->first + rank);
    return true;
}

pmix_rank_t px_assembly_rank(const struct px_assembly *a, const pmix_proc_t *proc)
{
    pmix_rank_t before = 0;

    for (size_t i = 0; i < a->n_runs; i++) {
        const struct px_run *run = &a->runs[i];

        if (proc->rank >= run->first && proc->rank - run->first < run->n &&
            strcmp(run->nspace, proc->nspace) == 0)
            return before + (proc->rank - run->first);
        before += run->n;
    }
    return PMIX_RANK_INVALID;
}
