/* SPDX-License-Identifier: BSD-3-Clause */
/* Job information: from the host's register_nspace into tables, from tables to the
 * answer of a client's first request, and from that answer into a client's tables. */
#ifndef PX_MODEL_JOBINFO_H
#define PX_MODEL_JOBINFO_H

#include "core/model/nspace.h"

/* Host side. Validates everything first: on error the namespace is as before.
 * Understands PMIX_NODE_MAP/PROC_MAP (any form), PMIX_PROC_DATA / PROC_INFO_ARRAY,
 * PMIX_NODE_INFO_ARRAY, PMIX_APP_INFO_ARRAY, PMIX_SESSION_INFO_ARRAY,
 * PMIX_JOB_INFO_ARRAY, lone node-, app- and session- realm keys (this node, app 0, own
 * session), any other key as job level. Derives from the maps what the host did not
 * give: job size, number of nodes, node list, local size and peers, local leader, and
 * per rank host name, node id, local rank, node rank, app number. */
pmix_status_t px_jobinfo_register(struct px_model *m, struct px_nspace *ns,
                                  const pmix_info_t *info, size_t n,
                                  struct px_err *err);

/* KVALs of everything a client gets (wire.md 6.1) behind the name, which the caller has
 * packed. */
void px_jobinfo_pack(const struct px_model *m, const struct px_nspace *ns, px_writer *w,
                     enum px_job_form form);
/* The key of the map's block in the compact form. */
#define PX_JOB_MAP "tenon.map"
/* The same. The last answer is kept, and used again for another client of that job
 * while nothing has changed. */
void px_jobinfo_pack_again(struct px_model *m, const struct px_nspace *ns, px_writer *w,
                           enum px_job_form form);
/* For a client that reads ns in place: what it does not find there. */
void px_jobinfo_pack_in_place(const struct px_model *m, const struct px_nspace *ns,
                              px_writer *w);
/* Of a rank that was spawned: one KVAL more, with the name of its parent's job and the
 * same of that. Libraries that do not know the key keep it as any other value. */
#define PX_PARENT_JOB "tenon.parent"
/* That job, if this process knows it; NULL. */
const struct px_nspace *px_jobinfo_parent(const struct px_model *m,
                                          const struct px_nspace *ns, pmix_rank_t rank);

/* Client side: what a server tells of tables that are read in place from now on, and
 * the descriptor that has come with it, which stays the caller's. */
pmix_status_t px_jobinfo_attach(struct px_model *m, px_reader *r, int fd);
/* It goes on with what messages bring. */
void px_jobinfo_detach(struct px_nspace *ns);
/* KVALs to the end of the reader, in every form older servers use. With
 * those of this process's own job come those of its parent's. */
pmix_status_t px_jobinfo_unpack(struct px_model *m, struct px_nspace *ns, px_reader *r);
/* The same of one rank: PMIX_RANK_WILDCARD has that, another rank what it has
 * committed. */
pmix_status_t px_jobinfo_unpack_rank(struct px_model *m, struct px_nspace *ns,
                                     pmix_rank_t rank, px_reader *r);

#endif
