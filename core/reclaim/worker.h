/* SPDX-License-Identifier: BSD-3-Clause */
/* What the components of pcleanup have in common: jobs that wait for their turn, and
 * workers, which are processes that do one job each and report over a socket. Workers
 * are made by a bare clone (reclaim.h), also by a process that was made so itself. */
#ifndef PX_RECLAIM_WORKER_H
#define PX_RECLAIM_WORKER_H

#include "core/base/list.h"
#include "core/reclaim/reclaim.h"
#include "pmix_common.h"

enum {
    PX_RECLAIM_AT_ONCE = 4,      /* jobs that are worked on; others wait */
    PX_WORKER_LINE_B = 4352,     /* a path and what is wrong with it */
    PX_WORKER_REPORT_FD = 2,     /* where px_worker_report writes */
    PX_WORKER_REPORT_LEVEL = 10, /* verbosity from which on it does (RFC 0027) */
};

/* ---- processes ------------------------------------------------------------------- */

struct px_reclaim_job {
    struct px_list link;
    uint64_t id;
    uint64_t scope; /* what to sweep, unless there is a tmpdir to reclaim */
    char *tmpdir;
    void (*done)(void); /* of the type that its owner knows, called by him */
    void *arg;
    int errnum; /* once it has ended, as totals */
    struct px_rm_totals totals;
};

/* What comes over a worker's socket, whole or up to the end of text. */
enum px_worker_msg_type { PX_WORKER_ENDED = 1, PX_WORKER_LINE = 2 };
struct px_worker_msg {
    uint32_t type;
    int32_t errnum;
    uint64_t id;
    struct px_rm_totals totals;
    char line[PX_WORKER_LINE_B]; /* PX_WORKER_LINE: terminated, printable */
};

/* A packet socket pair: [0] stays and does not block, [1] is for the other side;
 * neither is below 3. 0 or an errno. */
int px_worker_socket(int ends[2]);
/* Starts a worker, which leads a session of its own. It sends PX_WORKER_ENDED to news
 * and exits with 0, or dies. s->told is px_worker_report or NULL. bound: it is killed
 * when the thread that has started it ends. -1 and errno. */
pid_t px_worker_start(const struct px_reclaim *s, const struct px_reclaim_job *job,
                      int news, bool bound);
/* Async-signal-safe. False: not sent, as the buffer is full or the reader gone. */
bool px_worker_send_ended(int news, const struct px_reclaim_job *job, int flags);
/* 1: *news is there; 0: nothing more for now; -1: nothing will ever come. What is
 * malformed is left out. */
int px_worker_read(int fd, struct px_worker_msg *news);
/* Whether what a socket has refused for this reason may succeed a moment later. */
bool px_worker_is_transient(int errnum);
/* A px_rm_told_fn: one line to descriptor 2, a packet socket or any file. It waits a
 * second for a slow reader, but then drops the line. arg: struct px_worker_reporter,
 * zeroed. */
void px_worker_report(void *arg, const char *path, enum px_rm_why why, int errnum);
struct px_worker_reporter {
    bool in_vain;
};

/* In a child that is to live for long, and uses nothing but its stack and constants
 * from now on: unmaps the parent's shared memory and large parts of its own. */
void px_reclaim_drop_mappings(void);
/* PMIX_SUCCESS for 0; EAGAIN is that there are too many processes. */
pmix_status_t px_reclaim_status(int errnum);
/* True if the child has ended (*status as from waitpid) or is none of ours. */
bool px_reclaim_reap(pid_t pid, int *status);
/* Waits for its end for so long. */
bool px_reclaim_reap_within(pid_t pid, uint64_t ms);
/* As px_reclaim_reap, and ends the processes that a worker which was killed has left in
 * its group. */
bool px_worker_reap(pid_t pid, int *status);
/* Kills a worker and its group, and reaps it. One that hangs in the kernel is given
 * up. */
void px_worker_stop(pid_t pid);

/* ---- jobs ------------------------------------------------------------------------ */

/* Each job is in one of the lists. */
struct px_reclaim_queue {
    struct px_list waiting, active, ended;
    uint64_t last_id;
    unsigned n_active;
};

void px_reclaim_queue_init(struct px_reclaim_queue *q);
void px_reclaim_queue_fini(struct px_reclaim_queue *q); /* forgets them all */
/* A new one that waits, or NULL. tmpdir is copied, and may be NULL. */
struct px_reclaim_job *px_reclaim_queue_add(struct px_reclaim_queue *q, uint64_t scope,
                                            const char *tmpdir, void (*done)(void),
                                            void *arg);
/* The next one to be worked on, which still waits; NULL if there is none or enough are
 * worked on. */
struct px_reclaim_job *px_reclaim_queue_next(const struct px_reclaim_queue *q);
void px_reclaim_queue_activate(struct px_reclaim_queue *q, struct px_reclaim_job *job);
/* What was worked on waits again, before all others. */
void px_reclaim_queue_again(struct px_reclaim_queue *q);
struct px_reclaim_job *px_reclaim_queue_find(const struct px_reclaim_queue *q,
                                             uint64_t id);
/* From waiting or active. totals may be NULL. */
void px_reclaim_queue_end(struct px_reclaim_queue *q, struct px_reclaim_job *job,
                          int errnum, const struct px_rm_totals *totals);
/* All that wait or are worked on end so. */
void px_reclaim_queue_end_all(struct px_reclaim_queue *q, int errnum);
/* The first that has ended, which is the caller's now (px_reclaim_job_free), or
 * NULL. */
struct px_reclaim_job *px_reclaim_queue_take(struct px_reclaim_queue *q);
void px_reclaim_job_free(struct px_reclaim_job *job);
/* Takes all that have ended; tell calls done with what the job says, in its owner's
 * types. Both may call px_reclaim_queue_fini. */
void px_reclaim_queue_deliver(struct px_reclaim_queue *q,
                              void (*tell)(const struct px_reclaim_job *job));

#endif
