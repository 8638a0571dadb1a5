/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarded output and input in a server: the interfaces of this room's files. */
#ifndef PX_SERVER_IOF_H
#define PX_SERVER_IOF_H

#include "core/base/list.h"
#include "core/iof/receivers/receivers.h"
#include "core/link/api.h"
#include "core/server/iof/backlog.h"
#include "core/server/upcall/server_forward.h"
#include "core/server/upcall/upcall.h"

struct px_peer;
struct px_req;
struct px_server;

struct px_relay {
    struct px_server *server;
    struct px_backlogs backlogs;
    struct px_list readers; /* subscriptions.c: peers that have asked for output */
    struct px_list drains;  /* drain.c */
    size_t last_pull;
    struct px_list ready; /* deliver.c: deliveries that have room now */
    struct px_msg go_on;
    bool goes_on;
    struct px_list queues; /* on_push.c: input for the host */
    struct px_list paused; /* on_push.c: processes that may not push */
    bool all_paused;
    struct px_iof_producer own; /* brings output to the receivers of this process */
};

/* ---- on_pull.c ------------------------------------------------------------------- */

/* Handlers of requests. */
pmix_status_t px_pull_request(struct px_server *srv, struct px_req *req);
pmix_status_t px_dereg_request(struct px_server *srv, struct px_req *req);
/* Hook of the part. */
void px_pulls_peer_left(struct px_server *srv, struct px_peer *peer);
/* Ends the forwarding of a job's output to the process that spawned the job. */
void px_pulls_nspace_gone(struct px_server *srv, const char *nspace);

/* ---- subscriptions.c ------------------------------------------------------------- */

/* Returns true if a subscription wants this output; px_pulls_give may follow.
 * forwarded: considers the process that spawned the source alone, else all others. */
bool px_pulls_want(struct px_server *srv, const pmix_proc_t *source,
                   pmix_iof_channel_t channels, bool forwarded);
/* Sends output to all that px_pulls_want has found, or adds the output to the backlog
 * for those that are behind. Takes the infos. PMIX_ERR_PARTIAL_SUCCESS: bytes were
 * dropped for a subscription that allows a drop. Other errors: the first subscription
 * that failed; all others have the output. */
pmix_status_t px_pulls_give(struct px_server *srv, const pmix_proc_t *source,
                            pmix_iof_channel_t channel, struct px_payload *bytes,
                            px_infos *info);

/* Hook of the part: sends to a peer that is behind and has read. */
void px_pulls_peer_room(struct px_server *srv, struct px_peer *peer);
/* Returns the bytes on their way to all readers. */
size_t px_pulls_left(const struct px_relay *relay);
/* Returns the bytes on their way to a peer that ends its subscriptions; 0 if no
 * subscription is left. */
size_t px_pulls_owed(const struct px_server *srv, const struct px_peer *peer);

/* ---- drain.c --------------------------------------------------------------------- */

/* Calls done, perhaps within, when the output has been sent, or nothing was sent for
 * iof_drain_timeout. peer: output for that peer, which ends its subscriptions; NULL:
 * all output. */
void px_relay_drain(struct px_server *srv, const struct px_peer *peer,
                    void (*done)(void *arg), void *arg);
/* Ends every px_relay_drain, as the server stops. */
void px_drains_stop(struct px_relay *relay);

/* ---- deliver.c ------------------------------------------------------------------- */

/* Completes the deliveries that find room in a backlog now; px_backlog_settle may
 * follow. */
void px_deliveries_wake(struct px_relay *relay, struct px_backlog *backlog);
void px_deliveries_stop(struct px_relay *relay);

/* ---- on_push.c ------------------------------------------------------------------- */

extern const struct px_forward px_push_forward;
/* Hooks of the part. */
void px_pushes_peer_left(struct px_server *srv, const struct px_peer *peer);
void px_pushes_nspace_gone(struct px_server *srv, const char *nspace);
void px_push_cleanup(struct px_relay *relay);

#endif
