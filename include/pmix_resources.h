/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of a process to the system around its job: queries, job control,
 * logging, resources, sessions, credentials, monitoring, fabrics. Part of pmix.h, whose
 * conventions hold. */
#ifndef PMIX_RESOURCES_H
#define PMIX_RESOURCES_H

#include "pmix_common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- Queries, job control, logging ------------------------------------------------ */

/**
 * Ask the library, the server and the host what they know.
 *
 * Answers queries for PMIX_QUERY_STABLE_ABI_VERSION and
 * PMIX_QUERY_PROVISIONAL_ABI_VERSION alone without a server, also before PMIx_Init and
 * after PMIx_Finalize, from any thread and without blocking.
 *
 * @param queries  at least one: keys and what narrows them
 * @param results  receives an array the caller frees with PMIX_INFO_FREE
 * @return PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS if some keys were answered;
 *         PMIX_ERR_NOT_FOUND if none was; PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_TIMEOUT
 *
 * PMIx Standard 5.0, ch. Query Operations.
 */
pmix_status_t PMIx_Query_info(pmix_query_t queries[], size_t nqueries,
                              pmix_info_t **results, size_t *nresults);

/** As PMIx_Query_info, without waiting: @p cbfunc gets status and results. */
pmix_status_t PMIx_Query_info_nb(pmix_query_t queries[], size_t nqueries,
                                 pmix_info_cbfunc_t cbfunc, void *cbdata);

/**
 * Ask the host to act on processes, or register what is to be cleaned up after them.
 *
 * Clean-up is the local server's affair, of which the host hears nothing: files
 * (PMIX_REGISTER_CLEANUP) and directories (PMIX_REGISTER_CLEANUP_DIR), absolute paths
 * with commas between, but for what PMIX_CLEANUP_IGNORE names; as the caller's user and
 * group, and only what is theirs. It is done when a target's processes here have ended:
 * the caller's own, those of another rank, or with PMIX_RANK_WILDCARD the last local
 * one of a namespace. Anything that cannot be removed stays, silently.
 * PMIX_CLEANUP_RECURSIVE, _EMPTY and _LEAVE_TOPDIR are for all directories of the call;
 * of a directory that is registered twice recursive wins, and so does to leave the top.
 * A caller has at most 4096 entries of together 1 MiB. If there is more in the call
 * than clean-up, that is registered first, and stays so if the host fails.
 *
 * @param targets     whom; NULL and 0 for all processes of the caller's namespace
 * @param directives  at least one: PMIX_JOB_CTRL_... what to do; PMIX_REGISTER_CLEANUP
 *                    and its kin
 * @param results     receives an array the caller frees with PMIX_INFO_FREE; may be
 *                    NULL
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_NO_PERMISSIONS: of another
 *         user; PMIX_ERR_NOT_FOUND: no such process here; PMIX_ERR_BAD_PARAM: a path
 *         that is none, a value of the wrong type, directives without a directory;
 *         PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES: a file to remove that is to be
 *         ignored; PMIX_ERR_OUT_OF_RESOURCE: too much; PMIX_ERR_TIMEOUT. On error
 *         nothing of the clean-up was registered
 *
 * PMIx Standard 5.0, ch. Job Management and Reporting; RFC 0027.
 */
pmix_status_t PMIx_Job_control(const pmix_proc_t targets[], size_t ntargets,
                               const pmix_info_t directives[], size_t ndirs,
                               pmix_info_t **results, size_t *nresults);

/** As PMIx_Job_control, without waiting: @p cbfunc gets status and results. */
pmix_status_t PMIx_Job_control_nb(const pmix_proc_t targets[], size_t ntargets,
                                  const pmix_info_t directives[], size_t ndirs,
                                  pmix_info_cbfunc_t cbfunc, void *cbdata);

/**
 * Log data to the places its keys name.
 *
 * @param data        at least one: PMIX_LOG_STDERR, PMIX_LOG_SYSLOG and so on, with
 *                    what to log
 * @param directives  PMIX_LOG_ONCE, PMIX_LOG_TIMESTAMP and others
 * @return PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS; PMIX_ERR_NOT_AVAILABLE if a place
 *         cannot be reached now; PMIX_ERR_NOT_SUPPORTED if it is not served
 *
 * PMIx Standard 5.0, ch. Job Management and Reporting.
 */
pmix_status_t PMIx_Log(const pmix_info_t data[], size_t ndata,
                       const pmix_info_t directives[], size_t ndirs);

/** As PMIx_Log, without waiting: @p cbfunc, which must not be NULL, gets its status. */
pmix_status_t PMIx_Log_nb(const pmix_info_t data[], size_t ndata,
                          const pmix_info_t directives[], size_t ndirs,
                          pmix_op_cbfunc_t cbfunc, void *cbdata);

/* -- Allocations, resource blocks, sessions ---------------------------------------- */

/**
 * Ask the resource manager for resources, or to change or take back an allocation.
 *
 * Blocks until the host has answered; what was granted may come later, as an event.
 *
 * @param directive  PMIX_ALLOC_NEW and so on
 * @param info       what is wanted: PMIX_ALLOC_NUM_NODES and others
 * @param results    receives an array the caller frees with PMIX_INFO_FREE, e.g. with
 *                   PMIX_ALLOC_ID; NULL if there is none. May be NULL
 * @param nresults   receives its number of elements; may be NULL if results is
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED if the host does not allocate; the
 *         host's reason not to
 *
 * PMIx Standard 5.0, ch. Job Management and Reporting.
 */
pmix_status_t PMIx_Allocation_request(pmix_alloc_directive_t directive,
                                      pmix_info_t *info, size_t ninfo,
                                      pmix_info_t **results, size_t *nresults);

/** As PMIx_Allocation_request, without waiting: @p cbfunc, which may be NULL, gets
 *  status and results. */
pmix_status_t PMIx_Allocation_request_nb(pmix_alloc_directive_t directive,
                                         pmix_info_t *info, size_t ninfo,
                                         pmix_info_cbfunc_t cbfunc, void *cbdata);

/**
 * Define a named block of resources that others may refer to, change or delete it.
 *
 * Blocks until the host has answered. Peers that speak an encoding older than release
 * 4.0 of the field's library cannot be asked.
 *
 * @param directive  what is to be done with the block
 * @param block      its name; must not be NULL
 * @param units      how many of which kinds of devices; NULL and 0 for none
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED if the host or the server does not know
 *         of blocks; the host's reason not to
 *
 * Not in PMIx Standard 5.0.
 */
pmix_status_t PMIx_Resource_block(pmix_resource_block_directive_t directive,
                                  char *block, const pmix_resource_unit_t *units,
                                  size_t nunits, const pmix_info_t *info, size_t ninfo);

/** As PMIx_Resource_block, without waiting: @p cbfunc, which may be NULL, gets its
 *  status. */
pmix_status_t PMIx_Resource_block_nb(pmix_resource_block_directive_t directive,
                                     char *block, const pmix_resource_unit_t *units,
                                     size_t nunits, const pmix_info_t *info,
                                     size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                     void *cbdata);

/**
 * Ask the scheduler to act on a session.
 *
 * Never blocks with a callback; with @p cbfunc NULL it blocks until the host has
 * answered.
 *
 * @param sessionID  the session; UINT32_MAX for the caller's
 * @param info       PMIX_SESSION_... what is to be done
 * @param cbfunc     gets status and results
 * @return PMIX_SUCCESS, and cbfunc will be called; PMIX_OPERATION_SUCCEEDED if it was
 *         done and cbfunc is NULL; PMIX_ERR_NOT_SUPPORTED; the host's reason not to
 *
 * Not in PMIx Standard 5.0.
 */
pmix_status_t PMIx_Session_control(uint32_t sessionID, const pmix_info_t info[],
                                   size_t ninfo, pmix_info_cbfunc_t cbfunc,
                                   void *cbdata);

/* -- Credentials ------------------------------------------------------------------- */

/**
 * Get a credential of the caller that others can have checked.
 *
 * Blocks until the host has answered.
 *
 * @param info        PMIX_CRED_TYPE and others
 * @param credential  receives bytes the caller frees; none on error
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED if the host makes none; the host's
 *         reason
 *
 * PMIx Standard 5.0, ch. Security.
 */
pmix_status_t PMIx_Get_credential(const pmix_info_t info[], size_t ninfo,
                                  pmix_byte_object_t *credential);

/**
 * As PMIx_Get_credential, without waiting.
 *
 * @param cbfunc  must not be NULL; gets the credential and infos about it, which stay
 *                the library's
 */
pmix_status_t PMIx_Get_credential_nb(const pmix_info_t info[], size_t ninfo,
                                     pmix_credential_cbfunc_t cbfunc, void *cbdata);

/**
 * Have a credential checked.
 *
 * Blocks until the host has answered.
 *
 * @param cred      as PMIx_Get_credential gave it to a process
 * @param info      PMIX_CRED_TYPE and others
 * @param results   receives what it proves, PMIX_USERID and PMIX_GRPID for example; the
 *                  caller frees the array with PMIX_INFO_FREE. May be NULL
 * @param nresults  receives its number of elements; may be NULL if results is
 * @return PMIX_SUCCESS if it is valid; PMIX_ERR_NOT_SUPPORTED if the host checks none;
 *         the host's reason to refuse it
 *
 * PMIx Standard 5.0, ch. Security.
 */
pmix_status_t PMIx_Validate_credential(const pmix_byte_object_t *cred,
                                       const pmix_info_t info[], size_t ninfo,
                                       pmix_info_t **results, size_t *nresults);

/** As PMIx_Validate_credential, without waiting: @p cbfunc, which must not be NULL,
 * gets
 *  status and results, which stay the library's. */
pmix_status_t PMIx_Validate_credential_nb(const pmix_byte_object_t *cred,
                                          const pmix_info_t info[], size_t ninfo,
                                          pmix_validation_cbfunc_t cbfunc,
                                          void *cbdata);

/* -- Monitoring -------------------------------------------------------------------- */

/**
 * Ask that processes, files or usage be watched, or that watching end.
 *
 * Blocks until the request is accepted; what is seen later comes as events.
 *
 * @param monitor     what to watch: PMIX_MONITOR_HEARTBEAT, PMIX_MONITOR_FILE ...;
 *                    PMIX_MONITOR_CANCEL ends it, PMIX_SEND_HEARTBEAT is PMIx_Heartbeat
 * @param error       the event to raise
 * @param directives  PMIX_MONITOR_ID, how often to look, and others
 * @param results     receives an array the caller frees with PMIX_INFO_FREE; may be
 *                    NULL
 * @param nresults    receives its number of elements; may be NULL if results is
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED if neither server nor host watches that
 *
 * PMIx Standard 5.0, ch. Job Management and Reporting.
 */
pmix_status_t PMIx_Process_monitor(const pmix_info_t *monitor, pmix_status_t error,
                                   const pmix_info_t directives[], size_t ndirs,
                                   pmix_info_t **results, size_t *nresults);

/**
 * As PMIx_Process_monitor, without waiting.
 *
 * @param cbfunc  gets status and results; may be NULL
 * @return PMIX_SUCCESS, and cbfunc will be called; PMIX_OPERATION_SUCCEEDED for a
 *         heartbeat, which is on its way, and it will not
 */
pmix_status_t PMIx_Process_monitor_nb(const pmix_info_t *monitor, pmix_status_t error,
                                      const pmix_info_t directives[], size_t ndirs,
                                      pmix_info_cbfunc_t cbfunc, void *cbdata);

/**
 * Tell the server that the caller is alive.
 *
 * Never blocks, and no answer comes: a server that watches no heartbeats ignores it.
 * Does nothing before PMIx_Init or without a server.
 *
 * PMIx Standard 5.0, ch. Job Management and Reporting.
 */
void PMIx_Heartbeat(void);

/* -- Fabrics ----------------------------------------------------------------------- */

/*
 * A pmix_fabric_t is the caller's, and must stay while it is registered. PMIx_Fabric_
 * register and _update put an array of infos into it, which is the library's until
 * PMIx_Fabric_deregister; they do so on the library's thread, before they return or
 * call back. One of these functions at a time may work on one fabric.
 *
 * The host of the server describes fabrics; where it has no function for that, fabric
 * components of the server do. PMIX_FABRIC_COST_MATRIX is an address: it is there in
 * the server's own process alone, for a component's fabric until the next update or
 * PMIx_Fabric_deregister.
 */

/**
 * Ask for information about a fabric, and to be told by events when it changes.
 *
 * Blocks until the host has answered, if that is asked.
 *
 * @param fabric  constructed, and not registered. Receives info, ninfo and, where the
 *                host told it, index; unchanged on error
 * @param info    what identifies the fabric: PMIX_FABRIC_PLANE, PMIX_FABRIC_IDENTIFIER
 *                and others
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED if neither the host nor a component
 *         knows of fabrics; PMIX_ERR_NOT_FOUND if no component knows this one; a status
 *         of the host or of the component that has it
 *
 * PMIx Standard 5.0, ch. Fabric Support.
 */
pmix_status_t PMIx_Fabric_register(pmix_fabric_t *fabric, const pmix_info_t info[],
                                   size_t ninfo);

/** As PMIx_Fabric_register, without waiting: @p cbfunc, which may be NULL, gets its
 *  status. */
pmix_status_t PMIx_Fabric_register_nb(pmix_fabric_t *fabric, const pmix_info_t info[],
                                      size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                      void *cbdata);

/**
 * Replace what is known of a registered fabric by what is true now.
 *
 * Blocks until the host has answered, if that is asked. On error the fabric is
 * unchanged.
 *
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED if neither the host nor the component of
 *         the fabric can; PMIX_ERR_NOT_FOUND if no component has a fabric of its index;
 *         a status of the host or of the component
 *
 * PMIx Standard 5.0, ch. Fabric Support.
 */
pmix_status_t PMIx_Fabric_update(pmix_fabric_t *fabric);

/** As PMIx_Fabric_update, without waiting: @p cbfunc, which may be NULL, gets its
 *  status. */
pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t *fabric, pmix_op_cbfunc_t cbfunc,
                                    void *cbdata);

/**
 * Free what the library has put into a fabric. Never blocks. No other process is told,
 * the protocol has no message for it; of a server's own process the component of the
 * fabric hears when no description of it is left.
 *
 * @param fabric  is as after PMIx_Fabric_construct, but for its name, which is the
 *                caller's
 * @return PMIX_SUCCESS; in a server, PMIX_ERR_NOMEM, and the fabric is unchanged
 *
 * PMIx Standard 5.0, ch. Fabric Support.
 */
pmix_status_t PMIx_Fabric_deregister(pmix_fabric_t *fabric);

/**
 * As PMIx_Fabric_deregister.
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
