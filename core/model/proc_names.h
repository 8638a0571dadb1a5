/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of a process: its own name, its name in an assembly, and each with a cluster
 * prefix. */
#ifndef PX_MODEL_PROC_NAMES_H
#define PX_MODEL_PROC_NAMES_H

#include "core/model/nspace.h"

/* Returns the namespace's name with its cluster: "<cluster>:<name>", cut to fit. A
 * namespace without a cluster keeps its name. */
void px_nspace_full_name(const struct px_model *m, const char *nspace,
                         pmix_nspace_t out);
/* Replaces "<this cluster>:<name>" by the namespace's local name. Returns the
 * namespace, or NULL if the model lacks that namespace. */
struct px_nspace *px_proc_localize(const struct px_model *m, pmix_proc_t *proc);

/* Replaces a program's names by the processes' own names. A rank of an assembly becomes
 * its member. All ranks become all members that have not left, each once. Returns
 * PMIX_ERR_NOT_FOUND if a rank does not exist or has left. */
pmix_status_t px_procs_expand(const struct px_model *m, pmix_proc_t **procs, size_t *n);
/* Works like px_proc_match, but named may be in an assembly. m NULL: no assemblies. */
bool px_proc_means(const struct px_model *m, const pmix_proc_t *named,
                   const pmix_proc_t *proc);

#endif
