/* SPDX-License-Identifier: BSD-3-Clause */
/* pnet: what a fabric adds to a launch. Where a job is launched from, a component
 * contributes infos; the host carries them to every node of the job, where the
 * component of the same name gets them and says what to put into the environment of the
 * processes. Contract in frameworks/pnet/README.md. */
#ifndef TENON_PNET_H
#define TENON_PNET_H

#include "tenon/component.h"

#define PX_PNET_ABI 1u

/* Adds a copy of info to what travels. PMIX_ERR_BAD_PARAM if it cannot (a type that
 * does not go over the wire, no key), PMIX_ERR_NOMEM. */
typedef pmix_status_t (*px_pnet_add_fn)(void *arg, const pmix_info_t *info);
/* Sets a variable for a rank of the job, or for all with PMIX_RANK_WILDCARD, which a
 * variable of the rank itself precedes. Copied. PMIX_ERR_BAD_PARAM for no name, one
 * with a '=', and those that belong to the core (PMIX_*, TENON_*); PMIX_ERR_NOMEM. */
typedef pmix_status_t (*px_pnet_set_fn)(void *arg, pmix_rank_t rank, const char *name,
                                        const char *value);

/* A value for a rank of the job, or for the job with PMIX_RANK_WILDCARD: its processes
 * find it with PMIx_Get, without asking anyone. Copied. As px_pnet_add_fn. */
typedef pmix_status_t (*px_pnet_put_fn)(void *arg, pmix_rank_t rank,
                                        const pmix_info_t *info);

/* A job, as its host describes it. Borrowed for the call; members are only appended. */
struct px_pnet_job {
    uint32_t size; /* of this structure, in bytes */
    const char *nspace;
    const pmix_info_t *info; /* all that the host gave */
    size_t n_info;
    /* From PMIX_NODE_MAP and PMIX_PROC_MAP; 0 and NULL where the host gave none. */
    uint32_t n_nodes, n_procs;
    const char *const *nodes;
    const uint32_t *node_of;  /* by rank: index into nodes; UINT32_MAX: on none */
    const uint32_t *local_of; /* by rank: how manieth of its node */
    uint32_t most_on_a_node;  /* processes */
    uint32_t this_node;       /* index into nodes; UINT32_MAX: none of them */
    /* Of PMIX_PARENT_ID: namespaces whose contributions this one is to hold, too. */
    size_t n_parents;
    const char *const *parents;
};

enum px_pnet_flags {
    /* gather and contribute run on the loop thread: they never wait, and what they
     * change in self stays. */
    PX_PNET_IN_PLACE = 1,
};

/* On the loop thread, where none waits, but for contribute and gather. Those before
 * forward must be there. */
struct px_pnet_ops {
    /* Where the job is launched from: what the component of this name shall get on each
     * node. info is what the host knows of the job. Adding nothing is fine. Runs in a
     * child process of its own, unless flags say otherwise: it may wait, at most for
     * server_fabric_timeout, and what it changes in self is lost. */
    pmix_status_t (*contribute)(void *self, const char *nspace, const pmix_info_t *info,
                                size_t n, px_pnet_add_fn add, void *arg);
    /* On each node, if there was a contribution and before the first process: prepares
     * the node. info came over the wire: it is to be checked, and borrowed until this
     * returns. Again for the same job: what was before is replaced. On failure nothing
     * stays. */
    pmix_status_t (*apply)(void *self, const char *nspace, const pmix_info_t *info,
                           size_t n);
    /* The variables of the job's processes on this node: after apply, and after values,
     * if the job is known by then; else once more when it gets known, for variables
     * that depend on it. PMIX_ERR_NOT_FOUND: nothing was applied for the job. */
    pmix_status_t (*envars)(void *self, const char *nspace, px_pnet_set_fn set,
                            void *arg);
    /* The job is over, or its launch has failed. Also for jobs never heard of. */
    void (*forget)(void *self, const char *nspace);

    /* Where the job will be launched from: its contribution shall hold the variables of
     * this process's environment that these patterns name, beside those named before,
     * but not those of exclude (may be NULL). Both as for PMIx_Forward_envars.
     * PMIX_ERR_BAD_PARAM, with a line in the log: one is no pattern; nothing has
     * changed. NULL: the component forwards none. */
    pmix_status_t (*forward)(void *self, const char *nspace, const char *patterns,
                             const char *exclude);

    /* All that follow may be NULL. */

    uint32_t flags; /* enum px_pnet_flags */
    /* In place of contribute, which an older library calls: with the maps decoded. */
    pmix_status_t (*gather)(void *self, const struct px_pnet_job *job,
                            px_pnet_add_fn add, void *arg);
    /* On each node that has applied a contribution and knows the job, before its first
     * process: what its processes shall know. */
    pmix_status_t (*values)(void *self, const struct px_pnet_job *job,
                            px_pnet_put_fn put, void *arg);
    /* A process of this node has finalized or has ended; the last one of a job has. The
     * job may begin others. */
    void (*child_finalized)(void *self, const pmix_proc_t *proc);
    void (*local_app_finalized)(void *self, const char *nspace);
    /* The devices of the component's fabric on this node; and the same of other nodes,
     * where the host has brought it. info came over the wire. */
    pmix_status_t (*collect_inventory)(void *self, const pmix_info_t *directives,
                                       size_t n, px_pnet_add_fn add, void *arg);
    pmix_status_t (*deliver_inventory)(void *self, const pmix_info_t *info, size_t n,
                                       const pmix_info_t *directives,
                                       size_t n_directives);
    /* Describes a fabric: PMIX_FABRIC_INDEX, the component's own number of it, 0 if it
     * is not there; PMIX_FABRIC_COST_MATRIX and others. The matrix stays the
     * component's, until update or deregister. The same fabric may be asked for again.
     * PMIX_ERR_NOT_FOUND: the directives name none of the component's. */
    pmix_status_t (*register_fabric)(void *self, const pmix_info_t *directives,
                                     size_t n, px_pnet_add_fn add, void *arg);
    /* The same as it is now, by the component's own number. */
    pmix_status_t (*update_fabric)(void *self, size_t index, px_pnet_add_fn add,
                                   void *arg);
    /* No process uses the description any more. */
    void (*deregister_fabric)(void *self, size_t index);
};

#endif
