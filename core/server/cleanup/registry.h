/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of paths to remove, and of when to remove them. A job has ranks, which
 * have processes, and scopes. A scope is a set of entries that are removed when one
 * rank, or all of the job, have ended. The server's own files and folders are scope 0
 * of a job of its own. Every entry is in the journal, too: if this process is killed,
 * the component or the next server removes it. Loop thread only. */
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

/* Limits of the entries of one client that are registered and not removed yet. */
#define PX_CLEANUP_MAX_ENTRIES 4096u
#define PX_CLEANUP_MAX_PATH_B  (1024u * 1024u)

/* Scopes of the server's own job: the files it made, and the groups of processes that
 * end with it. Other scopes have higher numbers. */
enum { PX_CLEANUP_MADE, PX_CLEANUP_GROUPS };

/* A path to remove or keep, or a process group. */
struct px_cleanup_entry {
    struct px_list link;
    struct px_cleanup_scope *scope;
    struct px_cleanup_entry *same; /* next of that user and path, in another scope */
    struct px_cleanup_rank *payer; /* NULL: the server */
    struct px_journal_record r;
    char path[];
};

enum px_cleanup_state {
    PX_CLEANUP_WAITS,  /* waits for the end of its processes; takes entries */
    PX_CLEANUP_DUE,    /* waits for other runs of its user */
    PX_CLEANUP_RUNS,   /* the component removes it */
    PX_CLEANUP_FAILED, /* the component could not; the next server will */
};

struct px_cleanup_scope {
    struct px_list link;
    struct px_cleanup_job *job;
    struct px_cleanup_rank *rank; /* NULL: the whole job */
    uint64_t id;
    enum px_cleanup_state state;
    struct px_list entries;
    size_t n_entries;
    uint32_t next_slot;
    uint64_t stamp; /* last request with it as a target */
};

struct px_cleanup_job {
    struct px_list link;
    struct px_cleanup *registry;
    struct px_list ranks, scopes;
    uint32_t n_ranks;
    bool gone; /* deregistered: a new job of that name is another job */
    char nspace[PMIX_MAX_NSLEN + 1];
};

/* A rank. In the server's own job: a user, who pays for all of the user's tools, as
 * tools come and go. */
struct px_cleanup_rank {
    struct px_list link;
    struct px_cleanup_job *job;
    struct px_list procs; /* processes not known to have ended */
    pmix_rank_t rank;
    uint32_t index;  /* in its job */
    uint64_t places; /* bits of places used by processes */
    size_t n_paid, paid_b;
    uint64_t searched_ms; /* until then, all time to search for processes is used */
    bool seen;            /* the pid of a process was known */
    bool lost;            /* a process of unknown pid disconnected */
    bool reported;        /* the host has reported its end */
    bool revives;         /* will be restarted: its job goes on */
};

struct px_cleanup_proc {
    struct px_list link;
    struct px_cleanup_rank *rank;
    unsigned place; /* in its rank, and in the journal */
    pid_t pid;      /* 0: unknown */
    uint64_t start; /* core/os/proc.h; 0: no /proc */
    uint64_t inode; /* of its socket, to search for it; 0: useless */
    uid_t uid;
    unsigned n_conns;
    bool ours;     /* started by this server, and ends with it */
    bool recorded; /* recorded in the journal for all scopes that wait for it */
    bool polled;   /* it has no pidfd */
    int pidfd;
    struct px_watch *watch;
};

struct px_cleanup {
    struct px_server *server;
    struct px_list jobs;
    struct px_cleanup_job *own;
    struct px_cleanup_scope *made, *groups; /* scopes of the own job */
    struct px_map index;                    /* entries of processes */
    struct px_timer *poll;                  /* for processes without a pidfd */
    struct px_timer *deadline;              /* of px_cleanup_finish */
    uint64_t last_id, last_stamp;
    uint64_t n_entries;
    size_t n_running;                  /* runs, including those that are due */
    size_t groups_check_at;            /* when to remove empty groups */
    struct px_pcleanup_totals removed; /* totals for processes */
    bool stopping;                     /* registers and starts nothing any more */
    bool left; /* scopes still waited for live processes when the server ended */
    struct px_call *waiter; /* of px_cleanup_finish */
};

/* Hooks of the part (core/server/part.h). */
pmix_status_t px_registry_create(struct px_server *srv,
                                 const struct px_server_start *start);
void px_registry_destroy(struct px_server *srv);

#define PX_CLEANUP_EACH_SCOPE(c, s)                                 \
    PX_LIST_EACH (&(c)->jobs, struct px_cleanup_job, s##_job, link) \
        PX_LIST_EACH (&s##_job->scopes, struct px_cleanup_scope, s, link)
#define PX_CLEANUP_EACH_PROC(job, p)                                     \
    PX_LIST_EACH (&(job)->ranks, struct px_cleanup_rank, p##_rank, link) \
        PX_LIST_EACH (&p##_rank->procs, struct px_cleanup_proc, p, link)

/* ---- jobs, ranks, scopes --------------------------------------------------------- */

/* Returns the job of that name that is not gone. If there is none, find returns NULL;
 * get creates it, or returns NULL if out of memory. */
struct px_cleanup_job *px_cleanup_job_find(struct px_cleanup *c, const char *nspace);
struct px_cleanup_job *px_cleanup_job_get(struct px_cleanup *c, const char *nspace);
/* Returns the model's namespace of the job; NULL if it has none, or is gone. */
struct px_nspace *px_cleanup_nspace(const struct px_cleanup_job *job);
/* Frees a job with its ranks and processes, if nothing needs it any more. */
void px_cleanup_job_release(struct px_cleanup_job *job);
struct px_cleanup_rank *px_cleanup_rank_find(const struct px_cleanup_job *job,
                                             pmix_rank_t rank);
struct px_cleanup_rank *px_cleanup_rank_get(struct px_cleanup_job *job,
                                            pmix_rank_t rank);
/* Returns the rank whose limits count: the peer's, or the one that stands for a tool's
 * user. NULL if out of memory. */
struct px_cleanup_rank *px_cleanup_payer(struct px_cleanup *c,
                                         const struct px_peer *peer);
/* get returns the scope that takes entries, or a new one; new always creates one. A new
 * scope is not in the journal. NULL if out of memory. */
struct px_cleanup_scope *px_cleanup_scope_get(struct px_cleanup_job *job,
                                              pmix_rank_t rank);
struct px_cleanup_scope *px_cleanup_scope_new(struct px_cleanup_job *job,
                                              struct px_cleanup_rank *rank);
void px_cleanup_scope_free(struct px_cleanup_scope *s);
/* True if the scope waits for the end of the rank. */
static inline bool px_cleanup_waits_for(const struct px_cleanup_scope *s,
                                        const struct px_cleanup_rank *r)
{
    return !s->rank || s->rank == r;
}

/* ---- entries --------------------------------------------------------------------- */

/* Returns the first entry of this user for the path, as a folder to remove or as a
 * file; or NULL. */
struct px_cleanup_entry *px_cleanup_find(const struct px_cleanup *c, uid_t uid,
                                         uint8_t kind, const char *path);
/* Adds an entry to a scope, but not to the journal. Entries of the server's own job are
 * not indexed. PMIX_ERR_OUT_OF_RESOURCE, PMIX_ERR_NOMEM. */
pmix_status_t px_cleanup_entry_add(struct px_cleanup_scope *s,
                                   struct px_cleanup_rank *payer,
                                   const struct px_journal_record *r,
                                   struct px_cleanup_entry **out);
void px_cleanup_entry_free(struct px_cleanup_entry *e);

/* ---- the journal ----------------------------------------------------------------- */

/* Records in the journal that the scope waits for this process, if its pid is known. */
pmix_status_t px_cleanup_record_proc(const struct px_cleanup_scope *s,
                                     const struct px_cleanup_proc *p);
/* Records in the journal that the scope is done, so that no later reader runs it. */
void px_cleanup_record_done(const struct px_cleanup_scope *s);
/* Rewrites the journal, if that saves enough. */
void px_cleanup_compact(struct px_cleanup *c);

/* ---- processes: procs.c ---------------------------------------------------------- */

/* Connections' processes, and the detection of their ends. The end of the process
 * counts, not that of its socket. The first four functions are hooks of the part
 * (core/server/part.h). */
void px_cleanup_peer_here(struct px_server *srv, struct px_peer *peer);
void px_cleanup_peer_gone(struct px_server *srv, struct px_peer *peer);
void px_cleanup_proc_ended(struct px_server *srv, const pmix_proc_t *proc);
void px_cleanup_nspace_gone(struct px_server *srv, const char *nspace,
                            struct px_nspace *known);
void px_cleanup_proc_free(struct px_cleanup_proc *p);
/* True if the process is known and lives. */
bool px_cleanup_proc_lives(const struct px_cleanup_proc *p);
/* Finds the processes that the scope waits for, as far as possible, and records them in
 * the journal. The payer pays for the time of the search. */
pmix_status_t px_cleanup_find_procs(struct px_cleanup_scope *s,
                                    struct px_cleanup_rank *payer);
/* Finds the processes of the job's clients that connected by TCP, as far as possible.
 * The payer pays for the time of the search; the server's own peer finds none. */
void px_cleanup_search(struct px_cleanup_job *job, const struct px_peer *payer);
/* Watches the processes that the scope waits for. The caller must call px_cleanup_check
 * afterwards, as some may have ended already. */
void px_cleanup_watch_procs(struct px_cleanup_scope *s);
/* Ends the remaining processes of groups that this server started. */
void px_cleanup_end_groups(struct px_cleanup *c);

/* ---- cleanup.c ------------------------------------------------------------------- */

/* Runs the scopes that are due, and frees what is not needed any more. The job, its
 * ranks and scopes may be freed. */
void px_cleanup_check(struct px_cleanup_job *job);
/* Ends the registry's work if the server ends, and no clean-up is running. */
void px_cleanup_finish_if_idle(struct px_cleanup *c);

#endif
