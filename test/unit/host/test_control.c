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

PX_TEST_MAIN("host/control", jobs_setup, jobs_teardown)
