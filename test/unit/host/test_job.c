/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of the built-in host: how they end, and which failure is named. */
#include "core/host/job.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/model/nspace.h"
#include "core/rt/call.h"
#include "core/server/cleanup/session.h"
#include "core/server/server.h"
#include "host_scene.h"

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
        seen.n_failures = 0;
        spawn(3, rows[i].script);
        await_end(rows[i].verdict);
        ck_assert_int_eq(seen.n_failures, 1);
        ck_assert_int_eq(seen.failure, rows[i].failure);
        ck_assert_uint_eq(seen.culprit.rank, 1);
        ck_assert_str_eq(seen.text, rows[i].text);
        ck_assert_int_eq(seen.exit_code, rows[i].exit_code);
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

        seen.n_failures = 0;
        spawn(2, "test $PMIX_RANK = 1 || exec sleep 20; touch up; "
                 "while test ! -e go; do sleep 0.01; done; exit 3");
        await_file("up");
        ok(px_call(px_process.loop, do_lose_rank_0, NULL));
        make_file("go");
        usleep(100000);
        remove_file("go");
        px_proc_set(&victim, job_name, 0);
        if (dies)
            ok(control(PMIX_JOB_CTRL_SIGNAL, SIGKILL, &victim));
        await_end(dies ? PMIX_ERR_JOB_ABORTED_BY_SIG : PMIX_ERR_JOB_NON_ZERO_TERM);
        ck_assert_int_eq(seen.n_failures, 1);
        ck_assert_uint_eq(seen.culprit.rank, dies ? 0 : 1);
        ck_assert_int_eq(seen.exit_code, dies ? 137 : 3);
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

        seen.n_failures = 0;
        spawn_sleepers(1);
        px_proc_set(&parent, job_name, 0);
        ok(px_infos_add(&infos, PMIX_SPAWN_CHILD_SEP, &flag, PMIX_BOOL));
        ok(spawn_with(&infos, 1, "exec sleep 20"));
        ok(px_call(px_process.loop, do_adopt, &parent));
        ok(control(PMIX_JOB_CTRL_SIGNAL, SIGKILL, &parent));
        await_end(PMIX_ERR_JOB_ABORTED_BY_SIG);
        ck_assert_int_eq(seen.n_failures, 1);
        if (!separate)
            await_end(PMIX_ERR_JOB_KILLED_BY_CMD);
    }
    usleep(500000);
    ck_assert_int_ne(sem_trywait(&seen.ended), 0);
}

PX_TEST(finalize_ends_all_that_still_run)
{
    char pid[32] = "";

    spawn(1, "echo $$ >tmp; mv tmp pid; exec sleep 20");
    while (!exists("pid"))
        usleep(1000);
    FILE *f = fopen(px_test_path("pid"), "r");
    ck_assert_ptr_nonnull(fgets(pid, sizeof(pid), f));
    fclose(f);
    ok(PMIx_server_finalize());
    ck_assert_int_lt(kill(atoi(pid), 0), 0);
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

/* ---- folders --------------------------------------------------------------------- */

struct dirs {
    char *top, *job, *rank;
};

static void do_find_dirs(struct px_call *call, void *args)
{
    struct dirs *d = args;
    const struct px_launch_job *j = px_job_find(launcher(), job_name);

    d->top = px_job_top_dir(j);
    d->job = strdup(j->dir);
    d->rank = px_task_dir(&j->tasks[1]);
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST(a_job_has_folders_until_it_ends)
{
    struct dirs d;
    struct stat st;

    PX_TEST_NEEDS(px_session_cleaner(px_process.server), "a component of pcleanup");
    spawn(2, "while test ! -e go; do sleep 0.01; done");
    ok(px_call(px_process.loop, do_find_dirs, &d));
    ck_assert(px_str_starts(d.rank, d.job) && px_str_starts(d.job, d.top) &&
              px_str_starts(d.top, px_process.server->dir));
    ok(lstat(d.rank, &st));
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    for (int i = 0; i < 100; i++) {
        PX_AUTOFREE char *file = px_strf("%s/%d", i % 2 ? d.job : d.rank, 1000 + i);

        ok(mkdir(file, 0700));
    }
    make_file("go");
    await_end(PMIX_SUCCESS);
    for (uint64_t until = px_clock_ms() + 5000;
         lstat(d.job, &st) == 0 && px_clock_ms() < until;)
        usleep(5000);
    ck_assert_int_ne(lstat(d.job, &st), 0);
    ok(lstat(d.top, &st)); /* the next job's will be there */
    free(d.top);
    free(d.job);
    free(d.rank);
}

PX_TEST_MAIN("host/job", host_setup, host_teardown)
