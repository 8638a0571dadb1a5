/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of the pcleanup components: a queue of removal jobs. A worker, a
 * process made by a bare clone (reclaim.h), does each job. If a worker is killed, its
 * job is retried. A host may kill all processes below it and live on; Slurm does so at
 * the end of a step. All functions run on the loop thread. */
#ifndef PX_RECLAIM_JOBS_H
#define PX_RECLAIM_JOBS_H

#include "core/base/attr.h"
#include "core/base/list.h"
#include "core/reclaim/process.h"
#include "core/reclaim/server_dir.h"
#include "tenon/pcleanup.h"

enum {
    PX_RECLAIM_AT_ONCE = 4,       /* jobs that run at the same time; others wait */
    PX_RECLAIM_LINE_B = 4352,     /* a path and a reason */
    PX_RECLAIM_REPORT_LEVEL = 10, /* least verbosity with reports (RFC 0027) */
};

struct px_reclaim_conf {
    int64_t verbose;
    uint64_t timeout;
};

#define PX_RECLAIM_PARAMS                                                      \
    PX_PARAM_INT(struct px_reclaim_conf, verbose, "0", 0, INT32_MAX,           \
                 "From 10 on, log a line for each file that could not "        \
                 "be removed; PMIX_DEBUG sets it, too"),                       \
        PX_PARAM_DURATION(struct px_reclaim_conf, timeout, "10m", 0, 86400000, \
                          "Time limit of a removal, for each owner of files; " \
                          "0: no limit"),                                      \
        PX_PARAM_END

struct px_reclaim_job;
struct px_reclaim_result;

struct px_reclaim_jobs {
    const struct px_services *services;
    struct px_reclaim_conf conf;
    bool bound;   /* workers end with the thread that started them */
    char *node;   /* node name once started; otherwise NULL */
    pid_t owner;  /* process that started; a forked copy does nothing */
    int journal;  /* a duplicate, or -1 */
    int lines[2]; /* socket pair for worker reports, one packet each */
    struct px_watch *lines_watch;
    struct px_timer *timer;
    struct {
        pid_t pid; /* 0: unused */
        int pidfd;
        struct px_watch *watch;
        struct px_reclaim_job *job;
    } workers[PX_RECLAIM_AT_ONCE];
    struct px_reclaim_result *results; /* shared with the workers; one result each */
    struct px_list waiting, ended;
    uint64_t again_ms; /* earliest start after a worker was killed; or 0 */
};

void px_reclaim_jobs_init(struct px_reclaim_jobs *p, const struct px_services *services,
                          const void *conf);
/* Operations of pcleanup. self is a struct px_reclaim_jobs. */
pmix_status_t px_reclaim_jobs_start(void *self, const char *dir, const char *node);
pmix_status_t px_reclaim_jobs_journal(void *self, int dir_fd, int journal_fd);
pmix_status_t px_reclaim_jobs_run(void *self, uint64_t scope, px_pcleanup_done_fn done,
                                  void *arg);
pmix_status_t px_reclaim_jobs_reclaim(void *self, const char *tmpdir,
                                      px_pcleanup_done_fn done, void *arg);
void px_reclaim_jobs_finish(void *self, bool left);

/* Converts an errno to a status. 0 is PMIX_SUCCESS; EAGAIN means too many processes. */
pmix_status_t px_reclaim_status(int errnum);
/* Creates a packet socket pair. ends[0] is ours and non-blocking; ends[1] is for the
 * peer. Both are at least 3. Returns 0 or an errno. */
int px_reclaim_socket(int ends[2]);
/* Writes one line to descriptor 2, a packet socket or any file; a px_rm_notify_fn.
 * Waits at most a second for a slow reader; afterwards drops this line and all later
 * lines. in_vain points to a bool, initially false. Async-signal-safe. */
void px_reclaim_report(void *in_vain, const char *path, enum px_rm_why why, int errnum);

#endif
