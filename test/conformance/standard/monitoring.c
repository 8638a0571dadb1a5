/* SPDX-License-Identifier: BSD-3-Clause */
/* The Standard's section "Process and Job Monitoring". */
#include "standard.h"

#include <string.h>
#include <unistd.h>

/* ---- a host with a function for monitors --------------------------------------------------- */

static struct {
    pmix_info_t directives[8];
    size_t n;
    unsigned n_calls;
} host;

static pmix_status_t host_monitor(const pmix_proc_t *requestor PX_UNUSED,
                                  const pmix_info_t *monitor PX_UNUSED,
                                  pmix_status_t error PX_UNUSED,
                                  const pmix_info_t directives[], size_t n,
                                  pmix_info_cbfunc_t cb PX_UNUSED,
                                  void *cbdata PX_UNUSED)
{
    host.n_calls++;
    ck_assert_uint_le(n, 8);
    for (host.n = 0; host.n < n; host.n++)
        ok(PMIx_Info_xfer(&host.directives[host.n], &directives[host.n]));
    return PMIX_OPERATION_SUCCEEDED;
}

static void start_with(const pmix_info_t *info, size_t n)
{
    static pmix_server_module_t module = {.monitor = host_monitor};

    ok(PMIx_server_init(&module, (pmix_info_t *)(size_t)info, n));
}

static void start(void)
{
    start_with(NULL, 0);
}

static void stop(void)
{
    if (PMIx_Initialized())
        (void)PMIx_server_finalize();
}

static pmix_status_t monitor(const char *key, pmix_info_t *how, size_t n,
                             pmix_info_t **results, size_t *n_results)
{
    pmix_info_t what;
    pmix_status_t rc;

    PMIx_Info_load(&what, key, NULL, PMIX_BOOL);
    rc = PMIx_Process_monitor(&what, PMIX_SUCCESS, how, n, results, n_results);
    PMIx_Info_destruct(&what);
    return rc;
}

static void name_node(pmix_info_t *how, const char *name)
{
    char *const names[] = {(char *)(size_t)name};
    const pmix_data_array_t nodes = {PMIX_STRING, 1, (void *)(size_t)names};

    PMIx_Info_load(how, PMIX_MONITOR_TARGET_NODES, &nodes, PMIX_DATA_ARRAY);
}

PX_TEST(supported_attributes_must_not_be_passed_unless_other_nodes_are_involved)
{
    static const char *const served[] = {
        PMIX_MONITOR_PROC_RESOURCE_USAGE, PMIX_MONITOR_NODE_RESOURCE_USAGE,
        PMIX_MONITOR_DISK_RESOURCE_USAGE, PMIX_MONITOR_NET_RESOURCE_USAGE};
    pmix_info_t *results = NULL, how;
    uint32_t period = 1000;
    size_t n = 0;

    start();
    PMIx_Info_load(&how, PMIX_MONITOR_HEARTBEAT_TIME, &period, PMIX_UINT32);
    ok(monitor(PMIX_MONITOR_HEARTBEAT, &how, 1, &results, &n));
    for (size_t i = 0; i < 4; i++) {
        ok(monitor(served[i], NULL, 0, &results, &n));
        if (results)
            PMIX_INFO_FREE(results, n);
    }
    ck_assert_uint_eq(host.n_calls, 0);
    name_node(&how, "another");
    ok(monitor(PMIX_MONITOR_NODE_RESOURCE_USAGE, &how, 1, &results, &n));
    ck_assert_uint_eq(host.n_calls, 1);
}

PX_TEST(the_host_alone_monitors_unless_the_server_is_enabled_to)
{
    static const bool no = false;
    pmix_info_t off, *results = NULL;
    size_t n = 0;

    PMIx_Info_load(&off, PMIX_SERVER_ENABLE_MONITORING, &no, PMIX_BOOL);
    PMIx_Info_required(&off);
    start_with(&off, 1);
    ok(monitor(PMIX_MONITOR_NODE_RESOURCE_USAGE, NULL, 0, &results, &n));
    ck_assert_uint_eq(host.n_calls, 1);
    ok(PMIx_server_finalize());
    ok(PMIx_server_init(NULL, &off, 1));
    fails(monitor(PMIX_MONITOR_NODE_RESOURCE_USAGE, NULL, 0, &results, &n),
          NOT_SUPPORTED);
}

static void on_results(pmix_status_t status, pmix_info_t *info PX_UNUSED,
                       size_t n PX_UNUSED, void *cbdata, pmix_release_cbfunc_t release,
                       void *release_cbdata)
{
    if (release)
        release(release_cbdata);
    standard_on_op(status, cbdata);
}

PX_TEST_LOOP(the_user_and_the_group_are_required_in_what_the_host_gets, 2)
{
    pmix_info_t *results = NULL, what, own;
    size_t n = 0;

    start();
    PMIx_Info_load(&what, "example.own", NULL, PMIX_BOOL);
    PMIx_Info_load(&own, "example.more", NULL, PMIX_BOOL);
    ok(_i == 0 ? monitor("example.own", &own, 1, &results, &n)
               : standard_wait(PMIx_Process_monitor_nb(&what, PMIX_SUCCESS, &own, 1,
                                                       on_results, NULL)));
    ck_assert(standard_find(host.directives, host.n, "example.more"));
    const pmix_info_t *uid = standard_find(host.directives, host.n, PMIX_USERID);
    const pmix_info_t *gid = standard_find(host.directives, host.n, PMIX_GRPID);
    ck_assert(uid && uid->value.data.uint32 == geteuid());
    ck_assert(gid && gid->value.data.uint32 == getegid());
}

/* ---- clients of the library ---------------------------------------------------------------- */

STANDARD_CLIENT(denied)
{
    pmix_info_t *results = NULL;
    size_t n = 0;

    STANDARD_CHECK(monitor(PMIX_MONITOR_HEARTBEAT, NULL, 0, &results, &n) ==
                   PMIX_ERR_BAD_PARAM);
    const pmix_info_t *why = standard_find(results, n, PMIX_EVENT_TEXT_MESSAGE);
    STANDARD_CHECK(why && strstr(why->value.data.string, PMIX_MONITOR_HEARTBEAT_TIME));
    PMIX_INFO_FREE(results, n);
}

PX_TEST(the_reason_of_a_denial_shall_be_returned)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 1", "denied");
}

/* Checks that a result has these keys. The last one is NULL. */
static void check_keys(const pmix_info_t *result, const char *const *keys)
{
    STANDARD_CHECK(result->value.type == PMIX_DATA_ARRAY);
    for (; *keys; keys++)
        STANDARD_CHECK(standard_find(result->value.data.darray->array,
                                     result->value.data.darray->size, *keys));
}

STANDARD_CLIENT(everything)
{
    static const struct {
        const char *what, *result, *keys[16];
    } rows[] = {
        {PMIX_MONITOR_PROC_RESOURCE_USAGE,
         PMIX_PROC_RESOURCE_USAGE,
         {PMIX_HOSTNAME, PMIX_PROC_PID, PMIX_PROC_OS_STATE, PMIX_PROC_TIME,
          PMIX_PROC_PERCENT_CPU, PMIX_PROC_PRIORITY, PMIX_PROC_NUM_THREADS,
          PMIX_PROC_PSS, PMIX_PROC_VSIZE, PMIX_PROC_RSS, PMIX_PROC_PEAK_VSIZE,
          PMIX_PROC_CPU, PMIX_PROC_SAMPLE_TIME}},
        {PMIX_MONITOR_NODE_RESOURCE_USAGE,
         PMIX_NODE_RESOURCE_USAGE,
         {PMIX_HOSTNAME, PMIX_NODE_LOAD_AVG, PMIX_NODE_LOAD_AVG5, PMIX_NODE_LOAD_AVG15,
          PMIX_NODE_MEM_TOTAL, PMIX_NODE_MEM_FREE, PMIX_NODE_MEM_BUFFERS,
          PMIX_NODE_MEM_CACHED, PMIX_NODE_MEM_SWAP_CACHED, PMIX_NODE_SWAP_TOTAL,
          PMIX_NODE_MEM_SWAP_FREE, PMIX_NODE_MEM_MAPPED, PMIX_NODE_SAMPLE_TIME}},
        {PMIX_MONITOR_NET_RESOURCE_USAGE,
         PMIX_NETWORK_RESOURCE_USAGE,
         {PMIX_NETWORK_ID, PMIX_NET_RECVD_BYTES, PMIX_NET_RECVD_PCKTS,
          PMIX_NET_RECVD_ERRS, PMIX_NET_SENT_BYTES, PMIX_NET_SENT_PCKTS,
          PMIX_NET_SENT_ERRS, PMIX_NET_SAMPLE_TIME}},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pmix_info_t *results = NULL;
        size_t n = 0;

        STANDARD_CHECK(monitor(rows[i].what, NULL, 0, &results, &n) == PMIX_SUCCESS);
        STANDARD_CHECK(n > 0 && PMIX_CHECK_KEY(&results[0], rows[i].result));
        check_keys(&results[0], rows[i].keys);
        PMIX_INFO_FREE(results, n);
    }
}

PX_TEST(all_resources_shall_be_monitored_if_no_array_is_provided)
{
    STANDARD_NEEDS_PMIXRUN;
    PX_TEST_NEEDS_PROC;
    standard_run("-n 1", "everything");
}

STANDARD_CLIENT(first)
{
    pmix_info_t *results = NULL;
    size_t n = 0;

    STANDARD_CHECK(monitor(PMIX_MONITOR_PROC_RESOURCE_USAGE, NULL, 0, &results, &n) ==
                   PMIX_SUCCESS);
    for (size_t i = 0; i < n; i++) {
        const pmix_data_array_t *array = results[i].value.data.darray;

        STANDARD_CHECK(PMIX_CHECK_KEY(&((pmix_info_t *)array->array)[0], PMIX_PROCID));
    }
    STANDARD_CHECK(n > 0);
    PMIX_INFO_FREE(results, n);
}

PX_TEST(the_first_element_contains_the_process)
{
    STANDARD_NEEDS_PMIXRUN;
    PX_TEST_NEEDS_PROC;
    standard_run("-n 2", "first");
}

STANDARD_MAIN("standard/monitoring", NULL, stop)
