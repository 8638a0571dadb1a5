/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches of the built-in host, with jobs of shell scripts. Requests are refused or carried out in
 * full, and PMIx_Get describes a running job. Attributes of requests are in test_attributes.c. */
#include "jobs.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "alloc_fail.h"
#include "core/base/clock.h"
#include "core/server/peer/peer.h"
#include "core/topo/topo.h"

/* ---- places ---------------------------------------------------------------------- */

/* Copies the CPUs of rank 0 of the job spawned last, or "" if rank 0 is not bound. */
static void cpus_of_job(char text[64])
{
    pmix_value_t *v = NULL;
    pmix_proc_t proc;

    px_proc_set(&proc, job_name, 0);
    text[0] = '\0';
    if (PMIx_Get(&proc, PMIX_CPUSET, NULL, 0, &v) == PMIX_SUCCESS)
        px_str_copy(text, 64, v->data.string);
    PMIx_Value_free(v, 1);
}

PX_TEST(another_job_is_bound_to_other_CPUs)
{
    PX_AUTO(px_infos) infos = {0};
    PX_AUTOFREE char *all = NULL;
    char first[64], second[64];
    cpu_set_t allowed;

    ok(sched_getaffinity(0, sizeof(allowed), &allowed));
    PX_TEST_NEEDS(px_topo_possible() && CPU_COUNT(&allowed) > 1, "hwloc and two CPUs");
    ok(px_infos_add(&infos, PMIX_BINDTO, "hwthread", PMIX_STRING));
    ok(spawn_with(&infos, 1, "exec sleep 20"));
    cpus_of_job(first);
    ok(spawn_with(&infos, 1, "exec sleep 20"));
    cpus_of_job(second);
    ck_assert(px_str_starts(first, "hwloc:") && px_str_starts(second, "hwloc:"));
    ck_assert_str_ne(first, second);
    spawn_sleepers(1);
    cpus_of_job(first);
    ok(px_binding_list(0, &all));
    ck_assert(px_str_starts(first, "hwloc:"));
    ck_assert_str_eq(first + strlen("hwloc:"), all);
    ok(px_infos_add(&infos, PMIX_NO_OVERSUBSCRIBE, &(bool){true}, PMIX_BOOL));
    int n = CPU_COUNT(&allowed) > 2 ? CPU_COUNT(&allowed) - 2 : 1;
    fails(spawn_with(&infos, n, "true"), JOB_INSUFFICIENT_RESOURCES);
}

/* ---- users ----------------------------------------------------------------------- */

PX_TEST(only_the_own_user_and_root_can_spawn)
{
    const struct {
        uid_t uid;
        pmix_status_t status;
    } rows[] = {{geteuid() + 1, PMIX_ERR_NO_PERMISSIONS},
                {geteuid(), PMIX_SUCCESS},
                {0, PMIX_SUCCESS}};
    const pmix_app_t app = shell_of(1, "true");
    pmix_proc_t other;

    px_proc_set(&other, "other", 0);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_info_t info;

        PMIx_Info_load(&info, PMIX_USERID, &rows[i].uid, PMIX_UINT32);
        ck_assert_int_eq(spawn_by(&other, &info, 1, &app), rows[i].status);
        if (!rows[i].status)
            await_end(PMIX_SUCCESS);
    }
}

/* ---- programs -------------------------------------------------------------------- */

/* test/integration/clients/refused.c has more requests that are refused. */
PX_TEST(all_are_started_or_none)
{
    const char *script = px_test_path("bad");
    int fd = open(script, O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
    const pmix_app_t apps[] = {shell_of(2, "touch started; exec sleep 20"),
                               {.cmd = (char *)script, .maxprocs = 1}};
    uint64_t began = px_clock_ms();

    /* The script is executable. Only exec finds that its interpreter is missing. */
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

/* Spawns a program that exec has to wait for, as this process holds a write lease on the file.
 * Returns false if the file system has no leases. */
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

/* The launch ends by its timeout or by order. */
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

PX_TEST(a_failure_while_others_are_being_started_is_reported_after_the_answer)
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

/* A host program may ignore SIGCHLD or reap any child. Neither makes a start fail. */
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

/* ---- the job's information ------------------------------------------------------- */

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

/* Readers test only whether the key exists. Jobs that already run count, too. */
PX_TEST(a_job_learns_that_its_node_is_oversubscribed)
{
    const uint32_t n = px_binding_count();
    const struct {
        uint32_t n;
        bool crowded;
    } rows[] = {{n, false}, {1, true}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE char *text = px_strf(
            "[ \"${OMPI_MCA_mpi_oversubscribe-0}\" = %d ] && "
            "touch well$PMIX_RANK; exec sleep 20",
            rows[i].crowded);
        pmix_proc_t proc;
        pmix_value_t *v = NULL;

        spawn((int)rows[i].n, text);
        await_file("well0");
        px_proc_set(&proc, job_name, PMIX_RANK_WILDCARD);
        ck_assert_int_eq(PMIx_Get(&proc, PMIX_NODE_OVERSUBSCRIBED, NULL, 0, &v),
                         rows[i].crowded ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
        ck_assert(!v || (v->type == PMIX_BOOL && v->data.flag));
        PMIx_Value_free(v, 1);
    }
}

/* ---- out of memory --------------------------------------------------------------- */

static void do_count(struct px_call *call, void *args)
{
    PX_LIST_EACH (&launcher()->jobs, struct px_launch_job, job, link)
        *(uint32_t *)args += job->n_running;
    px_call_done(call, PMIX_SUCCESS);
}

/* Either all processes of the job run or none. The job also runs if only its name finds no memory
 * on the way back. The request forwards stdin and changes the environment, to cover more
 * allocations. */
PX_TEST(a_job_that_finds_no_memory_runs_or_leaves_nothing)
{
    PX_AUTO(px_infos) infos = {0};
    char name[] = "NAME", value[] = "value";
    const pmix_envar_t envar = {name, value, ':'};
    uint32_t last = 1, n_refused = 0;
    bool yes = true, failed = true;
    /* Full runs fail each allocation. Other runs skip more and more allocations. */
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

/* Another process asks with one application more, or one info, string or byte, than a
 * request may have. */
PX_TEST(a_request_beyond_a_bound_is_refused_before_the_work)
{
    static pmix_app_t apps[PX_MAX_SPAWN_APPS + 1];
    static pmix_info_t infos[PX_MAX_SPAWN_INFOS + 1];
    static char *argv[PX_MAX_SPAWN_STRINGS + 2], big[PX_MAX_SPAWN_B];
    const struct {
        size_t n_apps, n_infos, n_args;
        bool is_big;
    } rows[] = {{.n_apps = PX_MAX_SPAWN_APPS + 1},
                {.n_apps = 1, .n_infos = PX_MAX_SPAWN_INFOS + 1},
                {.n_apps = 1, .n_args = PX_MAX_SPAWN_STRINGS + 1},
                {.n_apps = 1, .n_args = 2, .is_big = true}};
    char program[] = "true";

    memset(big, 'x', sizeof(big) - 1);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_spawn_request request = {.info = infos,
                                           .n_info = rows[i].n_infos,
                                           .apps = apps,
                                           .n_apps = rows[i].n_apps};
        PX_AUTO(px_plan) plan = {0};
        struct px_err err = {0};

        memset(argv, 0, sizeof(argv));
        for (size_t k = 0; k < rows[i].n_args; k++)
            argv[k] = rows[i].is_big ? big : program;
        for (size_t a = 0; a < rows[i].n_apps; a++)
            apps[a] = (pmix_app_t){.cmd = program, .argv = argv, .maxprocs = 1};
        ck_assert_int_eq(px_plan_make(&plan, &request, &err), PMIX_ERR_OUT_OF_RESOURCE);
        ck_assert_uint_eq(plan.n_apps, 0);
        request.own = true; /* the program of this host has no bounds */
        if (i == 2)
            ok(px_plan_make(&plan, &request, &err));
    }
}

PX_TEST(one_process_starts_in_a_turn_of_the_loop)
{
    const uint64_t before = launcher()->n_turns;

    spawn(16, "exit 0");
    await_end(PMIX_SUCCESS);
    ck_assert_uint_ge(launcher()->n_turns - before, 16 - 1);
}

static void add_peer(struct px_call *call, void *peer)
{
    px_list_append(&launcher()->server->peers, &((struct px_peer *)peer)->link);
    px_call_done(call, PMIX_SUCCESS);
}

static void remove_peer(struct px_call *call, void *peer)
{
    px_list_remove(&((struct px_peer *)peer)->link);
    px_call_done(call, PMIX_SUCCESS);
}

/* Only requests of a process outside of the job and other than its parent count. */
PX_TEST(starts_pause_while_other_jobs_have_requests)
{
    enum { N = 16 };
    struct {
        const char *nspace;
        uint64_t turn; /* of the last request */
        uint64_t n_pauses;
    } rows[] = {{"other", 0, 0},
                {"other", UINT64_MAX, N - 1},
                {launcher()->server->proc.nspace, UINT64_MAX, 0}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_peer peer = {.turn = rows[i].turn, .finalized = true};
        const uint64_t before = launcher()->n_pauses;

        px_proc_set(&peer.proc, rows[i].nspace, launcher()->server->proc.rank);
        ok(px_call(launcher()->loop, add_peer, &peer));
        spawn(N, "exit 0");
        ok(px_call(launcher()->loop, remove_peer, &peer));
        await_end(PMIX_SUCCESS);
        ck_assert_uint_eq(launcher()->n_pauses - before, rows[i].n_pauses);
    }
}

/* The ranks of a large job are described and registered some at a time. */
PX_TEST(a_large_job_is_described_over_several_turns)
{
    enum {
        N = 130,
        MORE = N / 32
    }; /* more turns than a small job, for each of two steps */
    const uint64_t before = launcher()->n_turns;
    pmix_value_t *v;

    spawn_sleepers(N);
    ck_assert_uint_ge(launcher()->n_turns - before, N - 1 + 2 * MORE);
    v = get(N - 1, PMIX_APP_RANK);
    ck_assert_uint_eq(v->data.rank, N - 1);
    PMIx_Value_free(v, 1);
}

PX_TEST_MAIN("host/launch", jobs_setup, jobs_teardown)
