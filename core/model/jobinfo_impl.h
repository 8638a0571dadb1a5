/* SPDX-License-Identifier: BSD-3-Clause */
/* Staging area: collects and checks new job information before any of it takes effect.
 * Private to core/model. */
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

/* A node of the new information. Its row is determined after all information is
 * read. */
struct px_stage_node {
    const char *name;  /* borrowed; NULL if not given */
    uint32_t id;       /* UINT32_MAX if not given */
    bool is_this;      /* this process's node, for keys outside an array */
    const char *ranks; /* borrowed; from pmix.lpeers or a map blob */
};

struct px_stage {
    struct px_err *err;
    struct px_stage_entry *entries;
    size_t n_entries, cap_entries;
    struct px_stage_node *nodes;
    size_t n_nodes, cap_nodes;
    bool in_place;         /* the shared tables have the rest */
    pmix_value_t parent;   /* borrowed, see PX_PARENT_JOB; UNDEF if not given */
    struct px_kval *owned; /* storage of borrowed values */
    size_t n_owned, cap_owned;
    char *node_map, *proc_map; /* text; NULL if not given */
    struct px_procmap *map;    /* from a server's block; NULL if not given */
    uint32_t this_node;        /* index into nodes; UINT32_MAX before the first lone
                                * node key */
    uint32_t session;          /* the job's session; UINT32_MAX if not given */
    bool has_session, many_apps;
};

/* Applies all staged information or none, unless a datastore runs out of memory during
 * the writes. rebuild_map: makes a map from the nodes' lists of ranks if maps are
 * missing. */
pmix_status_t px_stage_apply(struct px_stage *s, const struct px_model *m,
                             struct px_nspace *ns, bool rebuild_map);

/* Server side: updates the record for clients that read in place. */
void px_jobinfo_note(struct px_nspace *ns);

#endif
