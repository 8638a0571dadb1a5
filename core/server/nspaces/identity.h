/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of namespaces of connected processes. Every server computes the same name
 * without asking another. The name depends on the members, the connect's id and the
 * number of equal connects before. */
#ifndef PX_SERVER_NSPACES_IDENTITY_H
#define PX_SERVER_NSPACES_IDENTITY_H

#include "core/base/list.h"
#include "core/types/type.h"

struct px_model;

/* A connect: settled participants (collective.h), directives, and the id or "". All
 * borrowed. */
struct px_joint {
    const pmix_proc_t *procs;
    size_t n_procs;
    const px_infos *infos;
    const char *id;
    const char *nspace; /* its name, once it is made; or NULL */
    bool is_group;      /* nspace is the name of a group, which the members choose */
    bool elects;        /* of PMIX_GROUP_LEADER_FAILED: the server awaits answers; of
                  * PMIX_GROUP_LEADER_SELECTED: a leader was found */
    bool in_order;      /* ranks follow the order of procs, not of names */
};

/* A run of ranks among the members. Runs are in the order of full namespace names,
 * which include the cluster, and of ranks. */
struct px_full_run {
    pmix_nspace_t full; /* "<cluster>:<nspace>" */
    const char *nspace; /* borrowed */
    pmix_rank_t first;
    uint32_t n;
};

typedef struct px_identity {
    const struct px_model *model;
    struct px_full_run *runs;
    size_t n_runs, cap_runs;
    uint64_t hash;
} px_identity;

/* Fills id with the members and their hash. Errors as px_joint_name. */
pmix_status_t px_identity_find(px_identity *id, const struct px_model *m,
                               const struct px_joint *j);
void px_identity_cleanup(px_identity *id);
void px_identity_name(const px_identity *id, uint32_t generation, pmix_nspace_t name);
/* Adds the infos for px_jobinfo_register: size, members, and the node of each member if
 * all are known. */
pmix_status_t px_identity_describe(const px_identity *id, px_infos *infos);

/* Returns the number of equal connects so far. */
uint32_t px_generation_last(const struct px_list *generations, const px_identity *id);
/* Counts one more connect. PMIX_ERR_OUT_OF_RESOURCE: one of the jobs has too many
 * ids. */
pmix_status_t px_generation_next(struct px_list *generations, const px_identity *id,
                                 uint32_t *n);
/* Removes the generations of a job that has ended; NULL: all. */
void px_generations_forget(struct px_list *generations, const char *nspace);

#endif
