/* SPDX-License-Identifier: BSD-3-Clause */
/* List of all parts of a server. */
#include "core/server/server.h"

extern const struct px_server_part px_attributes_part, px_cleanup_part, px_collect_part,
    px_commit_part, px_connected_part, px_control_part, px_credentials_part,
    px_door_part, px_ends_part, px_environment_part, px_events_part, px_fabrics_part,
    px_get_part, px_groups_part, px_host_part, px_invites_part, px_iof_part,
    px_job_part, px_jobs_part, px_memory_part, px_monitor_part, px_nspaces_part,
    px_plog_part, px_pnet_part, px_probes_part, px_psets_part, px_query_part,
    px_query_usage_part, px_readings_part, px_resolve_part, px_session_part,
    px_timeline_part, px_topology_part, px_turns_part, px_values_part;

/* Parts, in the order in which they are created, stopped and notified. They are
 * destroyed in the reverse order.
 *
 * The clean-up registry comes before the session, whose journal and folder hold what is
 * registered: both go last. Fabric components are notified of the end of processes
 * before they forget the job. The door opens when all others are ready for peers. The
 * door closes before the parts that may block. Waiting requests get their replies
 * before events report the loss, so that an event handler finds the final state. */
const struct px_server_part *const px_server_parts[] = {
    &px_cleanup_part,    &px_session_part,     &px_memory_part,      &px_turns_part,
    &px_timeline_part,   &px_job_part,         &px_host_part,        &px_query_part,
    &px_jobs_part,       &px_query_usage_part, &px_resolve_part,     &px_psets_part,
    &px_attributes_part, &px_environment_part, &px_ends_part,        &px_pnet_part,
    &px_fabrics_part,    &px_values_part,      &px_topology_part,    &px_iof_part,
    &px_get_part,        &px_commit_part,      &px_readings_part,    &px_collect_part,
    &px_connected_part,  &px_plog_part,        &px_credentials_part, &px_probes_part,
    &px_control_part,    &px_monitor_part,     &px_nspaces_part,     &px_groups_part,
    &px_invites_part,    &px_events_part,      &px_door_part,        NULL,
};
