/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/reclaim/jobs.h"

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOK_MS = 100,     /* between looks at what the kernel does not tell of */
    AGAIN_MIN_MS = 50, /* before a job is tried again, twice as long each time */
    AGAIN_MAX_MS = 2000,
    MAX_TRIES = 30, /* a minute of being killed */
    MSGS_AT_ONCE = 64,
};

/* Waits, is worked on, or has ended. */
struct px_reclaim_job {
    struct px_list link; /* while it waits, or has ended */
    struct px_worker_order order;
    px_pcleanup_done_fn done;
    void *arg;
    unsigned tries;
    int errnum; /* once it has ended, as totals */
    struct px_pcleanup_totals totals;
};

pmix_status_t px_reclaim_status(int errnum)
{
    if (errnum == EAGAIN)
        return PMIX_ERR_OUT_OF_RESOURCE;
    return errnum ? px_status_of_errno(errnum) : PMIX_SUCCESS;
}

static void job_free(struct px_reclaim_job *job)
{
    if (job)
        free(job->order.tmpdir);
    free(job);
}

static struct px_reclaim_job *first_of(const struct px_list *list)
{
    return px_list_empty(list)
               ? NULL
               : PX_CONTAINER_OF(list->next, struct px_reclaim_job, link);
}

static void end(struct px_reclaim_jobs *p, struct px_reclaim_job *job, int errnum)
{
    job->errnum = errnum;
    px_list_append(&p->ended, &job->link);
}

/* ---- workers -------------------------------------------------------------------- */

static void tend(void *arg);

static void on_event(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    tend(arg);
}

static void drop_worker(struct px_reclaim_jobs *p, int i)
{
    p->services->unwatch(p->workers[i].watch);
    px_drop_fd(&p->workers[i].pidfd);
    memset(&p->workers[i], 0, sizeof(p->workers[i]));
    p->workers[i].pidfd = -1;
}

/* 0 or an errno. That it cannot be watched is no failure: it is looked at now and
 * then. */
static int start_worker(struct px_reclaim_jobs *p, int i, struct px_reclaim_job *job)
{
    const struct px_reclaim s = {
        .journal = p->journal,
        .node = p->node,
        .told = p->conf.verbose >= PX_WORKER_REPORT_LEVEL ? px_worker_report : NULL,
        .timeout_ms = (uint32_t)p->conf.timeout,
    };

    pid_t pid = px_worker_start(&s, &job->order, p->msgs[1], p->bound);
    if (pid < 0)
        return errno;
    p->workers[i].pid = pid;
    p->workers[i].job = job;
    p->workers[i].pidfd = px_reclaim_pidfd_open(pid);
    if (p->workers[i].pidfd >= 0)
        p->workers[i].watch = p->services->watch(p->services, p->workers[i].pidfd,
                                                 PX_READABLE, on_event, p);
    return 0;
}

/* A failure is reported later, by the loop. */
static void start_jobs(struct px_reclaim_jobs *p)
{
    struct px_reclaim_job *job;

    for (int i = 0; i < PX_RECLAIM_AT_ONCE && (job = first_of(&p->waiting)); i++) {
        if (p->workers[i].pid)
            continue;
        px_list_remove(&job->link);
        int errnum = start_worker(p, i, job);
        if (errnum)
            end(p, job, errnum);
    }
}

static void read_msgs(struct px_reclaim_jobs *p, unsigned most)
{
    struct px_worker_msg msg;

    while (most-- && px_worker_read(p->msgs[0], &msg) > 0) {
        if (msg.type == PX_WORKER_LINE) {
            p->services->log(p->services, PX_LOG_WARN, "%s", msg.line);
            continue;
        }
        for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++) {
            struct px_reclaim_job *job = p->workers[i].job;

            if (!job || job->order.id != msg.id)
                continue;
            job->errnum = msg.errnum;
            job->totals = msg.totals;
        }
    }
}

/* Its worker was killed, or one of the worker's: what is gone already does not count
 * then. */
static void try_again(struct px_reclaim_jobs *p, struct px_reclaim_job *job)
{
    uint64_t wait_ms = AGAIN_MIN_MS;

    for (unsigned i = 0; i < job->tries && wait_ms < AGAIN_MAX_MS; i++)
        wait_ms *= 2;
    p->again_ms = px_clock_ms() + (wait_ms < AGAIN_MAX_MS ? wait_ms : AGAIN_MAX_MS);
    job->tries++;
    px_list_prepend(&p->waiting, &job->link);
}

/* The report comes before the end. A job has ended with its worker, so that nothing of
 * it is left when that is reported. */
static void reap(struct px_reclaim_jobs *p)
{
    int status;

    for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++) {
        struct px_reclaim_job *job = p->workers[i].job;

        if (!job || !px_worker_reap(p->workers[i].pid, &status))
            continue;
        read_msgs(p, UINT_MAX);
        if (status == 0 && job->errnum != ECHILD)
            end(p, job, job->errnum);
        else if (job->tries < MAX_TRIES)
            try_again(p, job);
        else
            end(p, job, ECHILD);
        drop_worker(p, i);
    }
}

static bool has_unwatched(const struct px_reclaim_jobs *p)
{
    for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++) {
        if (p->workers[i].pid && !p->workers[i].watch)
            return true;
    }
    return false;
}

/* done may call finish. */
static void deliver(struct px_reclaim_jobs *p)
{
    struct px_reclaim_job *job;

    while ((job = first_of(&p->ended))) {
        const struct px_pcleanup_totals totals = {
            .files = job->totals.files,
            .dirs = job->totals.dirs,
            .kept = job->totals.kept,
            .foreign = job->totals.foreign,
            .failed = job->totals.failed,
        };

        px_list_remove(&job->link);
        job->done(job->arg, px_reclaim_status(job->errnum), &totals);
        job_free(job);
    }
}

/* Sees to everything, whatever the reason to look. */
static void tend(void *arg)
{
    struct px_reclaim_jobs *p = arg;

    read_msgs(p, MSGS_AT_ONCE);
    reap(p);
    uint64_t now = px_clock_ms();
    if (now >= p->again_ms)
        start_jobs(p);
    else if (!px_list_empty(&p->waiting))
        p->services->timer_set(p->timer, p->again_ms - now);
    if (has_unwatched(p))
        p->services->timer_set(p->timer, LOOK_MS);
    deliver(p);
}

/* ---- life ----------------------------------------------------------------------- */

void px_reclaim_jobs_init(struct px_reclaim_jobs *p, const struct px_services *services,
                          const void *conf)
{
    *p = (struct px_reclaim_jobs){.services = services,
                                  .conf = *(const struct px_reclaim_conf *)conf,
                                  .journal = -1,
                                  .msgs = {-1, -1}};
    for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++)
        p->workers[i].pidfd = -1;
    px_list_init(&p->waiting);
    px_list_init(&p->ended);
}

static void drop_all(struct px_reclaim_jobs *p)
{
    struct px_reclaim_job *job;

    for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++) {
        job_free(p->workers[i].job);
        drop_worker(p, i);
    }
    while ((job = first_of(&p->waiting)) || (job = first_of(&p->ended))) {
        px_list_remove(&job->link);
        job_free(job);
    }
    p->services->unwatch(px_take(&p->msgs_watch));
    p->services->timer_free(px_take(&p->timer));
    px_drop_fd(&p->msgs[0]);
    px_drop_fd(&p->msgs[1]);
    px_drop_fd(&p->journal);
    free(px_take(&p->node));
    p->again_ms = 0;
}

static pmix_status_t prepare(struct px_reclaim_jobs *p, const char *node)
{
    p->node = strdup(node);
    p->timer = p->services->timer(p->services, tend, p);
    if (!p->node || !p->timer)
        return PMIX_ERR_NOMEM;
    int errnum = px_worker_socket(p->msgs);
    if (errnum)
        return px_status_of_errno(errnum);
    p->msgs_watch = p->services->watch(p->services, p->msgs[0], PX_READABLE, on_event,
                                       p);
    return p->msgs_watch ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

pmix_status_t px_reclaim_jobs_start(void *self, const char *dir, const char *node)
{
    struct px_reclaim_jobs *p = self;

    if (p->node)
        return PMIX_ERR_EXISTS;
    if (strlen(dir) > PX_RM_MAX_PATH)
        return PMIX_ERR_BAD_PARAM;
    p->owner = getpid();
    pmix_status_t rc = prepare(p, node);
    if (rc)
        drop_all(p);
    return rc;
}

pmix_status_t px_reclaim_jobs_journal(void *self, int dir_fd PX_UNUSED, int journal_fd)
{
    struct px_reclaim_jobs *p = self;

    if (!p->node)
        return PMIX_ERR_INIT;
    int journal = fcntl(journal_fd, F_DUPFD_CLOEXEC, 3);
    if (journal < 0)
        return px_status_of_errno(errno);
    px_drop_fd(&p->journal);
    p->journal = journal;
    return PMIX_SUCCESS;
}

/* done is not for now: the loop starts the first jobs, too. */
static pmix_status_t add(struct px_reclaim_jobs *p, uint64_t scope, const char *tmpdir,
                         px_pcleanup_done_fn done, void *arg)
{
    struct px_reclaim_job *job = calloc(1, sizeof(*job));

    if (job && tmpdir)
        job->order.tmpdir = strdup(tmpdir);
    if (!job || (tmpdir && !job->order.tmpdir)) {
        free(job);
        return PMIX_ERR_NOMEM;
    }
    job->order.id = ++p->last_id;
    job->order.scope = scope;
    job->done = done;
    job->arg = arg;
    px_list_append(&p->waiting, &job->link);
    p->services->timer_set(p->timer, 0);
    return PMIX_SUCCESS;
}

pmix_status_t px_reclaim_jobs_run(void *self, uint64_t scope, px_pcleanup_done_fn done,
                                  void *arg)
{
    struct px_reclaim_jobs *p = self;

    return p->journal < 0 ? PMIX_ERR_INIT : add(p, scope, NULL, done, arg);
}

pmix_status_t px_reclaim_jobs_reclaim(void *self, const char *tmpdir,
                                      px_pcleanup_done_fn done, void *arg)
{
    struct px_reclaim_jobs *p = self;

    if (!p->node)
        return PMIX_ERR_INIT;
    if (strlen(tmpdir) > PX_RM_MAX_PATH)
        return PMIX_ERR_BAD_PARAM;
    return add(p, 0, tmpdir, done, arg);
}

void px_reclaim_jobs_finish(void *self, bool left PX_UNUSED)
{
    struct px_reclaim_jobs *p = self;

    if (!p->node)
        return;
    for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++) {
        if (p->workers[i].pid && p->owner == getpid())
            px_worker_stop(p->workers[i].pid);
    }
    read_msgs(p, MSGS_AT_ONCE);
    drop_all(p);
}
