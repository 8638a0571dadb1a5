/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that the host has registered, and the connections of clients and tools. Loop
 * thread only. */
#ifndef PX_SERVER_PEER_PEER_H
#define PX_SERVER_PEER_PEER_H

#include "core/base/list.h"
#include "core/base/map.h"
#include "core/model/nspace.h"
#include "core/wire/codec.h"
#include "core/wire/hello.h"
#include "core/wire/ops.h"

#include <stdlib.h>

struct px_beats;
struct px_channel;
struct px_cleanup_proc;
struct px_conn;
struct px_interests;
struct px_module;
struct px_server;
struct px_timeline;
struct px_user;

/* A client that the host has registered, or a tool that the host has admitted. Member
 * of px_nspace.locals, in the order of ranks. Small, because a host registers all ranks
 * of its node one after the other. */
struct px_local {
    struct px_list link;
    struct px_nspace *ns;
    pmix_rank_t rank;
    uid_t uid;
    gid_t gid;
    pmix_status_t commit_status; /* of the last commit */
    void *object;                /* the host's server_object, passed back in upcalls */
    unsigned n_peers : 24; /* connections that have neither finalized nor closed */
    unsigned last_op : 8;  /* command of its last request: enum px_op */
    unsigned n_tools : 24; /* tools among n_peers */
    bool of_tool : 1;      /* made for a tool, and removed after its last connection */
    bool connected : 1;    /* the host was notified of the connection */
    bool finalized : 1;    /* the last of its connections has finalized */
    bool committed : 1;    /* at least one commit has arrived */
    bool left_sets : 1; /* the processes connected with it were notified of its end */
    bool end_reported : 1; /* to fabric components: fabric/ends.c */
    bool exited : 1;       /* the built-in host has reported its end, by exit_code */
    unsigned n_collecting; /* requests of its connections in pending collectives */
    int exit_code;         /* see exited */
    /* Number of the loss: the last connection broke before the rank finalized. Or 0. */
    uint32_t lost;
    pid_t pid;                    /* as the built-in host started it; 0: not known */
    uint64_t last_ms;             /* time of its last request; 0: none so far */
    struct px_timeline *timeline; /* its record; NULL: off (timeline.h) */
};

/* One connection. A rank may have several (fork, re-init). API calls of the server's
 * process come from a peer without a connection, server->self. Requests that the host
 * makes in a client's name come from a peer with a proxy. */
struct px_peer {
    struct px_list link;
    unsigned refs;
    struct px_server *server;
    struct px_conn *conn;     /* NULL: closed, the server's own peer, or a proxy's */
    struct px_channel *proxy; /* takes replies; NULL: closed, or not a proxy's peer */
    struct px_local *local;   /* NULL: the server's own, deregistered, or a tool's with
                               * a rank that no job has */
    pmix_proc_t proc;
    const struct px_module *gds; /* the datastore component that the hello named */
    bool reads_in_place;         /* reads the tables that this component shares */
    struct px_map stores;        /* namespace -> digest of the store description sent */
    struct px_map sent;          /* process -> number of values sent: data/reply.c */
    uid_t uid;
    gid_t gid;
    struct px_user *user; /* data/memory.c */
    pid_t pid;            /* 0: not known */
    struct px_codec codec;
    struct px_version version;
    uint32_t pindex;
    bool finalized, gone;
    bool commit_failed;              /* since the last collective that replied to it */
    bool tool;                       /* connected by PMIx_tool_init */
    bool is_ours;                    /* a tool of this library */
    uint64_t refused;                /* bits of commands whose refusal was logged */
    uint64_t inode;                  /* of the peer's socket; 0: not known */
    struct px_cleanup_proc *cleanup; /* the process of the peer */
    struct px_interests *interests;  /* its event registrations; NULL: none yet */
    struct px_list gets[2]; /* those that wait, and those that are answered when the
                             * peer has read; NULL: none (data/gets.c) */
    size_t pending_b;       /* sum of its charges */
    uint64_t turn;          /* the last turn in which it had work */
    size_t n_items;         /* work in this turn: peer/turn.h */
    bool rests;             /* until the next turn */
    struct px_list late;    /* while its output waits: peer/turn.h */
    uint64_t n_beats;       /* heartbeats in messages: monitor/monitor.c */
    struct px_beats *beats; /* while heartbeats are monitored: monitor/beats.c */
    unsigned n_monitors;
};

static inline void px_peer_ref(struct px_peer *p)
{
    p->refs++;
}

static inline void px_peer_unref(struct px_peer *p)
{
    if (p && --p->refs == 0) {
        px_map_fini(&p->stores);
        px_map_fini(&p->sent);
        px_list_remove(&p->late);
        free(p);
    }
}

/* Returns the registered client of that rank, or NULL. */
struct px_local *px_local_of(const struct px_nspace *ns, pmix_rank_t rank);
/* Returns the registered client of that name, or NULL. */
struct px_local *px_local_find(struct px_server *srv, const pmix_proc_t *proc);
/* Returns the namespace of that name, or NULL. The peer's own needs no search. */
struct px_nspace *px_peer_nspace(const struct px_peer *peer, const char *name);
/* Adds a rank to its namespace, or returns the rank that is there. NULL: out of
 * memory. */
struct px_local *px_local_get(struct px_nspace *ns, pmix_rank_t rank);
/* Gives a connection to its rank, which participates from now on. */
void px_local_join(struct px_local *local, struct px_peer *peer);
/* Removes a rank. Its connections stay, without a rank. */
void px_local_free(struct px_server *srv, struct px_local *local);
/* Numbers the loss of a rank, unless it is lost already. */
void px_local_lost(struct px_server *srv, struct px_local *local);
/* Returns the registered client of the greatest rank that is not above rank, or
 * NULL. */
struct px_local *px_local_before(const struct px_nspace *ns, pmix_rank_t rank);
/* Returns the first live connection of a process, or NULL. */
struct px_peer *px_peer_find(struct px_server *srv, const pmix_proc_t *proc);

/* Ends the peer's participation after its finalize. The connection stays open. */
void px_peer_finalized(struct px_server *srv, struct px_peer *peer);
/* Closes and removes a peer. why PMIX_SUCCESS: closed on purpose, no loss is
 * reported. */
void px_server_peer_lost(struct px_server *srv, struct px_peer *peer,
                         pmix_status_t why);

#endif
