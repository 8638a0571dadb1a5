/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that the host has announced, and the connections of clients and tools. Loop
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

struct px_cleanup_proc;
struct px_conn;
struct px_module;
struct px_server;
struct px_user;

/* A client the host has announced. Lives in px_nspace.locals, in the order of ranks. */
struct px_local {
    struct px_list link;
    struct px_nspace *ns;
    pmix_rank_t rank;
    uid_t uid;
    gid_t gid;
    void *object;     /* the host's, passed back in upcalls */
    unsigned n_peers; /* connections that have neither finalized nor gone */
    unsigned n_meets; /* their requests that wait in collectives */
    bool connected;   /* the host was notified */
    bool finalized;   /* by the last of its connections */
    bool committed;   /* at least one commit has arrived */
    bool lost;        /* its last connection broke before it finalized */
    bool left_sets;   /* the processes it is connected with were notified of its end */
    bool is_told;     /* fabric components were notified of its end: fabric/ends.c */
};

/* One connection. A rank may hold several (fork, re-init). The server's own API calls
 * come from a peer without a connection, server->self. */
struct px_peer {
    struct px_list link;
    unsigned refs;
    struct px_server *server;
    struct px_conn *conn;   /* NULL: gone, or the server itself */
    struct px_local *local; /* NULL for the server itself, and once deregistered */
    pmix_proc_t proc;
    const struct px_module *gds; /* the datastore component it has named */
    bool reads_in_place;         /* what that component shares */
    struct px_map stores;        /* namespace -> digest of the store it was sent */
    struct px_map told;          /* process -> values it was sent: data/reply.c */
    uid_t uid;
    gid_t gid;
    struct px_user *user; /* data/memory.c */
    pid_t pid;            /* 0: the kernel does not say */
    struct px_codec codec;
    struct px_version version;
    uint32_t pindex;
    bool finalized, gone;
    bool commit_failed; /* since the last collective that has answered it */
    bool tool;          /* has no struct px_local */
    uint64_t refused;   /* commands whose refusal the log has */
    uint64_t inode;     /* of the socket at its end; 0: not known */
    struct px_cleanup_proc *cleanup; /* the process that it is */
    struct px_list interests; /* events it has registered for: event/on_event.c */
    size_t pending_b;         /* of its charges */
};

static inline void px_peer_ref(struct px_peer *p)
{
    p->refs++;
}

static inline void px_peer_unref(struct px_peer *p)
{
    if (p && --p->refs == 0) {
        px_map_fini(&p->stores);
        px_map_fini(&p->told);
        free(p);
    }
}

/* Returns the registered client of that name; NULL: there is none. */
struct px_local *px_local_find(struct px_server *srv, const pmix_proc_t *proc);
/* Returns the registered client of the greatest rank that is not above this one; NULL:
 * there is none. */
struct px_local *px_local_before(const struct px_nspace *ns, pmix_rank_t rank);
/* Returns the first live connection of a process; NULL: there is none. */
struct px_peer *px_peer_find(struct px_server *srv, const pmix_proc_t *proc);

/* Ends the peer's part in everything after its finalize; the connection stays. */
void px_peer_finalized(struct px_server *srv, struct px_peer *peer);
/* Removes a peer whose connection is lost, or is closed here. why PMIX_SUCCESS: on
 * purpose, so that no loss is reported. */
void px_server_peer_lost(struct px_server *srv, struct px_peer *peer,
                         pmix_status_t why);

#endif
