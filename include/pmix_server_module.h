/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of a resource manager that its server library calls. Part of
 * pmix_server.h. */
#ifndef PMIX_SERVER_MODULE_H
#define PMIX_SERVER_MODULE_H

#include "pmix_common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- Callbacks of the host's calls ------------------------------------------------ */

/**
 * Answers PMIx_server_dmodex_request.
 *
 * @param data  @p ndata packed bytes for the requesting node; owned by the library,
 *              valid until this returns. NULL unless @p status is PMIX_SUCCESS
 */
typedef void (*pmix_dmodex_response_fn_t)(pmix_status_t status, char *data,
                                          size_t ndata, void *cbdata);

/**
 * Answers PMIx_server_setup_application.
 *
 * @param info             infos that every node passes to
 *                         PMIx_server_setup_local_support; owned by the library until
 *                         cbfunc is called
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

/** Hands the socket @p incoming_sd, which the host has accepted, to the library. */
typedef void (*pmix_connection_cbfunc_t)(int incoming_sd, void *cbdata);

/* -- Functions that the host implements ------------------------------------------- */

/*
 * The library calls these on its own thread; they must not block. @p proc is the
 * requesting process. The library owns the arguments, which are valid until the
 * callback has been called. So a host may answer later, from any thread, exactly once.
 *
 * A function returns PMIX_SUCCESS if its callback will be called;
 * PMIX_OPERATION_SUCCEEDED if the request is done and the callback will not be called;
 * otherwise an error, again without a callback. For NULL slots of the module the
 * library returns PMIX_ERR_NOT_SUPPORTED, or does the work itself if it can.
 *
 * PMIx Standard 5.0, ch. Server-Specific Interfaces.
 */

/** Handles PMIx_Init of a client. @p server_object is the host's from registration. */
typedef pmix_status_t (*pmix_server_client_connected_fn_t)(const pmix_proc_t *proc,
                                                           void *server_object,
                                                           pmix_op_cbfunc_t cbfunc,
                                                           void *cbdata);

/** Handles PMIx_Init of a client, with the client's infos; preferred to the former. */
typedef pmix_status_t (*pmix_server_client_connected2_fn_t)(
    const pmix_proc_t *proc, void *server_object, pmix_info_t info[], size_t ninfo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/** Handles PMIx_Finalize of a client, which returns after the host has answered. */
typedef pmix_status_t (*pmix_server_client_finalized_fn_t)(const pmix_proc_t *proc,
                                                           void *server_object,
                                                           pmix_op_cbfunc_t cbfunc,
                                                           void *cbdata);

/** Aborts @p procs for a client; NULL for its whole namespace. */
typedef pmix_status_t (*pmix_server_abort_fn_t)(const pmix_proc_t *proc,
                                                void *server_object, int status,
                                                const char msg[], pmix_proc_t procs[],
                                                size_t nprocs, pmix_op_cbfunc_t cbfunc,
                                                void *cbdata);

/**
 * Handles a fence after all local participants have arrived. Not called for a fence of
 * this node only, unless an algorithm is required.
 *
 * @param procs   sorted, each once. If they are of one job, all its ranks are
 *                PMIX_RANK_WILDCARD, whatever names the participants used. For several
 *                jobs, as the first participant named them
 * @param info    of the first participant, without PMIX_TIMEOUT, which the library
 *                handles; PMIX_LOCAL_COLLECTIVE_STATUS: some local processes ended
 * @param data    @p ndata bytes of this node, malloc'd and now the host's to free; the
 *                host joins those of all nodes in any order
 * @param cbfunc  receives the joined bytes, same on every node
 */
typedef pmix_status_t (*pmix_server_fencenb_fn_t)(
    const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
    char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc, void *cbdata);

/**
 * Fetches the data that @p proc, on another node, has published.
 *
 * The host passes the request to that node, where PMIx_server_dmodex_request answers
 * it.
 */
typedef pmix_status_t (*pmix_server_dmodex_req_fn_t)(const pmix_proc_t *proc,
                                                     const pmix_info_t info[],
                                                     size_t ninfo,
                                                     pmix_modex_cbfunc_t cbfunc,
                                                     void *cbdata);

/** Publishes data; PMIX_RANGE, PMIX_PERSISTENCE and PMIX_USERID are among @p info. */
typedef pmix_status_t (*pmix_server_publish_fn_t)(const pmix_proc_t *proc,
                                                  const pmix_info_t info[],
                                                  size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                                  void *cbdata);

/** Looks up data; @p keys is NULL-terminated. */
typedef pmix_status_t (*pmix_server_lookup_fn_t)(const pmix_proc_t *proc, char **keys,
                                                 const pmix_info_t info[], size_t ninfo,
                                                 pmix_lookup_cbfunc_t cbfunc,
                                                 void *cbdata);

/** Removes published data; @p keys is NULL-terminated, NULL for all of @p proc. */
typedef pmix_status_t (*pmix_server_unpublish_fn_t)(
    const pmix_proc_t *proc, char **keys, const pmix_info_t info[], size_t ninfo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/** Starts a job. */
typedef pmix_status_t (*pmix_server_spawn_fn_t)(
    const pmix_proc_t *proc, const pmix_info_t job_info[], size_t ninfo,
    const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t cbfunc, void *cbdata);

/**
 * Connects processes after all local participants have called; or after one of them
 * ended before, with PMIX_LOCAL_COLLECTIVE_STATUS. @p procs and @p info as for a fence.
 *
 * If this function is NULL or returns PMIX_ERR_NOT_SUPPORTED, the library itself does a
 * connect of this node only.
 */
typedef pmix_status_t (*pmix_server_connect_fn_t)(const pmix_proc_t procs[],
                                                  size_t nprocs,
                                                  const pmix_info_t info[],
                                                  size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                                  void *cbdata);

/** Disconnects processes after all local participants have called; otherwise as
 * connect. */
typedef pmix_status_t (*pmix_server_disconnect_fn_t)(
    const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/** Registers the host's events that local clients handle; NULL for all. */
typedef pmix_status_t (*pmix_server_register_events_fn_t)(
    pmix_status_t *codes, size_t ncodes, const pmix_info_t info[], size_t ninfo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/** Deregisters events that no local client handles any more. */
typedef pmix_status_t (*pmix_server_deregister_events_fn_t)(pmix_status_t *codes,
                                                            size_t ncodes,
                                                            pmix_op_cbfunc_t cbfunc,
                                                            void *cbdata);

/** Notifies processes in @p range of an event that was raised here. */
typedef pmix_status_t (*pmix_server_notify_event_fn_t)(
    pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range,
    pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/** Accepts connections on a socket of the library, and calls @p cbfunc for each. */
typedef pmix_status_t (*pmix_server_listener_fn_t)(int listening_sd,
                                                   pmix_connection_cbfunc_t cbfunc,
                                                   void *cbdata);

/** Answers queries that the library cannot answer. */
typedef pmix_status_t (*pmix_server_query_fn_t)(pmix_proc_t *proct,
                                                pmix_query_t *queries, size_t nqueries,
                                                pmix_info_cbfunc_t cbfunc,
                                                void *cbdata);

/** Accepts a tool; @p cbfunc receives the identity the host gives it. */
typedef void (*pmix_server_tool_connection_fn_t)(pmix_info_t *info, size_t ninfo,
                                                 pmix_tool_connection_cbfunc_t cbfunc,
                                                 void *cbdata);

/** Accepts or refuses a tool at once; preferred to the former if both are set. */
typedef pmix_status_t (*pmix_server_tool_connection2_fn_t)(
    pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
    void *cbdata);

/** Logs data to the destinations that the keys name. */
typedef void (*pmix_server_log_fn_t)(const pmix_proc_t *client,
                                     const pmix_info_t data[], size_t ndata,
                                     const pmix_info_t directives[], size_t ndirs,
                                     pmix_op_cbfunc_t cbfunc, void *cbdata);

/** Logs data, or refuses at once; preferred to the former if both are set. */
typedef pmix_status_t (*pmix_server_log2_fn_t)(const pmix_proc_t *client,
                                               const pmix_info_t data[], size_t ndata,
                                               const pmix_info_t directives[],
                                               size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                               void *cbdata);

/** Makes, changes or returns an allocation. */
typedef pmix_status_t (*pmix_server_alloc_fn_t)(const pmix_proc_t *client,
                                                pmix_alloc_directive_t directive,
                                                const pmix_info_t data[], size_t ndata,
                                                pmix_info_cbfunc_t cbfunc,
                                                void *cbdata);

/** Acts on processes; @p targets NULL for the client's whole namespace. */
typedef pmix_status_t (*pmix_server_job_control_fn_t)(
    const pmix_proc_t *requestor, const pmix_proc_t targets[], size_t ntargets,
    const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
    void *cbdata);

/** Watches the object of @p monitor, and raises event @p error on a problem. */
typedef pmix_status_t (*pmix_server_monitor_fn_t)(
    const pmix_proc_t *requestor, const pmix_info_t *monitor, pmix_status_t error,
    const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
    void *cbdata);

/** Makes a credential for @p proc. */
typedef pmix_status_t (*pmix_server_get_cred_fn_t)(const pmix_proc_t *proc,
                                                   const pmix_info_t directives[],
                                                   size_t ndirs,
                                                   pmix_credential_cbfunc_t cbfunc,
                                                   void *cbdata);

/** Validates a credential. */
typedef pmix_status_t (*pmix_server_validate_cred_fn_t)(const pmix_proc_t *proc,
                                                        const pmix_byte_object_t *cred,
                                                        const pmix_info_t directives[],
                                                        size_t ndirs,
                                                        pmix_validation_cbfunc_t cbfunc,
                                                        void *cbdata);

/** Forwards these channels of @p procs here; PMIX_FWD_NO_CHANNELS ends that. */
typedef pmix_status_t (*pmix_server_iof_fn_t)(const pmix_proc_t procs[], size_t nprocs,
                                              const pmix_info_t directives[],
                                              size_t ndirs, pmix_iof_channel_t channels,
                                              pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Passes bytes of @p source on to the standard input of @p targets; no bytes: its end.
 */
typedef pmix_status_t (*pmix_server_stdin_fn_t)(
    const pmix_proc_t *source, const pmix_proc_t targets[], size_t ntargets,
    const pmix_info_t directives[], size_t ndirs, const pmix_byte_object_t *bo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/** Handles a group operation after all local participants have called. */
typedef pmix_status_t (*pmix_server_grp_fn_t)(pmix_group_operation_t op, char grp[],
                                              const pmix_proc_t procs[], size_t nprocs,
                                              const pmix_info_t directives[],
                                              size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                              void *cbdata);

/** Returns information about a fabric. */
typedef pmix_status_t (*pmix_server_fabric_fn_t)(const pmix_proc_t *requestor,
                                                 pmix_fabric_operation_t op,
                                                 const pmix_info_t directives[],
                                                 size_t ndirs,
                                                 pmix_info_cbfunc_t cbfunc,
                                                 void *cbdata);

/** Acts on a session; UINT32_MAX is the requestor's session. */
typedef pmix_status_t (*pmix_server_session_control_fn_t)(
    const pmix_proc_t *requestor, uint32_t sessionID, const pmix_info_t directives[],
    size_t ndirs, pmix_info_cbfunc_t cbfunc, void *cbdata);

/** Defines, changes or deletes a named block of resources. */
typedef pmix_status_t (*pmix_server_resource_block_fn_t)(
    const pmix_proc_t *requestor, pmix_resource_block_directive_t directive,
    const char *block, const pmix_resource_unit_t *units, size_t nunits,
    const pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/**
 * Functions of a host; NULL for those it does not offer.
 *
 * The first 28 slots are at the same offsets in every release of OpenPMIx. The four
 * that follow are at the offsets of release 6.1. Releases 5.0 and 6.0 have some of them
 * elsewhere, older releases have none, and the structure has neither size nor version.
 * This library reads them only if it gets the number of slots: see
 * TENON_SERVER_MODULE_SIZE.
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
    pmix_server_tool_connection2_fn_t tool_connected2;
    pmix_server_log2_fn_t log2;
    pmix_server_session_control_fn_t session_control;
    pmix_server_resource_block_fn_t resource_block;
} pmix_server_module_t;

/**
 * size_t: size in bytes of the pmix_server_module_t passed to PMIx_server_init with
 * these infos. The library derives the slots from it: 224 for release 4.x, 232 for 5.0,
 * 240 for 6.0, 256 for 6.1 and this header. Without it, and for any other size below
 * 256, only the first 28 slots are read.
 *
 * PMIx_server_init of this header adds it to the infos. A caller that reaches the
 * function in another way (a pointer, another language) has to add it. Other libraries
 * ignore it. PMIx_tool_set_server_module has no infos: 28 slots.
 */
#define TENON_SERVER_MODULE_SIZE "tenon.srv.modsz"

/* Jobs that another program runs: a server without a host module starts this program
 * instead of the processes of a request, for example the launcher of an allocation. */

/** pointer to a struct tenon_spawner, which outlives the server: for PMIx_server_init
 * of this library without a host module. */
#define TENON_SERVER_SPAWNER "tenon.srv.spawner"

/* A translated request. Members are only appended: size is the library's. */
struct tenon_spawn {
    size_t size;
    pmix_info_t *info; /* attributes of the job, by PMIx_Info_create, or NULL */
    size_t n_info;
    pmix_app_t *app;  /* the one program to run once, by PMIx_App_create */
    uint32_t n_slots; /* that the job takes from the queue of the server */
    bool may_exceed;  /* n_slots may be more than the server has: the job waits for
                       * all */
    char why[512];    /* reason of a refusal, for the log */
};

struct tenon_spawner {
    size_t size; /* of this structure */
    /* Translates a request; must not block. The server frees info and app, also after
     * an error. Any other status than PMIX_SUCCESS refuses the request. */
    pmix_status_t (*translate)(const pmix_info_t info[], size_t n_info,
                               const pmix_app_t apps[], size_t n_apps,
                               struct tenon_spawn *out);
};

#ifdef __cplusplus
}
#endif
#endif
