/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of two_nodes: what the servers of the two nodes exchange. */
#ifndef TEST_TWO_NODES_H
#define TEST_TWO_NODES_H

#include "host.h"

#include <stdint.h>

enum kind { FENCE = 1, REQUEST, DATA, PUBLISH, EVENT, LAUNCH, SPAWN, DONE };

struct head {
    uint32_t kind;
    uint32_t n;  /* bytes that follow */
    uint64_t id; /* requester's id of a REQUEST and its DATA */
    int32_t status;
    pmix_proc_t proc;     /* process of a REQUEST, PUBLISH, EVENT or SPAWN */
    char signature[1024]; /* participants of a FENCE, or key of a PUBLISH */
};

/* A node's contribution to a fence, which waits for the other node's contribution. */
struct part {
    struct part *next;
    char signature[1024];
    char *data;
    size_t n;
    pmix_status_t status;   /* status of the node */
    pmix_modex_cbfunc_t cb; /* NULL in the other node's part */
    void *cbdata;
};

/* Sends a message to the other node. */
void notify_other(const struct head *h, const void *data);
/* Adds the own contribution to an exchange that h->signature names. The callback gets the bytes of both
 * nodes, in the order of the nodes, and the status of the first node that failed. cb NULL: the
 * contribution is the other node's. */
void add_part(const struct head *h, const char *data, pmix_modex_cbfunc_t cb,
              void *cbdata);

/* The host's function for groups (two_nodes_groups.c). */
pmix_status_t nodes_group(pmix_group_operation_t op, char group[],
                          const pmix_proc_t procs[], size_t n_procs,
                          const pmix_info_t info[], size_t n, pmix_info_cbfunc_t cb,
                          void *cbdata);
/* Sets the number of this node, and of the ranks on each node. */
void nodes_group_init(int node, int ranks);

#endif
