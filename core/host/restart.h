/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that are started again when they fail. */
#ifndef PX_HOST_RESTART_H
#define PX_HOST_RESTART_H

#include "core/host/job.h"

/* For px_launcher.restart. */
extern const struct px_restart_ops px_restart_ops;

#endif
