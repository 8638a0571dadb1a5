/* SPDX-License-Identifier: BSD-3-Clause */
/* pcleanup/inproc: for hosts that forbid further processes beside them. A child for
 * each run, and nothing that outlives the server: what is left when it is killed is the
 * next server's. Not for root, whose users may expect more. */
#include "tenon/pcleanup.h"

#include "core/base/err.h"
#include "core/base/str.h"
#include "core/reclaim/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

enum {
    PRIORITY = 10,
    LOOK_MS = 100, /* between looks at what the kernel does not tell of */
    NEWS_AT_ONCE = 64,
};

struct conf {
    int64_t verbose;
    uint64_t timeout;
};

struct worker {
    pid_t pid; /* 0: none */
    int pidfd;
    struct px_watch *watch;
    uint64_t id; /* of its job */
};

struct inproc {
    const struct px_services *services;
    struct conf conf;
    char *node;  /* of a server that has started; else NULL */
    pid_t owner; /* who started: a copy made by fork has no say */
    int journal; /* a copy */
    int news[2];
    struct px_watch *news_watch;
    struct px_timer *timer;
    struct worker workers[PX_RECLAIM_AT_ONCE];
    struct px_reclaim_queue queue;
};

static const struct px_param params[] = {
    PX_PARAM_INT(struct conf, verbose, "0", 0, INT32_MAX,
                 "From 10 on, one line for each thing that could not be removed; "
                 "PMIX_DEBUG sets it, too"),
    PX_PARAM_DURATION(struct conf, timeout, "10m", 0, 86400000,
                      "How long removing may take; 0 is for ever"),
    PX_PARAM_END,
};

/* ---- life ------------------------------------------------------------------------ */

static pmix_status_t pcleanup_open(const struct px_services *services, const void *conf,
                                   void **self)
{
    struct inproc *p = malloc(sizeof(*p));
    if (!p)
        return PMIX_ERR_NOMEM;

    *p = (struct inproc){.services = services,
                         .conf = *(const struct conf *)conf,
                         .journal = -1,
                         .news = {-1, -1}};
    px_reclaim_queue_init(&p->queue);
    *self = p;
    return PMIX_SUCCESS;
}

static pmix_status_t pcleanup_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    if (geteuid() != 0)
        return PMIX_SUCCESS;
    px_str_copy(
        answer->reason, sizeof(answer->reason),
        "a server of root's needs a clean-up that outlives it: pcleanup/janitor");
    return PMIX_ERR_NOT_SUPPORTED;
}

static void drop_worker(struct inproc *p, struct worker *w)
{
    p->services->unwatch(w->watch);
    px_drop_fd(&w->pidfd);
    *w = (struct worker){.pidfd = -1};
}

static void drop_all(struct inproc *p)
{
    for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++)
        drop_worker(p, &p->workers[i]);
    p->services->unwatch(p->news_watch);
    p->news_watch = NULL;
    p->services->timer_free(p->timer);
    p->timer = NULL;
    px_drop_fd(&p->news[0]);
    px_drop_fd(&p->news[1]);
    px_drop_fd(&p->journal);
    free(px_take(&p->node));
    px_reclaim_queue_fini(&p->queue);
}

/* ---- workers --------------------------------------------------------------------- */

static void tend(void *arg);

static void on_event(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    tend(arg);
}

static struct worker *find_worker(struct inproc *p, pid_t pid)
{
    for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++) {
        if (p->workers[i].pid == pid)
            return &p->workers[i];
    }
    return NULL;
}

/* 0 or an errno. That it cannot be watched is no failure: it is looked at now and
 * then. */
static int start_worker(struct inproc *p, const struct px_reclaim_job *job)
{
    const struct px_reclaim s = {
        .journal = p->journal,
        .node = p->node,
        .told = p->conf.verbose >= PX_WORKER_REPORT_LEVEL ? px_worker_report : NULL,
        .timeout_ms = (uint32_t)p->conf.timeout,
    };
    struct worker *w = find_worker(p, 0);

    pid_t pid = px_worker_start(&s, job, p->news[1], false);
    if (pid < 0)
        return errno;
    *w = (struct worker){
        .pid = pid, .pidfd = px_reclaim_pidfd_open(pid), .id = job->id};
    if (w->pidfd >= 0)
        w->watch = p->services->watch(p->services, w->pidfd, PX_READABLE, on_event, p);
    return 0;
}

/* What fails is told later, by the loop. */
static void start_jobs(struct inproc *p)
{
    struct px_reclaim_job *job;

    while ((job = px_reclaim_queue_next(&p->queue))) {
        int errnum = start_worker(p, job);
        if (errnum)
            px_reclaim_queue_end(&p->queue, job, errnum, NULL);
        else
            px_reclaim_queue_activate(&p->queue, job);
    }
}

/* The report comes before the end. A job has ended with its worker, so that nothing of
 * it is left when that is told. */
static void read_news(struct inproc *p, unsigned most)
{
    struct px_worker_msg news;

    while (most-- && px_worker_read(p->news[0], &news) > 0) {
        struct px_reclaim_job *job = px_reclaim_queue_find(&p->queue, news.id);

        if (news.type == PX_WORKER_LINE)
            p->services->log(p->services, PX_LOG_WARN, "%s", news.line);
        else if (job) {
            job->totals = news.totals;
            job->errnum = news.errnum;
        }
    }
}

static void reap(struct inproc *p)
{
    int status;

    for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++) {
        struct worker *w = &p->workers[i];

        if (!w->pid || !px_worker_reap(w->pid, &status))
            continue;
        read_news(p, UINT_MAX);
        struct px_reclaim_job *job = px_reclaim_queue_find(&p->queue, w->id);
        if (job)
            px_reclaim_queue_end(&p->queue, job, status ? ECHILD : job->errnum, NULL);
        drop_worker(p, w);
    }
}

/* May call finish. */
static void tell(const struct px_reclaim_job *job)
{
    const struct px_pcleanup_totals totals = {
        .files = job->totals.files,
        .dirs = job->totals.dirs,
        .kept = job->totals.kept,
        .foreign = job->totals.foreign,
        .failed = job->totals.failed,
    };

    ((px_pcleanup_done_fn)job->done)(job->arg, px_reclaim_status(job->errnum), &totals);
}

static bool someone_is_unwatched(const struct inproc *p)
{
    for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++) {
        if (p->workers[i].pid && !p->workers[i].watch)
            return true;
    }
    return false;
}

/* Sees to everything, whatever the reason to look. */
static void tend(void *arg)
{
    struct inproc *p = arg;

    read_news(p, NEWS_AT_ONCE);
    reap(p);
    start_jobs(p);
    if (someone_is_unwatched(p))
        p->services->timer_set(p->timer, LOOK_MS);
    px_reclaim_queue_deliver(&p->queue, tell);
}

/* ---- operations ------------------------------------------------------------------ */

static pmix_status_t prepare(struct inproc *p, const char *node)
{
    p->node = strdup(node);
    p->timer = p->services->timer(p->services, tend, p);
    if (!p->node || !p->timer)
        return PMIX_ERR_NOMEM;
    int errnum = px_worker_socket(p->news);
    if (errnum)
        return px_status_of_errno(errnum);
    p->news_watch = p->services->watch(p->services, p->news[0], PX_READABLE, on_event,
                                       p);
    return p->news_watch ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static pmix_status_t pcleanup_start(void *self, const char *dir, const char *node)
{
    struct inproc *p = self;

    if (p->node)
        return PMIX_ERR_EXISTS;
    if (strlen(dir) > PX_RM_MAX_PATH)
        return PMIX_ERR_BAD_PARAM;
    for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++)
        p->workers[i] = (struct worker){.pidfd = -1};
    p->owner = getpid();
    pmix_status_t rc = prepare(p, node);
    if (rc)
        drop_all(p);
    return rc;
}

static pmix_status_t pcleanup_journal(void *self, int dir_fd PX_UNUSED, int journal_fd)
{
    struct inproc *p = self;

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
static pmix_status_t add(struct inproc *p, uint64_t scope, const char *tmpdir,
                         px_pcleanup_done_fn done, void *arg)
{
    if (!px_reclaim_queue_add(&p->queue, scope, tmpdir, (void (*)(void))done, arg))
        return PMIX_ERR_NOMEM;
    p->services->timer_set(p->timer, 0);
    return PMIX_SUCCESS;
}

static pmix_status_t pcleanup_run(void *self, uint64_t scope, px_pcleanup_done_fn done,
                                  void *arg)
{
    struct inproc *p = self;

    return p->journal < 0 ? PMIX_ERR_INIT : add(p, scope, NULL, done, arg);
}

static pmix_status_t pcleanup_reclaim(void *self, const char *tmpdir,
                                      px_pcleanup_done_fn done, void *arg)
{
    struct inproc *p = self;

    if (!p->node)
        return PMIX_ERR_INIT;
    if (strlen(tmpdir) > PX_RM_MAX_PATH)
        return PMIX_ERR_BAD_PARAM;
    return add(p, 0, tmpdir, done, arg);
}

static void pcleanup_finish(void *self, bool left PX_UNUSED)
{
    struct inproc *p = self;

    if (!p->node)
        return;
    for (int i = 0; i < PX_RECLAIM_AT_ONCE; i++) {
        if (p->workers[i].pid && p->owner == getpid())
            px_worker_stop(p->workers[i].pid);
    }
    read_news(p, NEWS_AT_ONCE);
    drop_all(p);
}

static void pcleanup_close(void *self)
{
    if (self)
        pcleanup_finish(self, false);
    free(self);
}

static const struct px_pcleanup_ops ops = {
    .start = pcleanup_start,
    .journal = pcleanup_journal,
    .run = pcleanup_run,
    .reclaim = pcleanup_reclaim,
    .finish = pcleanup_finish,
};

PX_COMPONENT(pcleanup, inproc) = {
    PX_COMPONENT_HEAD(pcleanup, PCLEANUP, inproc),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf),
    .open = pcleanup_open,
    .query = pcleanup_query,
    .close = pcleanup_close,
    .ops = &ops,
};
