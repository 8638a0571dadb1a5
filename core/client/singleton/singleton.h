/* SPDX-License-Identifier: BSD-3-Clause */
/* The host of a singleton: a pmixrun beside the process, started by the first call that
 * needs a server (adr/0036). The process connects to it as a client with the name that
 * it has. */
#ifndef PX_CLIENT_SINGLETON_H
#define PX_CLIENT_SINGLETON_H

#include "core/base/err.h"
#include "core/link/api.h"

/* ---- singleton.c ----------------------------------------------------------------- */

/* Sends the request of op, as px_api_send does. Starts the host before, if the process
 * is a singleton without a server and may have a host. On the loop. */
void px_singleton_send(struct px_api *op);
/* Waits for a start under way. No start begins afterwards. The process lock is held;
 * not on the loop. */
void px_singleton_settle(struct px_client *client);
/* Ends the host and its jobs, and waits up to client_finalize_timeout. Frees the state
 * of px_client_role. Not on the loop. */
void px_singleton_end(struct px_client *client);

/* ---- host.c: any thread ---------------------------------------------------------- */

/* Starts a host for the process self, and waits for its address until deadline_ms. *uri
 * is malloc'd. *keepalive is a socket that is at its end when the host is gone. The
 * host ends when the socket is shut down or this process ends. program: NULL for the
 * pmixrun of this installation. */
pmix_status_t px_singleton_start_host(const char *program, const pmix_proc_t *self,
                                      uint64_t deadline_ms, int *keepalive, char **uri,
                                      struct px_err *err);

#endif
