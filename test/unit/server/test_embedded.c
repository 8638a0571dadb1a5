/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of a server that is its own host, started by itself: what is refused, what is
 * passed on, how they end. */
#include "core/server/embedded.h"
#include "core/server/session.h"

#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/model/nspace.h"
#include "px_test.h"

/* What was told, the first failure and the last end. */
static sem_t ended;
static atomic_int n_failures;
static pmix_status_t failure, verdict;
static pmix_proc_t culprit;
static int exit_code;
static char job[PMIX_MAX_NSLEN + 1], text[512], dir[64];

static void on_event(size_t id PX_UNUSED, pmix_status_t code, const pmix_proc_t *source,
                     pmix_info_t info[], size_t n, pmix_info_t *results PX_UNUSED,
                     size_t n_results PX_UNUSED,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    const char *message = px_info_str(info, n, PMIX_EVENT_TEXT_MESSAGE);
    const pmix_info_t *status = px_info_find(info, n, PMIX_JOB_TERM_STATUS);

    exit_code = (int)px_info_u32(info, n, PMIX_EXIT_CODE, 9999);
    if (code != PMIX_EVENT_JOB_END) {
        n_failures++;
        failure = code;
        culprit = *source;
        snprintf(text, sizeof(text), "%s", message ? message : "");
    } else {
        verdict = status->value.data.status;
        sem_post(&ended);
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void setup(void)
{
    pmix_status_t codes[] = {PMIX_EVENT_JOB_END, PMIX_ERR_PROC_ABORTED_BY_SIG,
                             PMIX_ERR_EXIT_NONZERO_TERM, PMIX_ERR_PROC_REQUESTED_ABORT,
                             PMIX_ERR_PROC_TERM_WO_SYNC};

    snprintf(dir, sizeof(dir), "/tmp/tenon-embedded.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    sem_init(&ended, 0, 0);
    setenv("PMIX_MCA_embedded_grace", "300ms", 1);
    ck_assert_int_eq(PMIx_server_init(NULL, NULL, 0), PMIX_SUCCESS);
    ck_assert_int_ge(PMIx_Register_event_handler(codes, PX_COUNT(codes), NULL, 0,
                                                 on_event, NULL, NULL),
                     0);
}

static void teardown(void)
{
    ck_assert_int_eq(PMIx_server_finalize(), PMIX_SUCCESS);
    rmdir(dir);
}

static void await_end(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 10;
    ck_assert_int_eq(sem_timedwait(&ended, &t), 0);
}

/* n processes of a shell script, with infos for the job. */
static pmix_status_t spawn_with(const px_infos *infos, int n, const char *script)
{
    char sh[] = "sh", c[] = "-c", *argv[] = {sh, c, (char *)script, NULL};
    pmix_app_t app = {.cmd = sh, .argv = argv, .cwd = dir, .maxprocs = n};

    return PMIx_Spawn(infos ? infos->v : NULL, infos ? infos->n : 0, &app, 1, job);
}

static void spawn(int n, const char *script)
{
    ck_assert_int_eq(spawn_with(NULL, n, script), PMIX_SUCCESS);
}

static bool exists(const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

static void remove_file(const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    ck_assert_int_eq(unlink(path), 0);
}

static void make_file(const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static void await_file(const char *name)
{
    for (int i = 0; i < 5000 && !exists(name); i++)
        usleep(1000);
    remove_file(name);
}

static pmix_status_t control(const char *directive, int signum, pmix_proc_t *target)
{
    pmix_info_t info, *results = NULL;
    size_t n = 0;
    bool yes = true;
    pmix_status_t rc;

    if (signum)
        PMIx_Info_load(&info, directive, &signum, PMIX_INT);
    else
        PMIx_Info_load(&info, directive, &yes, PMIX_BOOL);
    rc = PMIx_Job_control(target, target ? 1 : 0, &info, 1, &results, &n);
    PMIx_Info_free(results, n);
    return rc;
}

static void do_count_jobs(struct px_call *call, void *args)
{
    PX_LIST_EACH (&px_process.server->embedded->jobs, struct px_job, j, link)
        ++*(int *)args;
    px_call_done(call, px_nspace_find(px_process.model, job) ? PMIX_SUCCESS
                                                             : PMIX_ERR_NOT_FOUND);
}

/* *known: whether the namespace of the last job is. */
static int count_jobs(bool *known)
{
    int n = 0;

    *known = px_call(px_process.loop, do_count_jobs, &n) == PMIX_SUCCESS;
    return n;
}

/* ---- refused --------------------------------------------------------------------- */

static pmix_status_t try_app(const char *program, const char *cwd, int n,
                             const char *key, const char *value)
{
    char *argv[] = {(char *)program, NULL};
    pmix_info_t info;
    pmix_app_t app = {.cmd = (char *)program,
                      .argv = argv,
                      .cwd = (char *)cwd,
                      .maxprocs = n,
                      .info = &info,
                      .ninfo = key ? 1 : 0};
    pmix_status_t rc;

    if (key)
        PMIx_Info_load(&info, key, value, PMIX_STRING);
    rc = PMIx_Spawn(NULL, 0, &app, 1, job);
    if (key)
        PMIx_Info_destruct(&info);
    return rc;
}

START_TEST(what_cannot_be_started_is_refused)
{
    ck_assert_int_eq(try_app("no-such-program", NULL, 1, NULL, NULL),
                     PMIX_ERR_JOB_EXE_NOT_FOUND);
    ck_assert_int_eq(try_app("/etc/passwd", NULL, 1, NULL, NULL),
                     PMIX_ERR_JOB_APP_NOT_EXECUTABLE);
    ck_assert_int_eq(try_app("true", "/no/such/dir", 1, NULL, NULL),
                     PMIX_ERR_JOB_WDIR_NOT_FOUND);
    ck_assert_int_eq(try_app("true", "/etc/passwd", 1, NULL, NULL),
                     PMIX_ERR_JOB_WDIR_NOT_FOUND);
    ck_assert_int_eq(try_app("true", NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(try_app("true", NULL, -1, NULL, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(try_app("true", NULL, INT_MAX, NULL, NULL),
                     PMIX_ERR_JOB_INSUFFICIENT_RESOURCES);
    ck_assert_int_eq(try_app("true", NULL, 1, PMIX_HOST, "no-such-host"),
                     PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(try_app("true", NULL, 1, PMIX_HOSTFILE, "file"),
                     PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(try_app("true", NULL, 1, PMIX_UNSET_ENVAR, "A=B"),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_str_eq(job, "");
}
END_TEST

START_TEST(this_host_by_its_name_is_fine)
{
    ck_assert_int_eq(try_app("true", NULL, 1, PMIX_HOST, px_process.model->hostname),
                     PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(try_app("true", NULL, 1, PMIX_HOST, "localhost:4"), PMIX_SUCCESS);
    await_end();
}
END_TEST

START_TEST(a_demand_that_is_not_understood_is_refused)
{
    PX_AUTO(px_infos) infos = {0};

    ck_assert_int_eq(px_infos_add(&infos, PMIX_PERSONALITY, "ompi", PMIX_STRING), 0);
    ck_assert_int_eq(spawn_with(&infos, 1, "true"), PMIX_SUCCESS);
    await_end();
    PMIx_Info_required(&infos.v[0]);
    ck_assert_int_eq(spawn_with(&infos, 1, "true"), PMIX_ERR_NOT_SUPPORTED);
}
END_TEST

START_TEST(all_are_started_or_none)
{
    char script[] = "/tmp/tenon-bad.XXXXXX";
    int fd = mkstemp(script);
    char sh[] = "sh", c[] = "-c", body[] = "touch started; exec sleep 20";
    char *argv[] = {sh, c, body, NULL}, *bad[] = {script, NULL};
    pmix_app_t apps[] = {{.cmd = sh, .argv = argv, .cwd = dir, .maxprocs = 2},
                         {.cmd = script, .argv = bad, .maxprocs = 1}};
    uint64_t began = px_clock_ms();
    bool known;

    /* It is there and executable, and only the attempt shows what is wrong with it. */
    ck_assert_int_eq(dprintf(fd, "#!/no/such/interpreter\n"), 23);
    ck_assert_int_eq(fchmod(fd, 0700), 0);
    close(fd);
    ck_assert_int_eq(PMIx_Spawn(NULL, 0, apps, 2, job), PMIX_ERR_JOB_EXE_NOT_FOUND);
    unlink(script);
    ck_assert_uint_lt(px_clock_ms() - began, 5000);
    ck_assert_int_eq(count_jobs(&known), 0);
    ck_assert_int_eq(n_failures, 0);
    if (exists("started"))
        remove_file("started");
}
END_TEST

/* ---- passed on ------------------------------------------------------------------- */

static void add_envar(px_infos *l, const char *key, const char *name, const char *value)
{
    pmix_envar_t e = {.envar = (char *)name, .value = (char *)value, .separator = ':'};

    ck_assert_int_eq(px_infos_add(l, key, &e, PMIX_ENVAR), 0);
}

START_TEST(the_environment_is_as_asked_for)
{
    PX_AUTO(px_infos) l = {0};

    setenv("OLD", "old", 1);
    setenv("LIST", "b", 1);
    setenv("GONE", "x", 1);
    add_envar(&l, PMIX_SET_ENVAR, "NEW", "new");
    add_envar(&l, PMIX_ADD_ENVAR, "OLD", "not this");
    add_envar(&l, PMIX_ADD_ENVAR, "ADDED", "added");
    add_envar(&l, PMIX_PREPEND_ENVAR, "LIST", "a");
    add_envar(&l, PMIX_APPEND_ENVAR, "LIST", "c");
    add_envar(&l, PMIX_APPEND_ENVAR, "ALONE", "z");
    ck_assert_int_eq(px_infos_add(&l, PMIX_UNSET_ENVAR, "GONE", PMIX_STRING), 0);
    ck_assert_int_eq(
        spawn_with(&l, 2,
                   "test \"$NEW/$OLD/$ADDED/$LIST/$ALONE/${GONE-gone}\" = "
                   "new/old/added/a:b:c/z/gone && test $PMIX_RANK -lt 2 && "
                   "test -n \"$PMIX_NAMESPACE\" && test -n \"$PMIX_SERVER_URI41\""),
        PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(verdict, PMIX_SUCCESS);
    ck_assert_int_eq(exit_code, 0);
    ck_assert_int_eq(n_failures, 0);
}
END_TEST

struct fact {
    pmix_rank_t rank;
    const char *key;
    uint32_t value;
};

static void do_read_fact(struct px_call *call, void *args)
{
    struct fact *f = args;
    struct px_nspace *ns = px_nspace_find(px_process.model, job);
    const pmix_value_t *v = px_store_find(ns, PX_GDS_JOB, f->rank, f->key);

    px_call_done(call, v && px_value_to_u32(v, &f->value) ? PMIX_SUCCESS
                                                          : PMIX_ERR_NOT_FOUND);
}

static uint32_t fact(pmix_rank_t rank, const char *key)
{
    struct fact f = {.rank = rank, .key = key};

    ck_assert_int_eq(px_call(px_process.loop, do_read_fact, &f), PMIX_SUCCESS);
    return f.value;
}

START_TEST(a_job_is_described_as_launchers_do)
{
    spawn(1, "true");
    spawn(3, "sleep 20");
    ck_assert_uint_eq(fact(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 3);
    ck_assert_uint_eq(fact(PMIX_RANK_WILDCARD, PMIX_NPROC_OFFSET), 1);
    ck_assert_uint_eq(fact(2, PMIX_GLOBAL_RANK), 3);
    ck_assert_uint_eq(fact(2, PMIX_APP_RANK), 2);
    ck_assert_uint_eq(fact(0, PMIX_REINCARNATION), 0);
}
END_TEST

struct dirs {
    char *top, *job, *rank;
};

static void do_find_dirs(struct px_call *call, void *args)
{
    struct dirs *d = args;
    const struct px_job *j = px_job_find(px_process.server->embedded, job);

    d->top = px_job_top_dir(j);
    d->job = strdup(j->dir);
    d->rank = px_task_dir(&j->tasks[1]);
    px_call_done(call, PMIX_SUCCESS);
}

START_TEST(a_job_has_folders_until_it_ends)
{
    struct dirs d;
    struct stat st;

    PX_TEST_NEEDS(px_session_cleaner(px_process.server), "a component of pcleanup");
    spawn(2, "while test ! -e go; do sleep 0.01; done");
    ck_assert_int_eq(px_call(px_process.loop, do_find_dirs, &d), PMIX_SUCCESS);
    ck_assert(px_str_starts(d.rank, d.job) && px_str_starts(d.job, d.top) &&
              px_str_starts(d.top, px_process.server->dir));
    ck_assert_int_eq(lstat(d.rank, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    for (int i = 0; i < 100; i++) {
        PX_AUTOFREE char *file = px_strf("%s/%d", i % 2 ? d.job : d.rank, 1000 + i);

        ck_assert_int_eq(mkdir(file, 0700), 0);
    }
    make_file("go");
    await_end();
    remove_file("go");
    for (uint64_t until = px_clock_ms() + 5000;
         lstat(d.job, &st) == 0 && px_clock_ms() < until;)
        (void)nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    ck_assert_int_ne(lstat(d.job, &st), 0);
    ck_assert_int_eq(lstat(d.top, &st), 0); /* the next job's will be there */
    free(d.top);
    free(d.job);
    free(d.rank);
}
END_TEST

/* ---- ends ------------------------------------------------------------------------ */

START_TEST(the_first_failure_is_told_and_ends_the_job)
{
    spawn(3, "test $PMIX_RANK != 1 || exit 3; exec sleep 20");
    await_end();
    ck_assert_int_eq(n_failures, 1);
    ck_assert_int_eq(failure, PMIX_ERR_EXIT_NONZERO_TERM);
    ck_assert_uint_eq(culprit.rank, 1);
    ck_assert_str_eq(text, "exited with status 3");
    ck_assert_int_eq(exit_code, 3);
    ck_assert_int_eq(verdict, PMIX_ERR_JOB_NON_ZERO_TERM);
}
END_TEST

START_TEST(a_signal_is_a_failure)
{
    spawn(1, "kill -9 $$");
    await_end();
    ck_assert_int_eq(failure, PMIX_ERR_PROC_ABORTED_BY_SIG);
    ck_assert_str_eq(text, "killed by signal 9 (Killed)");
    ck_assert_int_eq(exit_code, 137);
    ck_assert_int_eq(verdict, PMIX_ERR_JOB_ABORTED_BY_SIG);
}
END_TEST

START_TEST(who_does_not_go_when_asked_is_killed)
{
    uint64_t began;

    spawn(2, "trap '' TERM; touch up$PMIX_RANK; test $PMIX_RANK = 1 || "
             "{ while test ! -e go; do sleep 0.01; done; exit 1; }; "
             "while :; do sleep 0.05; done");
    await_file("up0");
    await_file("up1");
    began = px_clock_ms();
    make_file("go");
    await_end();
    remove_file("go");
    ck_assert_uint_ge(px_clock_ms() - began, 300);
    ck_assert_uint_lt(px_clock_ms() - began, 5000);
    ck_assert_int_eq(n_failures, 1);
}
END_TEST

static void do_lose_rank_0(struct px_call *call, void *args PX_UNUSED)
{
    pmix_proc_t proc;

    px_proc_set(&proc, job, 0);
    px_local_find(px_process.server, &proc)->lost = true;
    px_call_done(call, PMIX_SUCCESS);
}

/* Rank 0 is about to die, as its broken connection tells, and rank 1 fails over that. */
static void spawn_a_victim(void)
{
    spawn(2, "test $PMIX_RANK = 1 || exec sleep 20; touch up; "
             "while test ! -e go; do sleep 0.01; done; exit 3");
    await_file("up");
    ck_assert_int_eq(px_call(px_process.loop, do_lose_rank_0, NULL), PMIX_SUCCESS);
    make_file("go");
    usleep(100000);
    remove_file("go");
}

START_TEST(who_dies_first_is_named_not_who_fails_over_that)
{
    pmix_proc_t victim;

    spawn_a_victim();
    px_proc_set(&victim, job, 0);
    ck_assert_int_eq(control(PMIX_JOB_CTRL_SIGNAL, SIGKILL, &victim), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(n_failures, 1);
    ck_assert_uint_eq(culprit.rank, 0);
    ck_assert_int_eq(exit_code, 137);
}
END_TEST

START_TEST(who_is_suspected_of_dying_may_live)
{
    spawn_a_victim();
    await_end();
    ck_assert_int_eq(n_failures, 1);
    ck_assert_uint_eq(culprit.rank, 1);
    ck_assert_int_eq(exit_code, 3);
}
END_TEST

static void do_adopt(struct px_call *call, void *args)
{
    px_job_find(px_process.server->embedded, job)->parent = *(pmix_proc_t *)args;
    px_call_done(call, PMIX_SUCCESS);
}

/* Two jobs, as if a process of the first had spawned the second, and kills the first. */
static void spawn_family(bool separate)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_proc_t parent;

    spawn(1, "exec sleep 20");
    px_proc_set(&parent, job, 0);
    ck_assert_int_eq(px_infos_add(&infos, PMIX_SPAWN_CHILD_SEP, &separate, PMIX_BOOL),
                     0);
    ck_assert_int_eq(spawn_with(&infos, 1, "exec sleep 20"), PMIX_SUCCESS);
    ck_assert_int_eq(px_call(px_process.loop, do_adopt, &parent), PMIX_SUCCESS);
    ck_assert_int_eq(control(PMIX_JOB_CTRL_SIGNAL, SIGKILL, &parent), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(n_failures, 1);
}

START_TEST(children_end_with_a_parent_that_fails)
{
    spawn_family(false);
    await_end();
    ck_assert_int_eq(verdict, PMIX_ERR_JOB_KILLED_BY_CMD);
}
END_TEST

START_TEST(children_that_are_separate_do_not)
{
    spawn_family(true);
    usleep(500000);
    ck_assert_int_ne(sem_trywait(&ended), 0);
}
END_TEST

START_TEST(a_signal_to_all_reaches_all)
{
    spawn(2, "trap 'exit 0' USR1; touch up$PMIX_RANK; while :; do sleep 0.02; done");
    await_file("up0");
    await_file("up1");
    ck_assert_int_eq(control(PMIX_JOB_CTRL_SIGNAL, SIGUSR1, NULL), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(verdict, PMIX_SUCCESS);
}
END_TEST

START_TEST(a_job_ended_by_order_has_not_failed)
{
    spawn(2, "exec sleep 20");
    ck_assert_int_eq(control(PMIX_JOB_CTRL_TERMINATE, 0, NULL), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(n_failures, 0);
    ck_assert_int_eq(verdict, PMIX_ERR_JOB_KILLED_BY_CMD);
    ck_assert_int_eq(exit_code, 143);
}
END_TEST

START_TEST(an_order_for_one_job_leaves_others_alone)
{
    pmix_proc_t first;

    spawn(1, "exec sleep 20");
    px_proc_set(&first, job, PMIX_RANK_WILDCARD);
    spawn(1, "touch up; exec sleep 20");
    ck_assert_int_eq(control(PMIX_JOB_CTRL_KILL, 0, &first), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(exit_code, 137);
    await_file("up");
    px_proc_set(&first, job, 0);
    ck_assert_int_eq(control(PMIX_JOB_CTRL_SIGNAL, SIGTERM, &first), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(failure, PMIX_ERR_PROC_ABORTED_BY_SIG);
}
END_TEST

START_TEST(orders_that_make_no_sense_are_refused)
{
    pmix_proc_t nobody;

    px_proc_set(&nobody, "nobody", 0);
    ck_assert_int_eq(control(PMIX_JOB_CTRL_KILL, 0, &nobody), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(control(PMIX_JOB_CTRL_SIGNAL, 4711, NULL), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(control(PMIX_JOB_CTRL_PAUSE, 0, NULL), PMIX_ERR_NOT_SUPPORTED);
}
END_TEST

START_TEST(finalize_ends_what_is_still_running)
{
    char path[256], pid[32] = "";
    FILE *f;

    spawn(1, "echo $$ >tmp; mv tmp pid; exec sleep 20");
    while (!exists("pid"))
        usleep(1000);
    snprintf(path, sizeof(path), "%s/pid", dir);
    f = fopen(path, "r");
    ck_assert_ptr_nonnull(fgets(pid, sizeof(pid), f));
    fclose(f);
    unlink(path);
    ck_assert_int_eq(PMIx_server_finalize(), PMIX_SUCCESS);
    ck_assert_int_lt(kill(atoi(pid), 0), 0);
    ck_assert_int_eq(PMIx_server_init(NULL, NULL, 0), PMIX_SUCCESS); /* for teardown */
}
END_TEST

START_TEST(left_behind_processes_do_not_hold_up_the_end)
{
    uint64_t began = px_clock_ms();

    spawn(1, "(sleep 3) & exit 0");
    await_end();
    ck_assert_uint_lt(px_clock_ms() - began, 2000);
    ck_assert_int_eq(verdict, PMIX_SUCCESS);
}
END_TEST

START_TEST(an_ended_job_is_forgotten_after_a_while)
{
    bool known = true;

    spawn(1, "true");
    await_end();
    for (int i = 0; i < 5000 && count_jobs(&known) > 0; i++)
        usleep(1000);
    ck_assert_int_eq(count_jobs(&known), 0);
    ck_assert(!known);
}
END_TEST

static char *query(const char *key, const char *nspace)
{
    pmix_query_t q;
    pmix_info_t *info = NULL;
    char *found = NULL;
    size_t n = 0;

    PMIx_Query_construct(&q);
    PMIx_Argv_append_nosize(&q.keys, key);
    if (nspace) {
        PMIx_Query_qualifiers_create(&q, 1);
        PMIx_Info_load(&q.qualifiers[0], PMIX_NSPACE, nspace, PMIX_STRING);
    }
    if (PMIx_Query_info(&q, 1, &info, &n) == PMIX_SUCCESS && n == 1)
        found = PMIx_Value_string(&info[0].value);
    PMIx_Info_free(info, n);
    PMIx_Query_destruct(&q);
    return found;
}

START_TEST(queries_tell_what_runs)
{
    PX_AUTOFREE char *names = NULL;
    PX_AUTOFREE char *table = NULL;
    PX_AUTOFREE char *other = NULL;

    spawn(2, "exec sleep 20");
    names = query(PMIX_QUERY_NAMESPACES, NULL);
    ck_assert_ptr_nonnull(names);
    ck_assert_ptr_nonnull(strstr(names, job));
    table = query(PMIX_QUERY_PROC_TABLE, job);
    ck_assert_ptr_nonnull(table);
    ck_assert_ptr_nonnull(strstr(table, "sh"));
    other = query(PMIX_QUERY_QUEUE_LIST, NULL);
    ck_assert_ptr_null(other);
}
END_TEST

PX_TEST_MAIN_WITH(
    "server/embedded", setup, teardown, what_cannot_be_started_is_refused,
    this_host_by_its_name_is_fine, a_demand_that_is_not_understood_is_refused,
    all_are_started_or_none, the_environment_is_as_asked_for,
    a_job_is_described_as_launchers_do, a_job_has_folders_until_it_ends,
    the_first_failure_is_told_and_ends_the_job, a_signal_is_a_failure,
    who_does_not_go_when_asked_is_killed, a_signal_to_all_reaches_all,
    who_dies_first_is_named_not_who_fails_over_that, who_is_suspected_of_dying_may_live,
    children_end_with_a_parent_that_fails, children_that_are_separate_do_not,
    a_job_ended_by_order_has_not_failed, an_order_for_one_job_leaves_others_alone,
    orders_that_make_no_sense_are_refused, finalize_ends_what_is_still_running,
    left_behind_processes_do_not_hold_up_the_end,
    an_ended_job_is_forgotten_after_a_while, queries_tell_what_runs)
