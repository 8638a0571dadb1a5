/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of every function that a host makes in callbacks of each kind, and in each of its own functions
 * (docs/callbacks.md). */
#include "../../conformance/callbacks/walk.h"

#include "core/model/nspace.h"
#include "fake_host.h"
#include "raw.h"
#include "scene.h"

#include <string.h>

#define CODE (-4711)

static pmix_nspace_t job = "job", more = "more";
static pmix_byte_object_t bytes = {.bytes = (char *)"x", .size = 1};
static pmix_proc_t first, here[2], both[2]; /* both: on two nodes */
static pmix_info_t info;
static pmix_resource_unit_t unit;
static pmix_fabric_t fabric;
static char key[] = "example.own", *keys[] = {key, NULL};
static pmix_query_t query = {.keys = keys};
static pmix_app_t app = {.cmd = (char *)"true", .maxprocs = 1};
static pmix_status_t code = CODE, of_host = PMIX_ERR_NODE_DOWN,
                     other_of_host = PMIX_ERR_NODE_OFFLINE;
static uint32_t tag = 100;

/* ---- ways to the host's functions ---------------------------------------------------------- */

#define WAY(name, call)         \
    static void by_##name(void) \
    {                           \
        call;                   \
    }
WAY(connection, one = raw_client(0))
WAY(finalize, (void)raw_finalize(one))
WAY(abort, (void)PMIx_Abort(1, "no", &first, 1))
WAY(fence, raw_collect(two, tag++, PX_OP_FENCE, both, 2, NULL))
WAY(connect, raw_collect(two, tag++, PX_OP_CONNECT, both, 2, NULL))
WAY(disconnect, raw_collect(two, tag++, PX_OP_DISCONNECT, both, 2, NULL))
WAY(group, scene_construct(two, tag++, "g", "12"))
WAY(modex, raw_send(two, tag++, raw_get("job", 2, "key", NULL)))
WAY(publish, (void)PMIx_Publish_nb(&info, 1, on.op, WALK))
WAY(lookup, (void)PMIx_Lookup_nb(keys, NULL, 0, on.lookup, WALK))
WAY(unpublish, (void)PMIx_Unpublish_nb(keys, NULL, 0, on.op, WALK))
WAY(spawn, (void)PMIx_Spawn_nb(NULL, 0, &app, 1, on.spawn, WALK))
WAY(query, (void)PMIx_Query_info_nb(&query, 1, on.info, WALK))
WAY(log, (void)PMIx_Log_nb(&info, 1, NULL, 0, on.op, WALK))
WAY(allocate, (void)PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, &info, 1, on.info, WALK))
WAY(control, (void)PMIx_Job_control_nb(NULL, 0, &info, 1, on.info, WALK))
WAY(monitor, (void)PMIx_Process_monitor_nb(&info, CODE, NULL, 0, on.info, WALK))
WAY(credential, (void)PMIx_Get_credential_nb(NULL, 0, on.credential, WALK))
WAY(validation, (void)PMIx_Validate_credential_nb(&bytes, NULL, 0, on.validation, WALK))
WAY(fabric, (void)PMIx_Fabric_register_nb(&fabric, NULL, 0, on.op, WALK))
WAY(session, (void)PMIx_Session_control(1, &info, 1, on.info, WALK))
WAY(block, (void)PMIx_Resource_block_nb(PMIX_RESOURCE_BLOCK_DEFINE, key, &unit, 1, NULL,
                                        0, on.op, WALK))
WAY(registration, raw_send(two, tag++, raw_want(&of_host, 1, NULL)))
WAY(event, (void)scene_notify(two, CODE, PMIX_RANGE_GLOBAL, NULL))
WAY(pull, (void)PMIx_IOF_pull(here, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on.iof,
                              on.handler, WALK))
WAY(push, (void)PMIx_IOF_push(here, 1, &bytes, NULL, 0, on.op, WALK))

static const struct {
    const char *slot;
    void (*call)(void);
} slots[] = {
    {"client_connected2", by_connection},
    {"client_finalized", by_finalize},
    {"abort", by_abort},
    {"fence_nb", by_fence},
    {"direct_modex", by_modex},
    {"publish", by_publish},
    {"lookup", by_lookup},
    {"unpublish", by_unpublish},
    {"spawn", by_spawn},
    {"connect", by_connect},
    {"disconnect", by_disconnect},
    {"register_events", by_registration},
    {"notify_event", by_event},
    {"query", by_query},
    {"log", by_log},
    {"allocate", by_allocate},
    {"job_control", by_control},
    {"iof_pull", by_pull},
    {"push_stdin", by_push},
    {"monitor", by_monitor},
    {"get_credential", by_credential},
    {"validate_credential", by_validation},
    {"fabric", by_fabric},
    {"group", by_group},
    {"session_control", by_session},
    {"resource_block", by_block},
};

/* ---- ways to callbacks --------------------------------------------------------------------- */

WAY(nspace, ok(PMIx_server_register_nspace(more, 1, NULL, 0, on.op, WALK)))
WAY(setup, ok(PMIx_server_setup_application(job, NULL, 0, on.setup, WALK)))
WAY(inventory, ok(PMIx_server_collect_inventory(NULL, 0, on.info, WALK)))
WAY(local_event,
    ok(PMIx_Notify_event(CODE, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL)))
WAY(delivery, ok(PMIx_server_IOF_deliver(here, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 0,
                                         on.op, WALK)))

static void by_dmodex(void)
{
    ok(PMIx_server_dmodex_request(&here[1], on.dmodex, WALK));
    ok(raw_commit(two, "key", 1));
}

static const struct {
    const char *name;
    void (*call)(void);
} callbacks[] = {
    {"op", by_nspace},         {"setup", by_setup},       {"info", by_inventory},
    {"event", by_local_event}, {"delivery", by_delivery}, {"dmodex", by_dmodex},
};

/* ---- tests --------------------------------------------------------------------------------- */

static void in_upcall(void)
{
    host.within = NULL;
    walk_here();
}

static void begin(void)
{
    PMIx_Load_procid(&first, "job", 0);
    PMIx_Load_procid(&here[0], "job", 0);
    PMIx_Load_procid(&here[1], "job", 1);
    PMIx_Load_procid(&both[0], "job", 1);
    PMIx_Load_procid(&both[1], "job", 2);
    PMIx_Info_load(&info, key, NULL, PMIX_BOOL);
    raw_server_start(&host_module, 2, 1);
    two = raw_client(1);
    PMIx_Load_nspace(host.nspace, "spawned");
    /* the rows deregister the first handler */
    ck_assert_int_ge(
        PMIx_Register_event_handler(&other_of_host, 1, NULL, 0, on.event, NULL, NULL),
        0);
    ck_assert_int_ge(
        PMIx_Register_event_handler(&code, 1, NULL, 0, walk_event, NULL, NULL), 0);
    walk_begin(WALK_SERVER, NULL);
}

PX_TEST_LOOP(no_call_in_a_function_of_a_host_waits_and_none_is_lost,
             (int)PX_COUNT(slots))
{
    begin();
    if (slots[_i].call != by_connection)
        one = raw_client(0);
    walk_arm(slots[_i].slot);
    host.within = in_upcall;
    slots[_i].call();
    ck_assert_uint_eq(walk_await(), 0);
    ck_assert_uint_ge(host_calls(slots[_i].slot), 1);
    ck_assert_ptr_null(host.within);
}

PX_TEST_LOOP(no_call_in_a_callback_of_a_host_waits_and_none_is_lost,
             (int)PX_COUNT(callbacks))
{
    begin();
    one = raw_client(0);
    walk_arm(callbacks[_i].name);
    callbacks[_i].call();
    ck_assert_uint_eq(walk_await(), 0);
}

PX_TEST_MAIN("server/callbacks", NULL, host_end)
