/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement of a job: from the attributes of a request to the positions of its
 * ranks. */
#include "core/host/request/plan.h"

#include "core/model/topology.h"
#include "core/rt/log.h"
#include "core/rt/process.h"

pmix_status_t px_plan_placement(struct px_app_plan *app, const pmix_info_t *info,
                                struct px_err *err)
{
    struct px_placement placement = app->placement;
    pmix_topology_t node;
    pmix_status_t rc = px_placement_read(&placement, info, err);

    if (!rc && px_placement_needs_topology(&placement)) {
        rc = px_node_topology(&node);
        if (rc == PMIX_ERR_NOT_SUPPORTED)
            px_err_set(err, rc, "hwloc is not installed");
        else if (rc)
            px_err_set(err, rc, "the topology of this node is not known: %s",
                       PMIx_Error_string(rc));
        else
            rc = px_placement_check(&placement, node.topology, err);
    }
    if (!rc)
        app->placement = placement;
    return rc;
}

/* Describes this node, whose usable CPUs may be given. *usable is malloc'd, and has to
 * live as long as *node. */
static pmix_status_t find_node(struct px_place_node *node, bool *is_real, char **usable)
{
    pmix_topology_t topo;
    pmix_status_t rc = px_node_topology(&topo);

    if (rc)
        return rc;
    node->topology = topo.topology;
    *is_real = px_topo_is_real(topo.topology);
    if (*is_real && !node->usable)
        rc = px_binding_list(getpid(), usable);
    if (!*is_real || *usable)
        node->usable = *usable;
    return rc;
}

pmix_status_t px_plan_count(struct px_app_plan *app, const struct px_spawn_request *req,
                            struct px_err *err)
{
    struct px_place_node node = {.usable = req->node.usable};
    PX_AUTOFREE char *usable = NULL;
    bool is_real;
    pmix_status_t rc = px_placement_needs_topology(&app->placement)
                           ? find_node(&node, &is_real, &usable)
                           : PMIX_SUCCESS;

    if (rc)
        return px_err_set(err, rc, "the topology of this node is not known: %s",
                          PMIx_Error_string(rc));
    return px_place_count(&node, &app->placement, &app->n, err);
}

/* Binds processes that need no place of their own to all CPUs of their allocation. */
static void confine(struct px_placement *placement)
{
    if (placement->bind == PX_UNIT_NONE || !px_placement_needs_topology(placement))
        placement->bind = PX_UNIT_NODE;
    placement->overload |= placement->over;
}

pmix_status_t px_plan_positions(px_plan *plan, const struct px_spawn_request *req,
                                struct px_err *err)
{
    struct px_place_node node = req->node;
    PX_AUTOFREE struct px_place_app *apps = calloc(plan->n_apps, sizeof(*apps));
    PX_AUTOFREE char *usable = NULL;
    bool needs = false;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; apps && i < plan->n_apps; i++) {
        if (req->confined)
            confine(&plan->apps[i].placement);
        apps[i] = (struct px_place_app){plan->apps[i].placement, plan->apps[i].n};
        needs |= px_placement_needs_topology(&apps[i].placement);
        plan->apps[i].placement.list = NULL; /* owned by the request */
    }
    if (needs) {
        plan->positions = calloc(plan->n_tasks, sizeof(*plan->positions));
        rc = find_node(&node, &plan->binds, &usable);
        if (!rc && !plan->binds)
            px_log(PX_LOG_WARN, "spawn",
                   "processes are not bound: the topology is not that of this machine");
    }
    if (!rc && needs && node.usable && !node.usable[0])
        return px_err_set(err, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES,
                          "cannot place processes: allocations have all CPUs");
    if (!apps || (needs && !plan->positions))
        rc = PMIX_ERR_NOMEM;
    if (rc)
        return px_err_set(err, rc, "cannot place processes: %s", PMIx_Error_string(rc));
    return px_place(&node, apps, plan->n_apps, plan->positions, err);
}
