/* SPDX-License-Identifier: BSD-3-Clause */
/* A fabric as its description in JSON has it (docs/fabric.md). That text, less what a
 * job does not need, is also what travels with a launch: one reader serves both, and
 * believes neither. */
#ifndef PX_PNET_SIM_FABRIC_H
#define PX_PNET_SIM_FABRIC_H

#include "core/base/err.h"
#include "core/base/map.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    SIM_MAX_TEXT_B = 1 << 20,
    SIM_MAX_NAME = 63,
    SIM_MAX_RANGES = 32, /* of one name */
    SIM_MAX_DIMS = 8,
    SIM_MAX_PLANES = 64,
    SIM_MAX_NICS = 16, /* of a node */
    SIM_MAX_DEVICES = 1 << 20,
    SIM_MAX_SWITCHES = 1024,
    SIM_MAX_LINKS = 1 << 16,
    SIM_MAX_COSTED = 1024, /* devices in a matrix of costs: 2 MiB */
};

/* "n[0-9,20-29].x", or a name without brackets. */
struct sim_names {
    char prefix[SIM_MAX_NAME + 1], suffix[SIM_MAX_NAME + 1];
    struct {
        uint32_t first, last;
    } v[SIM_MAX_RANGES];
    uint32_t n;     /* ranges; 0: there are no brackets */
    uint32_t width; /* of numbers that begin with 0s */
    uint32_t count; /* names */
};

struct sim_plane {
    const char *name;
    uint32_t speed, mtu; /* Mbit/s, bytes */
};

struct sim_switches {
    struct sim_names names;
    uint32_t first; /* number of the first */
};

struct sim_link {
    uint32_t ends[2]; /* switches */
    uint32_t speed;
};

struct sim_nic {
    const char *name;
    uint32_t plane, speed;
    uint32_t first_switch, n_switches; /* those that the nodes share; 0: none is told */
    uint32_t at; /* place of the first node's in the shape, counted by its rows */
};

/* Nodes that are alike. */
struct sim_group {
    struct sim_names names;
    uint32_t first;        /* number of the first node */
    uint32_t first_device; /* number of its first device */
    uint32_t n_nics;
    struct sim_nic nics[SIM_MAX_NICS];
    json_t *json; /* as it is written; borrowed */
};

struct sim_fabric {
    json_t *json; /* all texts are its */
    const char *name, *vendor;
    uint32_t n_dims, shape[SIM_MAX_DIMS];
    struct sim_plane planes[SIM_MAX_PLANES];
    uint32_t n_planes, n_devices, n_switches;
    struct sim_switches *switches;
    size_t n_switch_rows, switches_cap;
    struct sim_link *links;
    size_t n_links, links_cap;
    struct sim_group *groups;
    size_t n_groups, groups_cap;
    struct px_map single; /* groups of one name without brackets, by that */
    uint8_t *states;      /* pmix_link_state_t by device; NULL: none is known */
};

/* A node of a fabric, or of none: group is NULL. */
struct sim_node {
    const struct sim_group *group;
    uint32_t i; /* in it */
};

/* PMIX_ERR_BAD_PARAM with a line in err that says where and what was expected;
 * PMIX_ERR_NOMEM. */
pmix_status_t sim_fabric_parse(const char *text, size_t len, struct sim_fabric **out,
                               struct px_err *err);
void sim_fabric_free(struct sim_fabric *f); /* NULL is fine */
struct sim_node sim_fabric_find(const struct sim_fabric *f, const char *host);
static inline uint32_t sim_device_of(struct sim_node node, uint32_t nic)
{
    return node.group->first_device + node.i * node.group->n_nics + nic;
}
/* The fabric without its switches and without the groups that are not used (by number;
 * NULL: all are), as a text to parse. malloc'd; NULL when out of memory. */
char *sim_fabric_text(const struct sim_fabric *f, const bool *used);

/* The i-th of the names, which is less than count. */
void sim_names_put(const struct sim_names *names, uint32_t i,
                   char out[SIM_MAX_NAME + 1]);

/* Costs between the devices of a plane, or of all with UINT32_MAX, in their order: the
 * sum of the links between them, each as many times as slow as the fastest of the
 * fabric. uint16_t[*n][*n], malloc'd. PMIX_ERR_OUT_OF_RESOURCE for too many. */
pmix_status_t sim_costs(const struct sim_fabric *f, uint32_t plane, uint16_t **out,
                        uint32_t *n);

#endif
