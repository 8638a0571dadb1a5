/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes, devices and processes of a simulated fabric as PMIx infos. */
#ifndef SIM_DESCRIBE_H
#define SIM_DESCRIBE_H

#include <tenon/pnet.h>

#include "fabric.h"

/* Adds each info by add(arg, info). */
pmix_status_t sim_add_all(const pmix_info_t *info, size_t n, px_pnet_add_fn add,
                          void *arg);
/* Adds the fabric's identifier and vendor, and its dimensions and shape if known. */
pmix_status_t sim_add_fabric(const struct sim_fabric *f, px_pnet_add_fn add, void *arg);
/* Adds PMIX_FABRIC_DEVICES: the devices of a node. */
pmix_status_t sim_add_node_devices(const struct sim_fabric *f, struct sim_node node,
                                   px_pnet_add_fn add, void *arg);
/* Adds PMIX_FABRIC_DEVICES: the n devices of a plane, or of the fabric with UINT32_MAX.
 * Adds nothing for n = 0. */
pmix_status_t sim_add_plane_devices(const struct sim_fabric *f, uint32_t plane,
                                    uint32_t n, px_pnet_add_fn add, void *arg);
/* Puts all values of a job: the fabric, the coordinates of each node, the devices of
 * this node, and the endpoints of each process. */
pmix_status_t sim_put_values(const struct sim_fabric *f, const struct px_pnet_job *job,
                             px_pnet_put_fn put, void *arg);

#endif
