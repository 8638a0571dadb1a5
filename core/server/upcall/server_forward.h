/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that go on to the host as they come, each by a row that says how. Loop
 * thread only. */
#ifndef PX_SERVER_UPCALL_SERVER_FORWARD_H
#define PX_SERVER_UPCALL_SERVER_FORWARD_H

#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"
#include "pmix_server.h"

#include <stddef.h>

struct px_req;
struct px_server;

/* How a request goes to the host: the fields of the request, into the upcall; the
 * changes that the server makes to them; the call; the reply that the answer makes. */
struct px_forward {
    const struct px_request *request;
    const char *function; /* of the caller, for the log */
    /* The built-in host honours the attributes of its rows and no others. */
    bool checked;
    size_t slot; /* PX_SLOT: without it PMIX_ERR_NOT_SUPPORTED; 0: call looks */
    bool newest; /* types younger than most dialects, in a message that is as young */
    /* NULL: px_forward_user */
    pmix_status_t (*prepare)(struct px_req *req, struct px_upcall *u);
    pmix_status_t (*call)(const pmix_server_module_t *module, struct px_upcall *u);
    px_upcall_fn reply;
};
#define PX_SLOT(function) \
    (offsetof(pmix_server_module_t, function) / sizeof(void (*)(void)) + 1)

/* Sends the request on to the host as its row says: a handler. */
pmix_status_t px_forward(struct px_server *srv, struct px_req *req);
/* Puts the user that the connection proves in place of one that was claimed, among the
 * infos. */
pmix_status_t px_forward_user(struct px_req *req, struct px_upcall *u);

/* Replies with the status of the answer; arg is the request. */
void px_upcall_reply_status(void *arg, const struct px_upcall *answer);
/* Replies with status and infos of the answer; arg is the request. */
void px_upcall_reply_infos(void *arg, const struct px_upcall *answer);

#endif
