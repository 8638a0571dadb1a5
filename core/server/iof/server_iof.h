/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarded output and input in a server: what its files have of each other. */
#ifndef PX_SERVER_IOF_SERVER_IOF_H
#define PX_SERVER_IOF_SERVER_IOF_H

#include "core/server/iof/log.h"
#include "core/server/upcall.h"

struct px_relay {
    struct px_logs logs;
    struct px_list readers; /* on_pull.c: peers that have asked for output */
    struct px_list drains;  /* drain.c */
    size_t last_pull;
    struct px_list ready; /* wait.c: deliveries that need wait no longer */
    struct px_msg go_on;
    bool goes_on;
    struct px_list queues; /* on_push.c: input for the host */
    struct px_list paused; /* those who push it */
    bool all_paused;
};

/* ---- on_pull.c ------------------------------------------------------------------- */

/* Handlers. */
pmix_status_t px_pull_request(struct px_server *srv, struct px_req *req);
pmix_status_t px_dereg_request(struct px_server *srv, struct px_req *req);
/* Hooks of the part. */
void px_pulls_peer_left(struct px_server *srv, struct px_peer *peer);
void px_pulls_peer_room(struct px_server *srv, struct px_peer *peer);
/* Output of a job for the process that spawned it ends. */
void px_pulls_nspace_gone(struct px_server *srv, const char *nspace);
/* Returns true if a pull wants what this process writes there; then px_pulls_give may
 * follow.
 * forwarded: asks for the spawner of the process alone, else for all others. */
bool px_pulls_want(struct px_server *srv, const pmix_proc_t *source,
                   pmix_iof_channel_t channels, bool forwarded);
/* Gives it to those: sends it, or puts it into a log for those that are behind.
 * PMIX_ERR_PARTIAL_SUCCESS if one of them has asked to have something dropped, and that
 * was done; else why one could not be served, all others were. Takes the infos. */
pmix_status_t px_pulls_give(struct px_server *srv, const pmix_proc_t *source,
                            pmix_iof_channel_t channel, struct px_payload *bytes,
                            px_infos *info);

/* Returns the bytes that are on their way to those who have asked for them. */
size_t px_pulls_left(const struct px_relay *relay);
/* Returns the same of one peer that ends its requests; 0: none of them is left. */
size_t px_pulls_owed(const struct px_server *srv, const struct px_peer *peer);

/* ---- drain.c --------------------------------------------------------------------- */

/* Calls done, perhaps within, when all of that has been sent, or none of it for a
 * while. peer: that one's alone, which ends its requests; NULL: everything. */
void px_relay_drain(struct px_server *srv, const struct px_peer *peer,
                    void (*done)(void *arg), void *arg);
/* Ends all waiting of px_relay_drain: the server stops. */
void px_drains_stop(struct px_relay *relay);

/* ---- wait.c ---------------------------------------------------------------------- */

/* Output that the host brings. */
struct px_delivery {
    struct px_api api;
    struct px_list link; /* in px_log.waiting, px_relay.ready */
    unsigned stream;
    pmix_status_t status;
};

/* There may be room in the log; px_log_settle may follow. */
void px_deliveries_look(struct px_relay *relay, struct px_log *log);
void px_deliveries_stop(struct px_relay *relay);

/* ---- on_push.c ------------------------------------------------------------------- */

extern const struct px_forward px_push_forward;
/* Hooks of the part. */
void px_pushes_peer_left(struct px_server *srv, const struct px_peer *peer);
void px_pushes_nspace_gone(struct px_server *srv, const char *nspace);
void px_push_cleanup(struct px_relay *relay);

#endif
