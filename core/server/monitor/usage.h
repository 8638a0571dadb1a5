/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of resource usage on this node. A reader of the user (probe.h) reads the
 * texts of /proc. Loop thread only. */
#ifndef PX_SERVER_MONITOR_USAGE_H
#define PX_SERVER_MONITOR_USAGE_H

#include "core/base/err.h"
#include "core/server/data/memory.h"
#include "core/server/monitor/probe.h"
#include "core/server/monitor/usage_text.h"

struct px_peer;
struct px_server;

/* A process of this node. */
struct px_usage_target {
    pmix_proc_t proc;
    pid_t pid;
    uint64_t start; /* core/os/proc.h */
};

/* Figures and targets of a monitor. */
struct px_usage_want {
    enum px_usage_of of;
    px_usage_set set;
    bool everything; /* all processes, or this node */
    bool elsewhere;  /* targets include other nodes */
    bool local_only;
    pmix_proc_t *procs; /* sorted; a rank may be PMIX_RANK_WILDCARD */
    size_t n_procs, cap_procs;
    pid_t *pids; /* sorted */
    size_t n_pids, cap_pids;
    char **devices; /* NULL: all */
};

/* Reads a request. PMIX_ERR_NOT_SUPPORTED: a required figure is unknown, or all targets
 * are on other nodes; PMIX_ERR_NO_PERMISSIONS: a process of another user;
 * PMIX_ERR_BAD_PARAM: a value of the wrong type; PMIX_ERR_OUT_OF_RESOURCE: too many
 * targets; PMIX_ERR_NOMEM. */
pmix_status_t px_usage_read_want(const struct px_peer *peer, enum px_usage_of of,
                                 const pmix_value_t *asked, const px_infos *directives,
                                 struct px_usage_want *want, struct px_err *err);
void px_usage_want_fini(struct px_usage_want *want);
/* Returns the memory that the targets occupy. */
size_t px_usage_want_b(const struct px_usage_want *want);

/* True if all processes that the name includes run on this node. */
bool px_usage_is_here(const struct px_server *srv, const pmix_proc_t *proc);
/* Lists the processes that a peer wants and may see: the first process of each rank.
 * *targets is malloc'd, also after a failure. Returns PMIX_ERR_NOMEM if out of
 * memory. */
pmix_status_t px_usage_list(struct px_peer *peer, const struct px_usage_want *want,
                            struct px_usage_target **targets, size_t *n);

/* A sample that is being taken, or zeroed. fn runs once, never inside px_sample_begin,
 * and may take the figures. */
typedef void (*px_sample_fn)(void *arg, pmix_status_t status, px_infos *figures);
struct px_sample {
    struct px_probe probe;
    struct px_peer *peer;
    const struct px_usage_want *want;
    struct px_usage_target *targets; /* processes */
    size_t n, at;
    enum px_usage_text texts[PX_PROBE_FILES]; /* of the probe */
    struct px_charge charge;
    px_infos figures;
    px_sample_fn fn;
    void *arg;
};
/* Begins a sample for a peer. want and sample must live until fn or px_sample_end.
 * Returns the errors of px_probe_ask. */
pmix_status_t px_sample_begin(struct px_sample *s, struct px_peer *peer,
                              const struct px_usage_want *want, px_sample_fn fn,
                              void *arg);
/* Ends a sample without a call of fn, and frees what it holds. */
void px_sample_end(struct px_sample *s);

#endif
