/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the registry of clean-up share.
 *
 * A job has ranks, which have processes; and scopes: what is to be removed when one of its ranks,
 * or all of them, have ended. Everything is for the loop thread only. */
#ifndef PX_SERVER_CLEANUP_CLEANUP_IMPL_H
#define PX_SERVER_CLEANUP_CLEANUP_IMPL_H

#include "core/reclaim/journal.h"
#include "core/reclaim/rmtree.h"
#include "core/server/cleanup/cleanup.h"
#include "core/server/cleanup/cleanup_read.h"
#include "core/server/cleanup/pidof.h"
#include "core/server/cleanup/session.h"
#include "tenon/pcleanup.h"

/* What one client may have registered that has not been removed yet. */
#define PX_CLEANUP_MAX_ENTRIES 4096u
#define PX_CLEANUP_MAX_PATH_B  (1024u * 1024u)

/* Who pays for entries: a rank, or a user with all his tools, which come and go. */
struct px_cleanup_account {
    struct px_list link;
    pmix_proc_t proc; /* of tools: without a name */
    uid_t uid;
    size_t n, path_b;
};

struct px_cleanup_entry {
    struct px_list link;
    struct px_cleanup_account *account;
    uint32_t slot;
    uid_t uid;
    gid_t gid;
    uint8_t kind, flags; /* rmtree.h */
    char path[];
};

/* A process that a scope waits for, as it stands in the journal. */
struct px_cleanup_seat {
    struct px_list link;
    struct px_cleanup_proc *proc; /* NULL: for the next one */
    uint32_t slot;
};

enum px_cleanup_state {
    PX_CLEANUP_WAITS,  /* for the end of its processes; takes entries */
    PX_CLEANUP_DUE,    /* for the end of others of its user that run */
    PX_CLEANUP_RUNS,   /* the component removes */
    PX_CLEANUP_FAILED, /* it could not; whoever finds the journal will */
};

struct px_cleanup_scope {
    struct px_list link;
    struct px_cleanup_job *job;
    struct px_cleanup_rank *who; /* NULL: all of the job */
    uint64_t id;
    enum px_cleanup_state state;
    struct px_list entries, seats;
    size_t n_entries;
    struct px_map index; /* of entries, by user, group, class and path */
    uint32_t n_slots;
    uint64_t stamp; /* the last request that has it as a target */
};

struct px_cleanup_job {
    struct px_list link;
    struct px_cleanup *registry;
    struct px_list ranks, scopes;
    bool gone; /* deregistered: whoever comes by that name now is of another job */
    char nspace[PMIX_MAX_NSLEN + 1];
};

struct px_cleanup_rank {
    struct px_list link;
    struct px_cleanup_job *job;
    struct px_list procs; /* that live, as far as is known */
    pmix_rank_t rank;
    bool seen;     /* the pid of one was known */
    bool lost;     /* one whose pid was never known has gone: perhaps it lives */
    bool reported; /* ended, says the host */
};

struct px_cleanup_proc {
    struct px_list link;
    struct px_cleanup_rank *rank;
    pid_t pid;       /* 0: not known */
    uint64_t start;  /* in ticks since the system started; 0: not asked yet */
    uint64_t before; /* it cannot have started after this */
    unsigned n_conns;
    bool ours;   /* we have started it: its end is reported, and it ends with us */
    bool polled; /* there is no pidfd for it */
    int pidfd;
    struct px_watch *watch;
    struct px_pidof_search search;
    struct px_list
        waiters; /* requests of it that are answered when the search is over */
};

/* The group that a process of ours leads. */
struct px_cleanup_group {
    struct px_list link;
    uint32_t slot;
    pid_t pid; /* 0: the slot is vacant */
    uint64_t start;
};
/* Scopes of jobs come after it. */
#define PX_CLEANUP_GROUPS UINT64_C(1)

struct px_cleanup {
    struct px_server *server;
    struct px_list jobs, accounts;
    struct px_list groups;
    uint32_t n_groups, look_at; /* places; when to look for vacant ones */
    struct px_pidof *pidof;
    struct px_timer *poll;     /* for processes without a pidfd */
    struct px_timer *deadline; /* of the end */
    uint64_t last_id, last_stamp;
    size_t n_entries, n_running; /* the latter with those that are due */
    struct px_pcleanup_totals totals;
    bool stopping; /* nothing is taken, nothing started any more */
    void (*done)(void *arg, bool left);
    void *done_arg;
};

/* ---- cleanup_scope.c ---------------------------------------------------------------------------- */

/* The job of that name that is not gone; find answers NULL, get makes it. NULL: out of memory. */
struct px_cleanup_job *px_cleanup_job_find(struct px_cleanup *c, const char *nspace);
struct px_cleanup_job *px_cleanup_job_get(struct px_cleanup *c, const char *nspace);
void px_cleanup_job_free(struct px_cleanup_job *job);
/* Frees it if nobody needs it any more. */
void px_cleanup_job_tidy(struct px_cleanup_job *job);
/* What the model knows of it; NULL: nothing, or it is gone. */
struct px_nspace *px_cleanup_nspace(const struct px_cleanup_job *job);
struct px_cleanup_rank *px_cleanup_rank_get(struct px_cleanup_job *job,
                                            pmix_rank_t rank);
/* The scope that takes entries; get makes it, without a trace in the journal. */
struct px_cleanup_scope *px_cleanup_scope_find(struct px_cleanup_job *job,
                                               pmix_rank_t rank);
struct px_cleanup_scope *px_cleanup_scope_get(struct px_cleanup_job *job,
                                              pmix_rank_t rank);
void px_cleanup_scope_free(struct px_cleanup_scope *s);
/* Is it one of those whose end is the scope's time? */
bool px_cleanup_waits_for(const struct px_cleanup_scope *s,
                          const struct px_cleanup_rank *r);
/* Forgets an entry: its place in the index, its account. */
void px_cleanup_entry_free(struct px_cleanup_scope *s, struct px_cleanup_entry *e);
/* Gives it a place, and says what the journal has to say of it. PMIX_ERR_NOT_FOUND: nothing, as its pid
 * is not known or it stands there already; PMIX_ERR_NOMEM. */
pmix_status_t px_cleanup_seat(struct px_cleanup_scope *s, struct px_cleanup_proc *p,
                              struct px_journal_record *r);
void px_cleanup_unseat(struct px_cleanup_scope *s, const struct px_cleanup_proc *p);
/* The record of an entry. */
struct px_journal_record px_cleanup_item(const struct px_cleanup_scope *s,
                                         const struct px_cleanup_entry *e);
/* Its items must not be taken for open ones when this process is gone. */
void px_cleanup_record_done(const struct px_cleanup_scope *s);
/* All there is, for px_session_compact. */
void px_cleanup_rewrite(struct px_server *srv);

/* ---- cleanup.c ---------------------------------------------------------------------------------- */

/* Runs the scopes whose time has come, and forgets what is needed no more: job, its ranks and scopes
 * may be gone afterwards. */
void px_cleanup_check(struct px_cleanup_job *job);

/* ---- cleanup_query.c ---------------------------------------------------------------------------- */

/* "tenon.cleanup": an array of infos, totals. */
extern const struct px_query_key px_cleanup_query_keys[];

/* ---- cleanup_group.c ---------------------------------------------------------------------------- */

/* A process that we have started, and which leads a group: all in it ends with us. */
pmix_status_t px_cleanup_group_add(struct px_cleanup *c, pid_t pid);
pmix_status_t px_cleanup_groups_rewrite(struct px_cleanup *c);
/* Ends what is left in them. */
void px_cleanup_groups_end(struct px_cleanup *c);

/* ---- cleanup_watch.c ---------------------------------------------------------------------------- */

/* From now on the end of the processes that the scope waits for is noticed, and they stand in the
 * journal. px_cleanup_check has to follow: some may have ended already. */
void px_cleanup_watch_scope(struct px_cleanup_scope *s);
/* The journal says of every known process that the scope waits for it. */
pmix_status_t px_cleanup_seat_all(struct px_cleanup_scope *s);
void px_cleanup_proc_free(struct px_cleanup_proc *p);
/* Known to live now. */
bool px_cleanup_lives(const struct px_cleanup_proc *p);

#endif
