/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a server that forwards standard streams. */
#include "core/base/map.h"
#include "core/iof/receivers/receivers.h"
#include "core/model/nspace.h"
#include "core/rt/process.h"
#include "core/server/iof/server_iof.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"

#include <string.h>

/* Sends to the receivers of this process again, as they have room. */
static void resume(void *arg)
{
    struct px_server *srv = arg;

    px_pulls_peer_room(srv, srv->self);
}

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    struct px_relay *relay = srv->part.relay;
    struct px_list *const lists[] = {&relay->readers, &relay->drains, &relay->ready,
                                     &relay->queues, &relay->paused};

    relay->server = srv;
    for (size_t i = 0; i < PX_COUNT(lists); i++)
        px_list_init(lists[i]);
    relay->own = (struct px_iof_producer){
        .server = srv->proc, .resume = resume, .arg = srv};
    px_iof_producer_attach(&relay->own, srv->client->receivers);
    px_backlogs_init(&relay->backlogs, srv->conf.output_per_stream,
                     srv->conf.output_total);
    return PMIX_SUCCESS;
}

static void stop(struct px_server *srv)
{
    px_iof_producer_detach(&srv->part.relay->own);
    px_drains_stop(srv->part.relay);
    px_deliveries_stop(srv->part.relay);
}

static void destroy(struct px_server *srv)
{
    px_backlogs_fini(&srv->part.relay->backlogs);
    px_push_cleanup(srv->part.relay);
}

/* Drops output that no process has asked for; the rest is sent first. */
static void nspace_gone(struct px_server *srv, const char *nspace,
                        struct px_nspace *ns PX_UNUSED)
{
    struct px_backlog *backlog;
    size_t pos = 0;

    px_pulls_nspace_gone(srv, nspace);
    px_pushes_nspace_gone(srv, nspace);
    while ((backlog = px_map_next(&srv->part.relay->backlogs.map, &pos, NULL, NULL))) {
        if (strcmp(backlog->source.nspace, nspace) != 0)
            continue;
        px_backlog_drop_unasked(backlog);
        px_backlog_settle(backlog);
    }
}

static void peer_left(struct px_server *srv, struct px_peer *peer)
{
    px_pulls_peer_left(srv, peer);
    px_pushes_peer_left(srv, peer);
}

static const struct px_rpc rpcs[] = {
    {PX_OP_IOF_PULL, PX_BY_ANY, PX_OF_USER, .handler = px_pull_request},
    {PX_OP_IOF_PUSH, PX_BY_ANY, PX_OF_USER, .forward = &px_push_forward},
    {PX_OP_IOF_DEREG, PX_BY_ANY, PX_OWN, .handler = px_dereg_request},
    {0},
};

const struct px_server_part px_iof_part = {
    .name = "iof",
    .rpcs = rpcs,
    PX_PART_STATE(relay, struct px_relay),
    .create = create,
    .stop = stop,
    .destroy = destroy,
    .peer_left = peer_left,
    .peer_room = px_pulls_peer_room,
    .nspace_gone = nspace_gone,
};
