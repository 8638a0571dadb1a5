/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that parts raise, and the server's cache of events for handlers of its own
 * process. Loop thread only. */
#ifndef PX_SERVER_EVENT_EVENT_H
#define PX_SERVER_EVENT_EVENT_H

#include "core/types/type.h"

struct px_handler;
struct px_peer;
struct px_server;

/* Delivers an event that a peer has asked for, also to the source, which is the peer or
 * another process. Reaches processes of the peer's user only, and the host if the range
 * goes beyond this node. Takes over infos. */
void px_server_event_for(struct px_peer *peer, const pmix_proc_t *source,
                         pmix_status_t code, pmix_data_range_t range, px_infos *infos);

/* Delivers cached events to a new handler of this process. */
void px_server_replay(struct px_server *srv, const struct px_handler *h);

#endif
