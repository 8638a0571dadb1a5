/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of the components of pcleanup: jobs of removal that wait for their
 * turn, each done by a worker, a process made by a bare clone (reclaim.h). Workers that
 * are killed do not fail their jobs: a host may kill all processes below it, as Slurm
 * does at the end of a step, and lives. All on the loop thread. */
#ifndef PX_RECLAIM_JOBS_H
#define PX_RECLAIM_JOBS_H

#include "core/base/attr.h"
#include "core/base/list.h"
#include "core/reclaim/process.h"
#include "core/reclaim/server_dir.h"
#include "tenon/pcleanup.h"

enum {
    PX_RECLAIM_AT_ONCE = 4,   /* jobs that are worked on; others wait */
    PX_RECLAIM_LINE_B = 4352, /* a path and what is wrong with it */
    PX_RECLAIM_REPORT_LEVEL =
        10, /* verbosity from which on it is reported (RFC 0027) */
};

struct px_reclaim_conf {
    int64_t verbose;
    uint64_t timeout;
};

#define PX_RECLAIM_PARAMS                                                             \
    PX_PARAM_INT(struct px_reclaim_conf, verbose, "0", 0, INT32_MAX,                  \
                 "From 10 on, one line for each thing that could not be removed; "    \
                 "PMIX_DEBUG sets it, too"),                                          \
        PX_PARAM_DURATION(struct px_reclaim_conf, timeout, "10m", 0, 86400000,        \
                          "How long removing may take, for each user whose files it " \
                          "is; 0 is for ever"),                                       \
        PX_PARAM_END

struct px_reclaim_job;
struct px_reclaim_result;

struct px_reclaim_jobs {
    const struct px_services *services;
    struct px_reclaim_conf conf;
    bool bound;   /* workers end with the thread that started them: others go on then */
    char *node;   /* of a server that has started; else NULL */
    pid_t owner;  /* which started: a copy made by fork has no say */
    int journal;  /* a copy, or -1 */
    int lines[2]; /* what workers report, a packet each */
    struct px_watch *lines_watch;
    struct px_timer *timer;
    struct {
        pid_t pid; /* 0: none */
        int pidfd;
        struct px_watch *watch;
        struct px_reclaim_job *job;
    } workers[PX_RECLAIM_AT_ONCE];
    struct px_reclaim_result *results; /* shared with the workers, of each one */
    struct px_list waiting, ended;
    uint64_t again_ms; /* not before that time, after a worker was killed; or 0 */
};

void px_reclaim_jobs_init(struct px_reclaim_jobs *p, const struct px_services *services,
                          const void *conf);
/* Operations of pcleanup; self is a struct px_reclaim_jobs. */
pmix_status_t px_reclaim_jobs_start(void *self, const char *dir, const char *node);
pmix_status_t px_reclaim_jobs_journal(void *self, int dir_fd, int journal_fd);
pmix_status_t px_reclaim_jobs_run(void *self, uint64_t scope, px_pcleanup_done_fn done,
                                  void *arg);
pmix_status_t px_reclaim_jobs_reclaim(void *self, const char *tmpdir,
                                      px_pcleanup_done_fn done, void *arg);
void px_reclaim_jobs_finish(void *self, bool left);

/* PMIX_SUCCESS for 0; EAGAIN is that there are too many processes. */
pmix_status_t px_reclaim_status(int errnum);
/* A packet socket pair: [0] stays and does not block, [1] is for the other side;
 * neither is below 3. 0 or an errno. */
int px_reclaim_socket(int ends[2]);
/* A px_rm_notify_fn: one line to descriptor 2, a packet socket or any file. It waits a
 * second for a slow reader, but then drops that line and all others. arg: a bool, false
 * at first. Async-signal-safe. */
void px_reclaim_report(void *in_vain, const char *path, enum px_rm_why why, int errnum);

#endif
