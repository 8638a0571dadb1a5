/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs as fabric components see them: node and local rank of each process, decoded
 * once. */
#ifndef PX_SERVER_FABRIC_JOB_H
#define PX_SERVER_FABRIC_JOB_H

#include "core/base/err.h"
#include "core/model/procmap.h"
#include "core/types/type.h"
#include "tenon/pnet.h"

/* A view of a job. Must not be moved. err must not be NULL. */
typedef struct px_job_view {
    struct px_pnet_job job; /* for components; borrows from the other members */
    px_infos infos;         /* copies of the host's infos; empty in a view of a map */
    char **nodes;
    uint32_t *places;
    char **parents;
    pmix_nspace_t nspace;
} px_job_view;

/* Fills the view from copies of the host's infos: PMIX_NODE_MAP and PMIX_PROC_MAP in
 * any form, PMIX_PARENT_ID as one or an array of processes or namespace names. host is
 * the name of this node. PMIX_ERR_BAD_PARAM with a line in err for any other value;
 * PMIX_ERR_NOMEM. After a failure there is nothing to clean up. */
pmix_status_t px_job_view_of_infos(px_job_view *view, const char *host,
                                   const char *nspace, const pmix_info_t *info,
                                   size_t n, struct px_err *err);
/* Fills the view of a registered job. map may be NULL. */
pmix_status_t px_job_view_of_map(px_job_view *view, const char *host,
                                 const char *nspace, const struct px_procmap *map,
                                 struct px_err *err);
void px_job_view_cleanup(px_job_view *view);

#endif
