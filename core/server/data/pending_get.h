/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits for a rank's data: a client whose Get cannot be answered yet, or the host on
 * behalf of another node. Parked until the rank commits, until the host brings what it was
 * asked for, until its own deadline, or until nobody can bring it any more. */
#ifndef PX_SERVER_DATA_PENDING_GET_H
#define PX_SERVER_DATA_PENDING_GET_H

#include "core/server/server.h"

struct px_want {
    struct px_msg msg;   /* brings the host's question in and the answer out */
    struct px_list link; /* in px_server.dmodex */
    struct px_server *server;
    pmix_proc_t proc;
    char *key;          /* NULL: everything */
    struct px_req *req; /* a client asks; NULL: the host does */
    pmix_dmodex_response_fn_t host_cb;
    void *host_cbdata;
    pmix_status_t status; /* the answer to the host */
    px_buf bytes;
    struct px_timer *timer;
    bool asked_host;
};

/* Of a client: parks req, with the PMIX_TIMEOUT that info may hold. */
struct px_want *px_want_new(struct px_req *req, const pmix_proc_t *proc,
                            const char *key, const pmix_info_t *info, size_t n);
/* Without an answer. */
void px_want_free(struct px_want *w);
/* Answers. With PMIX_SUCCESS who waits gets what there is now, if his key is among it. */
void px_want_end(struct px_want *w, pmix_status_t status);

/* What a client of this node may have of proc: replies with it; knows whether key is
 * there. */
void px_want_reply(struct px_req *req, const struct px_nspace *ns,
                   const pmix_proc_t *proc);
bool px_want_is_there(struct px_server *srv, const struct px_nspace *ns,
                      const pmix_proc_t *proc, const char *key);

/* What ends waits: hooks of the part. */
void px_want_rank_gone(struct px_server *srv, const pmix_proc_t *proc);
void px_want_nspace_gone(struct px_server *srv, const char *nspace,
                         struct px_nspace *ns);
void px_want_peer_gone(struct px_server *srv, struct px_peer *peer);
void px_want_stop(struct px_server *srv);

#endif
