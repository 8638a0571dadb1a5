/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatch: frames of a connection become requests. Loop thread only. */
#ifndef PX_SERVER_PEER_RPC_H
#define PX_SERVER_PEER_RPC_H

#include <stddef.h>
#include <stdint.h>

struct px_hello;
struct px_peer;
struct px_ptl_peer;
struct px_server;

/* Makes a peer with its connection, in no list yet; fd stays the caller's on failure.
 * NULL: out of memory. */
struct px_peer *px_peer_create(struct px_server *srv, int fd,
                               const struct px_ptl_peer *who,
                               const struct px_hello *hello);
/* Serves one request, which a connection or this process has sent. */
void px_server_dispatch(struct px_server *srv, struct px_peer *peer, uint32_t tag,
                        const uint8_t *payload, size_t n);

#endif
