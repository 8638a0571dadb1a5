/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of a server that is its own host: how they end, and by whose order. */
#include "core/host/builtin.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "host_scene.h"
#include "px_test.h"

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

START_TEST(the_first_failure_is_told_and_ends_the_job)
{
    spawn(3, "test $PMIX_RANK != 1 || exit 3; exec sleep 20");
    await_end();
    ck_assert_int_eq(told.n_failures, 1);
    ck_assert_int_eq(told.failure, PMIX_ERR_EXIT_NONZERO_TERM);
    ck_assert_uint_eq(told.culprit.rank, 1);
    ck_assert_str_eq(told.text, "exited with status 3");
    ck_assert_int_eq(told.exit_code, 3);
    ck_assert_int_eq(told.verdict, PMIX_ERR_JOB_NON_ZERO_TERM);
}
END_TEST

START_TEST(a_signal_is_a_failure)
{
    spawn(1, "kill -9 $$");
    await_end();
    ck_assert_int_eq(told.failure, PMIX_ERR_PROC_ABORTED_BY_SIG);
    ck_assert_str_eq(told.text, "killed by signal 9 (Killed)");
    ck_assert_int_eq(told.exit_code, 137);
    ck_assert_int_eq(told.verdict, PMIX_ERR_JOB_ABORTED_BY_SIG);
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
    ck_assert_int_eq(told.n_failures, 1);
}
END_TEST

static void do_lose_rank_0(struct px_call *call, void *args PX_UNUSED)
{
    pmix_proc_t proc;

    px_proc_set(&proc, embedded_job, 0);
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
    px_proc_set(&victim, embedded_job, 0);
    ck_assert_int_eq(control(PMIX_JOB_CTRL_SIGNAL, SIGKILL, &victim), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(told.n_failures, 1);
    ck_assert_uint_eq(told.culprit.rank, 0);
    ck_assert_int_eq(told.exit_code, 137);
}
END_TEST

START_TEST(who_is_suspected_of_dying_may_live)
{
    spawn_a_victim();
    await_end();
    ck_assert_int_eq(told.n_failures, 1);
    ck_assert_uint_eq(told.culprit.rank, 1);
    ck_assert_int_eq(told.exit_code, 3);
}
END_TEST

static void do_adopt(struct px_call *call, void *args)
{
    const pmix_proc_t *parent = args;

    px_job_find(px_process.server->embedded, embedded_job)->parent = *parent;
    px_call_done(call, PMIX_SUCCESS);
}

/* Two jobs, as if a process of the first had spawned the second, and kills the first. */
static void spawn_family(bool separate)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_proc_t parent;

    spawn(1, "exec sleep 20");
    px_proc_set(&parent, embedded_job, 0);
    ck_assert_int_eq(px_infos_add(&infos, PMIX_SPAWN_CHILD_SEP, &separate, PMIX_BOOL),
                     0);
    ck_assert_int_eq(spawn_with(&infos, 1, "exec sleep 20"), PMIX_SUCCESS);
    ck_assert_int_eq(px_call(px_process.loop, do_adopt, &parent), PMIX_SUCCESS);
    ck_assert_int_eq(control(PMIX_JOB_CTRL_SIGNAL, SIGKILL, &parent), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(told.n_failures, 1);
}

START_TEST(children_end_with_a_parent_that_fails)
{
    spawn_family(false);
    await_end();
    ck_assert_int_eq(told.verdict, PMIX_ERR_JOB_KILLED_BY_CMD);
}
END_TEST

START_TEST(children_that_are_separate_do_not)
{
    spawn_family(true);
    usleep(500000);
    ck_assert_int_ne(sem_trywait(&told.ended), 0);
}
END_TEST

START_TEST(a_signal_to_all_reaches_all)
{
    spawn(2, "trap 'exit 0' USR1; touch up$PMIX_RANK; while :; do sleep 0.02; done");
    await_file("up0");
    await_file("up1");
    ck_assert_int_eq(control(PMIX_JOB_CTRL_SIGNAL, SIGUSR1, NULL), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(told.verdict, PMIX_SUCCESS);
}
END_TEST

START_TEST(a_job_ended_by_order_has_not_failed)
{
    spawn(2, "exec sleep 20");
    ck_assert_int_eq(control(PMIX_JOB_CTRL_TERMINATE, 0, NULL), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(told.n_failures, 0);
    ck_assert_int_eq(told.verdict, PMIX_ERR_JOB_KILLED_BY_CMD);
    ck_assert_int_eq(told.exit_code, 143);
}
END_TEST

START_TEST(an_order_for_one_job_leaves_others_alone)
{
    pmix_proc_t first;

    spawn(1, "exec sleep 20");
    px_proc_set(&first, embedded_job, PMIX_RANK_WILDCARD);
    spawn(1, "touch up; exec sleep 20");
    ck_assert_int_eq(control(PMIX_JOB_CTRL_KILL, 0, &first), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(told.exit_code, 137);
    await_file("up");
    px_proc_set(&first, embedded_job, 0);
    ck_assert_int_eq(control(PMIX_JOB_CTRL_SIGNAL, SIGTERM, &first), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(told.failure, PMIX_ERR_PROC_ABORTED_BY_SIG);
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
    snprintf(path, sizeof(path), "%s/pid", embedded_dir);
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
    ck_assert_int_eq(told.verdict, PMIX_SUCCESS);
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
    ck_assert_ptr_nonnull(strstr(names, embedded_job));
    table = query(PMIX_QUERY_PROC_TABLE, embedded_job);
    ck_assert_ptr_nonnull(table);
    ck_assert_ptr_nonnull(strstr(table, "sh"));
    other = query(PMIX_QUERY_QUEUE_LIST, NULL);
    ck_assert_ptr_null(other);
}
END_TEST

PX_TEST_MAIN_WITH(
    "server/embedded_end", embedded_setup, embedded_teardown,
    the_first_failure_is_told_and_ends_the_job, a_signal_is_a_failure,
    who_does_not_go_when_asked_is_killed, a_signal_to_all_reaches_all,
    who_dies_first_is_named_not_who_fails_over_that, who_is_suspected_of_dying_may_live,
    children_end_with_a_parent_that_fails, children_that_are_separate_do_not,
    a_job_ended_by_order_has_not_failed, an_order_for_one_job_leaves_others_alone,
    orders_that_make_no_sense_are_refused, finalize_ends_what_is_still_running,
    left_behind_processes_do_not_hold_up_the_end,
    an_ended_job_is_forgotten_after_a_while, queries_tell_what_runs)
