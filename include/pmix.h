/* SPDX-License-Identifier: BSD-3-Clause */
/* The client interface: what a process of a job may ask. */
#ifndef PMIX_H
#define PMIX_H

#include "pmix_version.h"
#include "pmix_common.h"
#include "pmix_groups.h"
#include "pmix_resources.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Conventions of this file, unless a function says otherwise:
 *
 * - Any thread may call. Functions without "_nb" may block until the answer is there,
 *   and answer PMIX_ERR_WOULD_BLOCK when called from within a PMIx callback.
 *   PMIX_TIMEOUT among the infos limits the wait, in seconds; without it the wait has
 *   no limit.
 * - An "_nb" function never blocks. PMIX_SUCCESS means the callback will be called,
 *   exactly once; PMIX_OPERATION_SUCCEEDED that the request is done and no callback
 *   will come; anything else is an error, and again no callback. Its arguments are
 *   copied before it returns, and stay the caller's to free at once.
 * - info[] with its number of elements gives attributes; NULL and 0 give none.
 *   Attributes that are not known are ignored unless they are marked required.
 * - const arguments are borrowed. Results come in memory from malloc, the caller's to
 *   free. Out-parameters are set to NULL, 0 or nothing at all on error.
 * - Every function may return PMIX_ERR_INIT before initialization, PMIX_ERR_BAD_PARAM
 *   for an argument that makes no sense, PMIX_ERR_NOMEM, and PMIX_ERR_NOT_SUPPORTED for
 *   a required attribute that cannot be honoured. Calls to a server may return
 *   PMIX_ERR_UNREACH if there is none and PMIX_ERR_LOST_CONNECTION if it goes away. The
 *   lists below give the rest.
 */

/* -- Start and end --------------------------------------------------------------- */

/**
 * Connect to the local server that started this process, or become a singleton.
 *
 * PMIX_ERR_UNREACH means that the process lives without a server: the environment
 * and info name none, or the named one does not answer. The library works all the
 * same. The process is a job of one, with its name from the environment or one of its
 * own. Calls that need a server return PMIX_ERR_UNREACH. Each later call tries again
 * to connect; what was put before goes to the server by the next PMIx_Commit.
 *
 * May be called several times. Each call that returns PMIX_SUCCESS or
 * PMIX_ERR_UNREACH wants its own PMIx_Finalize. Later calls of a connected process, a
 * tool or a server only return the identity; the last PMIx_server_finalize of a server
 * undoes those, too. Blocks until the server has answered.
 *
 * @param proc  receives the caller's namespace and rank; may be NULL
 * @param info  e.g. PMIX_EXTERNAL_PROGRESS, PMIX_PROGRAMMING_MODEL, or
 *              PMIX_SERVER_URI, "nspace.rank;address", for a process without a server;
 *              stays the caller's
 * @return PMIX_SUCCESS; PMIX_ERR_UNREACH, see above; PMIX_ERR_INVALID_CRED or another
 *         status with which the server refuses the process; PMIX_ERR_LOST_CONNECTION
 *         and PMIX_ERR_TIMEOUT if the server does not go on;
 *         PMIX_ERR_INVALID_NAMESPACE, PMIX_ERR_DATA_VALUE_NOT_FOUND and
 *         PMIX_ERR_BAD_PARAM if namespace or rank in it are none, or not there
 *
 * PMIx Standard 5.0, ch. Client Initialization and Finalization.
 */
pmix_status_t PMIx_Init(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo);

/**
 * Undo one PMIx_Init; the last one leaves the server.
 *
 * Blocks until the server has said goodbye, a few seconds at most. That it does not, or
 * that the barrier fails, is no error: the process is on its own then all the same.
 *
 * @param info  PMIX_EMBED_BARRIER waits for all processes of the namespace first
 * @return PMIX_SUCCESS; PMIX_ERR_INIT for one call too many
 *
 * PMIx Standard 5.0, ch. Client Initialization and Finalization.
 */
pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo);

/**
 * Whether the library is initialized, in any role. Never blocks.
 *
 * @return non-zero if it is
 *
 * PMIx Standard 5.0, ch. Client Initialization and Finalization.
 */
int PMIx_Initialized(void);

/**
 * Name and version of this library. Never blocks; may be called before PMIx_Init.
 *
 * @return a constant string
 *
 * PMIx Standard 5.0, ch. Client Initialization and Finalization.
 */
const char *PMIx_Get_version(void);

/**
 * Let the library work off what is due, where the program drives progress itself
 * (PMIX_EXTERNAL_PROGRESS); else does nothing. Callbacks run within. Does not wait.
 *
 * PMIx Standard 5.0, ch. Client Initialization and Finalization.
 */
void PMIx_Progress(void);

/**
 * Stop the library's own thread: from now on the program drives progress itself, by
 * PMIx_Progress; calls that wait see to it meanwhile. Work that was due before is done
 * first. Waits for that; without effect from within a callback, before initialization,
 * and where no thread runs.
 *
 * @param info   PMIX_PROGRESS_THREAD_NAME: only if the thread is called so
 *               ("tenon-loop"); PMIX_PROGRESS_THREAD_FLUSH is true in any case. The
 *               caller's
 * @param ninfo  elements of @p info
 *
 * Not in the PMIx Standard.
 */
void PMIx_Progress_thread_stop(const pmix_info_t *info, size_t ninfo);

/**
 * Ask the host to abort processes.
 *
 * Blocks until the host has taken the order; the caller itself is not ended here, and
 * may still return to end on its own terms.
 *
 * @param status  becomes the exit status of those processes where the host can arrange
 *                that
 * @param msg     told to the user; NULL for none
 * @param procs   who; NULL and 0 for every process of the caller's namespace
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND if one of them is not known, and none is
 *         aborted; PMIX_ERR_PARAM_VALUE_NOT_SUPPORTED if the host cannot abort just
 *         these; PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_NO_PERMISSIONS
 *
 * PMIx Standard 5.0, ch. Process Management.
 */
pmix_status_t PMIx_Abort(int status, const char msg[], pmix_proc_t procs[],
                         size_t nprocs);

/* -- Data exchange --------------------------------------------------------------- */

/**
 * Note a key and value for others to read. Waits for no server: nothing is sent before
 * PMIx_Commit.
 *
 * @param scope  who may read it
 * @param key    at most PMIX_MAX_KEYLEN bytes; a second Put replaces the first
 * @param val    copied
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, also for a scope that is none;
 *         PMIX_ERR_UNKNOWN_DATA_TYPE or PMIX_ERR_NOT_SUPPORTED for a value that cannot
 *         be sent to the server. On error what was put before is as it was
 *
 * PMIx Standard 5.0, ch. Data Access and Sharing.
 */
pmix_status_t PMIx_Put(pmix_scope_t scope, const char key[], pmix_value_t *val);

/**
 * Hand all that was put since the last Commit to the local server.
 *
 * Local processes may read it once this returns, others after a fence that collects
 * data or when they ask for it.
 *
 * @return PMIX_SUCCESS, also for a singleton, or where there is nothing to send
 *
 * PMIx Standard 5.0, ch. Data Access and Sharing.
 */
pmix_status_t PMIx_Commit(void);

/**
 * Note a key and value about a process for this process alone. Waits for no server.
 *
 * @param proc  whom the value describes; NULL: the caller
 * @param key   at most PMIX_MAX_KEYLEN bytes
 * @param val   copied
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM
 *
 * PMIx Standard 5.0, ch. Data Access and Sharing.
 */
pmix_status_t PMIx_Store_internal(const pmix_proc_t *proc, const char key[],
                                  pmix_value_t *val);

/**
 * Get the value @p proc has published, or its job has, under @p key.
 *
 * Looks at what this process has been told first; asks the server only on a miss.
 * May block. PMIX_OPTIONAL keeps it within this process, PMIX_IMMEDIATE within what the
 * server has now.
 *
 * @param proc  NULL: the caller. Rank PMIX_RANK_WILDCARD: data of the job;
 *              PMIX_RANK_UNDEF: of the process that has published the key, else
 *              of the job
 * @param key   NULL: all that @p proc has published, as an array of infos
 * @param val   receives a value the caller frees with PMIX_VALUE_RELEASE; NULL on
 *              error. With PMIX_GET_STATIC_VALUES the caller provides *val.
 *              PMIX_GET_POINTER_VALUES has no effect: it is the caller's all the same
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND if there is no such key, or not for the
 *         caller; PMIX_ERR_TIMEOUT; PMIX_ERR_WOULD_BLOCK. Other servers tell those two
 *         apart, by PMIX_ERR_EXISTS_OUTSIDE_SCOPE
 *
 * For example, how many processes there are:
 *
 *     pmix_proc_t job;
 *     pmix_value_t *size;
 *
 *     PMIx_Load_procid(&job, my_nspace, PMIX_RANK_WILDCARD);
 *     if (PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &size) == PMIX_SUCCESS) {
 *         printf("%u\n", size->data.uint32);
 *         PMIX_VALUE_RELEASE(size);
 *     }
 *
 * PMIx Standard 5.0, ch. Data Access and Sharing.
 */
pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char key[],
                       const pmix_info_t info[], size_t ninfo, pmix_value_t **val);

/**
 * As PMIx_Get, without waiting.
 *
 * @param cbfunc  must not be NULL; receives the status and a value that stays the
 *                library's
 * @return PMIX_SUCCESS, and the callback will come; or PMIX_ERR_BAD_PARAM and its like
 *
 * PMIx Standard 5.0, ch. Data Access and Sharing.
 */
pmix_status_t PMIx_Get_nb(const pmix_proc_t *proc, const char key[],
                          const pmix_info_t info[], size_t ninfo,
                          pmix_value_cbfunc_t cbfunc, void *cbdata);

/**
 * Wait until all of @p procs have called this, or PMIx_Fence_nb, for the same set.
 *
 * @param procs  NULL and 0 for all processes of the caller's namespace; ranks may be
 *               PMIX_RANK_WILDCARD, which is the same as all ranks one by one. The
 *               order does not matter. Must hold the caller
 * @param info   PMIX_COLLECT_DATA gives everyone what all have committed; PMIX_TIMEOUT,
 *               of which the earliest counts; PMIX_COLLECTIVE_ALGO is advice for the
 *               host, with PMIX_COLLECTIVE_ALGO_REQD more than that
 * @return PMIX_SUCCESS; PMIX_ERR_TIMEOUT; PMIX_ERR_LOST_CONNECTION if a participant
 *         ended; PMIX_ERR_NOT_FOUND for an unknown namespace or rank;
 *         PMIX_ERR_NOT_SUPPORTED if no host has the algorithm; PMIX_ERR_WOULD_BLOCK
 *
 * PMIx Standard 5.0, ch. Synchronization.
 */
pmix_status_t PMIx_Fence(const pmix_proc_t procs[], size_t nprocs,
                         const pmix_info_t info[], size_t ninfo);

/** As PMIx_Fence, without waiting: @p cbfunc gets its status. */
pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t nprocs,
                            const pmix_info_t info[], size_t ninfo,
                            pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Processes of a namespace on a node.
 *
 * @param nodename  NULL for this node
 * @param nspace    NULL or empty for all namespaces known
 * @param procs     receives an array the caller frees with PMIX_PROC_FREE
 * @return PMIX_SUCCESS, with none if none is there; PMIX_ERR_NOT_FOUND if node or
 *         namespace is not known
 *
 * PMIx Standard 5.0, ch. Query Operations.
 */
pmix_status_t PMIx_Resolve_peers(const char *nodename, const pmix_nspace_t nspace,
                                 pmix_proc_t **procs, size_t *nprocs);

/**
 * Nodes that have processes of a namespace.
 *
 * @param nspace    NULL or empty for all namespaces known
 * @param nodelist  receives names separated by commas; the caller frees it
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND
 *
 * PMIx Standard 5.0, ch. Query Operations.
 */
pmix_status_t PMIx_Resolve_nodes(const pmix_nspace_t nspace, char **nodelist);

/* -- Publish and look up --------------------------------------------------------- */

/**
 * Publish keys and values for processes that need not be known.
 *
 * @param info  the data, at least one, and directives among it: PMIX_RANGE (default:
 *              the session), PMIX_PERSISTENCE (default: the application). Copied before
 *              this returns
 * @return PMIX_SUCCESS; PMIX_ERR_DUPLICATE_KEY, and nothing is published, if a key is
 *         there in an overlapping range; PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_TIMEOUT
 *
 * PMIx Standard 5.0, ch. Publish/Lookup Operations.
 */
pmix_status_t PMIx_Publish(const pmix_info_t info[], size_t ninfo);

/** As PMIx_Publish, without waiting: @p cbfunc gets its status. */
pmix_status_t PMIx_Publish_nb(const pmix_info_t info[], size_t ninfo,
                              pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Look up published data.
 *
 * @param data  keys set by the caller; receives publishers and values. Values not found
 *              stay PMIX_UNDEF; the caller destructs all
 * @param info  PMIX_WAIT waits until that many are published; PMIX_RANGE says where
 * @return PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS if some were not found;
 *         PMIX_ERR_NOT_FOUND if none was; PMIX_ERR_NO_PERMISSIONS;
 *         PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_TIMEOUT
 *
 * PMIx Standard 5.0, ch. Publish/Lookup Operations.
 */
pmix_status_t PMIx_Lookup(pmix_pdata_t data[], size_t ndata, const pmix_info_t info[],
                          size_t ninfo);

/**
 * As PMIx_Lookup, without waiting.
 *
 * @param keys    NULL-terminated, at least one
 * @param cbfunc  must not be NULL; receives what was found; the data stays the
 *                library's
 */
pmix_status_t PMIx_Lookup_nb(char **keys, const pmix_info_t info[], size_t ninfo,
                             pmix_lookup_cbfunc_t cbfunc, void *cbdata);

/**
 * Take back published data.
 *
 * @param keys  NULL-terminated; NULL for all the caller has published
 * @param info  PMIX_RANGE says where
 * @return PMIX_SUCCESS, also if a key was not there; PMIX_ERR_NOT_SUPPORTED;
 *         PMIX_ERR_TIMEOUT
 *
 * PMIx Standard 5.0, ch. Publish/Lookup Operations.
 */
pmix_status_t PMIx_Unpublish(char **keys, const pmix_info_t info[], size_t ninfo);

/** As PMIx_Unpublish, without waiting: @p cbfunc gets its status. */
pmix_status_t PMIx_Unpublish_nb(char **keys, const pmix_info_t info[], size_t ninfo,
                                pmix_op_cbfunc_t cbfunc, void *cbdata);

/** bool: write forwarded output as JSON, one object a line. Of PMIx_Spawn and
 * PMIx_IOF_pull of this library; the formats are in docs/output.md. */
#define TENON_IOF_JSON_OUTPUT "tenon.iof.json"

/* -- Spawn, connect, disconnect --------------------------------------------------- */

/**
 * Start a new job.
 *
 * Blocks until the host has started it, or with an error until it knows why not. The
 * new processes are connected to the caller in the sense of PMIx_Connect.
 *
 * @param job_info  attributes of the whole job
 * @param apps      its applications, each with attributes of its own
 * @param nspace    receives the new namespace; may be NULL
 * @return PMIX_SUCCESS; the PMIX_ERR_JOB_ status of the failure;
 *         PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_NO_PERMISSIONS; PMIX_ERR_TIMEOUT
 *
 * PMIx Standard 5.0, ch. Process Management.
 */
pmix_status_t PMIx_Spawn(const pmix_info_t job_info[], size_t ninfo,
                         const pmix_app_t apps[], size_t napps, pmix_nspace_t nspace);

/** As PMIx_Spawn, without waiting: @p cbfunc gets its status and the namespace. */
pmix_status_t PMIx_Spawn_nb(const pmix_info_t job_info[], size_t ninfo,
                            const pmix_app_t apps[], size_t napps,
                            pmix_spawn_cbfunc_t cbfunc, void *cbdata);

/**
 * Become one with other processes: they learn each other's job data, and the host
 * treats the end of one as a matter of all. If one finalizes or dies before it has
 * disconnected, the others' handlers for PMIX_ERR_INVALID_TERMINATION run, with that
 * process as the source; default handlers run if it did not finalize.
 *
 * Waits until all of @p procs have called it for the same set.
 *
 * @param procs  as for PMIx_Fence, but at least one
 * @param info   as for PMIx_Fence, but for data
 * @return PMIX_SUCCESS; PMIX_ERR_LOST_CONNECTION, at once, if one of them ends before
 *         it has called; PMIX_ERR_NOT_FOUND for an unknown namespace or rank;
 *         PMIX_ERR_INVALID_OPERATION if the caller is in a connect of the same set;
 *         PMIX_ERR_NOT_SUPPORTED if some are on other nodes and the host does not offer
 *         it; PMIX_ERR_TIMEOUT
 *
 * PMIx Standard 5.0, ch. Process Management.
 */
pmix_status_t PMIx_Connect(const pmix_proc_t procs[], size_t nprocs,
                           const pmix_info_t info[], size_t ninfo);

/** As PMIx_Connect, without waiting: @p cbfunc gets its status. */
pmix_status_t PMIx_Connect_nb(const pmix_proc_t procs[], size_t nprocs,
                              const pmix_info_t info[], size_t ninfo,
                              pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Undo PMIx_Connect for the same set of processes.
 *
 * Waits until all of @p procs have called it.
 *
 * @return as PMIx_Connect; PMIX_ERR_INVALID_OPERATION also for what is not connected,
 *         unless there is a host that says otherwise
 *
 * PMIx Standard 5.0, ch. Process Management.
 */
pmix_status_t PMIx_Disconnect(const pmix_proc_t procs[], size_t nprocs,
                              const pmix_info_t info[], size_t ninfo);

/** As PMIx_Disconnect, without waiting: @p cbfunc gets its status. */
pmix_status_t PMIx_Disconnect_nb(const pmix_proc_t procs[], size_t nprocs,
                                 const pmix_info_t info[], size_t ninfo,
                                 pmix_op_cbfunc_t cbfunc, void *cbdata);

/* -- Events ---------------------------------------------------------------------- */

/**
 * Register a handler of events.
 *
 * With @p cbfunc NULL it blocks until the handler is registered. Events that were
 * raised before and are still remembered are delivered too.
 *
 * @param codes    events the handler is for; NULL and 0 make it a default handler,
 *                 called when none for the event itself has ended the chain
 * @param info     PMIX_EVENT_HDLR_NAME, its place in the chain,
 *                 PMIX_EVENT_AFFECTED_PROC, PMIX_RANGE, PMIX_EVENT_RETURN_OBJECT and
 *                 others
 * @param handler  called on the library's thread; it must not block
 * @param cbfunc   gets the status and the handler's number; may be NULL
 * @return with @p cbfunc: PMIX_SUCCESS, and it will be called; or an error. Without:
 *         the handler's number (>= 0), or an error (< 0), PMIX_ERR_EVENT_REGISTRATION
 *         among them
 *
 * PMIx Standard 5.0, ch. Event Notification.
 */
pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t ncodes,
                                          pmix_info_t info[], size_t ninfo,
                                          pmix_notification_fn_t handler,
                                          pmix_hdlr_reg_cbfunc_t cbfunc, void *cbdata);

/**
 * Remove a handler of events. With @p cbfunc NULL it blocks until that is done.
 *
 * @param evhdlr_ref  the handler's number
 * @param cbfunc      gets the status; may be NULL
 * @return with @p cbfunc: PMIX_SUCCESS, and it will be called, with PMIX_ERR_NOT_FOUND
 *         if there is no such handler. Without: that status
 *
 * PMIx Standard 5.0, ch. Event Notification.
 */
pmix_status_t PMIx_Deregister_event_handler(size_t evhdlr_ref, pmix_op_cbfunc_t cbfunc,
                                            void *cbdata);

/**
 * Raise an event. With @p cbfunc NULL the call returns when the request is on its way
 * to the server. It waits for the server's answer if an info is required
 * (PMIX_INFO_REQD) or the range is PMIX_RANGE_RM, and once in 64 calls.
 *
 * @param status  the event
 * @param source  whom it comes from; NULL for the caller
 * @param range   who shall learn of it; PMIX_RANGE_CUSTOM goes with
 *                PMIX_EVENT_CUSTOM_RANGE
 * @param info    handed to the handlers
 * @param cbfunc  gets the status once the event was passed on, not once it was handled
 * @return with @p cbfunc: PMIX_SUCCESS, and it will be called; or an error. Without:
 *         PMIX_SUCCESS or an error; a refusal that comes later is logged. A call that
 *         waits returns the status, be it the host's reason not to pass the event on
 *
 * PMIx Standard 5.0, ch. Event Notification.
 */
pmix_status_t PMIx_Notify_event(pmix_status_t status, const pmix_proc_t *source,
                                pmix_data_range_t range, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

#ifdef __cplusplus
}
#endif
#endif
