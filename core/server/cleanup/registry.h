/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of what is to be removed, and when. A job has ranks, which have
 * processes, and scopes: sets of entries that are removed when one rank, or all of the
 * job, have ended. The files and folders of the server itself are scope 0 of a job of
 * its own. Every entry stands in the journal, too, for the component or the next
 * server, should this process be killed. Loop thread only. */
#ifndef PX_SERVER_CLEANUP_REGISTRY_H
#define PX_SERVER_CLEANUP_REGISTRY_H

#include "core/base/list.h"
#include "core/base/map.h"
#include "core/reclaim/journal.h"
#include "core/reclaim/rmtree.h"
#include "core/server/cleanup/session.h"
#include "core/types/type.h"
#include "tenon/pcleanup.h"

struct px_nspace;
struct px_peer;
struct px_server;

/* The most that one client may have registered and that is not removed yet. */
#define PX_CLEANUP_MAX_ENTRIES 4096u
#define PX_CLEANUP_MAX_PATH_B  (1024u * 1024u)

/* Scopes of the server's own: what it has made, and the groups of processes that end
 * with it. Others count up from there. */
enum { PX_CLEANUP_MADE, PX_CLEANUP_GROUPS };

/* A record of the journal. */
struct px_cleanup_entry {
    struct px_list link;
    struct px_cleanup_scope *scope;
    struct px_cleanup_entry *same; /* the next of that user and path, in other scopes */
    struct px_cleanup_rank *payer; /* NULL: the server */
    struct px_journal_record r;
    char path[];
};

enum px_cleanup_state {
    PX_CLEANUP_WAITS,  /* for the end of its processes; takes entries */
    PX_CLEANUP_DUE,    /* for other runs of its user */
    PX_CLEANUP_RUNS,   /* the component removes */
    PX_CLEANUP_FAILED, /* the component could not; the next server will */
};

struct px_cleanup_scope {
    struct px_list link;
    struct px_cleanup_job *job;
    struct px_cleanup_rank *rank; /* NULL: all of the job */
    uint64_t id;
    enum px_cleanup_state state;
    struct px_list entries;
    size_t n_entries;
    uint32_t next_slot;
    uint64_t stamp; /* the last request that has it as a target */
};

struct px_cleanup_job {
    struct px_list link;
    struct px_cleanup *registry;
    struct px_list ranks, scopes;
    uint32_t n_ranks;
    bool gone; /* deregistered: a job that comes by that name now is another one */
    char nspace[PMIX_MAX_NSLEN + 1];
};

/* In the server's own job: a user, who pays for all tools of that user, as these come
 * and go. */
struct px_cleanup_rank {
    struct px_list link;
    struct px_cleanup_job *job;
    struct px_list procs; /* that live, as far as is known */
    pmix_rank_t rank;
    uint32_t index;  /* in its job */
    uint64_t places; /* bits: taken by processes */
    size_t n_paid, paid_b;
    uint64_t
        searched_ms; /* of the time until then nothing is left to look for processes */
    bool seen;       /* the pid of one was known */
    bool lost;       /* one whose pid was never known has gone: perhaps it lives */
    bool reported;   /* ended, says the host */
    bool revives;    /* and will be started again: its job goes on */
};

struct px_cleanup_proc {
    struct px_list link;
    struct px_cleanup_rank *rank;
    unsigned place; /* in its rank, and so in the journal */
    pid_t pid;      /* 0: not known */
    uint64_t start; /* core/base/proc.h; 0: there is no /proc */
    uint64_t inode; /* of its socket, to look for it; 0: no use */
    uid_t uid;
    unsigned n_conns;
    bool ours;     /* we have started it: its end is reported, and it ends with us */
    bool recorded; /* all scopes that wait for it say so in the journal */
    bool polled;   /* there is no pidfd for it */
    int pidfd;
    struct px_watch *watch;
};

struct px_cleanup {
    struct px_server *server;
    struct px_list jobs;
    struct px_cleanup_job *own;
    struct px_cleanup_scope *made, *groups; /* of that */
    struct px_map index;                    /* what processes have registered */
    struct px_timer *poll;                  /* for processes without a pidfd */
    struct px_timer *deadline;              /* of the end */
    uint64_t last_id, last_stamp;
    uint64_t n_entries;
    size_t n_running;                  /* with those that are due */
    size_t groups_look_at;             /* so many: look for empty ones */
    struct px_pcleanup_totals removed; /* for processes */
    bool stopping;                     /* nothing is taken, nothing started any more */
    void (*check)(struct px_cleanup_job *job); /* processes of the job have ended */
    bool left; /* the server has ended, and scopes wait for processes that live */
    void (*done)(void *arg);
    void *done_arg;
};

/* Fills the registry of a server, which is all zero. PMIX_ERR_NOMEM: nothing is left of
 * the attempt. */
pmix_status_t px_registry_init(struct px_cleanup *c, struct px_server *srv);
void px_registry_fini(struct px_cleanup *c);

#define PX_CLEANUP_EACH_SCOPE(c, s)                                 \
    PX_LIST_EACH (&(c)->jobs, struct px_cleanup_job, s##_job, link) \
        PX_LIST_EACH (&s##_job->scopes, struct px_cleanup_scope, s, link)
#define PX_CLEANUP_EACH_PROC(job, p)                                     \
    PX_LIST_EACH (&(job)->ranks, struct px_cleanup_rank, p##_rank, link) \
        PX_LIST_EACH (&p##_rank->procs, struct px_cleanup_proc, p, link)

/* ---- jobs, ranks, scopes --------------------------------------------------------- */

/* The job of that name that is not gone; find answers NULL, get makes it. NULL: out of
 * memory. */
struct px_cleanup_job *px_cleanup_job_find(struct px_cleanup *c, const char *nspace);
struct px_cleanup_job *px_cleanup_job_get(struct px_cleanup *c, const char *nspace);
/* The namespace that the model has for it; NULL: none, or it is gone. */
struct px_nspace *px_cleanup_nspace(const struct px_cleanup_job *job);
/* Frees a job, with its ranks and processes, that nothing needs any more. */
void px_cleanup_job_release(struct px_cleanup_job *job);
struct px_cleanup_rank *px_cleanup_rank_find(const struct px_cleanup_job *job,
                                             pmix_rank_t rank);
struct px_cleanup_rank *px_cleanup_rank_get(struct px_cleanup_job *job,
                                            pmix_rank_t rank);
/* The rank, or the user with all tools of that user, whose limits count; NULL: out of
 * memory. */
struct px_cleanup_rank *px_cleanup_payer(struct px_cleanup *c,
                                         const struct px_peer *peer);
/* The scope that takes entries, without a trace in the journal if it is new; and a
 * further one. NULL: out of memory. */
struct px_cleanup_scope *px_cleanup_scope_get(struct px_cleanup_job *job,
                                              pmix_rank_t rank);
struct px_cleanup_scope *px_cleanup_scope_new(struct px_cleanup_job *job,
                                              struct px_cleanup_rank *rank);
void px_cleanup_scope_free(struct px_cleanup_scope *s);
/* Is the end of that rank part of the scope's time? */
static inline bool px_cleanup_waits_for(const struct px_cleanup_scope *s,
                                        const struct px_cleanup_rank *r)
{
    return !s->rank || s->rank == r;
}

/* ---- entries --------------------------------------------------------------------- */

/* The first that some process of this user has registered for the path, as a folder to
 * remove or else as a file; NULL. */
struct px_cleanup_entry *px_cleanup_find(const struct px_cleanup *c, uid_t uid,
                                         uint8_t kind, const char *path);
/* One more in a scope, of r; not in the journal yet. Entries of the server's own are
 * not indexed. PMIX_ERR_OUT_OF_RESOURCE, PMIX_ERR_NOMEM. */
pmix_status_t px_cleanup_entry_add(struct px_cleanup_scope *s,
                                   struct px_cleanup_rank *payer,
                                   const struct px_journal_record *r,
                                   struct px_cleanup_entry **out);
void px_cleanup_entry_free(struct px_cleanup_entry *e);

/* ---- the journal ----------------------------------------------------------------- */

/* The journal says that the scope waits for this process, if its pid is known. */
pmix_status_t px_cleanup_record_proc(const struct px_cleanup_scope *s,
                                     const struct px_cleanup_proc *p);
/* The scope's entries must not be taken for open ones when this process is gone. */
void px_cleanup_record_done(const struct px_cleanup_scope *s);
/* Writes the journal anew, if that is worth it. */
void px_cleanup_compact(struct px_cleanup *c);

/* ---- processes: procs.c ---------------------------------------------------------- */

/* The processes behind connections, and how their end is noticed: it is the death of
 * the process that counts, not that of its socket. The first four are for the server's
 * parts (core/server/part.h). */
void px_cleanup_peer_here(struct px_server *srv, struct px_peer *peer);
void px_cleanup_peer_gone(struct px_server *srv, struct px_peer *peer);
void px_cleanup_proc_ended(struct px_server *srv, const pmix_proc_t *proc);
void px_cleanup_nspace_gone(struct px_server *srv, const char *nspace,
                            struct px_nspace *known);
void px_cleanup_proc_free(struct px_cleanup_proc *p);
/* Known to live now. */
bool px_cleanup_proc_lives(const struct px_cleanup_proc *p);
/* The processes that the scope waits for are known, as far as they can be found, and
 * stand in the journal. The time this takes is the payer's. */
pmix_status_t px_cleanup_know_procs(struct px_cleanup_scope *s,
                                    struct px_cleanup_rank *payer);
/* From now on the end of these processes is noticed. px_cleanup.check has to follow:
 * some may have ended already. */
void px_cleanup_watch_procs(struct px_cleanup_scope *s);
/* Ends what is left in the groups of processes that we have started. */
void px_cleanup_end_groups(struct px_cleanup *c);

#endif
