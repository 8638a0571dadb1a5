/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations: CPUs of this node that are set apart for a requestor and for the jobs
 * that it spawns there. Allocations are disjoint. Loop thread only. */
#ifndef PX_HOST_ALLOC_H
#define PX_HOST_ALLOC_H

#include "core/base/list.h"
#include "pmix_server.h"

struct px_alloc;
struct px_err;
struct px_host_allocation;
struct px_launch_job;
struct px_launcher;

/* PMIx_Allocation_request: a function of the host module. */
pmix_status_t px_allocate(const pmix_proc_t *proc, pmix_alloc_directive_t directive,
                          const pmix_info_t info[], size_t n, pmix_info_cbfunc_t cb,
                          void *cbdata);
/* Finds the allocation that a spawn names, else that of the parent job. *found NULL:
 * none. PMIX_ERR_NOT_FOUND, or PMIX_ERR_JOB_ALLOC_FAILED after its time. */
pmix_status_t px_alloc_for_spawn(struct px_launcher *l,
                                 const struct px_launch_job *parent,
                                 const pmix_info_t *info, size_t n,
                                 const pmix_app_t *apps, size_t n_apps,
                                 struct px_alloc **found, struct px_err *err);
/* Lists the CPUs for a job of the allocation, malloc'd; "" for none. alloc NULL: CPUs
 * that no allocation has, or NULL without allocations. */
pmix_status_t px_alloc_cpus(struct px_launcher *l, const struct px_alloc *alloc,
                            char **cpus);
/* Returns the number of CPUs of an allocation. */
uint32_t px_alloc_size(const struct px_alloc *alloc);
/* Returns the milliseconds until the end of the allocation; UINT64_MAX: no limit, or
 * alloc is NULL. */
uint64_t px_alloc_left(const struct px_alloc *alloc, uint64_t now_ms);

/* Adds the processes of a registered job to the process set of its allocation. */
void px_alloc_join(struct px_launch_job *job);
/* Removes an ended job from its allocation, and ends the allocations that the job has
 * requested. An allocation with other jobs lasts until they end. Idempotent. */
void px_alloc_job_gone(struct px_launch_job *job);
/* Ends the allocations of a namespace that has no job here. */
void px_alloc_owner_gone(struct px_launcher *l, const char *nspace);
/* Frees all allocations; no job is left. */
void px_alloc_fini(struct px_launcher *l);

/* Describes allocation i. False: there are not so many. The caller frees out->infos. */
bool px_alloc_describe(void *launcher, size_t i, struct px_host_allocation *out);

#endif
