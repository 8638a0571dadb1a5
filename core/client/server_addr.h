/* SPDX-License-Identifier: BSD-3-Clause */
/* The address of a server, and connecting to it (connect.c). */
#ifndef PX_CLIENT_SERVER_ADDR_H
#define PX_CLIENT_SERVER_ADDR_H

#include "core/base/err.h"
#include "core/wire/codec.h"
#include "core/wire/hello.h"

/* How to reach a server, as whom, and what came of it. */
struct px_server_addr {
    struct px_uri uri;
    const char
        *faster; /* address to try first, or NULL; borrowed from the environment */
    struct px_codec codec;
    struct px_version version; /* the server's */
    bool from_environment;     /* its variables tell what the server can do */
    bool has_owner;            /* the kernel must say that the server is owner's */
    uid_t owner;
    uint8_t flag;     /* enum px_role_flag: what we are to it */
    pmix_proc_t self; /* our name; the server's gift for PX_FLAG_..._NEEDS_ID */
    int fd;           /* connected and non-blocking, or -1 */
    uint32_t pindex;  /* what the server calls us */
};

/* In the caller's thread: */

/* The server that the environment names. PMIX_ERR_UNREACH without a text: none. */
pmix_status_t px_server_addr_from_env(struct px_server_addr *c, struct px_err *err);
/* Connects and shakes hands, within timeout_ms for each of the two. */
pmix_status_t px_server_addr_connect(struct px_server_addr *c, uint64_t timeout_ms,
                                     struct px_err *err);

#endif
