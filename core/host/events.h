/* SPDX-License-Identifier: BSD-3-Clause */
/* Events about jobs. */
#ifndef PX_HOST_EVENTS_H
#define PX_HOST_EVENTS_H

#include "core/types/type.h"

struct px_launch_job;

struct px_fact {
    const char *key;
    const void *data; /* NULL: no such fact */
    pmix_data_type_t type;
};

pmix_status_t px_facts_add(px_infos *l, const struct px_fact *facts, size_t n);

/* Notifies the process that asked for the job of a step of the launch, or of a
 * breakpoint that its processes have reached. breakpoint: NULL for other events. */
void px_job_announce(const struct px_launch_job *job, pmix_status_t code,
                     const char *breakpoint);

#endif
