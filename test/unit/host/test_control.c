/* SPDX-License-Identifier: BSD-3-Clause */
/* Job control and queries of the built-in host. */
#include "jobs.h"

#include <signal.h>
#include <string.h>

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

PX_TEST_MAIN("host/control", jobs_setup, jobs_teardown)
