/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the built-in host beside spawn: abort, job control, queries. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/host/builtin.h"
#include "core/rt/call.h"
#include "core/server/host.h"
#include "core/server/server.h"
#include "host_scene.h"

/* ---- abort ----------------------------------------------------------------------- */

struct request {
    pmix_proc_t from;
    int status;
    const char *text;
    pmix_proc_t *procs;
    size_t n;
};

static void do_abort(struct px_call *call, void *arg)
{
    const struct request *q = arg;

    px_call_done(call,
                 px_process.server->module.abort(&q->from, NULL, q->status, q->text,
                                                 q->procs, q->n, NULL, NULL));
}

/* From rank 1 of that job. */
static pmix_status_t abort_from(const char *nspace, int status, const char *text,
                                pmix_proc_t *procs, size_t n)
{
    struct request q = {.status = status, .text = text, .procs = procs, .n = n};

    px_proc_set(&q.from, nspace, 1);
    return px_call(px_process.loop, do_abort, &q);
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
        seen.n_failures = 0;
        spawn_sleepers(2);
        ck_assert_int_eq(abort_from(job_name, rows[i].status, rows[i].text, NULL, 0),
                         PMIX_OPERATION_SUCCEEDED);
        await_end(PMIX_ERR_JOB_ABORTED);
        ck_assert_int_eq(seen.n_failures, 1);
        ck_assert_int_eq(seen.failure, PMIX_ERR_PROC_REQUESTED_ABORT);
        ck_assert_uint_eq(seen.culprit.rank, 1);
        ck_assert_int_eq(seen.exit_code, rows[i].exit_code);
        ck_assert_msg(strstr(seen.text, rows[i].said), "%s", seen.text);
    }
}

PX_TEST(abort_of_another_job_ends_that_one)
{
    char first[sizeof(job_name)], said[sizeof(first) + 32];
    pmix_proc_t procs[3];

    spawn_sleepers(1);
    memcpy(first, job_name, sizeof(first));
    spawn_sleepers(2);
    px_proc_set(&procs[0], "unknown", PMIX_RANK_WILDCARD);
    ck_assert_int_eq(abort_from(first, 3, NULL, procs, 1), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(abort_from("unknown", 3, NULL, NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(seen.n_failures, 0);
    px_proc_set(&procs[1], job_name, 0); /* to abort some is to abort all */
    px_proc_set(&procs[2], job_name, 1);
    ck_assert_int_eq(abort_from(first, 3, NULL, procs, 3), PMIX_OPERATION_SUCCEEDED);
    await_end(PMIX_ERR_JOB_ABORTED);
    ck_assert_int_eq(seen.n_failures, 1);
    snprintf(said, sizeof(said), "aborted by rank 1 of %s", first);
    ck_assert_msg(strstr(seen.text, said), "%s", seen.text);
    ck_assert_int_eq(abort_from(first, 3, NULL, NULL, 0), PMIX_OPERATION_SUCCEEDED);
    await_end(PMIX_ERR_JOB_ABORTED);
}

/* ---- control --------------------------------------------------------------------- */

PX_TEST(a_signal_to_all_reaches_all)
{
    spawn(2, "trap 'exit 0' USR1; touch up$PMIX_RANK; while :; do sleep 0.02; done");
    await_file("up0");
    await_file("up1");
    ok(control(PMIX_JOB_CTRL_SIGNAL, SIGUSR1, NULL));
    await_end(PMIX_SUCCESS);
}

PX_TEST(a_job_ended_by_order_has_not_failed)
{
    spawn_sleepers(2);
    ok(control(PMIX_JOB_CTRL_TERMINATE, 0, NULL));
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
    ok(control(PMIX_JOB_CTRL_KILL, 0, &first));
    await_end(PMIX_ERR_JOB_KILLED_BY_CMD);
    ck_assert_int_eq(seen.exit_code, 137);
    await_file("up");
    px_proc_set(&first, job_name, 0);
    ok(control(PMIX_JOB_CTRL_SIGNAL, SIGTERM, &first));
    await_end(PMIX_ERR_JOB_ABORTED_BY_SIG);
    ck_assert_int_eq(seen.failure, PMIX_ERR_PROC_ABORTED_BY_SIG);
}

PX_TEST(orders_that_make_no_sense_are_refused)
{
    static const int wrong[] = {-1, 65, 1000000};
    pmix_proc_t unknown;
    pmix_info_t info;
    int none = 0;

    spawn(1, "trap 'touch got; exit 0' USR1; touch up; while :; do sleep 0.01; done");
    await_file("up");
    px_proc_set(&unknown, "unknown", 0);
    ck_assert_int_eq(control(PMIX_JOB_CTRL_KILL, 0, &unknown), PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(control(PMIX_JOB_CTRL_PAUSE, 0, NULL), PMIX_ERR_NOT_SUPPORTED);
    for (size_t i = 0; i < PX_COUNT(wrong); i++)
        ck_assert_int_eq(control(PMIX_JOB_CTRL_SIGNAL, wrong[i], NULL),
                         PMIX_ERR_BAD_PARAM);
    PMIx_Info_load(&info, PMIX_JOB_CTRL_SIGNAL, &none, PMIX_INT);
    ck_assert_int_eq(PMIx_Job_control(NULL, 0, &info, 1, NULL, NULL),
                     PMIX_ERR_BAD_PARAM);
    PMIx_Info_load(&info, PMIX_JOB_CTRL_SIGNAL, "SIGUSR1", PMIX_STRING);
    ck_assert_int_eq(PMIx_Job_control(NULL, 0, &info, 1, NULL, NULL),
                     PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&info);
    ck_assert(!exists("got"));
    ok(control(PMIX_JOB_CTRL_SIGNAL, SIGUSR1, NULL));
    await_end(PMIX_SUCCESS);
    remove_file("got");
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

PX_TEST_MAIN("host/builtin", host_setup, host_teardown)
