/* SPDX-License-Identifier: BSD-3-Clause */
/* Required directives: each public function with directives ignores an unknown optional directive, and
 * refuses an unknown required directive with a line that names the directive. */
#include "px_test.h"
#include "rows.h"

#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PX_UNUSED __attribute__((unused))

#undef PMIx_server_init

#define UNKNOWN_KEY "example.unknown"

static pmix_proc_t me;
static pmix_info_t in[2]; /* unknown directive; directive for job control */
static pmix_topology_t topo;
static pmix_cpuset_t cpuset;
static sem_t answered;
static pmix_status_t answer;

/* ---- answers that come by callback ----------------------------------------------------------- */

static void on_op(pmix_status_t status, void *cbdata PX_UNUSED)
{
    answer = status;
    sem_post(&answered);
}

static void on_info(pmix_status_t status, pmix_info_t *info PX_UNUSED,
                    size_t n PX_UNUSED, void *cbdata, pmix_release_cbfunc_t release,
                    void *release_data)
{
    on_op(status, cbdata);
    if (release)
        release(release_data);
}

static void on_setup(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                     pmix_op_cbfunc_t release, void *release_data)
{
    on_info(status, info, n, arg, NULL, NULL);
    if (release)
        release(PMIX_SUCCESS, release_data);
}

static void on_value(pmix_status_t status, pmix_value_t *value PX_UNUSED, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_pdata(pmix_status_t status, pmix_pdata_t *data PX_UNUSED,
                     size_t n PX_UNUSED, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_name(pmix_status_t status, char *nspace PX_UNUSED, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_joint(pmix_status_t status, char *nspace PX_UNUSED, int rank PX_UNUSED,
                     void *cbdata)
{
    on_op(status, cbdata);
}

static void on_id(pmix_status_t status, size_t id PX_UNUSED, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_distances(pmix_status_t status, pmix_device_distance_t *dist PX_UNUSED,
                         size_t n PX_UNUSED, void *cbdata,
                         pmix_release_cbfunc_t release, void *release_data)
{
    on_op(status, cbdata);
    if (release)
        release(release_data);
}

static void on_event(size_t id PX_UNUSED, pmix_status_t status PX_UNUSED,
                     const pmix_proc_t *source PX_UNUSED, pmix_info_t *info PX_UNUSED,
                     size_t n_info PX_UNUSED, pmix_info_t *results PX_UNUSED,
                     size_t n PX_UNUSED, pmix_event_notification_cbfunc_fn_t done,
                     void *cbdata)
{
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void on_output(size_t id PX_UNUSED, pmix_iof_channel_t channel PX_UNUSED,
                      pmix_proc_t *source PX_UNUSED,
                      pmix_byte_object_t *bytes PX_UNUSED, pmix_info_t *info PX_UNUSED,
                      size_t n PX_UNUSED)
{
}

/* Returns the status of a call that did not start, or the status of its callback. */
static pmix_status_t wait_for(pmix_status_t rc)
{
    if (rc)
        return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
    sem_wait(&answered);
    return answer;
}

/* ---- the table --------------------------------------------------------------------------------- */

static pmix_value_t *value;
static pmix_pdata_t pdata;
static pmix_app_t app;
static pmix_fabric_t fabric;
static pmix_info_t logged;
static pmix_device_distance_t *distances;
static pmix_info_t *results;
static pmix_regex2_t regex;
static pmix_byte_object_t bytes = {.bytes = (char *)"x", .size = 1};
static pmix_nspace_t made, job = "job";
static pmix_rank_t rank;
static size_t n;
static char *text, *keys[] = {(char *)"key", NULL};

static pmix_status_t spawn(size_t n_job, size_t n_app)
{
    app.info = n_app ? in : NULL;
    app.ninfo = n_app;
    return PMIx_Spawn(in, n_job, &app, 1, made);
}

/* Leaves a group that it makes first. */
static pmix_status_t leave(bool nb)
{
    if (!made[0])
        (void)PMIx_Connect_nspace(&me, 1, NULL, 0, made, &rank);
    pmix_status_t rc = nb ? wait_for(
                                PMIx_Disconnect_nspace_nb(made, in, 1, on_op, NULL))
                          : PMIx_Disconnect_nspace(made, in, 1);
    if (!rc)
        made[0] = '\0';
    return rc;
}

/* Destructs or leaves a group that it makes first. */
static pmix_status_t end_group(bool leaves, bool nb)
{
    (void)PMIx_Group_construct("g", &me, 1, NULL, 0, NULL, NULL);
    if (leaves)
        return nb ? wait_for(PMIx_Group_leave_nb("g", in, 1, on_op, NULL))
                  : PMIx_Group_leave("g", in, 1);
    return nb ? wait_for(PMIx_Group_destruct_nb("g", in, 1, on_op, NULL))
              : PMIx_Group_destruct("g", in, 1);
}

/* clang-format off */
#define CLIENT_ROWS(X) \
    X(PMIx_Get, PMIx_Get(&me, "key", in, 1, &value)) \
    X(PMIx_Get_nb, wait_for(PMIx_Get_nb(&me, "key", in, 1, on_value, NULL))) \
    X(PMIx_Fence, PMIx_Fence(&me, 1, in, 1)) \
    X(PMIx_Fence_nb, wait_for(PMIx_Fence_nb(&me, 1, in, 1, on_op, NULL))) \
    X(PMIx_Lookup, PMIx_Lookup(&pdata, 1, in, 1)) \
    X(PMIx_Lookup_nb, wait_for(PMIx_Lookup_nb(keys, in, 1, on_pdata, NULL))) \
    X(PMIx_Unpublish, PMIx_Unpublish(keys, in, 1)) \
    X(PMIx_Unpublish_nb, wait_for(PMIx_Unpublish_nb(keys, in, 1, on_op, NULL))) \
    X(PMIx_Spawn, spawn(1, 0)) \
    X(PMIx_Spawn_of_app, spawn(0, 1)) \
    X(PMIx_Spawn_nb, wait_for(PMIx_Spawn_nb(in, 1, &app, 1, on_name, NULL))) \
    X(PMIx_Connect, PMIx_Connect(&me, 1, in, 1)) \
    X(PMIx_Connect_nb, wait_for(PMIx_Connect_nb(&me, 1, in, 1, on_op, NULL))) \
    X(PMIx_Disconnect, PMIx_Disconnect(&me, 1, in, 1)) \
    X(PMIx_Disconnect_nb, wait_for(PMIx_Disconnect_nb(&me, 1, in, 1, on_op, NULL))) \
    X(PMIx_Connect_nspace, PMIx_Connect_nspace(&me, 1, in, 1, made, &rank)) \
    X(PMIx_Connect_nspace_nb, wait_for(PMIx_Connect_nspace_nb(&me, 1, in, 1, on_joint, NULL))) \
    X(PMIx_Disconnect_nspace, leave(false)) \
    X(PMIx_Disconnect_nspace_nb, leave(true)) \
    X(PMIx_Group_construct, PMIx_Group_construct("h", &me, 1, in, 1, &results, &n)) \
    X(PMIx_Group_construct_nb, wait_for(PMIx_Group_construct_nb("h", &me, 1, in, 1, on_info, NULL))) \
    X(PMIx_Group_destruct, end_group(false, false)) \
    X(PMIx_Group_destruct_nb, end_group(false, true)) \
    X(PMIx_Group_leave, end_group(true, false)) \
    X(PMIx_Group_leave_nb, end_group(true, true)) \
    X(PMIx_Register_event_handler, wait_for(PMIx_Register_event_handler(NULL, 0, in, 1, on_event, on_id, NULL))) \
    X(PMIx_Job_control, PMIx_Job_control(&me, 1, in, 2, &results, &n)) \
    X(PMIx_Job_control_nb, wait_for(PMIx_Job_control_nb(&me, 1, in, 2, on_info, NULL))) \
    X(PMIx_Log, PMIx_Log(&logged, 1, in, 1)) \
    X(PMIx_Log_nb, wait_for(PMIx_Log_nb(&logged, 1, in, 1, on_op, NULL))) \
    X(PMIx_IOF_pull, wait_for(PMIx_IOF_pull(&me, 1, in, 1, PMIX_FWD_STDOUT_CHANNEL, on_output, on_id, NULL))) \
    X(PMIx_IOF_deregister, wait_for(PMIx_IOF_deregister(0, in, 1, on_op, NULL))) \
    X(PMIx_IOF_push, wait_for(PMIx_IOF_push(&me, 1, &bytes, in, 1, on_op, NULL))) \
    X(PMIx_Fabric_register, PMIx_Fabric_register(&fabric, in, 1)) \
    X(PMIx_Fabric_register_nb, wait_for(PMIx_Fabric_register_nb(&fabric, in, 1, on_op, NULL))) \
    X(PMIx_Compute_distances, PMIx_Compute_distances(&topo, &cpuset, in, 1, &distances, &n)) \
    X(PMIx_Compute_distances_nb, wait_for(PMIx_Compute_distances_nb(&topo, &cpuset, in, 1, on_distances, NULL))) \
    X(PMIx_Init, PMIx_Init(&me, in, 1)) \
    X(PMIx_Finalize, PMIx_Finalize(in, 1)) \
    X(PMIx_tool_init, PMIx_tool_init(&me, in, 1))

#define SERVER_ROWS(X) \
    X(PMIx_server_init, PMIx_server_init(NULL, in, 1)) \
    X(PMIx_server_setup_application, wait_for(PMIx_server_setup_application(job, in, 1, on_setup, NULL))) \
    X(PMIx_server_setup_local_support, wait_for(PMIx_server_setup_local_support(job, in, 1, on_op, NULL))) \
    X(PMIx_server_IOF_deliver, wait_for(PMIx_server_IOF_deliver(&me, PMIX_FWD_STDOUT_CHANNEL, &bytes, in, 1, on_op, NULL))) \
    X(PMIx_server_IOF_flow_control, wait_for(PMIx_server_IOF_flow_control(&me, PMIX_FWD_STDIN_CHANNEL, false, in, 1, on_op, NULL))) \
    X(PMIx_server_collect_inventory, wait_for(PMIx_server_collect_inventory(in, 1, on_info, NULL))) \
    X(PMIx_server_deliver_inventory, wait_for(PMIx_server_deliver_inventory(results, 1, in, 1, on_op, NULL))) \
    X(PMIx_Forward_envars, PMIx_Forward_envars("job", "A", in, 1)) \
    X(PMIx_generate_regex2, PMIx_generate_regex2("a,b", in, 1, &regex)) \
    X(PMIx_parse_regex2, PMIx_parse_regex2(&regex, in, 1, &text))

#define TOOL_ROWS(X)                                                            \
    X(PMIx_tool_attach_to_server, PMIx_tool_attach_to_server(NULL, NULL, in, 1)) \
    X(PMIx_tool_connect_to_server, PMIx_tool_connect_to_server(NULL, in, 1))     \
    X(PMIx_tool_set_server, PMIx_tool_set_server(&me, in, 1))

/* Functions without a row. Their infos are data for a receiver (the infos of an event and the qualifiers
 * of a query go to handlers and to the host unchanged), or the host decides. */
static const char *const others[] = {
    "PMIx_Publish",
    "PMIx_Publish_nb",
    "PMIx_Notify_event",
    "PMIx_server_register_nspace",
    "PMIx_server_register_resources",
    "PMIx_server_deregister_resources",
    "PMIx_Progress_thread_stop", /* has no result */
    "PMIx_Allocation_request",
    "PMIx_Allocation_request_nb",
    "PMIx_Process_monitor",
    "PMIx_Process_monitor_nb",
    "PMIx_Resource_block",
    "PMIx_Resource_block_nb",
    "PMIx_Session_control",
    "PMIx_Get_credential",
    "PMIx_Get_credential_nb",
    "PMIx_Validate_credential",
    "PMIx_Validate_credential_nb",
    "PMIx_Group_invite",
    "PMIx_Group_invite_nb",
    "PMIx_Group_join",
    "PMIx_Group_join_nb",
};

#define DEFINE(name, expression)              \
    static pmix_status_t call_##name(void)    \
    {                                         \
        return expression;                    \
    }
CLIENT_ROWS(DEFINE)
SERVER_ROWS(DEFINE)
TOOL_ROWS(DEFINE)

struct row {
    const char *function;
    pmix_status_t (*call)(void);
};
#define ROW(name, expression) {#name, call_##name},
static const struct row rows[] = {CLIENT_ROWS(ROW) SERVER_ROWS(ROW) TOOL_ROWS(ROW)};
#define ONE(name, expression) +1
enum {
    N_CLIENT = 0 CLIENT_ROWS(ONE),
    N_SERVER = 0 SERVER_ROWS(ONE),
    N_TOOL = 0 TOOL_ROWS(ONE),
};

/* True if a function is served in these processes. */
static bool is_served(const char *function)
{
    static const char *const not[] = {"PMIx_IOF_push", "PMIx_Fabric_register",
                                      "PMIx_Fabric_register_nb"};

    for (size_t i = 0; i < sizeof(not) / sizeof(*not); i++)
        if (strcmp(function, not[i]) == 0)
            return false;
    return true;
}

static pmix_status_t call(const struct row *row)
{
    pmix_status_t rc = row->call();

    if (results)
        PMIx_Info_free(results, n);
    results = NULL;
    n = 0;
    return rc;
}

/* ---- the walk ---------------------------------------------------------------------------------- */

/* Calls each row twice, and returns the number of wrong results. */
static int walk(const struct row *row, size_t n_rows)
{
    int n_wrong = 0;

    for (; n_rows-- > 0; row++) {
        PMIx_Info_load(in, UNKNOWN_KEY, NULL, PMIX_BOOL);
        PMIx_Info_required(in);
        pmix_status_t with = call(row);
        PMIx_Info_optional(in);
        pmix_status_t without = call(row);
        if ((without == PMIX_ERR_NOT_SUPPORTED) != is_served(row->function) &&
            with == PMIX_ERR_NOT_SUPPORTED)
            continue;
        fprintf(stderr, "%s answers %d, and %d if it is required\n", row->function, without,
                with);
        n_wrong++;
    }
    return n_wrong;
}

static int as_client(void)
{
    if (PMIx_Init(&me, NULL, 0))
        return 2;
    int n_wrong = walk(rows, N_CLIENT);
    (void)PMIx_tool_finalize(); /* the row of PMIx_tool_init began a role, too */
    (void)PMIx_Finalize(NULL, 0);
    return n_wrong > 0;
}

static int as_server(void)
{
    if (PMIx_server_init(NULL, NULL, 0))
        return 2;
    PMIx_Load_procid(&me, "job", 0);
    int n_wrong = walk(rows + N_CLIENT, N_SERVER);
    while (PMIx_Initialized() && PMIx_server_finalize() == PMIX_SUCCESS)
        ;
    return n_wrong > 0;
}

static int as_tool(void)
{
    pmix_info_t alone;

    PMIx_Info_load(&alone, PMIX_TOOL_DO_NOT_CONNECT, NULL, PMIX_BOOL);
    if (PMIx_tool_init(&me, &alone, 1))
        return 2;
    int n_wrong = walk(rows + N_CLIENT + N_SERVER, N_TOOL);
    (void)PMIx_tool_finalize();
    return n_wrong > 0;
}

/* A role, for which this program runs itself, and the number of lines that name the attribute. */
static const struct role {
    const char *name;
    int (*run)(void);
    bool launched;
    unsigned n_lines;
} roles[] = {
    {"client", as_client, true, N_CLIENT},
    {"server", as_server, false, N_SERVER},
    {"tool", as_tool, false, N_TOOL},
};

PX_TEST_LOOP(a_required_directive_that_is_not_known_is_refused_by_name, 3)
{
    const char *pmixrun = getenv("PX_TEST_PMIXRUN");
    char command[8192], line[4096], self[4096];
    unsigned n_lines = 0;

    PX_TEST_NEEDS(pmixrun, "PX_TEST_PMIXRUN");
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    PX_TEST_NEEDS(len > 0, "/proc");
    self[len] = '\0';
    snprintf(command, sizeof(command), "%s%s '%s' %s 2>&1", roles[_i].launched ? pmixrun : "",
             roles[_i].launched ? " -n 1" : "", self, roles[_i].name);
    FILE *f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof(line), f)) {
        n_lines += strstr(line, "attribute " UNKNOWN_KEY) != NULL;
        printf("%s", line);
    }
    fflush(stdout);
    ck_assert_int_eq(pclose(f), 0);
    ck_assert_uint_ge(n_lines, roles[_i].n_lines);
}

static void set_up(void)
{
    static char *argv[] = {(char *)"true", NULL};

    sem_init(&answered, 0, 0);
    PMIx_Load_key(pdata.key, "key");
    app = (pmix_app_t){.cmd = argv[0], .argv = argv, .maxprocs = 1};
    PMIx_Info_load(&logged, PMIX_LOG_STDERR, "text", PMIX_STRING);
    PMIx_Info_load(in + 1, PMIX_JOB_CTRL_SIGNAL, &(int){SIGCONT}, PMIX_INT);
}

/* ---- functions without a row -------------------------------------------------------------------- */

static bool has_row(const char *function)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (strcmp(rows[i].function, function) == 0)
            return true;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (strcmp(others[i], function) == 0)
            return true;
    return false;
}

/* Returns the number of functions with directives in a header. Each of them must have a row. */
static unsigned check_header(const char *path)
{
    static char all[1 << 18];
    FILE *f = fopen(path, "r");
    unsigned n_found = 0;

    ck_assert_ptr_nonnull(f);
    all[fread(all, 1, sizeof(all) - 1, f)] = '\0';
    fclose(f);
    for (char *at = all, *end; (at = strstr(at, "\npmix_status_t PMIx_")) != NULL; at = end) {
        at += strlen("\npmix_status_t ");
        end = strstr(at, ");");
        ck_assert_ptr_nonnull(end);
        *end++ = '\0';
        bool takes = strstr(at, "pmix_info_t") &&
                     (strstr(at, "ninfo") || strstr(at, "ndirs"));
        at[strcspn(at, "(")] = '\0';
        n_found += takes;
        ck_assert_msg(!takes || has_row(at), "no row for %s", at);
    }
    return n_found;
}

PX_TEST(every_function_with_directives_has_a_row)
{
    static const char *const headers[] = {"pmix.h",        "pmix_connect.h",  "pmix_groups.h",
                                          "pmix_server.h", "pmix_resources.h", "pmix_topology.h",
                                          "pmix_tool.h",   "pmix_envars.h"};
    unsigned n_found = 0;

    for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
        char path[4096];

        snprintf(path, sizeof(path), "%s/%s", PX_TEST_INCLUDE, headers[i]);
        n_found += check_header(path);
    }
    ck_assert_uint_gt(n_found, 60);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(roles) / sizeof(*roles); i++) {
        if (strcmp(argv[1], roles[i].name) == 0) {
            set_up();
            return roles[i].run();
        }
    }
    return px_test_run("conformance/required", set_up, NULL);
}
