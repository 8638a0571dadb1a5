/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of the components of pfexec: start, watch, signal and forget
 * children. Only the call that makes a process differs. child.h runs in the child. */
#ifndef PX_PFEXEC_START_H
#define PX_PFEXEC_START_H

#include "tenon/pfexec.h"

struct px_pfexec_plan;
struct px_starters;

/* Calls that make a process. */
struct px_pfexec_way {
    /* Forks like fork(), with all signals blocked. May set *pidfd to a pidfd of the
     * child. */
    pid_t (*fork)(int *pidfd);
    /* See linux/starter.h. NULL: each child is forked. */
    pid_t (*run)(struct px_starters **starters, const struct px_pfexec_plan *plan,
                 int *pidfd);
    void (*release)(struct px_starters *starters, const struct px_pfexec_plan *plan);
    bool (*end)(struct px_starters *starters);
};

struct px_pfexec_conf {
    uint64_t start_timeout;
    int64_t cgroup; /* px_pfexec_params */
};

extern const struct px_param px_pfexec_params[];
extern const struct px_pfexec_ops px_pfexec_ops;

pmix_status_t px_pfexec_open(const struct px_services *services, const void *conf,
                             const struct px_pfexec_way *way, void **self);
void px_pfexec_close(void *self);

#endif
