/* SPDX-License-Identifier: BSD-3-Clause */
/* pfexec/posix: processes made by fork, for systems without a better call. */
#include "components/pfexec/start.h"
#include "core/base/attr.h"

enum { PRIORITY = 10 }; /* components with better system calls go first */

static pid_t plain_fork(int *pidfd PX_UNUSED)
{
    return fork();
}

static pmix_status_t posix_open(const struct px_services *services, const void *conf,
                                void **self)
{
    static const struct px_pfexec_way way = {.fork = plain_fork};

    return px_pfexec_open(services, conf, &way, self);
}

static pmix_status_t posix_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

PX_COMPONENT(pfexec, posix) = {
    PX_COMPONENT_HEAD(pfexec, PFEXEC, posix),
    .version = "1.0",
    .params = px_pfexec_params,
    .conf_size = sizeof(struct px_pfexec_conf),
    .open = posix_open,
    .query = posix_query,
    .close = px_pfexec_close,
    .ops = &px_pfexec_ops,
};
