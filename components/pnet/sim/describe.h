/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes, devices and processes of a simulated fabric in the terms of PMIx. */
#ifndef PX_PNET_SIM_DESCRIBE_H
#define PX_PNET_SIM_DESCRIBE_H

#include "core/types/type.h"
#include "fabric.h"
#include "tenon/pnet.h"

#define SIM_DEVICE_TYPE "sim"

/* Appends what is known of the fabric as a whole: its identifier, vendor, dimensions
 * and shape. */
pmix_status_t sim_add_fabric(px_infos *out, const struct sim_fabric *f);
/* Appends PMIX_FABRIC_DEVICE, with the device's host. index: its number where it is
 * told. */
pmix_status_t sim_add_device(px_infos *out, const struct sim_fabric *f,
                             struct sim_node node, uint32_t nic, uint32_t index);
/* Appends PMIX_FABRIC_DEVICES: those of a node. */
pmix_status_t sim_add_devices(px_infos *out, const struct sim_fabric *f,
                              struct sim_node node);
/* All values of a job: of the job the fabric, of each of its nodes the coordinates of
 * its devices, of this one the devices, too, and of each process its endpoints. */
pmix_status_t sim_put_values(const struct sim_fabric *f, const struct px_pnet_job *job,
                             px_pnet_put_fn put, void *arg);

#endif
