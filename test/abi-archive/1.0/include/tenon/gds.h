/* SPDX-License-Identifier: BSD-3-Clause */
/* gds: the datastore. One object per namespace holds what its ranks and the job have published, in
 * tables. Contract in frameworks/gds/README.md. */
#ifndef TENON_GDS_H
#define TENON_GDS_H

#include "tenon/component.h"

#include <stdbool.h>

#define PX_GDS_ABI 1u

struct px_gds_ns; /* the component's own */

enum px_gds_table {
    PX_GDS_INTERNAL, /* this process's own: Store_internal and uncommitted Put */
    PX_GDS_JOB,      /* given by the host: job level (rank WILDCARD) and per rank */
    PX_GDS_LOCAL,    /* committed for readers on this node */
    PX_GDS_REMOTE,   /* committed for readers on other nodes, or received from them */
    PX_GDS_NODE, /* node realm: "rank" is the node's index in the namespace's node table */
    PX_GDS_APP,     /* application realm: "rank" is the application number */
    PX_GDS_SESSION, /* session realm: "rank" is the session id */
    PX_GDS_N_TABLES,
};

/* Return anything but PMIX_SUCCESS to stop; the walk then returns that. value is borrowed. */
typedef pmix_status_t (*px_gds_walk_fn)(void *arg, pmix_rank_t rank, const char *key,
                                        const pmix_value_t *value);

struct px_gds_ops {
    pmix_status_t (*create)(void *self, const char *nspace, struct px_gds_ns **ns);
    void (*destroy)(void *self, struct px_gds_ns *ns);
    /* Copies; a later value under the same key replaces the earlier. UNDEF deletes. */
    pmix_status_t (*store)(void *self, struct px_gds_ns *ns, enum px_gds_table table,
                           pmix_rank_t rank, const char *key,
                           const pmix_value_t *value);
    /* Borrowed until the next store to that table and rank; NULL if there is none. */
    const pmix_value_t *(*find)(void *self, struct px_gds_ns *ns,
                                enum px_gds_table table, pmix_rank_t rank,
                                const char *key);
    /* Every pair of a rank in the order first stored; PMIX_RANK_UNDEF: of every rank, ranks
     * ascending (WILDCARD last). */
    pmix_status_t (*walk)(void *self, struct px_gds_ns *ns, enum px_gds_table table,
                          pmix_rank_t rank, px_gds_walk_fn fn, void *arg);
    /* PMIX_RANK_UNDEF: of every rank. */
    void (*clear)(void *self, struct px_gds_ns *ns, enum px_gds_table table,
                  pmix_rank_t rank);
};

#endif
