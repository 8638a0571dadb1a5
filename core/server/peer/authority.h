/* SPDX-License-Identifier: BSD-3-Clause */
/* Authority of peers over processes. Loop thread only. */
#ifndef PX_SERVER_PEER_AUTHORITY_H
#define PX_SERVER_PEER_AUTHORITY_H

#include "core/types/type.h"

struct px_peer;
struct px_req;
struct px_server;

/* True if a process of user may act on, or send events to, a process of other. */
bool px_user_may(uid_t user, uid_t other);
/* True if the peer may read data of the processes of a namespace or act on them. The
 * users of a job are those of its local clients, else its PMIX_USERID, else the user of
 * this server. A namespace of connected processes has the users of its members. Also
 * true for a namespace that this server does not host: the host decides. */
bool px_peer_may(const struct px_peer *peer, const char *nspace);
/* Returns the user of a job: of a local process, else its PMIX_USERID, else the user of
 * this server. */
uid_t px_nspace_user(const struct px_server *srv, const char *nspace);
/* Checks that the sender may make the request at all. PMIX_ERR_NOT_SUPPORTED;
 * PMIX_ERR_INIT after its PMIx_Finalize. */
pmix_status_t px_req_admit(const struct px_req *req);
/* Checks that the request may concern the processes that it names.
 * PMIX_ERR_NO_PERMISSIONS; PMIX_ERR_BAD_PARAM if the sender must be among them and is
 * not. */
pmix_status_t px_req_may(const struct px_req *req, const pmix_proc_t *procs, size_t n);
/* Sets PMIX_USERID and PMIX_GRPID to the user that the connection proves, whatever the
 * request claims. Hosts decide by them. */
pmix_status_t px_infos_set_user(px_infos *infos, const struct px_peer *peer);

#endif
