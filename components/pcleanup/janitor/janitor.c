/* SPDX-License-Identifier: BSD-3-Clause */
/* The janitor: waits for the server's end, and then does what is left to do. A copy of
 * a process with threads: nothing that allocates, locks or formats. */
#include "janitor.h"

#include "core/base/fd.h"
#include "core/base/str.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum {
    NODE_B = 320,  /* the journal takes no longer names */
    POLL_MS = 100, /* between looks at what the kernel does not tell of */
};

struct janitor {
    const struct janitor_plan *plan; /* on our stack, but for its texts */
    char dir_path[PX_RM_MAX_PATH + 1];
    char node[NODE_B];
    int dir, journal;
};

/* Everything of the server goes. Without a journal its folder may not have been made,
 * or its last words are lost. */
static PX_NORETURN void finish(struct janitor *j)
{
    static const int report_fd = PX_WORKER_REPORT_FD;
    struct px_worker_reporter reporter = {0};
    struct px_pcleanup_totals totals = {0};
    struct px_reclaim s = {
        .journal = j->journal,
        .node = j->node,
        .told = j->plan->reports ? px_worker_report : NULL,
        .arg = &reporter,
        .keep = &report_fd,
        .n_keep = j->plan->reports ? 1 : 0,
        .timeout_ms = j->plan->timeout_ms,
    };

    close(j->plan->sock);
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
 * find a zombie: a process that is no child of it goes on. */
static PX_NORETURN void outlive(struct janitor *j)
{
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

static void obey(struct janitor *j, uint32_t order, int fds[2])
{
    if (order == ORDER_END)
        _exit(EXIT_SUCCESS);
    if (order == ORDER_LEFT)
        outlive(j);
    if (order != ORDER_JOURNAL || fds[0] < 0)
        return;
    px_drop_fd(&j->dir);
    px_drop_fd(&j->journal);
    j->dir = px_take_fd(&fds[0]);
    j->journal = px_take_fd(&fds[1]);
}

/* False if there is none, and *over if there never will be. */
static bool take_order(struct janitor *j, bool *over)
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

    ssize_t n = recvmsg(j->plan->sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    *over = n == 0 || (n < 0 && !px_worker_is_transient(errno));
    if (n < 0 && (errno == ENOMEM || errno == ENOBUFS))
        nap(); /* no memory for now: the server lives all the same */
    if (n <= 0)
        return false;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof(fds)))
        memcpy(fds, CMSG_DATA(c), sizeof(fds));
    obey(j, order, fds);
    px_drop_fd(&fds[0]);
    px_drop_fd(&fds[1]);
    return true;
}

/* Its last words may be where the journal is, or that all is well. */
static PX_NORETURN void vanish(struct janitor *j)
{
    bool over;

    while (take_order(j, &over))
        ;
    finish(j);
}

PX_NORETURN void px_janitor_main(const struct janitor_plan *plan)
{
    struct janitor j = {.plan = plan, .dir = -1, .journal = -1};
    const int keep[] = {PX_WORKER_REPORT_FD, plan->sock};

    px_str_copy(j.dir_path, sizeof(j.dir_path), plan->dir);
    px_str_copy(j.node, sizeof(j.node), plan->node);
    px_reclaim_detach("tenon-janitor", plan->reports ? keep : keep + 1,
                      plan->reports ? 2 : 1);
    px_reclaim_drop_mappings();
    int server = px_reclaim_pidfd_open(plan->server);
    for (;;) {
        struct pollfd fds[] = {{.fd = plan->sock, .events = POLLIN},
                               {.fd = server, .events = POLLIN}};
        bool over = false;

        /* A number that has been given to another process is not our parent's. */
        if (getppid() != plan->server)
            vanish(&j);
        if (poll(fds, 2, server < 0 ? POLL_MS : -1) < 0) {
            /* no memory for now: look at the socket only */
            fds[0].revents = POLLIN;
            fds[1].revents = 0;
            nap();
        }
        if (fds[1].revents)
            vanish(&j);
        if (fds[0].revents)
            (void)take_order(&j, &over);
        if (over)
            vanish(&j);
    }
}
