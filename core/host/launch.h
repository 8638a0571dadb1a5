/* SPDX-License-Identifier: BSD-3-Clause */
/* From a request to running processes. Either all of them run, or none is left. */
#ifndef PX_HOST_LAUNCH_H
#define PX_HOST_LAUNCH_H

#include "core/host/job.h"

/* As the host module's function (pmix_server.h). */
pmix_status_t px_launch(struct px_launcher *l, const pmix_proc_t *proc,
                        const pmix_info_t *info, size_t n_info, const pmix_app_t *apps,
                        size_t n_apps, pmix_spawn_cbfunc_t cb, void *cbdata);

#endif
