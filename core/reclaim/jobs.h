/* SPDX-License-Identifier: BSD-3-Clause */
/* What the components of pcleanup have in common: jobs of removal that wait for their
 * turn, each done by a worker (worker.h). Workers that are killed do not fail their
 * jobs: a host may kill all processes below it, as Slurm does at the end of a step, and
 * lives. All on the loop thread. */
#ifndef PX_RECLAIM_JOBS_H
#define PX_RECLAIM_JOBS_H

#include "core/base/list.h"
#include "core/reclaim/worker.h"
#include "tenon/pcleanup.h"

enum { PX_RECLAIM_AT_ONCE = 4 /* jobs that are worked on; others wait */ };

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

struct px_reclaim_jobs {
    const struct px_services *services;
    struct px_reclaim_conf conf;
    bool bound;  /* workers end with the thread that started them: others go on then */
    char *node;  /* of a server that has started; else NULL */
    pid_t owner; /* who started: a copy made by fork has no say */
    int journal; /* a copy, or -1 */
    int msgs[2];
    struct px_watch *msgs_watch;
    struct px_timer *timer;
    struct {
        pid_t pid; /* 0: none */
        int pidfd;
        struct px_watch *watch;
        struct px_reclaim_job *job;
    } workers[PX_RECLAIM_AT_ONCE];
    struct px_list waiting, ended;
    uint64_t last_id;
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

#endif
