/* SPDX-License-Identifier: BSD-3-Clause */
/* Job control and queries of the built-in host. */
#include "jobs.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/os/proc.h"

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
    ck_assert_int_eq(control(PMIX_JOB_CTRL_CHECKPOINT_EVENT, NULL),
                     PMIX_ERR_NOT_SUPPORTED);
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

/* ---- requests with an id -------------------------------------------------------- */

/* Sends an order for a rank of the job spawned last (-1: all ranks). The value is a string, or NULL
 * for a flag. id may be NULL. Returns the status; a refusal must have a reason. */
static pmix_status_t order(const char *key, const char *value, const char *id, int rank)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_info_t *results = NULL;
    pmix_proc_t target;
    pmix_status_t rc;
    size_t n = 0;

    px_proc_set(&target, job_name, rank < 0 ? PMIX_RANK_WILDCARD : (pmix_rank_t)rank);
    ok(px_infos_add(&infos, key, value, value ? PMIX_STRING : PMIX_BOOL));
    if (id)
        ok(px_infos_add(&infos, PMIX_JOB_CTRL_ID, id, PMIX_STRING));
    for (size_t i = 0; i < infos.n; i++)
        PMIx_Info_required(&infos.v[i]);
    rc = PMIx_Job_control(&target, 1, infos.v, infos.n, &results, &n);
    if (rc)
        ck_assert_ptr_nonnull(px_info_str(results, n, PMIX_EVENT_TEXT_MESSAGE));
    PMIx_Info_free(results, n);
    return rc;
}

static pmix_status_t cancel(const char *id)
{
    return order(PMIX_JOB_CTRL_CANCEL, id, NULL, -1);
}

static pid_t pid_of(pmix_rank_t rank)
{
    pmix_proc_t name;
    const struct px_task *task;

    px_proc_set(&name, job_name, rank);
    task = px_task_find(launcher(), &name);
    ck_assert_ptr_nonnull(task);
    return task->pid;
}

/* Waits until each rank is paused ('T') or not ('S'), as in the text. */
static void await_states(const char *states)
{
    const uint64_t deadline = px_clock_ms() + 20000;

    for (pmix_rank_t r = 0; states[r]; r++) {
        struct px_osproc_stat st = {0};

        while (px_osproc_stat(pid_of(r), &st) && st.state != states[r]) {
            ck_assert_msg(px_clock_ms() < deadline, "rank %u: %c, expected %c", r,
                          st.state, states[r]);
            usleep(1000);
        }
    }
}

static void spawn_two(void)
{
    spawn(2, "touch up.$PMIX_RANK; exec sleep 20");
    await_file("up.0");
    await_file("up.1");
    await_states("SS");
}

static void end_it(void)
{
    ok(control(PMIX_JOB_CTRL_KILL, NULL));
    await_end(PMIX_ERR_JOB_KILLED_BY_CMD);
}

PX_TEST(a_pause_lasts_until_it_is_cancelled)
{
    PX_TEST_NEEDS_PROC;
    spawn_two();
    ok(order(PMIX_JOB_CTRL_PAUSE, NULL, "both", -1));
    await_states("TT");
    ok(order(PMIX_JOB_CTRL_PAUSE, NULL, "one", 1));
    ok(cancel("both"));
    await_states("ST");
    fails(cancel("both"), NOT_FOUND);
    ok(cancel("one"));
    await_states("SS");
    ok(order(PMIX_JOB_CTRL_PAUSE, NULL, NULL, 0));
    ok(order(PMIX_JOB_CTRL_PAUSE, NULL, "b", 1));
    await_states("TT");
    fails(control(PMIX_JOB_CTRL_CANCEL, NULL), BAD_PARAM);
    ok(order(PMIX_JOB_CTRL_CANCEL, "", NULL, -1));
    await_states("SS");
    end_it();
}

PX_TEST(resumed_processes_are_not_paused_by_older_requests)
{
    PX_TEST_NEEDS_PROC;
    spawn_two();
    ok(order(PMIX_JOB_CTRL_PAUSE, NULL, "a", -1));
    await_states("TT");
    ok(order(PMIX_JOB_CTRL_RESUME, NULL, NULL, -1));
    await_states("SS");
    fails(cancel("a"), NOT_FOUND);
    fails(order(PMIX_JOB_CTRL_CHECKPOINT, "c", NULL, -1), NOT_SUPPORTED);
    end_it();
}

PX_TEST(a_paused_job_ends_by_order)
{
    PX_TEST_NEEDS_PROC;
    spawn_two();
    ok(order(PMIX_JOB_CTRL_PAUSE, NULL, "a", -1));
    await_states("TT");
    ok(control(PMIX_JOB_CTRL_TERMINATE, NULL));
    await_end(PMIX_ERR_JOB_KILLED_BY_CMD);
    ck_assert_int_eq(seen.exit_code, 143);
}

PX_TEST(a_process_is_started_again_by_order)
{
    pid_t before;

    spawn_two();
    before = pid_of(1);
    fails(order(PMIX_JOB_CTRL_RESTART, "checkpoint-3", NULL, 1), NOT_FOUND);
    ok(order(PMIX_JOB_CTRL_RESTART, "", NULL, 1));
    await_file("up.1");
    ck_assert_int_eq(seen.n_failures, 0);
    ck_assert(!exists("up.0"));
    end_it(); /* the event of the end is the last */
    ck_assert_str_eq(seen.restart, "was started again by order");
    ck_assert_int_eq(seen.restarted, before);
}

PX_TEST(a_request_has_one_order)
{
    pmix_info_t two[2], *results = NULL;
    bool yes = true;
    size_t n = 0;

    spawn_sleepers(1);
    ok(PMIx_Info_load(&two[0], PMIX_JOB_CTRL_PAUSE, &yes, PMIX_BOOL));
    ok(PMIx_Info_load(&two[1], PMIX_JOB_CTRL_KILL, &yes, PMIX_BOOL));
    fails(PMIx_Job_control(NULL, 0, two, 2, &results, &n), BAD_PARAM);
    ck_assert_ptr_nonnull(
        strstr(px_info_str(results, n, PMIX_EVENT_TEXT_MESSAGE), PMIX_JOB_CTRL_KILL));
    PMIx_Info_free(results, n);
    end_it();
}

/* ---- queries --------------------------------------------------------------------- */

static pmix_info_t *found;
static size_t n_found;

/* Queries key and other, with nspace as a qualifier. nspace and other may be NULL. */
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
    PMIx_Info_free(px_take(&found), n_found);
}

/* Returns the number under key. */
static int64_t number(const char *nspace, const char *key)
{
    int64_t n = -1;

    ok(query(nspace, key, NULL));
    ck_assert(px_value_to_i64(&found[0].value, &n));
    return n;
}

static const char *text(const char *key)
{
    ok(query(NULL, key, NULL));
    return px_value_string(&found[0].value);
}

PX_TEST(queries_know_the_state_and_the_limit_of_a_job)
{
    PX_AUTO(px_infos) limit = {0};
    const pmix_info_t *job, *members;
    size_t n;

    ok(px_infos_add(&limit, PMIX_JOB_TIMEOUT, &(int){50}, PMIX_INT));
    ok(spawn_with(&limit, 1, "exec sleep 20"));
    ck_assert_int_eq(number(job_name, PMIX_QUERY_JOB_STATUS), PMIX_SUCCESS);
    ck_assert_int_le(number(job_name, PMIX_TIME_REMAINING), 50);
    ck_assert_int_ge(number(job_name, PMIX_TIME_REMAINING), 20);
    ok(query(job_name, PMIX_QUERY_NAMESPACE_INFO, NULL));
    job = found[0].value.data.darray->array;
    ck_assert(px_value_infos(&job->value, &members, &n));
    ck_assert_ptr_nonnull(strstr(px_info_str(members, n, PMIX_CMD_LINE), "sleep 20"));
    ok(control(PMIX_JOB_CTRL_KILL, NULL));
    await_end(PMIX_ERR_JOB_KILLED_BY_CMD);
    ck_assert_int_eq(number(job_name, PMIX_QUERY_JOB_STATUS),
                     PMIX_ERR_JOB_KILLED_BY_CMD);
    ck_assert_str_eq(text(PMIX_QUERY_NAMESPACES), "");
    ck_assert_int_eq(query(job_name, PMIX_TIME_REMAINING, NULL), PMIX_ERR_NOT_FOUND);
    spawn(1, "true");
    await_end(PMIX_SUCCESS);
    ck_assert_int_eq(number(job_name, PMIX_QUERY_JOB_STATUS), PMIX_EVENT_JOB_END);
    ck_assert_int_eq(query(job_name, PMIX_TIME_REMAINING, NULL), PMIX_ERR_NOT_FOUND);
    PMIx_Info_free(px_take(&found), n_found);
}

PX_TEST(queries_know_what_this_host_has_and_has_not)
{
    static const char *const empty[] = {PMIX_QUERY_QUEUE_LIST, PMIX_QUERY_QUEUE_STATUS,
                                        PMIX_QUERY_ALLOC_STATUS,
                                        PMIX_QUERY_STORAGE_LIST};

    for (size_t i = 0; i < PX_COUNT(empty); i++)
        ck_assert_str_eq(text(empty[i]), "");
    ck_assert_ptr_nonnull(strstr(text(PMIX_QUERY_SPAWN_SUPPORT), PMIX_HOSTFILE));
    ck_assert_ptr_nonnull(
        strstr(text(PMIX_QUERY_DEBUG_SUPPORT), PMIX_DEBUG_STOP_IN_APP));
    ck_assert_ptr_null(strstr(text(PMIX_QUERY_DEBUG_SUPPORT), PMIX_HOSTFILE));
    PMIx_Info_free(px_take(&found), n_found);
}

PX_TEST(a_process_set_is_defined_by_order)
{
    spawn_two();
    ok(order(PMIX_JOB_CTRL_DEFINE_PSET, "whole", NULL, -1));
    ok(order(PMIX_JOB_CTRL_DEFINE_PSET, "first", NULL, 0));
    fails(order(PMIX_JOB_CTRL_DEFINE_PSET, "first", NULL, 1), EXISTS);
    fails(order(PMIX_JOB_CTRL_DEFINE_PSET, "", NULL, 1), BAD_PARAM);
    ok(query(NULL, PMIX_QUERY_PSET_NAMES, NULL));
    ck_assert_uint_eq(found[0].value.data.darray->size, 2);
    end_it();
}

PX_TEST_MAIN("host/control", jobs_setup, jobs_teardown)
