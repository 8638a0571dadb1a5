/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding of standard streams: the part of the server that does it. */
#include "core/link/iof.h"
#include "core/server/iof/server_iof.h"

#include <string.h>

/* A receiver of this process has some again. */
static void on_own_room(struct px_iofs *iofs PX_UNUSED)
{
    if (px_process.server && px_process.server->part.relay)
        px_pulls_peer_room(px_process.server, px_process.server->self);
}

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    struct px_relay *relay = srv->part.relay;
    struct px_list *const lists[] = {&relay->readers, &relay->drains, &relay->ready,
                                     &relay->queues, &relay->paused};

    for (size_t i = 0; i < PX_COUNT(lists); i++)
        px_list_init(lists[i]);
    px_process.model->iofs.server_goes_on = on_own_room;
    px_backlogs_init(&relay->backlogs, srv->conf.output_per_stream,
                     srv->conf.output_total);
    return PMIX_SUCCESS;
}

static void stop(struct px_server *srv)
{
    px_process.model->iofs.server_goes_on = NULL;
    px_drains_stop(srv->part.relay);
    px_deliveries_stop(srv->part.relay);
}

static void destroy(struct px_server *srv)
{
    px_backlogs_fini(&srv->part.relay->backlogs);
    px_push_cleanup(srv->part.relay);
}

/* Output that was asked for goes out first; the rest no process will ask for any
 * more. */
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
