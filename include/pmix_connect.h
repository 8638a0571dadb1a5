/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects that give the connected processes a namespace (RFC 0003). The Standard has
 * none of these functions: other implementations do not offer them. The conventions of
 * pmix.h hold. */
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

#define PMIX_CONNECT_ID                 "pmix.joint.id"     /* char*: which of several connects of the same processes this is */
#define PMIX_CONNECT_NOTIFY_EACH        "pmix.joint.each"   /* bool: an event for the others whenever one connects or disconnects */
#define PMIX_CONNECT_NOTIFY_REQ         "pmix.joint.req"    /* bool: an event for the others, which are asked to connect */
#define PMIX_CONNECT_OPTIONAL           "pmix.joint.opt"    /* bool: no error if a process ends before it has connected */
#define PMIX_CONNECT_EARLY_TERM_ALLOWED "pmix.joint.early"  /* bool: no error if a process ends before it has disconnected */
#define PMIX_CONNECT_XCHG_ONLY          "pmix.joint.xchg"   /* bool: learn the job data of the others, and no more */

/* Of PMIx_server_register_nspace, by a host that is asked to connect processes and
 * wants another name for their namespace than the one that is proposed. */
#define PMIX_CONNECT_NSPACE             "pmix.joint.nspace" /* char*: the proposed name of the namespace */

/* -- Events; the source is the process that they are about ----------------------- */

/* Also PMIX_PROC_HAS_CONNECTED and PMIX_CONNECT_REQUESTED */
#define PMIX_PROC_HAS_DISCONNECTED      (-154)

/* -- Calls ----------------------------------------------------------------------- */

/**
 * The end of a connect.
 *
 * @param nspace  the new namespace, "" if there is none; the library's
 * @param rank    the caller's in it; PMIX_RANK_INVALID if there is none
 */
typedef void (*pmix_connect_cbfunc_t)(pmix_status_t status, char nspace[], int rank,
                                      void *cbdata);

/**
 * Connect with other processes, and get a namespace of which all of them are the ranks.
 *
 * Waits until all of @p procs have called it for the same set with the same
 * PMIX_CONNECT_ID, and should with the same directives: the first one's on each node
 * count. All know the job data of all then. In the namespace they fence, notify each
 * other, and find its size (PMIX_JOB_SIZE), its members (PMIX_GROUP_MEMBERSHIP, and
 * PMIX_PROCID of a rank), and what each has put. A member that ends without
 * PMIx_Disconnect_nspace is an event for the others, as after PMIx_Connect.
 *
 * @param procs    as for PMIx_Connect; a namespace may be "<cluster>:<nspace>"
 * @param info     directives as above, PMIX_TIMEOUT, and what the host understands
 * @param nspace   room for PMIX_MAX_NSLEN + 1 bytes, receives the namespace; empty with
 *                 PMIX_CONNECT_XCHG_ONLY. May be NULL
 * @param newrank  receives the caller's rank in it; PMIX_RANK_INVALID with
 *                 PMIX_CONNECT_XCHG_ONLY. May be NULL
 * @return as PMIx_Connect; PMIX_ERR_NO_PERMISSIONS if PMIX_CONNECT_NOTIFY_REQ is for
 *         processes of another user; PMIX_ERR_NOT_SUPPORTED also if the server, of
 *         another implementation, has connected the processes but made no namespace
 */
pmix_status_t PMIx_Connect_nspace(const pmix_proc_t procs[], size_t nprocs,
                                  const pmix_info_t info[], size_t ninfo, char nspace[],
                                  pmix_rank_t *newrank);

/** As PMIx_Connect_nspace, without waiting: @p cbfunc gets what it returns. */
pmix_status_t PMIx_Connect_nspace_nb(const pmix_proc_t procs[], size_t nprocs,
                                     const pmix_info_t info[], size_t ninfo,
                                     pmix_connect_cbfunc_t cbfunc, void *cbdata);

/**
 * Leave a namespace that PMIx_Connect_nspace gave. The other members need not do the
 * same, and are not waited for; what they do in the namespace goes on without this
 * process.
 *
 * @param nspace  the namespace
 * @param info    PMIX_CONNECT_NOTIFY_EACH, PMIX_TIMEOUT, and what the host understands
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND for a namespace that this process did not
 *         get, or has left; PMIX_ERR_TIMEOUT
 */
pmix_status_t PMIx_Disconnect_nspace(const char nspace[], const pmix_info_t info[],
                                     size_t ninfo);

/** As PMIx_Disconnect_nspace, without waiting: @p cbfunc gets its status. */
pmix_status_t PMIx_Disconnect_nspace_nb(const char nspace[], const pmix_info_t info[],
                                        size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                        void *cbdata);

#ifdef __cplusplus
}
#endif
#endif
