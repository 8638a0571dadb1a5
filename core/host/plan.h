/* SPDX-License-Identifier: BSD-3-Clause */
/* A request to spawn, checked and worked out: all that can be found wrong with it is
 * found before anything is started. */
#ifndef PX_HOST_PLAN_H
#define PX_HOST_PLAN_H

#include "core/base/err.h"
#include "core/types/type.h"

/* Processes of one job: a typing error must not bring the node down. */
#define PX_MAX_TASKS 16384u

/* One application of a job, ready to be started. */
struct px_app_plan {
    char *program; /* path */
    char **argv;
    char **env; /* without what each rank has of its own */
    char *cwd;  /* as asked for; NULL: that of this process */
    uint32_t n;
    uint32_t first; /* rank */
};

/* The arguments of PMIx_Spawn. */
struct px_spawn_request {
    const pmix_info_t *info;
    size_t n_info;
    const pmix_app_t *apps;
    size_t n_apps;
    /* The new job inherits its environment and directory; NULL: this process's. */
    const struct px_app_plan *parent;
};

typedef struct px_plan {
    struct px_app_plan *apps;
    size_t n_apps;
    uint32_t n_tasks;
    pmix_rank_t stdin_rank; /* PMIX_RANK_UNDEF: none has it */
    bool detached;          /* outlives its parent */
    bool notify;            /* the parent wants an event at the end */
} px_plan;

pmix_status_t px_plan_make(px_plan *plan, const struct px_spawn_request *request,
                           struct px_err *err);
void px_plan_cleanup(px_plan *plan);

#endif
