/* SPDX-License-Identifier: BSD-3-Clause */
/* Each server function with an optional callback, without one: the statuses of adr/0030. */
#include "hosts.h"

#define NSPACE "optional"

static pmix_proc_t rank0 = {.nspace = NSPACE};
static pmix_info_t info = {
    .key = "site.key",
    .value = {.type = PMIX_STRING, .data.string = (char *)(uintptr_t) "v"}};
static pmix_fabric_t fabric;
static size_t handler;

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t infos[], size_t n, pmix_info_t results[],
                     size_t n_results, pmix_event_notification_cbfunc_fn_t cb,
                     void *cbdata)
{
    if (cb)
        cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

#define CALL(name, call)            \
    static pmix_status_t name(void) \
    {                               \
        return call;                \
    }
#define VOID_CALL(name, call)       \
    static pmix_status_t name(void) \
    {                               \
        call;                       \
        return PMIX_SUCCESS;        \
    }

CALL(register_nspace,
     PMIx_server_register_nspace(program.nspace, 1, NULL, 0, NULL, NULL))
CALL(register_client,
     PMIx_server_register_client(&rank0, getuid(), getgid(), NULL, NULL, NULL))
CALL(setup_local_support,
     PMIx_server_setup_local_support(program.nspace, NULL, 0, NULL, NULL))
CALL(register_resources, PMIx_server_register_resources(&info, 1, NULL, NULL))
CALL(deregister_resources, PMIx_server_deregister_resources(&info, 1, NULL, NULL))
CALL(iof_deliver,
     PMIx_server_IOF_deliver(&rank0, PMIX_FWD_STDOUT_CHANNEL,
                             &(pmix_byte_object_t){(char *)(uintptr_t) "", 0}, NULL, 0,
                             NULL, NULL))
CALL(deliver_inventory, PMIx_server_deliver_inventory(&info, 1, NULL, 0, NULL, NULL))
CALL(setup_application,
     PMIx_server_setup_application(program.nspace, NULL, 0, NULL, NULL))
CALL(collect_inventory, PMIx_server_collect_inventory(NULL, 0, NULL, NULL))
CALL(dmodex_request, PMIx_server_dmodex_request(&rank0, NULL, NULL))
CALL(get, PMIx_Get_nb(&rank0, PMIX_JOB_SIZE, NULL, 0, NULL, NULL))
CALL(fabric_deregister, PMIx_Fabric_deregister_nb(&fabric, NULL, NULL))
CALL(notify, PMIx_Notify_event(PMIX_MODEL_DECLARED, &rank0, PMIX_RANGE_PROC_LOCAL, NULL,
                               0, NULL, NULL))
CALL(deregister_handler, PMIx_Deregister_event_handler(handler, NULL, NULL))
VOID_CALL(deregister_client, PMIx_server_deregister_client(&rank0, NULL, NULL))
VOID_CALL(deregister_nspace, PMIx_server_deregister_nspace(program.nspace, NULL, NULL))

/* Returns success for the number of a handler. */
static pmix_status_t register_handler(void)
{
    pmix_status_t rc = PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL,
                                                   NULL);

    handler = (size_t)rc;
    return rc >= 0 ? PMIX_SUCCESS : rc;
}

#define CRASHES 1 /* no status: the call is left out */

/* Expected statuses, in the order of the calls. */
static const struct {
    const char *name;
    pmix_status_t (*call)(void);
    pmix_status_t ours, other;
} rows[] = {
#define ROW(name, ours, other)          \
    {                                   \
#name, name, PMIX_##ours, other \
    }
    ROW(register_nspace, OPERATION_SUCCEEDED, PMIX_OPERATION_SUCCEEDED),
    ROW(register_client, OPERATION_SUCCEEDED, PMIX_OPERATION_SUCCEEDED),
    ROW(setup_local_support, OPERATION_SUCCEEDED, PMIX_OPERATION_SUCCEEDED),
    ROW(register_resources, OPERATION_SUCCEEDED, PMIX_OPERATION_SUCCEEDED),
    ROW(deregister_resources, OPERATION_SUCCEEDED, PMIX_OPERATION_SUCCEEDED),
    ROW(iof_deliver, OPERATION_SUCCEEDED, CRASHES),
    /* No component takes inventories, with either. */
    ROW(deliver_inventory, OPERATION_SUCCEEDED, PMIX_OPERATION_SUCCEEDED),
    /* Without the callback nothing gets the result. */
    ROW(setup_application, ERR_BAD_PARAM, PMIX_SUCCESS),
    ROW(collect_inventory, ERR_BAD_PARAM, PMIX_SUCCESS),
    ROW(dmodex_request, ERR_BAD_PARAM, PMIX_ERR_BAD_PARAM),
    ROW(get, ERR_BAD_PARAM, PMIX_ERR_BAD_PARAM),
    ROW(fabric_deregister, OPERATION_SUCCEEDED, PMIX_OPERATION_SUCCEEDED),
    ROW(register_handler, SUCCESS, PMIX_SUCCESS),
    ROW(notify, SUCCESS, PMIX_SUCCESS),
    ROW(deregister_handler, SUCCESS, PMIX_SUCCESS),
    ROW(deregister_client, SUCCESS, PMIX_SUCCESS),
    ROW(deregister_nspace, SUCCESS, PMIX_SUCCESS),
};

static void serve(void)
{
    pmix_server_module_t module = {0};
    int n_bad = 0;

    HOST_GOOD(PMIx_server_init(&module, NULL, 0));
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        pmix_status_t wanted = hosts_is_other("456") ? rows[i].other : rows[i].ours;
        pmix_status_t rc = wanted == CRASHES ? CRASHES : rows[i].call();
        if (rc != wanted)
            fprintf(stderr, "%s: %s, expected %s\n", rows[i].name,
                    PMIx_Error_string(rc), PMIx_Error_string(wanted));
        n_bad += rc != wanted;
    }
    HOST_GOOD(PMIx_server_finalize());
    HOST_CHECK(n_bad == 0);
}

const struct hosts_program program = {.nspace = NSPACE, .serve = serve};
