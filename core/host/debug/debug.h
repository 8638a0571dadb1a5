/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that stop for a debugger. */
#ifndef PX_HOST_DEBUG_H
#define PX_HOST_DEBUG_H

#include "core/host/job.h"

bool px_task_stops(const struct px_task *task, enum px_stop where);
/* Records that a process has reached a breakpoint. Notifies the debugger when the last
 * process of the job has reached that breakpoint. */
void px_task_stopped(struct px_task *task, enum px_stop where);
/* Handles the event by which a process reports that it has reached a breakpoint. */
void px_task_is_ready(struct px_task *task, const pmix_info_t *info, size_t n);

#endif
