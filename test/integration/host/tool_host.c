/* SPDX-License-Identifier: BSD-3-Clause */
/* tool_host NSPACE [ATTRIBUTE...]: a server for tools, which compiles with any release's headers.
 * ATTRIBUTE: see the table, or "refuse" (the host refuses every tool). Prints "ready", then obeys its
 * standard input, one word a line. "event" notifies PMIX_EVENT_JOB_END; "deliver" delivers the file
 * TOOL_HOST_OUTPUT as stderr of job.0; "die" exits without clean-up; the end of file ends the server
 * properly. Pushed input goes to the file TOOL_HOST_INPUT. */
#include <pmix.h>
#include <pmix_server.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *key;
    bool value;
} attributes[] = {
    {"tool", PMIX_SERVER_TOOL_SUPPORT, true},
    {"system", PMIX_SERVER_SYSTEM_SUPPORT, true},
    {"session", PMIX_SERVER_SESSION_SUPPORT, true},
    {"sched", "pmix.srv.sched", true},
    {"ctrlr", "pmix.srv.ctrlr", true},
    {"foreign", "pmix.srvr.ftools", true},
    {"domestic", "pmix.srvr.ftools", false},
    {"remote", PMIX_SERVER_REMOTE_CONNECTIONS, true},
};

static pmix_status_t refusal = PMIX_SUCCESS;
static int n_tools;

static void report(const char *what, const char *name, long n)
{
    printf("%s %s %ld\n", what, name, n);
    fflush(stdout);
}

static const pmix_value_t *find(const pmix_info_t *info, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (PMIX_CHECK_KEY(&info[i], key))
            return &info[i].value;
    return NULL;
}

/* Accepts or refuses a tool; names a tool without a name. */
static void tool_connected(pmix_info_t *info, size_t n,
                           pmix_tool_connection_cbfunc_t cb, void *cbdata)
{
    const pmix_value_t *nspace = find(info, n, PMIX_NSPACE);
    const pmix_value_t *rank = find(info, n, PMIX_RANK);
    const pmix_value_t *uid = find(info, n, PMIX_USERID);
    pmix_proc_t proc = {.rank = nspace && rank ? rank->data.rank : 0};

    if (nspace)
        snprintf(proc.nspace, sizeof(proc.nspace), "%s", nspace->data.string);
    else
        snprintf(proc.nspace, sizeof(proc.nspace), "given-%d", ++n_tools);
    report("tool", proc.nspace, (long)proc.rank);
    report("uid", "of-tool", uid ? (long)uid->data.uint32 : -1);
    cb(refusal, &proc, cbdata);
}

static void give_back(void *arg)
{
    pmix_info_t *found = arg;

    PMIX_INFO_FREE(found, 1);
}

static pmix_status_t query(pmix_proc_t *proc, pmix_query_t *queries, size_t n,
                           pmix_info_cbfunc_t cb, void *cbdata)
{
    pmix_info_t *found = calloc(1, sizeof(*found));

    report("query", proc->nspace, (long)proc->rank);
    PMIX_INFO_LOAD(found, PMIX_QUERY_NAMESPACES, getenv("TOOL_HOST_JOBS"), PMIX_STRING);
    cb(PMIX_SUCCESS, found, 1, cbdata, give_back, found);
    return PMIX_SUCCESS;
}

static pmix_status_t job_control(const pmix_proc_t *proc, const pmix_proc_t *targets,
                                 size_t n_targets, const pmix_info_t *info, size_t n,
                                 pmix_info_cbfunc_t cb, void *cbdata)
{
    report("control", proc->nspace, (long)proc->rank);
    cb(PMIX_SUCCESS, NULL, 0, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_status_t spawn(const pmix_proc_t *proc, const pmix_info_t *info, size_t n,
                           const pmix_app_t *apps, size_t n_apps,
                           pmix_spawn_cbfunc_t cb, void *cbdata)
{
    char nspace[PMIX_MAX_NSLEN + 1] = "spawned";

    report("spawn", apps[0].cmd, (long)n_apps);
    cb(PMIX_SUCCESS, nspace, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t notified(pmix_status_t code, const pmix_proc_t *source,
                              pmix_data_range_t range, pmix_info_t *info, size_t n,
                              pmix_op_cbfunc_t cb, void *cbdata)
{
    report("notified", source->nspace, (long)code);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t register_events(pmix_status_t *codes, size_t n_codes,
                                     const pmix_info_t *info, size_t n,
                                     pmix_op_cbfunc_t cb, void *cbdata)
{
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t pull(const pmix_proc_t procs[], size_t n_procs,
                          const pmix_info_t directives[], size_t n,
                          pmix_iof_channel_t channels, pmix_op_cbfunc_t cb,
                          void *cbdata)
{
    report("pull", n_procs ? procs[0].nspace : "", (long)channels);
    return PMIX_OPERATION_SUCCEEDED;
}

/* Writes pushed input to a file. No bytes mean the end, which release 4.2.2 may repeat. */
static pmix_status_t push(const pmix_proc_t *source, const pmix_proc_t targets[],
                          size_t n_targets, const pmix_info_t directives[], size_t n,
                          const pmix_byte_object_t *bo, pmix_op_cbfunc_t cb,
                          void *cbdata)
{
    static FILE *to;
    static long sum;
    static bool ended;

    if (!to && !ended)
        to = fopen(getenv("TOOL_HOST_INPUT"), "w");
    if (bo && bo->size > 0) {
        sum += (long)bo->size;
        if (fwrite(bo->bytes, 1, bo->size, to) != bo->size)
            sum = -1;
    } else if (!ended) {
        ended = fclose(to) == 0;
        report("pushed", n_targets ? targets[0].nspace : "", sum);
    }
    cb(PMIX_SUCCESS, cbdata);
    return PMIX_SUCCESS;
}

static void on_delivered(pmix_status_t status, void *sem)
{
    if (status)
        report("undelivered", PMIx_Error_string(status), status);
    sem_post(sem);
}

/* Delivers the file in pieces, each after the callback of the last. */
static void deliver(void)
{
    FILE *from = fopen(getenv("TOOL_HOST_OUTPUT"), "r");
    char block[50000];
    pmix_proc_t source;
    long sum = 0;
    sem_t sem;

    sem_init(&sem, 0, 0);
    PMIX_LOAD_PROCID(&source, "job", 0);
    if (PMIx_server_register_nspace(source.nspace, 1, NULL, 0, on_delivered, &sem) ==
        PMIX_SUCCESS)
        sem_wait(&sem);
    for (size_t n; (n = fread(block, 1, sizeof(block), from)) > 0; sum += (long)n) {
        pmix_byte_object_t bo = {.bytes = block, .size = n};
        pmix_status_t rc = PMIx_server_IOF_deliver(&source, PMIX_FWD_STDERR_CHANNEL,
                                                   &bo, NULL, 0, on_delivered, &sem);

        if (rc == PMIX_SUCCESS)
            sem_wait(&sem);
        else if (rc != PMIX_OPERATION_SUCCEEDED)
            report("undelivered", PMIx_Error_string(rc), rc);
    }
    fclose(from);
    report("delivered", "job", sum);
}

static void add(pmix_info_t *info, size_t *n, const char *key, const void *value,
                pmix_data_type_t type)
{
    if (value)
        PMIX_INFO_LOAD(&info[(*n)++], key, value, type);
}

static size_t directives(char **argv, pmix_info_t *info)
{
    const bool no = false;
    size_t n = 0;

    add(info, &n, PMIX_IOF_LOCAL_OUTPUT, &no, PMIX_BOOL);
    add(info, &n, PMIX_SERVER_NSPACE, argv[1], PMIX_STRING);
    add(info, &n, PMIX_SYSTEM_TMPDIR, getenv("TOOL_HOST_SYSTEM_DIR"), PMIX_STRING);
    add(info, &n, "pmix.tool.lncrnd", getenv("TOOL_HOST_LAUNCHER_FILE"), PMIX_STRING);
    for (char **word = argv + 2; *word; word++) {
        for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
            if (strcmp(*word, attributes[i].name) == 0)
                add(info, &n, attributes[i].key, &attributes[i].value, PMIX_BOOL);
        if (strcmp(*word, "refuse") == 0)
            refusal = PMIX_ERR_NO_PERMISSIONS;
    }
    return n;
}

static void obey(const char *word)
{
    if (strcmp(word, "die\n") == 0)
        _exit(0);
    if (strcmp(word, "deliver\n") == 0)
        deliver();
    if (strcmp(word, "event\n") == 0)
        report("notify", "job-end",
               PMIx_Notify_event(PMIX_EVENT_JOB_END, NULL, PMIX_RANGE_SESSION, NULL, 0,
                                 NULL, NULL));
}

int main(int argc, char **argv)
{
    static pmix_server_module_t module = {.tool_connected = tool_connected,
                                          .query = query,
                                          .job_control = job_control,
                                          .spawn = spawn,
                                          .iof_pull = pull,
                                          .push_stdin = push,
                                          .notify_event = notified,
                                          .register_events = register_events};
    pmix_info_t info[16];
    char line[80];
    size_t n;
    pmix_status_t rc;

    if (argc < 2)
        return 2;
    n = directives(argv, info);
    rc = PMIx_server_init(&module, info, n);
    report(rc ? "failed" : "ready", PMIx_Get_version(), (long)getpid());
    if (rc)
        return 1;
    while (fgets(line, sizeof(line), stdin))
        obey(line);
    rc = PMIx_server_finalize();
    for (size_t i = 0; i < n; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    report("ended", PMIx_Error_string(rc), rc);
    return rc != PMIX_SUCCESS;
}
