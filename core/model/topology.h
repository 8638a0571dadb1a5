/* SPDX-License-Identifier: BSD-3-Clause */
/* The node's topology for API calls of every role: with the server's hints about
 * it. */
#ifndef PX_MODEL_TOPOLOGY_H
#define PX_MODEL_TOPOLOGY_H

#include "core/topo/topo.h"

/* *topo borrows it (px_topo_load). Any thread; the first call may take long. Statuses
 * of px_topo_load, and PMIX_ERR_INIT. */
pmix_status_t px_node_topology(pmix_topology_t *topo);

#endif
