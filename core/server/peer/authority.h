/* SPDX-License-Identifier: BSD-3-Clause */
/* Authority: which peer may do what to which processes. Loop thread only. */
#ifndef PX_SERVER_PEER_AUTHORITY_H
#define PX_SERVER_PEER_AUTHORITY_H

#include "core/types/type.h"

struct px_peer;
struct px_req;

/* True if a process of user may act on, or send events to, a process of other. */
bool px_user_may(uid_t user, uid_t other);
/* True if the peer may read of the processes of that namespace, or act on them. Also
 * true for a namespace without clients here and without a user that the host named:
 * then only the host can decide. */
bool px_peer_may(const struct px_peer *peer, const char *nspace);
/* Checks that the sender may make the request at all. PMIX_ERR_NOT_SUPPORTED;
 * PMIX_ERR_INIT after its goodbye. */
pmix_status_t px_req_admit(const struct px_req *req);
/* Checks that the request may concern the processes that it names.
 * PMIX_ERR_NO_PERMISSIONS; PMIX_ERR_BAD_PARAM: its sender is not among them, and must
 * be. */
pmix_status_t px_req_may(const struct px_req *req, const pmix_proc_t *procs, size_t n);
/* Puts the user that the connection proves in place of one that was claimed; hosts
 * decide by it. */
pmix_status_t px_infos_set_user(px_infos *infos, const struct px_peer *peer);

#endif
