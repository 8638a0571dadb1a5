/* SPDX-License-Identifier: BSD-3-Clause */
/* Connect functions that give the connected processes a namespace (RFC 0003). The
 * Standard does not have these functions, and other implementations do not offer them.
 * The conventions of pmix.h hold. */
#ifndef PMIX_CONNECT_H
#define PMIX_CONNECT_H

#include "pmix.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Source: RFC 0003, Modification of the PMIx_Connect and PMIx_Disconnect functions.
 */

/* -- Directives of a connect, and of a disconnect -------------------------------- */

#define PMIX_CONNECT_ID                 "pmix.joint.id"     /* char*: distinguishes several connects of the same processes */
#define PMIX_CONNECT_NOTIFY_EACH        "pmix.joint.each"   /* bool: an event for the others when a process connects or disconnects */
#define PMIX_CONNECT_NOTIFY_REQ         "pmix.joint.req"    /* bool: an event that asks the others to connect */
#define PMIX_CONNECT_OPTIONAL           "pmix.joint.opt"    /* bool: no error if a process ends before it has connected */
#define PMIX_CONNECT_EARLY_TERM_ALLOWED "pmix.joint.early"  /* bool: no error if a process ends before it has disconnected */
#define PMIX_CONNECT_XCHG_ONLY          "pmix.joint.xchg"   /* bool: exchange job data only */

/* Info for PMIx_server_register_nspace: the proposed name of a namespace, from a host
 * that registers the connected processes under another name. */
#define PMIX_CONNECT_NSPACE             "pmix.joint.nspace" /* char*: the proposed name of the namespace */

/* -- Events; the source is the affected process ---------------------------------- */

/* Also PMIX_PROC_HAS_CONNECTED and PMIX_CONNECT_REQUESTED */
#define PMIX_PROC_HAS_DISCONNECTED      (-154)

/* -- Calls ----------------------------------------------------------------------- */

/**
 * Reports the end of a connect.
 *
 * @param nspace  the new namespace, "" without one; owned by the library
 * @param rank    the caller's rank in nspace; PMIX_RANK_INVALID without one
 */
typedef void (*pmix_connect_cbfunc_t)(pmix_status_t status, char nspace[], int rank,
                                      void *cbdata);

/**
 * Connect with other processes, and get a namespace whose ranks are all of them.
 *
 * Waits until all of @p procs have called it for the same set with the same
 * PMIX_CONNECT_ID. Directives should be the same too: those of the first caller on
 * each node count. Afterwards all processes know the job data of all. In the new
 * namespace they can fence, notify each other, and find its size (PMIX_JOB_SIZE), its
 * members (PMIX_GROUP_MEMBERSHIP, and PMIX_PROCID of a rank), and the data each has
 * put. A member that ends without PMIx_Disconnect_nspace is an event for the others,
 * as after PMIx_Connect.
 *
 * @param procs    as for PMIx_Connect; a namespace may be "<cluster>:<nspace>"
 * @param info     directives as above, PMIX_TIMEOUT, and directives of the host
 * @param nspace   room for PMIX_MAX_NSLEN + 1 bytes, receives the namespace; empty with
 *                 PMIX_CONNECT_XCHG_ONLY. May be NULL
 * @param newrank  receives the caller's rank in nspace; PMIX_RANK_INVALID with
 *                 PMIX_CONNECT_XCHG_ONLY. May be NULL
 * @return as PMIx_Connect; PMIX_ERR_NO_PERMISSIONS if PMIX_CONNECT_NOTIFY_REQ is for
 *         processes of another user; PMIX_ERR_NOT_SUPPORTED also if the server, of
 *         another implementation, has connected the processes but made no namespace
 */
pmix_status_t PMIx_Connect_nspace(const pmix_proc_t procs[], size_t nprocs,
                                  const pmix_info_t info[], size_t ninfo, char nspace[],
                                  pmix_rank_t *newrank);

/** Works like PMIx_Connect_nspace without waiting: @p cbfunc must not be NULL. */
pmix_status_t PMIx_Connect_nspace_nb(const pmix_proc_t procs[], size_t nprocs,
                                     const pmix_info_t info[], size_t ninfo,
                                     pmix_connect_cbfunc_t cbfunc, void *cbdata);

/**
 * Leave a namespace of PMIx_Connect_nspace. The other members need not leave too, and
 * are not waited for. Their operations in the namespace go on without this process.
 *
 * @param nspace  the namespace
 * @param info    PMIX_CONNECT_NOTIFY_EACH, PMIX_TIMEOUT, and directives of the host
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND for a namespace that this process did not
 *         get, or has left; PMIX_ERR_TIMEOUT
 */
pmix_status_t PMIx_Disconnect_nspace(const char nspace[], const pmix_info_t info[],
                                     size_t ninfo);
pmix_status_t PMIx_Disconnect_nspace_nb(const char nspace[], const pmix_info_t info[],
                                        size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                        void *cbdata);

#ifdef __cplusplus
}
#endif
#endif
