/* SPDX-License-Identifier: BSD-3-Clause */
/* The server's cache of events, for handlers of its own process. Loop thread only. */
#ifndef PX_SERVER_EVENT_EVENT_H
#define PX_SERVER_EVENT_EVENT_H

struct px_handler;

/* Delivers cached events to a new handler of this process. srv: the struct px_server.
 * For struct px_notify_hooks. */
void px_server_replay(void *srv, const struct px_handler *h);

#endif
