/* SPDX-License-Identifier: BSD-3-Clause */
/* pfexec/linux: processes by clone3 (Linux 5.3). Each comes with its pidfd, so that
 * no number is ever taken for a process that has gone; and until it runs its
 * program, its end sends no SIGCHLD and no waitpid(-1) finds it. (exec gives it back
 * to waitpid(-1) and SIGCHLD: execve(2).) */
#include "components/pfexec/start.h"
#include "core/base/attr.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

enum {
    PRIORITY = 50,
    WITH_PIDFD = 0x1000, /* CLONE_PIDFD */
};

/* struct clone_args as it was at first; the headers of a system may be older than
 * its kernel. */
struct args {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

static long clone_by(const struct args *args, size_t size)
{
#ifdef SYS_clone3
    return syscall(SYS_clone3, args, size);
#else
    (void)args;
    (void)size;
    errno = ENOSYS;
    return -1;
#endif
}

/* As fork, but without what pthread_atfork has registered: the child calls nothing
 * that would need it. */
static pid_t clone_with_pidfd(int *pidfd)
{
    int fd = -1;
    const struct args args = {.flags = WITH_PIDFD, .pidfd = (uint64_t)(uintptr_t)&fd};
    pid_t pid = (pid_t)clone_by(&args, sizeof(args));

    if (pid > 0)
        *pidfd = fd;
    return pid;
}

static pmix_status_t linux_open(const struct px_services *services, const void *conf,
                                void **self)
{
    return px_pfexec_open(services, conf, clone_with_pidfd, self);
}

/* Asks for what no kernel does: one that knows the call says that the argument is
 * wrong. */
static pmix_status_t linux_query(void *self PX_UNUSED, struct px_query *answer)
{
    const struct args args = {0};

    if (clone_by(&args, 0) == 0 || errno != EINVAL) {
        snprintf(answer->reason, sizeof(answer->reason), "cannot use clone3: %s",
                 strerror(errno));
        return PMIX_ERR_NOT_SUPPORTED;
    }
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

PX_COMPONENT(pfexec, linux) = {
    PX_COMPONENT_HEAD(pfexec, PFEXEC, linux),
    .version = "1.0",
    .params = px_pfexec_params,
    .conf_size = sizeof(struct px_pfexec_conf),
    .open = linux_open,
    .query = linux_query,
    .close = px_pfexec_close,
    .ops = &px_pfexec_ops,
};
