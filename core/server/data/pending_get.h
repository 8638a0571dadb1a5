/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that wait for a rank's data: a client's Get that cannot be answered yet, or
 * the host's on behalf of another node. Parked until the rank commits, the host brings
 * what it was asked for, the deadline passes, or the data can no longer come. */
#ifndef PX_SERVER_DATA_PENDING_GET_H
#define PX_SERVER_DATA_PENDING_GET_H

#include "core/server/server.h"

struct px_pending_get {
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
struct px_pending_get *px_pending_get_new(struct px_req *req, const pmix_proc_t *proc,
                                          const char *key, const pmix_info_t *info,
                                          size_t n);
/* Without an answer. */
void px_pending_get_free(struct px_pending_get *w);
/* Answers; with PMIX_SUCCESS by what there is now, if the key is among it. */
void px_pending_get_end(struct px_pending_get *w, pmix_status_t status);

/* Of what a client of this node may have of proc: replies with it; whether key is in
 * it. */
void px_get_reply(struct px_req *req, const struct px_nspace *ns,
                  const pmix_proc_t *proc);
bool px_get_is_here(struct px_server *srv, const struct px_nspace *ns,
                    const pmix_proc_t *proc, const char *key);

/* Hooks of the part, which end waits. */
void px_pending_get_rank_gone(struct px_server *srv, const pmix_proc_t *proc);
void px_pending_get_nspace_gone(struct px_server *srv, const char *nspace,
                                struct px_nspace *ns);
void px_pending_get_peer_gone(struct px_server *srv, struct px_peer *peer);
void px_pending_get_stop(struct px_server *srv);

#endif
