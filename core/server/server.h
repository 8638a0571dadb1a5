/* SPDX-License-Identifier: BSD-3-Clause */
/* The server role: listeners, peers, requests. Everything here is for the loop thread only. */
#ifndef PX_SERVER_SERVER_H
#define PX_SERVER_SERVER_H

#include "core/base/list.h"
#include "core/base/map.h"
#include "core/link/conn.h"
#include "core/model/nspace.h"
#include "core/link/channel.h"
#include "core/rt/process.h"
#include "core/server/host.h"
#include "core/server/part.h"
#include "pmix_server.h"

#include <stdlib.h>

struct px_hello;
struct px_ptl_peer;

#define PX_IMITATED_VERSION "4.2.9" /* what peers adapt to */

/* A client the host has announced. Lives in px_nspace.locals. */
struct px_local {
    struct px_list link;
    struct px_nspace *ns;
    pmix_rank_t rank;
    uid_t uid;
    gid_t gid;
    void *object;     /* the host's, passed back in upcalls */
    unsigned n_peers; /* connections that have neither finalized nor gone */
    bool connected;   /* the host has been told */
    bool finalized;   /* by the last of its connections */
    bool committed;   /* at least one commit has arrived */
    bool lost;        /* its last connection broke before it finalized */
    struct px_cleanup_rank *cleanup;
};

/* One connection. A rank may hold several (fork, re-init). The server's own API calls come from a
 * peer without a connection, server->self. */
struct px_peer {
    struct px_list link;
    unsigned refs;
    struct px_server *server;
    struct px_conn *conn;   /* NULL: gone, or the server itself */
    struct px_local *local; /* NULL for the server itself, and once deregistered */
    pmix_proc_t proc;
    uid_t uid;
    gid_t gid;
    pid_t pid; /* 0 unless the kernel told */
    struct px_codec codec;
    struct px_version version;
    uint32_t pindex;
    bool finalized;
    bool gone;
    bool tool;                       /* has no struct px_local */
    uint64_t inode;                  /* of the socket at its end; 0: not known */
    struct px_cleanup_proc *cleanup; /* the process that it is */
    struct px_peer_parts part;
    size_t pending_b; /* what its unanswered requests may cost */
};

/* One request of a peer. Handlers return a status, which is then the reply, or PX_DEFERRED and see
 * to it that px_req_done or px_req_reply is called exactly once later. */
struct px_req {
    struct px_peer *peer; /* referenced */
    uint32_t tag;
    uint8_t op;
    size_t weight_b;     /* its share of the peer's pending_b */
    px_reader in;        /* after the command byte; valid during the handler only */
    struct px_list link; /* free for the handler's queue */
    void *state;         /* free for the handler */
    struct px_msg msg;   /* carries the reply to a request of our own */
    px_buf reply;
};
#define PX_DEFERRED ((pmix_status_t)1)

struct px_rpc {
    uint8_t op;
    pmix_status_t (*handler)(struct px_server *srv, struct px_req *req);
};

/* Replies with a status (PMIX_OPERATION_SUCCEEDED travels as 0) and ends the request. */
void px_req_done(struct px_req *req, pmix_status_t status);
/* Ends a request that gets no answer. */
void px_req_drop(struct px_req *req);
/* Starts a reply in the peer's codec, status packed first. */
void px_reply_begin(const struct px_req *req, px_writer *w, pmix_status_t status);
/* Sends w (a packing error becomes a status reply) and ends the request. */
void px_req_reply(struct px_req *req, px_writer *w);

static inline void px_peer_ref(struct px_peer *p)
{
    p->refs++;
}

static inline void px_peer_unref(struct px_peer *p)
{
    if (p && --p->refs == 0)
        free(p);
}

/* Unsolicited frame to a peer (events); dropped if it is gone. To the server itself it goes through
 * on_own_frame. */
void px_peer_send(struct px_peer *p, uint32_t tag, px_writer *w);

struct px_session;
struct px_cleanup;

struct px_server {
    pmix_server_module_t module;        /* NULL slots where the host has none */
    const struct px_builtin_host *host; /* no module was given; else NULL */
    void *builtin;                      /* its state */
    const struct px_server_part *const *parts;
    size_t n_parts; /* created */
    struct px_server_parts part;
    struct px_session *session;
    struct px_cleanup *cleanup;
    pmix_proc_t proc; /* our own name */
    char *tmpdir, *system_tmpdir,
        *dir;      /* dir: our private one, made by us; may be NULL */
    char uri[768]; /* the one foreign clients use */
    char own_uri
        [1280]; /* for our clients: "<uri>;<faster address>", "" if there is none */
    struct px_list peers;
    uint32_t next_pindex;
    struct px_list upcalls; /* asked of the host, not answered yet */
    struct px_list dmodex;  /* requests that wait for data */
    struct px_peer *self;   /* for our own API calls */
    uint32_t last_own_tag;  /* of one of those */
    bool cleanup_left;      /* processes live that something waits for */
    bool stopping;
    unsigned refs; /* further PMIx_server_init calls */
    struct {
        uint64_t handshake_timeout, finalize_timeout, cleanup_timeout; /* ms */
        const char *report_uri; /* NULL: no report is wanted */
    } conf;
};

/* NULL before init, after finalize, and in a forked child. Any thread. */
static inline struct px_server *px_server_here(void)
{
    return px_process.server && px_process_is_mine() ? px_process.server : NULL;
}

/* ---- authority.c: who may do what to whom ---------------------------------------------------- */

/* May somebody of this user act on, or tell something to, somebody of that one? */
bool px_user_may(uid_t user, uid_t other);
/* May the peer read of the processes of that namespace, or act on them? Of one that has no
 * clients here, nor a user that the host named, only the host can tell: true. */
bool px_peer_may(const struct px_peer *peer, const char *nspace);
/* PMIX_SUCCESS, or PMIX_ERR_NO_PERMISSIONS. */
pmix_status_t px_peer_may_all(const struct px_peer *peer, const pmix_proc_t *procs,
                              size_t n);

/* The user that the connection proves, whatever was claimed; hosts decide by it. */
pmix_status_t px_infos_set_user(px_infos *infos, const struct px_peer *peer);

/* ---- peer.c ------------------------------------------------------------------------------ */

/* With its connection, in no list yet; fd stays the caller's on failure. */
struct px_peer *px_peer_create(struct px_server *srv, int fd,
                               const struct px_ptl_peer *who,
                               const struct px_hello *hello);
struct px_local *px_local_find(struct px_server *srv, const pmix_proc_t *proc);
/* First live connection of a proc; NULL. */
struct px_peer *px_peer_find(struct px_server *srv, const pmix_proc_t *proc);
/* The peer says goodbye. True if no other connection of its rank is left that takes part. */
bool px_peer_finalized(struct px_server *srv, struct px_peer *peer);
/* Connection lost or finalized and closed. why PMIX_SUCCESS: on purpose, which is not reported. */
void px_server_peer_lost(struct px_server *srv, struct px_peer *peer,
                         pmix_status_t why);

/* psets.c, attributes.c: answer of queries what is known there, and take it out of them; those left are
 * the host's. PMIX_SUCCESS, also if there was nothing to answer; PMIX_ERR_NOMEM. */
pmix_status_t px_psets_query(const struct px_server *srv, pmix_query_t *queries,
                             size_t *n, px_infos *answers);
pmix_status_t px_attributes_query(const struct px_server *srv, pmix_query_t *queries,
                                  size_t *n, px_infos *answers);

/* ---- data --------------------------------------------------------------------------------- */

/* Data of this rank has arrived. */
void px_get_data_arrived(struct px_server *srv, struct px_nspace *ns, pmix_rank_t rank);

/* rpc.c */
void px_server_dispatch(struct px_server *srv, struct px_peer *peer, uint32_t tag,
                        const uint8_t *payload, size_t n);
#endif
