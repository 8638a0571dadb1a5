/* SPDX-License-Identifier: BSD-3-Clause */
/* The server interface: what a resource manager calls, and what it is called for. */
#ifndef PMIX_SERVER_H
#define PMIX_SERVER_H

#include "pmix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- Callbacks of the host's calls ------------------------------------------------ */

/**
 * Answers PMIx_server_dmodex_request.
 *
 * @param data  @p ndata packed bytes for the requesting node; the library's, good until
 *              this returns. NULL unless @p status is PMIX_SUCCESS
 */
typedef void (*pmix_dmodex_response_fn_t)(pmix_status_t status, char *data,
                                          size_t ndata, void *cbdata);

/**
 * Answers PMIx_server_setup_application.
 *
 * @param info             what every node shall pass to
 *                         PMIx_server_setup_local_support; the library's until cbfunc
 *                         is called
 * @param provided_cbdata  the host's cbdata
 * @param cbfunc           the host calls it with @p cbdata when it is done with info
 */
typedef void (*pmix_setup_application_cbfunc_t)(pmix_status_t status,
                                                pmix_info_t info[], size_t ninfo,
                                                void *provided_cbdata,
                                                pmix_op_cbfunc_t cbfunc, void *cbdata);

/** Answers a tool's request to connect: @p proc is the identity the host gives it. */
typedef void (*pmix_tool_connection_cbfunc_t)(pmix_status_t status, pmix_proc_t *proc,
                                              void *cbdata);

/** The host tells the library that socket @p incoming_sd was accepted. */
typedef void (*pmix_connection_cbfunc_t)(int incoming_sd, void *cbdata);

/* -- What the host implements ----------------------------------------------------- */

/*
 * The library calls these on its own thread; they must not block. @p proc is the
 * process that asks. Arguments stay the library's and are good until the callback has
 * been called, so a host may answer later, from any thread, exactly once.
 *
 * A function returns PMIX_SUCCESS if its callback will be called;
 * PMIX_OPERATION_SUCCEEDED if the request is done and the callback will not be called;
 * an error, and again no callback. Slots of the module left NULL answer
 * PMIX_ERR_NOT_SUPPORTED, or let the library do what it can itself.
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */

/** A client called PMIx_Init. @p server_object is what the host registered it with. */
typedef pmix_status_t (*pmix_server_client_connected_fn_t)(const pmix_proc_t *proc,
                                                           void *server_object,
                                                           pmix_op_cbfunc_t cbfunc,
                                                           void *cbdata);

/** The same, with what the client passed to PMIx_Init; used where both are given. */
typedef pmix_status_t (*pmix_server_client_connected2_fn_t)(
    const pmix_proc_t *proc, void *server_object, pmix_info_t info[], size_t ninfo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/** A client called PMIx_Finalize; it is let go once the host has answered. */
typedef pmix_status_t (*pmix_server_client_finalized_fn_t)(const pmix_proc_t *proc,
                                                           void *server_object,
                                                           pmix_op_cbfunc_t cbfunc,
                                                           void *cbdata);

/** A client asks to abort @p procs; NULL for its whole namespace. */
typedef pmix_status_t (*pmix_server_abort_fn_t)(const pmix_proc_t *proc,
                                                void *server_object, int status,
                                                const char msg[], pmix_proc_t procs[],
                                                size_t nprocs, pmix_op_cbfunc_t cbfunc,
                                                void *cbdata);

/**
 * All local participants of a fence have arrived.
 *
 * @param data    @p ndata bytes of this node, malloc'd and now the host's to free; the
 *                host joins those of all nodes in any order
 * @param cbfunc  receives the joined bytes, same on every node
 */
typedef pmix_status_t (*pmix_server_fencenb_fn_t)(
    const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
    char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc, void *cbdata);

/**
 * What @p proc, on another node, has published is wanted here.
 *
 * The host passes the request to that node, where PMIx_server_dmodex_request answers
 * it.
 */
typedef pmix_status_t (*pmix_server_dmodex_req_fn_t)(const pmix_proc_t *proc,
                                                     const pmix_info_t info[],
                                                     size_t ninfo,
                                                     pmix_modex_cbfunc_t cbfunc,
                                                     void *cbdata);

/** Publish data; PMIX_RANGE, PMIX_PERSISTENCE and PMIX_USERID stand among @p info. */
typedef pmix_status_t (*pmix_server_publish_fn_t)(const pmix_proc_t *proc,
                                                  const pmix_info_t info[],
                                                  size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                                  void *cbdata);

/** Look up data; @p keys is NULL-terminated. */
typedef pmix_status_t (*pmix_server_lookup_fn_t)(const pmix_proc_t *proc, char **keys,
                                                 const pmix_info_t info[], size_t ninfo,
                                                 pmix_lookup_cbfunc_t cbfunc,
                                                 void *cbdata);

/** Take published data back; @p keys is NULL-terminated, NULL for all of @p proc. */
typedef pmix_status_t (*pmix_server_unpublish_fn_t)(
    const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t ninfo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/** Start a job. */
typedef pmix_status_t (*pmix_server_spawn_fn_t)(
    const pmix_proc_t *proc, const pmix_info_t job_info[], size_t ninfo,
    const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t cbfunc, void *cbdata);

/** All local participants have asked to be connected. */
typedef pmix_status_t (*pmix_server_connect_fn_t)(const pmix_proc_t procs[],
                                                  size_t nprocs,
                                                  const pmix_info_t info[],
                                                  size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                                  void *cbdata);

/** All local participants have asked to be disconnected. */
typedef pmix_status_t (*pmix_server_disconnect_fn_t)(
    const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/** Clients want to learn of these events of the host; NULL for all. */
typedef pmix_status_t (*pmix_server_register_events_fn_t)(
    pmix_status_t *codes, size_t ncodes, const pmix_info_t info[], size_t ninfo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/** Nobody here wants to learn of these events any more. */
typedef pmix_status_t (*pmix_server_deregister_events_fn_t)(pmix_status_t *codes,
                                                            size_t ncodes,
                                                            pmix_op_cbfunc_t cbfunc,
                                                            void *cbdata);

/** An event was raised here that others in @p range shall learn of. */
typedef pmix_status_t (*pmix_server_notify_event_fn_t)(
    pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range,
    pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/** Accept connections on a socket of the library; @p cbfunc is called for each. */
typedef pmix_status_t (*pmix_server_listener_fn_t)(int listening_sd,
                                                   pmix_connection_cbfunc_t cbfunc,
                                                   void *cbdata);

/** Answer what the library could not. */
typedef pmix_status_t (*pmix_server_query_fn_t)(pmix_proc_t *proct,
                                                pmix_query_t *queries, size_t nqueries,
                                                pmix_info_cbfunc_t cbfunc,
                                                void *cbdata);

/** A tool asks to connect; @p cbfunc receives the identity the host gives it. */
typedef void (*pmix_server_tool_connection_fn_t)(pmix_info_t *info, size_t ninfo,
                                                 pmix_tool_connection_cbfunc_t cbfunc,
                                                 void *cbdata);

/** Log data where its keys say. */
typedef void (*pmix_server_log_fn_t)(const pmix_proc_t *client,
                                     const pmix_info_t data[], size_t ndata,
                                     const pmix_info_t directives[], size_t ndirs,
                                     pmix_op_cbfunc_t cbfunc, void *cbdata);

/** Make, change or give back an allocation. */
typedef pmix_status_t (*pmix_server_alloc_fn_t)(const pmix_proc_t *client,
                                                pmix_alloc_directive_t directive,
                                                const pmix_info_t data[], size_t ndata,
                                                pmix_info_cbfunc_t cbfunc,
                                                void *cbdata);

/** Act on processes; @p targets NULL for the client's whole namespace. */
typedef pmix_status_t (*pmix_server_job_control_fn_t)(
    const pmix_proc_t *requestor, const pmix_proc_t targets[], size_t ntargets,
    const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
    void *cbdata);

/** Watch what @p monitor says, and raise event @p error if it goes wrong. */
typedef pmix_status_t (*pmix_server_monitor_fn_t)(
    const pmix_proc_t *requestor, const pmix_info_t *monitor, pmix_status_t error,
    const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
    void *cbdata);

/** Make a credential for @p proc. */
typedef pmix_status_t (*pmix_server_get_cred_fn_t)(const pmix_proc_t *proc,
                                                   const pmix_info_t directives[],
                                                   size_t ndirs,
                                                   pmix_credential_cbfunc_t cbfunc,
                                                   void *cbdata);

/** Check a credential. */
typedef pmix_status_t (*pmix_server_validate_cred_fn_t)(const pmix_proc_t *proc,
                                                        const pmix_byte_object_t *cred,
                                                        const pmix_info_t directives[],
                                                        size_t ndirs,
                                                        pmix_validation_cbfunc_t cbfunc,
                                                        void *cbdata);

/** Forward these channels of @p procs here; PMIX_FWD_NO_CHANNELS ends that. */
typedef pmix_status_t (*pmix_server_iof_fn_t)(const pmix_proc_t procs[], size_t nprocs,
                                              const pmix_info_t directives[],
                                              size_t ndirs, pmix_iof_channel_t channels,
                                              pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Pass bytes of @p source on to the standard input of @p targets; no bytes: its end.
 */
typedef pmix_status_t (*pmix_server_stdin_fn_t)(
    const pmix_proc_t *source, const pmix_proc_t targets[], size_t ntargets,
    const pmix_info_t directives[], size_t ndirs, const pmix_byte_object_t *bo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/** All local participants of a group operation have arrived. */
typedef pmix_status_t (*pmix_server_grp_fn_t)(pmix_group_operation_t op, char grp[],
                                              const pmix_proc_t procs[], size_t nprocs,
                                              const pmix_info_t directives[],
                                              size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                              void *cbdata);

/** Tell about a fabric. */
typedef pmix_status_t (*pmix_server_fabric_fn_t)(const pmix_proc_t *requestor,
                                                 pmix_fabric_operation_t op,
                                                 const pmix_info_t directives[],
                                                 size_t ndirs,
                                                 pmix_info_cbfunc_t cbfunc,
                                                 void *cbdata);

/**
 * The functions a host offers; NULL for those it does not.
 *
 * These 28 slots stand at the same offsets in every release of the field's library.
 * What later ones append stands at offsets that differ between them, and the structure
 * tells neither its size nor its version: this library reads no further than
 * client_connected2, whatever the host was built with.
 */
typedef struct pmix_server_module_4_0_0_t {
    pmix_server_client_connected_fn_t client_connected;
    pmix_server_client_finalized_fn_t client_finalized;
    pmix_server_abort_fn_t abort;
    pmix_server_fencenb_fn_t fence_nb;
    pmix_server_dmodex_req_fn_t direct_modex;
    pmix_server_publish_fn_t publish;
    pmix_server_lookup_fn_t lookup;
    pmix_server_unpublish_fn_t unpublish;
    pmix_server_spawn_fn_t spawn;
    pmix_server_connect_fn_t connect;
    pmix_server_disconnect_fn_t disconnect;
    pmix_server_register_events_fn_t register_events;
    pmix_server_deregister_events_fn_t deregister_events;
    pmix_server_listener_fn_t listener;
    pmix_server_notify_event_fn_t notify_event;
    pmix_server_query_fn_t query;
    pmix_server_tool_connection_fn_t tool_connected;
    pmix_server_log_fn_t log;
    pmix_server_alloc_fn_t allocate;
    pmix_server_job_control_fn_t job_control;
    pmix_server_monitor_fn_t monitor;
    pmix_server_get_cred_fn_t get_credential;
    pmix_server_validate_cred_fn_t validate_credential;
    pmix_server_iof_fn_t iof_pull;
    pmix_server_stdin_fn_t push_stdin;
    pmix_server_grp_fn_t group;
    pmix_server_fabric_fn_t fabric;
    pmix_server_client_connected2_fn_t client_connected2;
} pmix_server_module_t;

/* -- What the host calls ---------------------------------------------------------- */

/*
 * The conventions of pmix.h hold. The functions below with a callback never block if
 * one is given; with @p cbfunc NULL they block until they are done and return how that
 * went.
 */

/**
 * Start the server: listen for clients and, if asked for, tools.
 *
 * Blocks until the server listens. May be called several times; each call wants its own
 * PMIx_server_finalize.
 *
 * @param module  copied, its first 28 slots; NULL for a host that offers nothing
 * @param info    PMIX_SERVER_NSPACE, PMIX_SERVER_RANK, PMIX_SERVER_TMPDIR,
 *                PMIX_SERVER_TOOL_SUPPORT and others
 * @return PMIX_SUCCESS; PMIX_ERR_INIT if the library already has another role or
 *         nothing can be listened on; PMIX_ERR_NO_PERMISSIONS if a directory cannot be
 *         written
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_server_init(pmix_server_module_t *module, pmix_info_t info[],
                               size_t ninfo);

/**
 * Undo one PMIx_server_init; the last one drops all clients and removes what the server
 * made.
 *
 * @return PMIX_SUCCESS; PMIX_ERR_INIT if there is no server
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_server_finalize(void);

/**
 * Make a job known, before its local processes are started.
 *
 * @param nspace        copied. Known already: its information is replaced or added to
 * @param nlocalprocs   how many of its processes will be clients of this server; 0 for
 *                      none; negative if not known
 * @param info          job, application, node and process information; copied
 * @return PMIX_SUCCESS; PMIX_OPERATION_SUCCEEDED if it was done at once;
 *         PMIX_ERR_BAD_PARAM if maps make no sense, and nothing changes
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_server_register_nspace(const pmix_nspace_t nspace, int nlocalprocs,
                                          pmix_info_t info[], size_t ninfo,
                                          pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Forget a job and all its clients; connected ones are dropped, what they asked to be
 * cleaned up is.
 *
 * @param cbfunc  gets PMIX_SUCCESS, also for a job that is not known
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
void PMIx_server_deregister_nspace(const pmix_nspace_t nspace, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata);

/**
 * Announce a local process, before it is started.
 *
 * @param proc           copied
 * @param uid, gid       who it will run as; nobody else can connect in its name
 * @param server_object  handed to the host's functions; never touched by the library
 * @return PMIX_SUCCESS; PMIX_OPERATION_SUCCEEDED if it was done at once
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_server_register_client(const pmix_proc_t *proc, uid_t uid, gid_t gid,
                                          void *server_object, pmix_op_cbfunc_t cbfunc,
                                          void *cbdata);

/**
 * Forget a local process, and drop it if it is connected.
 *
 * @param cbfunc  gets PMIX_SUCCESS, also for a process that is not known
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
void PMIx_server_deregister_client(const pmix_proc_t *proc, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata);

/**
 * Add what a process needs to find this server to the environment it will be started
 * with.
 *
 * Never blocks on others. To be called before fork, not in the child.
 *
 * @param proc  the process; must be registered
 * @param env   address of a malloc'd, NULL-terminated array; moved as it grows
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND if the process's namespace is not known
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_server_setup_fork(const pmix_proc_t *proc, char ***env);

/**
 * Get what a local process has published, for another node that asked for it.
 *
 * Never blocks. If the process has not committed yet, the answer comes when it has.
 *
 * @param proc    copied
 * @param cbfunc  must not be NULL
 * @return PMIX_SUCCESS, and the callback will come; PMIX_ERR_BAD_PARAM
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_server_dmodex_request(const pmix_proc_t *proc,
                                         pmix_dmodex_response_fn_t cbfunc,
                                         void *cbdata);

/**
 * Prepare a job where it is launched from: gather environment, fabric keys and ports.
 *
 * Never blocks.
 *
 * @param info    the job's maps, PMIX_SETUP_APP_ENVARS, PMIX_ALLOC_FABRIC and others;
 *                copied
 * @param cbfunc  must not be NULL; receives what each node passes to
 *                PMIx_server_setup_local_support
 * @return PMIX_SUCCESS, and the callback will come; PMIX_ERR_BAD_PARAM
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_server_setup_application(const pmix_nspace_t nspace,
                                            pmix_info_t info[], size_t ninfo,
                                            pmix_setup_application_cbfunc_t cbfunc,
                                            void *cbdata);

/**
 * Prepare this node for a job, before its first local process is started.
 *
 * @param info  what PMIx_server_setup_application gave; copied
 * @return PMIX_SUCCESS; PMIX_OPERATION_SUCCEEDED if it was done at once;
 *         PMIX_ERR_BAD_PARAM if info was tampered with, and nothing changes
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_server_setup_local_support(const pmix_nspace_t nspace,
                                              pmix_info_t info[], size_t ninfo,
                                              pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Write a list of node names in few bytes, as a value for PMIX_NODE_MAP. Never blocks.
 *
 * @param input   names separated by commas, one for each node of the job, in their
 *                order
 * @param output  receives a NUL-terminated string, which the caller frees
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_generate_regex(const char *input, char **output);

/**
 * Write the ranks on each node in few bytes, as a value for PMIX_PROC_MAP. Never
 * blocks.
 *
 * @param input   for each node its ranks, separated by commas, ranges allowed; nodes
 *                separated by semicolons, in the order of PMIX_NODE_MAP
 * @param output  receives a NUL-terminated string, which the caller frees
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */
pmix_status_t PMIx_generate_ppn(const char *input, char **output);

#ifdef __cplusplus
}
#endif
#endif
