/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of a process to the system around its job: queries, job control, logging,
 * resources, sessions, credentials, monitoring, fabrics. Part of pmix.h, whose
 * conventions hold. */
#ifndef PMIX_RESOURCES_H
#define PMIX_RESOURCES_H

#include "pmix_common.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Source: PMIx Standard 5.0, unless a function names another: ch. Query Operations;
 * Security (credentials); Fabric Support; otherwise Job Management and Reporting.
 */

/* -- Queries, job control, logging ------------------------------------------------ */

/**
 * Query the library, the server and the host.
 *
 * Queries for PMIX_QUERY_STABLE_ABI_VERSION and PMIX_QUERY_PROVISIONAL_ABI_VERSION only
 * need no server: they are answered before PMIx_Init and after PMIx_Finalize too, in
 * any thread and without blocking.
 *
 * @param queries  at least one: keys and their qualifiers
 * @param results  receives an array the caller frees with PMIX_INFO_FREE
 * @return PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS if some keys were answered;
 *         PMIX_ERR_NOT_FOUND if none was; PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_TIMEOUT
 */
pmix_status_t PMIx_Query_info(pmix_query_t queries[], size_t nqueries,
                              pmix_info_t **results, size_t *nresults);
pmix_status_t PMIx_Query_info_nb(pmix_query_t queries[], size_t nqueries,
                                 pmix_info_cbfunc_t cbfunc, void *cbdata);

/**
 * Ask the host to act on processes, or register files to clean up after them.
 *
 * The local server does the clean-up; the host is not notified. Files
 * (PMIX_REGISTER_CLEANUP) and directories (PMIX_REGISTER_CLEANUP_DIR) are absolute
 * paths separated by commas. Paths in PMIX_CLEANUP_IGNORE are skipped. The server acts
 * as the caller's user and group, and removes only what they own. Clean-up happens when
 * the target's processes on this node have ended: the caller, another rank, or with
 * PMIX_RANK_WILDCARD the last local process of a namespace. A file that cannot be
 * removed stays, silently. PMIX_CLEANUP_RECURSIVE, _EMPTY and _LEAVE_TOPDIR apply to
 * all directories of the call. If a directory is registered twice, recursive wins, and
 * so does leaving the top. A caller has at most 4096 entries of together 1 MiB.
 * Clean-up is registered before the call's other directives, and stays if the host
 * fails.
 *
 * @param targets     processes; NULL and 0 for the caller's whole namespace
 * @param directives  at least one: PMIX_JOB_CTRL_... for the action;
 *                    PMIX_REGISTER_CLEANUP and its kin
 * @param results     receives an array the caller frees with PMIX_INFO_FREE; may be
 *                    NULL
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_NO_PERMISSIONS: processes of
 *         another user; PMIX_ERR_NOT_FOUND: no such process here; PMIX_ERR_BAD_PARAM:
 *         an invalid path, a value of the wrong type, directives without a directory;
 *         PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES: a file both to remove and to ignore;
 *         PMIX_ERR_OUT_OF_RESOURCE: too much; PMIX_ERR_TIMEOUT. On error no clean-up
 *         was registered
 */
pmix_status_t PMIx_Job_control(const pmix_proc_t targets[], size_t ntargets,
                               const pmix_info_t directives[], size_t ndirs,
                               pmix_info_t **results, size_t *nresults);
pmix_status_t PMIx_Job_control_nb(const pmix_proc_t targets[], size_t ntargets,
                                  const pmix_info_t directives[], size_t ndirs,
                                  pmix_info_cbfunc_t cbfunc, void *cbdata);

/**
 * Log data to the destinations that its keys name.
 *
 * @param data        at least one: PMIX_LOG_STDERR, PMIX_LOG_SYSLOG and so on, with
 *                    the text to log
 * @param directives  PMIX_LOG_ONCE, PMIX_LOG_TIMESTAMP and others
 * @return PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS; PMIX_ERR_NOT_AVAILABLE if a
 *         destination cannot be reached now; PMIX_ERR_NOT_SUPPORTED if it is not
 *         offered
 */
pmix_status_t PMIx_Log(const pmix_info_t data[], size_t ndata,
                       const pmix_info_t directives[], size_t ndirs);

/** Works like PMIx_Log without waiting: @p cbfunc, which must not be NULL, gets its
 * status. */
pmix_status_t PMIx_Log_nb(const pmix_info_t data[], size_t ndata,
                          const pmix_info_t directives[], size_t ndirs,
                          pmix_op_cbfunc_t cbfunc, void *cbdata);

/* -- Allocations, resource blocks, sessions ---------------------------------------- */

/**
 * Ask the resource manager for resources, or to change or return an allocation.
 *
 * Blocks until the host has answered; resources may be granted later, by an event.
 *
 * @param directive  PMIX_ALLOC_NEW and so on
 * @param info       the request: PMIX_ALLOC_NUM_NODES and others
 * @param results    receives an array the caller frees with PMIX_INFO_FREE, e.g. with
 *                   PMIX_ALLOC_ID; NULL if empty. May be NULL
 * @param nresults   receives its number of elements; may be NULL if results is
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED if the host does not allocate; the
 *         host's reason for a refusal
 */
pmix_status_t PMIx_Allocation_request(pmix_alloc_directive_t directive,
                                      pmix_info_t *info, size_t ninfo,
                                      pmix_info_t **results, size_t *nresults);
pmix_status_t PMIx_Allocation_request_nb(pmix_alloc_directive_t directive,
                                         pmix_info_t *info, size_t ninfo,
                                         pmix_info_cbfunc_t cbfunc, void *cbdata);

/**
 * Define a named block of resources that others may refer to, or change or delete it.
 *
 * Blocks until the host has answered. Peers with an encoding older than release 4.0 of
 * OpenPMIx cannot be asked.
 *
 * @param directive  operation on the block
 * @param block      its name; must not be NULL
 * @param units      kinds and numbers of devices; NULL and 0 for none
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED if the host or the server does not
 *         support blocks; the host's reason for a refusal
 *
 * Not in PMIx Standard 5.0.
 */
pmix_status_t PMIx_Resource_block(pmix_resource_block_directive_t directive,
                                  char *block, const pmix_resource_unit_t *units,
                                  size_t nunits, const pmix_info_t *info, size_t ninfo);
pmix_status_t PMIx_Resource_block_nb(pmix_resource_block_directive_t directive,
                                     char *block, const pmix_resource_unit_t *units,
                                     size_t nunits, const pmix_info_t *info,
                                     size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                     void *cbdata);

/**
 * Ask the scheduler to act on a session.
 *
 * Does not block with a callback; with @p cbfunc NULL it blocks until the host has
 * answered.
 *
 * @param sessionID  the session; UINT32_MAX for the caller's
 * @param info       PMIX_SESSION_... operations
 * @param cbfunc     gets status and results
 * @return PMIX_SUCCESS, and cbfunc will be called; PMIX_OPERATION_SUCCEEDED if it was
 *         done and cbfunc is NULL; PMIX_ERR_NOT_SUPPORTED; the host's reason for a
 *         refusal
 *
 * Not in PMIx Standard 5.0.
 */
pmix_status_t PMIx_Session_control(uint32_t sessionID, const pmix_info_t info[],
                                   size_t ninfo, pmix_info_cbfunc_t cbfunc,
                                   void *cbdata);

/* -- Credentials ------------------------------------------------------------------- */

/**
 * Get a credential of the caller, which others can validate.
 *
 * Blocks until the host has answered.
 *
 * @param info        PMIX_CRED_TYPE and others
 * @param credential  receives bytes the caller frees; none on error
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED if the host makes no credentials; the
 *         host's reason
 */
pmix_status_t PMIx_Get_credential(const pmix_info_t info[], size_t ninfo,
                                  pmix_byte_object_t *credential);

/**
 * Works like PMIx_Get_credential without waiting.
 *
 * @param cbfunc  must not be NULL; gets the credential and infos about it, which the
 *                library owns
 */
pmix_status_t PMIx_Get_credential_nb(const pmix_info_t info[], size_t ninfo,
                                     pmix_credential_cbfunc_t cbfunc, void *cbdata);

/**
 * Validate a credential.
 *
 * Blocks until the host has answered.
 *
 * @param cred      result of PMIx_Get_credential in some process
 * @param info      PMIX_CRED_TYPE and others
 * @param results   receives the proven facts, PMIX_USERID and PMIX_GRPID for example;
 *                  the caller frees the array with PMIX_INFO_FREE. May be NULL
 * @param nresults  receives its number of elements; may be NULL if results is
 * @return PMIX_SUCCESS if it is valid; PMIX_ERR_NOT_SUPPORTED if the host validates
 *         none; the host's reason to refuse it
 */
pmix_status_t PMIx_Validate_credential(const pmix_byte_object_t *cred,
                                       const pmix_info_t info[], size_t ninfo,
                                       pmix_info_t **results, size_t *nresults);

/** Works like PMIx_Validate_credential without waiting: @p cbfunc, which must not be
 * NULL, gets status and results, which the library owns. */
pmix_status_t PMIx_Validate_credential_nb(const pmix_byte_object_t *cred,
                                          const pmix_info_t info[], size_t ninfo,
                                          pmix_validation_cbfunc_t cbfunc,
                                          void *cbdata);

/* -- Monitoring -------------------------------------------------------------------- */

/**
 * Start or end monitoring of processes, files or resource usage.
 *
 * Blocks until the request is accepted; later observations come as events.
 *
 * @param monitor     object to watch: PMIX_MONITOR_HEARTBEAT, PMIX_MONITOR_FILE ...;
 *                    PMIX_MONITOR_CANCEL ends it, PMIX_SEND_HEARTBEAT is PMIx_Heartbeat
 * @param error       the event to raise
 * @param directives  PMIX_MONITOR_ID, the interval, and others
 * @param results     receives an array the caller frees with PMIX_INFO_FREE; may be
 *                    NULL
 * @param nresults    receives its number of elements; may be NULL if results is
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED if neither server nor host can do it
 */
pmix_status_t PMIx_Process_monitor(const pmix_info_t *monitor, pmix_status_t error,
                                   const pmix_info_t directives[], size_t ndirs,
                                   pmix_info_t **results, size_t *nresults);

/**
 * Works like PMIx_Process_monitor without waiting.
 *
 * @param cbfunc  gets status and results; may be NULL
 * @return PMIX_SUCCESS, and cbfunc will be called; PMIX_OPERATION_SUCCEEDED for a
 *         heartbeat, which was sent, and cbfunc will not be called
 */
pmix_status_t PMIx_Process_monitor_nb(const pmix_info_t *monitor, pmix_status_t error,
                                      const pmix_info_t directives[], size_t ndirs,
                                      pmix_info_cbfunc_t cbfunc, void *cbdata);

/**
 * Send a heartbeat to the server.
 *
 * Never blocks, and gets no answer: a server that watches no heartbeats ignores it.
 * Does nothing before PMIx_Init or without a server.
 */
void PMIx_Heartbeat(void);

/* -- Fabrics ----------------------------------------------------------------------- */

/*
 * The caller owns a pmix_fabric_t, which must exist while it is registered.
 * PMIx_Fabric_register and _update put an array of infos into it, which the library
 * owns until PMIx_Fabric_deregister. They do so on the library's thread, before they
 * return or call back. Only one of these functions may work on a fabric at a time.
 *
 * The host of the server describes fabrics. If the host has no function for fabrics,
 * fabric components of the server describe them. PMIX_FABRIC_COST_MATRIX is an address,
 * valid only in the server's own process; for a component's fabric until the next
 * update or PMIx_Fabric_deregister.
 */

/**
 * Get information about a fabric, and events about its changes.
 *
 * Blocks until the host has answered, if the host is asked.
 *
 * @param fabric  constructed, and not registered. Receives info, ninfo and, if the host
 *                provides it, index; unchanged on error
 * @param info    identifies the fabric: PMIX_FABRIC_PLANE, PMIX_FABRIC_IDENTIFIER and
 *                others
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED if neither the host nor a component
 *         supports fabrics; PMIX_ERR_NOT_FOUND if no component has this fabric; a
 *         status of the host or of the fabric's component
 */
pmix_status_t PMIx_Fabric_register(pmix_fabric_t *fabric, const pmix_info_t info[],
                                   size_t ninfo);
pmix_status_t PMIx_Fabric_register_nb(pmix_fabric_t *fabric, const pmix_info_t info[],
                                      size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                      void *cbdata);

/**
 * Replace the infos of a registered fabric by its present state.
 *
 * Blocks until the host has answered, if the host is asked. On error the fabric is
 * unchanged.
 *
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED if neither the host nor the component of
 *         the fabric can; PMIX_ERR_NOT_FOUND if no component has a fabric of its index;
 *         a status of the host or of the component
 */
pmix_status_t PMIx_Fabric_update(pmix_fabric_t *fabric);
pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t *fabric, pmix_op_cbfunc_t cbfunc,
                                    void *cbdata);

/**
 * Free the data of the library in a fabric. Never blocks. Sends no message, since the
 * protocol has none for it. In a server's own process, the component of the fabric is
 * notified when no description of it is left.
 *
 * @param fabric  becomes as after PMIx_Fabric_construct, except its name, which the
 *                caller owns
 * @return PMIX_SUCCESS; in a server, PMIX_ERR_NOMEM, and the fabric is unchanged
 */
pmix_status_t PMIx_Fabric_deregister(pmix_fabric_t *fabric);

/**
 * Works like PMIx_Fabric_deregister.
 *
 * @param cbfunc  is not called
 * @return PMIX_OPERATION_SUCCEEDED
 */
pmix_status_t PMIx_Fabric_deregister_nb(pmix_fabric_t *fabric, pmix_op_cbfunc_t cbfunc,
                                        void *cbdata);

#ifdef __cplusplus
}
#endif
#endif
