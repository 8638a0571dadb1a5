/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of job information share: the dictionary of its keys, the facts that
 * follow from a map, and the stage on which new information is collected and checked
 * before any of it takes effect. Private to core/model. */
#ifndef PX_MODEL_JOBINFO_IMPL_H
#define PX_MODEL_JOBINFO_IMPL_H

#include "core/model/jobinfo.h"

/* ---- dictionary (jobinfo_keys.c) ------------------------------------------------- */

enum px_home { PX_HOME_JOB, PX_HOME_PROC, PX_HOME_NODE, PX_HOME_APP, PX_HOME_SESSION };

/* A key with a place of its own. */
struct px_job_key {
    const char *key;
    pmix_data_type_t type; /* UNDEF: as the host gave it */
    uint8_t home;          /* enum px_home: the realm a lone key belongs to */
};

extern const struct px_job_key px_job_keys[];
extern const size_t px_n_job_keys;

/* NULL: any other key. */
const struct px_job_key *px_job_key_find(const char *key);
enum px_home px_job_key_home(const char *key);
/* *out borrows from *in: the same value, in the dictionary's type for the key if it
 * fits there; what has no type is true. */
void px_job_value_convert(const char *key, const pmix_value_t *in, pmix_value_t *out);

/* ---- derived facts (jobinfo_facts.c) --------------------------------------------- */

/* Keys that follow from the maps; NULL ends each list. */
extern const char *const px_rank_facts[];
extern const char *const px_node_facts[];
extern const char *const px_job_facts[];

/* *out is the caller's to destruct. PMIX_ERR_NOT_FOUND: it does not follow from what is
 * known. */
pmix_status_t px_rank_fact(const struct px_nspace *ns, pmix_rank_t rank,
                           const char *key, pmix_value_t *out);
pmix_status_t px_node_fact(const struct px_nspace *ns, uint32_t node, const char *key,
                           pmix_value_t *out);
pmix_status_t px_job_fact(const struct px_nspace *ns, const char *key,
                          pmix_value_t *out);

/* "n1" and "n1.cluster" are one host; of two full names, only equal ones. */
bool px_same_host(const char *a, const char *b);
/* Rows of the node table; UINT32_MAX if there is none. Names may be aliases the host
 * gave. */
uint32_t px_node_by_name(const struct px_nspace *ns, const char *name);
uint32_t px_node_by_id(const struct px_nspace *ns, uint32_t id);
/* Where the session table keeps a session: the default one (id UINT32_MAX) has a row
 * too. */
pmix_rank_t px_session_row(uint32_t id);

/* ---- stage (jobinfo_stage.c, jobinfo_apply.c) ------------------------------------ */

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
    pmix_value_t description; /* borrowed, see px_store_attach; UNDEF: none */
    struct px_kval *owned;    /* what entries borrow from, if nobody else owns it */
    size_t n_owned, cap_owned;
    char *node_map, *proc_map; /* as text; NULL: not given */
    uint32_t this_node;        /* index into nodes; UINT32_MAX: no lone node key yet */
    uint32_t session;          /* the job's; UINT32_MAX: not given */
    bool has_session, many_apps;
};

typedef struct px_stage px_stage;

void px_stage_init(struct px_stage *s, struct px_err *err);
void px_stage_cleanup(struct px_stage *s);
/* Keeps *kv until cleanup; taken also on failure. */
pmix_status_t px_stage_own(struct px_stage *s, struct px_kval *kv);
/* One pair of the job level, whatever form it has: maps, arrays of a realm, lone keys
 * of a realm. key and value must outlive the stage. */
pmix_status_t px_stage_add(struct px_stage *s, const char *key,
                           const pmix_value_t *value);
/* One pair of one rank or row. */
pmix_status_t px_stage_put(struct px_stage *s, enum px_gds_table table,
                           pmix_rank_t rank, const char *key,
                           const pmix_value_t *value);
/* A node's array of infos; name NULL: named within. */
pmix_status_t px_stage_node_array(struct px_stage *s, const char *name,
                                  const pmix_value_t *value);
/* Takes index of a new node. */
pmix_status_t px_stage_node_new(struct px_stage *s, const char *name, uint32_t *node);
/* All or nothing, but for a datastore that runs out of memory half-way. rebuild_map:
 * without maps, the nodes' lists of ranks make one. */
pmix_status_t px_stage_apply(struct px_stage *s, const struct px_model *m,
                             struct px_nspace *ns, bool rebuild_map);

/* lookup.c: whether the job itself has a value of a job-level key. */
bool px_job_says(const struct px_model *m, const struct px_nspace *ns, const char *key);

#endif
