/* SPDX-License-Identifier: BSD-3-Clause */
/* The janitor: waits for orders of its server, which it gives to workers, and for the
 * server's end. A copy of a process with threads: nothing that allocates, locks or
 * formats. */
#include "janitor.h"

#include "core/base/str.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum {
    /* The server thinks a worker has gone once it has reported: so some more than at
     * once. */
    N_WORKERS = 2 * PX_RECLAIM_AT_ONCE,
    NODE_B = 320,  /* the journal takes no longer names */
    POLL_MS = 100, /* between looks at what the kernel does not tell of */
};

struct worker {
    pid_t pid; /* 0: none */
    int pidfd;
    bool failed; /* has ended without a report, which is still to be sent */
    struct px_reclaim_job job;
};

struct janitor {
    const struct janitor_plan *plan; /* on our stack, but for its texts */
    char dir_path[PX_RM_MAX_PATH + 1];
    char node[NODE_B];
    int server; /* pidfd, or -1 */
    int dir, journal;
    bool gone; /* the server: nothing is started any more */
    struct worker workers[N_WORKERS];
};

static struct worker *free_slot(struct janitor *j)
{
    for (int i = 0; i < N_WORKERS; i++) {
        if (!j->workers[i].pid && !j->workers[i].failed)
            return &j->workers[i];
    }
    return NULL;
}

/* ---- without the server ---------------------------------------------------------- */

static struct px_reclaim what_is_swept(const struct janitor *j)
{
    return (struct px_reclaim){
        .journal = j->journal,
        .node = j->node,
        .told = j->plan->tells ? px_worker_report : NULL,
        .timeout_ms = j->plan->timeout_ms,
    };
}

/* What they have not done is still in the journal. */
static void stop_workers(struct janitor *j)
{
    for (int i = 0; i < N_WORKERS; i++) {
        struct worker *w = &j->workers[i];
        if (w->pid)
            px_worker_stop(w->pid);
        px_drop_fd(&w->pidfd);
        *w = (struct worker){.pidfd = -1};
    }
}

/* Everything of the server goes. Without a journal its folder may not have been made,
 * or nobody has told us of it. */
static PX_NORETURN void finish(struct janitor *j)
{
    static const int tell_fd = PX_WORKER_REPORT_FD;
    struct px_worker_reporter teller = {0};
    struct px_rm_totals totals = {0};
    struct px_reclaim s = what_is_swept(j);

    stop_workers(j);
    close(j->plan->sock);
    s.arg = &teller;
    s.keep = &tell_fd;
    s.n_keep = s.told ? 1 : 0;
    int rc = px_reclaim_server_dir(&s, j->dir_path, j->dir, true, &totals);
    if (!rc && j->journal >= 0 && !px_reclaim_is_local(j->dir)) {
        /* NFS has kept it, as it is open here */
        px_drop_fd(&j->journal);
        s.journal = -1;
        rc = px_reclaim_server_dir(&s, j->dir_path, j->dir, true, &totals);
    }
    _exit(rc ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* The server's process may live for long, and should not have to wait for us, or to
 * find a zombie: somebody who is no child of it goes on. */
static PX_NORETURN void outlive(struct janitor *j)
{
    stop_workers(j);
    pid_t pid = px_reclaim_fork();
    if (pid == 0)
        finish(j);
    _exit(pid < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

static void nap(void)
{
    const struct timespec t = {.tv_nsec = POLL_MS * 1000000L};

    nanosleep(&t, NULL);
}

/* ---- orders ---------------------------------------------------------------------- */

static void start_worker(struct janitor *j, const struct janitor_order *order)
{
    const struct px_reclaim s = what_is_swept(j);
    struct px_reclaim_job job = {.id = order->id, .scope = order->scope};
    struct worker *w = free_slot(j);

    if (!w || j->gone) /* then all of it will be done */
        return;
    if (order->type == ORDER_RECLAIM)
        job.tmpdir = (char *)order->path;
    *w = (struct worker){.pidfd = -1, .job = job};
    w->pid = px_worker_start(&s, &job, j->plan->sock, true);
    w->job.tmpdir = NULL;
    if (w->pid < 0) {
        w->pid = 0;
        w->failed = true;
        w->job.errnum = errno;
        return;
    }
    w->pidfd = px_reclaim_pidfd_open(w->pid);
}

static void take_journal(struct janitor *j, const int fds[2])
{
    px_drop_fd(&j->dir);
    px_drop_fd(&j->journal);
    j->dir = fds[0];
    j->journal = fds[1];
}

static void obey(struct janitor *j, const struct janitor_order *order, int fds[2])
{
    switch (order->type) {
    case ORDER_JOURNAL:
        if (fds[0] >= 0 && fds[1] >= 0) {
            take_journal(j, fds);
            fds[0] = fds[1] = -1;
        }
        break;
    case ORDER_SWEEP:
    case ORDER_RECLAIM:
        start_worker(j, order);
        break;
    case ORDER_END:
        stop_workers(j);
        _exit(EXIT_SUCCESS);
    case ORDER_LEFT:
        outlive(j);
    }
}

static void take_fds(struct msghdr *msg, int fds[2])
{
    const struct cmsghdr *c = CMSG_FIRSTHDR(msg);

    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(2 * sizeof(int)))
        memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
}

/* False if there is none, and *over if there never will be. */
static bool take_order(struct janitor *j, bool *over)
{
    union {
        char bytes[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct janitor_order order;
    struct iovec iov = {.iov_base = &order, .iov_len = sizeof(order)};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control)};
    int fds[2] = {-1, -1};

    ssize_t n = recvmsg(j->plan->sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    *over = n == 0 || (n < 0 && !px_worker_is_transient(errno));
    if (n < 0 && (errno == ENOMEM || errno == ENOBUFS))
        nap(); /* no memory for now: the server lives all the same */
    if (n <= 0)
        return false;
    take_fds(&msg, fds);
    if (n > (ssize_t)offsetof(struct janitor_order, path) &&
        ((const char *)&order)[n - 1] == '\0')
        obey(j, &order, fds);
    px_drop_fd(&fds[0]);
    px_drop_fd(&fds[1]);
    return true;
}

/* Its last words may be where the journal is, or that all is well. */
static PX_NORETURN void vanish(struct janitor *j)
{
    bool over;

    j->gone = true;
    while (take_order(j, &over))
        ;
    finish(j);
}

/* ---- waiting --------------------------------------------------------------------- */

static void look_after(struct janitor *j, struct worker *w)
{
    int status;

    if (w->pid && px_worker_reap(w->pid, &status)) {
        w->pid = 0;
        px_drop_fd(&w->pidfd);
        w->failed = status != 0;
        w->job.errnum = ECHILD;
    }
    if (w->failed && px_worker_send_ended(j->plan->sock, &w->job, MSG_DONTWAIT))
        w->failed = false;
}

/* Fills fds, in no order that counts but that the socket comes first. Returns for how
 * long to wait. */
static int what_to_wait_for(struct janitor *j, struct pollfd *fds, nfds_t *n)
{
    int timeout = j->server < 0 ? POLL_MS : -1;

    *n = 0;
    fds[(*n)++] = (struct pollfd){.fd = j->plan->sock,
                                  .events = free_slot(j) ? POLLIN : 0};
    fds[(*n)++] = (struct pollfd){.fd = j->server, .events = POLLIN};
    for (int i = 0; i < N_WORKERS; i++) {
        const struct worker *w = &j->workers[i];
        if (w->failed || (w->pid && w->pidfd < 0))
            timeout = POLL_MS;
        if (w->pid)
            fds[(*n)++] = (struct pollfd){.fd = w->pidfd, .events = POLLIN};
    }
    return timeout;
}

PX_NORETURN void px_janitor_main(const struct janitor_plan *plan)
{
    struct janitor j = {.plan = plan, .server = -1, .dir = -1, .journal = -1};
    const int keep[] = {PX_WORKER_REPORT_FD, plan->sock};

    px_str_copy(j.dir_path, sizeof(j.dir_path), plan->dir);
    px_str_copy(j.node, sizeof(j.node), plan->node);
    px_reclaim_detach("tenon-janitor", plan->tells ? keep : keep + 1,
                      plan->tells ? 2 : 1);
    px_reclaim_drop_mappings();
    for (int i = 0; i < N_WORKERS; i++)
        j.workers[i].pidfd = -1;
    j.server = px_reclaim_pidfd_open(plan->server);
    for (;;) {
        struct pollfd fds[2 + N_WORKERS];
        nfds_t n;
        bool over = false;
        int timeout = what_to_wait_for(&j, fds, &n);

        /* A number that has been given to another process is not our parent's. */
        if (getppid() != plan->server)
            vanish(&j);
        if (poll(fds, n, timeout) <
            0) { /* no memory for now: look at the socket only */
            fds[0].revents = fds[0].events;
            fds[1].revents = 0;
            nap();
        }
        if (fds[1].revents)
            vanish(&j);
        for (int i = 0; i < N_WORKERS; i++)
            look_after(&j, &j.workers[i]);
        if (fds[0].revents)
            (void)take_order(&j, &over);
        if (over)
            vanish(&j);
    }
}
