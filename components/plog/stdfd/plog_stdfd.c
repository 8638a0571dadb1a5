/* SPDX-License-Identifier: BSD-3-Clause */
/* plog/stdfd: the standard streams of the server. */
#include "tenon/plog.h"

#include "core/base/attr.h"

#include <string.h>
#include <unistd.h>

enum { PRIORITY = 50 };

static pmix_status_t stdfd_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

static pmix_status_t stdfd_target(void *self PX_UNUSED, const char *channel,
                                  struct px_piof_target *target)
{
    target->fd = strcmp(channel, PMIX_LOG_STDOUT) == 0 ? STDOUT_FILENO : STDERR_FILENO;
    return PMIX_SUCCESS;
}

static const char *const channels[] = {PMIX_LOG_STDOUT, PMIX_LOG_STDERR, NULL};

static const struct px_plog_ops ops = {
    .channels = channels,
    .target = stdfd_target,
};

PX_COMPONENT(plog, stdfd) = {
    PX_COMPONENT_HEAD(plog, PLOG, stdfd),
    .version = "1.0",
    .query = stdfd_query,
    .ops = &ops,
};
