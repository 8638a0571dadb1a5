/* SPDX-License-Identifier: BSD-3-Clause */
/* Children of this process, as in tenon/services.h; loop thread only. */
#ifndef PX_RT_CHILD_H
#define PX_RT_CHILD_H

#include "core/rt/loop.h"

/* PMIX_ERR_NOT_FOUND if pid is no child of this process, PMIX_ERR_EXISTS if it is
 * watched. The call comes from the loop, never from inside px_child_watch. If somebody
 * else has reaped the child (or SIGCHLD is ignored), its wait_status reads "exited with
 * 255". A forgotten child is still reaped. */
pmix_status_t px_child_watch(struct px_loop *loop, pid_t pid, px_child_fn fn,
                             void *arg);
void px_child_forget(struct px_loop *loop, pid_t pid);

#endif
