/* SPDX-License-Identifier: BSD-3-Clause */
/* Look-ups for queries, and the peers and nodes of jobs. */
#ifndef PX_MODEL_QUERY_H
#define PX_MODEL_QUERY_H

#include "core/model/nspace.h"

/* Finds a rank's value of a key that a query names. The query's qualifiers mean the
 * same as those of PMIx_Get. The rank PMIX_RANK_WILDCARD means job-level values. local,
 * remote: see want_local and want_remote. Returns PMIX_ERR_NOT_FOUND for ns NULL. Any
 * thread inside the gate. */
pmix_status_t px_lookup_query(const struct px_model *m, const struct px_nspace *ns,
                              pmix_rank_t rank, const pmix_query_t *q, const char *key,
                              bool local, bool remote, pmix_value_t *out);
/* Reads the process that a query names: an absent namespace is the asker's, an absent
 * rank is PMIX_RANK_WILDCARD. Returns PMIX_ERR_BAD_PARAM for PMIX_PROCID beside
 * PMIX_NSPACE or PMIX_RANK, or a value of another type. */
pmix_status_t px_query_target(const pmix_query_t *q, const pmix_proc_t *asker,
                              pmix_proc_t *target);
/* True if a query has that qualifier with a true value. */
static inline bool px_query_flag(const pmix_query_t *q, const char *key)
{
    return px_info_flag(q->qualifiers, q->nqual, key);
}
/* Counts the keys of that name in all queries. */
size_t px_query_count(const pmix_query_t *queries, size_t n, const char *key);
/* Replaces registered values by newer answers, for the queries with
 * PMIX_QUERY_REFRESH_CACHE. Leaves a key out that several queries name. True if a value
 * was replaced. Loop thread. */
bool px_query_refresh(struct px_model *m, const pmix_proc_t *asker,
                      const pmix_query_t *queries, size_t n, const pmix_info_t *answers,
                      size_t n_answers);

/* ---- peers and nodes ------------------------------------------------------------- */

/* Processes on a node, or nodes of jobs. Zeroed at the beginning, except node and
 * alone. */
struct px_resolved {
    const char *node; /* NULL: this node */
    bool alone;       /* only one namespace is resolved */
    pmix_proc_t *procs;
    size_t n_procs;
    px_buf nodes;       /* names of nodes, separated by commas */
    struct px_map seen; /* names already in nodes */
};

/* Add the peers on a node, and the nodes of a job. Return PMIX_ERR_NOT_FOUND for an
 * unknown node, or a job without nodes; PMIX_ERR_NOMEM. Any thread inside the gate. */
typedef pmix_status_t (*px_resolve_fn)(const struct px_model *m, struct px_resolved *r,
                                       const struct px_nspace *ns);
pmix_status_t px_resolve_peers(const struct px_model *m, struct px_resolved *r,
                               const struct px_nspace *ns);
pmix_status_t px_resolve_nodes(const struct px_model *m, struct px_resolved *r,
                               const struct px_nspace *ns);
/* Resolves a namespace, or all known namespaces that may() admits (nspace NULL; may
 * NULL: all). A namespace without results adds nothing. */
pmix_status_t px_resolve(const struct px_model *m, struct px_resolved *r,
                         px_resolve_fn fn, const char *nspace,
                         bool (*may)(void *arg, const char *nspace), void *arg);
void px_resolved_cleanup(struct px_resolved *r);

#endif
