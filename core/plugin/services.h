/* SPDX-License-Identifier: BSD-3-Clause */
/* The services of tenon/host.h as one component gets them. */
#ifndef PX_PLUGIN_SERVICES_H
#define PX_PLUGIN_SERVICES_H

#include "core/rt/loop.h"

struct px_host_impl {
    struct px_host host; /* what the component sees */
    struct px_loop *loop;
    char area[48]; /* "ptl/tcp" */
};

void px_host_init(struct px_host_impl *impl, struct px_loop *loop,
                  const char *framework, const char *component);

#endif
