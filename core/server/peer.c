/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections: made, found, and the end of them, of which each part is notified. */
#include "core/rt/log.h"
#include "core/server/server.h"
#include "core/wire/hello.h"
#include "tenon/ptl.h"

static void on_conn_frame(void *arg, const struct px_frame *frame,
                          const uint8_t *payload)
{
    struct px_peer *peer = arg;

    px_peer_ref(peer);
    px_server_dispatch(peer->server, peer, frame->tag, payload, frame->nbytes);
    px_peer_unref(peer);
}

static void on_conn_lost(void *arg, pmix_status_t why)
{
    struct px_peer *peer = arg;

    px_server_peer_lost(peer->server, peer, why);
}

static const struct px_conn_ops conn_ops = {.on_frame = on_conn_frame,
                                            .on_lost = on_conn_lost};

struct px_peer *px_peer_create(struct px_server *srv, int fd,
                               const struct px_ptl_peer *who,
                               const struct px_hello *hello)
{
    struct px_peer *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->refs = 1;
    p->server = srv;
    p->proc = hello->proc;
    p->pid = who->has_pid ? who->pid : 0;
    p->inode = who->inode;
    p->codec.dialect = px_dialect_find(hello->dialect);
    p->codec.described = hello->described;
    p->version = hello->version;
    p->pindex = ++srv->next_pindex;
    if (px_conn_create(px_process.loop, fd, &conn_ops, p, &p->conn)) {
        free(p);
        return NULL;
    }
    return p;
}

struct px_local *px_local_find(struct px_server *srv PX_UNUSED, const pmix_proc_t *proc)
{
    struct px_nspace *ns = px_nspace_find(px_process.model, proc->nspace);

    if (!ns)
        return NULL;
    PX_LIST_EACH (&ns->locals, struct px_local, l, link)
        if (l->rank == proc->rank)
            return l;
    return NULL;
}

struct px_peer *px_peer_find(struct px_server *srv, const pmix_proc_t *proc)
{
    PX_LIST_EACH (&srv->peers, struct px_peer, p, link)
        if (!p->gone && px_proc_same(&p->proc, proc))
            return p;
    return NULL;
}

/* True if no other connection of its rank is left that takes part. */
static bool retire(struct px_peer *p)
{
    if (p->finalized || (!p->local && !p->tool))
        return false;
    p->finalized = true;
    return p->local && --p->local->n_peers == 0;
}

bool px_peer_finalized(struct px_server *srv, struct px_peer *peer)
{
    bool last = retire(peer);

    if (last) {
        peer->local->finalized = true;
        peer->local->connected = false;
        PX_PARTS_NOTIFY(srv, rank_gone, &peer->proc);
    }
    PX_PARTS_NOTIFY(srv, peer_left, peer);
    return last;
}

void px_server_peer_lost(struct px_server *srv, struct px_peer *peer, pmix_status_t why)
{
    bool last, lost;

    if (peer->gone)
        return;
    peer->gone = true;
    px_conn_destroy(peer->conn);
    peer->conn = NULL;
    px_list_remove(&peer->link);
    last = retire(peer);
    lost = last && why;
    if (lost)
        peer->local->lost = true;
    PX_PARTS_NOTIFY(srv, peer_left, peer);
    if (last)
        PX_PARTS_NOTIFY(srv, rank_gone, &peer->proc);
    PX_PARTS_NOTIFY(srv, peer_gone, peer);
    if (lost && !srv->stopping) {
        px_log(PX_LOG_INFO, "server", "%s.%u lost its connection (%s)",
               peer->proc.nspace, peer->proc.rank, PMIx_Error_string(why));
        PX_PARTS_NOTIFY(srv, rank_lost, &peer->proc);
    }
    peer->local = NULL; /* may be gone before the peer is */
    px_peer_unref(peer);
}
