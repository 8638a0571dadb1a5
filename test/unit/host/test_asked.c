/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server that is its own host is asked for: what requests to spawn, abort, signal and query may say,
 * and what is refused with a reason. */
#include <stdio.h>
#include <string.h>

#include "core/host/builtin.h"
#include "host_scene.h"
#include "px_test.h"

/* ---- programs -------------------------------------------------------------------- */

static pmix_status_t try(pmix_app_t app)
{
    app.maxprocs = 1;
    app.cwd = embedded_dir;
    return PMIx_Spawn(NULL, 0, &app, 1, embedded_job);
}

START_TEST(the_first_argument_or_the_command_names_the_program)
{
    char sh[] = "sh", c[] = "-c", body[] = "[ \"$0\" = sh ] && touch ran",
         nothing[] = "";
    char true_[] = "true";
    char *argv[] = {sh, c, body, NULL}, *empty[] = {NULL}, *blank[] = {nothing, NULL};

    ck_assert_int_eq(try((pmix_app_t){.argv = argv}), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(told.verdict, PMIX_SUCCESS);
    remove_file("ran");
    ck_assert_int_eq(try((pmix_app_t){.cmd = true_}), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(try((pmix_app_t){.cmd = true_, .argv = empty}), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(told.verdict, PMIX_SUCCESS);
    ck_assert_int_eq(try((pmix_app_t){.argv = empty}), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(try((pmix_app_t){.argv = blank}), PMIX_ERR_JOB_NO_EXE_SPECIFIED);
    ck_assert_int_eq(try((pmix_app_t){.cmd = nothing}), PMIX_ERR_JOB_NO_EXE_SPECIFIED);
    ck_assert_int_eq(try((pmix_app_t){.cmd = NULL}), PMIX_ERR_BAD_PARAM);
}
END_TEST

START_TEST(what_is_no_variable_is_refused)
{
    static char *wrong[][3] = {{(char *)"A=1", (char *)"novalue", NULL},
                               {(char *)"=1", NULL, NULL},
                               {(char *)"", NULL, NULL}};
    char sh[] = "sh", c[] = "-c",
         body[] = "[ \"$A\" = 1=2 ] && [ -z \"$B\" ] && touch ran";
    char *argv[] = {sh, c, body, NULL}, a[] = "A=1=2",
         b[] = "B=", *right[] = {a, b, NULL};

    for (size_t i = 0; i < PX_COUNT(wrong); i++)
        ck_assert_int_eq(try((pmix_app_t){.argv = argv, .env = wrong[i]}),
                         PMIX_ERR_BAD_PARAM);
    ck_assert(!exists("ran"));
    ck_assert_int_eq(try((pmix_app_t){.argv = argv, .env = right}), PMIX_SUCCESS);
    await_end();
    remove_file("ran");
}
END_TEST

static pmix_status_t spawn_info(const char *key, const void *value,
                                pmix_data_type_t type)
{
    PX_AUTO(px_infos) infos = {0};

    ck_assert_int_eq(px_infos_add(&infos, key, value, type), 0);
    return spawn_with(&infos, 2, "true");
}

START_TEST(changes_to_the_environment_that_make_no_sense_are_refused)
{
    char name[] = "NAME", value[] = "value";
    const pmix_envar_t wrong[] = {{NULL, value, ':'}, {name, NULL, ':'}},
                       right = {name, value, ':'};
    static const char *const keys[] = {PMIX_SET_ENVAR, PMIX_ADD_ENVAR,
                                       PMIX_PREPEND_ENVAR, PMIX_APPEND_ENVAR};
    uint32_t number = 7;

    for (size_t k = 0; k < PX_COUNT(keys); k++) {
        for (size_t i = 0; i < PX_COUNT(wrong); i++)
            ck_assert_int_eq(spawn_info(keys[k], &wrong[i], PMIX_ENVAR),
                             PMIX_ERR_BAD_PARAM);
        ck_assert_int_eq(spawn_info(keys[k], "NAME=value", PMIX_STRING),
                         PMIX_ERR_BAD_PARAM);
        ck_assert_int_eq(spawn_info(keys[k], &right, PMIX_ENVAR), PMIX_SUCCESS);
        await_end();
    }
    ck_assert_int_eq(spawn_info(PMIX_UNSET_ENVAR, "", PMIX_STRING), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(spawn_info(PMIX_UNSET_ENVAR, &number, PMIX_UINT32),
                     PMIX_ERR_BAD_PARAM);
}
END_TEST

START_TEST(standard_input_goes_to_one_process_of_the_job)
{
    pmix_proc_t second, all;
    uint32_t one = 1, two = 2;

    px_proc_set(&second, "", 1);
    px_proc_set(&all, "", PMIX_RANK_WILDCARD);
    ck_assert_int_eq(spawn_info(PMIX_STDIN_TGT, &second, PMIX_PROC), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(spawn_info(PMIX_STDIN_TGT, &one, PMIX_UINT32), PMIX_SUCCESS);
    await_end();
    ck_assert_int_eq(spawn_info(PMIX_STDIN_TGT, &all, PMIX_PROC),
                     PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(spawn_info(PMIX_STDIN_TGT, &two, PMIX_UINT32),
                     PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(spawn_info(PMIX_STDIN_TGT, "first", PMIX_STRING),
                     PMIX_ERR_BAD_PARAM);
}
END_TEST

START_TEST(hosts_are_told_apart_by_all_of_their_names)
{
    const char *here = px_process.model->hostname;
    char hosts[4 * PMIX_MAX_NSLEN];
    char sh[] = "true", *argv[] = {sh, NULL};
    static const struct {
        const char *before, *after;
        pmix_status_t status;
    } rows[] = {{"", "", PMIX_SUCCESS},
                {",,", ",", PMIX_SUCCESS},
                {"localhost,", ":2", PMIX_SUCCESS},
                {"", "x", PMIX_ERR_NOT_SUPPORTED},
                {"x", "", PMIX_ERR_NOT_SUPPORTED},
                {"localhosT,", "", PMIX_ERR_NOT_SUPPORTED}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_info_t info;

        snprintf(hosts, sizeof(hosts), "%s%s%s", rows[i].before, here, rows[i].after);
        PMIx_Info_load(&info, PMIX_HOST, hosts, PMIX_STRING);
        ck_assert_int_eq(
            try((pmix_app_t){.cmd = sh, .argv = argv, .info = &info, .ninfo = 1}),
            rows[i].status);
        PMIx_Info_destruct(&info);
        if (!rows[i].status)
            await_end();
    }
}
END_TEST

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

    px_call_done(call, px_embedded_abort(&q->from, NULL, q->status, q->text, q->procs,
                                         q->n, NULL, NULL));
}

/* From rank 1 of that job. */
static pmix_status_t abort_from(const char *nspace, int status, const char *text,
                                pmix_proc_t *procs, size_t n)
{
    struct request q = {.status = status, .text = text, .procs = procs, .n = n};

    px_proc_set(&q.from, nspace, 1);
    return px_call(px_process.loop, do_abort, &q);
}

START_TEST(who_aborts_ends_his_job_and_is_named)
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
        told.n_failures = 0;
        spawn(2, "exec sleep 20");
        ck_assert_int_eq(
            abort_from(embedded_job, rows[i].status, rows[i].text, NULL, 0),
            PMIX_OPERATION_SUCCEEDED);
        await_end();
        ck_assert_int_eq(told.verdict, PMIX_ERR_JOB_ABORTED);
        ck_assert_int_eq(told.n_failures, 1);
        ck_assert_int_eq(told.failure, PMIX_ERR_PROC_REQUESTED_ABORT);
        ck_assert_uint_eq(told.culprit.rank, 1);
        ck_assert_int_eq(told.exit_code, rows[i].exit_code);
        ck_assert_msg(strstr(told.text, rows[i].said), "%s", told.text);
    }
}
END_TEST

START_TEST(who_aborts_another_job_ends_that_one)
{
    char first[sizeof(embedded_job)];
    pmix_proc_t procs[3];

    spawn(1, "exec sleep 20");
    memcpy(first, embedded_job, sizeof(first));
    spawn(2, "exec sleep 20");
    px_proc_set(&procs[0], "unknown", PMIX_RANK_WILDCARD);
    ck_assert_int_eq(abort_from(first, 3, NULL, procs, 1), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(abort_from("unknown", 3, NULL, NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(told.n_failures, 0);
    px_proc_set(&procs[1], embedded_job, 0); /* to abort some is to abort all */
    px_proc_set(&procs[2], embedded_job, 1);
    ck_assert_int_eq(abort_from(first, 3, NULL, procs, 3), PMIX_OPERATION_SUCCEEDED);
    await_end();
    ck_assert_int_eq(told.verdict, PMIX_ERR_JOB_ABORTED);
    ck_assert_int_eq(told.n_failures, 1);
    char said[sizeof(first) + 32];
    snprintf(said, sizeof(said), "aborted by rank 1 of %s", first);
    ck_assert_msg(strstr(told.text, said), "%s", told.text);
    ck_assert_int_eq(abort_from(first, 3, NULL, NULL, 0), PMIX_OPERATION_SUCCEEDED);
    await_end();
}
END_TEST

/* ---- control, queries ------------------------------------------------------------ */

static pmix_status_t signal_all(const void *value, pmix_data_type_t type)
{
    PX_AUTO(px_infos) infos = {0};

    ck_assert_int_eq(px_infos_add(&infos, PMIX_JOB_CTRL_SIGNAL, value, type), 0);
    return PMIx_Job_control(NULL, 0, infos.v, infos.n, NULL, NULL);
}

START_TEST(what_is_no_signal_is_refused)
{
    static const int wrong[] = {0, -1, 65, 1000000};
    int usr1 = 10;

    spawn(1, "trap 'touch got; exit 0' USR1; touch up; while :; do sleep 0.01; done");
    await_file("up");
    for (size_t i = 0; i < PX_COUNT(wrong); i++)
        ck_assert_int_eq(signal_all(&wrong[i], PMIX_INT), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(signal_all("SIGUSR1", PMIX_STRING), PMIX_ERR_BAD_PARAM);
    ck_assert(!exists("got"));
    ck_assert_int_eq(signal_all(&usr1, PMIX_INT), PMIX_SUCCESS);
    await_end();
    remove_file("got");
}
END_TEST

static pmix_status_t query(const char *nspace, const char *key, const char *other,
                           pmix_info_t **found, size_t *n)
{
    char *keys[] = {(char *)key, (char *)other, NULL};
    pmix_info_t qualifier;
    pmix_query_t q = {.keys = keys, .qualifiers = &qualifier, .nqual = nspace ? 1 : 0};
    pmix_status_t rc;

    if (nspace)
        PMIx_Info_load(&qualifier, PMIX_NSPACE, nspace, PMIX_STRING);
    *found = NULL;
    *n = 0;
    rc = PMIx_Query_info(&q, 1, found, n);
    if (nspace)
        PMIx_Info_destruct(&qualifier);
    return rc;
}

START_TEST(tables_are_of_jobs_that_are_known)
{
    pmix_info_t *found;
    size_t n;

    spawn(2, "touch up.$PMIX_RANK; exec sleep 20");
    await_file("up.0");
    await_file("up.1");
    ck_assert_int_eq(query("unknown", PMIX_QUERY_PROC_TABLE, NULL, &found, &n),
                     PMIX_ERR_NOT_FOUND);
    ck_assert_int_eq(query(NULL, PMIX_QUERY_PROC_TABLE, NULL, &found, &n),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(query(embedded_job, PMIX_QUERY_LOCAL_PROC_TABLE, NULL, &found, &n),
                     PMIX_SUCCESS);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(found[0].value.type, PMIX_DATA_ARRAY);
    ck_assert_uint_eq(found[0].value.data.darray->size, 2);
    const pmix_proc_info_t *row = found[0].value.data.darray->array;
    ck_assert_int_gt(row[0].pid, 0);
    ck_assert_int_eq(row[0].state, PMIX_PROC_STATE_RUNNING);
    ck_assert_uint_eq(row[1].proc.rank, 1);
    PMIx_Info_free(found, n);
    ck_assert_int_eq(
        query(embedded_job, PMIX_QUERY_NAMESPACES, "no.such.key", &found, &n),
        PMIX_ERR_PARTIAL_SUCCESS);
    ck_assert_uint_eq(n, 1);
    ck_assert_str_eq(found[0].value.data.string, embedded_job);
    PMIx_Info_free(found, n);
    ck_assert_int_eq(abort_from(embedded_job, 1, NULL, NULL, 0),
                     PMIX_OPERATION_SUCCEEDED);
    await_end();
}
END_TEST

PX_TEST_MAIN_WITH("server/embedded_asked", embedded_setup, embedded_teardown,
                  the_first_argument_or_the_command_names_the_program,
                  what_is_no_variable_is_refused,
                  changes_to_the_environment_that_make_no_sense_are_refused,
                  standard_input_goes_to_one_process_of_the_job,
                  hosts_are_told_apart_by_all_of_their_names,
                  who_aborts_ends_his_job_and_is_named,
                  who_aborts_another_job_ends_that_one, what_is_no_signal_is_refused,
                  tables_are_of_jobs_that_are_known)
