/* SPDX-License-Identifier: BSD-3-Clause */
/* Assemblies: namespaces that a connect makes of existing processes (RFC 0003). Each
 * rank stands for a process that has another name already. */
#ifndef PX_MODEL_ASSEMBLY_H
#define PX_MODEL_ASSEMBLY_H

#include "core/types/type.h"

/* Consecutive ranks in both namespaces. */
struct px_run {
    pmix_nspace_t nspace;
    pmix_rank_t first; /* rank in the original namespace */
    uint32_t n;
};

enum px_presence { PX_PRESENT, PX_LEFT, PX_LOST }; /* LOST: ended without leaving */

/* Members of an assembly. Only presence changes after creation. One allocation. */
struct px_assembly {
    uint32_t size;     /* number of ranks */
    uint8_t *presence; /* enum px_presence, by rank; changed by servers */
    size_t n_runs;
    struct px_run runs[]; /* in the order of the assembly's ranks */
};

/* The assembly's key in its job information. The value is a DATA_ARRAY of two processes
 * for each run: the first and the last. */
#define PX_ASSEMBLY_RUNS "tenon.members"
/* Creates an assembly. Returns NULL if the value does not describe one, or memory is
 * exhausted. */
struct px_assembly *px_assembly_create(const pmix_value_t *runs);
/* Finds the process of a rank. Returns false if a is NULL or has no such rank. */
bool px_assembly_member(const struct px_assembly *a, pmix_rank_t rank,
                        pmix_proc_t *out);
/* Returns the rank of a process, or PMIX_RANK_INVALID if the process is not a
 * member. */
pmix_rank_t px_assembly_rank(const struct px_assembly *a, const pmix_proc_t *proc);

#endif
