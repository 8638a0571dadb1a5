/* SPDX-License-Identifier: BSD-3-Clause */
/* Subscriptions to output: their life, and the reader that has them. Loop thread
 * only. */
#ifndef PX_SERVER_IOF_SUBSCRIPTIONS_H
#define PX_SERVER_IOF_SUBSCRIPTIONS_H

#include "core/server/data/memory.h"
#include "core/server/iof/server_iof.h"

/* A peer with subscriptions, also former ones; in px_relay.readers. */
struct px_iof_reader {
    struct px_list link;
    struct px_peer *peer; /* borrowed: the reader ends with the peer */
    struct px_list pulls, ending;
    size_t n_pulls;        /* in both lists */
    struct px_list behind; /* cursors with pieces to send, next one first */
    size_t own_b;          /* posted to the receivers of this process */
    bool due;              /* px_pulls_give has added to behind */
};

/* One PMIx_IOF_pull of a peer, which has an iof_receiver for the subscription; or the
 * output of a job for the process that spawned the job. */
struct px_subscription {
    struct px_list link; /* in reader.pulls; in reader.ending after the end */
    struct px_iof_reader *reader;
    size_t id;          /* number of the server */
    size_t peer_id;     /* number of the peer */
    pmix_proc_t *procs; /* sorted */
    size_t n_procs;
    pmix_iof_channel_t channels;
    struct px_cache cache;
    bool agreed;            /* the host has accepted */
    bool wants;             /* see px_pulls_want */
    struct px_cursor *here; /* in the backlog that is delivered to; or NULL */
    struct px_list cursors; /* px_cursor.of_owner */
    bool redirects;         /* PMIX_IOF_REDIRECT */
    bool forwards;          /* for the process that spawned the job */
    bool ends;              /* ends behind the pieces of its cursors */
    struct px_req *req;     /* the deregistration; or NULL */
    px_infos info;          /* of the deregistration */
    struct px_charge charge;
};

struct px_iof_reader *px_iof_reader_find(const struct px_server *srv,
                                         const struct px_peer *peer);
/* Finds a subscription that has not ended, by the server's number. r may be NULL. */
struct px_subscription *px_subscription_find(const struct px_iof_reader *r, size_t id);
/* Makes a subscription with this number of the server, and cursors before all retained
 * pieces that the subscription wants. PMIX_ERR_OUT_OF_RESOURCE: the peer has too
 * many. */
pmix_status_t px_subscription_make(struct px_server *srv, struct px_req *req,
                                   const struct px_args *a,
                                   const struct px_cache *cache, size_t id);
/* Starts to send, after the host has accepted. */
void px_subscription_begin(struct px_server *srv, struct px_subscription *p);
/* Ends a subscription behind the pieces of its cursors. */
void px_subscription_finish(struct px_server *srv, struct px_subscription *p);
/* Ends and frees a subscription. The host is notified later, as the host may change
 * lists that the caller walks. A server that stops does not notify its host. */
void px_subscription_end(struct px_server *srv, struct px_subscription *p);
/* Frees a subscription, or NULL. keep: its pieces stay for a later one. */
void px_subscription_free(struct px_relay *relay, struct px_subscription *p, bool keep);

#endif
