/* SPDX-License-Identifier: BSD-3-Clause */
/* Children of this process, see tenon/services.h. Loop thread only. */
#ifndef PX_RT_CHILD_H
#define PX_RT_CHILD_H

#include "core/rt/loop.h"

/* Watches a child; fn runs on the loop, never inside this function. Returns
 * PMIX_ERR_NOT_FOUND if pid is not a child of this process, PMIX_ERR_EXISTS if it is
 * watched. If other code reaped the child (or SIGCHLD is ignored), wait_status is
 * "exited with 255", unless the kernel keeps the true one with the pidfd. A forgotten
 * child is still reaped. pidfd: see services.h. */
pmix_status_t px_child_watch_pidfd(struct px_loop *loop, pid_t pid, int pidfd,
                                   px_child_fn fn, void *arg);
static inline pmix_status_t px_child_watch(struct px_loop *loop, pid_t pid,
                                           px_child_fn fn, void *arg)
{
    return px_child_watch_pidfd(loop, pid, -1, fn, arg);
}
void px_child_forget(struct px_loop *loop, pid_t pid);
/* Returns the usage of the child whose fn is running; NULL if unknown. */
const struct rusage *px_child_usage(struct px_loop *loop);

#endif
