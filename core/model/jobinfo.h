/* SPDX-License-Identifier: BSD-3-Clause */
/* Job information: read from the host's register_nspace, packed for the first request
 * of a client, and unpacked by that client. */
#ifndef PX_MODEL_JOBINFO_H
#define PX_MODEL_JOBINFO_H

#include "core/model/nspace.h"

/* Registers the host's job information. Validates all infos first: on error the
 * namespace is unchanged. Accepts PMIX_NODE_MAP/PROC_MAP (any form), PMIX_PROC_DATA /
 * PROC_INFO_ARRAY, PMIX_NODE_INFO_ARRAY, PMIX_APP_INFO_ARRAY, PMIX_SESSION_INFO_ARRAY,
 * PMIX_JOB_INFO_ARRAY. Keys of the node, app or session realm outside an array belong
 * to this node, app 0 or the job's session. Other keys are job level. Derives missing
 * values from the maps: job size, number of nodes, node list, local size and peers,
 * local leader. Derives for each rank: host name, node id, local rank, node rank, app
 * number. */
pmix_status_t px_jobinfo_register(struct px_model *m, struct px_nspace *ns,
                                  const pmix_info_t *info, size_t n,
                                  struct px_err *err);

/* Packs KVALs of a client's job information (wire.md 6.1). The caller has packed the
 * job's name. */
void px_jobinfo_pack(const struct px_model *m, const struct px_nspace *ns, px_writer *w,
                     enum px_job_form form);
/* Key of the process map's block in the compact form. */
#define PX_JOB_MAP "tenon.map"
/* Packs like px_jobinfo_pack. Keeps the last result, and reuses it for other clients of
 * the job until the model changes. */
void px_jobinfo_pack_again(struct px_model *m, const struct px_nspace *ns, px_writer *w,
                           enum px_job_form form);
/* Packs the values that a client which reads ns in place does not find there. */
void px_jobinfo_pack_in_place(const struct px_model *m, const struct px_nspace *ns,
                              px_writer *w);
/* Key of one more KVAL for a spawned rank: the name and KVALs of its parent's job.
 * Other libraries store this key like any value. */
#define PX_PARENT_JOB "tenon.parent"
/* Returns the parent's job of a rank; NULL if this process does not have that job. */
const struct px_nspace *px_jobinfo_parent(const struct px_model *m,
                                          const struct px_nspace *ns, pmix_rank_t rank);

/* Client side: reads a server's description of shared tables, and starts to read the
 * tables in place. The caller keeps fd. */
pmix_status_t px_jobinfo_attach(struct px_model *m, px_reader *r, int fd);
/* Stops reading in place. Messages bring the data from now on. */
void px_jobinfo_detach(struct px_nspace *ns);
/* Unpacks all KVALs of the reader, in every form that servers use. The information of
 * this process's own job may include the parent's job. */
pmix_status_t px_jobinfo_unpack(struct px_model *m, struct px_nspace *ns, px_reader *r);
/* Unpacks KVALs of one rank: the job information for PMIX_RANK_WILDCARD, otherwise the
 * values that the rank committed. */
pmix_status_t px_jobinfo_unpack_rank(struct px_model *m, struct px_nspace *ns,
                                     pmix_rank_t rank, px_reader *r);

#endif
