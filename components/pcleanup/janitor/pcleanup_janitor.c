/* SPDX-License-Identifier: BSD-3-Clause */
/* pcleanup/janitor: workers clean up while the server lives. A separate process, the
 * janitor, cleans up after the server was killed. This file has the janitor first, then
 * the server's side. */
#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/reclaim/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

enum {
    PRIORITY = 20,
    NODE_B = 320,       /* the journal takes no longer names */
    END_MS = 1000,      /* time limit for the janitor to end */
    POLL_MS = 100,      /* interval of polls for events without a descriptor */
    AGAIN_MIN_MS = 100, /* pause before a new janitor; doubles each time */
    AGAIN_MAX_MS = 10000,
};

/* Messages of the server to the janitor, over a packet socket. */
enum order {
    ORDER_JOURNAL =
        1,      /* brings descriptors of folder and journal, which replace earlier
                 * ones */
    ORDER_END,  /* the server has ended in order, and left nothing */
    ORDER_LEFT, /* the server has ended in order, but left scopes with live processes */
};

struct janitor {
    struct px_reclaim_jobs jobs; /* operations get a pointer to this member */
    char *dir;                   /* set after start; otherwise NULL */
    pid_t pid;                   /* 0: none at present */
    pid_t ending;                /* janitor that got its last order and has to be
                                  * reaped; 0: none */
    int pidfd, sock;
    int dir_fd; /* our copy, like jobs.journal */
    bool journal_unsent;
    struct px_watch *pid_watch;
    struct px_timer *timer;
    uint64_t born_ms, wait_ms;
};

/* State of the janitor, which is a copy of a process with threads. So the janitor does
 * not allocate, lock or format. */
struct heir {
    int sock;
    uint32_t timeout_ms;
    bool reports; /* report files that stay, with the reason */
    int dir, journal;
    char path[PX_RM_MAX_PATH + 1];
    char node[NODE_B];
};

/* ---- the janitor ---------------------------------------------------------------- */

static void nap(void)
{
    const struct timespec t = {.tv_nsec = POLL_MS * 1000000L};

    nanosleep(&t, NULL);
}

/* Cleans up after the server. Without a journal, the server's folder may not exist, or
 * the last order was lost. */
static PX_NORETURN void finish(struct heir *h)
{
    bool in_vain = false;
    struct px_pcleanup_totals totals = {0};
    struct px_reclaim s = {
        .journal = h->journal,
        .node = h->node,
        .notify = h->reports ? px_reclaim_report : NULL,
        .arg = &in_vain,
        .timeout_ms = h->timeout_ms,
    };

    close(h->sock);
    /* A dying process closes its socket before the folder that it has locked. */
    uint64_t until_ms = px_clock_ms() + END_MS;
    int rc = px_reclaim_server_dir(&s, h->path, h->dir, true, &totals);
    while (rc == EBUSY && px_clock_ms() < until_ms) {
        nap();
        rc = px_reclaim_server_dir(&s, h->path, h->dir, true, &totals);
    }
    if (!rc && h->journal >= 0 && !px_os_fs_is_local(h->dir)) {
        /* NFS has kept the journal, which is open here */
        px_drop_fd(&h->journal);
        s.journal = -1;
        rc = px_reclaim_server_dir(&s, h->path, h->dir, true, &totals);
    }
    _exit(rc ? EXIT_FAILURE : EXIT_SUCCESS);
}

static void obey(struct heir *h, uint32_t order, int fds[2])
{
    if (order == ORDER_END)
        _exit(EXIT_SUCCESS);
    if (order == ORDER_LEFT) {
        /* The server's process may live for long. It must not wait for us or get a
         * zombie, so a process that is not a child of the server goes on. */
        pid_t pid = px_reclaim_fork();

        if (pid == 0)
            finish(h);
        _exit(pid < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    if (order != ORDER_JOURNAL || fds[0] < 0)
        return;
    px_drop_fd(&h->dir);
    px_drop_fd(&h->journal);
    h->dir = px_take_fd(&fds[0]);
    h->journal = px_take_fd(&fds[1]);
}

/* Takes an order. False: no order; *over: no more orders will come. */
static bool take_order(struct heir *h, bool *over)
{
    union {
        char bytes[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr align;
    } control;
    uint32_t order = 0;
    struct iovec iov = {.iov_base = &order, .iov_len = sizeof(order)};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control)};
    int fds[2] = {-1, -1};

    ssize_t n = recvmsg(h->sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    bool no_memory = n < 0 && (errno == ENOMEM || errno == ENOBUFS);
    *over = n == 0 || (n < 0 && !no_memory && errno != EAGAIN && errno != EINTR);
    if (no_memory)
        nap(); /* a temporary shortage: the server lives */
    if (n <= 0)
        return false;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof(fds)))
        memcpy(fds, CMSG_DATA(c), sizeof(fds));
    obey(h, order, fds);
    px_drop_fd(&fds[0]);
    px_drop_fd(&fds[1]);
    return true;
}

static PX_NORETURN void janitor_main(const struct janitor *server, pid_t pid, int sock)
{
    struct heir h = {.sock = sock, .dir = -1, .journal = -1};
    const int keep[] = {STDERR_FILENO, sock};

    h.timeout_ms = (uint32_t)server->jobs.conf.timeout;
    h.reports = server->jobs.conf.verbose >= PX_RECLAIM_REPORT_LEVEL;
    px_str_copy(h.path, sizeof(h.path), server->dir);
    px_str_copy(h.node, sizeof(h.node), server->jobs.node);
    px_reclaim_detach(PX_RECLAIM_JANITOR, h.reports ? keep : keep + 1,
                      h.reports ? 2 : 1);
    int pidfd = px_os_pidfd_open(pid);
    /* The pid may be reused, but our parent has that pid only while the server
     * lives. */
    for (bool over = false; !over && getppid() == pid;) {
        struct pollfd fds[] = {{.fd = sock, .events = POLLIN},
                               {.fd = pidfd, .events = POLLIN}};

        if (poll(fds, 2, pidfd < 0 ? POLL_MS : -1) < 0) {
            /* no memory for now: read the socket only */
            fds[0].revents = POLLIN;
            fds[1].revents = 0;
            nap();
        }
        if (fds[1].revents)
            break;
        if (fds[0].revents)
            (void)take_order(&h, &over);
    }
    /* The last order may bring the journal, or end the janitor. */
    for (bool over; take_order(&h, &over);)
        ;
    finish(&h);
}

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

/* Drops all state of one janitor process. */
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

/* True if the janitor has ended in order. Kills a janitor that does not end, but not
 * its successor. */
static bool await_end(struct janitor *j)
{
    int status = -1;

    if (j->ending && !px_reclaim_reap_until(j->ending, px_clock_ms() + END_MS, &status))
        px_reclaim_end(j->ending);
    j->ending = 0;
    return status == 0;
}

/* Watches the janitor by pidfd, or polls without a pidfd. */
static pmix_status_t watch_process(struct janitor *j)
{
    const struct px_services *services = j->jobs.services;

    j->pidfd = px_os_pidfd_open(j->pid);
    if (j->pidfd < 0) {
        services->timer_set(j->timer, POLL_MS);
        return PMIX_SUCCESS;
    }
    j->pid_watch = services->watch(services, j->pidfd, PX_READABLE, on_event, j);
    return j->pid_watch ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static pmix_status_t launch(struct janitor *j)
{
    const pid_t server = getpid();
    pmix_status_t rc = PMIX_SUCCESS;
    int ends[2];
    int errnum = px_reclaim_socket(ends);

    if (errnum)
        return px_status_of_errno(errnum);
    j->sock = ends[0];
    j->pid = px_reclaim_fork();
    if (j->pid == 0)
        janitor_main(j, server, ends[1]);
    if (j->pid < 0) {
        rc = px_reclaim_status(errno);
        j->pid = 0;
    }
    close(ends[1]);
    if (!rc)
        rc = watch_process(j);
    if (rc) {
        if (j->pid)
            px_reclaim_end(j->pid);
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

/* Sends the journal. A failure is not fatal: the janitor has room later, or is dead,
 * which is noticed. */
static void send_journal(struct janitor *j)
{
    const int fds[] = {j->dir_fd, j->jobs.journal};

    if (!j->pid || !j->journal_unsent)
        return;
    j->journal_unsent = !send_order(j, ORDER_JOURNAL, fds);
    if (j->journal_unsent)
        j->jobs.services->timer_set(j->timer, POLL_MS);
}

/* ---- while the server lives ----------------------------------------------------- */

/* Starts a new janitor after a pause. The pause grows if the host kills every janitor.
 * A janitor that has lived long resets the pause. */
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

/* Handles every event: reaps, starts a janitor and sends the journal as needed. */
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
        j->jobs.services->timer_set(j->timer, POLL_MS);
}

/* ---- operations ----------------------------------------------------------------- */

static pmix_status_t pcleanup_start(void *self, const char *dir, const char *node)
{
    struct janitor *j = self;
    pmix_status_t rc = px_reclaim_jobs_start(&j->jobs, dir, node);

    if (rc)
        return rc;
    (void)await_end(j);
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

static void pcleanup_finish(void *self, bool left)
{
    struct janitor *j = self;
    const struct px_services *services = j->jobs.services;

    if (j->dir && j->jobs.owner == getpid()) {
        if (left && !j->pid)
            (void)launch(j);
        if (j->pid) {
            /* The janitor ends at once, or leaves a successor. The end of file serves a
             * janitor that takes no orders. */
            j->jobs.services->unwatch(px_take(&j->pid_watch)); /* wakes the loop */
            send_journal(j);
            (void)send_order(j, left ? ORDER_LEFT : ORDER_END, NULL);
            shutdown(j->sock, SHUT_WR);
            j->ending = j->pid;
            j->pid = 0;
        }
        if (left && !await_end(j))
            services->log(services, PX_LOG_WARN,
                          "no janitor can be kept: what is to be cleaned up is left to "
                          "the next server");
    }
    px_reclaim_jobs_finish(&j->jobs, left);
    drop_all(j);
}

static void pcleanup_close(void *self)
{
    struct janitor *j = self;

    if (j) {
        pcleanup_finish(j, false);
        (void)await_end(j); /* the janitor's memory is a copy of this process's */
    }
    free(j);
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
