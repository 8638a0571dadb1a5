/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of the components of pfexec: start, watch, signal and forget
 * children. Only the call that makes a process differs. child.h runs in the child. */
#ifndef PX_PFEXEC_START_H
#define PX_PFEXEC_START_H

#include "tenon/pfexec.h"

/* Forks like fork(), with all signals blocked. May set *pidfd to a pidfd of the
 * child. */
typedef pid_t (*px_pfexec_fork_fn)(int *pidfd);

struct px_pfexec_conf {
    uint64_t start_timeout;
    int64_t cgroup; /* px_pfexec_params */
};

extern const struct px_param px_pfexec_params[];
extern const struct px_pfexec_ops px_pfexec_ops;

pmix_status_t px_pfexec_open(const struct px_services *services, const void *conf,
                             px_pfexec_fork_fn fork, void **self);
void px_pfexec_close(void *self);

#endif
