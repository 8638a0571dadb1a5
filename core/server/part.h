/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of a server. Each part handles one concern, keeps its own state, and serves its
 * requests. It has hooks for what happens to peers, ranks and namespaces. A new part
 * needs a table, a line in parts.c, and a line here if it keeps state. Loop thread
 * only. */
#ifndef PX_SERVER_PART_H
#define PX_SERVER_PART_H

#include "core/base/err.h"
#include "core/base/list.h"
#include "core/types/type.h"

struct px_server;
struct px_peer;
struct px_local;
struct px_nspace;
struct px_req;
struct px_query_key;
struct px_rpc;

/* States of the parts. Each structure is private to its part. */
struct px_server_parts {
    struct px_cleanup *cleanup;
    struct px_collect *collect;
    struct px_control *control;
    struct px_credentials *credentials;
    struct px_door *door;
    struct px_fabrics *fabrics;
    struct px_gets *gets;
    struct px_relay *relay;
    struct px_launch_envs *launch_envs;
    struct px_memory *memory;
    struct px_monitors *monitors;
    struct px_plog *plog;
    struct px_probes *probes;
    struct px_queries *queries;
    struct px_session *session;
    struct px_turns *turns;
    struct px_values *values;
    /* lists of one part each, which needs no structure */
    struct px_list attributes, cached_events, commits, connected, deliveries, gathers,
        generations, invites, joined, psets, readings;
    size_t n_cached_events, cached_events_b;
    uint64_t n_timed;      /* collectives in records of times */
    uint64_t next_event;   /* number of the next event */
    uint64_t last_context; /* context id of the last group that has one */
    struct px_timer *events_timer, *deliveries_timer;
};

struct px_server_start {
    const pmix_info_t *info; /* the infos of PMIx_server_init */
    size_t n_info;
    struct px_err *err;
};

/* The table of a part. All members but the name may be absent. */
struct px_server_part {
    const char *name;
    const struct px_rpc *rpcs; /* the requests it serves; the last row is zero */
    const struct px_query_key *query_keys; /* the keys it answers (query/answers.h) */
    /* Answers queries that keys alone do not describe, and removes them from queries,
     * *n of them. PMIX_SUCCESS, also without such a query. */
    pmix_status_t (*query)(struct px_server *srv, pmix_query_t *queries, size_t *n,
                           px_infos *answers);

    /* Offset of the pointer to the part's state in struct px_server_parts, and bytes of
     * the state. The server zeroes all states before the first create. */
    size_t state_at, state_b;
    /* Starts the part. Fails with a line in err, or with a status alone; then neither
     * stop nor destroy is called. */
    pmix_status_t (*create)(struct px_server *srv, const struct px_server_start *start);
    /* Stops the part: the server ends, or its start failed after create. */
    void (*stop)(struct px_server *srv);
    void (*destroy)(struct px_server *srv);

    /* Adds sections to an answer about the server (section.h). */
    pmix_status_t (*report)(struct px_server *srv, px_infos *sections);

    /* A connection was accepted and listed. */
    void (*peer_here)(struct px_server *srv, struct px_peer *peer);
    /* A peer does not participate any more: it finalized, or is about to be closed. May
     * be called twice. */
    void (*peer_left)(struct px_server *srv, struct px_peer *peer);
    /* A peer has read most of what was sent to it: see px_conn_is_full. */
    void (*peer_room)(struct px_server *srv, struct px_peer *peer);
    /* A peer that has used up its share of a turn has a new one: see px_work. */
    void (*peer_turn)(struct px_server *srv, struct px_peer *peer);
    /* A peer is closed, and not listed any more. */
    void (*peer_gone)(struct px_server *srv, struct px_peer *peer);
    /* No connection of the rank participates any more, or will: it finalized, was lost,
     * ended, or is about to be deregistered. */
    void (*rank_gone)(struct px_server *srv, const pmix_proc_t *proc);
    /* The rank's last connection broke before it finalized; called after the hooks
     * above. */
    void (*rank_lost)(struct px_server *srv, const pmix_proc_t *proc);
    /* The process has ended: the host deregistered it, or the built-in host noticed its
     * end. */
    void (*proc_ended)(struct px_server *srv, const pmix_proc_t *proc);
    /* The rank is being deregistered; its connections are closed. */
    void (*local_gone)(struct px_server *srv, struct px_local *local);
    /* A peer sends an event to others. */
    void (*peer_event)(struct px_server *srv, struct px_peer *peer, pmix_status_t code,
                       const px_infos *infos);
    /* The host has sent an event: its own, or of a process on another node. The server
     * of that node vouches for the source. */
    void (*host_event)(struct px_server *srv, pmix_status_t code,
                       const pmix_proc_t *source, const px_infos *infos);
    /* The namespace is being deregistered, or its last tool has left (see
     * px_nspace_is_tools). ns is NULL if the namespace is unknown. Its connections are
     * closed afterwards. */
    void (*nspace_gone)(struct px_server *srv, const char *nspace,
                        struct px_nspace *ns);
};

#define PX_PART_STATE(member, type) \
    .state_at = offsetof(struct px_server_parts, member), .state_b = sizeof(type)

/* Calls a hook of each part that has it, in the order of parts.c. */
#define PX_PARTS_NOTIFY(srv, hook, ...)                                             \
    for (const struct px_server_part *const *part_ = (srv)->parts; *part_; part_++) \
        if ((*part_)->hook)                                                         \
    (*part_)->hook(srv, ##__VA_ARGS__)

/* All parts in order, with NULL at the end. */
extern const struct px_server_part *const px_server_parts[];

/* ---- rows of all parts (rows.c) -------------------------------------------------- */

/* Sorts the rows of all parts for the functions below. Returns PMIX_ERR_NOMEM. */
pmix_status_t px_part_rows_make(struct px_server *srv);
/* Returns the row of a command; NULL: no part serves the command. */
const struct px_rpc *px_part_rpc(const struct px_server *srv, uint8_t op);
/* Returns the rows of a query key, *n of them, in the order of the parts. */
const struct px_query_key *const *px_part_keys(const struct px_server *srv,
                                               const char *key, size_t *n);

#endif
