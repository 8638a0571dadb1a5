/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that need an initialized library: valid calls, without initialization or in another role, and
 * calls with invalid arguments. Also the library's own thread. */
#include "rows.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#undef PMIx_server_init /* the function, not the macro of the header */

static pmix_proc_t proc, endless_proc, server, *servers, *procs;
static pmix_info_t info, *results;
static pmix_value_t value = {.type = PMIX_UINT32}, *got;
static pmix_query_t query;
static pmix_app_t app, no_app;
static pmix_pdata_t pdata, no_key, endless_key;
static pmix_nspace_t nspace = "ns", no_nspace;
static pmix_status_t code = -1;
static char *strings[] = {(char *)"key", NULL}, *no_strings[] = {NULL};
static char *attrs[] = {(char *)"pmix.some", NULL}, *bad_attrs[] = {(char *)"", NULL};
static char long_key[PMIX_MAX_KEYLEN + 2], long_name[PMIX_MAX_NSLEN + 2];
static char name[] = "set", nothing[] = "", *function = (char *)"PMIx_Get";
static char *text, *text_in = (char *)"block", **env;
static pmix_byte_object_t bytes = {.bytes = (char *)"x", .size = 1},
                          no_bytes = {.size = 4};
static pmix_data_buffer_t buffer;
static pmix_resource_unit_t unit;
static pmix_fabric_t fabric;
static pmix_topology_t topo;
static pmix_cpuset_t cpuset;
static pmix_locality_t locality;
static pmix_device_distance_t *distances;
static pmix_server_module_t module;
static size_t n;

/* ---- callbacks ------------------------------------------------------------------- */

#define on_op         on.op
#define on_value      on.value
#define on_lookup     on.lookup
#define on_spawn      on.spawn
#define on_joint      on.joint
#define on_info       on.info
#define on_handler    on.handler
#define on_setup      on.setup
#define on_dmodex     on.dmodex
#define on_event      on.event
#define on_credential on.credential
#define on_validation on.validation
#define on_distances  on.distances
#define on_iof        on.iof

static pmix_status_t completed;

static void on_completed(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    completed = status;
}

static pmix_status_t deregister_nspace(const char *ns)
{
    completed = PMIX_SUCCESS;
    PMIx_server_deregister_nspace(ns, on_completed, NULL);
    return completed;
}

static pmix_status_t deregister_client(const pmix_proc_t *p)
{
    completed = PMIX_SUCCESS;
    PMIx_server_deregister_client(p, on_completed, NULL);
    return completed;
}

/* Returns the status of a request for clean-up that a server makes to itself. */
static pmix_status_t clean_up(const char *key, const void *data, pmix_data_type_t type)
{
    pmix_info_t request;
    pmix_status_t rc;

    PMIx_Info_load(&request, key, data, type);
    rc = PMIx_Job_control(NULL, 0, &request, 1, NULL, NULL);
    PMIx_Info_destruct(&request);
    return rc;
}

/* ---- the tables ---------------------------------------------------------------------------------------- */

/* clang-format off */
#define GOOD_CALLS(X)                                                                     \
    X(PMIx_Finalize(NULL, 0))                                                             \
    X(PMIx_Abort(1, "no", NULL, 0))                                                       \
    X(PMIx_Put(PMIX_GLOBAL, "key", &value))                                               \
    X(PMIx_Commit())                                                                      \
    X(PMIx_Store_internal(&proc, "key", &value))                                          \
    X(PMIx_Store_internal(NULL, "key", &value))                                           \
    X(PMIx_Get(&proc, "key", NULL, 0, &got))                                              \
    X(PMIx_Get(NULL, NULL, NULL, 0, &got))                                                \
    X(PMIx_Get_nb(&proc, "key", NULL, 0, on_value, NULL))                                 \
    X(PMIx_Fence(NULL, 0, NULL, 0))                                                       \
    X(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, NULL))                                       \
    X(PMIx_Resolve_peers(NULL, nspace, &procs, &n))                                       \
    X(PMIx_Resolve_nodes(nspace, &text))                                                  \
    X(PMIx_Publish(&info, 1))                                                             \
    X(PMIx_Publish_nb(&info, 1, on_op, NULL))                                             \
    X(PMIx_Lookup(&pdata, 1, NULL, 0))                                                    \
    X(PMIx_Lookup_nb(strings, NULL, 0, on_lookup, NULL))                                  \
    X(PMIx_Unpublish(strings, NULL, 0))                                                   \
    X(PMIx_Unpublish_nb(strings, NULL, 0, on_op, NULL))                                   \
    X(PMIx_Spawn(NULL, 0, &app, 1, NULL))                                                 \
    X(PMIx_Spawn_nb(NULL, 0, &app, 1, on_spawn, NULL))                                    \
    X(PMIx_Connect(&proc, 1, NULL, 0))                                                    \
    X(PMIx_Connect_nb(&proc, 1, NULL, 0, on_op, NULL))                                    \
    X(PMIx_Disconnect(&proc, 1, NULL, 0))                                                 \
    X(PMIx_Disconnect_nb(&proc, 1, NULL, 0, on_op, NULL))                                 \
    X(PMIx_Connect_nspace(&proc, 1, NULL, 0, NULL, NULL))                                 \
    X(PMIx_Connect_nspace_nb(&proc, 1, NULL, 0, on_joint, NULL))                          \
    X(PMIx_Disconnect_nspace(proc.nspace, NULL, 0))                                       \
    X(PMIx_Disconnect_nspace_nb(proc.nspace, NULL, 0, on_op, NULL))                       \
    X(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL))               \
    X(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, on_handler, NULL))         \
    X(PMIx_Deregister_event_handler(0, NULL, NULL))                                       \
    X(PMIx_Deregister_event_handler(0, on_op, NULL))                                      \
    X(PMIx_Notify_event(code, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL))               \
    X(PMIx_Notify_event(code, NULL, PMIX_RANGE_LOCAL, NULL, 0, on_op, NULL))              \
    X(PMIx_Query_info(&query, 1, NULL, NULL))                                             \
    X(PMIx_Query_info_nb(&query, 1, on_info, NULL))                                       \
    X(PMIx_Job_control(NULL, 0, &info, 1, NULL, NULL))                                    \
    X(PMIx_Job_control_nb(NULL, 0, &info, 1, on_info, NULL))                              \
    X(PMIx_Log(&info, 1, NULL, 0))                                                        \
    X(PMIx_Log_nb(&info, 1, NULL, 0, on_op, NULL))

/* Calls for servers only. */
#define GOOD_SERVER_CALLS(X)                                                              \
    X(PMIx_server_finalize())                                                             \
    X(PMIx_server_register_nspace(nspace, 1, NULL, 0, NULL, NULL))                        \
    X(PMIx_server_register_nspace(nspace, 1, NULL, 0, on_op, NULL))                       \
    X(PMIx_server_register_client(&proc, 0, 0, NULL, NULL, NULL))                         \
    X(PMIx_server_register_client(&proc, 0, 0, NULL, on_op, NULL))                        \
    X(deregister_nspace(nspace))                                                          \
    X(deregister_client(&proc))                                                           \
    X(PMIx_server_setup_fork(&proc, &env))                                                \
    X(PMIx_server_dmodex_request(&proc, on_dmodex, NULL))                                 \
    X(PMIx_server_setup_application(nspace, NULL, 0, on_setup, NULL))                     \
    X(PMIx_Forward_envars(nspace, "A", NULL, 0))                                          \
    X(PMIx_server_setup_local_support(nspace, NULL, 0, on_op, NULL))                      \
    X(PMIx_server_setup_local_support(nspace, NULL, 0, NULL, NULL))

#define BAD_CALLS(X)                                                                      \
    X(PMIx_Abort(1, "no", NULL, 1))                                                       \
    X(PMIx_Put(PMIX_GLOBAL, NULL, &value))                                                \
    X(PMIx_Put(PMIX_GLOBAL, "", &value))                                                  \
    X(PMIx_Put(PMIX_GLOBAL, long_key, &value))                                            \
    X(PMIx_Put(PMIX_GLOBAL, "key", NULL))                                                 \
    X(PMIx_Put(0, "key", &value))                                                         \
    X(PMIx_Put(77, "key", &value))                                                        \
    X(PMIx_Store_internal(&proc, NULL, &value))                                           \
    X(PMIx_Store_internal(&proc, "", &value))                                             \
    X(PMIx_Store_internal(&proc, long_key, &value))                                       \
    X(PMIx_Store_internal(&proc, "key", NULL))                                            \
    X(PMIx_Get(&proc, "key", NULL, 0, NULL))                                              \
    X(PMIx_Get(&proc, "key", NULL, 1, &got))                                              \
    X(PMIx_Get(&proc, "", NULL, 0, &got))                                                 \
    X(PMIx_Get(&proc, long_key, NULL, 0, &got))                                           \
    X(PMIx_Get_nb(&proc, "key", NULL, 0, NULL, NULL))                                     \
    X(PMIx_Get_nb(&proc, "key", NULL, 1, on_value, NULL))                                 \
    X(PMIx_Get_nb(&proc, long_key, NULL, 0, on_value, NULL))                              \
    X(PMIx_Fence(NULL, 1, NULL, 0))                                                       \
    X(PMIx_Fence(NULL, 0, NULL, 1))                                                       \
    X(PMIx_Fence_nb(NULL, 1, NULL, 0, on_op, NULL))                                       \
    X(PMIx_Fence_nb(NULL, 0, NULL, 1, on_op, NULL))                                       \
    X(PMIx_Resolve_peers(NULL, nspace, NULL, &n))                                         \
    X(PMIx_Resolve_peers(NULL, nspace, &procs, NULL))                                     \
    X(PMIx_Resolve_nodes(nspace, NULL))                                                   \
    X(PMIx_Publish(NULL, 0))                                                              \
    X(PMIx_Publish(&info, SIZE_MAX))                                                      \
    X(PMIx_Fence(&proc, SIZE_MAX, NULL, 0))                                               \
    X(PMIx_Get(&proc, "key", &info, SIZE_MAX, &got))                                      \
    X(PMIx_Abort(1, "no", &proc, SIZE_MAX))                                               \
    X(PMIx_Spawn(&info, SIZE_MAX, &app, 1, NULL))                                         \
    X(PMIx_Notify_event(code, NULL, PMIX_RANGE_LOCAL, &info, SIZE_MAX, NULL, NULL))       \
    X(PMIx_Publish(NULL, 1))                                                              \
    X(PMIx_Publish_nb(NULL, 0, on_op, NULL))                                              \
    X(PMIx_Publish_nb(NULL, 1, on_op, NULL))                                              \
    X(PMIx_Lookup(NULL, 0, NULL, 0))                                                      \
    X(PMIx_Lookup(NULL, 1, NULL, 0))                                                      \
    X(PMIx_Lookup(&pdata, 0, NULL, 0))                                                    \
    X(PMIx_Lookup(&pdata, 1, NULL, 1))                                                    \
    X(PMIx_Lookup(&no_key, 1, NULL, 0))                                                   \
    X(PMIx_Lookup(&endless_key, 1, NULL, 0))                                              \
    X(PMIx_Lookup_nb(NULL, NULL, 0, on_lookup, NULL))                                     \
    X(PMIx_Lookup_nb(no_strings, NULL, 0, on_lookup, NULL))                               \
    X(PMIx_Lookup_nb(strings, NULL, 0, NULL, NULL))                                       \
    X(PMIx_Lookup_nb(strings, NULL, 1, on_lookup, NULL))                                  \
    X(PMIx_Unpublish(strings, NULL, 1))                                                   \
    X(PMIx_Unpublish_nb(strings, NULL, 1, on_op, NULL))                                   \
    X(PMIx_Spawn(NULL, 0, NULL, 0, NULL))                                                 \
    X(PMIx_Spawn(NULL, 0, NULL, 1, NULL))                                                 \
    X(PMIx_Spawn(NULL, 0, &app, 0, NULL))                                                 \
    X(PMIx_Spawn(NULL, 1, &app, 1, NULL))                                                 \
    X(PMIx_Spawn(NULL, 0, &no_app, 1, NULL))                                              \
    X(PMIx_Spawn_nb(NULL, 0, NULL, 1, on_spawn, NULL))                                    \
    X(PMIx_Spawn_nb(NULL, 0, &no_app, 1, on_spawn, NULL))                                 \
    X(PMIx_Connect(NULL, 0, NULL, 0))                                                     \
    X(PMIx_Connect(NULL, 1, NULL, 0))                                                     \
    X(PMIx_Connect(&proc, 0, NULL, 0))                                                    \
    X(PMIx_Connect(&proc, 1, NULL, 1))                                                    \
    X(PMIx_Connect_nb(NULL, 0, NULL, 0, on_op, NULL))                                     \
    X(PMIx_Disconnect(NULL, 0, NULL, 0))                                                  \
    X(PMIx_Disconnect(&proc, 0, NULL, 0))                                                 \
    X(PMIx_Disconnect_nb(NULL, 1, NULL, 0, on_op, NULL))                                  \
    X(PMIx_Connect_nspace(NULL, 1, NULL, 0, NULL, NULL))                                  \
    X(PMIx_Connect_nspace(&proc, 0, NULL, 0, NULL, NULL))                                 \
    X(PMIx_Connect_nspace(&proc, 1, NULL, 1, NULL, NULL))                                 \
    X(PMIx_Connect_nspace(&proc, SIZE_MAX, NULL, 0, NULL, NULL))                          \
    X(PMIx_Connect_nspace_nb(&proc, 1, NULL, 1, on_joint, NULL))                          \
    X(PMIx_Connect_nspace_nb(&proc, 1, NULL, 0, NULL, NULL))                              \
    X(PMIx_Disconnect_nspace(NULL, NULL, 0))                                              \
    X(PMIx_Disconnect_nspace("", NULL, 0))                                                \
    X(PMIx_Disconnect_nspace(proc.nspace, NULL, 1))                                       \
    X(PMIx_Disconnect_nspace_nb(NULL, NULL, 0, on_op, NULL))                              \
    X(PMIx_Register_event_handler(&code, 1, NULL, 0, NULL, NULL, NULL))                   \
    X(PMIx_Register_event_handler(NULL, 1, NULL, 0, on_event, NULL, NULL))                \
    X(PMIx_Register_event_handler(&code, SIZE_MAX, NULL, 0, on_event, NULL, NULL))        \
    X(PMIx_Register_event_handler(&code, 1, NULL, 1, on_event, NULL, NULL))               \
    X(PMIx_Register_event_handler(NULL, 1, NULL, 0, on_event, on_handler, NULL))          \
    X(PMIx_Notify_event(code, NULL, PMIX_RANGE_LOCAL, NULL, 1, NULL, NULL))               \
    X(PMIx_Notify_event(code, NULL, PMIX_RANGE_PROC_LOCAL + 1, NULL, 0, NULL, NULL))      \
    X(PMIx_Notify_event(code, NULL, 200, NULL, 0, on_op, NULL))                           \
    X(PMIx_Query_info(NULL, 0, NULL, NULL))                                               \
    X(PMIx_Query_info(NULL, 1, NULL, NULL))                                               \
    X(PMIx_Query_info(&query, 0, NULL, NULL))                                             \
    X(PMIx_Query_info_nb(NULL, 1, on_info, NULL))                                         \
    X(PMIx_Query_info_nb(&query, 0, on_info, NULL))                                       \
    X(PMIx_Job_control(NULL, 0, NULL, 0, NULL, NULL))                                     \
    X(PMIx_Job_control(NULL, 1, &info, 1, NULL, NULL))                                    \
    X(PMIx_Job_control(NULL, 0, NULL, 1, NULL, NULL))                                     \
    X(PMIx_Job_control_nb(NULL, 1, &info, 1, on_info, NULL))                              \
    X(PMIx_Job_control_nb(NULL, 0, &info, 0, on_info, NULL))                              \
    X(PMIx_Log(NULL, 0, NULL, 0))                                                         \
    X(PMIx_Log(NULL, 1, NULL, 0))                                                         \
    X(PMIx_Log(&info, 1, NULL, 1))                                                        \
    X(PMIx_Log_nb(NULL, 0, NULL, 0, on_op, NULL))                                         \
    X(PMIx_Log_nb(&info, 1, NULL, 0, NULL, NULL))

#define BAD_SERVER_CALLS(X)                                                               \
    X(PMIx_server_register_nspace(NULL, 1, NULL, 0, NULL, NULL))                          \
    X(PMIx_server_register_nspace(no_nspace, 1, NULL, 0, NULL, NULL))                     \
    X(PMIx_server_register_nspace(long_name, 1, NULL, 0, NULL, NULL))                   \
    X(PMIx_server_register_nspace(nspace, 1, NULL, 1, on_op, NULL))                       \
    X(PMIx_server_register_client(NULL, 0, 0, NULL, NULL, NULL))                          \
    X(PMIx_server_register_client(&endless_proc, 0, 0, NULL, on_op, NULL))                \
    X(deregister_nspace(NULL))                                                            \
    X(deregister_nspace(no_nspace))                                                       \
    X(deregister_client(NULL))                                                            \
    X(deregister_client(&endless_proc))                                                   \
    X(PMIx_server_setup_fork(NULL, &env))                                                 \
    X(PMIx_server_setup_fork(&proc, NULL))                                                \
    X(PMIx_server_dmodex_request(NULL, on_dmodex, NULL))                                  \
    X(PMIx_server_dmodex_request(&proc, NULL, NULL))                                      \
    X(PMIx_server_setup_application(NULL, NULL, 0, on_setup, NULL))                       \
    X(PMIx_server_setup_application(nspace, NULL, 0, NULL, NULL))                         \
    X(PMIx_server_setup_application(nspace, NULL, 1, on_setup, NULL))                     \
    X(PMIx_Forward_envars(NULL, "A", NULL, 0))                                            \
    X(PMIx_Forward_envars("", "A", NULL, 0))                                              \
    X(PMIx_Forward_envars(nspace, NULL, NULL, 0))                                         \
    X(PMIx_Forward_envars(nspace, "A", NULL, 1))                                          \
    X(PMIx_server_setup_local_support(NULL, NULL, 0, on_op, NULL))                        \
    X(PMIx_server_setup_local_support(nspace, NULL, 1, on_op, NULL))

#define BAD_CLEANUP(X)                                                                    \
    X(clean_up(PMIX_REGISTER_CLEANUP, "relative", PMIX_STRING))                           \
    X(clean_up(PMIX_REGISTER_CLEANUP, &code, PMIX_INT))                                   \
    X(clean_up(PMIX_REGISTER_CLEANUP, NULL, PMIX_STRING))                                 \
    X(clean_up(PMIX_REGISTER_CLEANUP_DIR, "/", PMIX_STRING))                              \
    X(clean_up(PMIX_REGISTER_CLEANUP_DIR, "/proc/self", PMIX_STRING))                     \
    X(clean_up(PMIX_CLEANUP_IGNORE, "relative", PMIX_STRING))

/* Empty elements, "..", and directives for folders without a folder. */
#define GOOD_CLEANUP(X)                                                                   \
    X(clean_up(PMIX_REGISTER_CLEANUP, "/tmp/tenon-none,", PMIX_STRING))                   \
    X(clean_up(PMIX_REGISTER_CLEANUP, "/tmp/../tmp/tenon-none", PMIX_STRING))              \
    X(clean_up(PMIX_REGISTER_CLEANUP_DIR, "", PMIX_STRING))                               \
    X(clean_up(PMIX_CLEANUP_RECURSIVE, NULL, PMIX_BOOL))                                  \
    X(clean_up(PMIX_CLEANUP_EMPTY, NULL, PMIX_BOOL))                                      \
    X(clean_up(PMIX_CLEANUP_LEAVE_TOPDIR, NULL, PMIX_BOOL))

/* Calls that begin a role: they check arguments first. */
#define BAD_STARTS(X)                                                                     \
    X(PMIx_Init(NULL, NULL, 1))                                                           \
    X(PMIx_server_init(NULL, NULL, 1))

/* Requests to the host. */
#define GOOD_REQUESTS(X)                                                                  \
    X(PMIx_Allocation_request(PMIX_ALLOC_NEW, &info, 1, &results, &n))                    \
    X(PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, &info, 1, on_info, NULL))                \
    X(PMIx_Resource_block(PMIX_RESOURCE_BLOCK_DEFINE, text_in, &unit, 1, NULL, 0))              \
    X(PMIx_Resource_block_nb(PMIX_RESOURCE_BLOCK_DEFINE, text_in, &unit, 1, NULL, 0, on_op, NULL)) \
    X(PMIx_Session_control(1, &info, 1, NULL, NULL))                                      \
    X(PMIx_Session_control(1, &info, 1, on_info, NULL))                                   \
    X(PMIx_Get_credential(NULL, 0, &bytes))                                               \
    X(PMIx_Get_credential_nb(NULL, 0, on_credential, NULL))                               \
    X(PMIx_Validate_credential(&bytes, NULL, 0, &results, &n))                            \
    X(PMIx_Validate_credential_nb(&bytes, NULL, 0, on_validation, NULL))                  \
    X(PMIx_Process_monitor(&info, code, NULL, 0, &results, &n))                           \
    X(PMIx_Process_monitor_nb(&info, code, NULL, 0, on_info, NULL))                       \
    X(PMIx_Fabric_register(&fabric, NULL, 0))                                             \
    X(PMIx_Fabric_register_nb(&fabric, NULL, 0, on_op, NULL))                             \
    X(PMIx_Fabric_update(&fabric))                                                        \
    X(PMIx_Fabric_update_nb(&fabric, on_op, NULL))                                        \
    X(PMIx_Fabric_deregister(&fabric))                                                    \
    X(PMIx_Fabric_deregister_nb(&fabric, on_op, NULL))

#define BAD_REQUESTS(X)                                                                   \
    X(PMIx_Allocation_request(PMIX_ALLOC_NEW, NULL, 1, &results, &n))                     \
    X(PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, NULL, 1, on_info, NULL))                 \
    X(PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, &info, SIZE_MAX, on_info, NULL))         \
    X(PMIx_Resource_block(PMIX_RESOURCE_BLOCK_DEFINE, NULL, &unit, 1, NULL, 0))                 \
    X(PMIx_Resource_block(PMIX_RESOURCE_BLOCK_DEFINE, text_in, NULL, 1, NULL, 0))               \
    X(PMIx_Resource_block(PMIX_RESOURCE_BLOCK_DEFINE, text_in, &unit, 1, NULL, 1))              \
    X(PMIx_Resource_block(PMIX_RESOURCE_BLOCK_DEFINE, text_in, &unit, SIZE_MAX, NULL, 0))  \
    X(PMIx_Resource_block_nb(PMIX_RESOURCE_BLOCK_DEFINE, NULL, &unit, 1, NULL, 0, on_op, NULL)) \
    X(PMIx_Resource_block_nb(PMIX_RESOURCE_BLOCK_DEFINE, text_in, NULL, 1, NULL, 0, on_op, NULL)) \
    X(PMIx_Resource_block_nb(PMIX_RESOURCE_BLOCK_DEFINE, text_in, &unit, 1, NULL, 1, on_op, NULL)) \
    X(PMIx_Session_control(1, NULL, 1, NULL, NULL))                                       \
    X(PMIx_Session_control(1, NULL, 1, on_info, NULL))                                    \
    X(PMIx_Get_credential(NULL, 1, &bytes))                                               \
    X(PMIx_Get_credential(NULL, 0, NULL))                                                 \
    X(PMIx_Get_credential_nb(NULL, 1, on_credential, NULL))                               \
    X(PMIx_Get_credential_nb(NULL, 0, NULL, NULL))                                        \
    X(PMIx_Validate_credential(NULL, NULL, 0, &results, &n))                              \
    X(PMIx_Validate_credential(&no_bytes, NULL, 0, &results, &n))                         \
    X(PMIx_Validate_credential(&bytes, NULL, 1, &results, &n))                            \
    X(PMIx_Validate_credential_nb(NULL, NULL, 0, on_validation, NULL))                    \
    X(PMIx_Validate_credential_nb(&no_bytes, NULL, 0, on_validation, NULL))               \
    X(PMIx_Validate_credential_nb(&bytes, NULL, 1, on_validation, NULL))                  \
    X(PMIx_Validate_credential_nb(&bytes, NULL, 0, NULL, NULL))                           \
    X(PMIx_Process_monitor(NULL, code, NULL, 0, &results, &n))                            \
    X(PMIx_Process_monitor(&info, code, NULL, 1, &results, &n))                           \
    X(PMIx_Process_monitor_nb(NULL, code, NULL, 0, on_info, NULL))                        \
    X(PMIx_Process_monitor_nb(&info, code, NULL, 1, on_info, NULL))                       \
    X(PMIx_Fabric_register(NULL, NULL, 0))                                                \
    X(PMIx_Fabric_register(&fabric, NULL, 1))                                             \
    X(PMIx_Fabric_register_nb(NULL, NULL, 0, on_op, NULL))                                \
    X(PMIx_Fabric_register_nb(&fabric, NULL, 1, on_op, NULL))                             \
    X(PMIx_Fabric_update(NULL))                                                           \
    X(PMIx_Fabric_update_nb(NULL, on_op, NULL))                                           \
    X(PMIx_Fabric_deregister(NULL))                                                       \
    X(PMIx_Fabric_deregister_nb(NULL, on_op, NULL))

/* Groups, forwarded streams, topology, and the host's announcements to its server. */
#define GOOD_GROUPS(X)                                                                    \
    X(PMIx_Load_topology(&topo)) \
    X(PMIx_Get_cpuset(&cpuset, PMIX_CPUBIND_PROCESS)) \
    X(PMIx_Parse_cpuset_string("0", &cpuset)) \
    X(PMIx_Get_relative_locality("a", "b", &locality)) \
    X(PMIx_Compute_distances(&topo, &cpuset, NULL, 0, &distances, &n)) \
    X(PMIx_Compute_distances_nb(&topo, &cpuset, NULL, 0, on_distances, NULL)) \
    X(PMIx_server_generate_cpuset("0", &cpuset)) \
    X(PMIx_server_generate_cpuset_string(&cpuset, &text)) \
    X(PMIx_server_generate_locality_string(&cpuset, &text)) \
    X(PMIx_Group_construct("g", &proc, 1, NULL, 0, &results, &n))                         \
    X(PMIx_Group_construct_nb("g", &proc, 1, NULL, 0, on_info, NULL))                     \
    X(PMIx_Group_invite("g", &proc, 1, NULL, 0, &results, &n))                            \
    X(PMIx_Group_invite_nb("g", &proc, 1, NULL, 0, on_info, NULL))                        \
    X(PMIx_Group_join("g", &proc, PMIX_GROUP_ACCEPT, NULL, 0, &results, &n))              \
    X(PMIx_Group_join_nb("g", &proc, PMIX_GROUP_ACCEPT, NULL, 0, on_info, NULL))          \
    X(PMIx_Group_leave("g", NULL, 0))                                                     \
    X(PMIx_Group_leave_nb("g", NULL, 0, on_op, NULL))                                     \
    X(PMIx_Group_destruct("g", NULL, 0))                                                  \
    X(PMIx_Group_destruct_nb("g", NULL, 0, on_op, NULL))                                  \
    X(PMIx_IOF_pull(&proc, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_iof, NULL, NULL))      \
    X(PMIx_IOF_push(&proc, 1, &bytes, NULL, 0, on_op, NULL))                              \
    X(PMIx_IOF_push(&proc, 1, &bytes, NULL, 0, NULL, NULL))                               \
    X(PMIx_IOF_deregister(0, NULL, 0, on_op, NULL))                                       \
    X(PMIx_IOF_deregister(0, NULL, 0, NULL, NULL))

#define GOOD_SERVER_GROUPS(X)                                                             \
    X(PMIx_Register_attributes(function, attrs))                                          \
    X(PMIx_server_IOF_deliver(&proc, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 0, on_op, NULL)) \
    X(PMIx_server_IOF_flow_control(&proc, PMIX_FWD_STDIN_CHANNEL, true, NULL, 0, on_op, NULL)) \
    X(PMIx_server_collect_inventory(NULL, 0, on_info, NULL))                              \
    X(PMIx_server_deliver_inventory(&info, 1, NULL, 0, on_op, NULL))                      \
    X(PMIx_server_collect_job_info(&proc, 1, &buffer))                                    \
    X(PMIx_server_define_process_set(&proc, 1, name))                                     \
    X(PMIx_server_delete_process_set(name))                                               \
    X(PMIx_server_register_resources(&info, 1, on_op, NULL))                              \
    X(PMIx_server_register_resources(&info, 1, NULL, NULL))                               \
    X(PMIx_server_deregister_resources(&info, 1, on_op, NULL))                            \
    X(PMIx_server_deregister_resources(&info, 1, NULL, NULL))

#define BAD_GROUPS(X)                                                                     \
    X(PMIx_Load_topology(NULL))                                                           \
    X(PMIx_Get_cpuset(NULL, PMIX_CPUBIND_PROCESS))                                        \
    X(PMIx_Get_cpuset(&cpuset, 77))                                                       \
    X(PMIx_Parse_cpuset_string(NULL, &cpuset))                                            \
    X(PMIx_Parse_cpuset_string("0", NULL))                                                \
    X(PMIx_Get_relative_locality(NULL, "b", &locality))                                   \
    X(PMIx_Get_relative_locality("a", NULL, &locality))                                   \
    X(PMIx_Get_relative_locality("a", "b", NULL))                                         \
    X(PMIx_Compute_distances(&topo, &cpuset, NULL, 0, NULL, &n))                          \
    X(PMIx_Compute_distances(&topo, &cpuset, NULL, 0, &distances, NULL))                  \
    X(PMIx_Compute_distances(&topo, &cpuset, NULL, 1, &distances, &n))                    \
    X(PMIx_Compute_distances_nb(&topo, &cpuset, NULL, 0, NULL, NULL))                     \
    X(PMIx_Compute_distances_nb(&topo, &cpuset, NULL, 1, on_distances, NULL))             \
    X(PMIx_server_generate_cpuset(NULL, &cpuset))                                         \
    X(PMIx_server_generate_cpuset("0", NULL))                                             \
    X(PMIx_server_generate_cpuset_string(NULL, &text))                                    \
    X(PMIx_server_generate_cpuset_string(&cpuset, NULL))                                  \
    X(PMIx_server_generate_locality_string(NULL, &text))                                  \
    X(PMIx_server_generate_locality_string(&cpuset, NULL))                                \
    X(PMIx_Group_construct(NULL, &proc, 1, NULL, 0, &results, &n))                        \
    X(PMIx_Group_construct("", &proc, 1, NULL, 0, &results, &n))                          \
    X(PMIx_Group_construct(long_name, &proc, 1, NULL, 0, &results, &n))                   \
    X(PMIx_Group_construct("g", NULL, 1, NULL, 0, &results, &n))                          \
    X(PMIx_Group_construct("g", &proc, 1, NULL, 1, &results, &n))                         \
    X(PMIx_Group_construct_nb(NULL, &proc, 1, NULL, 0, on_info, NULL))                    \
    X(PMIx_Group_construct_nb("g", NULL, 1, NULL, 0, on_info, NULL))                      \
    X(PMIx_Group_construct_nb("g", &proc, 1, NULL, 1, on_info, NULL))                     \
    X(PMIx_Group_construct_nb("g", &proc, 1, NULL, 0, NULL, NULL))                        \
    X(PMIx_Group_invite(NULL, &proc, 1, NULL, 0, &results, &n))                           \
    X(PMIx_Group_invite("g", NULL, 1, NULL, 0, &results, &n))                             \
    X(PMIx_Group_invite("g", NULL, 0, NULL, 0, &results, &n))                             \
    X(PMIx_Group_invite("g", &proc, 0, NULL, 0, &results, &n))                            \
    X(PMIx_Group_invite("g", &proc, 1, NULL, 1, &results, &n))                            \
    X(PMIx_Group_invite_nb(NULL, &proc, 1, NULL, 0, on_info, NULL))                       \
    X(PMIx_Group_invite_nb("g", NULL, 0, NULL, 0, on_info, NULL))                         \
    X(PMIx_Group_invite_nb("g", &proc, 1, NULL, 0, NULL, NULL))                           \
    X(PMIx_Group_join(NULL, &proc, PMIX_GROUP_ACCEPT, NULL, 0, &results, &n))             \
    X(PMIx_Group_join("g", &proc, (pmix_group_opt_t)77, NULL, 0, &results, &n))           \
    X(PMIx_Group_join("g", &proc, PMIX_GROUP_ACCEPT, NULL, 1, &results, &n))              \
    X(PMIx_Group_join_nb(NULL, &proc, PMIX_GROUP_ACCEPT, NULL, 0, on_info, NULL))         \
    X(PMIx_Group_join_nb("g", &proc, (pmix_group_opt_t)77, NULL, 0, on_info, NULL))       \
    X(PMIx_Group_join_nb("g", &proc, PMIX_GROUP_ACCEPT, NULL, 0, NULL, NULL))             \
    X(PMIx_Group_leave(NULL, NULL, 0))                                                    \
    X(PMIx_Group_leave("", NULL, 0))                                                      \
    X(PMIx_Group_leave("g", NULL, 1))                                                     \
    X(PMIx_Group_leave_nb(NULL, NULL, 0, on_op, NULL))                                    \
    X(PMIx_Group_leave_nb("g", NULL, 1, on_op, NULL))                                     \
    X(PMIx_Group_leave_nb("g", NULL, 0, NULL, NULL))                                      \
    X(PMIx_Group_destruct(NULL, NULL, 0))                                                 \
    X(PMIx_Group_destruct("g", NULL, 1))                                                  \
    X(PMIx_Group_destruct_nb(NULL, NULL, 0, on_op, NULL))                                 \
    X(PMIx_Group_destruct_nb("g", NULL, 1, on_op, NULL))                                  \
    X(PMIx_Group_destruct_nb("g", NULL, 0, NULL, NULL))                                   \
    X(PMIx_IOF_pull(NULL, 0, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_iof, NULL, NULL))       \
    X(PMIx_IOF_pull(NULL, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_iof, NULL, NULL))       \
    X(PMIx_IOF_pull(&proc, 1, NULL, 1, PMIX_FWD_STDOUT_CHANNEL, on_iof, NULL, NULL))      \
    X(PMIx_IOF_pull(&proc, 1, NULL, 0, PMIX_FWD_NO_CHANNELS, on_iof, NULL, NULL))         \
    X(PMIx_IOF_pull(&proc, SIZE_MAX, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_iof, NULL, NULL)) \
    X(PMIx_IOF_push(&proc, SIZE_MAX, &bytes, NULL, 0, on_op, NULL))                       \
    X(PMIx_IOF_deregister(0, &info, SIZE_MAX, on_op, NULL))                               \
    X(PMIx_IOF_push(NULL, 1, &bytes, NULL, 0, on_op, NULL))                               \
    X(PMIx_IOF_push(&proc, 1, NULL, NULL, 0, on_op, NULL))                                \
    X(PMIx_IOF_push(&proc, 1, &no_bytes, NULL, 0, on_op, NULL))                           \
    X(PMIx_IOF_push(&proc, 1, &bytes, NULL, 1, on_op, NULL))                              \
    X(PMIx_IOF_deregister(0, NULL, 1, on_op, NULL))

#define BAD_SERVER_GROUPS(X)                                                              \
    X(PMIx_Register_attributes(NULL, attrs))                                              \
    X(PMIx_Register_attributes(nothing, attrs))                                           \
    X(PMIx_Register_attributes(function, bad_attrs))                                      \
    X(PMIx_server_IOF_deliver(NULL, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 0, on_op, NULL))\
    X(PMIx_server_IOF_deliver(&proc, PMIX_FWD_STDOUT_CHANNEL, NULL, NULL, 0, NULL, NULL))  \
    X(PMIx_server_IOF_deliver(&proc, PMIX_FWD_NO_CHANNELS, &bytes, NULL, 0, NULL, NULL))   \
    X(PMIx_server_IOF_deliver(&proc, PMIX_FWD_STDOUT_CHANNEL, &no_bytes, NULL, 0, on_op, NULL))\
    X(PMIx_server_IOF_deliver(&proc, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 1, on_op, NULL))\
    X(PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDIN_CHANNEL, true, NULL, 1, on_op, NULL))\
    X(PMIx_server_collect_inventory(NULL, 1, on_info, NULL))                              \
    X(PMIx_server_collect_inventory(NULL, 0, NULL, NULL))                                 \
    X(PMIx_server_deliver_inventory(NULL, 0, NULL, 0, on_op, NULL))                       \
    X(PMIx_server_deliver_inventory(NULL, 1, NULL, 0, on_op, NULL))                       \
    X(PMIx_server_deliver_inventory(&info, 0, NULL, 0, on_op, NULL))                      \
    X(PMIx_server_deliver_inventory(&info, 1, NULL, 1, on_op, NULL))                      \
    X(PMIx_server_collect_job_info(NULL, 1, &buffer))                                     \
    X(PMIx_server_collect_job_info(&proc, 0, &buffer))                                    \
    X(PMIx_server_collect_job_info(&proc, 1, NULL))                                       \
    X(PMIx_server_define_process_set(NULL, 1, name))                                      \
    X(PMIx_server_define_process_set(&proc, 0, name))                                     \
    X(PMIx_server_define_process_set(&proc, 1, NULL))                                     \
    X(PMIx_server_define_process_set(&proc, 1, nothing))                                  \
    X(PMIx_server_define_process_set(&proc, 1, long_name))                                \
    X(PMIx_server_delete_process_set(NULL))                                               \
    X(PMIx_server_delete_process_set(nothing))                                            \
    X(PMIx_server_delete_process_set(long_name))                                          \
    X(PMIx_server_register_resources(NULL, 0, on_op, NULL))                               \
    X(PMIx_server_register_resources(NULL, 1, NULL, NULL))                                \
    X(PMIx_server_register_resources(&info, 0, NULL, NULL))                               \
    X(PMIx_server_deregister_resources(NULL, 0, on_op, NULL))                             \
    X(PMIx_server_deregister_resources(NULL, 1, NULL, NULL))                              \
    X(PMIx_server_deregister_resources(&info, 0, NULL, NULL))

/* Calls for tools, in processes that are not tools. */
#define GOOD_TOOLS(X)                                                                     \
    X(PMIx_tool_finalize())                                                               \
    X(PMIx_tool_connect_to_server(NULL, NULL, 0))                                         \
    X(PMIx_tool_disconnect(&proc))                                                        \
    X(PMIx_tool_get_servers(&servers, &n))                                                \
    X(PMIx_tool_set_server(&proc, NULL, 0))                                               \
    X(PMIx_tool_set_server_module(&module))

#define BAD_TOOLS(X)                                                                      \
    X(PMIx_tool_connect_to_server(&proc, NULL, 1))                                        \
    X(PMIx_tool_disconnect(NULL))                                                         \
    X(PMIx_tool_get_servers(NULL, &n))                                                    \
    X(PMIx_tool_get_servers(&servers, NULL))                                              \
    X(PMIx_tool_set_server(NULL, NULL, 0))                                                \
    X(PMIx_tool_set_server(&proc, NULL, 1))                                               \
    X(PMIx_tool_set_server_module(NULL))

#define ROW(call) IS(expected, call)
#define START(call) IS(PMIX_ERR_BAD_PARAM, call)
/* clang-format on */

void calls_of(const pmix_proc_t *self)
{
    proc = *self;
    PMIx_Load_nspace(nspace, self->nspace);
}

void calls_drop(bool with_cpuset)
{
    free(text);
    text = NULL;
    PMIx_Argv_free(env);
    env = NULL;
    PMIx_Device_distance_free(distances, n);
    distances = NULL;
    PMIx_Proc_free(servers, n);
    servers = NULL;
    PMIx_Proc_free(procs, n);
    procs = NULL;
    PMIx_Value_free(got, 1);
    got = NULL;
    PMIx_Data_buffer_destruct(&buffer);
    n = 0;
    if (with_cpuset)
        PMIx_Cpuset_destruct(&cpuset);
}

void calls_setup(void)
{
    PMIx_Load_procid(&proc, "ns", 0);
    PMIx_Load_procid(&endless_proc, "ns", 0);
    memset(endless_proc.nspace, 'n', sizeof(endless_proc.nspace));
    memset(long_key, 'k', sizeof(long_key) - 1);
    memset(long_name, 'n', sizeof(long_name) - 1);
    PMIx_Info_load(&info, "key", NULL, PMIX_BOOL);
    app.cmd = (char *)"prog";
    query.keys = strings;
    PMIx_Load_key(pdata.key, "key");
    memset(endless_key.key, 'k', sizeof(endless_key.key));
}

void rows_of_good_calls(pmix_status_t expected)
{
    GOOD_CALLS(ROW)
    GOOD_GROUPS(ROW)
    rows_of_server_calls(expected);
    GOOD_REQUESTS(ROW)
    RUNS(PMIx_Progress())
    RUNS(PMIx_Heartbeat())
    RUNS(PMIx_server_deregister_nspace(nspace, NULL, NULL))
    RUNS(PMIx_server_deregister_client(&proc, NULL, NULL))
    SO(PMIx_Initialized() == 0)
}

void rows_of_server_calls(pmix_status_t expected)
{
    GOOD_SERVER_CALLS(ROW)
    GOOD_SERVER_GROUPS(ROW)
    SO(!env)
}

void rows_of_bad_calls(pmix_status_t expected)
{
    BAD_STARTS(START)
    BAD_CALLS(ROW)
    BAD_GROUPS(ROW)
    BAD_REQUESTS(ROW)
    SO(!got && !procs && !results && !distances && !text && !cpuset.bitmap)
}

void rows_of_bad_server_calls(pmix_status_t expected)
{
    BAD_SERVER_CALLS(ROW)
    BAD_SERVER_GROUPS(ROW)
    SO(!env && !buffer.base_ptr)
}

void rows_of_cleanup(pmix_status_t expected)
{
    BAD_CLEANUP(ROW)
    expected = PMIX_SUCCESS;
    GOOD_CLEANUP(ROW)
}

void rows_of_good_tools(pmix_status_t expected, pmix_status_t attach)
{
    GOOD_TOOLS(ROW)
    IS(attach, PMIx_tool_attach_to_server(NULL, NULL, NULL, 0))
    IS(false, PMIx_tool_is_connected())
    SO(!servers && n == 0)
    RUNS(PMIx_Progress_thread_stop(NULL,
                                   0)) /* waiting threads run the loop from now on */
}

void rows_of_bad_tools(pmix_status_t expected, pmix_status_t attach)
{
    pmix_info_t other;

    BAD_TOOLS(ROW)
    IS(attach, PMIx_tool_attach_to_server(&proc, &server, NULL, 1))
    SO(!servers && n == 0 && !server.nspace[0] && strcmp(proc.nspace, "ns") == 0)
    IS(PMIX_ERR_BAD_PARAM, PMIx_tool_init(NULL, NULL, 1))
    RUNS(PMIx_Progress_thread_stop(NULL, 1))
    RUNS(PMIx_Progress_thread_stop(NULL, SIZE_MAX))
    PMIx_Info_load(&other, PMIX_PROGRESS_THREAD_NAME, "of another library",
                   PMIX_STRING);
    RUNS(PMIx_Progress_thread_stop(&other, 1))
    PMIx_Info_destruct(&other);
}
