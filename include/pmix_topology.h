/* SPDX-License-Identifier: BSD-3-Clause */
/* The node's hardware: its topology, bindings of processes, and distances to
 * devices. */
#ifndef PMIX_TOPOLOGY_H
#define PMIX_TOPOLOGY_H

#include "pmix_callbacks.h"
#include "pmix_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * hwloc describes the hardware. The first of these functions that needs hwloc loads
 * it. The first function that needs the node's topology discovers it, once per
 * process, which takes as long as in hwloc (milliseconds, more on large nodes). None of
 * these functions waits for other processes, except PMIx_Compute_distances. All may be
 * called from any thread, in callbacks too.
 *
 * `source` of a topology or cpuset names the library that made the handle beside it:
 * "hwloc", with a version after a colon if known ("hwloc:2.9.0"). Upper and lower case
 * are the same. The handles are hwloc_topology_t and hwloc_bitmap_t of hwloc 2.x.
 *
 * Statuses that all of them may return, besides those listed with each: PMIX_ERR_INIT
 * before PMIx_Init (or the init of servers and tools) and after the last finalize;
 * PMIX_ERR_BAD_PARAM for a NULL argument that must not be NULL; PMIX_ERR_NOMEM;
 * PMIX_ERR_NOT_SUPPORTED if the source is not hwloc or hwloc is not installed. On
 * failure the caller's arguments are unchanged.
 *
 * Source: PMIx Standard 5.0, ch. Process Management, Process Locality.
 */

/** Family of pmix_cpuset_t: see the top of pmix_data.h. Destruct and free release
 * bitmaps of hwloc; a bitmap of another source, or without a source, stays. */
void PMIx_Cpuset_construct(pmix_cpuset_t *cpuset);
void PMIx_Cpuset_destruct(pmix_cpuset_t *cpuset);
pmix_cpuset_t *PMIx_Cpuset_create(size_t n);
void PMIx_Cpuset_free(pmix_cpuset_t *cpusets, size_t n);

/** Family of pmix_topology_t: see the top of pmix_data.h. Destruct and free release
 * source and topology, if the topology is hwloc's: a copy, an unpacked topology, or
 * one that the caller made. The node's own topology, which PMIx_Load_topology lends,
 * is recognised and stays. */
void PMIx_Topology_construct(pmix_topology_t *topo);
void PMIx_Topology_destruct(pmix_topology_t *topo);
pmix_topology_t *PMIx_Topology_create(size_t n);
void PMIx_Topology_free(pmix_topology_t *topos, size_t n);

/**
 * Get the topology of this node.
 *
 * Sources, in this order: PMIX_TOPOLOGY2 (or PMIX_TOPOLOGY) at init; shared memory or
 * XML that the process's server offers; discovery by hwloc.
 *
 * @param topo  constructed. If its source is set, that names the wanted library:
 *              "hwloc", or a beginning of the full name; then source stays unchanged.
 *              Otherwise source receives the name, which the caller owns. topology
 *              receives the node's topology, which the library owns: read only, valid
 *              until the process's last finalize. PMIx_Topology_destruct frees the
 *              caller's parts
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED also if the wanted source is not this
 *         one; PMIX_ERR_NOT_AVAILABLE if hwloc cannot discover the topology
 */
pmix_status_t PMIx_Load_topology(pmix_topology_t *topo);

/**
 * Get the CPUs on which this process, or the calling thread, may run.
 *
 * @param cpuset  constructed; its source may be set to hwloc. Receives a source, if it
 *                had none, and a bitmap, which the caller frees with
 *                PMIx_Cpuset_destruct. An earlier bitmap is overwritten, not freed
 * @param ref     PMIX_CPUBIND_PROCESS: the CPUs of all threads of the process;
 *                PMIX_CPUBIND_THREAD: those of the calling thread
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for any other envelope;
 *         PMIX_ERR_NOT_AVAILABLE if the system does not report them
 */
pmix_status_t PMIx_Get_cpuset(pmix_cpuset_t *cpuset, pmix_bind_envelope_t ref);

/**
 * Make a cpuset from its text, the form of PMIX_CPUSET in PMIx_Get.
 *
 * @param cpuset_string  "hwloc:0-3,8"; hosts leave "hwloc:" out, too
 * @param cpuset         as for PMIx_Get_cpuset
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM unless it is a list of CPUs below 65537
 */
pmix_status_t PMIx_Parse_cpuset_string(const char *cpuset_string,
                                       pmix_cpuset_t *cpuset);

/**
 * Get the places that two processes of this node share. Needs no hwloc.
 *
 * @param locality1, locality2  values of PMIX_LOCALITY_STRING:
 *                              "SK0:L30:L20:L10:CR0:HT0-1:NM0", with or without
 *                              "hwloc:" in front. Unknown parts are ignored
 * @param locality  receives PMIX_LOCALITY_SHARE_NODE and a bit for each level at which
 *                  both have an object in common
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM if either has another form;
 *         PMIX_ERR_NOT_SUPPORTED if either is of another source
 */
pmix_status_t PMIx_Get_relative_locality(const char *locality1, const char *locality2,
                                         pmix_locality_t *locality);

/**
 * Compute distances between devices and CPUs.
 *
 * A distance is the number of levels of the topology between a CPU and the nearest
 * object that it shares with the device. Distances are comparable only within one
 * topology and among devices of one type. Minimum and maximum are over the CPUs of the
 * set.
 *
 * This process computes the distances if it can load hwloc. Otherwise, and for the
 * node's own topology only, it asks its server and waits for the reply.
 *
 * @param topo       NULL for this node's
 * @param cpuset     NULL for the CPUs on which this process may run
 * @param info       PMIX_DEVICE_TYPE (pmix_device_type_t; several are or-ed) and
 *                   PMIX_DEVICE_ID (uuid or name in the system; any of several) select
 *                   devices; all types without PMIX_DEVICE_TYPE. Other infos are
 *                   ignored, or PMIX_ERR_NOT_SUPPORTED if PMIX_INFO_REQD
 * @param distances  receives an array, which the caller frees with
 *                   PMIx_Device_distance_free
 * @param ndist      receives its length
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND if no device matches;
 *         PMIX_ERR_NOT_AVAILABLE; PMIX_ERR_UNREACH if a server is needed, but not
 *         connected; PMIX_ERR_WOULD_BLOCK if a server is needed within a callback; or
 *         the server's status
 */
pmix_status_t PMIx_Compute_distances(pmix_topology_t *topo, pmix_cpuset_t *cpuset,
                                     pmix_info_t info[], size_t ninfo,
                                     pmix_device_distance_t *distances[],
                                     size_t *ndist);

/**
 * Works like PMIx_Compute_distances, but does not wait for the server. The arguments
 * are not used after the return.
 *
 * @param cbfunc  must not be NULL; called on the library's thread with the results of
 *                the blocking form; the library owns the array until its release_fn has
 *                been called. Only called after PMIX_SUCCESS
 * @return PMIX_SUCCESS: cbfunc will be called; otherwise the reason it will not
 */
pmix_status_t PMIx_Compute_distances_nb(pmix_topology_t *topo, pmix_cpuset_t *cpuset,
                                        pmix_info_t info[], size_t ninfo,
                                        pmix_device_dist_cbfunc_t cbfunc, void *cbdata);

#ifdef __cplusplus
}
#endif

#endif
