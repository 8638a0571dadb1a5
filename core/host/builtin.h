/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the built-in host. The server knows it by px_host_builtin alone
 * (core/server/host.h). */
#ifndef PX_HOST_BUILTIN_H
#define PX_HOST_BUILTIN_H

#include "core/host/job.h"

struct px_host_builtin {
    struct px_launcher launcher;
    struct px_pubs pubs;
    unsigned n_tools; /* named so far */
};

#endif
