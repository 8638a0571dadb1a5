/* SPDX-License-Identifier: BSD-3-Clause */
/* One request of a peer, from its first byte to exactly one reply. Loop thread only. */
#ifndef PX_SERVER_PEER_REQ_H
#define PX_SERVER_PEER_REQ_H

#include "core/base/list.h"
#include "core/rt/loop.h"
#include "core/server/data/memory.h"
#include "core/wire/codec.h"
#include "core/wire/requests.h"

struct px_forward;
struct px_peer;
struct px_server;

/* A request. Its handler returns the status of the reply, or PX_DEFERRED. After
 * PX_DEFERRED the handler calls px_req_done or px_req_reply exactly once later. */
struct px_req {
    struct px_peer *peer; /* referenced */
    uint32_t tag;
    uint8_t op;
    const struct px_rpc *rpc;
    struct px_charge charge; /* held until the reply */
    px_reader in;            /* valid during the handler only */
    size_t n_args_b;         /* bytes that px_req_unpack read and allocated */
    struct px_list link;     /* for the handler's queue */
    void *state;             /* for the handler */
    struct px_msg msg;       /* carries the reply to a request of this process */
    px_buf reply;
};

/* Senders that may make a request. */
enum px_senders {
    PX_BY_CLIENT = 1,
    PX_BY_TOOL = 2,
    PX_BY_SELF = 4,    /* API calls of this process */
    PX_BY_LEAVING = 8, /* also after its finalize */
    PX_BY_ANY = PX_BY_CLIENT | PX_BY_TOOL | PX_BY_SELF,
};

/* Processes that a request may concern; px_req_may checks them. A server may serve
 * several users. */
enum px_reach {
    PX_OWN = 1, /* the sender itself, data of its user, or public data */
    PX_BY_HOST, /* the host decides, by the user that the connection proves */
    PX_OF_USER, /* named processes of the sender's user; root: any */
    PX_MEMBERS, /* named processes, with the sender among them */
};

/* A row of the dispatch table: who may send a request, which processes it may concern,
 * and its handler or its way to the host. */
struct px_rpc {
    uint8_t op;
    uint8_t senders, reach;
    bool passing; /* not charged: keeps no memory that is not charged elsewhere */
    pmix_status_t (*handler)(struct px_server *srv, struct px_req *req);
    const struct px_forward *forward; /* upcall/server_forward.h */
    /* Runs instead of the handler, without memory for the request. May be NULL. */
    void (*failed)(struct px_server *srv, struct px_peer *peer, pmix_status_t why);
};

/* Unpacks the arguments that the table lists, as px_unpack_args. Charges the memory
 * that they occupy: also PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t px_req_unpack(struct px_req *req, struct px_args *args,
                            const struct px_arg *table);
/* Expands the processes as px_procs_expand, and charges their memory. */
pmix_status_t px_req_expand(struct px_req *req, struct px_args *args);

/* Replies with a status and ends the request. PMIX_OPERATION_SUCCEEDED is sent as 0. */
void px_req_done(struct px_req *req, pmix_status_t status);
/* Replies with success in the next message to the client, and ends the request. For
 * requests whose reply the client does not wait for. */
void px_req_done_meanwhile(struct px_req *req);
/* Logs why the request gets PMIX_ERR_NOT_SUPPORTED, once for each command of a peer.
 * function: the public function, or NULL for a command without a name. */
void px_req_refused(struct px_req *req, const char *function, const char *reason);
/* Ends the request without a reply. */
void px_req_drop(struct px_req *req);
/* Begins a reply in the peer's codec with its status. */
void px_reply_begin(const struct px_req *req, px_writer *w, pmix_status_t status);
/* Sends w and ends the request. A packing error becomes the status of the reply. */
void px_req_reply(struct px_req *req, px_writer *w);
/* Replies with a status to a frame that has no struct px_req. */
void px_peer_refuse(struct px_peer *peer, uint32_t tag, pmix_status_t why);

#endif
