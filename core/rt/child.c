/* SPDX-License-Identifier: BSD-3-Clause */
/* Children: reports the end of our children, and reaps only them. The host owns SIGCHLD
 * and its own children, so this file uses neither a handler nor waitpid(-1). The loop
 * watches a pidfd of each child. If the kernel or a sandbox refuses pidfds, a timer
 * polls exactly our pids. The host may ignore SIGCHLD or reap any child; the pidfd
 * still reports the end. */
#include "core/rt/child.h"

#include "core/rt/log.h"
#include "core/rt/loop_impl.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef WCOREFLAG
#define WCOREFLAG 0x80 /* of the kernel; musl has no name for the flag */
#endif

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
        waitpid(c->pid, NULL, WNOHANG | __WALL);
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

/* Reaps a child if it has ended. Returns 1, 0 while it runs, -1 if another part of this
 * program reaped it. Includes children that send no SIGCHLD (__WALL). Uses the system
 * call, because libc's waitid does not return the usage. */
static int take_end(const struct child *c, int *status, struct rusage *usage)
{
    siginfo_t i = {0};
    long r = -1;

    errno = EINVAL;
    if (c->pidfd >= 0)
        r = PX_RETRY(syscall(SYS_waitid, P_PIDFD, c->pidfd, &i,
                             WEXITED | WNOHANG | __WALL, usage));
    if (r < 0 && errno == EINVAL) /* Linux 5.3 has pidfds, but cannot wait for them */
        r = PX_RETRY(
            syscall(SYS_waitid, P_PID, c->pid, &i, WEXITED | WNOHANG | __WALL, usage));
    if (r < 0 || i.si_pid == 0)
        return (int)r;
    *status = i.si_code == CLD_EXITED   ? i.si_status << 8
              : i.si_code == CLD_DUMPED ? i.si_status | WCOREFLAG
                                        : i.si_status;
    return 1;
}

/* Returns the status of a child that was reaped elsewhere. Since Linux 6.15 the kernel
 * keeps the status until the pidfd is closed. */
static bool recall_status(int pidfd, int *status)
{
    struct { /* the first 64 bytes of struct pidfd_info */
        uint64_t mask, cgroup;
        uint32_t ids[11];
        int32_t exit_code;
    } info = {.mask = 1 << 3}; /* PIDFD_INFO_EXIT */

    if (pidfd < 0 || ioctl(pidfd, _IOWR(0xff, 11, info), &info) < 0 ||
        !(info.mask & 1 << 3))
        return false;
    *status = info.exit_code;
    return true;
}

/* Reaps, reports and frees a child that has ended. */
static PX_LOOP_ONLY void reap(struct child *c)
{
    struct px_children *all = &c->loop->children;
    struct child was = *c;
    struct rusage usage;
    int status = STATUS_LOST;
    int r = take_end(c, &status, &usage);

    if (r == 0)
        return;
    /* Report the end in any case, and never as success. */
    if (r < 0 && !recall_status(c->pidfd, &status))
        px_log(PX_LOG_WARN, "loop",
               "exit status of process %ld is lost: SIGCHLD is ignored, or another "
               "part of this program reaped it",
               (long)c->pid);
    free_child(c);
    all->usage = r > 0 ? &usage : NULL;
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

#ifdef SYS_pidfd_open
    if (c->pidfd < 0)
        c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0); /* pidfds are
                                                             * close-on-exec */
#endif
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
                                    WEXITED | WNOHANG | WNOWAIT | __WALL)) < 0)
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
