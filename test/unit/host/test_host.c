/* SPDX-License-Identifier: BSD-3-Clause */
/* The built-in host, as part of a server that starts jobs of shell scripts: requests
 * that are refused or carried out in full, how jobs end and which failure is named,
 * abort, job control, queries. Attributes of requests: test_attributes.c. */
#include "core/host/job.h"

#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "alloc_fail.h"
#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/model/nspace.h"
#include "core/rt/loop.h"
#include "core/server/cleanup/session.h"
#include "core/server/host.h"
#include "core/server/server.h"
#include "px_test.h"
#include "times.h"

/* ---- scene ----------------------------------------------------------------------- */

static struct seen {
    sem_t ended; /* once for each job */
    atomic_int n_failures;
    pmix_status_t failure, verdict; /* the first failure, and the last end */
    pmix_proc_t culprit;
    int exit_code;
    char text[512];
} seen;
/* The job spawned last. Jobs run in px_test_dir(). */
static char job_name[PMIX_MAX_NSLEN + 1];

PX_TEST_HANDLER(on_event)
{
    const char *message = px_info_str(info, n, PMIX_EVENT_TEXT_MESSAGE);

    seen.exit_code = (int)px_info_u32(info, n, PMIX_EXIT_CODE, 9999);
    if (code != PMIX_EVENT_JOB_END) {
        seen.n_failures++;
        seen.failure = code;
        seen.culprit = *source;
        px_str_copy(seen.text, sizeof(seen.text), message);
    } else {
        seen.verdict = px_info_find(info, n, PMIX_JOB_TERM_STATUS)->value.data.status;
        sem_post(&seen.ended);
    }
    cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void setup(void)
{
    pmix_status_t codes[] = {PMIX_EVENT_JOB_END, PMIX_ERR_PROC_ABORTED_BY_SIG,
                             PMIX_ERR_EXIT_NONZERO_TERM, PMIX_ERR_PROC_REQUESTED_ABORT,
                             PMIX_ERR_PROC_TERM_WO_SYNC};

    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1); /* all of them readable */
    sem_init(&seen.ended, 0, 0);
    setenv("PMIX_MCA_embedded_grace", "300ms", 1);
    setenv("PMIX_MCA_pfexec_linux_start_timeout", "1500ms", 1);
    setenv("PMIX_MCA_pfexec_posix_start_timeout", "1500ms", 1);
    ok(PMIx_server_init(NULL, NULL, 0));
    ck_assert_int_ge(PMIx_Register_event_handler(codes, PX_COUNT(codes), NULL, 0,
                                                 on_event, NULL, NULL),
                     0);
}

static void teardown(void)
{
    ok(PMIx_server_finalize());
}

static struct px_launcher *launcher(void)
{
    return px_server_builtin_self();
}

/* Waits until a job has ended, as it should: with this verdict. */
static void await_end(pmix_status_t verdict)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 30;
    ok(sem_timedwait(&seen.ended, &t));
    ck_assert_int_eq(seen.verdict, verdict);
}

/* A job, and with this text its process of that rank, has failed. Forgets that. */
static void await_failure(pmix_status_t failure, pmix_status_t verdict,
                          pmix_rank_t rank, int exit_code, const char *text)
{
    await_end(verdict);
    ck_assert_int_eq(seen.n_failures, 1);
    ck_assert_int_eq(seen.failure, failure);
    ck_assert_uint_eq(seen.culprit.rank, rank);
    ck_assert_int_eq(seen.exit_code, exit_code);
    ck_assert_str_eq(seen.text, text);
    seen.n_failures = 0;
}

/* n processes of a shell script, with infos for the job. */
static pmix_status_t spawn_with(const px_infos *infos, int n, const char *script)
{
    char sh[] = "sh", c[] = "-c", *argv[] = {sh, c, (char *)script, NULL};
    pmix_app_t app = {
        .cmd = sh, .argv = argv, .cwd = (char *)px_test_dir(), .maxprocs = n};

    return PMIx_Spawn(infos ? infos->v : NULL, infos ? infos->n : 0, &app, 1, job_name);
}

static void spawn(int n, const char *script)
{
    ok(spawn_with(NULL, n, script));
}

static void spawn_sleepers(int n)
{
    spawn(n, "exec sleep 20");
}

/* PMIx_Job_control with this value, or a flag if it is NULL, to target; NULL: to all
 * jobs. */
static pmix_status_t control_by(const char *directive, const void *value,
                                pmix_data_type_t type, pmix_proc_t *target)
{
    bool yes = true;
    pmix_info_t info;

    ok(PMIx_Info_load(&info, directive, value ? value : &yes,
                      value ? type : PMIX_BOOL));
    pmix_status_t rc = PMIx_Job_control(target, target ? 1 : 0, &info, 1, NULL, NULL);
    PMIx_Info_destruct(&info);
    return rc;
}

static pmix_status_t control(const char *directive, pmix_proc_t *target)
{
    return control_by(directive, NULL, PMIX_BOOL, target);
}

static pmix_status_t send_signal(int signum, pmix_proc_t *target)
{
    return control_by(PMIX_JOB_CTRL_SIGNAL, &signum, PMIX_INT, target);
}

/* Files in the jobs' folder. await_file waits for one, and removes it. */
static bool exists(const char *name)
{
    return access(px_test_path(name), F_OK) == 0;
}

static void remove_file(const char *name)
{
    ok(unlink(px_test_path(name)));
}

static void make_file(const char *name)
{
    close(open(px_test_path(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static void await_file(const char *name)
{
    for (int i = 0; i < 5000 && !exists(name); i++)
        usleep(1000);
    remove_file(name);
}

/* ---- programs -------------------------------------------------------------------- */

/* One process, in the jobs' folder, unless the application says otherwise. */
static pmix_status_t try(pmix_app_t app)
{
    if (!app.cwd)
        app.cwd = (char *)px_test_dir();
    if (!app.maxprocs)
        app.maxprocs = 1;
    return PMIx_Spawn(NULL, 0, &app, 1, job_name);
}

PX_TEST(programs_that_cannot_be_started_are_refused)
{
    char nothing[] = "", name[] = "true", *empty[] = {NULL}, *blank[] = {nothing, NULL};
    static const struct {
        const char *program, *cwd;
        int n;
        pmix_status_t status;
    } rows[] = {{"no-such-program", NULL, 1, PMIX_ERR_JOB_EXE_NOT_FOUND},
                {"/etc/passwd", NULL, 1, PMIX_ERR_JOB_APP_NOT_EXECUTABLE},
                {"true", "/no/such/dir", 1, PMIX_ERR_JOB_WDIR_NOT_FOUND},
                {"true", "/etc/passwd", 1, PMIX_ERR_JOB_WDIR_NOT_FOUND},
                {"true", NULL, -1, PMIX_ERR_BAD_PARAM},
                {"true", NULL, INT_MAX, PMIX_ERR_JOB_INSUFFICIENT_RESOURCES},
                {"", NULL, 1, PMIX_ERR_JOB_NO_EXE_SPECIFIED},
                {NULL, NULL, 1, PMIX_ERR_BAD_PARAM}};

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        ck_assert_int_eq(try((pmix_app_t){.cmd = (char *)rows[i].program,
                                          .cwd = (char *)rows[i].cwd,
                                          .maxprocs = rows[i].n}),
                         rows[i].status);
    pmix_app_t none = {.cmd = name};
    ck_assert_int_eq(PMIx_Spawn(NULL, 0, &none, 1, job_name), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(try((pmix_app_t){.argv = empty}), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(try((pmix_app_t){.argv = blank}), PMIX_ERR_JOB_NO_EXE_SPECIFIED);
    ck_assert_str_eq(job_name, "");
}

PX_TEST(the_first_argument_or_the_command_names_the_program)
{
    char sh[] = "sh", c[] = "-c", body[] = "[ \"$0\" = sh ] && touch ran",
         name[] = "true";
    char *argv[] = {sh, c, body, NULL}, *empty[] = {NULL};
    const pmix_app_t apps[] = {
        {.argv = argv}, {.cmd = name}, {.cmd = name, .argv = empty}};

    for (size_t i = 0; i < PX_COUNT(apps); i++) {
        ok(try(apps[i]));
        await_end(PMIX_SUCCESS);
    }
    remove_file("ran");
}

PX_TEST(all_are_started_or_none)
{
    const char *script = px_test_path("bad");
    int fd = open(script, O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
    char sh[] = "sh", c[] = "-c", body[] = "touch started; exec sleep 20";
    char *argv[] = {sh, c, body, NULL}, *bad[] = {(char *)script, NULL};
    pmix_app_t apps[] = {
        {.cmd = sh, .argv = argv, .cwd = (char *)px_test_dir(), .maxprocs = 2},
        {.cmd = (char *)script, .argv = bad, .maxprocs = 1}};
    uint64_t began = px_clock_ms();

    /* It is there and executable, and only the attempt shows what is wrong with it. */
    ck_assert_int_eq(dprintf(fd, "#!/no/such/interpreter\n"), 23);
    close(fd);
    ck_assert_int_eq(PMIx_Spawn(NULL, 0, apps, 2, job_name),
                     PMIX_ERR_JOB_EXE_NOT_FOUND);
    ck_assert_uint_lt(px_clock_ms() - began, 5000);
    ck_assert(px_list_empty(&launcher()->jobs));
    ck_assert_int_eq(seen.n_failures, 0);
}

struct answer {
    sem_t given;
    pmix_status_t status;
};

static void on_spawned(pmix_status_t status, char nspace[] PX_UNUSED, void *cbdata)
{
    struct answer *a = cbdata;

    a->status = status;
    sem_post(&a->given);
}

/* Of a program that exec has to wait for: another process holds a write lease on it.
 * False where there are no leases. */
static bool begin_stuck(const char *script, int *fd, struct answer *answer)
{
    char *argv[] = {(char *)script, NULL};
    pmix_app_t app = {.cmd = argv[0], .argv = argv, .maxprocs = 2};

    *fd = open(script, O_CREAT | O_RDWR | O_CLOEXEC, 0700);
    ck_assert_int_eq(write(*fd, "#!/bin/sh\n", 10), 10);
    signal(SIGIO, SIG_IGN);
    if (fcntl(*fd, F_SETLEASE, F_WRLCK) < 0)
        return false;
    sem_init(&answer->given, 0, 0);
    ok(PMIx_Spawn_nb(NULL, 0, &app, 1, on_spawned, answer));
    return true;
}

static pmix_status_t await_answer(struct answer *a)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 10;
    ok(sem_timedwait(&a->given, &t));
    return a->status;
}

/* It is given up, or ended by order. */
PX_TEST(a_start_that_hangs_holds_up_nothing_else)
{
    for (int by_order = 0; by_order < 2; by_order++) {
        uint64_t began = px_clock_ms();
        struct answer answer;
        int fd;

        PX_TEST_NEEDS(begin_stuck(px_test_path("stuck"), &fd, &answer),
                      "a file system with leases");
        for (int i = 0; i < 3; i++) {
            spawn(2, "true");
            await_end(PMIX_SUCCESS);
        }
        ck_assert_uint_lt(px_clock_ms() - began, 1500);
        if (by_order)
            ok(control(PMIX_JOB_CTRL_TERMINATE, NULL));
        ck_assert_int_eq(await_answer(&answer), by_order
                                                    ? PMIX_ERR_JOB_KILLED_BY_CMD
                                                    : PMIX_ERR_JOB_FAILED_TO_LAUNCH);
        ck_assert_uint_ge(px_clock_ms() - began, by_order ? 0 : 1500);
        ck_assert_int_eq(seen.n_failures, 0);
        close(fd);
        remove_file("stuck");
    }
}

PX_TEST(a_failure_while_others_are_being_started_is_told_after_the_answer)
{
    spawn(100, "exit 3");
    await_end(PMIX_ERR_JOB_NON_ZERO_TERM);
    ck_assert_int_eq(seen.n_failures, 1);
    ck_assert_int_eq(seen.exit_code, 3);
}

static atomic_bool thief_may_go;

static void *reap_all(void *arg PX_UNUSED)
{
    while (!thief_may_go)
        waitpid(-1, NULL, 0);
    return NULL;
}

/* A host program may ignore SIGCHLD, or reap whatever it finds: no start fails over
 * that. */
PX_TEST_LOOP(a_host_that_reaps_our_children_loses_no_job, 2)
{
    const int status = px_test_kernel_keeps_status() ? 7 : 255;
    pthread_t thief;

    if (_i == 0)
        signal(SIGCHLD, SIG_IGN);
    else
        ok(pthread_create(&thief, NULL, reap_all, NULL));
    for (unsigned i = 0; i < px_test_times(6, 200); i++) {
        spawn(2, "exit 7");
        await_end(PMIX_ERR_JOB_NON_ZERO_TERM);
        ck_assert(seen.exit_code == 7 || seen.exit_code == status);
    }
    thief_may_go = true;
    if (_i)
        pthread_join(thief, NULL);
}

/* ---- environment ----------------------------------------------------------------- */

PX_TEST(text_that_is_no_variable_is_refused)
{
    static const char *const wrong[] = {"novalue", "=1", ""};
    char sh[] = "sh", c[] = "-c",
         body[] = "[ \"$A\" = 1=2 ] && [ -z \"$B\" ] && touch ran", a[] = "A=1=2",
         b[] = "B=", *argv[] = {sh, c, body, NULL}, *env[] = {a, b, NULL};

    ok(try((pmix_app_t){.argv = argv, .env = env}));
    await_end(PMIX_SUCCESS);
    remove_file("ran");
    for (size_t i = 0; i < PX_COUNT(wrong); i++) {
        env[1] = (char *)wrong[i];
        ck_assert_int_eq(try((pmix_app_t){.argv = argv, .env = env}),
                         PMIX_ERR_BAD_PARAM);
    }
    ck_assert(!exists("ran"));
}

/* ---- the job's information ------------------------------------------------------- */

/* Of a job that PMIx_Get knows; the caller's to free. */
static pmix_value_t *get(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc;
    pmix_value_t *v = NULL;

    px_proc_set(&proc, job_name, rank);
    ok(PMIx_Get(&proc, key, NULL, 0, &v));
    return v;
}

PX_TEST(a_job_is_described_as_launchers_do)
{
    static const struct {
        pmix_rank_t rank;
        const char *key;
        uint32_t value;
    } rows[] = {{PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 3},
                {PMIX_RANK_WILDCARD, PMIX_NPROC_OFFSET, 1},
                {2, PMIX_GLOBAL_RANK, 3},
                {2, PMIX_APP_RANK, 2},
                {0, PMIX_REINCARNATION, 0}};

    spawn(1, "true");
    spawn_sleepers(3);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_value_t *v = get(rows[i].rank, rows[i].key);
        uint32_t n = UINT32_MAX;

        ck_assert_msg(px_value_to_u32(v, &n) && n == rows[i].value, "%s: %u",
                      rows[i].key, n);
        PMIx_Value_free(v, 1);
    }
}

/* ---- ends ------------------------------------------------------------------------ */

PX_TEST(the_first_failure_is_reported_and_ends_the_job)
{
    static const struct {
        const char *script;
        pmix_status_t failure, verdict;
        const char *text;
        int exit_code;
    } rows[] = {{"test $PMIX_RANK != 1 || exit 3; exec sleep 20",
                 PMIX_ERR_EXIT_NONZERO_TERM, PMIX_ERR_JOB_NON_ZERO_TERM,
                 "exited with status 3", 3},
                {"test $PMIX_RANK != 1 || kill -9 $$; exec sleep 20",
                 PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_JOB_ABORTED_BY_SIG,
                 "killed by signal 9 (Killed)", 137}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        spawn(3, rows[i].script);
        await_failure(rows[i].failure, rows[i].verdict, 1, rows[i].exit_code,
                      rows[i].text);
    }
}

PX_TEST(a_process_that_ignores_term_is_killed)
{
    spawn(2, "trap '' TERM; touch up$PMIX_RANK; test $PMIX_RANK = 1 || "
             "{ while test ! -e go; do sleep 0.01; done; exit 1; }; "
             "while :; do sleep 0.05; done");
    await_file("up0");
    await_file("up1");
    uint64_t began = px_clock_ms();
    make_file("go");
    await_end(PMIX_ERR_JOB_NON_ZERO_TERM);
    ck_assert_uint_ge(px_clock_ms() - began, 300);
    ck_assert_uint_lt(px_clock_ms() - began, 5000);
    ck_assert_int_eq(seen.n_failures, 1);
}

static void do_lose_rank_0(struct px_call *call, void *args PX_UNUSED)
{
    pmix_proc_t proc;

    px_proc_set(&proc, job_name, 0);
    px_local_find(px_process.server, &proc)->lost = true;
    px_call_done(call, PMIX_SUCCESS);
}

/* Rank 0 is about to die, as its broken connection shows, and rank 1 fails over
 * that. */
PX_TEST(the_process_that_dies_first_is_named_not_one_that_fails_over_that)
{
    for (int dies = 0; dies < 2; dies++) {
        pmix_proc_t victim;

        spawn(2, "test $PMIX_RANK = 1 || exec sleep 20; touch up; "
                 "while test ! -e go; do sleep 0.01; done; exit 3");
        await_file("up");
        ok(px_call(px_process.loop, do_lose_rank_0, NULL));
        make_file("go");
        usleep(100000);
        remove_file("go");
        px_proc_set(&victim, job_name, 0);
        if (dies) {
            ok(send_signal(SIGKILL, &victim));
            await_failure(PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_JOB_ABORTED_BY_SIG, 0,
                          137, "killed by signal 9 (Killed)");
        } else {
            await_failure(PMIX_ERR_EXIT_NONZERO_TERM, PMIX_ERR_JOB_NON_ZERO_TERM, 1, 3,
                          "exited with status 3");
        }
    }
}

static void do_adopt(struct px_call *call, void *args)
{
    const pmix_proc_t *parent = args;

    px_job_find(launcher(), job_name)->parent = *parent;
    px_call_done(call, PMIX_SUCCESS);
}

/* Two jobs, as if a process of the first had spawned the second; the first is
 * killed. */
PX_TEST(children_end_with_a_parent_that_fails_unless_they_are_separate)
{
    for (int separate = 0; separate < 2; separate++) {
        PX_AUTO(px_infos) infos = {0};
        pmix_proc_t parent;
        bool flag = separate;

        spawn_sleepers(1);
        px_proc_set(&parent, job_name, 0);
        ok(px_infos_add(&infos, PMIX_SPAWN_CHILD_SEP, &flag, PMIX_BOOL));
        /* takes its time, so that the end of the first is told first */
        ok(spawn_with(&infos, 1,
                      "trap 'sleep 0.1; exit' TERM; touch up; "
                      "while :; do sleep 0.01; done"));
        await_file("up");
        ok(px_call(px_process.loop, do_adopt, &parent));
        ok(send_signal(SIGKILL, &parent));
        await_failure(PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_JOB_ABORTED_BY_SIG, 0, 137,
                      "killed by signal 9 (Killed)");
        if (!separate)
            await_end(PMIX_ERR_JOB_KILLED_BY_CMD);
    }
    usleep(500000);
    ck_assert_int_ne(sem_trywait(&seen.ended), 0);
}

static void do_find_pid(struct px_call *call, void *args)
{
    *(pid_t *)args = px_job_find(launcher(), job_name)->tasks[0].pid;
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST(finalize_ends_all_that_still_run)
{
    pid_t pid = 0;

    spawn_sleepers(1);
    ok(px_call(px_process.loop, do_find_pid, &pid));
    ok(kill(pid, 0));
    ok(PMIx_server_finalize());
    ck_assert_int_lt(kill(pid, 0), 0);
    ok(PMIx_server_init(NULL, NULL, 0)); /* for teardown */
}

PX_TEST(left_behind_processes_do_not_hold_up_the_end)
{
    uint64_t began = px_clock_ms();

    spawn(1, "(sleep 3) & exit 0");
    await_end(PMIX_SUCCESS);
    ck_assert_uint_lt(px_clock_ms() - began, 2000);
}

static void do_look(struct px_call *call, void *args)
{
    *(bool *)args = !px_list_empty(&launcher()->jobs) ||
                    px_nspace_find(px_process.model, job_name);
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST(an_ended_job_is_forgotten_after_a_while)
{
    bool known = true;

    spawn(1, "true");
    await_end(PMIX_SUCCESS);
    for (int i = 0; i < 5000 && known; i++) {
        usleep(1000);
        ok(px_call(px_process.loop, do_look, &known));
    }
    ck_assert(!known);
}

PX_TEST(a_job_has_folders_until_it_ends)
{
    struct stat st;

    PX_TEST_NEEDS(px_process.server->session->cleaner, "a component of pcleanup");
    spawn(2, "while test ! -e go; do sleep 0.01; done");
    pmix_value_t *dirs[] = {get(PMIX_RANK_WILDCARD, PMIX_TMPDIR),
                            get(PMIX_RANK_WILDCARD, PMIX_NSDIR), get(1, PMIX_PROCDIR)};
    const char *top = dirs[0]->data.string, *job = dirs[1]->data.string,
               *rank = dirs[2]->data.string;
    ck_assert(px_str_starts(rank, job) && px_str_starts(job, top) &&
              px_str_starts(top, px_process.server->dir));
    ok(lstat(rank, &st));
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    for (int i = 0; i < 100; i++) {
        PX_AUTOFREE char *dir = px_strf("%s/%d", i % 2 ? job : rank, 1000 + i);

        ok(mkdir(dir, 0700));
    }
    make_file("go");
    await_end(PMIX_SUCCESS);
    for (int i = 0; i < 1000 && lstat(job, &st) == 0; i++)
        usleep(5000);
    ck_assert_int_ne(lstat(job, &st), 0);
    ok(lstat(top, &st)); /* the next job's will be there */
    for (size_t i = 0; i < PX_COUNT(dirs); i++)
        PMIx_Value_free(dirs[i], 1);
}

/* ---- abort ----------------------------------------------------------------------- */

struct request {
    const char *nspace;
    int status;
    const char *text;
    pmix_proc_t *procs;
    size_t n;
};

/* From rank 1 of that job. */
static void do_abort(struct px_call *call, void *arg)
{
    const struct request *q = arg;
    pmix_proc_t from;

    px_proc_set(&from, q->nspace, 1);
    px_call_done(call, px_process.server->module.abort(&from, NULL, q->status, q->text,
                                                       q->procs, q->n, NULL, NULL));
}

static pmix_status_t abort_from(const char *nspace, int status, const char *text,
                                pmix_proc_t *procs, size_t n)
{
    return px_call(px_process.loop, do_abort,
                   &(struct request){nspace, status, text, procs, n});
}

PX_TEST(abort_ends_the_job_and_names_its_caller)
{
    static const struct {
        int status;
        const char *text, *said;
        int exit_code;
    } rows[] = {{7, "no more", "called abort with status 7: no more", 7},
                {0, NULL, "called abort with status 0", 1},
                {256, "", "called abort with status 256", 1},
                {-1, NULL, "called abort with status -1", 255}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        spawn_sleepers(2);
        ck_assert_int_eq(abort_from(job_name, rows[i].status, rows[i].text, NULL, 0),
                         PMIX_OPERATION_SUCCEEDED);
        await_failure(PMIX_ERR_PROC_REQUESTED_ABORT, PMIX_ERR_JOB_ABORTED, 1,
                      rows[i].exit_code, rows[i].said);
    }
}

PX_TEST(abort_of_another_job_ends_that_one_and_its_caller_is_named)
{
    char first[sizeof(job_name)], said[2 * sizeof(first)];
    pmix_proc_t procs[3];

    spawn_sleepers(2);
    memcpy(first, job_name, sizeof(first));
    spawn_sleepers(2);
    px_proc_set(&procs[0], job_name, 0); /* both, so all */
    px_proc_set(&procs[1], job_name, 1);
    for (uint32_t i = 0; i < 3; i++) { /* what is not known spares what is */
        px_proc_set(&procs[2], i ? job_name : "unknown", i == 1 ? 2 : PMIX_RANK_UNDEF);
        ck_assert_int_eq(abort_from(first, 3, NULL, procs, 3), PMIX_ERR_NOT_FOUND);
    }
    ck_assert_int_eq(abort_from("unknown", 3, NULL, NULL, 0), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(seen.n_failures, 0);
    ck_assert_int_eq(abort_from(first, 3, NULL, procs, 2), PMIX_OPERATION_SUCCEEDED);
    snprintf(said, sizeof(said), "aborted job %s with status 3", job_name);
    await_failure(PMIX_ERR_PROC_REQUESTED_ABORT, PMIX_ERR_JOB_ABORTED, 1, 3, said);
    ck_assert_str_eq(seen.culprit.nspace, first);
    ck_assert_int_eq(abort_from(first, 3, NULL, NULL, 0), PMIX_OPERATION_SUCCEEDED);
    await_end(PMIX_ERR_JOB_ABORTED);
}

/* Ranks 0 and 2 of four, by rank 1: they end, also if they ignore TERM, and a job that
 * goes on does so without them. A second abort of them comes too late. */
PX_TEST(abort_of_some_ends_these_and_policy_says_what_of_the_others)
{
    static const struct {
        const char *key, *said;
        bool goes_on;
    } rows[] = {
        {PMIX_TAG_OUTPUT, "aborted ranks 0,2 with status 3; the job ends: why", false},
        {PMIX_JOB_RECOVERABLE, "aborted ranks 0,2 with status 3; the others go on: why",
         true},
        {PMIX_JOB_CONTINUOUS, "aborted ranks 0,2 with status 3; the others go on: why",
         true}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) infos = {0};
        pmix_proc_t procs[2];

        ok(px_infos_add(&infos, rows[i].key, NULL, PMIX_BOOL));
        ok(spawn_with(&infos, 4,
                      "test $PMIX_RANK != 2 || trap '' TERM; touch up$PMIX_RANK; "
                      "while test ! -e go; do sleep 0.01; done; "
                      "touch on$PMIX_RANK"));
        for (int r = 0; r < 4; r++)
            await_file((const char *[]){"up0", "up1", "up2", "up3"}[r]);
        px_proc_set(&procs[0], job_name, 2);
        px_proc_set(&procs[1], job_name, 0);
        for (int again = 0; again < 2; again++)
            ck_assert_int_eq(abort_from(job_name, 3 + again, "why", procs, 2),
                             PMIX_OPERATION_SUCCEEDED);
        usleep(600000); /* twice the grace */
        make_file("go");
        await_failure(PMIX_ERR_PROC_REQUESTED_ABORT, PMIX_ERR_JOB_ABORTED, 1, 3,
                      rows[i].said);
        remove_file("go");
        ck_assert(!exists("on0") && !exists("on2"));
        ck_assert(exists("on1") == rows[i].goes_on && exists("on3") == rows[i].goes_on);
        for (int r = 1; rows[i].goes_on && r < 4; r += 2)
            remove_file(r == 1 ? "on1" : "on3");
    }
}

PX_TEST(a_job_that_goes_on_tells_of_each_failure_and_ends_with_the_first)
{
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PMIX_JOB_CONTINUOUS, NULL, PMIX_BOOL));
    ok(spawn_with(&infos, 3,
                  "case $PMIX_RANK in 0) touch ran;; 1) exit 3;; "
                  "2) while test ! -e go; do sleep 0.01; done; kill -9 $$;; esac"));
    await_file("ran");
    for (int i = 0; i < 5000 && seen.n_failures == 0; i++)
        usleep(1000);
    ck_assert_int_eq(sem_trywait(&seen.ended), -1);
    make_file("go");
    await_end(PMIX_ERR_JOB_NON_ZERO_TERM);
    remove_file("go");
    ck_assert_int_eq(seen.n_failures, 2);
    ck_assert_int_eq(seen.exit_code, 3);
}

/* ---- control --------------------------------------------------------------------- */

PX_TEST(a_job_ended_by_order_has_not_failed)
{
    spawn_sleepers(2);
    ok(control(PMIX_JOB_CTRL_TERMINATE, NULL));
    await_end(PMIX_ERR_JOB_KILLED_BY_CMD);
    ck_assert_int_eq(seen.n_failures, 0);
    ck_assert_int_eq(seen.exit_code, 143);
}

PX_TEST(an_order_for_one_job_leaves_others_alone)
{
    pmix_proc_t first;

    spawn_sleepers(1);
    px_proc_set(&first, job_name, PMIX_RANK_WILDCARD);
    spawn(1, "touch up; exec sleep 20");
    ok(control(PMIX_JOB_CTRL_KILL, &first));
    await_end(PMIX_ERR_JOB_KILLED_BY_CMD);
    ck_assert_int_eq(seen.exit_code, 137);
    await_file("up");
    px_proc_set(&first, job_name, 0);
    ok(send_signal(SIGTERM, &first));
    await_end(PMIX_ERR_JOB_ABORTED_BY_SIG);
    ck_assert_int_eq(seen.failure, PMIX_ERR_PROC_ABORTED_BY_SIG);
}

PX_TEST(orders_that_make_no_sense_are_refused)
{
    static const int numbers[] = {-1, 0, 65, 1000000};
    pmix_proc_t unknown;

    spawn(2, "trap 'touch got$PMIX_RANK; exit 0' USR1; touch up$PMIX_RANK; "
             "while :; do sleep 0.01; done");
    await_file("up0");
    await_file("up1");
    px_proc_set(&unknown, "unknown", 0);
    ck_assert_int_eq(control(PMIX_JOB_CTRL_KILL, &unknown), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(control(PMIX_JOB_CTRL_PAUSE, NULL), PMIX_ERR_NOT_SUPPORTED);
    for (size_t i = 0; i < PX_COUNT(numbers); i++)
        ck_assert_int_eq(send_signal(numbers[i], NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(control_by(PMIX_JOB_CTRL_SIGNAL, "SIGUSR1", PMIX_STRING, NULL),
                     PMIX_ERR_BAD_PARAM);
    ck_assert(!exists("got0") && !exists("got1"));
    ok(send_signal(SIGUSR1, NULL));
    await_end(PMIX_SUCCESS);
    remove_file("got0");
    remove_file("got1");
}

/* ---- queries --------------------------------------------------------------------- */

static pmix_info_t *found;
static size_t n_found;

/* nspace and other may be NULL. */
static pmix_status_t query(const char *nspace, const char *key, const char *other)
{
    char *keys[] = {(char *)key, (char *)other, NULL};
    pmix_info_t qualifier;
    pmix_query_t q = {.keys = keys, .qualifiers = &qualifier, .nqual = nspace ? 1 : 0};

    PMIx_Info_free(found, n_found);
    found = NULL;
    n_found = 0;
    PMIx_Info_load(&qualifier, PMIX_NSPACE, nspace ? nspace : "", PMIX_STRING);
    pmix_status_t rc = PMIx_Query_info(&q, 1, &found, &n_found);
    PMIx_Info_destruct(&qualifier);
    return rc;
}

PX_TEST(queries_know_the_jobs_and_their_processes)
{
    spawn(2, "touch up.$PMIX_RANK; exec sleep 20");
    await_file("up.0");
    await_file("up.1");
    ck_assert_int_eq(query("unknown", PMIX_QUERY_PROC_TABLE, NULL), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(query(NULL, PMIX_QUERY_PROC_TABLE, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_ne(query(NULL, PMIX_QUERY_QUEUE_LIST, NULL), PMIX_SUCCESS);
    for (int local = 0; local < 2; local++) {
        ok(query(job_name, local ? PMIX_QUERY_LOCAL_PROC_TABLE : PMIX_QUERY_PROC_TABLE,
                 NULL));
        ck_assert_uint_eq(n_found, 1);
        ck_assert_int_eq(found[0].value.type, PMIX_DATA_ARRAY);
        ck_assert_uint_eq(found[0].value.data.darray->size, 2);
        const pmix_proc_info_t *row = found[0].value.data.darray->array;
        ck_assert_int_gt(row[0].pid, 0);
        ck_assert_int_eq(row[0].state, PMIX_PROC_STATE_RUNNING);
        ck_assert_ptr_nonnull(strstr(row[0].executable_name, "sh"));
        ck_assert_uint_eq(row[1].proc.rank, 1);
    }
    ck_assert_int_eq(query(job_name, PMIX_QUERY_NAMESPACES, "no.such.key"),
                     PMIX_ERR_PARTIAL_SUCCESS);
    ck_assert_uint_eq(n_found, 1);
    ck_assert_str_eq(found[0].value.data.string, job_name);
    PMIx_Info_free(found, n_found);
}

/* ---- out of memory --------------------------------------------------------------- */

static void do_count(struct px_call *call, void *args)
{
    PX_LIST_EACH (&launcher()->jobs, struct px_launch_job, job, link)
        *(uint32_t *)args += job->n_running;
    px_call_done(call, PMIX_SUCCESS);
}

/* All of the job runs, or nothing of it does. Its name may find no memory on the way
 * back; then the job runs all the same. Standard input is forwarded, and the
 * environment changed: all that a request may say. */
PX_TEST(a_job_that_finds_no_memory_runs_or_leaves_nothing)
{
    PX_AUTO(px_infos) infos = {0};
    char name[] = "NAME", value[] = "value";
    const pmix_envar_t envar = {name, value, ':'};
    uint32_t last = 1, n_refused = 0;
    bool yes = true, failed = true;
    /* Else some, and few of those far from the beginning. */
    const bool all = px_test_times(0, 1);

    PX_TEST_NEEDS_ALLOC;
    ok(px_infos_add(&infos, PMIX_PREPEND_ENVAR, &envar, PMIX_ENVAR));
    ok(px_infos_add(&infos, PMIX_STDIN_TGT, &last, PMIX_UINT32));
    ok(px_infos_add(&infos, PMIX_NOTIFY_COMPLETION, &yes, PMIX_BOOL));
    for (unsigned nth = 1; failed; nth += all ? 1 : 1 + nth / 4) {
        uint32_t n_running = 0;

        job_name[0] = '\0';
        px_alloc_fail_at(nth);
        pmix_status_t rc = spawn_with(&infos, 2, "exec sleep 20");
        failed = px_alloc_fail_end();
        ok(px_call(px_process.loop, do_count, &n_running));
        ck_assert_msg(n_running == 2 || (rc && n_running == 0),
                      "allocation %u: %s, %u processes run", nth, PMIx_Error_string(rc),
                      n_running);
        if (n_running > 0) {
            ok(control(PMIX_JOB_CTRL_KILL, NULL));
            await_end(PMIX_ERR_JOB_KILLED_BY_CMD);
        }
        if (rc) {
            n_refused++;
            ck_assert_msg(
                failed && (rc == PMIX_ERR_NOMEM || rc == PMIX_ERR_JOB_FAILED_TO_LAUNCH),
                "allocation %u: %s", nth, PMIx_Error_string(rc));
            ck_assert_str_eq(job_name, "");
        }
    }
    ck_assert_uint_gt(n_refused, 10);
    spawn(1, "touch ran");
    await_end(PMIX_SUCCESS);
    remove_file("ran");
}

PX_TEST_MAIN("host/host", setup, teardown)
