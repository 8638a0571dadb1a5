/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool without a server: its name, its abilities and its events; and roles that begin
 * and end in every order. */
#include "core/base/str.h"
#include "core/rt/process.h"
#include "core/types/type.h"
#include "px_test.h"
#include "tool_server.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *keys[] = {(char *)PMIX_QUERY_NAMESPACES, NULL};
static pmix_query_t query = {.keys = keys};

/* ---- names ----------------------------------------------------------------------- */

PX_TEST(a_tool_that_does_not_connect_names_itself)
{
    char pid[32];

    init_alone();
    snprintf(pid, sizeof(pid), ".%ld", (long)getpid());
    ck_assert_ptr_nonnull(strstr(tool.nspace, pid));
    ck_assert_uint_eq(tool.rank, 0);
    ck_assert(PMIx_Initialized());
    ck_assert(!PMIx_tool_is_connected());
    px_test_knows_itself(&tool);
}

PX_TEST(its_name_is_the_one_it_asks_for_else_the_environments)
{
    static const struct {
        const char *nspace; /* NULL: from the environment */
        uint32_t rank;
        bool has_rank;
    } rows[] = {{"mine", 5, true}, {"mine", 0, false}, {NULL, 7, false}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        if (rows[i].nspace)
            add_text(PMIX_TOOL_NSPACE, rows[i].nspace);
        if (rows[i].has_rank)
            add_u32(PMIX_TOOL_RANK, rows[i].rank);
        setenv("PMIX_NAMESPACE", "job", 1);
        setenv("PMIX_RANK", "7", 1);
        init_alone();
        ck_assert_str_eq(tool.nspace, rows[i].nspace ? rows[i].nspace : "job");
        ck_assert_uint_eq(tool.rank, rows[i].rank);
        finalize();
        px_infos_cleanup(&tool_infos);
    }
}

PX_TEST(bad_names_are_refused)
{
    char longer[PMIX_MAX_NSLEN + 2];

    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    add_u32(PMIX_TOOL_RANK, 5); /* without a namespace */
    fails_with(PMIX_ERR_BAD_PARAM);
    add_yes(PMIX_TOOL_DO_NOT_CONNECT);
    add_text(PMIX_TOOL_NSPACE, longer);
    fails(init(), BAD_PARAM);
    tool_infos.v[1].value.data.string[0] = '\0';
    fails(init(), BAD_PARAM);
    px_infos_cleanup(&tool_infos);
    setenv("PMIX_NAMESPACE", "job", 1);
    fails(init(), DATA_VALUE_NOT_FOUND);
    setenv("PMIX_RANK", "-1", 1);
    fails(init(), BAD_PARAM);
}

/* ---- calls ----------------------------------------------------------------------- */

static uint32_t job_size(void)
{
    return get_u32(tool.nspace, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
}

PX_TEST(what_needs_a_server_is_unreachable_at_once)
{
    pmix_app_t app = {.cmd = (char[]){"x"}};
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_info_t *results = NULL;
    pmix_proc_t other, *servers = &other;
    pmix_value_t *v = NULL;
    size_t n = 7;

    init_alone();
    fails(PMIx_Query_info(&query, 1, &results, &n), UNREACH);
    fails(PMIx_Spawn(NULL, 0, &app, 1, nspace), UNREACH);
    px_proc_set(&other, "other", 0);
    fails(PMIx_Get(&other, "key", NULL, 0, &v), NOT_FOUND);
    fails(PMIx_tool_get_servers(&servers, &n), UNREACH);
    ck_assert_ptr_null(servers);
    ck_assert_uint_eq(n, 0);
    fails(PMIx_tool_disconnect(&other), NOT_FOUND);
    fails(PMIx_tool_set_server(&other, NULL, 0), UNREACH);
}

PX_TEST(a_client_is_no_tool)
{
    pmix_proc_t p = {0};

    fails(PMIx_Init(&p, NULL, 0), UNREACH);
    fails(PMIx_tool_finalize(), INIT);
    fails(PMIx_tool_disconnect(&p), INIT);
    fails(PMIx_tool_set_server(&p, NULL, 0), INIT);
    ok(PMIx_Finalize(NULL, 0));
}

/* ---- life ------------------------------------------------------------------------ */

PX_TEST(each_init_needs_a_finalize)
{
    pmix_proc_t again = {0}, client = {0};

    init_alone();
    ok(PMIx_tool_init(&again, tool_infos.v, tool_infos.n));
    ck_assert(px_proc_same(&again, &tool));
    ok(PMIx_Init(&client, NULL, 0));
    ck_assert(px_proc_same(&client, &tool));
    ok(PMIx_tool_finalize());
    ok(PMIx_tool_finalize());
    fails(PMIx_tool_finalize(), INIT);
    ck_assert_uint_eq(job_size(), 1);
    ok(PMIx_Finalize(NULL, 0));
    for (int i = 0; i < 20; i++) { /* a tool may begin and end many times */
        ok(init());
        finalize();
    }
}

PX_TEST(a_tool_in_a_server_is_the_server)
{
    pmix_server_module_t module = {0};

    ok(PMIx_server_init(&module, NULL, 0));
    ok(PMIx_tool_init(&tool, NULL, 0));
    ck_assert_ptr_nonnull(strstr(tool.nspace, "tenon-"));
    fails(PMIx_tool_attach_to_server(NULL, NULL, NULL, 0), INIT);
    ok(PMIx_tool_finalize());
    ok(PMIx_server_finalize());
}

PX_TEST_HANDLER(on_event)
{
    ck_assert_int_eq(code, PMIX_EVENT_JOB_END);
    fails(PMIx_tool_init(&tool, NULL, 0), WOULD_BLOCK);
    fails(PMIx_tool_finalize(), WOULD_BLOCK);
    fails(PMIx_tool_attach_to_server(NULL, NULL, NULL, 0), WOULD_BLOCK);
    fails(PMIx_tool_disconnect(&tool), WOULD_BLOCK);
    fails(PMIx_tool_set_server(&tool, NULL, 0), WOULD_BLOCK);
    ck_assert(!PMIx_tool_is_connected());
    PMIx_Progress_thread_stop(NULL, 0); /* no effect here */
    cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    sem_post(&done);
}

PX_TEST(the_end_of_whoever_started_it_is_an_event)
{
    char text[16];
    int fds[2];

    ok(pipe2(fds, O_CLOEXEC));
    snprintf(text, sizeof(text), "%d", fds[0]);
    setenv(PMIX_KEEPALIVE_PIPE, text, 1);
    init_alone();
    handle_code(PMIX_EVENT_JOB_END, on_event);
    ck_assert_int_eq(write(fds[1], "x", 1), 1); /* has no meaning here */
    ck_assert_int_eq(sem_trywait(&done), -1);
    close(fds[1]);
    sem_wait(&done);
    finalize();
    /* The next tool gets the event, too; the descriptor number still belongs to the
     * pipe. */
    ck_assert_int_eq(fcntl(fds[0], F_GETFD), FD_CLOEXEC);
    init_alone();
    handle_code(PMIX_EVENT_JOB_END, on_event);
}

PX_TEST(what_is_no_pipe_is_left_alone)
{
    char text[16];
    int fd = open("/dev/null", O_RDONLY); /* not close-on-exec: not the library's */

    snprintf(text, sizeof(text), "%d", fd);
    setenv(PMIX_KEEPALIVE_PIPE, text, 1);
    init_alone();
    ck_assert_int_eq(fcntl(fd, F_GETFD), 0);
    ck_assert_int_eq(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    close(fd);
}

/* ---- serving --------------------------------------------------------------------- */

static int n_queries;

static pmix_status_t answer_query(pmix_proc_t *proc, pmix_query_t *queries PX_UNUSED,
                                  size_t n PX_UNUSED, pmix_info_cbfunc_t cb,
                                  void *cbdata)
{
    ck_assert_str_eq(proc->nspace, "mine");
    n_queries++;
    cb(PMIX_ERR_NOT_FOUND, NULL, 0, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

PX_TEST(a_tool_alone_with_a_module_is_its_own_server)
{
    static const pmix_nspace_t kids = "kids";
    const pmix_server_query_fn_t fn = answer_query;
    char *module = calloc(1, 224); /* members of the oldest version only */
    pmix_info_t *results = NULL;
    size_t n = 0;

    memcpy(module + offsetof(pmix_server_module_t, query), &fn, sizeof(fn));
    add_text(PMIX_TOOL_NSPACE, "mine");
    init_alone();
    ok(PMIx_tool_set_server_module((void *)module));
    fails(PMIx_tool_set_server_module((void *)module), INIT);
    free(module);
    at_once(PMIx_server_register_nspace(kids, 1, NULL, 0, NULL, NULL));
    ok(PMIx_Query_info(&query, 1, &results, &n));
    ck_assert_int_eq(n_queries, 1);
    ck_assert_str_eq(px_info_str(results, n, PMIX_QUERY_NAMESPACES), kids);
    PMIx_Info_free(results, n);
    finalize();
    ck_assert_ptr_null(px_process.server);
}

static void let_in(pmix_info_t *info PX_UNUSED, size_t n PX_UNUSED,
                   pmix_tool_connection_cbfunc_t cb, void *cbdata)
{
    pmix_proc_t name;

    px_proc_set(&name, "visitor", 0);
    cb(PMIX_SUCCESS, &name, cbdata);
}

/* Starts a process that finds the launcher by its file. */
static pmix_status_t visit(const char *path)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        px_infos l = {0};

        unsetenv("PMIX_NAMESPACE");
        if (px_infos_add(&l, PMIX_TOOL_ATTACHMENT_FILE, path, PMIX_STRING))
            _exit(1);
        _exit(-PMIx_tool_init(NULL, l.v, l.n));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

/* A row without an attribute sets the variable, which applies only to launchers. */
static const struct {
    bool launcher, attribute, file;
} files[] = {{true, true, true},
             {true, false, true},
             {false, true, true},
             {false, false, false}};

PX_TEST_LOOP(an_attribute_or_a_variable_names_a_launchers_file, PX_COUNT(files))
{
    const char *path = px_test_path("launcher");

    if (files[_i].launcher)
        add_yes(PMIX_LAUNCHER);
    if (files[_i].attribute)
        add_text(PMIX_LAUNCHER_RENDEZVOUS_FILE, path);
    else
        setenv("PMIX_LAUNCHER_RENDEZVOUS_FILE", path, 1);
    init_alone();
    ck_assert_int_eq(access(path, R_OK) == 0, files[_i].file);
    finalize();
    unsetenv("PMIX_LAUNCHER_RENDEZVOUS_FILE");
    ck_assert_int_ne(access(path, F_OK), 0);
}

PX_TEST(a_launcher_has_the_file_of_its_attribute)
{
    const char *path = px_test_path("a/launcher");
    const char *dir = px_test_path("a");
    pmix_server_module_t module = {.tool_connected = let_in};
    pmix_value_t *v = NULL;

    add_yes(PMIX_LAUNCHER);
    add_text(PMIX_LAUNCHER_RENDEZVOUS_FILE, path);
    init_alone();
    ck_assert_int_eq(access(path, R_OK), 0);
    ok(PMIx_Get(NULL, PMIX_LAUNCHER_RENDEZVOUS_FILE, NULL, 0, &v));
    ck_assert_str_eq(v->data.string, path);
    PMIX_VALUE_RELEASE(v);
    fails(visit(path), UNREACH); /* the launcher does not serve yet */
    ok(PMIx_tool_set_server_module(&module));
    ok(visit(path));
    fails(PMIx_tool_set_server_module(&module), INIT);
    finalize();
    ck_assert_int_ne(access(dir, F_OK), 0);
    ck_assert_ptr_null(px_process.server);
}

/* ---- the thread ------------------------------------------------------------------ */

static int n_threads(void)
{
    char line[128];
    int n = -1;
    FILE *f = fopen("/proc/self/status", "re");

    while (fgets(line, sizeof(line), f))
        if (sscanf(line, "Threads: %d", &n) == 1)
            break;
    fclose(f);
    return n;
}

/* Waits for the kernel, which counts a thread for a moment after its join. */
static void expect_threads(int n)
{
    for (int i = 0; i < 5000 && n_threads() != n; i++)
        usleep(1000);
    ck_assert_int_eq(n_threads(), n);
}

PX_TEST(the_progress_thread_can_be_stopped)
{
    PX_TEST_NEEDS_PROC;
    pmix_info_t named;

    PMIx_Progress_thread_stop(NULL, 0); /* before init: no effect */
    init_alone();
    ck_assert_int_eq(n_threads(), 2);
    PMIx_Info_load(&named, PMIX_PROGRESS_THREAD_NAME, "other", PMIX_STRING);
    PMIx_Progress_thread_stop(&named, 1);
    PMIx_Progress_thread_stop(NULL, 1);
    ck_assert_int_eq(n_threads(), 2);
    PMIx_Info_destruct(&named);
    PMIx_Info_load(&named, PMIX_PROGRESS_THREAD_NAME, "tenon-loop", PMIX_STRING);
    PMIx_Progress_thread_stop(&named, 1);
    PMIx_Info_destruct(&named);
    expect_threads(1);
    PMIx_Progress_thread_stop(NULL, 0); /* a second time: no effect */
    ck_assert_uint_eq(job_size(), 1);
    PMIx_Progress();
}

/* ---- client, tool and server in one process, with open requests ------------------- */

static atomic_int n_asked, n_answered, n_passed;
static void *kept[128];

/* A host that keeps the arguments of a query and never answers. */
static pmix_status_t keep_query(pmix_proc_t *proc PX_UNUSED,
                                pmix_query_t *queries PX_UNUSED, size_t n PX_UNUSED,
                                pmix_info_cbfunc_t cb PX_UNUSED, void *cbdata)
{
    int i = atomic_fetch_add(&n_passed, 1);

    ck_assert_int_lt(i, (int)PX_COUNT(kept));
    kept[i] = cbdata;
    return PMIX_SUCCESS;
}

static pmix_status_t begin_client(void)
{
    pmix_status_t rc = PMIx_Init(NULL, NULL, 0);

    return rc == PMIX_ERR_UNREACH ? PMIX_SUCCESS : rc; /* works without a server */
}

static pmix_status_t begin_tool(void)
{
    pmix_info_t alone = flag(PMIX_TOOL_DO_NOT_CONNECT);

    return PMIx_tool_init(NULL, &alone, 1);
}

static pmix_status_t begin_server(void)
{
    static pmix_server_module_t module = {.query = keep_query};

    return PMIx_server_init(&module, NULL, 0);
}

static pmix_status_t end_client(void)
{
    return PMIx_Finalize(NULL, 0);
}

static const struct {
    pmix_status_t (*begin)(void);
    pmix_status_t (*end)(void);
} roles[] = {
    {begin_client, end_client},
    {begin_tool, PMIx_tool_finalize},
    {begin_server, PMIx_server_finalize},
};

static void on_answer(pmix_status_t status, pmix_info_t *info PX_UNUSED,
                      size_t n PX_UNUSED, void *cbdata PX_UNUSED,
                      pmix_release_cbfunc_t release, void *release_data)
{
    ck_assert_int_ne(status, PMIX_SUCCESS);
    atomic_fetch_add(&n_answered, 1);
    if (release)
        release(release_data);
}

static void ask(void)
{
    pmix_status_t rc = PMIx_Query_info_nb(&query, 1, on_answer, NULL);

    ck_assert(rc == PMIX_SUCCESS || (rc == PMIX_ERR_INIT && !PMIx_Initialized()));
    n_asked += rc == PMIX_SUCCESS;
}

static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/* Begins and ends the roles in these orders. A role connected through the server role
 * ends with it. */
static void live(const int *first, const int *last)
{
    for (int i = 0; i < 3; i++) {
        ok(roles[first[i]].begin());
        ask();
    }
    for (int i = 0; i < 3; i++) {
        pmix_status_t rc = roles[last[i]].end();

        ck_assert(rc == PMIX_SUCCESS || (i > 0 && rc == PMIX_ERR_INIT));
        ask();
    }
    nothing_is_left();
    ck_assert_int_eq(atomic_load(&n_answered), atomic_load(&n_asked));
}

PX_TEST(roles_begin_and_end_in_every_order)
{
    for (size_t i = 0; i < PX_COUNT(orders); i++)
        for (size_t k = 0; k < PX_COUNT(orders); k++)
            live(orders[i], orders[k]);
    ck_assert_int_gt(atomic_load(&n_passed), 0);
}

PX_TEST_MAIN("tool/alone", tool_setup, tool_teardown)
