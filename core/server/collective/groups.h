/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the kinds of groups share. Loop thread only. */
#ifndef PX_SERVER_COLLECTIVE_GROUPS_H
#define PX_SERVER_COLLECTIVE_GROUPS_H

#include "core/server/collective/collective.h"

/* Returns the group, or NULL. */
struct px_joined *px_group_find(const struct px_server *srv, const char *name);
/* Reads the group's name into the label of the key. May return PMIX_ERR_BAD_PARAM. */
pmix_status_t px_group_read_name(const struct px_args *a, px_collective_key *key);
/* Replaces the processes of a request by one. Returns PMIX_ERR_NOMEM if out of
 * memory. */
pmix_status_t px_group_name_one(struct px_args *a, const char *nspace,
                                pmix_rank_t rank);
/* Calls the host's function for groups. PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_NOMEM. */
pmix_status_t px_group_call_host(const struct px_collective *c, struct px_upcall *u);

/* ---- group_infos.c: values that members share ------------------------------------ */

/* Adds the PMIX_GROUP_INFO arrays of a request to all, each with the sender's name
 * first. PMIX_ERR_BAD_PARAM: not an array of infos, or another process's. Charges the
 * collective. */
pmix_status_t px_group_infos_take(struct px_collective *c, const struct px_req *req,
                                  const px_infos *l, px_infos *all);
/* Replaces the arrays by those of all servers, if the host's answer has them. */
pmix_status_t px_group_infos_read(px_infos *all, const px_infos *answer);
/* Stores the values for PMIx_Get. PMIX_ERR_OUT_OF_RESOURCE: a user's values take too
 * much memory. */
pmix_status_t px_group_infos_keep(const struct px_collective *c, const px_infos *all,
                                  uint64_t context);

#endif
