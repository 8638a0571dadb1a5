/* SPDX-License-Identifier: BSD-3-Clause */
/* Where processes go on this node. Mapping gives each an object of the topology,
 * ranking decides which rank each of them is, binding chooses its CPUs. Directives and
 * a topology come in, a seat for each rank comes out; nothing is known of jobs.
 * Stateless; any thread. The rules are those of Open MPI's mpirun; docs/processes.md
 * has them for users. */
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
    PX_UNIT_LIST, /* to bind: the CPUs that are listed */
    PX_UNIT_NONE, /* to bind: not at all */
};

/* ---- what is asked for (wish.c) -------------------------------------------------- */

/* Of one application; all zero: nothing. */
struct px_placement {
    enum px_unit map, rank, bind;
    enum px_unit each; /* per: of each object of this level */
    uint32_t per;      /* so many processes; 0: not said */
    uint32_t n_cpus;   /* of each process; 0: not said */
    const char *list;  /* of CPUs that may be used; borrowed from the info */
    enum { PX_MAPPER_ANY, PX_MAPPER_ROUND, PX_MAPPER_PPR } mapper;
    bool hwthreads; /* a CPU is a hardware thread, not a core */
    bool fill;      /* ranks: all of one object before the next */
    bool overload;  /* more processes may be bound to an object than it has CPUs */
    bool ordered;   /* the first process is bound to the first CPU of the list, ... */
    bool over, no_over; /* more processes than CPUs: allowed, forbidden */
};

/* Reads a directive: PMIX_MAPBY, PMIX_RANKBY, PMIX_BINDTO, PMIX_PPR, PMIX_MAPPER,
 * PMIX_CPUS_PER_PROC, PMIX_CPU_LIST, PMIX_NO_OVERSUBSCRIBE, PMIX_NO_PROCS_ON_HEAD,
 * whose value is of the right type. PMIX_ERR_BAD_PARAM if it makes no sense,
 * PMIX_ERR_NOT_SUPPORTED if it asks for what one node does not have; what the wish is
 * then is not defined. */
pmix_status_t px_placement_read(struct px_placement *placement, const pmix_info_t *info,
                                struct px_err *err);
/* Whether it takes a topology to fulfil it. */
bool px_placement_needs_topology(const struct px_placement *placement);
/* PMIX_ERR_NOT_SUPPORTED if it names a level that the topology does not have. */
pmix_status_t px_placement_check(const struct px_placement *placement, void *topology,
                                 struct px_err *err);

/* ---- what comes of it (place.c) -------------------------------------------------- */

/* Of one process. */
struct px_position {
    enum px_unit level; /* of the object that it is mapped to */
    unsigned number;    /* of that object, in its level */
    char *cpus;         /* it is bound to, as the system numbers them: "0-3,8";
                            NULL: not bound */
    char *locality;     /* of those (PMIX_LOCALITY_STRING); NULL: not bound */
    uint32_t n_cpus;    /* as which they were chosen; 1: one object of some level */
};

struct px_place_app {
    struct px_placement placement;
    uint32_t n; /* processes; their ranks follow those of the application before */
};

struct px_place_node {
    void *topology;     /* of hwloc; NULL if no wish needs it */
    const char *usable; /* CPUs as the system numbers them; NULL: all */
    /* Those that are bound already. */
    const struct px_position *const *taken;
    size_t n_taken;
    uint32_t n_running; /* processes, bound or not */
};

/* Fills the seats of all ranks, which are zero before; on failure nothing is left to
 * free.
 * PMIX_ERR_BAD_PARAM if wishes contradict each other,
 * PMIX_ERR_JOB_INSUFFICIENT_RESOURCES if there are too few CPUs or objects,
 * PMIX_ERR_NOT_SUPPORTED without hwloc, PMIX_ERR_NOMEM. */
pmix_status_t px_place(const struct px_place_node *node,
                       const struct px_place_app *apps, size_t n_apps,
                       struct px_position *positions, struct px_err *err);
/* How many processes a wish for so many of each object makes, by a node of which
 * nothing but the topology and the usable CPUs counts. PMIX_ERR_BAD_PARAM if that is
 * not the wish, else as px_place. */
pmix_status_t px_place_count(const struct px_place_node *node,
                             const struct px_placement *placement, uint32_t *n,
                             struct px_err *err);
void px_positions_free(struct px_position *positions, size_t n);

/* ---- what is shown of it (show.c) ------------------------------------------------ */

/* "core", "package" */
const char *px_unit_name(enum px_unit level);
/* Of the objects of a level in a topology of hwloc; HWLOC_TYPE_DEPTH_UNKNOWN: it has
 * none. The node's for what is no level. */
int px_unit_depth(const struct px_hwloc *h, void *topology, enum px_unit level);
/* A line for each of the n ranks, malloc'd; NULL: out of memory. The CPUs of bound ones
 * are also shown as "[BB/..][../..]": packages, cores, and a letter for each hardware
 * thread. */
char *px_place_map(void *topology, const struct px_position *positions, uint32_t n);

#endif
