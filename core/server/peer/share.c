/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions of the tables that clients read in place. A client that cannot read them
 * gets its data in messages. */
#include "core/server/peer/share.h"

#include "core/base/map.h"
#include "core/link/conn.h"
#include "core/model/jobinfo.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"
#include "frameworks/framework.h"
#include "tenon/gds.h"

#include <sys/stat.h>

/* Returns a digest that distinguishes descriptions, or 0 if fstat fails. */
static uint64_t digest(const px_buf *bytes, int fd)
{
    struct stat st = {0};
    uint64_t d;

    if (fd >= 0 && fstat(fd, &st) < 0)
        return 0;
    d = st.st_ino ^ 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes->len; i++)
        d = (d ^ bytes->data[i]) * 0x100000001b3u;
    return d ? d : 1;
}

static void stop_sharing(struct px_peer *peer, const char *why)
{
    if (!peer->reads_in_place)
        return;
    peer->reads_in_place = false;
    px_log(PX_LOG_INFO, "server", "%s.%u is sent all data in messages: %s",
           peer->proc.nspace, peer->proc.rank, why);
}

void px_peer_cannot_read(struct px_peer *peer, const struct px_nspace *ns)
{
    const void *sent = px_map_sget(&peer->stores, ns->name);

    if (!px_peer_share(peer, ns) || px_map_sget(&peer->stores, ns->name) == sent)
        stop_sharing(peer, "it cannot read them in place");
}

/* Encloses the description in the frame that carries the next reply. */
bool px_peer_share(struct px_peer *peer, const struct px_nspace *ns)
{
    PX_AUTO(px_writer) w;
    int fd = -1;
    void *sent;
    pmix_status_t rc;

    px_writer_init(&w, peer->codec);
    if (!peer->reads_in_place || !peer->conn || !px_peer_may(peer, ns->name))
        return false;
    px_pack_str(&w, ns->name);
    rc = px_store_describe(&ns->store, peer->gds, &peer->proc, &w, &fd);
    if (rc == PMIX_ERR_NOT_SUPPORTED)
        return false;
    sent = (void *)(uintptr_t)digest(&w.buf, fd);
    if (!rc && px_map_sget(&peer->stores, ns->name) == sent)
        return true;
    if (!rc)
        rc = px_map_sput(&peer->stores, ns->name, sent, NULL);
    if (!rc)
        rc = px_conn_enclose(peer->conn, PX_TAG_STORE, &w.buf, fd);
    if (rc)
        stop_sharing(peer, PMIx_Error_string(rc));
    return !rc;
}

/* Only this library has such a component. A tool chooses its datastore before it knows
 * the server. */
bool px_peer_is_ours(const struct px_peer *peer)
{
    return peer->is_ours || (peer->gds && PX_OPS(gds, peer->gds)->describe);
}

void px_peer_pack_job(struct px_peer *peer, const struct px_nspace *ns, px_writer *w,
                      bool as_arrays)
{
    struct px_model *m = peer->server->model;
    bool shares = px_peer_share(peer, ns);
    enum px_job_form form = px_peer_is_ours(peer) ? PX_JOB_COMPACT
                            : as_arrays           ? PX_JOB_ARRAYS
                                                  : PX_JOB_BLOBS;

    if (shares && px_store_noted(&ns->store, PX_STORE_JOB, NULL) == PMIX_SUCCESS)
        px_jobinfo_pack_in_place(m, ns, w);
    else if (as_arrays)
        px_jobinfo_pack(m, ns, w, form);
    else
        px_jobinfo_pack_again(m, ns, w, form);
}

void px_peer_pack_named(struct px_peer *peer, const struct px_nspace *ns, px_writer *w)
{
    PX_AUTO(px_writer) body;

    px_writer_init(&body, w->codec);
    px_pack_str(&body, ns->name);
    px_peer_pack_job(peer, ns, &body, true);
    if (body.status && !w->status)
        w->status = body.status;
    px_pack_bytes(w, body.buf.data, body.buf.len);
}
