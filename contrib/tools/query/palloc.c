/* SPDX-License-Identifier: BSD-3-Clause */
/* palloc: allocations of a host, and a program that runs in one. */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *tool_name = "palloc";

static struct infos wanted;
static bool extends, releases, regains, lists, holds, no_shell;
static int n_procs = 1;

static void take_immediate(const char *text)
{
    const int limit_s = number("--immediate", text ? text : "1", 1000000);

    infos_add(&wanted, PMIX_TIMEOUT, &limit_s, PMIX_INT);
}

/* clang-format off */
static const struct tool_option options[] = {
    TAKES_FLAG("extend", extends, "add to the allocation that --id or --request-id names"),
    TAKES_FLAG("shrink|release", releases, "give it back, or the CPUs and nodes that are named"),
    TAKES_FLAG("reacquire", regains, "get back what it has given back"),
    TAKES_FLAG("status", lists, "show the allocations, or the named one"),
    TAKES_FLAG("hold", holds, "keep a new allocation until a signal, or until the server ends"),
    TAKES_FLAG("no-shell", no_shell, "run no program; as without a program"),
    TAKES_ARGUMENT("np", "N", OPTION_NUMBER, n_procs, "processes of the program; default 1"),
    TAKES_INFO("id", "ID", wanted, PMIX_ALLOC_ID, PMIX_STRING, "the allocation with this name"),
    TAKES_INFO("request-id", "ID", wanted, PMIX_ALLOC_REQ_ID, PMIX_STRING, "name of the request"),
    TAKES_INFO("cpus", "N", wanted, PMIX_ALLOC_NUM_CPUS, PMIX_UINT64, "number of CPUs"),
    TAKES_INFO("cpu-list", "LIST", wanted, PMIX_ALLOC_CPU_LIST, PMIX_STRING, "these CPUs: 0-3,8"),
    TAKES_INFO("N|nodes", "N", wanted, PMIX_ALLOC_NUM_NODES, PMIX_UINT64, "number of nodes"),
    TAKES_INFO("w|nodelist", "LIST", wanted, PMIX_ALLOC_NODE_LIST, PMIX_STRING, "these nodes"),
    TAKES_INFO("x|exclude", "LIST", wanted, PMIX_ALLOC_EXCLUDE, PMIX_STRING, "not these nodes"),
    TAKES_INFO("t|time", "TIME", wanted, PMIX_ALLOC_TIME, PMIX_STRING, "time limit: seconds, or days:hours:minutes:seconds"),
    TAKES_INFO("q|queue", "NAME", wanted, PMIX_ALLOC_QUEUE, PMIX_STRING, "queue of the scheduler"),
    TAKES_INFO("i|image", "NAME", wanted, PMIX_ALLOC_IMAGE, PMIX_STRING, "image for the nodes"),
    TAKES_INFO("wait-all-nodes", NULL, wanted, PMIX_ALLOC_WAIT_ALL_NODES, PMIX_BOOL, "wait until all nodes are ready"),
    TAKES_INFO("s|share", NULL, wanted, PMIX_ALLOC_SHARE, PMIX_BOOL, "other allocations may share the nodes"),
    TAKES_INFO("begin", "TIME", wanted, PMIX_ALLOC_BEGIN, PMIX_STRING, "not before this time"),
    TAKES_INFO("d|dependency", "LIST", wanted, PMIX_ALLOC_DEPENDENCY, PMIX_STRING, "wait for these requests"),
    TAKES_INFO("do-not-wait", NULL, wanted, PMIX_ALLOC_NOT_WAITING, PMIX_BOOL, "fail if the request cannot be granted at once"),
    TAKES_CALL("I|immediate", "[=SECONDS]", take_immediate, "fail if the request is not granted within this time"),
    REFUSES("uid", "UID", "the allocation belongs to the user of the program"),
    REFUSES("gid", "GID", "the allocation belongs to the user of the program"),
    REFUSES("signal", "SIGNAL", "no attribute asks for a signal before the end"),
    {0},
};
/* clang-format on */

/* ---- allocations ----------------------------------------------------------------- */

static void show_infos(const pmix_info_t *infos, size_t n)
{
    static const char *const columns[] = {"name", "value", NULL};
    struct sheet sheet = {"allocation", columns, NULL, NULL};
    struct sheet *const sheets[] = {&sheet};

    for (size_t i = 0; i < n; i++)
        sheet_add(&sheet, "[o, o]", text_json(PMIx_Get_attribute_name(infos[i].key)),
                  value_json(&infos[i].value));
    sheets_show(sheets, 1);
}

/* Shows the reason that a host gives for a refusal. */
static void complain_of(const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (PMIx_Check_key(infos[i].key, PMIX_EVENT_TEXT_MESSAGE) &&
            infos[i].value.type == PMIX_STRING)
            complain("%s", infos[i].value.data.string);
}

/* Returns the name of the allocation in the results of a request, malloc'd. */
static char *id_of(const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (PMIx_Check_key(infos[i].key, PMIX_ALLOC_ID) &&
            infos[i].value.type == PMIX_STRING && infos[i].value.data.string)
            return need_text("%s", infos[i].value.data.string);
    return NULL;
}

static int show_status(void)
{
    pmix_info_t *found = NULL;
    size_t n = 0;
    const pmix_status_t rc = server_query(PMIX_QUERY_ALLOC_STATUS, &wanted, &found, &n);

    if (rc)
        fail_status(rc, "cannot show allocations");
    show_infos(found, n);
    PMIx_Info_free(found, n);
    return EXIT_SUCCESS;
}

/* ---- a program ------------------------------------------------------------------- */

static int end_fds[2];

/* Writes the exit status of the job, or EXIT_TROUBLE if the server is lost. */
static void on_end(size_t id, pmix_status_t code, const pmix_proc_t *source,
                   pmix_info_t info[], size_t n_info, pmix_info_t *results,
                   size_t n_results, pmix_event_notification_cbfunc_fn_t done,
                   void *cbdata)
{
    int status = code == PMIX_EVENT_JOB_END ? EXIT_SUCCESS : EXIT_TROUBLE;

    (void)id;
    (void)source;
    (void)results;
    (void)n_results;
    for (size_t i = 0; i < n_info; i++)
        if (PMIx_Check_key(info[i].key, PMIX_EXIT_CODE) &&
            info[i].value.type == PMIX_INT)
            status = info[i].value.data.integer;
    (void)!write(end_fds[1], &status, sizeof(status));
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

/* Waits for the end of the job or of the server. */
static int await_end(void)
{
    int status = EXIT_TROUBLE;
    ssize_t got;

    do
        got = read(end_fds[0], &status, sizeof(status));
    while (got < 0 && errno == EINTR);
    return status;
}

static void subscribe(void)
{
    pmix_status_t codes[] = {PMIX_EVENT_JOB_END, PMIX_ERR_LOST_CONNECTION};
    pmix_status_t rc;

    if (pipe2(end_fds, O_CLOEXEC) < 0)
        fail("cannot wait for the end: %s", strerror(errno));
    rc = PMIx_Register_event_handler(codes, 2, NULL, 0, on_end, NULL, NULL);
    if (rc < 0)
        fail_status(rc, "cannot wait for the end");
}

/* Runs the program in the allocation, to its end. Returns its exit status. */
static int run_program(const char *id, char **argv)
{
    const bool yes = true, no = false;
    struct infos of_job = {NULL, 0};
    pmix_nspace_t job;
    pmix_status_t rc;
    pmix_app_t app = {.cmd = argv[0], .argv = argv, .maxprocs = n_procs};

    app.cwd = getcwd(NULL, 0);

    infos_add(&of_job, PMIX_ALLOC_ID, id, PMIX_STRING);
    infos_add(&of_job, PMIX_FWD_STDOUT, &yes, PMIX_BOOL);
    infos_add(&of_job, PMIX_FWD_STDERR, &yes, PMIX_BOOL);
    infos_add(&of_job, PMIX_NOTIFY_COMPLETION, &yes, PMIX_BOOL);
    infos_add(&of_job, PMIX_NOHUP, &no, PMIX_BOOL);
    subscribe();
    rc = PMIx_Spawn(of_job.v, of_job.n, &app, 1, job);
    free(app.cwd);
    PMIx_Info_free(of_job.v, of_job.n);
    if (rc)
        fail_status(rc, "cannot start %s", argv[0]);
    return await_end();
}

/* Keeps the allocation until a signal or the end of the server. */
static void hold(void)
{
    subscribe();
    (void)await_end();
}

static int run(char **operands)
{
    const pmix_alloc_directive_t directive = extends    ? PMIX_ALLOC_EXTEND
                                             : releases ? PMIX_ALLOC_RELEASE
                                             : regains  ? PMIX_ALLOC_REAQUIRE
                                                        : PMIX_ALLOC_NEW;
    pmix_info_t *results = NULL;
    size_t n = 0;
    int status = EXIT_SUCCESS;
    pmix_status_t rc;
    char *id;

    if (extends + releases + regains + lists > 1)
        usage("--extend, --release, --reacquire and --status contradict each other");
    if (operands[0] && (directive != PMIX_ALLOC_NEW || lists || holds || no_shell))
        usage("a program runs in a new allocation only: unexpected %s", operands[0]);
    if (lists)
        return show_status();
    rc = PMIx_Allocation_request(directive, wanted.v, wanted.n, &results, &n);
    if (rc) {
        complain_of(results, n);
        fail_status(rc, "cannot get the allocation");
    }
    id = id_of(results, n);
    if (!operands[0])
        show_infos(results, n);
    server_limit(0);
    if (operands[0] && !id)
        fail_status(PMIX_ERR_NOT_FOUND, "cannot run %s: the allocation has no name",
                    operands[0]);
    if (operands[0])
        status = run_program(id, operands);
    else if (holds)
        hold();
    PMIx_Info_free(results, n);
    free(id);
    return status;
}

static const struct tool tool = {
    .name = "palloc",
    .operands = "[PROGRAM [ARGUMENT]...]",
    .summary = "Request, change and show allocations of a PMIx server's host.",
    .description =
        "Requests an allocation of nodes or CPUs, and prints its properties. With a "
        "program, runs the program in the allocation; the exit status is that of the "
        "program then.\n\n"
        "pmixrun grants CPUs of its node. There an allocation ends with the program that "
        "has requested it: palloc needs a program, or --hold.\n\n"
        "A parsable line has the fields allocation, name and value.",
    .options = options,
    .has_program = true,
    .run = run,
};

int main(int argc, char **argv)
{
    (void)argc;
    return tool_main(&tool, argv);
}
