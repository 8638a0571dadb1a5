/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of jobs. */
#ifndef PX_HOST_EVENTS_H
#define PX_HOST_EVENTS_H

#include "core/types/type.h"

struct px_server;

struct px_fact {
    const char *key;
    const void *data; /* NULL: there is none */
    pmix_data_type_t type;
};

pmix_status_t px_facts_add(px_infos *l, const struct px_fact *facts, size_t n);

/* For the process that has asked for a job: how its launch goes on, or that its
 * processes have come to a breakpoint, which is NULL otherwise. */
void px_job_announce(struct px_server *srv, const pmix_proc_t *job,
                     const pmix_proc_t *parent, pmix_status_t code,
                     const char *breakpoint);

#endif
