/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that need the library to be started: good calls, for when it is not, and calls with
 * arguments that make no sense. */
#include "rows.h"

#include <check.h>
#include <stdio.h>

#define PX_UNUSED __attribute__((unused))

#undef PMIx_server_init /* the function itself, not what the header puts before it */

static pmix_proc_t proc, endless_proc;
static pmix_info_t info;
static pmix_value_t value = {.type = PMIX_UINT32}, *got;
static pmix_query_t query;
static pmix_app_t app, no_app;
static pmix_pdata_t pdata, no_key, endless_key;
static pmix_proc_t *procs;
static pmix_nspace_t nspace = "ns", no_nspace;
static pmix_status_t code = -1;
static char *strings[] = {(char *)"key", NULL}, *no_strings[] = {NULL};
static char long_key[PMIX_MAX_KEYLEN + 2], long_nspace[PMIX_MAX_NSLEN + 2];
static char *text, *text_in = (char *)"block";
static pmix_info_t *results;
static pmix_byte_object_t bytes, no_bytes = {.size = 4};
static pmix_resource_unit_t unit;
static pmix_fabric_t fabric;
static char **env;
static size_t n;

/* ---- callbacks that must not be called ------------------------------------------------------------- */

static void on_op(pmix_status_t status PX_UNUSED, void *cbdata PX_UNUSED)
{
    ck_abort_msg("called back after an error");
}

static void on_value(pmix_status_t status PX_UNUSED, pmix_value_t *v PX_UNUSED,
                     void *cbdata PX_UNUSED)
{
    ck_abort_msg("called back after an error");
}

static void on_lookup(pmix_status_t status PX_UNUSED, pmix_pdata_t d[] PX_UNUSED,
                      size_t nd PX_UNUSED, void *cbdata PX_UNUSED)
{
    ck_abort_msg("called back after an error");
}

static void on_spawn(pmix_status_t status PX_UNUSED, pmix_nspace_t ns PX_UNUSED,
                     void *cbdata PX_UNUSED)
{
    ck_abort_msg("called back after an error");
}

static void on_info(pmix_status_t status PX_UNUSED, pmix_info_t *i PX_UNUSED,
                    size_t ni PX_UNUSED, void *cbdata PX_UNUSED,
                    pmix_release_cbfunc_t release PX_UNUSED, void *data PX_UNUSED)
{
    ck_abort_msg("called back after an error");
}

static void on_handler(pmix_status_t status PX_UNUSED, size_t id PX_UNUSED,
                       void *cbdata PX_UNUSED)
{
    ck_abort_msg("called back after an error");
}

static void on_setup(pmix_status_t status PX_UNUSED, pmix_info_t i[] PX_UNUSED,
                     size_t ni PX_UNUSED, void *cbdata PX_UNUSED,
                     pmix_op_cbfunc_t cb PX_UNUSED, void *data PX_UNUSED)
{
    ck_abort_msg("called back after an error");
}

static void on_dmodex(pmix_status_t status PX_UNUSED, char *data PX_UNUSED,
                      size_t nd PX_UNUSED, void *cbdata PX_UNUSED)
{
    ck_abort_msg("called back after an error");
}

static void on_event(size_t id PX_UNUSED, pmix_status_t status PX_UNUSED,
                     const pmix_proc_t *source PX_UNUSED, pmix_info_t i[] PX_UNUSED,
                     size_t ni PX_UNUSED, pmix_info_t *results PX_UNUSED,
                     size_t n_results PX_UNUSED,
                     pmix_event_notification_cbfunc_fn_t cb PX_UNUSED,
                     void *cbdata PX_UNUSED)
{
    ck_abort_msg("called back after an error");
}

static void on_credential(pmix_status_t status PX_UNUSED,
                          pmix_byte_object_t *credential PX_UNUSED,
                          pmix_info_t i[] PX_UNUSED, size_t ni PX_UNUSED,
                          void *cbdata PX_UNUSED)
{
    ck_abort_msg("called back after an error");
}

static void on_validation(pmix_status_t status PX_UNUSED, pmix_info_t i[] PX_UNUSED,
                          size_t ni PX_UNUSED, void *cbdata PX_UNUSED)
{
    ck_abort_msg("called back after an error");
}

static pmix_status_t told;

static void on_told(pmix_status_t status, void *cbdata PX_UNUSED)
{
    told = status;
}

static pmix_status_t deregister_nspace(const char *ns)
{
    told = PMIX_SUCCESS;
    PMIx_server_deregister_nspace(ns, on_told, NULL);
    return told;
}

static pmix_status_t deregister_client(const pmix_proc_t *p)
{
    told = PMIX_SUCCESS;
    PMIx_server_deregister_client(p, on_told, NULL);
    return told;
}

/* What a server itself finds wrong with a request for clean-up. */
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

/* What only a server may. */
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
    X(PMIx_server_register_nspace(long_nspace, 1, NULL, 0, NULL, NULL))                   \
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
    X(PMIx_server_setup_local_support(NULL, NULL, 0, on_op, NULL))                        \
    X(PMIx_server_setup_local_support(nspace, NULL, 1, on_op, NULL))

#define BAD_CLEANUP(X)                                                                    \
    X(clean_up(PMIX_REGISTER_CLEANUP, "relative", PMIX_STRING))                           \
    X(clean_up(PMIX_REGISTER_CLEANUP, &code, PMIX_INT))                                   \
    X(clean_up(PMIX_REGISTER_CLEANUP, NULL, PMIX_STRING))                                 \
    X(clean_up(PMIX_REGISTER_CLEANUP_DIR, "/", PMIX_STRING))                              \
    X(clean_up(PMIX_REGISTER_CLEANUP_DIR, "/proc/self", PMIX_STRING))                     \
    X(clean_up(PMIX_CLEANUP_IGNORE, "relative", PMIX_STRING))

/* Empty elements, "..", and what says how to remove folders where there is none. */
#define GOOD_CLEANUP(X)                                                                   \
    X(clean_up(PMIX_REGISTER_CLEANUP, "/tmp/tenon-none,", PMIX_STRING))                   \
    X(clean_up(PMIX_REGISTER_CLEANUP, "/tmp/../tmp/tenon-none", PMIX_STRING))              \
    X(clean_up(PMIX_REGISTER_CLEANUP_DIR, "", PMIX_STRING))                               \
    X(clean_up(PMIX_CLEANUP_RECURSIVE, NULL, PMIX_BOOL))                                  \
    X(clean_up(PMIX_CLEANUP_EMPTY, NULL, PMIX_BOOL))                                      \
    X(clean_up(PMIX_CLEANUP_LEAVE_TOPDIR, NULL, PMIX_BOOL))

/* What begins a role looks at its arguments first. */
#define BAD_STARTS(X)                                                                     \
    X(PMIx_Init(NULL, NULL, 1))                                                           \
    X(PMIx_server_init(NULL, NULL, 1))

/* What is asked of the host. */
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

#define ROW(call) IS(expected, call)
#define START(call) IS(PMIX_ERR_BAD_PARAM, call)
/* clang-format on */

void calls_setup(void)
{
    PMIx_Load_procid(&proc, "ns", 0);
    PMIx_Load_procid(&endless_proc, "ns", 0);
    memset(endless_proc.nspace, 'n', sizeof(endless_proc.nspace));
    memset(long_key, 'k', sizeof(long_key) - 1);
    memset(long_nspace, 'n', sizeof(long_nspace) - 1);
    PMIx_Info_load(&info, "key", NULL, PMIX_BOOL);
    app.cmd = (char *)"prog";
    query.keys = strings;
    PMIx_Load_key(pdata.key, "key");
    memset(endless_key.key, 'k', sizeof(endless_key.key));
}

void rows_of_good_calls(pmix_status_t expected)
{
    GOOD_CALLS(ROW)
    GOOD_SERVER_CALLS(ROW)
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
    SO(!env)
}

void rows_of_bad_calls(pmix_status_t expected)
{
    BAD_STARTS(START)
    BAD_CALLS(ROW)
    BAD_REQUESTS(ROW)
    SO(!got && !procs && !results)
}

void rows_of_cleanup(pmix_status_t expected)
{
    BAD_CLEANUP(ROW)
    expected = PMIX_SUCCESS;
    GOOD_CLEANUP(ROW)
}

void rows_of_bad_server_calls(pmix_status_t expected)
{
    BAD_SERVER_CALLS(ROW)
    SO(!env)
}
