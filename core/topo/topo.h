/* SPDX-License-Identifier: BSD-3-Clause */
/* The node's topology, one for the process, and what is read from it. Any thread;
 * nothing here waits for the loop. */
#ifndef PX_TOPO_TOPO_H
#define PX_TOPO_TOPO_H

#include "core/types/type.h"

#include <sched.h>
#include <sys/types.h>

/* Where a topology may be had that another process has discovered already. */
struct px_topo_hints {
    const char *shmem_file;
    uint64_t shmem_addr, shmem_size;
    const char *xml; /* of our own server: it is parsed */
};

/* Whether there can be one: hwloc is installed. */
bool px_topo_possible(void);
/* Whether there is one already; *topo borrows it then. */
bool px_topo_here(pmix_topology_t *topo);
/* Makes it if there is none: from the hints, which may be NULL, or by discovery. *topo
 * borrows it. It lives until the last role ends. PMIX_ERR_NOT_SUPPORTED without hwloc,
 * PMIX_ERR_NOT_AVAILABLE if that finds nothing, PMIX_ERR_NOMEM. */
pmix_status_t px_topo_load(const struct px_topo_hints *hints, pmix_topology_t *topo);
/* Keeps a copy of the topology that the infos of an init give, if they do: theirs may
 * be gone when the init has returned. One that hwloc cannot copy is passed over, with a
 * message. */
void px_topo_given(const pmix_info_t *info, size_t n);
void px_topo_drop(void);
/* Whether it is that of this machine: not made up, nor of another one. */
bool px_topo_is_real(void *topology);

/* ---- binding.c: where processes may run ------------------------------------------ */

/* CPUs of all threads of a process, or of the calling thread if pid is 0, as a list
 * ("0-3,8"), malloc'd. Needs no hwloc. PMIX_ERR_NOT_AVAILABLE, PMIX_ERR_NOMEM. */
pmix_status_t px_binding_list(pid_t pid, char **list);
/* Returns how many CPUs the calling thread may run on, or UINT32_MAX if the system
 * gives no answer. Needs no hwloc. */
uint32_t px_binding_count(void);
/* Such a list as a mask for sched_setaffinity, malloc'd. PMIX_ERR_BAD_PARAM,
 * PMIX_ERR_NOMEM. */
pmix_status_t px_cpus_mask(const char *list, cpu_set_t **mask, size_t *size);
/* From PMIX_CPUSET's text, with or without "hwloc:", into an empty cpuset, or one that
 * names its source already. PMIX_ERR_BAD_PARAM, PMIX_ERR_NOT_SUPPORTED for other
 * sources, PMIX_ERR_NOMEM; then the cpuset is unchanged. */
pmix_status_t px_cpuset_parse(const char *text, pmix_cpuset_t *cpuset);

/* ---- locality.c ------------------------------------------------------------------ */

/* The parts of the topology that a set touches: "SK0:L30:...:NM0", malloc'd; NULL if it
 * touches none or is that of a process bound to nothing. */
pmix_status_t px_locality_text(void *topology, const void *bitmap, char **text);
/* The bits of what two such texts have in common. Needs no hwloc. PMIX_ERR_BAD_PARAM,
 * PMIX_ERR_NOT_SUPPORTED for other sources. */
pmix_status_t px_locality_shared(const char *a, const char *b, pmix_locality_t *bits);

/* ---- distances.c ----------------------------------------------------------------- */

/* See PMIx_Compute_distances. host goes into names that must be unique. */
pmix_status_t px_distances(const pmix_topology_t *topo, const pmix_cpuset_t *cpuset,
                           const pmix_info_t *info, size_t n_info, const char *host,
                           pmix_device_distance_t **distances, size_t *n);

#endif
