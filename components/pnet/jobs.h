/* SPDX-License-Identifier: BSD-3-Clause */
/* List of the jobs of a pnet component, by name. Also contribute, made from gather, for
 * libraries without gather. */
#ifndef PX_PNET_JOBS_H
#define PX_PNET_JOBS_H

#include "core/base/list.h"
#include "tenon/pnet.h"

#include <stdlib.h>
#include <string.h>

/* First member of a component's record of a job. */
struct px_fabric_job {
    struct px_list link;
    pmix_nspace_t nspace;
};

/* Returns NULL for an unknown job. */
static inline void *px_fabric_job_find(const struct px_list *jobs, const char *nspace)
{
    PX_LIST_EACH (jobs, struct px_fabric_job, job, link)
        if (strcmp(job->nspace, nspace) == 0)
            return job;
    return NULL;
}

/* Adds a zeroed job under a new name. */
static inline void px_fabric_job_add(struct px_list *jobs, struct px_fabric_job *job,
                                     const char *nspace)
{
    strncpy(job->nspace, nspace, PMIX_MAX_NSLEN);
    px_list_append(jobs, &job->link);
}

/* Returns the job, or a new zeroed one of size bytes; NULL: out of memory. */
static inline void *px_fabric_job_get(struct px_list *jobs, const char *nspace,
                                      size_t size)
{
    struct px_fabric_job *job = px_fabric_job_find(jobs, nspace);

    if (job || !(job = calloc(1, size)))
        return job;
    px_fabric_job_add(jobs, job, nspace);
    return job;
}

/* Defines contribute as a call of gather without maps. */
#define PX_FABRIC_CONTRIBUTE(gather)                                   \
    static pmix_status_t contribute(void *self, const char *nspace,    \
                                    const pmix_info_t *info, size_t n, \
                                    px_pnet_add_fn add, void *arg)     \
    {                                                                  \
        const struct px_pnet_job job = {.size = sizeof(job),           \
                                        .nspace = nspace,              \
                                        .info = info,                  \
                                        .n_info = n,                   \
                                        .this_node = UINT32_MAX};      \
                                                                       \
        return gather(self, &job, add, arg);                           \
    }                                                                  \
    struct px_pnet_job /* for the semicolon */

#endif
