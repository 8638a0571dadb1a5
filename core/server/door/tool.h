/* SPDX-License-Identifier: BSD-3-Clause */
/* Tools that connect, and the files by which they find this server. */
#ifndef PX_SERVER_DOOR_TOOL_H
#define PX_SERVER_DOOR_TOOL_H

#include "core/server/server.h"
#include "core/wire/hello.h"
#include "tenon/psec.h"

/* tool.c: whether a connect message is a tool's, a launcher's or a scheduler's. */
bool px_tool_is(const struct px_hello *hello);
/* May it come in, as far as we can tell? */
pmix_status_t px_tool_check(struct px_server *srv, const struct px_hello *hello,
                            const struct px_ptl_peer *who, struct px_err *err);
/* Takes fd and what hello holds: asks the host, answers. */
void px_tool_visit(struct px_server *srv, int fd, const struct px_ptl_peer *who,
                   struct px_hello *hello);

/* handshake.c: a peer with its connection, in no list yet; fd stays the caller's on failure. */
struct px_peer *px_peer_create(struct px_server *srv, int fd,
                               const struct px_ptl_peer *who,
                               const struct px_hello *hello);

/* contact.c: does info, the environment or a parameter want tools to find this server? */
bool px_contact_wanted(const struct px_server *srv, const pmix_info_t *info,
                       size_t n_info);
/* Writes the files that info and the environment ask for, once the server listens, if tools are let
 * in. PMIX_ERR_EXISTS, PMIX_ERR_NO_PERMISSIONS: a name of which there is one per node is somebody
 * else's. What else cannot be written is told in the log. */
pmix_status_t px_contact_files_write(struct px_server *srv, const pmix_info_t *info,
                                     size_t n_info, struct px_err *err);
/* Removes those that are still ours. */
void px_contact_files_remove(struct px_server *srv);

#endif
