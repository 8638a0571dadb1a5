/* SPDX-License-Identifier: BSD-3-Clause */
/* Children: tells when one has ended, and reaps it and no other.
 *
 * The host owns SIGCHLD and its own children, so there is no handler and no
 * waitpid(-1): each of our children has a pidfd, which the loop watches. Where the
 * kernel or a sandbox refuses one, a timer asks for exactly our pids. */
#include "core/rt/child.h"

#include "core/rt/log.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
    POLL_MS = 20, /* an end noticed this late is not noticed by people */
    STATUS_LOST = 255 << 8,
};

struct child {
    struct px_list link;
    struct px_loop *loop;
    pid_t pid;
    int pidfd; /* -1: polled */
    struct px_watch *watch;
    px_child_fn fn; /* NULL once forgotten: still reaped, so that it leaves no zombie */
    void *arg;
};

static void free_child(struct child *c)
{
    px_list_remove(&c->link);
    px_watch_free(c->watch);
    if (c->pidfd >= 0)
        close(c->pidfd);
    free(c);
}

/* Those that have ended already are reaped without a call. */
static void free_all(struct px_loop *loop)
{
    PX_LIST_EACH (&px_loop_children(loop)->list, struct child, c, link) {
        waitpid(c->pid, NULL, WNOHANG);
        free_child(c);
    }
    px_timer_free(px_loop_children(loop)->poll);
}

static struct child *find(struct px_loop *loop, pid_t pid)
{
    PX_LIST_EACH (&px_loop_children(loop)->list, struct child, c, link)
        if (c->pid == pid)
            return c;
    return NULL;
}

/* Reaps and reports c if it has ended; c is gone then. */
static PX_LOOP_ONLY void reap(struct child *c)
{
    struct child was = *c;
    int status = 0;
    pid_t r = PX_RETRY(waitpid(c->pid, &status, WNOHANG));

    if (r == 0)
        return;
    if (r < 0) {
        /* The owner must hear of the end all the same, and must not take it for
         * success. */
        status = STATUS_LOST;
        px_log(PX_LOG_WARN, "loop",
               "exit status of process %ld is lost: SIGCHLD is ignored, or another "
               "part of this program reaped it",
               (long)c->pid);
    }
    free_child(c);
    if (was.fn)
        was.fn(was.arg, was.pid, status);
}

static void on_pidfd(void *arg, int fd PX_UNUSED, unsigned events PX_UNUSED)
{
    struct child *c = arg;

    px_loop_assert(c->loop);
    reap(c);
}

static void on_poll(void *arg)
{
    struct px_loop *loop = arg;
    bool more = false;

    px_loop_assert(loop);
    PX_LIST_EACH (&px_loop_children(loop)->list, struct child, c, link)
        if (c->pidfd < 0)
            reap(c);
    PX_LIST_EACH (&px_loop_children(loop)->list, struct child, left, link)
        more = more || left->pidfd < 0;
    if (more)
        px_timer_set(px_loop_children(loop)->poll, POLL_MS);
}

/* By pidfd if there is one; a failure for want of anything but memory ends in
 * polling. */
static pmix_status_t observe(struct child *c)
{
    struct px_loop *loop = c->loop;
    struct px_children *all = px_loop_children(loop);

#ifdef SYS_pidfd_open
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0); /* is close-on-exec */
#endif
    if (c->pidfd >= 0) {
        c->watch = px_watch_create(loop, c->pidfd, PX_READABLE, on_pidfd, c);
        return c->watch ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    }
    if (!all->poll)
        all->poll = px_timer_create(loop, on_poll, loop);
    if (!all->poll)
        return PMIX_ERR_NOMEM;
    px_timer_set(all->poll, 0); /* it may have ended already */
    return PMIX_SUCCESS;
}

pmix_status_t px_child_watch(struct px_loop *loop, pid_t pid, px_child_fn fn, void *arg)
{
    px_loop_assert(loop);
    struct child *c = find(loop, pid);
    siginfo_t info;

    if (c && c->fn)
        return PMIX_ERR_EXISTS;
    if (c) { /* forgotten, and now wanted again */
        c->fn = fn;
        c->arg = arg;
        return PMIX_SUCCESS;
    }
    /* A pidfd can be had of any process, but only a child of this one can be reaped. */
    if (pid <= 0 ||
        PX_RETRY(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT)) < 0)
        return PMIX_ERR_NOT_FOUND;
    c = malloc(sizeof(*c));
    if (!c)
        return PMIX_ERR_NOMEM;
    *c = (struct child){.loop = loop, .pid = pid, .pidfd = -1, .fn = fn, .arg = arg};
    px_list_append(&px_loop_children(loop)->list, &c->link);
    px_loop_children(loop)->free_all = free_all;
    pmix_status_t rc = observe(c);
    if (rc)
        free_child(c);
    return rc;
}

void px_child_forget(struct px_loop *loop, pid_t pid)
{
    px_loop_assert(loop);
    struct child *c = find(loop, pid);
    if (c)
        c->fn = NULL;
}
