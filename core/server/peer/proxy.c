/* SPDX-License-Identifier: BSD-3-Clause */
/* Proxies: clients whose requests the built-in host makes in their name. A proxy is a
 * peer without a connection, so the rules and limits of clients hold for it. */
#include "core/link/channel.h"
#include "core/server/door/door.h"
#include "core/server/host.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/rpc.h"
#include "core/server/server.h"

struct px_proxy {
    struct px_channel channel; /* send is NULL once the peer is closed */
    struct px_peer *peer;
};

static pmix_status_t send_request(void *ctx, uint32_t tag, px_buf *payload)
{
    struct px_proxy *proxy = ctx;
    struct px_peer *peer = proxy->peer;
    px_buf bytes = px_buf_take(payload);

    px_peer_ref(peer);
    px_server_dispatch(peer->server, peer, tag, bytes.data, bytes.len);
    px_peer_unref(peer);
    px_buf_cleanup(&bytes);
    return PMIX_SUCCESS;
}

struct px_channel *px_server_proxy_channel(struct px_proxy *proxy)
{
    return &proxy->channel;
}

pmix_status_t px_server_proxy_open(struct px_server *srv, const pmix_proc_t *proc,
                                   pid_t pid, struct px_proxy **out)
{
    struct px_local *local = px_local_find(srv, proc);
    struct px_proxy *proxy = calloc(1, sizeof(*proxy));
    struct px_peer *peer = calloc(1, sizeof(*peer));

    if (!local || !proxy || !peer) {
        free(proxy);
        free(peer);
        return local ? PMIX_ERR_NOMEM : PMIX_ERR_NOT_FOUND;
    }
    *peer = (struct px_peer){.refs = 1,
                             .server = srv,
                             .proxy = &proxy->channel,
                             .proc = *proc,
                             .pid = pid,
                             .gid = local->gid,
                             .codec = px_codec_default,
                             .pindex = ++srv->next_pindex};
    *proxy = (struct px_proxy){.channel = {.send = send_request,
                                           .ctx = proxy,
                                           .codec = px_codec_default,
                                           .server = srv->proc},
                               .peer = peer};
    pmix_status_t rc = px_door_join(srv, peer, local);
    if (!rc && !proxy->channel.send) /* the host has closed the peer */
        rc = PMIX_ERR_LOST_CONNECTION;
    if (rc)
        px_server_proxy_close(proxy, PMIX_SUCCESS);
    else
        *out = proxy;
    return rc;
}

void px_server_proxy_close(struct px_proxy *proxy, pmix_status_t why)
{
    if (!proxy)
        return;
    if (proxy->channel.send)
        px_server_peer_lost(proxy->peer->server, proxy->peer, why);
    px_map_fini(&proxy->channel.pending);
    free(proxy);
}
