/* SPDX-License-Identifier: BSD-3-Clause */
/* The client interface: operations of a process of a job. */
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
 * Conventions of this file, unless a function has its own:
 *
 * - Any thread may call. Functions without "_nb" may block until the answer is there,
 *   and return PMIX_ERR_WOULD_BLOCK when called from within a PMIx callback.
 *   PMIX_TIMEOUT among the infos limits the wait, in seconds; without it the wait has
 *   no limit.
 * - An "_nb" function works like the function above it, but never blocks: @p cbfunc
 *   gets the status and the results. It may be NULL where no function excludes that.
 *   PMIX_SUCCESS means that the callback will be called, exactly once.
 *   PMIX_OPERATION_SUCCEEDED means that the request is done and the callback will not
 *   be called. All others are errors, again without a callback.
 *   Its input is copied before it returns; the caller may free it at once.
 * - info[] with its number of elements gives attributes; NULL and 0 give none.
 *   Unknown attributes are ignored unless they are marked required.
 * - const arguments are borrowed. Results come in memory from malloc, which the caller
 *   frees. On error out-parameters are NULL, 0 or unchanged.
 * - Every function may return PMIX_ERR_INIT before initialization, PMIX_ERR_BAD_PARAM
 *   for an invalid argument, PMIX_ERR_NOMEM, and PMIX_ERR_NOT_SUPPORTED for a required
 *   attribute that cannot be honoured. Calls to a server may return PMIX_ERR_UNREACH
 *   without a server, and PMIX_ERR_LOST_CONNECTION if it goes away. Further statuses
 *   are listed below.
 * - Source: PMIx Standard 5.0, unless a function names another. Its chapters, in the
 *   order of this file: Client Initialization and Finalization (PMIx_Abort: Process
 *   Management); Data Access and Sharing (fences: Synchronization; PMIx_Resolve_...:
 *   Query Operations); Publish/Lookup Operations; Process Management; Event
 *   Notification.
 */

/* -- Start and end --------------------------------------------------------------- */

/**
 * Connect to the local server that started this process, or become a singleton.
 *
 * PMIX_ERR_UNREACH means that the process runs without a server: environment and info
 * name none, or the named server does not answer. The library works all the same. The
 * process is a job of one, with a name from the environment or one of its own. Calls
 * that need a server return PMIX_ERR_UNREACH. Each later call tries to connect again;
 * earlier puts go to the server by the next PMIx_Commit.
 *
 * May be called several times. Each call that returns PMIX_SUCCESS or
 * PMIX_ERR_UNREACH needs its own PMIx_Finalize. Later calls in a connected process, a
 * tool or a server only return the identity; the last PMIx_server_finalize of a server
 * undoes those, too. Blocks until the server has answered.
 *
 * @param proc  receives the caller's namespace and rank; may be NULL
 * @param info  e.g. PMIX_EXTERNAL_PROGRESS, PMIX_PROGRAMMING_MODEL, or
 *              PMIX_SERVER_URI, "nspace.rank;address", for a process without a server;
 *              stays the caller's
 * @return PMIX_SUCCESS; PMIX_ERR_UNREACH, see above; PMIX_ERR_INVALID_CRED or another
 *         status with which the server refuses the process; PMIX_ERR_LOST_CONNECTION
 *         and PMIX_ERR_TIMEOUT if the server stops answering;
 *         PMIX_ERR_INVALID_NAMESPACE, PMIX_ERR_DATA_VALUE_NOT_FOUND and
 *         PMIX_ERR_BAD_PARAM for a bad or missing namespace or rank
 */
pmix_status_t PMIx_Init(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo);

/**
 * Undo one PMIx_Init; the last call leaves the server.
 *
 * Blocks until the server has answered, a few seconds at most. A missing answer or a
 * failed barrier does not make the call fail: the process leaves the server anyway.
 *
 * @param info  PMIX_EMBED_BARRIER waits for all processes of the namespace first
 * @return PMIX_SUCCESS; PMIX_ERR_INIT for one call too many
 */
pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo);

/**
 * Test if the library is initialized, in any role. Never blocks.
 *
 * @return non-zero if initialized
 */
int PMIx_Initialized(void);

/**
 * Name and version of this library. Never blocks; may be called before PMIx_Init.
 *
 * @return a constant string
 */
const char *PMIx_Get_version(void);

/**
 * Handle pending work, if the program drives progress itself (PMIX_EXTERNAL_PROGRESS);
 * otherwise do nothing. Callbacks run within this call. Does not wait.
 */
void PMIx_Progress(void);

/**
 * Stop the library's own thread. Then the program drives progress by PMIx_Progress;
 * calls that wait also drive progress meanwhile. Waits until earlier work is done. Does
 * nothing within a callback, before initialization, and without a running thread.
 *
 * @param info   PMIX_PROGRESS_THREAD_NAME: only if the thread has this name
 *               ("tenon-loop"); PMIX_PROGRESS_THREAD_FLUSH is true in any case. The
 *               caller's
 *
 * Not in the PMIx Standard.
 */
void PMIx_Progress_thread_stop(const pmix_info_t *info, size_t ninfo);

/**
 * Ask the host to abort processes.
 *
 * Blocks until the host has accepted the request. The caller itself is not ended here,
 * and may return and end in its own way.
 *
 * @param status  becomes the exit status of those processes where the host can arrange
 *                that
 * @param msg     message for the user; NULL for none
 * @param procs   processes to abort; NULL and 0 for the caller's whole namespace
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND if one of them is unknown, and none is
 *         aborted; PMIX_ERR_PARAM_VALUE_NOT_SUPPORTED if the host cannot abort only
 *         these; PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_NO_PERMISSIONS
 */
pmix_status_t PMIx_Abort(int status, const char msg[], pmix_proc_t procs[],
                         size_t nprocs);

/* -- Data exchange --------------------------------------------------------------- */

/**
 * Store a key and value for others to read. Waits for no server: nothing is sent before
 * PMIx_Commit. Works in callbacks.
 *
 * @param scope  processes that may read the value
 * @param key    at most PMIX_MAX_KEYLEN bytes; a second Put replaces the first
 * @param val    copied
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, also for an invalid scope;
 *         PMIX_ERR_UNKNOWN_DATA_TYPE or PMIX_ERR_NOT_SUPPORTED for a value that cannot
 *         be sent to the server. On error earlier puts are unchanged
 */
pmix_status_t PMIx_Put(pmix_scope_t scope, const char key[], pmix_value_t *val);

/**
 * Send all puts since the last Commit to the local server.
 *
 * Local processes may read the values once this returns. Others may read them after a
 * fence that collects data, or on request.
 *
 * @return PMIX_SUCCESS, also for a singleton, or if nothing is to be sent;
 *         PMIX_ERR_WOULD_BLOCK in a callback, if the server has much to acknowledge
 */
pmix_status_t PMIx_Commit(void);

/**
 * Store a key and value about a process for this process alone. Waits for no server.
 * Works in callbacks.
 *
 * @param proc  process that the value describes; NULL: the caller
 * @param key   at most PMIX_MAX_KEYLEN bytes
 * @param val   copied
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM
 */
pmix_status_t PMIx_Store_internal(const pmix_proc_t *proc, const char key[],
                                  pmix_value_t *val);

/**
 * Get the value that @p proc or its job has published under @p key.
 *
 * Searches this process's data first; asks the server only on a miss. May block.
 * PMIX_OPTIONAL keeps the search within this process, PMIX_IMMEDIATE within the
 * server's present data.
 *
 * @param proc  NULL: the caller. Rank PMIX_RANK_WILDCARD: data of the job;
 *              PMIX_RANK_UNDEF: of the process that has published the key, otherwise
 *              of the job
 * @param key   NULL: all that @p proc has published, as an array of infos
 * @param val   receives a value the caller frees with PMIX_VALUE_RELEASE; NULL on
 *              error. With PMIX_GET_STATIC_VALUES the caller provides *val. With
 *              PMIX_GET_POINTER_VALUES the library keeps the value until the end
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND if the key does not exist, or not for the
 *         caller; PMIX_ERR_TIMEOUT; PMIX_ERR_WOULD_BLOCK in a callback, if the value
 *         must come from the server. Other servers return
 *         PMIX_ERR_EXISTS_OUTSIDE_SCOPE for a key that others may read
 *
 * For example, the number of processes:
 *
 *     pmix_proc_t job;
 *     pmix_value_t *size;
 *
 *     PMIx_Load_procid(&job, my_nspace, PMIX_RANK_WILDCARD);
 *     if (PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &size) == PMIX_SUCCESS) {
 *         printf("%u\n", size->data.uint32);
 *         PMIX_VALUE_RELEASE(size);
 *     }
 */
pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char key[],
                       const pmix_info_t info[], size_t ninfo, pmix_value_t **val);

/**
 * Works like PMIx_Get without waiting.
 *
 * @param cbfunc  must not be NULL; receives the status and a value that stays the
 *                library's
 * @return PMIX_SUCCESS, and the callback will be called; otherwise an error
 */
pmix_status_t PMIx_Get_nb(const pmix_proc_t *proc, const char key[],
                          const pmix_info_t info[], size_t ninfo,
                          pmix_value_cbfunc_t cbfunc, void *cbdata);

/**
 * Wait until all of @p procs have called this, or PMIx_Fence_nb, for the same set.
 *
 * @param procs  NULL and 0 for all processes of the caller's namespace; ranks may be
 *               PMIX_RANK_WILDCARD, which is the same as all ranks one by one. The
 *               order does not matter. Must include the caller
 * @param info   PMIX_COLLECT_DATA gives each process the committed data of all;
 *               PMIX_TIMEOUT, of which the earliest counts; PMIX_COLLECTIVE_ALGO is a
 *               hint for the host, with PMIX_COLLECTIVE_ALGO_REQD a requirement
 * @return PMIX_SUCCESS; PMIX_ERR_TIMEOUT; PMIX_ERR_LOST_CONNECTION if a participant
 *         ended; PMIX_ERR_NOT_FOUND for an unknown namespace or rank;
 *         PMIX_ERR_NOT_SUPPORTED if no host has the algorithm; PMIX_ERR_WOULD_BLOCK
 */
pmix_status_t PMIx_Fence(const pmix_proc_t procs[], size_t nprocs,
                         const pmix_info_t info[], size_t ninfo);
pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t nprocs,
                            const pmix_info_t info[], size_t ninfo,
                            pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Get the processes of a namespace on a node.
 *
 * @param nodename  NULL for this node
 * @param nspace    NULL or empty for all known namespaces
 * @param procs     receives an array the caller frees with PMIX_PROC_FREE
 * @return PMIX_SUCCESS, also with an empty array; PMIX_ERR_NOT_FOUND if node or
 *         namespace is unknown
 */
pmix_status_t PMIx_Resolve_peers(const char *nodename, const pmix_nspace_t nspace,
                                 pmix_proc_t **procs, size_t *nprocs);

/**
 * Get the nodes that have processes of a namespace.
 *
 * @param nspace    NULL or empty for all known namespaces
 * @param nodelist  receives names separated by commas; the caller frees it
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND
 */
pmix_status_t PMIx_Resolve_nodes(const pmix_nspace_t nspace, char **nodelist);

/* -- Publish and look up --------------------------------------------------------- */

/**
 * Publish keys and values for other processes.
 *
 * @param info  the data, at least one, with directives among them: PMIX_RANGE (default:
 *              the session), PMIX_PERSISTENCE (default: the application). Copied before
 *              this returns
 * @return PMIX_SUCCESS; PMIX_ERR_DUPLICATE_KEY, and nothing is published, if a key
 *         exists in an overlapping range; PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_TIMEOUT
 */
pmix_status_t PMIx_Publish(const pmix_info_t info[], size_t ninfo);
pmix_status_t PMIx_Publish_nb(const pmix_info_t info[], size_t ninfo,
                              pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Look up published data.
 *
 * @param data  keys set by the caller; receives publishers and values. Values not found
 *              stay PMIX_UNDEF; the caller destructs all
 * @param info  PMIX_WAIT waits for that many keys; PMIX_RANGE selects publishers
 * @return PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS if some were not found;
 *         PMIX_ERR_NOT_FOUND if none was; PMIX_ERR_NO_PERMISSIONS;
 *         PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_TIMEOUT
 */
pmix_status_t PMIx_Lookup(pmix_pdata_t data[], size_t ndata, const pmix_info_t info[],
                          size_t ninfo);

/**
 * Works like PMIx_Lookup without waiting.
 *
 * @param keys    NULL-terminated, at least one
 * @param cbfunc  must not be NULL; receives the found data, which the library owns
 */
pmix_status_t PMIx_Lookup_nb(char **keys, const pmix_info_t info[], size_t ninfo,
                             pmix_lookup_cbfunc_t cbfunc, void *cbdata);

/**
 * Remove published data.
 *
 * @param keys  NULL-terminated; NULL for all the caller has published
 * @param info  PMIX_RANGE selects the range
 * @return PMIX_SUCCESS, also if a key did not exist; PMIX_ERR_NOT_SUPPORTED;
 *         PMIX_ERR_TIMEOUT
 */
pmix_status_t PMIx_Unpublish(char **keys, const pmix_info_t info[], size_t ninfo);
pmix_status_t PMIx_Unpublish_nb(char **keys, const pmix_info_t info[], size_t ninfo,
                                pmix_op_cbfunc_t cbfunc, void *cbdata);

/** bool: write forwarded output as JSON, one object per line. For PMIx_Spawn and
 * PMIx_IOF_pull of this library; the formats are in docs/output.md. */
#define TENON_IOF_JSON_OUTPUT "tenon.iof.json"

/* -- Spawn, connect, disconnect --------------------------------------------------- */

/**
 * Start a new job.
 *
 * Blocks until the host has started the job or reported a failure. The new processes
 * are connected to the caller in the sense of PMIx_Connect.
 *
 * @param job_info  attributes of the whole job
 * @param apps      its applications, each with its own attributes
 * @param nspace    receives the new namespace; may be NULL
 * @return PMIX_SUCCESS; the PMIX_ERR_JOB_ status of the failure;
 *         PMIX_ERR_NOT_SUPPORTED; PMIX_ERR_NO_PERMISSIONS; PMIX_ERR_TIMEOUT
 */
pmix_status_t PMIx_Spawn(const pmix_info_t job_info[], size_t ninfo,
                         const pmix_app_t apps[], size_t napps, pmix_nspace_t nspace);
pmix_status_t PMIx_Spawn_nb(const pmix_info_t job_info[], size_t ninfo,
                            const pmix_app_t apps[], size_t napps,
                            pmix_spawn_cbfunc_t cbfunc, void *cbdata);

/**
 * Connect with other processes: they get each other's job data, and the host treats the
 * end of one as an event for all. If a process finalizes or dies before it has
 * disconnected, the others' handlers for PMIX_ERR_INVALID_TERMINATION run, with that
 * process as the source; default handlers run if it did not finalize.
 *
 * Waits until all of @p procs have called it for the same set.
 *
 * @param procs  as for PMIx_Fence, but at least one
 * @param info   as for PMIx_Fence, except directives about data
 * @return PMIX_SUCCESS; PMIX_ERR_LOST_CONNECTION, at once, if one of them ends before
 *         it has called; PMIX_ERR_NOT_FOUND for an unknown namespace or rank;
 *         PMIX_ERR_INVALID_OPERATION if the caller is in a connect of the same set;
 *         PMIX_ERR_NOT_SUPPORTED if some are on other nodes and the host does not offer
 *         connects; PMIX_ERR_TIMEOUT
 */
pmix_status_t PMIx_Connect(const pmix_proc_t procs[], size_t nprocs,
                           const pmix_info_t info[], size_t ninfo);
pmix_status_t PMIx_Connect_nb(const pmix_proc_t procs[], size_t nprocs,
                              const pmix_info_t info[], size_t ninfo,
                              pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Undo PMIx_Connect for the same set of processes.
 *
 * Waits until all of @p procs have called it.
 *
 * @return as PMIx_Connect; PMIX_ERR_INVALID_OPERATION also if the set is not connected,
 *         unless a host accepts it
 */
pmix_status_t PMIx_Disconnect(const pmix_proc_t procs[], size_t nprocs,
                              const pmix_info_t info[], size_t ninfo);
pmix_status_t PMIx_Disconnect_nb(const pmix_proc_t procs[], size_t nprocs,
                                 const pmix_info_t info[], size_t ninfo,
                                 pmix_op_cbfunc_t cbfunc, void *cbdata);

/* -- Events ---------------------------------------------------------------------- */

/**
 * Register a handler of events.
 *
 * With @p cbfunc NULL it blocks until the handler is registered. Earlier events that
 * are still cached are delivered too.
 *
 * @param codes    events the handler is for; NULL and 0 make it a default handler,
 *                 called unless a handler of the event itself has ended the chain
 * @param info     PMIX_EVENT_HDLR_NAME, its place in the chain,
 *                 PMIX_EVENT_AFFECTED_PROC, PMIX_RANGE, PMIX_EVENT_RETURN_OBJECT and
 *                 others
 * @param handler  called on the library's thread; it must not block
 * @param cbfunc   gets the status and the handler's number; may be NULL
 * @return with @p cbfunc: PMIX_SUCCESS, and it will be called; or an error. Without:
 *         the handler's number (>= 0), or an error (< 0), e.g.
 *         PMIX_ERR_EVENT_REGISTRATION
 */
pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t ncodes,
                                          pmix_info_t info[], size_t ninfo,
                                          pmix_notification_fn_t handler,
                                          pmix_hdlr_reg_cbfunc_t cbfunc, void *cbdata);

/**
 * Remove a handler of events. With @p cbfunc NULL it blocks until removed.
 *
 * @param evhdlr_ref  the handler's number
 * @param cbfunc      gets the status; may be NULL
 * @return with @p cbfunc: PMIX_SUCCESS, and it will be called, with PMIX_ERR_NOT_FOUND
 *         for an unknown handler. Without: that status
 */
pmix_status_t PMIx_Deregister_event_handler(size_t evhdlr_ref, pmix_op_cbfunc_t cbfunc,
                                            void *cbdata);

/**
 * Raise an event. With @p cbfunc NULL the call returns after the request was sent to
 * the server. It waits for the server's answer if an info is required (PMIX_INFO_REQD)
 * or the range is PMIX_RANGE_RM, and once in 64 calls.
 *
 * @param status  the event
 * @param source  process that the event comes from; NULL for the caller
 * @param range   processes to notify; PMIX_RANGE_CUSTOM goes with
 *                PMIX_EVENT_CUSTOM_RANGE
 * @param info    passed to the handlers
 * @param cbfunc  gets the status once the event was passed on, not once it was handled
 * @return with @p cbfunc: PMIX_SUCCESS, and it will be called; or an error. Without:
 *         PMIX_SUCCESS or an error; a later refusal is logged. A call that waits
 *         returns the status, which may be the host's reason to refuse the event
 */
pmix_status_t PMIx_Notify_event(pmix_status_t status, const pmix_proc_t *source,
                                pmix_data_range_t range, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

#ifdef __cplusplus
}
#endif
#endif
