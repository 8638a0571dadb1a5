/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers: processes, made by a bare clone (reclaim.h), that do one job each and report
 * over a socket. */
#ifndef PX_RECLAIM_WORKER_H
#define PX_RECLAIM_WORKER_H

#include "core/base/attr.h"
#include "core/reclaim/process.h"
#include "core/reclaim/server_dir.h"

enum {
    PX_WORKER_LINE_B = 4352,     /* a path and what is wrong with it */
    PX_WORKER_REPORT_FD = 2,     /* where px_worker_report writes */
    PX_WORKER_REPORT_LEVEL = 10, /* verbosity from which on it does (RFC 0027) */
};

struct px_worker_order {
    uint64_t id;
    uint64_t scope; /* to remove, unless there is a tmpdir to reclaim */
    char *tmpdir;
};

/* What comes over a worker's socket, whole or up to the end of text. */
enum px_worker_msg_type { PX_WORKER_ENDED = 1, PX_WORKER_LINE = 2 };
struct px_worker_msg {
    uint32_t type;
    int32_t errnum;
    uint64_t id;
    struct px_pcleanup_totals totals;
    char line[PX_WORKER_LINE_B]; /* PX_WORKER_LINE: terminated, printable */
};

/* A packet socket pair: [0] stays and does not block, [1] is for the other side;
 * neither is below 3. 0 or an errno. */
int px_worker_socket(int ends[2]);
/* Starts a worker, which leads a session of its own. It sends PX_WORKER_ENDED to msgs
 * and exits with 0, or dies. s->told is px_worker_report or NULL. bound: it is killed
 * when the thread that has started it ends. -1 and errno. */
pid_t px_worker_start(const struct px_reclaim *s, const struct px_worker_order *order,
                      int msgs, bool bound);
/* 1: *msg is there; 0: nothing more for now; -1: nothing will ever come. What is
 * malformed is left out. */
int px_worker_read(int fd, struct px_worker_msg *msg);
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
/* True if the child has ended (*status as from waitpid) or is none of ours. */
bool px_reclaim_reap(pid_t pid, int *status);
/* Waits for its end until that time, or for so long. */
bool px_reclaim_reap_until(pid_t pid, uint64_t deadline_ms, int *status);
bool px_reclaim_reap_within(pid_t pid, uint64_t ms);
/* As px_reclaim_reap, and ends the processes that a worker which was killed has left in
 * its group. */
bool px_worker_reap(pid_t pid, int *status);
/* Kills a worker and its group, and reaps it. One that hangs in the kernel is given
 * up. */
void px_worker_stop(pid_t pid);

#endif
