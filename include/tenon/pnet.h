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

/* All on the loop thread; none blocks. Those before forward must be there. */
struct px_pnet_ops {
    /* Where the job is launched from: what the component of this name shall get on each
     * node. info is what the host knows of the job. Adding nothing is fine. */
    pmix_status_t (*contribute)(void *self, const char *nspace, const pmix_info_t *info,
                                size_t n, px_pnet_add_fn add, void *arg);
    /* On each node, if there was a contribution and before the first process: prepares
     * the node. info came over the wire: it is to be checked, and borrowed until this
     * returns. Again for the same job: what was before is replaced. On failure nothing
     * stays. */
    pmix_status_t (*apply)(void *self, const char *nspace, const pmix_info_t *info,
                           size_t n);
    /* Once after apply: the variables of the job's processes on this node. */
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
};

#endif
