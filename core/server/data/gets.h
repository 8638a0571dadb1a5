/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for data that wait, by the process that has the data and by the client. Loop
 * thread only. */
#ifndef PX_SERVER_DATA_GETS_H
#define PX_SERVER_DATA_GETS_H

#include "core/base/buf.h"
#include "core/base/list.h"
#include "core/base/map.h"
#include "core/rt/loop.h"
#include "core/server/data/reply.h"
#include "core/types/type.h"
#include "pmix_server.h"

struct px_get_target;
struct px_nspace;
struct px_peer;
struct px_req;
struct px_server;
struct px_server_start;

/* State of the part px_get_part. */
struct px_gets {
    struct px_map targets; /* process -> struct px_get_target */
    struct px_list due;    /* targets whose requests are checked over several turns */
    struct px_list left;   /* peers that have left, and still have requests */
    struct px_timer *timer;
    uint64_t turn; /* of the loop, in which n_left counts */
    size_t n_left; /* visits that ends of processes may still make */
};

struct px_pending_get {
    struct px_msg msg;   /* carries the host's request in and the reply out */
    struct px_list link; /* in px_get_target.waits */
    struct px_list own;  /* in a list of px_peer.gets */
    struct px_server *server;
    struct px_get_target *target; /* NULL: does not wait */
    pmix_proc_t proc;
    char *key;          /* NULL: all values */
    struct px_req *req; /* request of a client; NULL: the host requests */
    pmix_dmodex_response_fn_t host_cb;
    void *host_cbdata;
    pmix_status_t status; /* reply to the host */
    px_buf bytes;
    struct px_timer *timer; /* NULL: neither end_ms nor report_ms is set */
    uint64_t begin_ms;
    uint64_t end_ms;    /* deadline; 0: none */
    uint64_t report_ms; /* when to log the delay; 0: not at all, or already logged */
    enum px_reply_extent extent;
    bool asked_host;
};

/* Creates a pending request of a client. info may hold PMIX_TIMEOUT. NULL: out of
 * memory. */
struct px_pending_get *px_pending_get_new(struct px_req *req, const pmix_proc_t *proc,
                                          const char *key, const pmix_info_t *info,
                                          size_t n);
/* Lists the request and sets its timer. timeout_ms is the caller's; 0: none. */
pmix_status_t px_pending_get_begin(struct px_pending_get *w, struct px_server *srv,
                                   uint64_t timeout_ms);
/* Ends the request. status PMIX_SUCCESS: replies with the values present now, or
 * PMIX_ERR_NOT_FOUND if the key is not among them. */
void px_pending_get_end(struct px_pending_get *w, pmix_status_t status);
/* Frees the request without a reply. */
void px_pending_get_free(struct px_pending_get *w);

/* Records that the host is asked for the data of the request's process. */
void px_pending_get_ask(struct px_pending_get *w);
/* True if a request waits for the host's data of this process. */
bool px_gets_ask(const struct px_server *srv, const pmix_proc_t *proc);
/* Ends the requests that wait for the host's data of this process. */
void px_gets_answered(struct px_server *srv, const pmix_proc_t *proc,
                      pmix_status_t status);

/* True if a process of this node may read the key of proc. key NULL: any. */
bool px_get_is_here(struct px_server *srv, const struct px_nspace *ns,
                    const pmix_proc_t *proc, const char *key);
/* True if a local rank has committed the key for other nodes only. No process of this
 * node will see the key. */
bool px_get_is_out_of_scope(struct px_server *srv, const struct px_nspace *ns,
                            const pmix_proc_t *proc, const char *key);

/* Hooks of the part. */
pmix_status_t px_gets_create(struct px_server *srv,
                             const struct px_server_start *start);
void px_gets_stop(struct px_server *srv);
void px_gets_destroy(struct px_server *srv);
void px_gets_peer_room(struct px_server *srv, struct px_peer *peer);
void px_gets_peer_gone(struct px_server *srv, struct px_peer *peer);
void px_gets_rank_gone(struct px_server *srv, const pmix_proc_t *proc);
void px_gets_nspace_gone(struct px_server *srv, const char *nspace,
                         struct px_nspace *ns);

#endif
