/* SPDX-License-Identifier: BSD-3-Clause */
/* pcleanup/janitor: workers of the server's remove while it lives, and a process of its
 * own, the janitor, does so when the server was killed. This is the server's side. */
#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/reclaim/jobs.h"
#include "janitor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
    PRIORITY = 20,
    END_MS = 1000,      /* how long it may take to end */
    LOOK_MS = 100,      /* between looks at what the kernel does not tell of */
    AGAIN_MIN_MS = 100, /* before another is started, twice as long each time */
    AGAIN_MAX_MS = 10000,
};

struct janitor {
    struct px_reclaim_jobs jobs; /* first */
    char *dir;                   /* of a server that has started; else NULL */
    pid_t pid;                   /* 0: there is none for now */
    int pidfd, sock;
    int dir_fd; /* a copy, as jobs.journal */
    bool journal_unsent;
    struct px_watch *pid_watch;
    struct px_timer *timer;
    uint64_t born_ms, wait_ms;
};

static const struct px_param params[] = {PX_RECLAIM_PARAMS};

static void tend(void *arg);

/* ---- life ----------------------------------------------------------------------- */

static pmix_status_t pcleanup_open(const struct px_services *services, const void *conf,
                                   void **self)
{
    struct janitor *j = calloc(1, sizeof(*j));

    if (!j)
        return PMIX_ERR_NOMEM;
    px_reclaim_jobs_init(&j->jobs, services, conf);
    j->jobs.bound = true;
    j->pidfd = j->sock = j->dir_fd = -1;
    *self = j;
    return PMIX_SUCCESS;
}

static pmix_status_t pcleanup_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

/* What belongs to this one janitor. */
static void drop_process(struct janitor *j)
{
    j->jobs.services->unwatch(px_take(&j->pid_watch));
    px_drop_fd(&j->sock);
    px_drop_fd(&j->pidfd);
    j->pid = 0;
}

static void drop_all(struct janitor *j)
{
    drop_process(j);
    px_drop_fd(&j->dir_fd);
    j->jobs.services->timer_free(px_take(&j->timer));
    free(px_take(&j->dir));
    j->wait_ms = 0;
    j->journal_unsent = false;
}

/* ---- the process ---------------------------------------------------------------- */

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
        .node = j->jobs.node,
        .timeout_ms = (uint32_t)j->jobs.conf.timeout,
        .reports = j->jobs.conf.verbose >= PX_WORKER_REPORT_LEVEL,
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

/* Its end is noticed by descriptor, or by looking where there is none. */
static pmix_status_t watch_process(struct janitor *j)
{
    const struct px_services *services = j->jobs.services;

    j->pidfd = px_reclaim_pidfd_open(j->pid);
    if (j->pidfd < 0) {
        services->timer_set(j->timer, LOOK_MS);
        return PMIX_SUCCESS;
    }
    j->pid_watch = services->watch(services, j->pidfd, PX_READABLE, on_event, j);
    return j->pid_watch ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static pmix_status_t launch(struct janitor *j)
{
    int ends[2];
    int errnum = px_worker_socket(ends);

    if (errnum)
        return px_status_of_errno(errnum);
    j->sock = ends[0];
    pmix_status_t rc = fork_janitor(j, ends[1]);
    close(ends[1]);
    if (!rc)
        rc = watch_process(j);
    if (rc) {
        kill_process(j);
        drop_process(j);
        return rc;
    }
    j->born_ms = px_clock_ms();
    j->journal_unsent = j->dir_fd >= 0;
    return PMIX_SUCCESS;
}

/* ---- orders --------------------------------------------------------------------- */

static bool send_order(struct janitor *j, uint32_t order, const int *fds)
{
    union {
        char bytes[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct iovec iov = {.iov_base = &order, .iov_len = sizeof(order)};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t n;

    if (fds) {
        control.align = (struct cmsghdr){.cmsg_len = CMSG_LEN(2 * sizeof(int)),
                                         .cmsg_level = SOL_SOCKET,
                                         .cmsg_type = SCM_RIGHTS};
        msg.msg_control = &control;
        msg.msg_controllen = sizeof(control.bytes);
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), fds, 2 * sizeof(int));
    }
    do {
        n = sendmsg(j->sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    return n >= 0;
}

/* That it cannot be sent now is no failure: the janitor has room later, or is dead,
 * which will show. */
static void send_journal(struct janitor *j)
{
    const int fds[] = {j->dir_fd, j->jobs.journal};

    if (!j->pid || !j->journal_unsent)
        return;
    j->journal_unsent = !send_order(j, ORDER_JOURNAL, fds);
    if (j->journal_unsent)
        j->jobs.services->timer_set(j->timer, LOOK_MS);
}

/* ---- while the server lives ----------------------------------------------------- */

/* A host that ends all below it, again and again, must not meet the next one at once.
 * The longer one has lived the less it matters how the one before it ended. */
static void on_death(struct janitor *j, int status)
{
    const struct px_services *services = j->jobs.services;
    bool lived = px_clock_ms() - j->born_ms > AGAIN_MAX_MS;

    j->wait_ms = lived || !j->wait_ms        ? AGAIN_MIN_MS
                 : j->wait_ms < AGAIN_MAX_MS ? 2 * j->wait_ms
                                             : j->wait_ms;
    services->log(services, PX_LOG_INFO,
                  "the janitor, process %ld, %s %d; another one is started in %llu ms",
                  (long)j->pid,
                  WIFSIGNALED(status) ? "was killed by signal" : "has ended with",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                  (unsigned long long)j->wait_ms);
    drop_process(j);
    services->timer_set(j->timer, j->wait_ms);
}

/* Sees to everything, whatever the reason to look. */
static void tend(void *arg)
{
    struct janitor *j = arg;
    int status;

    if (j->pid && px_reclaim_reap(j->pid, &status)) {
        on_death(j, status);
        return;
    }
    if (!j->pid && launch(j))
        j->jobs.services->timer_set(j->timer, AGAIN_MAX_MS);
    send_journal(j);
    if (j->pid && j->pidfd < 0)
        j->jobs.services->timer_set(j->timer, LOOK_MS);
}

/* ---- operations ----------------------------------------------------------------- */

static pmix_status_t pcleanup_start(void *self, const char *dir, const char *node)
{
    struct janitor *j = self;
    pmix_status_t rc = px_reclaim_jobs_start(&j->jobs, dir, node);

    if (rc)
        return rc;
    j->dir = strdup(dir);
    j->timer = j->jobs.services->timer(j->jobs.services, tend, j);
    rc = j->dir && j->timer ? launch(j) : PMIX_ERR_NOMEM;
    if (rc) {
        drop_all(j);
        px_reclaim_jobs_finish(&j->jobs, false);
    }
    return rc;
}

static pmix_status_t pcleanup_journal(void *self, int dir_fd, int journal_fd)
{
    struct janitor *j = self;
    PX_AUTOCLOSE int dir = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);

    if (!j->dir)
        return PMIX_ERR_INIT;
    if (dir < 0)
        return px_status_of_errno(errno);
    pmix_status_t rc = px_reclaim_jobs_journal(&j->jobs, dir_fd, journal_fd);
    if (rc)
        return rc;
    px_drop_fd(&j->dir_fd);
    j->dir_fd = px_take_fd(&dir);
    j->journal_unsent = true;
    send_journal(j);
    return PMIX_SUCCESS;
}

/* It ends at once, or has another process go on. The end of the socket is for one that
 * does not take orders, which is then killed. */
static bool end_process(struct janitor *j, bool left)
{
    const uint64_t deadline_ms = px_clock_ms() + END_MS;
    int status = -1;

    send_journal(j);
    (void)send_order(j, left ? ORDER_LEFT : ORDER_END, NULL);
    shutdown(j->sock, SHUT_WR);
    if (!px_reclaim_reap_until(j->pid, deadline_ms, &status))
        kill_process(j);
    return status == 0;
}

static void pcleanup_finish(void *self, bool left)
{
    struct janitor *j = self;
    const struct px_services *services = j->jobs.services;

    if (j->dir && j->jobs.owner == getpid()) {
        if (left && !j->pid)
            (void)launch(j);
        bool ended = j->pid && end_process(j, left);
        if (left && !ended)
            services->log(services, PX_LOG_WARN,
                          "no janitor can be kept: what is to be cleaned up is left to "
                          "the next server");
    }
    px_reclaim_jobs_finish(&j->jobs, left);
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
    .run = px_reclaim_jobs_run,
    .reclaim = px_reclaim_jobs_reclaim,
    .finish = pcleanup_finish,
    .flags = PX_PCLEANUP_OUTLIVES,
};

PX_COMPONENT(pcleanup, janitor) = {
    PX_COMPONENT_HEAD(pcleanup, PCLEANUP, janitor),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct px_reclaim_conf),
    .open = pcleanup_open,
    .query = pcleanup_query,
    .close = pcleanup_close,
    .ops = &ops,
};
