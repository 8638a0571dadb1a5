/* SPDX-License-Identifier: BSD-3-Clause */
/* Deliveries that wait for room in a backlog. */
#include "core/base/map.h"
#include "core/link/api.h"
#include "core/server/iof/server_iof.h"
#include "core/server/server.h"

/* Calls back the hosts; posted, as a callback may change the lists of this room. */
static void on_ready(struct px_msg *msg)
{
    struct px_relay *relay = PX_CONTAINER_OF(msg, struct px_relay, go_on);
    struct px_list ready;

    relay->goes_on = false;
    px_list_init(&ready);
    PX_LIST_EACH (&relay->ready, struct px_pending_delivery, d, link) {
        px_list_remove(&d->link);
        px_list_append(&ready, &d->link);
    }
    while (!px_list_empty(&ready)) {
        struct px_pending_delivery *d = PX_CONTAINER_OF(
            ready.next, struct px_pending_delivery, link);

        px_list_remove(&d->link);
        px_api_done(&d->api, d->status);
    }
}

void px_deliveries_wake(struct px_relay *relay, struct px_backlog *backlog)
{
    PX_LIST_EACH (&backlog->waiting, struct px_pending_delivery, d, link) {
        if (px_backlog_is_full(backlog, d->stream))
            continue;
        px_list_remove(&d->link);
        px_list_append(&relay->ready, &d->link);
    }
    if (px_list_empty(&relay->ready) || relay->goes_on)
        return;
    relay->goes_on = true;
    relay->go_on.run = on_ready;
    px_post(relay->server->loop, &relay->go_on);
}

void px_deliveries_stop(struct px_relay *relay)
{
    struct px_backlog *backlog;
    size_t pos = 0;

    while ((backlog = px_map_next(&relay->backlogs.map, &pos, NULL, NULL)))
        PX_LIST_EACH (&backlog->waiting, struct px_pending_delivery, d, link) {
            d->status = PMIX_ERR_LOST_CONNECTION;
            px_list_remove(&d->link);
            px_list_append(&relay->ready, &d->link);
        }
    on_ready(&relay->go_on);
}
