/* SPDX-License-Identifier: BSD-3-Clause */
/* pnet: contributions of a fabric to a launch. On the launching server a component
 * contributes infos, which the host carries to every node of the job. There the
 * component of the same name receives them, and sets environment variables of the
 * processes. Contract in frameworks/pnet/README.md. */
#ifndef TENON_PNET_H
#define TENON_PNET_H

#include "tenon/component.h"

#define PX_PNET_ABI 1u

/* Adds a copy of info to the contribution. PMIX_ERR_BAD_PARAM for an info that cannot
 * be sent (such a type, no key); PMIX_ERR_NOMEM. */
typedef pmix_status_t (*px_pnet_add_fn)(void *arg, const pmix_info_t *info);
/* Sets a variable for a rank of the job, or for all ranks with PMIX_RANK_WILDCARD. A
 * rank's own variable wins. Copied. PMIX_ERR_BAD_PARAM for an empty name, a name with
 * '=', and names of the core (PMIX_*, TENON_*); PMIX_ERR_NOMEM. */
typedef pmix_status_t (*px_pnet_set_fn)(void *arg, pmix_rank_t rank, const char *name,
                                        const char *value);

/* Stores a value for a rank of the job, or for the job with PMIX_RANK_WILDCARD.
 * Processes of the job find the value with PMIx_Get, without a request. Copied.
 * Statuses as px_pnet_add_fn. */
typedef pmix_status_t (*px_pnet_put_fn)(void *arg, pmix_rank_t rank,
                                        const pmix_info_t *info);

/* Job, as its host describes it. Borrowed for the call; members are only appended. */
struct px_pnet_job {
    uint32_t size; /* of this structure, in bytes */
    const char *nspace;
    const pmix_info_t *info; /* all infos of the host */
    size_t n_info;
    /* From PMIX_NODE_MAP and PMIX_PROC_MAP; 0 and NULL without these. */
    uint32_t n_nodes, n_procs;
    const char *const *nodes;
    const uint32_t *node_of;  /* by rank: index into nodes; UINT32_MAX: no node */
    const uint32_t *local_of; /* by rank: number among the node's processes */
    uint32_t most_on_a_node;  /* processes */
    uint32_t this_node;       /* index into nodes; UINT32_MAX: not in nodes */
    /* Namespaces in PMIX_PARENT_ID, whose contributions the job gets too. */
    size_t n_parents;
    const char *const *parents;
};

enum px_pnet_flags {
    /* gather and contribute run on the loop thread: they never wait, and their changes
     * to self stay. */
    PX_PNET_IN_PLACE = 1,
};

/* Operations of pnet. All except contribute and gather run on the loop thread and never
 * wait. Members before forward must be set. */
struct px_pnet_ops {
    /* Contributes to a job, on the launching server: adds the infos that this component
     * gets on each node. info is the host's description of the job. A contribution may
     * be empty. Runs in a child process unless flags forbid that: may wait up to
     * server_fabric_timeout, and changes to self are lost. */
    pmix_status_t (*contribute)(void *self, const char *nspace, const pmix_info_t *info,
                                size_t n, px_pnet_add_fn add, void *arg);
    /* Prepares a node for the job, after a contribution and before the first process.
     * info came over the wire: check it; it is borrowed for the call. A second call for
     * a job replaces the first. On failure nothing stays. */
    pmix_status_t (*apply)(void *self, const char *nspace, const pmix_info_t *info,
                           size_t n);
    /* Sets the variables of the job's processes on this node. Called after apply, and
     * after values if the job is registered by then. If the job is registered later,
     * called again, for variables that depend on the job. PMIX_ERR_NOT_FOUND: nothing
     * was applied for the job. */
    pmix_status_t (*envars)(void *self, const char *nspace, px_pnet_set_fn set,
                            void *arg);
    /* Handles the end of a job, or its failed launch. Called for unknown jobs too. */
    void (*forget)(void *self, const char *nspace);

    /* Adds variables of this process's environment to the contribution for a job. The
     * patterns add to earlier ones, except names in exclude (may be NULL). Both have
     * the syntax of PMIx_Forward_envars. Called on the launching server.
     * PMIX_ERR_BAD_PARAM, with a log line, for a bad pattern; nothing has changed then.
     * NULL: the component forwards no variables. */
    pmix_status_t (*forward)(void *self, const char *nspace, const char *patterns,
                             const char *exclude);

    /* All members that follow may be NULL. */

    uint32_t flags; /* enum px_pnet_flags */
    /* Contributes like contribute, with the maps decoded. Only older libraries call
     * contribute then. */
    pmix_status_t (*gather)(void *self, const struct px_pnet_job *job,
                            px_pnet_add_fn add, void *arg);
    /* Stores values for the job's processes. Called on each node that applied a
     * contribution and knows the job, before the first process. */
    pmix_status_t (*values)(void *self, const struct px_pnet_job *job,
                            px_pnet_put_fn put, void *arg);
    /* Handle the end of processes: one process of this node has finalized or ended, or
     * the last one of a job has. The job may start more processes. */
    void (*child_finalized)(void *self, const pmix_proc_t *proc);
    void (*local_app_finalized)(void *self, const char *nspace);
    /* Add the devices of the component's fabric on this node; and receive those of
     * other nodes from the host. info came over the wire. */
    pmix_status_t (*collect_inventory)(void *self, const pmix_info_t *directives,
                                       size_t n, px_pnet_add_fn add, void *arg);
    pmix_status_t (*deliver_inventory)(void *self, const pmix_info_t *info, size_t n,
                                       const pmix_info_t *directives,
                                       size_t n_directives);
    /* Describes a fabric: adds PMIX_FABRIC_INDEX, the component's number of the fabric
     * (0 if missing), PMIX_FABRIC_COST_MATRIX and others. The component owns the
     * matrix, which is valid until update or deregister. A fabric may be registered
     * several times. PMIX_ERR_NOT_FOUND: the directives name no fabric of this
     * component. */
    pmix_status_t (*register_fabric)(void *self, const pmix_info_t *directives,
                                     size_t n, px_pnet_add_fn add, void *arg);
    /* Describes the present state of the fabric with the component's number index. */
    pmix_status_t (*update_fabric)(void *self, size_t index, px_pnet_add_fn add,
                                   void *arg);
    /* Handles the end of the last use of the description. */
    void (*deregister_fabric)(void *self, size_t index);
};

#endif
