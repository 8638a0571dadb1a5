/* SPDX-License-Identifier: BSD-3-Clause */
/* A collective in progress on this node: its participants, those that have arrived,
 * their data. */
#ifndef PX_SERVER_COLLECTIVE_COLLECTIVE_H
#define PX_SERVER_COLLECTIVE_COLLECTIVE_H

#include "core/server/nspaces/nspaces.h"

enum px_collective_kind {
    PX_OF_SET,    /* a set of processes, and the id of a connect, if it has one */
    PX_MAKES,     /* the same: a connect that makes a namespace */
    PX_OF_NSPACE, /* such a namespace: a fence of all in it, or one that leaves it */
};

struct px_collective {
    struct px_list link;
    struct px_server *server;
    uint8_t op;
    uint8_t kind;        /* enum px_collective_kind */
    pmix_nspace_t label; /* id of a connect, name of a namespace, or "" */
    pmix_proc_t *procs;  /* settled */
    size_t n_procs;
    pmix_proc_t *told; /* what the host gets; the upcall's once handed over */
    size_t n_told;
    px_infos infos;  /* of the first to come, or the first that wants an algorithm */
    bool needs_host; /* required: an algorithm, or an attribute not known here */
    bool collect;
    struct px_list reqs; /* px_req.link: participants that wait */
    size_t n_awaited; /* so many must come at least before it is worth while to count */
    struct px_timer *timer; /* NULL: none has a deadline */
    uint64_t deadline_ms;
    bool handed_over;     /* the host has it now; no more may join */
    bool held;            /* the host has not answered yet */
    bool failed;          /* a participant is lost: those that come are refused */
    pmix_proc_t *refused; /* participants for which a failed collective is over */
    size_t n_refused, cap_refused;
    bool lost_some; /* a participant that had come, or was to come, will not be back */
    bool forgives;  /* that does not matter */
    struct px_charge charge; /* of those of its requests that it keeps something of */
    bool requested;          /* the others have been asked to come */
    const struct px_nspace *made; /* by PX_MAKES, in the end */
};

/* ---- members.c ------------------------------------------------------------------- */

/* The one form that a set has on this node, however it is named: sorted, each once, all
 * ranks of a job as PMIX_RANK_WILDCARD. */
typedef struct px_members {
    pmix_proc_t *v;
    size_t n;
} px_members;

static inline void px_members_cleanup(px_members *m)
{
    free(m->v);
}

/* Of the processes of a request, which become what a host may be told: the same if they
 * are of one job; else only sorted, as not every server knows how many ranks there are
 * of each. PMIX_ERR_NOT_FOUND: a namespace or a rank is unknown; PMIX_ERR_NOMEM. */
pmix_status_t px_members_settle(const struct px_server *srv, struct px_args *a,
                                struct px_members *set);
/* Makes the set of one process, which keeps its rank even as the only process of its
 * job. PMIX_ERR_NOMEM. */
pmix_status_t px_members_single(const pmix_proc_t *proc, struct px_members *set);
/* Settles processes of known jobs in place. */
void px_members_sort(pmix_proc_t *v, size_t *n);
/* Of two settled ones. */
bool px_members_same(const pmix_proc_t *a, size_t n_a, const pmix_proc_t *b,
                     size_t n_b);

/* Local participants: all, those that will not come any more, those still awaited. */
struct px_census {
    const struct px_collective *c;
    size_t n_locals, n_away;
    size_t missing;  /* still awaited */
    size_t n_absent; /* of these, those that are registered */
    bool lost_some;
};
struct px_census px_collective_count(const struct px_collective *c);
/* Is it a matter of this node alone? */
bool px_collective_is_here(const struct px_collective *c);
/* Has this server heard of each namespace? */
bool px_collective_knows_all(const struct px_collective *c);
/* local: where proc is registered, or NULL. */
bool px_collective_has_come(const struct px_collective *c, const struct px_local *local,
                            const pmix_proc_t *proc);
bool px_collective_has_local(const struct px_collective *c,
                             const struct px_local *local);

/* Fails a collective for all that have come and all that are gone. The collective stays
 * until the others of this node have come and were refused. PMIX_ERR_NOMEM. */
pmix_status_t px_collective_fail(struct px_collective *c);
pmix_status_t px_collective_refuse(struct px_collective *c, const pmix_proc_t *proc);

/* Local participants that have not come, or of those the ones that never will: the
 * first of them, and how many more. */
#define PX_NAMES 8
struct px_names {
    char text[PX_NAMES * (PMIX_MAX_NSLEN + 16) + 32];
};
struct px_names px_collective_missing(const struct px_collective *c, bool away);

/* Calls fn for each registered local rank that procs name, each once. */
typedef void (*px_local_fn)(void *arg, struct px_local *local);
void px_collective_locals(const struct px_collective *c, px_local_fn fn, void *arg);

/* ---- connected.c ----------------------------------------------------------------- */

/* A connect has ended well. ours: no host sees to what follows from it.
 * PMIX_ERR_OUT_OF_RESOURCE: its jobs are connected in too many ways already;
 * PMIX_ERR_NOMEM. */
pmix_status_t px_connected_add(const struct px_collective *c, bool ours);
/* A disconnect has ended well, and what a spawn has connected among its processes is
 * connected no more; or it has ended because some have left (broken), and
 * then the set stays, and nothing follows from it any more. PMIX_ERR_INVALID_OPERATION
 * if they were not connected. */
pmix_status_t px_connected_drop(const struct px_collective *c, bool broken);
bool px_connected_has(const struct px_server *srv, const px_members *set,
                      const char *id);

/* ---- data/modex.c ---------------------------------------------------------------- */

/* Data of the local participants as the host carries them to other nodes (wire: one
 * BYTE_OBJECT per server), and back into tables. */
pmix_status_t px_modex_pack(const struct px_collective *c, px_buf *out);
pmix_status_t px_modex_unpack(const struct px_collective *c, const px_buf *in);

#endif
