/* SPDX-License-Identifier: BSD-3-Clause */
/* A transport component of a later release, which this release must not load. */
#include "tenon/ptl.h"

#ifndef WRONG_COMPONENT_ABI
#define WRONG_COMPONENT_ABI PX_COMPONENT_ABI
#endif
#ifndef WRONG_PTL_ABI
#define WRONG_PTL_ABI PX_PTL_ABI
#endif

static pmix_status_t never_open(const struct px_services *host, const void *conf,
                                void **self)
{
    (void)host, (void)conf, (void)self;
    __builtin_trap();
}

static pmix_status_t never_query(void *self, struct px_query *answer)
{
    (void)self, (void)answer;
    __builtin_trap();
}

static const struct px_ptl_ops ops = {0};

PX_COMPONENT(ptl, later) = {
    .abi = WRONG_COMPONENT_ABI,
    .size = sizeof(struct px_component),
    .framework = "ptl",
    .framework_abi = WRONG_PTL_ABI,
    .name = "later",
    .version = "99",
    .open = never_open,
    .query = never_query,
    .ops = &ops,
    .ops_size = sizeof(ops),
    .param_size = sizeof(struct px_param),
};
