/* SPDX-License-Identifier: BSD-3-Clause */
/* Every table of parameters that the core declares, for core/rt, which must know all names
 * and may not know the rooms above it. */
#include "core/client/client.h"
#include "core/rt/process.h"
#include "core/host/builtin.h"
#include "core/server/server.h"

const struct px_param_set px_core_params[] = {
    {"mca_base_", px_mca_base_params}, {"mca_base_", px_param_strict},
    {"client_", px_client_params},     {"server_", px_server_params},
    {"embedded_", px_host_builtin_params}, {NULL, NULL},
};
