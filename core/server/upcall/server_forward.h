/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for a service of the host or of this library, each by a table row. The
 * host's function serves the request, or the library's own function where the host has
 * none. docs/coverage.md has the table of services. Loop thread only. */
#ifndef PX_SERVER_UPCALL_SERVER_FORWARD_H
#define PX_SERVER_UPCALL_SERVER_FORWARD_H

#include "core/base/err.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"
#include "pmix_server.h"

#include <stddef.h>

struct px_req;
struct px_server;

/* A service: the request's fields, the changes that the server makes, the host's
 * function, the library's own function, and the reply. */
struct px_forward {
    const struct px_request *request;
    const char *function; /* the caller's, for the log */
    /* The built-in host supports the attributes of its rows and no others. */
    bool checked;
    size_t slot;  /* PX_SLOT of the host's function; 0: call checks */
    size_t older; /* PX_SLOT of the function that slot replaces; 0: none */
    /* Serves the request where the host has no function, and answers like a host (see
     * px_upcall_returned). The required attributes were checked: see support_table.c.
     * NULL: such a request is refused with PMIX_ERR_NOT_SUPPORTED. */
    pmix_status_t (*own)(struct px_server *srv, struct px_upcall *u);
    /* The host gets only what own refuses with PMIX_ERR_NOT_SUPPORTED. own checks
     * required attributes itself. */
    bool own_first;
    /* Memory that the host keeps until it answers: for a request, and for each key. */
    size_t held_b, held_key_b;
    bool newest; /* its types are newer than most dialects, and so is its message */
    /* NULL: px_forward_user. PX_DEFERRED: px_forward_prepared follows */
    pmix_status_t (*prepare)(struct px_req *req, struct px_upcall *u);
    /* Calls the host's function. */
    pmix_status_t (*call)(const pmix_server_module_t *module, struct px_upcall *u);
    px_upcall_fn reply;
};
#define PX_SLOT(function) \
    (offsetof(pmix_server_module_t, function) / sizeof(void (*)(void)) + 1)

/* Serves a request as its row describes. */
pmix_status_t px_forward(struct px_server *srv, struct px_req *req);
/* Serves a request whose preparation took several turns, or replies with its
 * failure. */
void px_forward_prepared(struct px_upcall *u, pmix_status_t rc);
/* Sets the user in the infos to the user that the connection proves, whatever the
 * request claims. */
pmix_status_t px_forward_user(struct px_req *req, struct px_upcall *u);

/* Adds the reason of a refusal to the results, and logs the reason. Returns err's
 * status. The results are dropped if the host serves the request after all. */
pmix_status_t px_upcall_deny(struct px_upcall *u, const struct px_err *err);

/* Replies with the status of the answer. arg is the request. */
void px_upcall_reply_status(void *arg, const struct px_upcall *answer);
/* Replies with status and infos of the answer. arg is the request. */
void px_upcall_reply_infos(void *arg, const struct px_upcall *answer);

#endif
