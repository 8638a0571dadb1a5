/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement of processes on this node. Mapping gives each process an object of the
 * topology. Ranking orders the processes. Binding chooses the CPUs. Input are
 * directives and a topology, output is a position for each rank. Stateless; any thread.
 * The rules are those of Open MPI's mpirun; docs/processes.md has them for users. */
#ifndef PX_HOST_PLACE_H
#define PX_HOST_PLACE_H

#include "core/base/err.h"
#include "pmix_types.h"

#include <stdbool.h>

struct px_hwloc;

enum px_unit {
    PX_UNIT_UNSAID,
    PX_UNIT_NODE,
    PX_UNIT_PACKAGE,
    PX_UNIT_NUMA,
    PX_UNIT_L3,
    PX_UNIT_L2,
    PX_UNIT_L1,
    PX_UNIT_CORE,
    PX_UNIT_HWTHREAD,
    PX_UNIT_LIST, /* bind only: CPUs of the list */
    PX_UNIT_NONE, /* bind only: not bound */
};

/* ---- directives (directives.c) --------------------------------------------------- */

/* Directives for one application; all zero: no directive. */
struct px_placement {
    enum px_unit map, rank, bind;
    enum px_unit each; /* level of the objects that "per" refers to */
    uint32_t per;      /* processes for each object; 0: not given */
    uint32_t n_cpus;   /* for each process; 0: not given */
    const char *list;  /* usable CPUs; borrowed from the info */
    enum { PX_MAPPER_ANY, PX_MAPPER_ROUND, PX_MAPPER_PPR } mapper;
    bool hwthreads;     /* CPUs are hardware threads instead of cores */
    bool fill;          /* rank all processes of an object before the next object */
    bool overload;      /* more processes may be bound to an object than it has CPUs */
    bool ordered;       /* bind in the order of the list */
    bool over, no_over; /* more processes than CPUs: allowed, forbidden */
};

/* Reads a directive: PMIX_MAPBY, PMIX_RANKBY, PMIX_BINDTO, PMIX_PPR, PMIX_MAPPER,
 * PMIX_CPUS_PER_PROC, PMIX_CPU_LIST, PMIX_NO_OVERSUBSCRIBE, PMIX_NO_PROCS_ON_HEAD. The
 * value must be of the right type. PMIX_ERR_BAD_PARAM for a bad value,
 * PMIX_ERR_NOT_SUPPORTED for a directive that one node cannot follow. *placement is
 * undefined after an error. */
pmix_status_t px_placement_read(struct px_placement *placement, const pmix_info_t *info,
                                struct px_err *err);
/* True if a directive needs a topology. */
bool px_placement_needs_topology(const struct px_placement *placement);
/* PMIX_ERR_NOT_SUPPORTED if a directive names a level that is not in the topology. */
pmix_status_t px_placement_check(const struct px_placement *placement, void *topology,
                                 struct px_err *err);

/* ---- placement (place.c) --------------------------------------------------------- */

/* Position of one process. */
struct px_position {
    enum px_unit level; /* level of the object the process is mapped to */
    unsigned number;    /* number of the object in its level */
    char *cpus;         /* CPUs the process is bound to, by OS index: "0-3,8"; NULL: not
                         * bound */
    char *locality;     /* PMIX_LOCALITY_STRING of cpus; NULL: not bound */
    uint32_t n_cpus;    /* CPUs that were chosen; 1: one object of some level */
    int32_t package_rank; /* PMIX_PACKAGE_RANK, set by the description of the job; -1:
                           * none */
};

struct px_place_app {
    struct px_placement placement;
    uint32_t n; /* processes; ranks follow those of the application before */
};

struct px_place_node {
    void *topology;     /* hwloc topology; NULL: no directive needs a topology */
    const char *usable; /* CPUs by OS index; NULL: all */
    /* Positions of processes that are already bound. */
    const struct px_position *const *taken;
    size_t n_taken;
    uint32_t n_running; /* processes, bound or not */
};

/* Fills the positions of all ranks, which are zero before. On failure nothing is left
 * to free.
 * PMIX_ERR_BAD_PARAM: the directives contradict each other.
 * PMIX_ERR_JOB_INSUFFICIENT_RESOURCES: too few CPUs or objects.
 * PMIX_ERR_NOT_SUPPORTED: hwloc is missing.
 * PMIX_ERR_NOMEM: out of memory. */
pmix_status_t px_place(const struct px_place_node *node,
                       const struct px_place_app *apps, size_t n_apps,
                       struct px_position *positions, struct px_err *err);
/* Counts the processes of a directive with a number per object. Uses only the topology
 * and the usable CPUs of node. PMIX_ERR_BAD_PARAM without such a directive; other
 * errors as px_place. */
pmix_status_t px_place_count(const struct px_place_node *node,
                             const struct px_placement *placement, uint32_t *n,
                             struct px_err *err);
void px_positions_free(struct px_position *positions, size_t n);

/* ---- display (show.c) ------------------------------------------------------------ */

/* Returns "core", "package" and so on. */
const char *px_unit_name(enum px_unit level);
/* Returns the depth of a level in a topology of hwloc. HWLOC_TYPE_DEPTH_UNKNOWN: the
 * topology lacks this level. Values that are not levels mean the node. */
int px_unit_depth(const struct px_hwloc *h, void *topology, enum px_unit level);
/* Returns a line for each of the n ranks, malloc'd; NULL: out of memory. Bound CPUs are
 * also shown as "[BB/..][../..]": packages, cores, and a letter for each hardware
 * thread. */
char *px_place_map(void *topology, const struct px_position *positions, uint32_t n);

#endif
