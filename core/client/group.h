/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared functions of the calls of groups. Loop thread only. */
#ifndef PX_CLIENT_GROUP_H
#define PX_CLIENT_GROUP_H

#include "core/link/api.h"

/* Reads the reply to a construction into the results of op, and stores the group.
 * Returns the status of the call. */
pmix_status_t px_group_constructed(struct px_api *op, pmix_status_t status,
                                   px_reader *reply);
/* Puts this process's name before the values that the process shares, if the server
 * expects the name. named keeps the new infos. Returns PMIX_SUCCESS or
 * PMIX_ERR_NOMEM. */
pmix_status_t px_group_name_shared(const struct px_client *client, struct px_args *args,
                                   px_infos *named);
/* Stores a group of these members, and makes the results of op. */
pmix_status_t px_group_made(struct px_api *op, const pmix_proc_t *procs, size_t n);

/* Start PMIx_Group_invite and PMIx_Group_join (invite.c). */
void px_group_invite(struct px_api *op);
void px_group_join(struct px_api *op);

#endif
