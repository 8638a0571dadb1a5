/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage on which new information about a job is collected and checked before any of
 * it takes effect. Private to core/model. */
#ifndef PX_MODEL_JOBINFO_IMPL_H
#define PX_MODEL_JOBINFO_IMPL_H

#include "core/model/jobinfo.h"
#include "core/model/lookup.h"

struct px_stage_entry {
    uint8_t table;
    pmix_rank_t
        rank; /* PX_GDS_NODE: index into the stage's nodes; PX_GDS_SESSION: id */
    const char *key;
    pmix_value_t value; /* borrowed */
};

/* A node as the information names it; which row that is, is known only when all is
 * there. */
struct px_stage_node {
    const char *name;  /* borrowed; NULL: not given */
    uint32_t id;       /* UINT32_MAX: not given */
    bool is_this;      /* the node of this process, for keys that stood alone */
    const char *ranks; /* borrowed; pmix.lpeers, or from a map blob */
};

struct px_stage {
    struct px_err *err;
    struct px_stage_entry *entries;
    size_t n_entries, cap_entries;
    struct px_stage_node *nodes;
    size_t n_nodes, cap_nodes;
    bool in_place;         /* the rest is in the shared tables */
    pmix_value_t parent;   /* borrowed, see PX_PARENT_JOB; UNDEF: none */
    struct px_kval *owned; /* entries borrow from it */
    size_t n_owned, cap_owned;
    char *node_map, *proc_map; /* as text; NULL: not given */
    struct px_procmap *map;    /* as a server's block; NULL: not given */
    uint32_t this_node;        /* index into nodes; UINT32_MAX: no lone node key yet */
    uint32_t session;          /* the job's; UINT32_MAX: not given */
    bool has_session, many_apps;
};

/* All or nothing, but for a datastore that runs out of memory half-way. rebuild_map:
 * without maps, the nodes' lists of ranks make one. */
pmix_status_t px_stage_apply(struct px_stage *s, const struct px_model *m,
                             struct px_nspace *ns, bool rebuild_map);

/* In a server, after that: tells clients that read in place. */
void px_jobinfo_note(struct px_nspace *ns);

#endif
