/* SPDX-License-Identifier: BSD-3-Clause */
/* pfexec/linux: processes made by clone3 (Linux 5.3). clone3 returns a pidfd, so no
 * signal ever reaches another process with the same pid. Until exec, the end of the
 * process sends no SIGCHLD, and waitpid(-1) does not return the process. exec restores
 * both (execve(2)). Most children come from starters, which also use a pidfd. */
#include "components/pfexec/start.h"
#include "core/base/attr.h"
#include "starter.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

enum {
    PRIORITY = 50,
    WITH_PIDFD = 0x1000, /* CLONE_PIDFD */
};

/* First version of struct clone_args. Headers of a system may be older than its
 * kernel. */
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

/* Forks without pthread_atfork handlers; the child calls no function that needs
 * them. */
static pid_t clone_with_pidfd(int *pidfd)
{
    int fd = -1;
    const struct args args = {.flags = WITH_PIDFD, .pidfd = (uint64_t)(uintptr_t)&fd};
    pid_t pid = (pid_t)clone_by(&args, sizeof(args));

    if (pid > 0)
        *pidfd = fd;
    return pid;
}

#ifndef __has_feature
#define __has_feature(x) 0
#endif
/* Sanitizers know the stacks of threads, and not that of a child on such a stack. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RUN NULL
#else
#define RUN px_starters_run
#endif

static pmix_status_t linux_open(const struct px_services *services, const void *conf,
                                void **self)
{
    static const struct px_pfexec_way way = {.fork = clone_with_pidfd,
                                             .run = RUN,
                                             .release = px_starters_release,
                                             .end = px_starters_end};

    return px_pfexec_open(services, conf, &way, self);
}

/* Passes an impossible size. A kernel that has clone3 answers EINVAL. */
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
