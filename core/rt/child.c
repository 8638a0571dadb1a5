/* SPDX-License-Identifier: BSD-3-Clause */
/* Children: reports the end of our children, and reaps only them. The host owns SIGCHLD
 * and its own children, so this file uses neither a handler nor waitpid(-1). The loop
 * watches a pidfd of each child. If the kernel or a sandbox refuses pidfds, a timer
 * polls exactly our pids. The host may ignore SIGCHLD or reap any child; the pidfd
 * still reports the end. */
#include "core/rt/child.h"

#include "core/os/os.h"
#include "core/rt/log.h"
#include "core/rt/loop_impl.h"

#include <errno.h>
#include <sys/wait.h>

enum {
    POLL_MS = 20, /* a delay that people do not notice */
    STATUS_LOST = 255 << 8,
};

struct child {
    struct px_list link;
    struct px_loop *loop;
    pid_t pid;
    int pidfd; /* -1: polled */
    struct px_watch *watch;
    px_child_fn fn; /* NULL after forget: still reaped, so that it leaves no zombie */
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

void px_children_free(struct px_loop *loop)
{
    PX_LIST_EACH (&loop->children.list, struct child, c, link) {
        waitpid(c->pid, NULL, WNOHANG | PX_OS_WAIT_ALL);
        free_child(c);
    }
    px_timer_free(loop->children.poll);
}

static struct child *find(struct px_loop *loop, pid_t pid)
{
    PX_LIST_EACH (&loop->children.list, struct child, c, link)
        if (c->pid == pid)
            return c;
    return NULL;
}

/* Reaps, reports and frees a child that has ended. */
static PX_LOOP_ONLY void reap(struct child *c)
{
    struct px_children *all = &c->loop->children;
    struct child was = *c;
    struct rusage usage;
    int status = STATUS_LOST;
    int r = px_os_reap(c->pid, c->pidfd, &status, &usage);

    if (r == 0)
        return;
    /* Report the end in any case, and never as success. */
    if (r < 0)
        px_log(PX_LOG_WARN, "loop",
               "exit status of process %ld is lost: SIGCHLD is ignored, or another "
               "part of this program reaped it",
               (long)c->pid);
    free_child(c);
    all->usage = r == 1 ? &usage : NULL;
    if (was.fn)
        was.fn(was.arg, was.pid, status);
    all->usage = NULL;
}

const struct rusage *px_child_usage(struct px_loop *loop)
{
    return loop->children.usage;
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
    PX_LIST_EACH (&loop->children.list, struct child, c, link)
        if (c->pidfd < 0)
            reap(c);
    PX_LIST_EACH (&loop->children.list, struct child, left, link)
        more = more || left->pidfd < 0;
    if (more)
        px_timer_set(loop->children.poll, POLL_MS);
}

/* Watches a child's pidfd, or polls if there is none. Fails only without memory. */
static pmix_status_t observe(struct child *c)
{
    struct px_loop *loop = c->loop;
    struct px_children *all = &loop->children;

    if (c->pidfd < 0)
        c->pidfd = px_os_pidfd_open(c->pid);
    if (c->pidfd >= 0) {
        c->watch = px_watch_create(loop, c->pidfd, PX_READABLE, on_pidfd, c);
        return c->watch ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    }
    if (!all->poll)
        all->poll = px_timer_create(loop, on_poll, loop);
    if (!all->poll)
        return PMIX_ERR_NOMEM;
    px_timer_set(all->poll, 0); /* the child may have ended already */
    return PMIX_SUCCESS;
}

pmix_status_t px_child_watch_pidfd(struct px_loop *loop, pid_t pid, int pidfd,
                                   px_child_fn fn, void *arg)
{
    px_loop_assert(loop);
    PX_AUTOCLOSE int taken = pidfd;
    struct child *c = find(loop, pid);
    siginfo_t info;

    if (c && c->fn)
        return PMIX_ERR_EXISTS;
    if (c) { /* forgotten before */
        c->fn = fn;
        c->arg = arg;
        return PMIX_SUCCESS;
    }
    /* Any process may have a pidfd, but only children can be reaped. */
    if (pid <= 0 || PX_RETRY(waitid(P_PID, (id_t)pid, &info,
                                    WEXITED | WNOHANG | WNOWAIT | PX_OS_WAIT_ALL)) < 0)
        return PMIX_ERR_NOT_FOUND;
    c = malloc(sizeof(*c));
    if (!c)
        return PMIX_ERR_NOMEM;
    *c = (struct child){
        .loop = loop, .pid = pid, .pidfd = px_take_fd(&taken), .fn = fn, .arg = arg};
    px_list_append(&loop->children.list, &c->link);
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
