/* SPDX-License-Identifier: BSD-3-Clause */
/* The node's hardware: its topology, where processes are bound in it, how far devices
 * are. */
#ifndef PMIX_TOPOLOGY_H
#define PMIX_TOPOLOGY_H

#include "pmix_callbacks.h"
#include "pmix_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The hardware is described by hwloc, which is loaded when the first of these functions
 * needs it; the node's topology is discovered once per process, by the first that needs
 * that, which then takes as long as hwloc does (milliseconds, on large nodes more).
 * None of them waits for anything else, except PMIx_Compute_distances, which says so.
 * All may be called from any thread, in callbacks too.
 *
 * `source` of a topology or cpuset names who made the handle beside it: "hwloc", with a
 * version behind a colon where it is known ("hwloc:2.9.0"). Upper and lower case are
 * the same. The handles are hwloc_topology_t and hwloc_bitmap_t of hwloc 2.x.
 *
 * Statuses that all of them may return, besides those named with each: PMIX_ERR_INIT
 * before PMIx_Init (or its like of servers and tools) and after the last finalize;
 * PMIX_ERR_BAD_PARAM for a NULL argument that may not be; PMIX_ERR_NOMEM;
 * PMIX_ERR_NOT_SUPPORTED if the source is not hwloc or hwloc is not installed. On
 * failure what the caller passed is unchanged.
 *
 * Source: PMIx Standard 5.0, ch. Process Management, Process Locality. / */

/** Family of pmix_cpuset_t: see the top of pmix_data.h. Destruct and free give back
 * bitmaps of hwloc; one of any other source, or of none, stays. */
void PMIx_Cpuset_construct(pmix_cpuset_t *cpuset);
void PMIx_Cpuset_destruct(pmix_cpuset_t *cpuset);
pmix_cpuset_t *PMIx_Cpuset_create(size_t n);
void PMIx_Cpuset_free(pmix_cpuset_t *cpusets, size_t n);

/** Family of pmix_topology_t: see the top of pmix_data.h. Destruct and free give back
 * source and topology, if it is hwloc's: a copy, one unpacked, or one the caller made.
 * The node's own, which PMIx_Load_topology lends, is recognised and stays. */
void PMIx_Topology_construct(pmix_topology_t *topo);
void PMIx_Topology_destruct(pmix_topology_t *topo);
pmix_topology_t *PMIx_Topology_create(size_t n);
void PMIx_Topology_free(pmix_topology_t *topos, size_t n);

/**
 * The topology of this node.
 *
 * It comes from what the process was given, in this order: PMIX_TOPOLOGY2 (or
 * PMIX_TOPOLOGY) at init, shared memory or XML that its server offers; else hwloc
 * discovers it.
 *
 * @param topo  constructed. If its source is set, that is what is wanted: "hwloc", or a
 *              beginning of the full name; then it stays as it is. Else it receives
 *              the name, which is the caller's. topology receives the node's, which is
 *              the library's: to be read only, and good until the process's last
 *              finalize. PMIx_Topology_destruct gives back what is the caller's
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED also if the source wanted is not this
 *         one; PMIX_ERR_NOT_AVAILABLE if hwloc cannot tell the topology
 */
pmix_status_t PMIx_Load_topology(pmix_topology_t *topo);

/**
 * Where this process, or the calling thread, may run.
 *
 * @param cpuset  constructed; its source may be set to hwloc. Receives a source, if it
 *                had none, and a bitmap: the caller's, for PMIx_Cpuset_destruct.
 *                A bitmap it held before is forgotten
 * @param ref     PMIX_CPUBIND_PROCESS: the CPUs of all of its threads;
 *                PMIX_CPUBIND_THREAD: those of the calling thread
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for any other envelope;
 *         PMIX_ERR_NOT_AVAILABLE if the system does not tell
 */
pmix_status_t PMIx_Get_cpuset(pmix_cpuset_t *cpuset, pmix_bind_envelope_t ref);

/**
 * A cpuset from its text, as PMIx_Get has it of PMIX_CPUSET.
 *
 * @param cpuset_string  "hwloc:0-3,8"; hosts leave "hwloc:" out, too
 * @param cpuset         as for PMIx_Get_cpuset
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM if it is no list of CPUs below 65537
 */
pmix_status_t PMIx_Parse_cpuset_string(const char *cpuset_string,
                                       pmix_cpuset_t *cpuset);

/**
 * The places that two processes of this node share. Needs no hwloc.
 *
 * @param locality1, locality2  values of PMIX_LOCALITY_STRING:
 *                              "SK0:L30:L20:L10:CR0:HT0-1:NM0", with or without
 *                              "hwloc:" in front. Parts that are not known count for
 *                              nothing
 * @param locality  receives PMIX_LOCALITY_SHARE_NODE and a bit for each level at which
 *                  both have an object
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM if either is no such text;
 *         PMIX_ERR_NOT_SUPPORTED if either is of another source
 */
pmix_status_t PMIx_Get_relative_locality(const char *locality1, const char *locality2,
                                         pmix_locality_t *locality);

/**
 * How far devices are from where a process runs.
 *
 * A distance is the number of levels of the topology between a CPU and what it has in
 * common with the device: comparable within one topology and among devices of one type,
 * and nothing else. Least and greatest are of the CPUs in the set.
 *
 * Computed by this process if it can load hwloc. If it cannot and wants the distances
 * in the node's topology, its server is asked, and that is waited for.
 *
 * @param topo       NULL for this node's
 * @param cpuset     NULL for where this process may run
 * @param info       PMIX_DEVICE_TYPE (pmix_device_type_t; several are or-ed) and
 *                   PMIX_DEVICE_ID (its uuid or name in the system; any of several) say
 *                   which devices; none of the former means all types. Anything else
 *                   is ignored, unless it is PMIX_INFO_REQD: then it is
 *                   PMIX_ERR_NOT_SUPPORTED
 * @param distances  receives an array, the caller's to free with
 *                   PMIx_Device_distance_free
 * @param ndist      receives its length
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND if there is no such device;
 *         PMIX_ERR_NOT_AVAILABLE; PMIX_ERR_UNREACH if the server would have to be asked
 *         and there is none; PMIX_ERR_WOULD_BLOCK if it would have to be and this is
 *         within a callback; or the server's status
 */
pmix_status_t PMIx_Compute_distances(pmix_topology_t *topo, pmix_cpuset_t *cpuset,
                                     pmix_info_t info[], size_t ninfo,
                                     pmix_device_distance_t *distances[],
                                     size_t *ndist);

/**
 * As PMIx_Compute_distances, without waiting for the server. The arguments are done
 * with when it returns.
 *
 * @param cbfunc  called on the library's thread with what the blocking form returns and
 *                an array that is the library's until its release_fn has been called;
 *                only if this returned PMIX_SUCCESS
 * @return PMIX_SUCCESS: cbfunc will be called; or why it will not
 */
pmix_status_t PMIx_Compute_distances_nb(pmix_topology_t *topo, pmix_cpuset_t *cpuset,
                                        pmix_info_t info[], size_t ninfo,
                                        pmix_device_dist_cbfunc_t cbfunc, void *cbdata);

#ifdef __cplusplus
}
#endif

#endif
