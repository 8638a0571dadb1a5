/* SPDX-License-Identifier: BSD-3-Clause */
/* A fabric, read from its description in JSON (README.md, section 3). A shortened
 * description travels with each launch. One reader serves both and trusts neither. */
#ifndef SIM_FABRIC_H
#define SIM_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "error.h"
#include "names.h"

enum {
    SIM_MAX_TEXT_B = 1 << 20,
    SIM_MAX_DIMS = 8,
    SIM_MAX_PLANES = 64,
    SIM_MAX_NICS = 16, /* of a node */
    SIM_MAX_DEVICES = SIM_MAX_NAMES,
    SIM_MAX_SWITCHES = 1024,
    SIM_MAX_LINKS = 1 << 16,
    SIM_MAX_COSTED = 1024, /* devices in a matrix of costs: 2 MiB */
};

struct sim_plane {
    const char *name;
    uint32_t speed, mtu; /* Mbit/s, bytes */
};

/* Switches of one row of the description. */
struct sim_switches {
    struct sim_names names;
    uint32_t first; /* number of the first switch */
};

struct sim_link {
    uint32_t ends[2]; /* switches */
    uint32_t speed;
};

struct sim_nic {
    const char *name;
    uint32_t plane, speed;
    uint32_t first_switch, n_switches; /* shared by the nodes; 0: unknown */
    uint32_t at; /* place of the first node in the shape, counted row by row */
};

/* Nodes with the same devices. */
struct sim_group {
    struct sim_names names;
    uint32_t first;        /* number of the first node */
    uint32_t first_device; /* number of the first device of the first node */
    uint32_t n_nics;
    struct sim_nic nics[SIM_MAX_NICS];
    json_t *json; /* element of the description; borrowed */
};

struct sim_fabric {
    json_t *json; /* owns all texts of this structure */
    const char *name, *vendor;
    uint32_t n_dims, shape[SIM_MAX_DIMS];
    struct sim_plane planes[SIM_MAX_PLANES];
    uint32_t n_planes, n_devices, n_switches;
    struct sim_switches *switches;
    struct sim_link *links;
    struct sim_group *groups;
    const struct sim_group **single; /* groups of one name without brackets, sorted */
    size_t n_switch_rows, n_links, n_groups, n_single;
    uint8_t *states; /* pmix_link_state_t of each device; NULL: all unknown */
};

/* A node of a fabric. */
struct sim_node {
    const struct sim_group *group; /* NULL: the node is not in the fabric */
    uint32_t i;                    /* number in the group */
};

/* Fails with PMIX_ERR_NOMEM, or with PMIX_ERR_BAD_PARAM and a line that names the place
 * in the text and what is expected there. */
pmix_status_t sim_fabric_parse(const char *text, size_t len, struct sim_fabric **out,
                               struct sim_error *error);
void sim_fabric_free(struct sim_fabric *f); /* NULL is fine */
struct sim_node sim_fabric_find(const struct sim_fabric *f, const char *host);
/* Returns the number of a device of a node. */
static inline uint32_t sim_device_of(struct sim_node node, uint32_t nic)
{
    return node.group->first_device + node.i * node.group->n_nics + nic;
}
/* Returns a description without switches and without unused groups (used is indexed by
 * group; NULL: all are used). malloc'd; NULL when out of memory. */
char *sim_fabric_text(const struct sim_fabric *f, const bool *used);

/* Computes the costs between the devices of a plane, or of all planes with UINT32_MAX,
 * in the order of the devices. A cost is the sum over the links of a path, each counted
 * as many times as it is slower than the fastest link of the fabric.
 * uint16_t[*n][*n], malloc'd. PMIX_ERR_OUT_OF_RESOURCE for too many devices. */
pmix_status_t sim_costs(const struct sim_fabric *f, uint32_t plane, uint16_t **out,
                        uint32_t *n);

#endif
