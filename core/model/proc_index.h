/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that a message names, indexed once for many questions. */
#ifndef PX_MODEL_PROC_INDEX_H
#define PX_MODEL_PROC_INDEX_H

#include "core/base/map.h"
#include "core/model/proc_names.h"

struct px_assembly;

/* Named processes, with the answers of px_proc_means. A few processes are compared one
 * by one, more of them by maps that the first question makes. Without
 * memory for the maps, all are compared one by one. */
struct px_proc_index {
    const struct px_model *model; /* NULL: no assemblies */
    const pmix_proc_t *procs;     /* borrowed */
    size_t n;
    struct px_map index; /* by namespace and rank */
    struct px_map whole; /* name of an assembly -> true if a present member is named */
    const struct px_assembly **wild; /* assemblies of which all ranks are named */
    size_t n_wild, cap_wild;
    bool indexed;
    size_t n_steps; /* work so far: processes indexed, comparisons, look-ups */
};

/* Begins an index. The processes must outlive the index. Allocates nothing. */
static inline struct px_proc_index px_proc_index_of(const struct px_model *m,
                                                    const pmix_proc_t *procs, size_t n)
{
    return (struct px_proc_index){.model = m, .procs = procs, .n = n};
}
void px_proc_index_fini(struct px_proc_index *s);

/* True if a named process means proc. */
bool px_proc_index_has(struct px_proc_index *s, const pmix_proc_t *proc);
/* True if a named process means proc, or proc means a named process. */
bool px_proc_index_meets(struct px_proc_index *s, const pmix_proc_t *proc);

#endif
