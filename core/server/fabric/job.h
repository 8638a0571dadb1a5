/* SPDX-License-Identifier: BSD-3-Clause */
/* A job as fabric components see it: who runs where, decoded once. */
#ifndef PX_SERVER_FABRIC_JOB_H
#define PX_SERVER_FABRIC_JOB_H

#include "core/base/err.h"
#include "core/model/procmap.h"
#include "core/types/type.h"
#include "tenon/pnet.h"

/* It is not to be moved. err must not be NULL. */
typedef struct px_job_view {
    struct px_pnet_job job; /* what components get; it borrows from the rest */
    px_infos infos;         /* copies; none of a view of a map */
    char **nodes;
    uint32_t *places;
    char **parents;
    pmix_nspace_t nspace;
} px_job_view;

/* Fills the view of the infos that the host gave, which are copied: PMIX_NODE_MAP and
 * PMIX_PROC_MAP in any form, PMIX_PARENT_ID as one or an array of processes or names of
 * namespaces. host is the name of this node. PMIX_ERR_BAD_PARAM with a line in err for
 * any other value; PMIX_ERR_NOMEM. After a failure there is nothing to clean up. */
pmix_status_t px_job_view_of_infos(px_job_view *view, const char *host,
                                   const char *nspace, const pmix_info_t *info,
                                   size_t n, struct px_err *err);
/* Fills the view of a registered job; map may be NULL, if none was given. */
pmix_status_t px_job_view_of_map(px_job_view *view, const char *host,
                                 const char *nspace, const struct px_procmap *map,
                                 struct px_err *err);
void px_job_view_cleanup(px_job_view *view);

#endif
