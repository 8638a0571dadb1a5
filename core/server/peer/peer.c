/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers: finding them by name, and ending their connections. */
#include "core/server/peer/peer.h"

#include "core/link/channel.h"
#include "core/link/conn.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/server/peer/timeline.h"
#include "core/server/server.h"

struct px_local *px_local_before(const struct px_nspace *ns, pmix_rank_t rank)
{
    const struct px_list *l = ns->locals.prev;

    while (l != &ns->locals && PX_CONTAINER_OF(l, struct px_local, link)->rank > rank)
        l = l->prev;
    return l == &ns->locals ? NULL : PX_CONTAINER_OF(l, struct px_local, link);
}

struct px_local *px_local_of(const struct px_nspace *ns, pmix_rank_t rank)
{
    struct px_local *local = px_local_before(ns, rank);

    return local && local->rank == rank ? local : NULL;
}

struct px_local *px_local_find(struct px_server *srv, const pmix_proc_t *proc)
{
    const struct px_nspace *ns = px_nspace_find(srv->model, proc->nspace);

    return ns ? px_local_of(ns, proc->rank) : NULL;
}

struct px_nspace *px_peer_nspace(const struct px_peer *peer, const char *name)
{
    return peer->local && strcmp(name, peer->local->ns->name) == 0
               ? peer->local->ns
               : px_nspace_find(peer->server->model, name);
}

struct px_local *px_local_get(struct px_nspace *ns, pmix_rank_t rank)
{
    struct px_local *before = px_local_before(ns, rank), *local;

    if (before && before->rank == rank)
        return before;
    local = malloc(sizeof(*local));
    if (!local)
        return NULL;
    *local = (struct px_local){.ns = ns, .rank = rank};
    px_list_insert_before(before ? before->link.next : ns->locals.next, &local->link);
    return local;
}

void px_local_join(struct px_local *local, struct px_peer *peer)
{
    peer->local = local;
    local->n_peers++;
    local->n_tools += peer->tool;
    if (local->finalized || local->lost)
        local->commit_status = PMIX_SUCCESS;
    local->finalized = local->left_sets = false;
    if (!peer->tool)
        local->lost = 0;
}

void px_local_free(struct px_server *srv, struct px_local *local)
{
    PX_LIST_EACH (&srv->peers, struct px_peer, p, link)
        if (p->local == local)
            p->local = NULL;
    px_list_remove(&local->link);
    px_timeline_free(local->timeline);
    free(local);
}

struct px_peer *px_peer_find(struct px_server *srv, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&srv->peers, struct px_peer, p, link)
        if (!p->gone && px_proc_same(&p->proc, proc))
            return p;
    return NULL;
}

/* ---- the end --------------------------------------------------------------------- */

/* Ends the peer's participation. True if it was the last participating connection of
 * its rank. A client does not wait for tools that its rank has started. */
static bool retire(struct px_peer *p)
{
    struct px_local *local = p->local;

    if (p->finalized || (!local && !p->tool))
        return false;
    p->finalized = true;
    if (!local)
        return false;
    local->n_peers--;
    local->n_tools -= p->tool;
    return local->n_peers == (p->tool ? 0 : local->n_tools);
}

void px_peer_finalized(struct px_server *srv, struct px_peer *peer)
{
    if (retire(peer)) {
        peer->local->finalized = true;
        peer->local->connected = false;
        PX_PARTS_NOTIFY(srv, rank_gone, &peer->proc);
    }
    PX_PARTS_NOTIFY(srv, peer_left, peer);
}

void px_local_lost(struct px_server *srv, struct px_local *local)
{
    if (!local->lost)
        local->lost = ++srv->n_lost;
}

void px_server_peer_lost(struct px_server *srv, struct px_peer *peer, pmix_status_t why)
{
    struct px_channel *proxy;
    bool last, lost;

    if (peer->gone)
        return;
    peer->gone = true;
    px_conn_destroy(peer->conn);
    peer->conn = NULL;
    proxy = px_take(&peer->proxy);
    px_list_remove(&peer->link);
    last = retire(peer);
    lost = last && why && !peer->tool;
    if (lost)
        px_local_lost(srv, peer->local);
    else if (last && peer->tool) /* the rank goes on: a shell may start another tool */
        peer->local->finalized = true;
    PX_PARTS_NOTIFY(srv, peer_left, peer);
    if (last)
        PX_PARTS_NOTIFY(srv, rank_gone, &peer->proc);
    PX_PARTS_NOTIFY(srv, peer_gone, peer);
    if (lost && !srv->stopping) {
        px_log(PX_LOG_INFO, "server", "%s.%u lost its connection (%s)",
               peer->proc.nspace, peer->proc.rank, PMIx_Error_string(why));
        PX_PARTS_NOTIFY(srv, rank_lost, &peer->proc);
    }
    peer->local = NULL; /* may be freed before the peer */
    if (proxy)
        px_channel_fail(proxy, why ? why : PMIX_ERR_LOST_CONNECTION);
    px_peer_unref(peer);
}
