/* SPDX-License-Identifier: BSD-3-Clause */
/* The node's topology for API calls in every role, loaded with the server's hints. */
#ifndef PX_MODEL_TOPOLOGY_H
#define PX_MODEL_TOPOLOGY_H

#include "core/topo/topo.h"

/* Returns the topology, which *topo borrows (px_topo_load). Any thread; the first call
 * may take long. Returns the statuses of px_topo_load, or PMIX_ERR_INIT. */
pmix_status_t px_node_topology(pmix_topology_t *topo);

#endif
