/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that stop for a debugger. */
#ifndef PX_HOST_DEBUG_H
#define PX_HOST_DEBUG_H

#include "core/host/job.h"

bool px_task_stops(const struct px_task *task, enum px_stop where);
/* A process has come there: when it is the last of its job that was to stop there, the
 * debugger hears of it. */
void px_task_stopped(struct px_task *task, enum px_stop where);
/* It says so itself, in an event. */
void px_task_is_ready(struct px_task *task, const pmix_info_t *info, size_t n);

#endif
