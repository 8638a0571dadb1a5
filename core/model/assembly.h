/* SPDX-License-Identifier: BSD-3-Clause */
/* Namespaces that are made of processes of others, by a connect (RFC 0003): each of
 * their ranks is a process that has a name already. */
#ifndef PX_MODEL_ASSEMBLY_H
#define PX_MODEL_ASSEMBLY_H

#include "core/types/type.h"

/* Ranks that follow each other in both namespaces. */
struct px_run {
    pmix_nspace_t nspace;
    pmix_rank_t first; /* in the namespace they come from */
    uint32_t n;
};

enum px_presence { PX_PRESENT, PX_LEFT, PX_LOST }; /* LOST: has ended without leaving */

/* Immutable once a namespace has it, but for presence. One allocation. */
struct px_assembly {
    uint32_t size;     /* ranks in all */
    uint8_t *presence; /* enum px_presence, by rank; a server changes it */
    size_t n_runs;
    struct px_run runs[]; /* rank 0 is the first of the first run, and so on */
};

/* How it travels with the job information of its namespace: a DATA_ARRAY of two
 * processes for each run, its first and its last. */
#define PX_ASSEMBLY_RUNS "tenon.members"
/* NULL for a value that is no such, or without memory. */
struct px_assembly *px_assembly_create(const pmix_value_t *runs);
/* The process that a rank is; false if there is no such rank, or a is NULL. */
bool px_assembly_member(const struct px_assembly *a, pmix_rank_t rank,
                        pmix_proc_t *out);
/* Of a process; PMIX_RANK_INVALID if it is no member. */
pmix_rank_t px_assembly_rank(const struct px_assembly *a, const pmix_proc_t *proc);

#endif
