/* SPDX-License-Identifier: BSD-3-Clause */
/* One request of a peer, from the first byte to exactly one reply. Loop thread only. */
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

/* A handler returns a status, which is then the reply, or PX_DEFERRED. After
 * PX_DEFERRED the handler calls px_req_done or px_req_reply exactly once later. */
struct px_req {
    struct px_peer *peer; /* referenced */
    uint32_t tag;
    uint8_t op;
    const struct px_rpc *rpc;
    struct px_charge charge; /* from before the handler to the reply */
    px_reader in;            /* after the command byte; valid during the handler only */
    struct px_list link;     /* free for the handler's queue */
    void *state;             /* free for the handler */
    struct px_msg msg;       /* carries the reply to a request of our own */
    px_buf reply;
};

/* The senders that may make a request. */
enum px_senders {
    PX_BY_CLIENT = 1,
    PX_BY_TOOL = 2,
    PX_BY_SELF = 4,    /* calls of this process */
    PX_BY_LEAVING = 8, /* also after its goodbye */
    PX_BY_ANY = PX_BY_CLIENT | PX_BY_TOOL | PX_BY_SELF,
};

/* The processes that it may concern, which px_req_may checks. A server may serve
 * several users. */
enum px_reach {
    PX_OWN = 1, /* the sender alone, what is of its user, or what all may have */
    PX_BY_HOST, /* as the host decides, by the user that the connection proves */
    PX_OF_USER, /* named processes of the sender's user; root's sender: of any */
    PX_MEMBERS, /* named processes that the sender is one of */
};

/* A row of the table that says all of a request: who may send it, whom it may concern,
 * and the handler, or how it goes to the host. */
struct px_rpc {
    uint8_t op;
    uint8_t senders, reach;
    bool passing; /* keeps nothing that is not counted elsewhere: not charged */
    pmix_status_t (*handler)(struct px_server *srv, struct px_req *req);
    const struct px_forward *forward; /* upcall/server_forward.h */
};

/* Reads what the table lists, as px_unpack_args, and charges the memory that the
 * arguments take: also PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t px_req_unpack(struct px_req *req, struct px_args *args,
                            const struct px_arg *table);
/* Expands the processes as px_procs_expand, charged likewise. */
pmix_status_t px_req_expand(struct px_req *req, struct px_args *args);

/* Replies with a status (PMIX_OPERATION_SUCCEEDED travels as 0) and ends the
 * request. */
void px_req_done(struct px_req *req, pmix_status_t status);
/* Replies with success in the next message to the client, which does not wait for the
 * reply, and ends the request. */
void px_req_done_meanwhile(struct px_req *req);
/* Logs the reason of PMIX_ERR_NOT_SUPPORTED, once for each command of a peer. */
void px_req_refused(struct px_req *req, const char *reason);
/* Ends a request without a reply. */
void px_req_drop(struct px_req *req);
/* Starts a reply in the peer's codec, status packed first. */
void px_reply_begin(const struct px_req *req, px_writer *w, pmix_status_t status);
/* Sends w (a packing error becomes a status reply) and ends the request. */
void px_req_reply(struct px_req *req, px_writer *w);
/* Replies with a status to a frame for which there is no struct px_req. */
void px_peer_refuse(struct px_peer *peer, uint32_t tag, pmix_status_t why);

#endif
