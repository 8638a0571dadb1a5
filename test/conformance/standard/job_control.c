/* SPDX-License-Identifier: BSD-3-Clause */
/* The Standard's section "Job Control". */
#include "standard.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a host with a function for job control ------------------------------------------------ */

static struct {
    pmix_info_t directives[8];
    size_t n;
    unsigned n_calls;
} host;

static pmix_status_t host_control(const pmix_proc_t *requestor PX_UNUSED,
                                  const pmix_proc_t targets[] PX_UNUSED,
                                  size_t n_targets PX_UNUSED,
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

static void stop(void)
{
    if (PMIx_Initialized())
        (void)PMIx_server_finalize();
}

static void on_results(pmix_status_t status, pmix_info_t *info PX_UNUSED,
                       size_t n PX_UNUSED, void *cbdata, pmix_release_cbfunc_t release,
                       void *release_cbdata)
{
    if (release)
        release(release_cbdata);
    standard_on_op(status, cbdata);
}

/* Asks the host by one form of the call. */
static void ask_host(bool blocking)
{
    static pmix_server_module_t module = {.job_control = host_control};
    pmix_info_t how[2], *results = NULL;
    size_t n = 0;

    ok(PMIx_server_init(&module, NULL, 0));
    PMIx_Info_load(&how[0], PMIX_JOB_CTRL_CHECKPOINT, "a", PMIX_STRING);
    PMIx_Info_load(&how[1], "example.own", "text", PMIX_STRING);
    ok(blocking
           ? PMIx_Job_control(NULL, 0, how, 2, &results, &n)
           : standard_wait(PMIx_Job_control_nb(NULL, 0, how, 2, on_results, NULL)));
    ck_assert_uint_eq(host.n_calls, 1);
}

PX_TEST_LOOP(attributes_must_be_passed_to_the_host, 2)
{
    ask_host(_i == 0);
    const pmix_info_t *own = standard_find(host.directives, host.n, "example.own");
    ck_assert(standard_find(host.directives, host.n, PMIX_JOB_CTRL_CHECKPOINT));
    ck_assert(own && strcmp(own->value.data.string, "text") == 0);
}

PX_TEST_LOOP(the_user_and_the_group_are_required, 2)
{
    ask_host(_i == 0);
    const pmix_info_t *uid = standard_find(host.directives, host.n, PMIX_USERID);
    const pmix_info_t *gid = standard_find(host.directives, host.n, PMIX_GRPID);
    ck_assert(uid && uid->value.data.uint32 == geteuid());
    ck_assert(gid && gid->value.data.uint32 == getegid());
}

/* ---- the built-in host --------------------------------------------------------------------- */

static char
    child[PMIX_MAX_NSLEN + 1]; /* namespace of a job that this client has spawned */

/* Spawns a job that sleeps. */
static void spawn(void)
{
    char command[] = "sleep", *argv[] = {command, (char[]){"60"}, NULL};
    pmix_app_t app = {.cmd = command, .argv = argv, .maxprocs = 1};

    STANDARD_CHECK(PMIx_Spawn(NULL, 0, &app, 1, child) == PMIX_SUCCESS);
}

/* Sends an order for the child. Each attribute is required. */
static pmix_status_t order(const char *key, const void *value, pmix_data_type_t type,
                           const char *id, pmix_info_t **results, size_t *n)
{
    pmix_info_t how[2];
    pmix_proc_t target;
    pmix_status_t rc;

    PMIX_LOAD_PROCID(&target, child, PMIX_RANK_WILDCARD);
    PMIx_Info_load(&how[0], key, value, type);
    PMIx_Info_load(&how[1], PMIX_JOB_CTRL_ID, id, PMIX_STRING);
    PMIx_Info_required(&how[0]);
    PMIx_Info_required(&how[1]);
    rc = PMIx_Job_control(&target, 1, how, 2, results, n);
    PMIx_Info_destruct(&how[0]);
    PMIx_Info_destruct(&how[1]);
    return rc;
}

static void carry_out(const char *key, const void *value, pmix_data_type_t type,
                      const char *id)
{
    pmix_info_t *results = NULL;
    size_t n = 0;

    STANDARD_CHECK(order(key, value, type, id, &results, &n) == PMIX_SUCCESS);
}

/* Returns the state of the child's process, or '-' if there is none. */
static char state(void)
{
    pmix_info_t what, how, *results = NULL;
    pmix_proc_t target;
    const pmix_data_array_t targets = {PMIX_PROC, 1, &target};
    const pmix_info_t *found = NULL;
    char letter = '-';
    size_t n = 0;

    PMIX_LOAD_PROCID(&target, child, 0);
    PMIx_Info_load(&what, PMIX_MONITOR_PROC_RESOURCE_USAGE, NULL, PMIX_BOOL);
    PMIx_Info_load(&how, PMIX_MONITOR_TARGET_PROCS, &targets, PMIX_DATA_ARRAY);
    STANDARD_CHECK(PMIx_Process_monitor(&what, PMIX_SUCCESS, &how, 1, &results, &n) ==
                   PMIX_SUCCESS);
    if (n > 0)
        found = standard_find(results[0].value.data.darray->array,
                              results[0].value.data.darray->size, PMIX_PROC_OS_STATE);
    if (found)
        letter = found->value.data.string[0];
    if (results)
        PMIX_INFO_FREE(results, n);
    PMIx_Info_destruct(&how);
    return letter == 'Z' ? '-' : letter;
}

static void await_state(char wanted)
{
    for (int i = 0; i < 2000 && state() != wanted; i++)
        usleep(10000);
    STANDARD_CHECK(state() == wanted);
}

STANDARD_CLIENT(controls)
{
    const int number = SIGTERM;

    spawn();
    await_state('S');
    carry_out(PMIX_JOB_CTRL_PAUSE, NULL, PMIX_BOOL, "p");
    await_state('T');
    carry_out(PMIX_JOB_CTRL_RESUME, NULL, PMIX_BOOL, "r");
    await_state('S');
    carry_out(PMIX_JOB_CTRL_KILL, NULL, PMIX_BOOL, "k");
    await_state('-');
    spawn();
    carry_out(PMIX_JOB_CTRL_SIGNAL, &number, PMIX_INT, "s");
    await_state('-');
    spawn();
    carry_out(PMIX_JOB_CTRL_TERMINATE, NULL, PMIX_BOOL, "t");
    await_state('-');
    puts("done");
}

/* Runs a client whose child is killed. pmixrun ends with the status of the child's end. */
static void run(const char *client)
{
    int status = standard_try("-n 1 --recoverable", client);

    ck_assert_msg(status > 128 && standard_count(standard_out, "done") == 1,
                  "%s: status %d\n%s", client, status, standard_err);
}

PX_TEST(pause_resume_kill_signal_and_terminate_are_required)
{
    STANDARD_NEEDS_PMIXRUN;
    PX_TEST_NEEDS_PROC;
    run("controls");
}

STANDARD_CLIENT(cancels)
{
    pmix_info_t *results = NULL;
    size_t n = 0;

    spawn();
    carry_out(PMIX_JOB_CTRL_PAUSE, NULL, PMIX_BOOL, "mine");
    await_state('T');
    STANDARD_CHECK(order(PMIX_JOB_CTRL_CANCEL, "other", PMIX_STRING, "c", &results,
                         &n) == PMIX_ERR_NOT_FOUND);
    PMIX_INFO_FREE(results, n);
    STANDARD_CHECK(state() == 'T');
    carry_out(PMIX_JOB_CTRL_CANCEL, "mine", PMIX_STRING, "c");
    await_state('S');
    carry_out(PMIX_JOB_CTRL_KILL, NULL, PMIX_BOOL, "k");
    puts("done");
}

PX_TEST(the_id_shall_be_tracked_and_must_match_to_cancel)
{
    STANDARD_NEEDS_PMIXRUN;
    PX_TEST_NEEDS_PROC;
    run("cancels");
}

STANDARD_CLIENT(denied)
{
    pmix_info_t *results = NULL;
    size_t n = 0;

    spawn();
    STANDARD_CHECK(order(PMIX_JOB_CTRL_SIGNAL, &(int){-1}, PMIX_INT, "s", &results,
                         &n) == PMIX_ERR_BAD_PARAM);
    STANDARD_CHECK(standard_find(results, n, PMIX_EVENT_TEXT_MESSAGE));
    PMIX_INFO_FREE(results, n);
    results = NULL;
    n = 0;
    STANDARD_CHECK(order(PMIX_JOB_CTRL_CHECKPOINT, "a", PMIX_STRING, "c", &results,
                         &n) == PMIX_ERR_NOT_SUPPORTED);
    const pmix_info_t *why = standard_find(results, n, PMIX_EVENT_TEXT_MESSAGE);
    STANDARD_CHECK(why && strstr(why->value.data.string, PMIX_JOB_CTRL_CHECKPOINT));
    PMIX_INFO_FREE(results, n);
    carry_out(PMIX_JOB_CTRL_KILL, NULL, PMIX_BOOL, "k");
    puts("done");
}

PX_TEST(the_reason_of_a_denial_shall_be_returned)
{
    STANDARD_NEEDS_PMIXRUN;
    run("denied");
}

/* ---- clean-up ------------------------------------------------------------------------------ */

/* A registration, for a folder with the file "kept", the empty folder "empty" and the folder "full" with a
 * file. remaining: parts after the client's end: t (the folder itself), k, e, f. */
static const struct cleanup {
    const char *key, *below; /* the path that is registered, relative to the folder */
    const char *flags[2];
    const char *ignored, *remaining;
} cleanups[] = {
    {PMIX_REGISTER_CLEANUP, "/kept", {NULL}, NULL, "tef"},
    {PMIX_REGISTER_CLEANUP_DIR, "/empty", {NULL}, NULL, "tkf"},
    {PMIX_REGISTER_CLEANUP_DIR, "", {PMIX_CLEANUP_RECURSIVE}, NULL, ""},
    {PMIX_REGISTER_CLEANUP_DIR, "", {PMIX_CLEANUP_RECURSIVE}, "/kept", "tk"},
    {PMIX_REGISTER_CLEANUP_DIR,
     "",
     {PMIX_CLEANUP_RECURSIVE, PMIX_CLEANUP_LEAVE_TOPDIR},
     NULL,
     "t"},
    {PMIX_REGISTER_CLEANUP_DIR,
     "",
     {PMIX_CLEANUP_RECURSIVE, PMIX_CLEANUP_EMPTY},
     NULL,
     "tkf"},
};

static const char *const parts[] = {"t", "", "k", "/kept", "e", "/empty", "f", "/full"};

static char *path_in(const char *folder, const char *below)
{
    static char path[4][4096];
    static unsigned next;
    char *p = path[next++ % 4];

    snprintf(p, sizeof(path[0]), "%s%s", folder, below);
    return p;
}

STANDARD_CLIENT(registers)
{
    const struct cleanup *c = &cleanups[atoi(getenv("STANDARD_ROW"))];
    const char *folder = getenv("STANDARD_FOLDER");
    pmix_info_t what, how[3], *results = NULL;
    size_t n = 0, n_results = 0;

    PMIx_Info_load(&what, c->key, path_in(folder, c->below), PMIX_STRING);
    for (; n < 2 && c->flags[n]; n++)
        PMIx_Info_load(&how[n], c->flags[n], NULL, PMIX_BOOL);
    if (c->ignored)
        PMIx_Info_load(&how[n++], PMIX_CLEANUP_IGNORE, path_in(folder, c->ignored),
                       PMIX_STRING);
    pmix_info_t all[4] = {what, how[0], how[1], how[2]};
    for (size_t i = 0; i <= n; i++)
        PMIx_Info_required(&all[i]);
    STANDARD_CHECK(PMIx_Job_control(NULL, 0, all, n + 1, &results, &n_results) ==
                   PMIX_SUCCESS);
}

PX_TEST_LOOP(registrations_for_cleanup_and_their_directives_are_required,
             (int)(sizeof(cleanups) / sizeof(cleanups[0])))
{
    const char *folder = px_test_path("folder");
    char row[16], found[8] = "";
    struct stat st;
    size_t n = 0;

    STANDARD_NEEDS_PMIXRUN;
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    ck_assert_int_eq(mkdir(path_in(folder, "/empty"), 0755), 0);
    ck_assert_int_eq(mkdir(path_in(folder, "/full"), 0755), 0);
    fclose(fopen(path_in(folder, "/kept"), "w"));
    fclose(fopen(path_in(folder, "/full/file"), "w"));
    snprintf(row, sizeof(row), "%d", _i);
    setenv("STANDARD_ROW", row, 1);
    setenv("STANDARD_FOLDER", folder, 1);
    standard_run("-n 1", "registers");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i += 2)
        if (stat(path_in(folder, parts[i + 1]), &st) == 0)
            found[n++] = parts[i][0];
    ck_assert_str_eq(found, cleanups[_i].remaining);
}

STANDARD_MAIN("standard/job_control", NULL, stop)
