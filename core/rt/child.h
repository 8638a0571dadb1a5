/* SPDX-License-Identifier: BSD-3-Clause */
/* Children of this process, as in tenon/services.h; loop thread only. */
#ifndef PX_RT_CHILD_H
#define PX_RT_CHILD_H

#include "core/rt/loop.h"

/* PMIX_ERR_NOT_FOUND if pid is no child of this process, PMIX_ERR_EXISTS if it is
 * watched. The call comes from the loop, never from inside px_child_watch. If other
 * code has reaped the child (or SIGCHLD is ignored), its wait_status reads "exited with
 * 255", unless the kernel keeps the true one with the pidfd. A forgotten child is still
 * reaped. pidfd: see services.h. */
pmix_status_t px_child_watch_pidfd(struct px_loop *loop, pid_t pid, int pidfd,
                                   px_child_fn fn, void *arg);
static inline pmix_status_t px_child_watch(struct px_loop *loop, pid_t pid,
                                           px_child_fn fn, void *arg)
{
    return px_child_watch_pidfd(loop, pid, -1, fn, arg);
}
void px_child_forget(struct px_loop *loop, pid_t pid);
/* Of the child whose fn is running; NULL: not known. */
const struct rusage *px_child_usage(struct px_loop *loop);

#endif
