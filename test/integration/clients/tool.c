/* SPDX-License-Identifier: BSD-3-Clause */
/* tool WAY [VALUE]: connects to a server by WAY, sends requests and disconnects. Prints a line for each
 * reply. With TOOL_ATTACHES the tool starts without a server, attaches to a server and detaches before
 * its end. */
#include "client.h"

static atomic_int n_events;

HANDLER(on_event)
{
    printf("EVENT %d %s\n", status, from ? from->nspace : "");
    if (done)
        HANDLED();
    n_events = 1;
}

static const struct {
    const char *name, *key;
    pmix_data_type_t type;
} ways[] = {
    {"uri", PMIX_SERVER_URI, PMIX_STRING},
    {"file", PMIX_TOOL_ATTACHMENT_FILE, PMIX_STRING},
    {"pid", PMIX_SERVER_PIDINFO, PMIX_PID},
    {"nspace", PMIX_SERVER_NSPACE, PMIX_STRING},
    {"system", PMIX_CONNECT_TO_SYSTEM, PMIX_BOOL},
    {"first", PMIX_CONNECT_SYSTEM_FIRST,
     PMIX_BOOL}, /* the system's server, if there is one */
    {"sched", "pmix.cnct.sched", PMIX_BOOL},
    {"ctrlr", "pmix.cnct.ctrlr", PMIX_BOOL},
    {"order", "pmix.cnct.ord", PMIX_STRING}, /* a list of ways */
    {"none", PMIX_TOOL_DO_NOT_CONNECT, PMIX_BOOL},
    {"optional", PMIX_TOOL_CONNECT_OPTIONAL, PMIX_BOOL},
};

/* Fills the info of a way and returns 1; returns 0 for other ways, such as "any". */
static size_t way(const char *name, const char *value, pmix_info_t *info)
{
    pid_t pid = value ? (pid_t)atoi(value) : 0;

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (strcmp(ways[i].name, name) != 0)
            continue;
        if (ways[i].type == PMIX_BOOL)
            *info = info_bool(ways[i].key);
        else
            PMIX_INFO_LOAD(info, ways[i].key,
                           ways[i].type == PMIX_PID ? (const void *)&pid : value,
                           ways[i].type);
        return 1;
    }
    return 0;
}

/* Asks with a qualifier. Each library answers with the result itself. */
static void ask(void)
{
    pmix_info_t *results = NULL;
    pmix_query_t *q;
    pmix_status_t rc;
    size_t n = 0;

    PMIX_QUERY_CREATE(q, 1);
    PMIX_ARGV_APPEND(rc, q->keys, PMIX_QUERY_NAMESPACES);
    GOOD(rc);
    PMIX_QUERY_QUALIFIERS_CREATE(q, 1);
    q->qualifiers[0] = info_bool(PMIX_QUERY_REFRESH_CACHE);
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
    pmix_status_t rc;
    size_t n = 0;

    rc = PMIx_Job_control(NULL, 0, &stop, 1, &results, &n);
    printf("CONTROL %s\n", PMIx_Error_string(rc));
    pmix_app_t app = app_of("program", 1, (const char *[]){"program", NULL});
    rc = PMIx_Spawn(NULL, 0, &app, 1, nspace);
    printf("SPAWN %s %s\n", PMIx_Error_string(rc), nspace);
    PMIX_APP_DESTRUCT(&app);
    rc = PMIx_Notify_event(PMIX_ERR_NODE_DOWN, &me, PMIX_RANGE_GLOBAL, NULL, 0, NULL,
                           NULL);
    printf("NOTIFY %s\n", PMIx_Error_string(rc));
}

/* Waits for the event that the test makes the server send. TOOL_WAITS is the code. */
static void await_event(void)
{
    pmix_status_t code = atoi(getenv("TOOL_WAITS"));

    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) >= 0);
    printf("LISTENING\n");
    CHECK(wait_for(&n_events, 20));
}

/* ---- streams of other jobs ------------------------------------------------------------ */

enum { MAX_RANKS = 4 };
static char pulled[MAX_RANKS][2][256]; /* stdout, stderr */
static atomic_int n_ends, is_pulled;

/* Appends output to a file for each stream; TOOL_SAVES is the prefix of the names. */
static void save(unsigned rank, pmix_iof_channel_t channel,
                 const pmix_byte_object_t *bytes)
{
    char path[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s.%u.%u", getenv("TOOL_SAVES"), rank,
             (unsigned)channel);
    f = fopen(path, "a");
    CHECK(f && fwrite(bytes->bytes, 1, bytes->size, f) == bytes->size);
    fclose(f);
}

static void on_bytes(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
                     pmix_byte_object_t *bytes, pmix_info_t info[], size_t n)
{
    (void)id;
    (void)info;
    (void)n;
    CHECK(source->rank < MAX_RANKS);
    if (getenv("TOOL_SAVES"))
        save(source->rank, channel, bytes);
    else
        strncat(pulled[source->rank][channel == PMIX_FWD_STDERR_CHANNEL],
                bytes->bytes ? bytes->bytes : "", bytes->size);
    n_ends += bytes->size == 0;
}

static void on_pulled(pmix_status_t status, size_t id, void *arg)
{
    (void)id;
    (void)arg;
    GOOD(status);
    is_pulled = 1;
}

static void push(const pmix_proc_t *to, const char *text)
{
    pmix_byte_object_t bytes = {(char *)text, strlen(text)};

    GOOD(result(PMIx_IOF_push(to, 1, &bytes, NULL, 0, on_done, NULL)));
}

/* Pushes "hello" to all processes of the job and prints their output. */
static void pull(const char *job, int n)
{
    pmix_proc_t all;

    PMIX_LOAD_PROCID(&all, job, PMIX_RANK_WILDCARD);
    GOOD(PMIx_IOF_pull(&all, 1, NULL, 0,
                       PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL, on_bytes,
                       on_pulled, NULL));
    CHECK(wait_for(&is_pulled, 20));
    push(&all, "hello\n");
    push(&all, "");
    for (double end = now_s() + 20; n_ends < 2 * n && now_s() < end;)
        sleep_ms(5);
    for (int i = 0; i < 2 * n; i++) {
        char *text = pulled[i / 2][i % 2], *line;

        while ((line = strsep(&text, "\n")) && (*line || text))
            printf("PULLED %d %s %s\n", i / 2, i % 2 ? "stderr" : "stdout", line);
    }
}

/* Spawns a job whose streams are forwarded from and to this tool. */
static void spawn_cat(void)
{
    char nspace[PMIX_MAX_NSLEN + 1] = "";
    pmix_info_t info[] = {info_bool(PMIX_FWD_STDIN), info_bool(PMIX_FWD_STDOUT),
                          info_bool(PMIX_FWD_STDERR)};
    pmix_app_t app = app_of(
        "sh", 1, (const char *[]){"sh", "-c", "cat; echo in the end >&2", NULL});
    pmix_proc_t job;

    GOOD(PMIx_Spawn(info, 3, &app, 1, nspace));
    PMIX_APP_DESTRUCT(&app);
    PMIX_LOAD_PROCID(&job, nspace, 0);
    push(&job, "to the cat\n");
    push(&job, "");
    sleep_ms(1000);
}

/* Starts the program child_of_tool and waits a second. */
static void spawn_child(void)
{
    char nspace[PMIX_MAX_NSLEN + 1] = "";
    pmix_info_t out = info_bool(PMIX_FWD_STDOUT);
    pmix_app_t app = app_of(NULL, 1, (const char *[]){"client", "child_of_tool", NULL});

    GOOD(PMIx_Spawn(&out, 1, &app, 1, nspace));
    PMIX_APP_DESTRUCT(&app);
    sleep_ms(1000);
}

/* Child of a tool; expects that the parent is a job of one process. */
ALONE(child_of_tool)
{
    pmix_proc_t parent;

    begin();
    VALUE_OF(&me, PMIX_PARENT_ID, PMIX_PROC, (parent = *v->data.proc).rank == 0);
    parent.rank = PMIX_RANK_WILDCARD;
    VALUE_OF(&parent, PMIX_JOB_SIZE, PMIX_UINT32, v->data.uint32 == 1);
    printf("PARENT 1\n");
    GOOD(PMIx_Finalize(NULL, 0));
}

/* ---- a tool among the ranks of a job --------------------------------------------------- */

/* Puts a value, and has all processes of both namespaces fence, connect and disconnect. */
static void meet(const char *tool, const char *job, uint32_t value)
{
    pmix_info_t collect = info_bool(PMIX_COLLECT_DATA);
    pmix_proc_t procs[2];

    PMIX_LOAD_PROCID(&procs[0], tool, 0);
    PMIX_LOAD_PROCID(&procs[1], job, PMIX_RANK_WILDCARD);
    put_u32(PMIX_GLOBAL, "met", value);
    GOOD(PMIx_Commit());
    GOOD(PMIx_Fence(procs, 2, &collect, 1));
    VALUE_OF(&procs[0], "met", PMIX_UINT32, v->data.uint32 == 99);
    for (pmix_rank_t r = 0; r < 2; r++) {
        procs[1].rank = r;
        VALUE_OF(&procs[1], "met", PMIX_UINT32, v->data.uint32 == r);
    }
    procs[1].rank = PMIX_RANK_WILDCARD;
    GOOD(PMIx_Connect(procs, 2, NULL, 0));
    GOOD(PMIx_Disconnect(procs, 2, NULL, 0));
}

/* Rank of a job of two; meets a tool that has published its name. */
JOINS(meets_tool)
{
    pmix_info_t wait = info_bool(PMIX_WAIT);
    pmix_pdata_t data;

    printf("HERE\n");
    memset(&data, 0, sizeof(data));
    snprintf(data.key, sizeof(data.key), "name of the tool");
    GOOD(PMIx_Lookup(&data, 1, &wait, 1));
    CHECK(data.value.type == PMIX_STRING);
    meet(data.value.data.string, me.nspace, me.rank);
    PMIX_VALUE_DESTRUCT(&data.value);
}

/* Meets the ranks of the server's first job, and fences alone. */
static void meet_ranks(const char *server)
{
    char job[PMIX_MAX_NSLEN + 1];
    pmix_info_t name;

    snprintf(job, sizeof(job), "%.200s-1", server);
    GOOD(PMIx_Fence(NULL, 0, NULL, 0));
    PMIX_INFO_LOAD(&name, "name of the tool", me.nspace, PMIX_STRING);
    GOOD(PMIx_Publish(&name, 1));
    PMIX_INFO_DESTRUCT(&name);
    meet(me.nspace, job, 99);
    printf("MET\n");
}

static FILE *copy;

static void on_copied(size_t id, pmix_iof_channel_t channel, pmix_proc_t *from,
                      pmix_byte_object_t *bytes, pmix_info_t info[], size_t n)
{
    CHECK(channel == PMIX_FWD_STDERR_CHANNEL);
    CHECK(strcmp(from->nspace, "job") == 0);
    if (bytes->size)
        CHECK(fwrite(bytes->bytes, 1, bytes->size, copy) == bytes->size);
}

/* Pulls the output of "job" into the file name, or into this tool's streams if name is "-". */
static size_t copy_output(const char *name)
{
    bool own = strcmp(name, "-") == 0;
    pmix_proc_t job;

    PMIX_LOAD_PROCID(&job, "job", PMIX_RANK_WILDCARD);
    copy = own ? NULL : fopen(name, "w");
    return registered(PMIx_IOF_pull(&job, 1, NULL, 0,
                                    PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL,
                                    own ? NULL : on_copied, on_registered, NULL));
}

static void end_copy(size_t id)
{
    pmix_status_t rc = PMIx_IOF_deregister(id, NULL, 0, on_done, NULL);

    if (rc == PMIX_SUCCESS)
        (void)result(rc); /* release 4.2.2 returns a random status */
    if (copy)
        CHECK(fclose(copy) == 0);
}

/* Pushes this tool's stdin to "job". */
static void push_stdin(void)
{
    pmix_info_t own = info_bool(PMIX_IOF_PUSH_STDIN);
    pmix_proc_t target;
    pmix_status_t rc;

    PMIX_LOAD_PROCID(&target, "job", 0);
    rc = PMIx_IOF_push(&target, 1, NULL, &own, 1, on_done, NULL);
    if (rc != PMIX_OPERATION_SUCCEEDED)
        GOOD(result(rc));
}

/* Gets the servers; returns their number and the first two. */
static size_t servers(pmix_status_t *rc, pmix_proc_t first[2])
{
    pmix_proc_t *list = NULL;
    size_t n = 0;

    *rc = PMIx_tool_get_servers(&list, &n);
    memset(first, 0, 2 * sizeof(*first));
    if (list) {
        memcpy(first, list, (n < 2 ? n : 2) * sizeof(*first));
        PMIX_PROC_FREE(list, n);
    }
    return *rc ? 0 : n;
}

static void print_servers(void)
{
    pmix_proc_t list[2];
    pmix_status_t rc;
    size_t n = servers(&rc, list);

    printf("SERVERS %s %zu %s\n", PMIx_Error_string(rc), n, list[0].nspace);
}

/* Attaches to a second server, at address TOOL_SECOND, as primary server, then returns to the first. */
static void second(void)
{
    pmix_info_t info[2] = {info_bool("unused"), info_bool(PMIX_PRIMARY_SERVER)};
    pmix_proc_t list[2], other;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_URI, getenv("TOOL_SECOND"), PMIX_STRING);
    GOOD(PMIx_tool_attach_to_server(NULL, &other, info, 2));
    printf("SECOND %s\n", other.nspace);
    PMIX_INFO_DESTRUCT(&info[0]);
    ask();
    CHECK(servers(&rc, list) == 2);
    CHECK(strcmp(list[0].nspace, other.nspace) == 0);
    GOOD(PMIx_tool_set_server(&list[1], NULL, 0));
    ask();
    GOOD(PMIx_tool_disconnect(&other));
    print_servers();
}

/* Starts without a server, then attaches to a server. */
static pmix_status_t attach(pmix_info_t *info, size_t n, pmix_proc_t *server)
{
    pmix_info_t alone = info_bool(PMIX_TOOL_DO_NOT_CONNECT);
    pmix_proc_t list[2];
    pmix_status_t rc;

    GOOD(PMIx_tool_init(&me, &alone, 1));
    CHECK(servers(&rc, list) == 0);
    return PMIx_tool_attach_to_server(&me, server, info, n);
}

/* Spawns a job of two with each attribute of a list: "KEY", a flag, or "KEY=VALUE", after "!" as a
 * required one. */
static void spawn_asking(char *list)
{
    char *word, *rest = list, program[] = "program", job[PMIX_MAX_NSLEN + 1];

    while ((word = strsep(&rest, " "))) {
        const bool required = *word == '!';
        char *key = word + required, *value = strchr(key, '=');
        char *argv[] = {program, NULL};
        pmix_app_t app = {.cmd = program, .argv = argv, .maxprocs = 2};
        pmix_info_t info = {0};

        if (value)
            *value++ = '\0';
        if (value)
            PMIX_INFO_LOAD(&info, key, value, PMIX_STRING);
        else
            info = info_bool(key);
        if (required)
            PMIX_INFO_REQUIRED(&info);
        printf("SPAWN %s %s\n", key,
               PMIx_Error_string(PMIx_Spawn(&info, 1, &app, 1, job)));
        PMIX_INFO_DESTRUCT(&info);
    }
}

ALONE(tool)
{
    bool attaches = getenv("TOOL_ATTACHES") != NULL;
    pmix_proc_t server, list[2];
    pmix_info_t info[1];
    pmix_status_t rc;
    size_t n, id = 0;

    CHECK(argc > 1);
    n = way(argv[1], argv[2], info);
    rc = attaches ? attach(info, n, &server) : PMIx_tool_init(&me, info, n);
    printf("INIT %s %s %u\n", PMIx_Error_string(rc), rc ? "" : me.nspace,
           rc ? 0 : me.rank);
    if (n)
        PMIX_INFO_DESTRUCT(&info[0]);
    if (rc)
        exit(1);
    print_servers();
    ask();
    if (getenv("TOOL_ACTS"))
        act();
    if (getenv("TOOL_SECOND"))
        second();
    if (getenv("TOOL_PULLS")) {
        CHECK(servers(&rc, list) == 1);
        strcat(list[0].nspace, "-1"); /* the server's first job */
        pull(list[0].nspace, atoi(getenv("TOOL_PULLS")));
    }
    if (getenv("TOOL_ASKS"))
        spawn_asking(getenv("TOOL_ASKS"));
    if (getenv("TOOL_SPAWNS"))
        spawn_cat();
    if (getenv("TOOL_IS_PARENT")) {
        PMIX_LOAD_PROCID(&list[0], me.nspace, PMIX_RANK_WILDCARD);
        VALUE_OF(&list[0], PMIX_JOB_SIZE, PMIX_UINT32, v->data.uint32 == 1);
        spawn_child();
    }
    if (getenv("TOOL_MEETS")) {
        CHECK(servers(&rc, list) == 1);
        meet_ranks(list[0].nspace);
    }
    if (getenv("TOOL_COPIES"))
        id = copy_output(getenv("TOOL_COPIES"));
    if (getenv("TOOL_STDIN"))
        push_stdin();
    if (getenv("TOOL_WAITS"))
        await_event();
    if (getenv("TOOL_COPIES"))
        end_copy(id);
    if (attaches) {
        GOOD(PMIx_tool_disconnect(&server));
        CHECK(servers(&rc, list) == 0);
    }
    GOOD(PMIx_tool_finalize());
    printf("OK tool\n");
}
