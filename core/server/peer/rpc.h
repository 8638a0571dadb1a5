/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatch of received frames as requests. Loop thread only. */
#ifndef PX_SERVER_PEER_RPC_H
#define PX_SERVER_PEER_RPC_H

#include <stddef.h>
#include <stdint.h>

struct px_hello;
struct px_peer;
struct px_ptl_peer;
struct px_server;

/* Creates a peer with its connection, in no list yet. NULL if out of memory; fd is then
 * still the caller's. */
struct px_peer *px_peer_create(struct px_server *srv, int fd,
                               const struct px_ptl_peer *who,
                               const struct px_hello *hello);
/* Serves one request, received from a connection or made by this process. */
void px_server_dispatch(struct px_server *srv, struct px_peer *peer, uint32_t tag,
                        const uint8_t *payload, size_t n);

#endif
