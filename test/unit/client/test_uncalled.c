/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking calls without a callback for the result (docs/adr/0030). */
#include "core/base/attr.h"
#include "fake_server.h"
#include "pmix.h"
#include "px_test.h"

#include <string.h>

static pmix_proc_t procs[2];
static pmix_info_t info;
static pmix_app_t app = {.cmd = (char *)"true", .maxprocs = 1};
static pmix_query_t query;
static pmix_byte_object_t cred = {.bytes = (char *)"x", .size = 1};
static char *keys[] = {(char *)"key", NULL};

static void setup(void)
{
    client_begin();
    procs[0] = rank(0);
    procs[1] = rank(1);
    PMIx_Info_load(&info, "example.key", "value", PMIX_STRING);
    query.keys = keys;
}

static void teardown(void)
{
    client_end();
    PMIx_Info_destruct(&info);
}

static pmix_status_t beat(void)
{
    pmix_info_t monitor = flag(PMIX_SEND_HEARTBEAT);

    return PMIx_Process_monitor_nb(&monitor, PMIX_SUCCESS, NULL, 0, NULL, NULL);
}

#define CALL(name, expression)             \
    static pmix_status_t call_##name(void) \
    {                                      \
        return expression;                 \
    }
CALL(fence, PMIx_Fence_nb(procs, 2, NULL, 0, NULL, NULL))
CALL(publish, PMIx_Publish_nb(&info, 1, NULL, NULL))
CALL(unpublish, PMIx_Unpublish_nb(keys, NULL, 0, NULL, NULL))
CALL(spawn, PMIx_Spawn_nb(NULL, 0, &app, 1, NULL, NULL))
CALL(connect, PMIx_Connect_nb(procs, 2, NULL, 0, NULL, NULL))
CALL(disconnect, PMIx_Disconnect_nb(procs, 2, NULL, 0, NULL, NULL))
CALL(query, PMIx_Query_info_nb(&query, 1, NULL, NULL))
CALL(allocate, PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, NULL, 0, NULL, NULL))
CALL(control, PMIx_Job_control_nb(procs, 2, &info, 1, NULL, NULL))
CALL(monitor, PMIx_Process_monitor_nb(&info, PMIX_SUCCESS, NULL, 0, NULL, NULL))
CALL(lookup, PMIx_Lookup_nb(keys, NULL, 0, NULL, NULL))
CALL(log, PMIx_Log_nb(&info, 1, NULL, 0, NULL, NULL))
CALL(get_credential, PMIx_Get_credential_nb(NULL, 0, NULL, NULL))
CALL(validate, PMIx_Validate_credential_nb(&cred, NULL, 0, NULL, NULL))
CALL(construct, PMIx_Group_construct_nb("group", procs, 2, NULL, 0, NULL, NULL))
CALL(destruct, PMIx_Group_destruct_nb("group", NULL, 0, NULL, NULL))
CALL(leave, PMIx_Group_leave_nb("group", NULL, 0, NULL, NULL))
CALL(invite, PMIx_Group_invite_nb("group", procs, 2, NULL, 0, NULL, NULL))
CALL(join,
     PMIx_Group_join_nb("group", &procs[1], PMIX_GROUP_ACCEPT, NULL, 0, NULL, NULL))
CALL(get, PMIx_Get_nb(&procs[1], "key", NULL, 0, NULL, NULL))

static const struct {
    const char *name;
    pmix_status_t (*call)(void);
    pmix_status_t answer;
} rows[] = {
#define ROW(name, answer)                 \
    {                                     \
#name, call_##name, PMIX_##answer \
    }
    ROW(fence, SUCCESS),
    ROW(publish, SUCCESS),
    ROW(unpublish, SUCCESS),
    ROW(spawn, SUCCESS),
    ROW(connect, SUCCESS),
    ROW(disconnect, SUCCESS),
    ROW(query, SUCCESS),
    ROW(allocate, SUCCESS),
    ROW(control, SUCCESS),
    ROW(monitor, SUCCESS),
    {"heartbeat", beat, PMIX_OPERATION_SUCCEEDED},
    ROW(lookup, ERR_BAD_PARAM),
    ROW(log, ERR_BAD_PARAM),
    ROW(get_credential, ERR_BAD_PARAM),
    ROW(validate, ERR_BAD_PARAM),
    ROW(construct, ERR_BAD_PARAM),
    ROW(destruct, ERR_BAD_PARAM),
    ROW(leave, ERR_BAD_PARAM),
    ROW(invite, ERR_BAD_PARAM),
    ROW(join, ERR_BAD_PARAM),
    ROW(get, ERR_BAD_PARAM),
};

PX_TEST(a_call_without_its_callback_answers_as_in_the_table)
{
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_status_t rc = rows[i].call();

        ck_assert_msg(rc == rows[i].answer, "%s: %s", rows[i].name,
                      PMIx_Error_string(rc));
    }
}

PX_TEST_MAIN("client/uncalled", setup, teardown)
