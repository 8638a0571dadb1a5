/* SPDX-License-Identifier: BSD-3-Clause */
/* The names that a process has: its own, that in an assembly, and each with the name of
 * its cluster before it. */
#ifndef PX_MODEL_PROC_NAMES_H
#define PX_MODEL_PROC_NAMES_H

#include "core/model/nspace.h"

/* The namespace's name in all clusters: "<cluster>:<name>" if it has one; cut to
 * fit. */
void px_nspace_full_name(const struct px_model *m, const char *nspace,
                         pmix_nspace_t out);
/* "<this cluster>:<name>" becomes the name that the namespace has here. */
void px_proc_localize(const struct px_model *m, pmix_proc_t *proc);

/* From the names that a program uses to those that the processes have: in place of a
 * rank of an assembly its member, in place of all ranks those that have not left, each
 * once. PMIX_ERR_NOT_FOUND: there is no such rank, or it has left. */
pmix_status_t px_procs_expand(const struct px_model *m, pmix_proc_t **procs, size_t *n);
/* As px_proc_match, where named may be of an assembly. m NULL: there are none. */
bool px_proc_means(const struct px_model *m, const pmix_proc_t *named,
                   const pmix_proc_t *proc);

#endif
