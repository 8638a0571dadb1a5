/* SPDX-License-Identifier: BSD-3-Clause */
/* The name of a namespace of connected processes. Every server comes to the same one
 * without asking another: by the members, the id of the connect, and how many connects
 * of the same went before. */
#ifndef PX_SERVER_NSPACES_IDENTITY_H
#define PX_SERVER_NSPACES_IDENTITY_H

#include "core/base/list.h"
#include "core/types/type.h"

struct px_model;

/* A connect: settled participants (collective.h), directives, and its id or "". All
 * borrowed. */
struct px_joint {
    const pmix_proc_t *procs;
    size_t n_procs;
    const px_infos *infos;
    const char *id;
};

/* Of a server. */
struct px_joints {
    struct px_list list; /* nspaces.c */
    struct px_list generations;
};

/* The members: runs of ranks, in the order of the names that their namespaces have in
 * all clusters, and with their ids. */
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

/* Fills id, as px_joint_name. */
pmix_status_t px_identity_find(px_identity *id, const struct px_model *m,
                               const struct px_joint *j);
void px_identity_cleanup(px_identity *id);
void px_identity_name(const px_identity *id, uint32_t generation, pmix_nspace_t name);
/* Adds what px_jobinfo_register is to be told of the namespace: its size and members,
 * and where they are, if that is known of all. */
pmix_status_t px_identity_describe(const px_identity *id, px_infos *infos);

/* How many there were. */
uint32_t px_generation_last(const struct px_joints *all, const px_identity *id);
/* One more. PMIX_ERR_OUT_OF_RESOURCE: one of the jobs has too many ids. */
pmix_status_t px_generation_next(struct px_joints *all, const px_identity *id,
                                 uint32_t *n);
/* Those of a job that has ended; NULL: all. */
void px_generations_forget(struct px_joints *all, const char *nspace);

#endif
