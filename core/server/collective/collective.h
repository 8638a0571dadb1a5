/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives: fence, connect, disconnect, groups. on_collect.c is the engine that runs
 * every kind. The kinds are rows of a table in kinds.c. */
#ifndef PX_SERVER_COLLECTIVE_COLLECTIVE_H
#define PX_SERVER_COLLECTIVE_COLLECTIVE_H

#include "core/base/list.h"
#include "core/server/data/memory.h"
#include "core/server/nspaces/nspaces.h"
#include "core/server/peer/req.h"
#include "core/server/peer/rpc.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"

#include <stdlib.h>

struct px_local;
struct px_timer;

/* ---- members.c: sets of processes ------------------------------------------------ */

/* The canonical form of a set on this node: sorted, without duplicates, all ranks of a
 * job as PMIX_RANK_WILDCARD. Tools are named one by one. */
typedef struct px_members {
    pmix_proc_t *v;
    size_t n;
} px_members;

static inline void px_members_cleanup(px_members *m)
{
    free(m->v);
}

/* Makes the set of a request's processes. The request's array becomes the one for the
 * host: the same set for processes of one job, else only sorted, because not every
 * server knows the sizes of all jobs. PMIX_ERR_NOT_FOUND: a namespace or a rank is
 * unknown; PMIX_ERR_NOMEM. */
pmix_status_t px_members_settle(struct px_server *srv, struct px_args *a,
                                struct px_members *set);
/* Makes the set of one process, which keeps its rank even as the only process of its
 * job. Returns PMIX_ERR_NOMEM if out of memory. */
pmix_status_t px_members_single(const pmix_proc_t *proc, struct px_members *set);
/* Brings processes of known jobs into the canonical form in place. */
void px_members_sort(const struct px_server *srv, pmix_proc_t *v, size_t *n);
/* Returns the index of the next namespace among sorted processes, or n. */
size_t px_next_nspace(const pmix_proc_t *procs, size_t n, size_t i);
/* Orders two pmix_proc_t as the canonical form, for qsort. */
int px_members_order(const void *a, const void *b);
/* Compares two sets in the canonical form. */
bool px_members_same(const pmix_proc_t *a, size_t n_a, const pmix_proc_t *b,
                     size_t n_b);

/* ---- kinds.c --------------------------------------------------------------------- */

struct px_collective;

/* The collective that a request names, and directives for its start. */
typedef struct px_collective_key {
    const struct px_collective_kind *kind;
    pmix_nspace_t label; /* id of a connect, name of a namespace or group, or "" */
    px_members set;
    bool forgives;      /* participants may leave without failing the collective */
    bool notifies_each; /* PMIX_CONNECT_NOTIFY_EACH of the request */
    bool asks_others;   /* PMIX_CONNECT_NOTIFY_REQ of the request */
    uid_t user;         /* of the sender */
    bool open;          /* of a group: later requests may name more participants */
    bool follows;       /* of a group: the sender names no process */
    uint32_t n_leaders; /* PMIX_GROUP_BOOTSTRAP of the request; or 0 */
} px_collective_key;

static inline void px_collective_key_cleanup(px_collective_key *key)
{
    px_members_cleanup(&key->set);
}

/* A kind of collective. Hooks may be NULL, except call_host and settle. */
struct px_collective_kind {
    const struct px_request *request; /* command and fields; kinds may share one */
    /* Fields in requests of clients before 4.2.4; NULL: the same. */
    const struct px_request *old_request;
    const char *name;     /* "fence", for the log */
    const char *function; /* "PMIx_Fence", for errors about attributes */
    bool single;          /* the sender is the only participant */
    bool makes;           /* success makes a namespace */
    bool pipelined; /* a process may join the next one before the host has answered */
    bool local;     /* needs no host if all participants are on this node */
    bool wakes;     /* clients that sleep on a shared word need no reply (adr/0023) */

    /* True if the request is of this kind; NULL accepts every request. */
    bool (*matches)(const struct px_server *srv, const struct px_args *a);
    /* Completes the key, and may change the arguments. */
    pmix_status_t (*prepare)(struct px_server *srv, const struct px_req *req,
                             struct px_args *a, px_collective_key *key);
    /* Returns an error for a request that the built-in host rejects. */
    pmix_status_t (*admit)(const struct px_server *srv, const px_collective_key *key);
    /* True if a request with the same label belongs to the collective. NULL: if it
     * names the same participants, or the kind has a renew hook. */
    bool (*same)(const struct px_collective *c, const px_collective_key *key);
    /* Adds what a request brings, before its process joins. An error refuses it. */
    pmix_status_t (*contribute)(struct px_collective *c, const struct px_req *req,
                                const struct px_args *a, px_collective_key *key);
    /* Runs after a process has joined. first: no other process has joined before. */
    void (*joined)(struct px_collective *c, const px_collective_key *key,
                   const pmix_proc_t *proc, bool first);
    /* True if the collective cannot be complete: participants are still unknown. */
    bool (*awaits_more)(const struct px_collective *c);
    /* True if the collective goes on without the participants that missed the
     * deadline. */
    bool (*goes_on)(const struct px_collective *c);
    /* True if the host is called also for participants of this node alone. */
    bool (*wants_host)(const struct px_collective *c);
    /* Updates the participants after processes have left. NULL: the participants are
     * fixed, and identify the collective together with the label. */
    void (*renew)(struct px_collective *c);
    /* Handles the loss of a participant, and returns the status for the others, which
     * wait no longer. NULL: the collective waits for the others first. */
    pmix_status_t (*lost)(struct px_collective *c);
    /* Adds attributes for the host. */
    pmix_status_t (*describe)(const struct px_collective *c, px_infos *infos);
    /* Packs data for the host. */
    pmix_status_t (*pack)(const struct px_collective *c, px_buf *data);
    /* Calls the function of the host; returns its status. */
    pmix_status_t (*call_host)(const struct px_collective *c, struct px_upcall *u);
    /* Applies the host's answer on this node, and returns the final status. status is
     * the host's, or the error that replaces PMIX_ERR_NOT_SUPPORTED. answer NULL: the
     * host was not called. */
    pmix_status_t (*settle)(struct px_collective *c, pmix_status_t status,
                            const struct px_upcall *answer);
    /* True if a number, for example PMIX_GROUP_CONTEXT_ID, is all that a client which
     * sleeps on a shared word needs. NULL: success alone is. */
    bool (*number)(const struct px_collective *c, uint64_t *number);
    /* Adds to the reply of a successful or partly successful collective. */
    void (*pack_reply)(const struct px_collective *c, struct px_peer *to, px_writer *w);
};

/* Kinds with the same command are neighbours. The last of these has no matches hook.
 * The last row is NULL. */
extern const struct px_collective_kind *const px_collective_kinds[];
/* Rows for px_server_part, one for each command. */
extern const struct px_rpc px_collective_rpcs[];

/* ---- on_collect.c ---------------------------------------------------------------- */

/* A collective in progress on this node. */
struct px_collective {
    struct px_list node;
    struct px_server *server;
    const struct px_collective_kind *kind;
    pmix_nspace_t label; /* see px_collective_key */
    pmix_proc_t *procs;  /* participants, in the canonical form */
    size_t n_procs;
    pmix_proc_t *host_procs; /* participants for the host; owned by the upcall later */
    size_t n_host_procs;
    px_infos infos;  /* of the first request, or of the first that needs the host */
    bool needs_host; /* required: an algorithm, or an attribute not known here */
    bool collect;
    struct px_list reqs; /* px_req.link: participants that wait, as they came */
    uint64_t number;     /* in timelines; 0: not recorded */
    size_t n_awaited;    /* arrivals before the next count can find all participants */
    struct px_timer *timer; /* NULL: no request has a deadline */
    uint64_t deadline_ms;
    uint32_t limit_s;     /* PMIX_TIMEOUT of the request with that deadline */
    bool handed_over;     /* the host has been called; no process may join */
    bool held;            /* the host has not answered */
    bool failed;          /* a participant is lost; later participants are refused */
    pmix_proc_t *refused; /* participants that have their share of the failure */
    size_t n_refused, cap_refused;
    bool lost_some;               /* a participant left, or will not arrive */
    bool forgives;                /* lost participants do not count */
    uid_t user;                   /* of the first participant */
    struct px_forming *forming;   /* of the construction of a group; or NULL */
    struct px_charge charge;      /* for memory that outlives the requests */
    bool requested;               /* the other participants were asked to connect */
    const struct px_nspace *made; /* namespace that a connect has made; or NULL */
};

/* Serves a request of every kind. */
pmix_status_t px_collective_request(struct px_server *srv, struct px_req *req);
/* Checks all collectives in the next pass of the loop, because ranks have left. */
void px_collectives_check_later(struct px_server *srv);
bool px_collective_has_flag(const struct px_collective *c, const char *key);

/* ---- members.c: participants of a collective ------------------------------------- */

/* Counts of local participants. */
struct px_census {
    const struct px_collective *c;
    size_t n_locals, n_away; /* all; those that finalized or died */
    size_t missing;          /* still awaited */
    size_t n_absent;         /* registered participants among the missing ones */
    bool lost_some;
};
struct px_census px_collective_count(const struct px_collective *c);
/* True if all participants are on this node. */
bool px_collective_is_here(const struct px_collective *c);
/* True if this server knows each namespace. */
bool px_collective_knows_all(const struct px_collective *c);
/* True if the process waits in the collective. A refused process does not. */
bool px_collective_takes_part(const struct px_collective *c, const pmix_proc_t *proc);
/* True if the process waits in the collective, or was refused. local: the registration
 * of the process, or NULL. */
bool px_collective_has_come(const struct px_collective *c, const struct px_local *local,
                            const pmix_proc_t *proc);
bool px_collective_has_local(const struct px_collective *c,
                             const struct px_local *local);

/* Sets a collective to failed for all participants that have arrived or left. The
 * collective stays until the other participants of this node were refused. Returns
 * PMIX_ERR_NOMEM if out of memory. */
pmix_status_t px_collective_fail(struct px_collective *c);
pmix_status_t px_collective_refuse(struct px_collective *c, const pmix_proc_t *proc);

/* Logs "cannot fence: a.1, a.2 HOW" with the local participants that can no longer
 * arrive. */
void px_collective_log_away(const struct px_collective *c, const char *how);
/* Logs the missing local participants, with pid and last request, at the deadline. */
void px_collective_log_timeout(const struct px_collective *c);

/* Calls fn once for each registered local rank among the participants. */
typedef void (*px_local_fn)(void *arg, struct px_local *local);
void px_collective_locals(const struct px_collective *c, px_local_fn fn, void *arg);

/* ---- groups.c, forming.c --------------------------------------------------------- */

/* Kinds of collectives that make and end groups. */
extern const struct px_collective_kind px_group_alone_kind, px_group_construct_kind,
    px_group_destruct_kind;
void px_forming_free(struct px_forming *f); /* NULL is fine */
/* Removes the processes that have left the namespace of the label from the
 * participants. */
void px_collective_renew(struct px_collective *c);
/* True if the host leaves a collective of this node to the server. */
bool px_collective_is_left_to_us(const struct px_collective *c, pmix_status_t status);
/* Adds the information of the jobs of the participants, if there are several. */
void px_collective_pack_jobs(const struct px_collective *c, struct px_peer *to,
                             px_writer *w);

/* ---- connected.c ----------------------------------------------------------------- */

/* Stores the set of a successful connect. ours: no host handles the loss of a member.
 * PMIX_ERR_OUT_OF_RESOURCE: a job has too many sets; PMIX_ERR_NOMEM. */
pmix_status_t px_connected_add(const struct px_collective *c, bool ours);
/* Removes the set after a successful disconnect, and sets of spawns within that set.
 * broken: a member was lost; the set stays, and later losses are not reported.
 * PMIX_ERR_INVALID_OPERATION: the processes were not connected. */
pmix_status_t px_connected_drop(const struct px_collective *c, bool broken);
bool px_connected_has(const struct px_server *srv, const px_members *set,
                      const char *id);

/* ---- data/modex.c ---------------------------------------------------------------- */

/* Packs the data of the local participants, which the host carries to other nodes: one
 * BYTE_OBJECT per server. */
pmix_status_t px_modex_pack(const struct px_collective *c, px_buf *out);
/* Stores the data of all servers. */
pmix_status_t px_modex_unpack(const struct px_collective *c, const px_buf *in);

#endif
