/* SPDX-License-Identifier: BSD-3-Clause */
#include "describe.h"

#include "core/base/str.h"

#include <stdio.h>
#include <string.h>

enum {
    ENDPT_B = 12, /* node and context of 4 bytes, plane and device of 2, in network
                   * order */
    UUID_B = 2 * SIM_MAX_NAME + 16,
};

/* The infos of one node's devices point into this. */
struct scratch {
    char host[SIM_MAX_NAME + 1];
    char uuid[SIM_MAX_NICS][UUID_B];
    uint32_t at[SIM_MAX_NICS][SIM_MAX_DIMS];
    uint8_t bytes[SIM_MAX_NICS][ENDPT_B];
    pmix_coord_t coords[SIM_MAX_NICS];
    pmix_geometry_t geometries[SIM_MAX_NICS];
    pmix_endpoint_t endpoints[SIM_MAX_NICS];
};

static void put_number(uint8_t *at, size_t n, uint32_t number)
{
    for (; n-- > 0; number >>= 8)
        at[n] = (uint8_t)number;
}

static void set_context(struct scratch *s, uint32_t n_nics, uint32_t context)
{
    for (uint32_t k = 0; k < n_nics; k++)
        put_number(s->bytes[k] + 8, 4, context);
}

static void describe_node(struct scratch *s, const struct sim_fabric *f,
                          struct sim_node node)
{
    char host[SIM_MAX_NAME + 1]; /* gcc takes the one in s for what is written below */

    sim_names_put(&node.group->names, node.i, host);
    memcpy(s->host, host, sizeof host);
    for (uint32_t k = 0; k < node.group->n_nics; k++) {
        const struct sim_nic *nic = &node.group->nics[k];
        char *name = (char *)nic->name; /* it is only read */
        uint32_t place = nic->at + node.i;

        for (uint32_t d = f->n_dims; d-- > 0; place /= f->shape[d])
            s->at[k][d] = place % f->shape[d];
        snprintf(s->uuid[k], UUID_B, SIM_DEVICE_TYPE "://%s::%s", host, nic->name);
        put_number(s->bytes[k], 4, node.group->first + node.i);
        put_number(s->bytes[k] + 4, 2, nic->plane);
        put_number(s->bytes[k] + 6, 2, k);
        s->coords[k] = (pmix_coord_t){PMIX_COORD_LOGICAL_VIEW, s->at[k], f->n_dims};
        s->geometries[k] = (pmix_geometry_t){nic->plane, s->uuid[k], name,
                                             &s->coords[k], f->n_dims > 0};
        s->endpoints[k] = (pmix_endpoint_t){
            s->uuid[k], name, {(char *)s->bytes[k], ENDPT_B}};
    }
    set_context(s, node.group->n_nics, 0);
}

/* ---- lists of infos -------------------------------------------------------------- */

struct row {
    const char *key;
    pmix_data_type_t type;
    const void *data;
};

static pmix_status_t add_rows(px_infos *out, const struct row *rows, size_t n)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++)
        rc = px_infos_add(out, rows[i].key, rows[i].data, rows[i].type);
    return rc;
}

pmix_status_t sim_add_fabric(px_infos *out, const struct sim_fabric *f)
{
    const pmix_data_array_t shape = {PMIX_UINT32, f->n_dims, (void *)f->shape};
    char text[SIM_MAX_DIMS * 11 + 1] = "";
    const struct row rows[] = {
        {PMIX_FABRIC_IDENTIFIER, PMIX_STRING, f->name},
        {PMIX_FABRIC_VENDOR, PMIX_STRING, f->vendor},
        {PMIX_FABRIC_DIMS, PMIX_UINT32, &f->n_dims},
        {PMIX_FABRIC_SHAPE, PMIX_DATA_ARRAY, &shape},
        {PMIX_FABRIC_SHAPE_STRING, PMIX_STRING, text},
    };

    for (uint32_t d = 0; d < f->n_dims; d++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", d ? "x" : "",
                 f->shape[d]);
    return add_rows(out, rows, f->n_dims ? PX_COUNT(rows) : 3);
}

pmix_status_t sim_add_device(px_infos *out, const struct sim_fabric *f,
                             struct sim_node node, uint32_t nic, uint32_t index)
{
    struct scratch s;
    PX_AUTO(px_infos) device = {0};
    const struct sim_nic *d = &node.group->nics[nic];
    const size_t mtu = f->planes[d->plane].mtu, speed = d->speed;
    const pmix_link_state_t state = f->states ? f->states[sim_device_of(node, nic)]
                                              : PMIX_LINK_STATE_UNKNOWN;
    char address[40];

    describe_node(&s, f, node);
    snprintf(address, sizeof address, "%u:%u:%u", node.group->first + node.i, d->plane,
             nic);
    const struct row rows[] = {
        {PMIX_FABRIC_DEVICE_NAME, PMIX_STRING, d->name},
        {PMIX_FABRIC_DEVICE_INDEX, PMIX_UINT32, &index},
        {PMIX_HOSTNAME, PMIX_STRING, s.host},
        {PMIX_FABRIC_PLANE, PMIX_STRING, f->planes[d->plane].name},
        {PMIX_FABRIC_DEVICE_VENDOR, PMIX_STRING, f->vendor},
        {PMIX_FABRIC_DEVICE_ADDRESS, PMIX_STRING, address},
        {PMIX_FABRIC_DEVICE_COORDINATES, PMIX_GEOMETRY, &s.geometries[nic]},
        {PMIX_FABRIC_DEVICE_MTU, PMIX_SIZE, &mtu},
        {PMIX_FABRIC_DEVICE_SPEED, PMIX_SIZE, &speed},
        {PMIX_FABRIC_DEVICE_STATE, PMIX_LINK_STATE, &state},
        {PMIX_FABRIC_DEVICE_TYPE, PMIX_STRING, SIM_DEVICE_TYPE},
    };
    pmix_status_t rc = add_rows(&device, rows, PX_COUNT(rows));
    return rc ? rc : px_infos_add_array(out, PMIX_FABRIC_DEVICE, &device);
}

pmix_status_t sim_add_devices(px_infos *out, const struct sim_fabric *f,
                              struct sim_node node)
{
    PX_AUTO(px_infos) devices = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    for (uint32_t k = 0; !rc && k < node.group->n_nics; k++)
        rc = sim_add_device(&devices, f, node, k, k);
    return rc ? rc : px_infos_add_array(out, PMIX_FABRIC_DEVICES, &devices);
}

/* ---- a job ----------------------------------------------------------------------- */

static pmix_status_t put_fabric(const struct sim_fabric *f, px_pnet_put_fn put,
                                void *arg)
{
    PX_AUTO(px_infos) facts = {0};
    pmix_status_t rc = sim_add_fabric(&facts, f);

    for (size_t i = 0; !rc && i < facts.n; i++)
        rc = put(arg, PMIX_RANK_WILDCARD, &facts.v[i]);
    return rc;
}

/* Coordinates are of a node in the Standard, not of a process. */
static pmix_status_t put_node(const struct sim_fabric *f, struct sim_node node,
                              bool is_this, px_pnet_put_fn put, void *arg)
{
    struct scratch s;
    PX_AUTO(px_infos) facts = {0}, whole = {0};
    const pmix_data_array_t coordinates = {PMIX_GEOMETRY, node.group->n_nics,
                                           s.geometries};

    describe_node(&s, f, node);
    pmix_status_t rc = px_infos_add(&facts, PMIX_HOSTNAME, s.host, PMIX_STRING);
    if (!rc)
        rc = px_infos_add(&facts, PMIX_FABRIC_COORDINATES, &coordinates,
                          PMIX_DATA_ARRAY);
    if (!rc && is_this)
        rc = sim_add_devices(&facts, f, node);
    if (!rc)
        rc = px_infos_add_array(&whole, PMIX_NODE_INFO_ARRAY, &facts);
    return rc ? rc : put(arg, PMIX_RANK_WILDCARD, whole.v);
}

/* Neighbours among the ranks are mostly on one node, which is described once. */
static pmix_status_t put_ranks(const struct sim_fabric *f,
                               const struct px_pnet_job *job,
                               const struct sim_node *nodes, px_pnet_put_fn put,
                               void *arg)
{
    struct scratch s;
    pmix_data_array_t endpoints = {PMIX_ENDPOINT, 0, s.endpoints};
    const pmix_info_t info = {
        .key = PMIX_FABRIC_ENDPT,
        .value = {.type = PMIX_DATA_ARRAY, .data.darray = &endpoints}};
    uint32_t described = UINT32_MAX;
    pmix_status_t rc = PMIX_SUCCESS;

    for (uint32_t rank = 0; !rc && rank < job->n_procs; rank++) {
        const uint32_t at = job->node_of[rank];

        if (at >= job->n_nodes || !nodes[at].group)
            continue;
        if (at != described) {
            describe_node(&s, f, nodes[at]);
            endpoints.size = nodes[at].group->n_nics;
            described = at;
        }
        set_context(&s, nodes[at].group->n_nics, job->local_of[rank]);
        rc = put(arg, rank, &info);
    }
    return rc;
}

pmix_status_t sim_put_values(const struct sim_fabric *f, const struct px_pnet_job *job,
                             px_pnet_put_fn put, void *arg)
{
    PX_AUTOFREE struct sim_node *nodes = calloc((size_t)job->n_nodes + 1,
                                                sizeof *nodes);
    pmix_status_t rc = nodes ? put_fabric(f, put, arg) : PMIX_ERR_NOMEM;

    for (uint32_t i = 0; !rc && i < job->n_nodes; i++) {
        nodes[i] = sim_fabric_find(f, job->nodes[i]);
        if (nodes[i].group)
            rc = put_node(f, nodes[i], i == job->this_node, put, arg);
    }
    return rc ? rc : put_ranks(f, job, nodes, put, arg);
}
