/* SPDX-License-Identifier: BSD-3-Clause */
#include "describe.h"

#include <stdlib.h>
#include <string.h>

#include "info.h"

#define DEVICE_TYPE  "sim"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    /* Node and context of 4 bytes, plane and device of 2 bytes, in network order. */
    ENDPT_B = 12,
    UUID_B = 2 * SIM_MAX_NAME + 16,
    N_DEVICE_INFOS = 11,
};

/* A device of a node. Pointers point into this structure and into the fabric. */
struct device {
    char uuid[UUID_B], address[40];
    uint32_t at[SIM_MAX_DIMS];
    uint8_t bytes[ENDPT_B];
    pmix_coord_t coord;
    pmix_geometry_t geometry;
};

static void put_number(uint8_t *at, size_t n, uint32_t number)
{
    for (; n-- > 0; number >>= 8)
        at[n] = (uint8_t)number;
}

static void describe(struct device *d, const struct sim_fabric *f, struct sim_node node,
                     const char *host, uint32_t k)
{
    const struct sim_nic *nic = &node.group->nics[k];
    const uint32_t number = node.group->first + node.i;
    uint32_t place = nic->at + node.i;

    for (uint32_t i = f->n_dims; i-- > 0; place /= f->shape[i])
        d->at[i] = place % f->shape[i];
    snprintf(d->uuid, sizeof(d->uuid), DEVICE_TYPE "://%s::%s", host, nic->name);
    snprintf(d->address, sizeof(d->address), "%u:%u:%u", number, nic->plane, k);
    put_number(d->bytes, 4, number);
    put_number(d->bytes + 4, 2, nic->plane);
    put_number(d->bytes + 6, 2, k);
    put_number(d->bytes + 8, 4, 0);
    d->coord = (pmix_coord_t){PMIX_COORD_LOGICAL_VIEW, d->at, f->n_dims};
    d->geometry = (pmix_geometry_t){nic->plane, d->uuid, (char *)nic->name, &d->coord,
                                    f->n_dims > 0};
}

pmix_status_t sim_add_all(const pmix_info_t *info, size_t n, px_pnet_add_fn add,
                          void *arg)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++)
        rc = add(arg, &info[i]);
    return rc;
}

pmix_status_t sim_add_fabric(const struct sim_fabric *f, px_pnet_add_fn add, void *arg)
{
    pmix_data_array_t shape = {PMIX_UINT32, f->n_dims, (void *)f->shape};
    char text[SIM_MAX_DIMS * 11 + 1] = "";

    for (uint32_t d = 0; d < f->n_dims; d++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u", d ? "x" : "",
                 f->shape[d]);
    const pmix_info_t infos[] = {
        sim_info_text(PMIX_FABRIC_IDENTIFIER, f->name),
        sim_info_text(PMIX_FABRIC_VENDOR, f->vendor),
        sim_info_number(PMIX_FABRIC_DIMS, f->n_dims),
        sim_info_array(PMIX_FABRIC_SHAPE, &shape),
        sim_info_text(PMIX_FABRIC_SHAPE_STRING, text),
    };
    return sim_add_all(infos, f->n_dims ? COUNT(infos) : 3, add, arg);
}

/* ---- lists of devices ------------------------------------------------------------ */

/* Element of a list of devices. The infos point into this structure and the fabric. */
struct element {
    char host[SIM_MAX_NAME + 1];
    struct device device;
    pmix_info_t infos[N_DEVICE_INFOS];
    pmix_data_array_t array;
};

/* Fills an element and its info. index: place in the list. */
static void list_device(struct element *e, pmix_info_t *info,
                        const struct sim_fabric *f, struct sim_node node, uint32_t nic,
                        uint32_t index)
{
    const struct sim_nic *n = &node.group->nics[nic];
    const pmix_value_t state = {
        .type = PMIX_LINK_STATE,
        .data.linkstate = f->states ? f->states[sim_device_of(node, nic)]
                                    : PMIX_LINK_STATE_UNKNOWN};

    sim_names_put(&node.group->names, node.i, e->host);
    describe(&e->device, f, node, e->host, nic);
    const pmix_info_t infos[N_DEVICE_INFOS] = {
        sim_info_text(PMIX_FABRIC_DEVICE_NAME, n->name),
        sim_info_number(PMIX_FABRIC_DEVICE_INDEX, index),
        sim_info_text(PMIX_HOSTNAME, e->host),
        sim_info_text(PMIX_FABRIC_PLANE, f->planes[n->plane].name),
        sim_info_text(PMIX_FABRIC_DEVICE_VENDOR, f->vendor),
        sim_info_text(PMIX_FABRIC_DEVICE_ADDRESS, e->device.address),
        sim_info(PMIX_FABRIC_DEVICE_COORDINATES,
                 (pmix_value_t){.type = PMIX_GEOMETRY,
                                .data.geometry = &e->device.geometry}),
        sim_info_size(PMIX_FABRIC_DEVICE_MTU, f->planes[n->plane].mtu),
        sim_info_size(PMIX_FABRIC_DEVICE_SPEED, n->speed),
        sim_info(PMIX_FABRIC_DEVICE_STATE, state),
        sim_info_text(PMIX_FABRIC_DEVICE_TYPE, DEVICE_TYPE),
    };
    memcpy(e->infos, infos, sizeof(infos));
    e->array = (pmix_data_array_t){PMIX_INFO, N_DEVICE_INFOS, e->infos};
    *info = sim_info_array(PMIX_FABRIC_DEVICE, &e->array);
}

/* A list under construction. */
struct list {
    struct element *elements;
    pmix_info_t *infos;
    uint32_t n;
};

/* Makes an empty list with room for n devices; false when out of memory. */
static bool list_make(struct list *l, uint32_t n)
{
    l->elements = calloc((size_t)n + 1, sizeof(*l->elements));
    l->infos = calloc((size_t)n + 1, sizeof(*l->infos));
    l->n = 0;
    return l->elements && l->infos;
}

static void list_free(struct list *l)
{
    free(l->elements);
    free(l->infos);
}

/* Appends the devices of a node in a plane; UINT32_MAX: in all planes. */
static void list_node(struct list *l, const struct sim_fabric *f, struct sim_node node,
                      uint32_t plane)
{
    for (uint32_t k = 0; k < node.group->n_nics; k++) {
        if (plane != UINT32_MAX && node.group->nics[k].plane != plane)
            continue;
        list_device(&l->elements[l->n], &l->infos[l->n], f, node, k, l->n);
        l->n++;
    }
}

static pmix_status_t add_list(const struct list *l, px_pnet_add_fn add, void *arg)
{
    pmix_data_array_t array = {PMIX_INFO, l->n, l->infos};
    const pmix_info_t info = sim_info_array(PMIX_FABRIC_DEVICES, &array);

    return add(arg, &info);
}

pmix_status_t sim_add_node_devices(const struct sim_fabric *f, struct sim_node node,
                                   px_pnet_add_fn add, void *arg)
{
    struct list l;
    pmix_status_t rc = list_make(&l, node.group->n_nics) ? PMIX_SUCCESS
                                                         : PMIX_ERR_NOMEM;

    if (!rc) {
        list_node(&l, f, node, UINT32_MAX);
        rc = add_list(&l, add, arg);
    }
    list_free(&l);
    return rc;
}

pmix_status_t sim_add_plane_devices(const struct sim_fabric *f, uint32_t plane,
                                    uint32_t n, px_pnet_add_fn add, void *arg)
{
    struct list l;
    pmix_status_t rc = list_make(&l, n) ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    for (size_t g = 0; !rc && g < f->n_groups; g++)
        for (uint32_t i = 0; i < f->groups[g].names.count; i++)
            list_node(&l, f, (struct sim_node){&f->groups[g], i}, plane);
    if (!rc && n > 0)
        rc = add_list(&l, add, arg);
    list_free(&l);
    return rc;
}

/* ---- a job ----------------------------------------------------------------------- */

/* A put function and its argument, as the argument of an add function. */
struct job_put {
    px_pnet_put_fn put;
    void *arg;
};

/* px_pnet_add_fn. Puts the info for the job. */
static pmix_status_t put_for_job(void *arg, const pmix_info_t *info)
{
    const struct job_put *p = arg;

    return p->put(p->arg, PMIX_RANK_WILDCARD, info);
}

/* The devices of a node, as arrays of geometries and endpoints. */
struct node_view {
    char host[SIM_MAX_NAME + 1];
    struct device devices[SIM_MAX_NICS];
    pmix_geometry_t geometries[SIM_MAX_NICS];
    pmix_endpoint_t endpoints[SIM_MAX_NICS];
};

static void view_node(struct node_view *v, const struct sim_fabric *f,
                      struct sim_node node)
{
    sim_names_put(&node.group->names, node.i, v->host);
    for (uint32_t k = 0; k < node.group->n_nics; k++) {
        struct device *d = &v->devices[k];

        describe(d, f, node, v->host, k);
        v->geometries[k] = d->geometry;
        v->endpoints[k] = (pmix_endpoint_t){
            d->uuid, (char *)node.group->nics[k].name, {(char *)d->bytes, ENDPT_B}};
    }
}

/* The Standard has coordinates for nodes, not for processes. */
static pmix_status_t put_node(const struct sim_fabric *f, struct sim_node node,
                              bool is_this, const struct job_put *p)
{
    struct node_view v;
    struct list l = {0};
    pmix_data_array_t coordinates = {PMIX_GEOMETRY, node.group->n_nics, v.geometries};
    pmix_status_t rc = PMIX_SUCCESS;

    view_node(&v, f, node);
    if (is_this && !list_make(&l, node.group->n_nics))
        rc = PMIX_ERR_NOMEM;
    if (!rc && is_this)
        list_node(&l, f, node, UINT32_MAX);
    pmix_data_array_t devices = {PMIX_INFO, l.n, l.infos};
    pmix_info_t infos[] = {
        sim_info_text(PMIX_HOSTNAME, v.host),
        sim_info_array(PMIX_FABRIC_COORDINATES, &coordinates),
        sim_info_array(PMIX_FABRIC_DEVICES, &devices),
    };
    pmix_data_array_t array = {PMIX_INFO, is_this ? 3 : 2, infos};
    const pmix_info_t whole = sim_info_array(PMIX_NODE_INFO_ARRAY, &array);
    if (!rc)
        rc = p->put(p->arg, PMIX_RANK_WILDCARD, &whole);
    list_free(&l);
    return rc;
}

/* Describes a node once for consecutive ranks on the node. */
static pmix_status_t put_ranks(const struct sim_fabric *f,
                               const struct px_pnet_job *job,
                               const struct sim_node *nodes, px_pnet_put_fn put,
                               void *arg)
{
    struct node_view v;
    pmix_data_array_t endpoints = {PMIX_ENDPOINT, 0, v.endpoints};
    const pmix_info_t info = sim_info_array(PMIX_FABRIC_ENDPT, &endpoints);
    uint32_t viewed = UINT32_MAX;
    pmix_status_t rc = PMIX_SUCCESS;

    for (uint32_t rank = 0; !rc && rank < job->n_procs; rank++) {
        const uint32_t at = job->node_of[rank];

        if (at >= job->n_nodes || !nodes[at].group)
            continue;
        if (at != viewed) {
            view_node(&v, f, nodes[at]);
            endpoints.size = nodes[at].group->n_nics;
            viewed = at;
        }
        for (uint32_t k = 0; k < nodes[at].group->n_nics; k++)
            put_number(v.devices[k].bytes + 8, 4, job->local_of[rank]);
        rc = put(arg, rank, &info);
    }
    return rc;
}

pmix_status_t sim_put_values(const struct sim_fabric *f, const struct px_pnet_job *job,
                             px_pnet_put_fn put, void *arg)
{
    struct job_put p = {put, arg};
    struct sim_node *nodes = calloc((size_t)job->n_nodes + 1, sizeof(*nodes));
    pmix_status_t rc = nodes ? sim_add_fabric(f, put_for_job, &p) : PMIX_ERR_NOMEM;

    for (uint32_t i = 0; !rc && i < job->n_nodes; i++) {
        nodes[i] = sim_fabric_find(f, job->nodes[i]);
        if (nodes[i].group)
            rc = put_node(f, nodes[i], i == job->this_node, &p);
    }
    if (!rc)
        rc = put_ranks(f, job, nodes, put, arg);
    free(nodes);
    return rc;
}
