/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function of the library, called in each kind of callback of a program (docs/callbacks.md). */
#include "../standard/standard.h"
#include "walk.h"

#define CODE (-4711)

static char *keys[] = {(char *)"key", NULL};
static char *names[] = {(char *)PMIX_QUERY_NAMESPACES, NULL};
static pmix_query_t query = {.keys = names};
static pmix_app_t app = {.cmd = (char *)"/nothing", .maxprocs = 1};
static pmix_status_t none = CODE - 1, chained = CODE - 2;
static pmix_topology_t topo;
static pmix_cpuset_t cpuset;
static pmix_info_t text, heartbeat, period;
static pmix_byte_object_t bytes = {.bytes = (char *)"x", .size = 1};

/* Ways to a callback. Each runs in the main thread. */
#define CALL(name, expression)           \
    static pmix_status_t by_##name(void) \
    {                                    \
        return expression;               \
    }
CALL(value, PMIx_Get_nb(NULL, PMIX_JOB_SIZE, NULL, 0, on.value, WALK))
CALL(op, PMIx_Fence_nb(NULL, 0, NULL, 0, on.op, WALK))
CALL(lookup, PMIx_Lookup_nb(keys, NULL, 0, on.lookup, WALK))
CALL(spawn, PMIx_Spawn_nb(NULL, 0, &app, 1, on.spawn, WALK))
CALL(joint, PMIx_Connect_nspace_nb(&standard_me, 1, NULL, 0, on.joint, WALK))
CALL(info, PMIx_Query_info_nb(&query, 1, on.info, WALK))
CALL(registered,
     PMIx_Register_event_handler(&none, 1, NULL, 0, on.event, on.handler, WALK))
CALL(event, PMIx_Notify_event(CODE, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL))
CALL(notified,
     PMIx_Notify_event(none, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, on.op, WALK))
CALL(credential, PMIx_Get_credential_nb(NULL, 0, on.credential, WALK))
CALL(validation, PMIx_Validate_credential_nb(&bytes, NULL, 0, on.validation, WALK))
CALL(distances, PMIx_Compute_distances_nb(&topo, &cpuset, NULL, 0, on.distances, WALK))
CALL(logged, PMIx_Log_nb(&text, 1, NULL, 0, on.op, WALK))
CALL(pull, PMIx_IOF_pull(&standard_me, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on.iof,
                         on.handler, WALK))

CALL(chain_end,
     PMIx_Notify_event(chained, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL))
CALL(alert, PMIx_Process_monitor_nb(&heartbeat, CODE, &period, 1, on.info, NULL))

static pmix_status_t by_output(void)
{
    puts("output");
    return fflush(stdout) ? PMIX_ERROR : PMIX_SUCCESS;
}

enum { OF_CLIENT = 1, OF_TOOL = 2, OF_ALL = OF_CLIENT | OF_TOOL };

static const struct way {
    const char *name;
    pmix_status_t (*call)(void);
    int of;
} ways[] = {
    {"value", by_value, OF_CLIENT},
    {"op", by_op, OF_CLIENT},
    {"lookup", by_lookup, OF_ALL},
    {"spawn", by_spawn, OF_ALL},
    {"joint", by_joint, OF_CLIENT},
    {"info", by_info, OF_ALL},
    {"registration", by_registered, OF_ALL},
    {"event", by_event, OF_ALL},
    {"notification", by_notified, OF_ALL},
    {"end of a chain of handlers", by_chain_end, OF_ALL},
    {"alert", by_alert, OF_CLIENT},
    {"credential", by_credential, OF_ALL},
    {"validation", by_validation, OF_ALL},
    {"distances", by_distances, OF_ALL},
    {"log", by_logged, OF_ALL},
    {"pull", by_pull, OF_ALL},
    {"output", by_output, OF_CLIENT},
};

static void on_chained(size_t id PX_UNUSED, pmix_status_t status PX_UNUSED,
                       const pmix_proc_t *source PX_UNUSED,
                       pmix_info_t info[] PX_UNUSED, size_t n PX_UNUSED,
                       pmix_info_t results[] PX_UNUSED, size_t n_results PX_UNUSED,
                       pmix_event_notification_cbfunc_fn_t cb, void *cbdata)
{
    cb(PMIX_SUCCESS, NULL, 0, on.op, WALK, cbdata);
}

static void handle(pmix_status_t c, pmix_notification_fn_t fn)
{
    STANDARD_CHECK(PMIx_Register_event_handler(&c, 1, NULL, 0, fn, NULL, NULL) >= 0);
}

static void walk_all(int of)
{
    uint32_t seconds = 1;
    unsigned n_wrong = 0;

    PMIx_Info_load(&text, PMIX_LOG_STDERR, "text\n", PMIX_STRING);
    PMIx_Info_load(&heartbeat, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_BOOL);
    PMIx_Info_load(&period, PMIX_MONITOR_HEARTBEAT_TIME, &seconds, PMIX_UINT32);
    handle(none,
           on.event); /* the rows deregister the first handler and the first pull */
    handle(CODE, walk_event);
    handle(chained, on_chained);
    for (int i = 0; i < 2 && of == OF_CLIENT; i++)
        STANDARD_CHECK(PMIx_IOF_pull(&standard_me, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL,
                                     i ? walk_iof : on.iof, NULL, NULL) >= 0);
    STANDARD_CHECK(PMIx_Load_topology(&topo) == PMIX_SUCCESS);
    STANDARD_CHECK(PMIx_Get_cpuset(&cpuset, PMIX_CPUBIND_PROCESS) == PMIX_SUCCESS);
    walk_begin(of == OF_CLIENT ? WALK_CLIENT : WALK_TOOL, &standard_me);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (!(ways[i].of & of))
            continue;
        walk_arm(ways[i].name);
        pmix_status_t rc = ways[i].call();
        if (rc)
            printf("%s: %s\n", ways[i].name, PMIx_Error_string(rc));
        n_wrong += rc ? 1 : walk_await();
        fflush(stdout);
    }
    STANDARD_CHECK(n_wrong == 0);
}

STANDARD_CLIENT(client)
{
    walk_all(OF_CLIENT);
}

PX_TEST(no_call_in_a_callback_of_a_client_waits_and_none_is_lost)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 1", "client");
}

/* ---- gets in callbacks ------------------------------------------------------------------- */

/* Gets of rank 0: of what this process knows, and of what needs the server. */
static const struct {
    pmix_rank_t rank;
    const char *key;
    const char *how; /* a qualifier, or NULL */
    pmix_status_t wanted;
} gets[] = {
    {PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL, PMIX_SUCCESS},
    {PMIX_RANK_WILDCARD, NULL, NULL, PMIX_SUCCESS},
    {PMIX_RANK_WILDCARD, "missing", NULL, PMIX_ERR_NOT_FOUND},
    {0, "known", NULL, PMIX_SUCCESS},
    {0, "missing", NULL, PMIX_ERR_NOT_FOUND},
    {0, NULL, NULL, PMIX_SUCCESS},
    {0, PMIX_PROC_PID, NULL, PMIX_SUCCESS},
    {0, PMIX_LOCAL_RANK, NULL, PMIX_SUCCESS},
    {1, PMIX_LOCAL_RANK, NULL, PMIX_SUCCESS},
    {1, "known", NULL, PMIX_SUCCESS},
    {1, "known", PMIX_GET_POINTER_VALUES, PMIX_SUCCESS},
    {1, "known", PMIX_OPTIONAL, PMIX_SUCCESS},
    {1, "missing", PMIX_OPTIONAL, PMIX_ERR_NOT_FOUND},
    {PMIX_RANK_UNDEF, "of.1", NULL, PMIX_SUCCESS},
    {1, "missing", NULL, PMIX_ERR_WOULD_BLOCK},
    {1, "known", PMIX_GET_REFRESH_CACHE, PMIX_ERR_WOULD_BLOCK},
    {1, PMIX_PROC_PID, NULL, PMIX_ERR_WOULD_BLOCK},
    {1, NULL, NULL, PMIX_ERR_WOULD_BLOCK},
};

static unsigned n_wrong_gets;

static void get_all_rows(pmix_status_t status, void *cbdata)
{
    for (size_t i = 0; i < sizeof(gets) / sizeof(gets[0]); i++) {
        pmix_proc_t proc = standard_me;
        pmix_value_t *value = NULL;
        pmix_info_t how;

        proc.rank = gets[i].rank;
        PMIx_Info_load(&how, gets[i].how ? gets[i].how : "none", NULL, PMIX_BOOL);
        const pmix_status_t rc = PMIx_Get(&proc, gets[i].key, &how, gets[i].how != NULL,
                                          &value);
        if (rc != gets[i].wanted || (rc == PMIX_SUCCESS) != (value != NULL)) {
            printf("row %zu: %s\n", i, PMIx_Error_string(rc));
            n_wrong_gets++;
        }
        if (value &&
            !(gets[i].how && PMIx_Check_key(gets[i].how, PMIX_GET_POINTER_VALUES)))
            PMIx_Value_free(value, 1);
    }
    standard_on_op(status, cbdata);
}

static void resolve_all(pmix_status_t status, void *cbdata)
{
    pmix_proc_t *procs = NULL;
    size_t n = 0;
    char *nodes = NULL;
    pmix_nspace_t nothing = "nothing";

    n_wrong_gets += PMIx_Resolve_peers(NULL, standard_me.nspace, &procs, &n) || n != 2;
    PMIx_Proc_free(procs, n);
    n_wrong_gets += PMIx_Resolve_peers("nowhere", standard_me.nspace, &procs, &n) !=
                    PMIX_ERR_NOT_FOUND;
    n_wrong_gets += PMIx_Resolve_nodes(standard_me.nspace, &nodes) != PMIX_SUCCESS;
    free(nodes);
    n_wrong_gets += PMIx_Resolve_nodes(nothing, &nodes) != PMIX_ERR_WOULD_BLOCK;
    standard_on_op(status, cbdata);
}

STANDARD_CLIENT(getter)
{
    pmix_value_t v = {.type = PMIX_BOOL, .data.flag = true}, *got;
    pmix_proc_t peer = standard_me;

    STANDARD_CHECK(PMIx_Put(PMIX_GLOBAL, "known", &v) == PMIX_SUCCESS);
    STANDARD_CHECK(standard_me.rank == 0 ||
                   PMIx_Put(PMIX_GLOBAL, "of.1", &v) == PMIX_SUCCESS);
    STANDARD_CHECK(PMIx_Commit() == PMIX_SUCCESS);
    STANDARD_CHECK(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS);
    peer.rank = !standard_me.rank;
    STANDARD_CHECK(PMIx_Get(&peer, "known", NULL, 0, &got) == PMIX_SUCCESS);
    PMIx_Value_free(got, 1);
    if (standard_me.rank == 0) {
        STANDARD_CHECK(standard_wait(PMIx_Fence_nb(&standard_me, 1, NULL, 0,
                                                   get_all_rows, NULL)) ==
                       PMIX_SUCCESS);
        STANDARD_CHECK(standard_wait(PMIx_Fence_nb(&standard_me, 1, NULL, 0,
                                                   resolve_all, NULL)) == PMIX_SUCCESS);
    }
    fflush(stdout);
    STANDARD_CHECK(n_wrong_gets == 0);
    STANDARD_CHECK(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS);
}

PX_TEST_LOOP(a_get_in_a_callback_works_with_what_the_process_knows, 2)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run(_i ? "-n 2 --mca gds hash" : "-n 2", "getter");
}

STANDARD_TOOL(tool)
{
    walk_all(OF_TOOL);
}

static void host_tool(pmix_info_t *info PX_UNUSED, size_t n PX_UNUSED,
                      pmix_tool_connection_cbfunc_t cb, void *cbdata)
{
    pmix_proc_t name = {"tool", 0};

    cb(PMIX_SUCCESS, &name, cbdata);
}

PX_TEST(no_call_in_a_callback_of_a_tool_waits_and_none_is_lost)
{
    static pmix_server_module_t module = {.tool_connected = host_tool};
    pmix_info_t tools;

    PMIx_Info_load(&tools, PMIX_SERVER_TOOL_SUPPORT, NULL, PMIX_BOOL);
    ok(PMIx_server_init(&module, &tools, 1));
    ck_assert_int_eq(standard_fork(NULL, "tool"), 0);
    ok(PMIx_server_finalize());
}

STANDARD_MAIN("conformance/callbacks", NULL, NULL)
