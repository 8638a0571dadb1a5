/* SPDX-License-Identifier: BSD-3-Clause */
/* From a request to running processes. */
#ifndef PX_HOST_LAUNCH_H
#define PX_HOST_LAUNCH_H

#include "core/host/job.h"

/* Either all processes run, or none is left. As the host module's function
 * (pmix_server.h). */
pmix_status_t px_launch(const pmix_proc_t *proc, const pmix_info_t info[],
                        size_t n_info, const pmix_app_t apps[], size_t n_apps,
                        pmix_spawn_cbfunc_t cb, void *cbdata);
/* One process of a job. The end of its start is reported on the loop. */
pmix_status_t px_task_start(struct px_task *task, struct px_err *err);

#endif
