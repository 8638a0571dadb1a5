/* SPDX-License-Identifier: BSD-3-Clause */
/* Services of tenon/services.h for one component. */
#ifndef PX_PLUGIN_SERVICES_H
#define PX_PLUGIN_SERVICES_H

#include "core/rt/loop.h"

struct px_services_impl {
    struct px_services services; /* passed to the component */
    struct px_loop *loop;
    char area[48]; /* "ptl/tcp" */
};

void px_services_init(struct px_services_impl *impl, struct px_loop *loop,
                      const char *framework, const char *component);

#endif
