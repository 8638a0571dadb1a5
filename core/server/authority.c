/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may do what to whom. A server may serve several users: a client reads of, acts on and
 * tells events to processes of its own user only, unless it is root's. What its host decides
 * beyond that, the host decides. */
#include "core/server/server.h"

bool px_user_may(uid_t user, uid_t other)
{
    return user == other || user == 0;
}

/* Whose a job is according to the host; false if it did not say. */
static bool named_owner(const struct px_nspace *ns, uid_t *owner)
{
    uint32_t uid;

    if (!px_store_u32(ns, PX_GDS_JOB, PMIX_RANK_WILDCARD, PMIX_USERID, &uid))
        return false;
    *owner = uid;
    return true;
}

bool px_peer_may(const struct px_peer *peer, const char *nspace)
{
    const struct px_nspace *ns = px_nspace_find(px_process.model, nspace);
    uid_t owner;

    if (!ns || peer == peer->server->self)
        return true;
    if (px_list_empty(&ns->locals))
        return !named_owner(ns, &owner) || px_user_may(peer->uid, owner);
    PX_LIST_EACH (&ns->locals, struct px_local, l, link) {
        if (px_user_may(peer->uid, l->uid))
            return true;
    }
    return false;
}

pmix_status_t px_peer_may_all(const struct px_peer *peer, const pmix_proc_t *procs,
                              size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!px_peer_may(peer, procs[i].nspace))
            return PMIX_ERR_NO_PERMISSIONS;
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_infos_set_user(px_infos *infos, const struct px_peer *peer)
{
    pmix_status_t rc = px_infos_set(infos, PMIX_USERID, &peer->uid, PMIX_UINT32);

    if (rc)
        return rc;
    if (peer->gid != (gid_t)-1)
        return px_infos_set(infos, PMIX_GRPID, &peer->gid, PMIX_UINT32);
    px_infos_drop(infos, PMIX_GRPID); /* unknown, so it cannot be claimed */
    return PMIX_SUCCESS;
}
