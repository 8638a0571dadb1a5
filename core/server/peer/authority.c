/* SPDX-License-Identifier: BSD-3-Clause */
/* Authority. A server may serve several users. A client may read data of, act on and
 * send events to processes of its own user only. Root's clients may reach all. The host
 * decides about everything else. */
#include "core/server/peer/authority.h"

#include "core/base/vec.h"
#include "core/model/assembly.h"
#include "core/model/nspace.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"

#include <string.h>
#include <unistd.h>

bool px_user_may(uid_t user, uid_t other)
{
    return user == other || user == 0;
}

/* True if the peer may act on one of the members. */
static bool may_any(const struct px_peer *peer, const struct px_assembly *members)
{
    for (size_t i = 0; i < members->n_runs; i++)
        if (px_peer_may(peer, members->runs[i].nspace))
            return true;
    return false;
}

/* True if the peer may act on a tool of the namespace. */
static bool may_tool(const struct px_peer *peer, const char *nspace)
{
    PX_LIST_EACH (&peer->server->peers, struct px_peer, p, link)
        if (p->tool && strcmp(p->proc.nspace, nspace) == 0 &&
            px_user_may(peer->uid, p->uid))
            return true;
    return false;
}

bool px_peer_may(const struct px_peer *peer, const char *nspace)
{
    const struct px_nspace *ns = px_peer_nspace(peer, nspace);
    uint32_t owner; /* the host's PMIX_USERID of the job */

    if (!ns || peer == peer->server->self)
        return true;
    if (ns->assembly)
        return may_any(peer, ns->assembly);
    if (px_nspace_is_tools(ns))
        return may_tool(peer, nspace);
    PX_LIST_EACH (&ns->locals, struct px_local, l, link)
        if (px_user_may(peer->uid, l->uid))
            return true;
    if (!px_list_empty(&ns->locals))
        return false;
    if (px_store_u32(&ns->store, PX_GDS_JOB, PMIX_RANK_WILDCARD, PMIX_USERID, &owner))
        return px_user_may(peer->uid, owner);
    /* A job of this server without a known user belongs to the server's own user. The
     * host decides about other jobs. */
    return !ns->hosted || px_user_may(peer->uid, geteuid());
}

uid_t px_nspace_user(const struct px_server *srv, const char *nspace)
{
    const struct px_nspace *ns = px_nspace_find(srv->model, nspace);
    uint32_t owner;

    if (ns)
        PX_LIST_EACH (&ns->locals, struct px_local, l, link)
            return l->uid;
    return ns && px_store_u32(&ns->store, PX_GDS_JOB, PMIX_RANK_WILDCARD, PMIX_USERID,
                              &owner)
               ? owner
               : geteuid();
}

static bool is_member(const struct px_peer *peer, const pmix_proc_t *procs, size_t n)
{
    bool member = false;

    for (size_t i = 0; peer->local && i < n; i++)
        member |= px_proc_match(&procs[i], &peer->proc) ||
                  (procs[i].rank == PMIX_RANK_LOCAL_NODE &&
                   strcmp(procs[i].nspace, peer->proc.nspace) == 0);
    return member;
}

pmix_status_t px_req_may(const struct px_req *req, const pmix_proc_t *procs, size_t n)
{
    switch (req->rpc->reach) {
    case PX_OWN:
    case PX_BY_HOST:
        return PMIX_SUCCESS;
    case PX_OF_USER:
        for (size_t i = 0; i < n; i++)
            if (!px_peer_may(req->peer, procs[i].nspace))
                return PMIX_ERR_NO_PERMISSIONS;
        return PMIX_SUCCESS;
    case PX_MEMBERS:
        return is_member(req->peer, procs, n) ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    default: /* a row without reach allows nothing */
        return PMIX_ERR_NO_PERMISSIONS;
    }
}

pmix_status_t px_req_admit(const struct px_req *req)
{
    const struct px_peer *peer = req->peer;
    const struct px_rpc *rpc = req->rpc;
    uint8_t sender = peer == peer->server->self ? PX_BY_SELF
                     : peer->tool               ? PX_BY_TOOL
                                                : PX_BY_CLIENT;

    if (peer->finalized && !(rpc && rpc->senders & PX_BY_LEAVING))
        return PMIX_ERR_INIT;
    return rpc && rpc->senders & sender ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
}

pmix_status_t px_infos_set_user(px_infos *infos, const struct px_peer *peer)
{
    if (!px_vec_reserve(&infos->v, infos->n, &infos->cap, 2))
        return PMIX_ERR_NOMEM;
    pmix_status_t rc = px_infos_set(infos, PMIX_USERID, &peer->uid, PMIX_UINT32);
    if (rc)
        return rc;
    if (peer->gid != (gid_t)-1)
        return px_infos_set(infos, PMIX_GRPID, &peer->gid, PMIX_UINT32);
    px_infos_drop(infos, PMIX_GRPID); /* unknown: remove what the request claims */
    return PMIX_SUCCESS;
}
