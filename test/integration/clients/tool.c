/* SPDX-License-Identifier: BSD-3-Clause */
/* tool WAY [VALUE]: connects to a server in one of the ways there are, asks, hears, leaves. Prints
 * what it was told, a line each. Ways: uri, file, pid, nspace, system, first (the system's server if
 * there is one), sched, ctrlr, order (a list), any, none, optional. Compiles with the headers of
 * release 4.2.2. TOOL_ATTACHES: the same, but it first goes without a server, then attaches to one,
 * and leaves it before it ends. */
#include "client.h"

#include <pmix_tool.h>

static atomic_int heard;

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source,
                     pmix_info_t info[], size_t ninfo, pmix_info_t results[],
                     size_t nresults, pmix_event_notification_cbfunc_fn_t cb,
                     void *cbdata)
{
    (void)id;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    printf("EVENT %d %s\n", code, source ? source->nspace : "");
    if (cb)
        cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    heard = 1;
}

static size_t way(int argc, char **argv, pmix_info_t *info)
{
    const char *value = argc > 2 ? argv[2] : "";
    bool yes = true;
    pid_t pid = (pid_t)atoi(value);

    if (strcmp(argv[1], "uri") == 0)
        PMIX_INFO_LOAD(info, PMIX_SERVER_URI, value, PMIX_STRING);
    else if (strcmp(argv[1], "file") == 0)
        PMIX_INFO_LOAD(info, PMIX_TOOL_ATTACHMENT_FILE, value, PMIX_STRING);
    else if (strcmp(argv[1], "pid") == 0)
        PMIX_INFO_LOAD(info, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    else if (strcmp(argv[1], "nspace") == 0)
        PMIX_INFO_LOAD(info, PMIX_SERVER_NSPACE, value, PMIX_STRING);
    else if (strcmp(argv[1], "system") == 0)
        PMIX_INFO_LOAD(info, PMIX_CONNECT_TO_SYSTEM, &yes, PMIX_BOOL);
    else if (strcmp(argv[1], "first") == 0)
        PMIX_INFO_LOAD(info, PMIX_CONNECT_SYSTEM_FIRST, &yes, PMIX_BOOL);
    else if (strcmp(argv[1], "sched") == 0)
        PMIX_INFO_LOAD(info, "pmix.cnct.sched", &yes, PMIX_BOOL);
    else if (strcmp(argv[1], "ctrlr") == 0)
        PMIX_INFO_LOAD(info, "pmix.cnct.ctrlr", &yes, PMIX_BOOL);
    else if (strcmp(argv[1], "order") == 0)
        PMIX_INFO_LOAD(info, "pmix.cnct.ord", value, PMIX_STRING);
    else if (strcmp(argv[1], "none") == 0)
        PMIX_INFO_LOAD(info, PMIX_TOOL_DO_NOT_CONNECT, &yes, PMIX_BOOL);
    else if (strcmp(argv[1], "optional") == 0)
        PMIX_INFO_LOAD(info, PMIX_TOOL_CONNECT_OPTIONAL, &yes, PMIX_BOOL);
    else
        return 0;
    return 1;
}

static void ask(void)
{
    pmix_info_t *results = NULL;
    pmix_query_t *q;
    pmix_status_t rc;
    size_t n = 0;

    PMIX_QUERY_CREATE(q, 1);
    PMIX_ARGV_APPEND(rc, q->keys, PMIX_QUERY_NAMESPACES);
    GOOD(rc);
    rc = PMIx_Query_info(q, 1, &results, &n);
    printf("QUERY %s %s\n", PMIx_Error_string(rc),
           n && results[0].value.type == PMIX_STRING ? results[0].value.data.string
                                                     : "");
    PMIX_QUERY_FREE(q, 1);
    if (results)
        PMIX_INFO_FREE(results, n);
}

static void act(void)
{
    pmix_info_t stop = info_bool(PMIX_JOB_CTRL_PAUSE), *results = NULL;
    char nspace[PMIX_MAX_NSLEN + 1] = "";
    pmix_app_t *app;
    pmix_status_t rc;
    size_t n = 0;

    rc = PMIx_Job_control(NULL, 0, &stop, 1, &results, &n);
    printf("CONTROL %s\n", PMIx_Error_string(rc));
    PMIX_APP_CREATE(app, 1);
    app->cmd = strdup("program");
    PMIX_ARGV_APPEND(rc, app->argv, "program");
    app->maxprocs = 1;
    rc = PMIx_Spawn(NULL, 0, app, 1, nspace);
    printf("SPAWN %s %s\n", PMIx_Error_string(rc), nspace);
    PMIX_APP_FREE(app, 1);
    rc = PMIx_Notify_event(PMIX_ERR_NODE_DOWN, &me, PMIX_RANGE_GLOBAL, NULL, 0, NULL,
                           NULL);
    printf("NOTIFY %s\n", PMIx_Error_string(rc));
}

/* Its server says "event" when told to by whoever runs both; TOOL_WAITS names the code. */
static void hear(void)
{
    pmix_status_t code = atoi(getenv("TOOL_WAITS"));

    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) >= 0);
    printf("LISTENING\n");
    CHECK(wait_for(&heard, 20));
}

static void servers(void)
{
    pmix_proc_t *list = NULL;
    size_t n = 0;
    pmix_status_t rc = PMIx_tool_get_servers(&list, &n);

    printf("SERVERS %s %zu %s\n", PMIx_Error_string(rc), n, n ? list[0].nspace : "");
    if (list)
        PMIX_PROC_FREE(list, n);
}

/* TOOL_SECOND: the address of another server, which becomes the primary one; then back again. */
static void second(void)
{
    pmix_proc_t *list = NULL, other, first;
    pmix_info_t info[2];
    bool yes = true;
    size_t n = 0;

    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_URI, getenv("TOOL_SECOND"), PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_PRIMARY_SERVER, &yes, PMIX_BOOL);
    GOOD(PMIx_tool_attach_to_server(NULL, &other, info, 2));
    printf("SECOND %s\n", other.nspace);
    PMIX_INFO_DESTRUCT(&info[0]);
    ask();
    GOOD(PMIx_tool_get_servers(&list, &n));
    CHECK(n == 2);
    CHECK(strcmp(list[0].nspace, other.nspace) == 0);
    first = list[1];
    PMIX_PROC_FREE(list, n);
    GOOD(PMIx_tool_set_server(&first, NULL, 0));
    ask();
    GOOD(PMIx_tool_disconnect(&other));
    servers();
}

static bool has_server(void)
{
    pmix_proc_t *list = NULL;
    size_t n = 0;
    pmix_status_t rc = PMIx_tool_get_servers(&list, &n);

    if (list)
        PMIX_PROC_FREE(list, n);
    return !rc && n > 0;
}

/* As PMIx_tool_init would have done by itself. */
static pmix_status_t attach(pmix_info_t *info, size_t n, pmix_proc_t *server)
{
    pmix_info_t alone = info_bool(PMIX_TOOL_DO_NOT_CONNECT);

    GOOD(PMIx_tool_init(&me, &alone, 1));
    CHECK(!has_server());
    return PMIx_tool_attach_to_server(&me, server, info, n);
}

static void leave(const pmix_proc_t *server)
{
    GOOD(PMIx_tool_disconnect(server));
    CHECK(!has_server());
}

int main(int argc, char **argv)
{
    bool attaches = getenv("TOOL_ATTACHES") != NULL;
    pmix_proc_t server;
    pmix_info_t info[1];
    pmix_status_t rc;
    size_t n;

    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(ALARM_S);
    CHECK(argc > 1);
    n = way(argc, argv, info);
    rc = attaches ? attach(info, n, &server) : PMIx_tool_init(&me, info, n);
    printf("INIT %s %s %u\n", PMIx_Error_string(rc), rc ? "" : me.nspace,
           rc ? 0 : me.rank);
    if (n)
        PMIX_INFO_DESTRUCT(&info[0]);
    if (rc)
        return 1;
    servers();
    ask();
    if (getenv("TOOL_ACTS"))
        act();
    if (getenv("TOOL_SECOND"))
        second();
    if (getenv("TOOL_WAITS"))
        hear();
    if (attaches)
        leave(&server);
    GOOD(PMIx_tool_finalize());
    printf("OK tool\n");
    return 0;
}
