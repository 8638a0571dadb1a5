/* SPDX-License-Identifier: BSD-3-Clause */
/* The node's topology, one for the process, and data read from it. Any thread; nothing
 * here waits for the loop. */
#ifndef PX_TOPO_TOPO_H
#define PX_TOPO_TOPO_H

#include "core/types/type.h"

#include <sched.h>
#include <sys/types.h>

/* Sources of a topology that another process has discovered. */
struct px_topo_hints {
    const char *shmem_file;
    uint64_t shmem_addr, shmem_size;
    const char *xml; /* from our own server; it is parsed */
};

/* True if hwloc is installed. */
bool px_topo_possible(void);
/* True if the topology exists; *topo then borrows it. */
bool px_topo_here(pmix_topology_t *topo);
/* Loads the topology, from hints (may be NULL) or by discovery. *topo borrows it until
 * the last role ends. Returns PMIX_ERR_NOT_SUPPORTED without hwloc,
 * PMIX_ERR_NOT_AVAILABLE if discovery fails, PMIX_ERR_NOMEM. */
pmix_status_t px_topo_load(const struct px_topo_hints *hints, pmix_topology_t *topo);
/* Copies the topology in an init's infos, which may be gone after the init. Ignores,
 * with a log line, a topology that hwloc cannot copy. */
void px_topo_given(const pmix_info_t *info, size_t n);
void px_topo_drop(void);
/* Writes the topology, which is loaded if needed, to a new file in hwloc's form for
 * shared memory. Sets hints for other processes; shmem_file is file. Any failure leaves
 * no file. Returns the statuses of px_topo_load, PMIX_ERR_NOT_AVAILABLE if the file or
 * an address for it cannot be had. */
pmix_status_t px_topo_share(const char *file, struct px_topo_hints *hints);
/* True if the topology describes this machine. */
bool px_topo_is_real(void *topology);

/* ---- binding.c: CPU binding of processes ----------------------------------------- */

/* Lists the CPUs of all threads of a process, or of the calling thread if pid is 0:
 * "0-3,8", malloc'd. Does not need hwloc. Returns PMIX_ERR_NOT_AVAILABLE or
 * PMIX_ERR_NOMEM. */
pmix_status_t px_binding_list(pid_t pid, char **list);
/* Returns the number of CPUs that the calling thread may use, or UINT32_MAX if unknown.
 * Does not need hwloc. */
uint32_t px_binding_count(void);
/* Converts a list to a mask for sched_setaffinity, malloc'd. Returns PMIX_ERR_BAD_PARAM
 * or PMIX_ERR_NOMEM. */
pmix_status_t px_cpus_mask(const char *list, cpu_set_t **mask, size_t *size);
/* Writes a mask of that size as a list, malloc'd; "" for an empty mask. */
pmix_status_t px_cpus_text(const cpu_set_t *set, char **list);
/* Parses PMIX_CPUSET's text, with or without "hwloc:", into an empty cpuset, which may
 * name its source. Returns PMIX_ERR_BAD_PARAM, PMIX_ERR_NOMEM, or
 * PMIX_ERR_NOT_SUPPORTED for other sources. The cpuset is then unchanged. */
pmix_status_t px_cpuset_parse(const char *text, pmix_cpuset_t *cpuset);

/* ---- locality.c ------------------------------------------------------------------ */

/* Returns the parts of the topology that a set touches: "SK0:L30:...:NM0", malloc'd.
 * Returns NULL for an unbound process, or if the set touches nothing. */
pmix_status_t px_locality_text(void *topology, const void *bitmap, char **text);
/* Returns the bits of the levels that two such texts share. Does not need hwloc.
 * Returns PMIX_ERR_BAD_PARAM, or PMIX_ERR_NOT_SUPPORTED for other sources. */
pmix_status_t px_locality_shared(const char *a, const char *b, pmix_locality_t *bits);

/* ---- summary.c ------------------------------------------------------------------- */

/* Returns the numbers of objects of a topology, "1N:2S:2L3:16L2:16L1:16C:32H",
 * malloc'd, and the memory of the node in MB. Returns PMIX_ERR_NOT_SUPPORTED without
 * hwloc, PMIX_ERR_NOMEM. */
pmix_status_t px_topo_summary(void *topology, char **signature, uint64_t *memory_mb);

/* ---- distances.c ----------------------------------------------------------------- */

/* Computes PMIx_Compute_distances. host is part of names that must be unique. */
pmix_status_t px_distances(const pmix_topology_t *topo, const pmix_cpuset_t *cpuset,
                           const pmix_info_t *info, size_t n_info, const char *host,
                           pmix_device_distance_t **distances, size_t *n);

#endif
