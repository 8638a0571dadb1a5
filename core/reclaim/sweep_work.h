/* SPDX-License-Identifier: BSD-3-Clause */
/* What the components of pcleanup have in common: jobs that wait for their turn, and workers, which are
 * processes that do one job each and report over a socket. Workers are made by a bare clone
 * (sweep.h), also by a process that was made so itself. */
#ifndef PX_RECLAIM_SWEEP_WORK_H
#define PX_RECLAIM_SWEEP_WORK_H

#include "core/base/list.h"
#include "core/reclaim/sweep.h"
#include "pmix_common.h"

enum {
    PX_SWEEP_AT_ONCE = 4,     /* jobs that are worked on; others wait */
    PX_SWEEP_LINE_B = 4352,   /* a path and what is wrong with it */
    PX_SWEEP_TELL_FD = 2,     /* where px_sweep_tell writes */
    PX_SWEEP_TELL_LEVEL = 10, /* verbosity from which on it does (RFC 0027) */
};

/* ---- processes ------------------------------------------------------------------- */

struct px_sweep_job {
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
enum px_sweep_news_type { PX_SWEEP_ENDED = 1, PX_SWEEP_LINE = 2 };
struct px_sweep_news {
    uint32_t type;
    int32_t errnum;
    uint64_t id;
    struct px_rm_totals totals;
    char line[PX_SWEEP_LINE_B]; /* PX_SWEEP_LINE: terminated, printable */
};

/* A packet socket pair: [0] stays and does not block, [1] is for the other side; neither is below 3.
 * 0 or an errno. */
int px_sweep_socket(int ends[2]);
/* Starts a worker, which leads a session of its own. It sends PX_SWEEP_ENDED to news and exits with 0, or
 * dies. s->told is px_sweep_tell or NULL. bound: it is killed when the thread that has started it ends. -1
 * and errno. */
pid_t px_sweep_worker(const struct px_sweep *s, const struct px_sweep_job *job,
                      int news, bool bound);
/* Async-signal-safe. False: not sent, as the buffer is full or the reader gone. */
bool px_sweep_send_ended(int news, const struct px_sweep_job *job, int flags);
/* 1: *news is there; 0: nothing more for now; -1: nothing will ever come. What is malformed is left out. */
int px_sweep_read(int fd, struct px_sweep_news *news);
/* Whether what a socket has refused for this reason may succeed a moment later. */
bool px_sweep_is_passing(int errnum);
/* A px_rm_told_fn: one line to descriptor 2, a packet socket or any file. It waits a second for a slow
 * reader, but then drops the line. arg: struct px_sweep_teller, zeroed. */
void px_sweep_tell(void *arg, const char *path, enum px_rm_why why, int errnum);
struct px_sweep_teller {
    bool in_vain;
};

/* In a child that is to live for long, and uses nothing but its stack and constants from now on: unmaps the
 * parent's shared memory and large parts of its own. */
void px_sweep_shed(void);
/* PMIX_SUCCESS for 0; EAGAIN is that there are too many processes. */
pmix_status_t px_sweep_status(int errnum);
/* True if the child has ended (*status as from waitpid) or is none of ours. */
bool px_sweep_reap(pid_t pid, int *status);
/* Waits for its end for so long. */
bool px_sweep_reap_within(pid_t pid, uint64_t ms);
/* As px_sweep_reap, and ends the processes that a worker which was killed has left in its group. */
bool px_sweep_reap_worker(pid_t pid, int *status);
/* Kills a worker and its group, and reaps it. One that hangs in the kernel is given up. */
void px_sweep_stop(pid_t pid);

/* ---- jobs ------------------------------------------------------------------------ */

/* Each job is in one of the lists. */
struct px_sweep_queue {
    struct px_list waiting, active, ended;
    uint64_t last_id;
    unsigned n_active;
};

void px_sweep_queue_init(struct px_sweep_queue *q);
void px_sweep_queue_fini(struct px_sweep_queue *q); /* forgets them all */
/* A new one that waits, or NULL. tmpdir is copied, and may be NULL. */
struct px_sweep_job *px_sweep_queue_add(struct px_sweep_queue *q, uint64_t scope,
                                        const char *tmpdir, void (*done)(void),
                                        void *arg);
/* The next one to be worked on, which still waits; NULL if there is none or enough are worked on. */
struct px_sweep_job *px_sweep_queue_next(const struct px_sweep_queue *q);
void px_sweep_queue_activate(struct px_sweep_queue *q, struct px_sweep_job *job);
/* What was worked on waits again, before all others. */
void px_sweep_queue_again(struct px_sweep_queue *q);
struct px_sweep_job *px_sweep_queue_find(const struct px_sweep_queue *q, uint64_t id);
/* From waiting or active. totals may be NULL. */
void px_sweep_queue_end(struct px_sweep_queue *q, struct px_sweep_job *job, int errnum,
                        const struct px_rm_totals *totals);
/* All that wait or are worked on end so. */
void px_sweep_queue_end_all(struct px_sweep_queue *q, int errnum);
/* The first that has ended, which is the caller's now (px_sweep_job_free), or NULL. */
struct px_sweep_job *px_sweep_queue_take(struct px_sweep_queue *q);
void px_sweep_job_free(struct px_sweep_job *job);
/* Takes all that have ended; tell calls done with what the job says, in its owner's types. Both may call
 * px_sweep_queue_fini. */
void px_sweep_queue_deliver(struct px_sweep_queue *q,
                            void (*tell)(const struct px_sweep_job *job));

#endif
