/* SPDX-License-Identifier: BSD-3-Clause */
/* pcleanup/janitor: a process of its own removes, and outlives a server that is killed.
 * This is the server's side, which makes the process, gives it orders and takes what it
 * reports. */
#include "tenon/pcleanup.h"

#include "core/base/err.h"
#include "core/reclaim/worker.h"
#include "janitor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
    PRIORITY = 20,
    N_LIVES = 2,   /* how often a janitor is started for one server */
    END_MS = 1000, /* how long it may take to end */
    LOOK_MS = 100, /* between looks at what the kernel does not tell of */
    NEWS_AT_ONCE = 64,
};

struct conf {
    int64_t verbose;
    uint64_t timeout;
};

struct janitor {
    const struct px_services *services;
    struct conf conf;
    char *dir, *node; /* of a server that has started; else NULL */
    pid_t owner;      /* who started: a copy made by fork has no say */
    unsigned n_lives;
    pid_t pid; /* 0: there is none, or not any more */
    int pidfd, sock;
    int dir_fd, journal_fd; /* copies */
    bool journal_unsent;
    struct px_watch *sock_watch, *pid_watch;
    struct px_timer *timer;
    struct px_reclaim_queue queue;
};

static const struct px_param params[] = {
    PX_PARAM_INT(struct conf, verbose, "0", 0, INT32_MAX,
                 "From 10 on, one line for each thing that could not be removed; "
                 "PMIX_DEBUG sets it, too"),
    PX_PARAM_DURATION(
        struct conf, timeout, "10m", 0, 86400000,
        "How long removing may take, for each user whose files it is; 0 is "
        "for ever"),
    PX_PARAM_END,
};

static void tend(void *arg);

/* ---- life ------------------------------------------------------------------------ */

static pmix_status_t pcleanup_open(const struct px_services *services, const void *conf,
                                   void **self)
{
    struct janitor *j = malloc(sizeof(*j));
    if (!j)
        return PMIX_ERR_NOMEM;

    *j = (struct janitor){.services = services,
                          .conf = *(const struct conf *)conf,
                          .pidfd = -1,
                          .sock = -1,
                          .dir_fd = -1,
                          .journal_fd = -1};
    px_reclaim_queue_init(&j->queue);
    *self = j;
    return PMIX_SUCCESS;
}

static pmix_status_t pcleanup_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

static void unwatch(struct janitor *j, struct px_watch **watch)
{
    j->services->unwatch(*watch);
    *watch = NULL;
}

/* What belongs to this one janitor. */
static void drop_process(struct janitor *j)
{
    unwatch(j, &j->sock_watch);
    unwatch(j, &j->pid_watch);
    px_drop_fd(&j->sock);
    px_drop_fd(&j->pidfd);
    j->pid = 0;
}

static void drop_all(struct janitor *j)
{
    drop_process(j);
    px_drop_fd(&j->dir_fd);
    px_drop_fd(&j->journal_fd);
    j->services->timer_free(j->timer);
    j->timer = NULL;
    free(px_take(&j->dir));
    free(px_take(&j->node));
    px_reclaim_queue_fini(&j->queue);
    j->n_lives = 0;
    j->journal_unsent = false;
}

/* ---- the process ----------------------------------------------------------------- */

static void on_event(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    tend(arg);
}

static pmix_status_t fork_janitor(struct janitor *j, int its_end)
{
    const struct janitor_plan plan = {
        .sock = its_end,
        .server = getpid(),
        .dir = j->dir,
        .node = j->node,
        .timeout_ms = (uint32_t)j->conf.timeout,
        .tells = j->conf.verbose >= PX_WORKER_REPORT_LEVEL,
    };

    pid_t pid = px_reclaim_fork();
    if (pid == 0)
        px_janitor_main(&plan);
    if (pid < 0)
        return px_reclaim_status(errno);
    j->pid = pid;
    return PMIX_SUCCESS;
}

/* Kills the janitor only, not those it may have made to go on without us. */
static void kill_process(struct janitor *j)
{
    if (!j->pid)
        return;
    kill(j->pid, SIGKILL);
    (void)px_reclaim_reap_within(j->pid, END_MS);
}

static pmix_status_t launch(struct janitor *j)
{
    const struct px_services *services = j->services;
    int ends[2];

    int errnum = px_worker_socket(ends);
    if (errnum)
        return px_status_of_errno(errnum);
    j->sock = ends[0];
    j->sock_watch = services->watch(services, j->sock, PX_READABLE, on_event, j);
    pmix_status_t rc = j->sock_watch ? fork_janitor(j, ends[1]) : PMIX_ERR_NOMEM;
    close(ends[1]);
    if (!rc) {
        j->pidfd = px_reclaim_pidfd_open(j->pid);
        if (j->pidfd >= 0) {
            j->pid_watch = services->watch(services, j->pidfd, PX_READABLE, on_event,
                                           j);
            rc = j->pid_watch ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
        } else {
            services->timer_set(j->timer, LOOK_MS);
        }
    }
    if (rc) {
        kill_process(j);
        drop_process(j);
        return rc;
    }
    j->n_lives++;
    j->journal_unsent = j->journal_fd >= 0;
    return PMIX_SUCCESS;
}

/* ---- orders ---------------------------------------------------------------------- */

static bool send_order(struct janitor *j, struct janitor_order *order, const char *path,
                       const int *fds, size_t n_fds)
{
    union {
        char bytes[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    const size_t len = strlen(path);
    struct iovec iov = {.iov_base = order,
                        .iov_len = offsetof(struct janitor_order, path) + len + 1};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t n;

    memcpy(order->path, path, len + 1);
    if (n_fds) {
        control.align = (struct cmsghdr){.cmsg_len = CMSG_LEN(n_fds * sizeof(int)),
                                         .cmsg_level = SOL_SOCKET,
                                         .cmsg_type = SCM_RIGHTS};
        msg.msg_control = &control;
        msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), fds, n_fds * sizeof(int));
    }
    do {
        n = sendmsg(j->sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    return n >= 0;
}

static bool send_journal(struct janitor *j)
{
    struct janitor_order order = {.type = ORDER_JOURNAL};
    const int fds[] = {j->dir_fd, j->journal_fd};

    return send_order(j, &order, "", fds, 2);
}

static bool send_job(struct janitor *j, const struct px_reclaim_job *job)
{
    struct janitor_order order = {.type = job->tmpdir ? ORDER_RECLAIM : ORDER_SWEEP,
                                  .id = job->id,
                                  .scope = job->scope};

    return send_order(j, &order, job->tmpdir ? job->tmpdir : "", NULL, 0);
}

/* Sends what there is to send, in order. That it cannot be sent now is no failure: the
 * janitor has room later, or is dead, which will be told. */
static void flush(struct janitor *j)
{
    struct px_reclaim_job *job;
    bool sent = true;

    if (j->sock < 0)
        return;
    if (j->journal_unsent) {
        sent = send_journal(j);
        j->journal_unsent = !sent;
    }
    while (sent && (job = px_reclaim_queue_next(&j->queue))) {
        sent = send_job(j, job);
        if (sent)
            px_reclaim_queue_activate(&j->queue, job);
    }
    bool is_full = !sent && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (!sent && !is_full)
        j->services->timer_set(j->timer, LOOK_MS);
    j->services->watch_set(j->sock_watch,
                           is_full ? PX_READABLE | PX_WRITABLE : PX_READABLE);
}

/* ---- news ------------------------------------------------------------------------ */

/* reaped: it is no more. Else one that is not listened to any more is ended first, as
 * it would take the end of the socket for ours. */
static void read_news(struct janitor *j, bool reaped)
{
    struct px_worker_msg news;
    int more = 1;

    for (int i = 0; i < NEWS_AT_ONCE && j->sock >= 0; i++) {
        more = px_worker_read(j->sock, &news);
        if (more <= 0)
            break;
        if (news.type == PX_WORKER_LINE) {
            j->services->log(j->services, PX_LOG_WARN, "%s", news.line);
            continue;
        }
        struct px_reclaim_job *job = px_reclaim_queue_find(&j->queue, news.id);
        if (job)
            px_reclaim_queue_end(&j->queue, job, news.errnum, &news.totals);
    }
    if (more < 0) {
        if (!reaped)
            kill(j->pid, SIGKILL);
        unwatch(j, &j->sock_watch);
        px_drop_fd(&j->sock);
    }
}

/* Those it has worked on are done again: what is gone already does not count. */
static void on_death(struct janitor *j, int status)
{
    const struct px_services *services = j->services;
    const pid_t was = j->pid;
    pmix_status_t rc = PMIX_ERR_NOT_AVAILABLE;

    drop_process(j);
    px_reclaim_queue_again(&j->queue);
    if (j->n_lives < N_LIVES)
        rc = launch(j);
    services->log(services, PX_LOG_WARN, "the janitor, process %ld, %s %d; %s",
                  (long)was,
                  WIFSIGNALED(status) ? "was killed by signal" : "has ended with",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                  rc ? "what is to be cleaned up is left to the next server"
                     : "another one was started");
    if (rc)
        px_reclaim_queue_end_all(&j->queue, ECONNRESET);
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

/* Sees to everything, whatever the reason to look. */
static void tend(void *arg)
{
    struct janitor *j = arg;
    int status;

    if (j->pid && px_reclaim_reap(j->pid, &status)) {
        read_news(j, true);
        on_death(j, status);
    } else if (j->pid) {
        read_news(j, false);
    }
    if (j->pid && (j->pidfd < 0 || j->sock < 0))
        j->services->timer_set(j->timer, LOOK_MS);
    flush(j);
    px_reclaim_queue_deliver(&j->queue, tell);
}

/* ---- operations ------------------------------------------------------------------ */

static pmix_status_t pcleanup_start(void *self, const char *dir, const char *node)
{
    struct janitor *j = self;

    if (j->dir)
        return PMIX_ERR_EXISTS;
    if (strlen(dir) > PX_RM_MAX_PATH)
        return PMIX_ERR_BAD_PARAM;
    j->owner = getpid();
    j->dir = strdup(dir);
    j->node = strdup(node);
    j->timer = j->services->timer(j->services, tend, j);
    pmix_status_t rc = j->dir && j->node && j->timer ? launch(j) : PMIX_ERR_NOMEM;
    if (rc)
        drop_all(j);
    return rc;
}

static pmix_status_t pcleanup_journal(void *self, int dir_fd, int journal_fd)
{
    struct janitor *j = self;
    PX_AUTOCLOSE int dir = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
    PX_AUTOCLOSE int journal = fcntl(journal_fd, F_DUPFD_CLOEXEC, 3);

    if (!j->dir)
        return PMIX_ERR_INIT;
    if (dir < 0 || journal < 0)
        return px_status_of_errno(errno);
    px_drop_fd(&j->dir_fd);
    px_drop_fd(&j->journal_fd);
    j->dir_fd = px_take_fd(&dir);
    j->journal_fd = px_take_fd(&journal);
    j->journal_unsent = true;
    flush(j);
    return PMIX_SUCCESS;
}

static pmix_status_t add(struct janitor *j, uint64_t scope, const char *tmpdir,
                         px_pcleanup_done_fn done, void *arg)
{
    if (!j->pid)
        return PMIX_ERR_NOT_AVAILABLE;
    if (!px_reclaim_queue_add(&j->queue, scope, tmpdir, (void (*)(void))done, arg))
        return PMIX_ERR_NOMEM;
    flush(j);
    return PMIX_SUCCESS;
}

static pmix_status_t pcleanup_run(void *self, uint64_t scope, px_pcleanup_done_fn done,
                                  void *arg)
{
    struct janitor *j = self;

    return j->journal_fd < 0 ? PMIX_ERR_INIT : add(j, scope, NULL, done, arg);
}

static pmix_status_t pcleanup_reclaim(void *self, const char *tmpdir,
                                      px_pcleanup_done_fn done, void *arg)
{
    struct janitor *j = self;

    if (!j->dir)
        return PMIX_ERR_INIT;
    if (strlen(tmpdir) > PX_RM_MAX_PATH)
        return PMIX_ERR_BAD_PARAM;
    return add(j, 0, tmpdir, done, arg);
}

/* It ends at once, or has somebody else go on. The end of the socket is for one that
 * does not take orders, which is then killed. */
static void pcleanup_finish(void *self, bool left)
{
    struct janitor *j = self;
    struct janitor_order order = {.type = left ? ORDER_LEFT : ORDER_END};

    if (j->pid && j->owner == getpid()) {
        if (j->journal_unsent && j->sock >= 0)
            (void)send_journal(j);
        if (j->sock >= 0) {
            (void)send_order(j, &order, "", NULL, 0);
            shutdown(j->sock, SHUT_WR);
        }
        if (!px_reclaim_reap_within(j->pid, END_MS))
            kill_process(j);
        read_news(j, true);
    }
    drop_all(j);
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
    .flags = PX_PCLEANUP_OUTLIVES,
};

PX_COMPONENT(pcleanup, janitor) = {
    PX_COMPONENT_HEAD(pcleanup, PCLEANUP, janitor),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf),
    .open = pcleanup_open,
    .query = pcleanup_query,
    .close = pcleanup_close,
    .ops = &ops,
};
