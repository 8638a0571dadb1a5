/* SPDX-License-Identifier: BSD-3-Clause */
/* The launch of a job, from its request to running processes. */
#ifndef PX_HOST_LAUNCH_H
#define PX_HOST_LAUNCH_H

#include "core/host/job.h"

/* PMIx_Spawn: a function of the host module. In the end either all processes run, or
 * nothing of the job is left. */
pmix_status_t px_launch(const pmix_proc_t *proc, const pmix_info_t info[],
                        size_t n_info, const pmix_app_t apps[], size_t n_apps,
                        pmix_spawn_cbfunc_t cb, void *cbdata);
/* Begins to start one process of a job. The result is reported on the loop. */
pmix_status_t px_task_start(struct px_task *task, struct px_err *err);

#endif
