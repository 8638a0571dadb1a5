/* SPDX-License-Identifier: BSD-3-Clause */
/* All parts of a server. */
#include "core/server/server.h"

extern const struct px_server_part px_attributes_part, px_cleanup_part, px_collect_part,
    px_connected_part, px_door_part, px_environment_part, px_ends_part, px_events_part,
    px_fabrics_part, px_get_part, px_host_part, px_iof_part, px_job_part,
    px_memory_part, px_nspaces_part, px_plog_part, px_pnet_part, px_psets_part,
    px_query_part, px_session_part, px_topology_part, px_values_part;

/* The order in which parts are created, stopped and notified; they are destroyed in the
 * reverse one.
 *
 * The registry of clean-up comes before the session, whose journal and folder hold
 * what is registered: these go last. Fabric components hear of the end of processes
 * before they forget the job. The door opens when all others are ready for
 * peers, and closes first of those that hold up anything. Waiting requests are
 * answered before events report the loss, so that a handler that looks finds the
 * server as it will be. */
const struct px_server_part *const px_server_parts[] = {
    &px_cleanup_part,
    &px_session_part,
    &px_memory_part,
    &px_job_part,
    &px_host_part,
    &px_query_part,
    &px_psets_part,
    &px_attributes_part,
    &px_environment_part,
    &px_ends_part,
    &px_pnet_part,
    &px_fabrics_part,
    &px_values_part,
    &px_topology_part,
    &px_iof_part,
    &px_get_part,
    &px_collect_part,
    &px_connected_part,
    &px_plog_part,
    &px_nspaces_part,
    &px_events_part,
    &px_door_part,
    NULL,
};
