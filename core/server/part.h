/* SPDX-License-Identifier: BSD-3-Clause */
/* A server is made of parts. Each sees to one concern, keeps its own state, serves its
 * requests, and is notified through its table of what happens to peers, ranks and
 * namespaces. A new capability is a table, a line in parts.c, and a line here if it
 * keeps state. Loop thread only. */
#ifndef PX_SERVER_PART_H
#define PX_SERVER_PART_H

#include "core/base/err.h"
#include "core/base/list.h"
#include "core/types/type.h"

struct px_server;
struct px_peer;
struct px_local;
struct px_nspace;
struct px_rpc;

/* State of the parts for the server; each structure is known to its part alone. */
struct px_server_parts {
    struct px_cleanup *cleanup;
    struct px_collect *collect;
    struct px_connected *connected;
    struct px_door *door;
    struct px_fabrics *fabrics;
    struct px_relay *relay;
    struct px_joints *joints;
    struct px_launch_envs *launch_envs;
    struct px_memory *memory;
    struct px_plog *plog;
    struct px_session *session;
    struct px_values *values;
    /* of one part each, which needs no more */
    struct px_list attributes, cached_events, gathers, psets, waiting_gets;
    size_t n_cached_events, cached_events_b;
};

struct px_server_start {
    const pmix_info_t *info; /* of PMIx_server_init */
    size_t n_info;
    struct px_err *err;
};

/* Answers to the queries of one request. Those that have no room in a reply need not be
 * made: else a few bytes that repeat the same key would cost gigabytes. */
struct px_answers {
    px_infos *infos;
    size_t left_b;
};
/* Adds one, whose data take cost_b. PMIX_ERR_OUT_OF_RESOURCE: no room is left;
 * PMIX_ERR_NOMEM. */
pmix_status_t px_answer(struct px_answers *a, const char *key, const void *data,
                        pmix_data_type_t type, size_t cost_b);

/* A key of a query; the last row is zero. */
struct px_query_key {
    const char *key;
    /* PMIX_ERR_NOT_FOUND: the host may know; any other error ends the request. */
    pmix_status_t (*answer)(struct px_server *srv, const pmix_query_t *q,
                            struct px_answers *a);
};

/* All members but the name may be absent. */
struct px_server_part {
    const char *name;
    const struct px_rpc *rpcs; /* the requests it serves; the last row is zero */
    const struct px_query_key *query_keys; /* and what it answers of queries */
    /* The same for what is not asked by keys alone: takes out of queries, *n of them,
     * what it answers. PMIX_SUCCESS, also if there was nothing to answer. */
    pmix_status_t (*query)(struct px_server *srv, pmix_query_t *queries, size_t *n,
                           px_infos *answers);

    /* The state in struct px_server_parts: allocated, zeroed, before create; freed
     * after destroy. */
    size_t state_at, state_b;
    /* Fails with a line in err or a status alone; neither stop nor destroy follow. */
    pmix_status_t (*create)(struct px_server *srv, const struct px_server_start *start);
    /* The server ends, or its start failed after create. */
    void (*stop)(struct px_server *srv);
    void (*destroy)(struct px_server *srv);

    /* A connection was accepted, and is listed. */
    void (*peer_here)(struct px_server *srv, struct px_peer *peer);
    /* It takes no part any more: it finalized, or is about to be gone. May come
     * twice. */
    void (*peer_left)(struct px_server *srv, struct px_peer *peer);
    /* It has read most of what was sent to it: see px_conn_is_held. */
    void (*peer_room)(struct px_server *srv, struct px_peer *peer);
    /* It is closed, and listed no more. */
    void (*peer_gone)(struct px_server *srv, struct px_peer *peer);
    /* No connection of the rank takes part any more, or none will: it finalized, was
     * lost, ended, or is about to be deregistered. */
    void (*rank_gone)(struct px_server *srv, const pmix_proc_t *proc);
    /* Its last connection broke before it finalized; after all of the above. */
    void (*rank_lost)(struct px_server *srv, const pmix_proc_t *proc);
    /* The process has ended, says the host: by deregistering it, or, if it is the
     * built-in one, as it saw it. */
    void (*proc_ended)(struct px_server *srv, const pmix_proc_t *proc);
    /* The rank is being deregistered; its connections are closed. */
    void (*local_gone)(struct px_server *srv, struct px_local *local);
    /* The host brings an event. */
    void (*host_event)(struct px_server *srv, pmix_status_t code,
                       const pmix_info_t *info, size_t n);
    /* The namespace is being deregistered; ns is NULL if it is not known. Its
     * connections are closed afterwards. */
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

/* In order, NULL at the end. */
extern const struct px_server_part *const px_server_parts[];

#endif
