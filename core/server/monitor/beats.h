/* SPDX-License-Identifier: BSD-3-Clause */
/* Heartbeats of a peer, without a wake-up of the server for each. Loop thread only. */
#ifndef PX_SERVER_MONITOR_BEATS_H
#define PX_SERVER_MONITOR_BEATS_H

#include <stdbool.h>
#include <stdint.h>

struct px_peer;

/* Saves wake-ups for heartbeats of a peer, until px_beats_end of each call. Returns
 * false without memory or connection: each heartbeat then wakes the server. */
bool px_beats_begin(struct px_peer *peer);
void px_beats_end(struct px_peer *peer);
/* True if heartbeats may wait in the socket, for px_beats_read. */
bool px_beats_wait(const struct px_peer *peer);
/* Reads the socket, before messages that are posted later. */
void px_beats_read(struct px_peer *peer);
/* Returns the number of heartbeats so far. */
uint64_t px_beats_of(struct px_peer *peer);

#endif
